"""What pathforest takes and gives: `speed` beside other libraries, and `studies` of accuracy."""

from benchmarks.speed.openblas import name_kernels

name_kernels()  # here, before any module of the benchmark loads a library that asks
