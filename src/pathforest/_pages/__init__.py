"""Pages of one HTML file, which ask for nothing from outside."""
