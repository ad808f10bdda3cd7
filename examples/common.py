"""What the Python examples share: arrays on the GPU if torch sees one, else NumPy arrays,
which kernels use in the emulator."""

import os
import sys
from pathlib import Path

import numpy as np

try:
    import tile
except ImportError:  # not installed: take the build tree
    root = Path(__file__).resolve().parent.parent
    build = Path(os.environ.get("TILE_BUILD_DIR", root / "build"))
    sys.path[:0] = [str(root / "python-bindings"), str(build / "python")]
    import tile

try:
    import torch
    HAS_GPU = torch.cuda.is_available()
except ImportError:
    HAS_GPU = False

DEVICE = "GPU" if HAS_GPU else "emulator"


def to_device(array):
    """The array on the GPU, or a contiguous NumPy array."""
    return torch.from_numpy(array).cuda() if HAS_GPU else np.ascontiguousarray(array)


def to_host(array):
    """The array as a NumPy array."""
    return array.cpu().numpy() if hasattr(array, "cpu") else array


def empty_like(array):
    """A new array of the same shape and type."""
    return torch.empty_like(array) if HAS_GPU else np.empty_like(array)


def report(name, actual, expected, tolerance):
    """Compares and says so; ends the program on a mismatch."""
    error = float(np.max(np.abs(to_host(actual).astype(np.float64) - expected)))
    passed = error <= tolerance
    print(f"{name}: {'passed' if passed else 'FAILED'} on the {DEVICE}, largest error {error:.2e}")
    if not passed:
        sys.exit(1)
