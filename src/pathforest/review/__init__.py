"""The review of labels: a page that shows suspects, and the decisions that come back from it."""
