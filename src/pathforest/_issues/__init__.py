"""Wrong labels and other issues in a training set."""
