"""The engine on a device of PyTorch's; here, without PyTorch, what to do if it or the device is missing."""

from typing import Any

TORCH_CPU = "torch-cpu"  # runs the same code, which is how machines without a GPU test it


def find_device(device: str) -> Any:
    """Return torch's device, or say why there is none; nothing falls back to the CPU in silence."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "device='cuda' needs PyTorch; run pip install 'pathforest[gpu]', or set_params(device='cpu') for "
            "the same answers from the CPU"
        ) from error
    if device == TORCH_CPU:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise RuntimeError(
            f"device={device!r}: PyTorch {torch.__version__} sees no GPU; install a driver and a "
            "build of PyTorch for it, or use device='cpu'"
        )
    # Torch itself takes 200 for -56.
    count, index = torch.cuda.device_count(), device.partition(":")[2]
    if index and int(index) >= count:
        raise RuntimeError(
            f"device={device!r}: there is no such GPU, only {count}, counted from 0; use "
            "device='cuda', or 'cpu'"
        )
    return torch.device(device)
