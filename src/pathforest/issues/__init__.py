"""Wrong labels and other issues in a training set: outliers, duplicates, borders, islands."""

from pathforest.issues.find import find_issues
from pathforest.issues.report import Issues

__all__ = ["Issues", "find_issues"]
