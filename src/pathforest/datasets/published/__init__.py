"""The paper's datasets: where they come from, and how they are checked."""
