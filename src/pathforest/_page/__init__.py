"""Pages of one HTML file: a skeleton, a style sheet for light and dark, and tables that scroll."""
