"""Helpers for all rooms: files, progress, warnings, timers, checks of plain values, values in messages."""
