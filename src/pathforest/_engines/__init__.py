"""Metrics, and the engines that answer every question about their distances."""
