"""Our times and memory beside those of the best libraries for the same work; see `make bench`."""
