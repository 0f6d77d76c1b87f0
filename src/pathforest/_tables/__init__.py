"""Tables: what a column is, and files, each a stream of batches in and a sink of batches out."""
