"""What every room may use: files, progress, warnings, timers, checks of plain values."""
