"""The paper's experiment, from datasets to tidy tables."""
