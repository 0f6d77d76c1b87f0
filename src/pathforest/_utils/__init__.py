"""Helpers for all rooms: files, progress, threads, splits of samples, checks of plain values, messages."""
