"""The paper's experiment, from datasets to the tables, figures and page of its report."""
