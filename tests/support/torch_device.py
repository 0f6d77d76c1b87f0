"""The device that tests of the GPU engine compute on: a GPU if there is one, else PyTorch's CPU device."""

import os

import pytest

torch = pytest.importorskip("torch", reason="the engine on a device needs PyTorch; `make gpu` installs it")

DEVICE = "cuda" if torch.cuda.is_available() else "torch-cpu"
if DEVICE == "torch-cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # before the kernels are imported
