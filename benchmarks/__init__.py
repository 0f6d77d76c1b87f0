"""Compares our times with the best libraries for the same work; see `make bench` and `make bench-quick`."""

from benchmarks.openblas import name_kernels

name_kernels()  # here, before any module of the benchmark loads a library that reads it
