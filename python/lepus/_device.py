# SPDX-License-Identifier: Apache-2.0
"""Arrays in the memory of a GPU: their addresses, and results of the same library (CuPy, PyTorch, JAX by its own arrays alone).

The operator works on a queue of its own: what the caller's stream has been given is waited for before, and the operator is
waited for after, so that the next work on that stream finds the result. Nothing is copied."""
import math

from .errors import UsageError


def _interface(array, shape):
    found = array.__cuda_array_interface__
    if found["typestr"] != "<f4" or tuple(found["shape"]) != tuple(shape):
        raise UsageError(f"an array of {found['typestr']}, {tuple(found['shape'])}", "", f"float32 of the shape {tuple(shape)} is needed")
    if found.get("strides") is not None:
        expected, step = [], 4
        for n in reversed(shape):
            expected.insert(0, step)
            step *= n
        if tuple(found["strides"]) != tuple(expected):
            raise UsageError("the array is not contiguous", "", "arrays of a GPU are used where they lie", "make it contiguous first")
    return found["data"][0]


def require(devices, array):
    """An operator that works elsewhere would read addresses that are none there."""
    number = int(array.__dlpack_device__()[1]) if hasattr(array, "__dlpack_device__") else 0
    if devices != [("cuda", number)]:
        raise UsageError(f"the array lies in the memory of GPU {number}", "", f"the operator works on {devices}",
                         f'make it with backend="cuda", device={number}, or bring the array over first')


def _library(array):
    return type(array).__module__.split(".")[0]


def _finish_stream(array):
    """Waits for what the caller's stream was given."""
    if _library(array) == "torch":
        import torch

        torch.cuda.current_stream(array.device).synchronize()
    elif _library(array) == "cupy":
        import cupy

        cupy.cuda.get_current_stream().synchronize()
    elif hasattr(array, "block_until_ready"):  # JAX
        array.block_until_ready()
    else:
        raise UsageError(f"arrays of {_library(array)} in a GPU's memory cannot be used", "", "their stream is not known",
                         "hand them over as CuPy or PyTorch arrays (from_dlpack copies nothing)")


def _empty_like(array, shape):
    if _library(array) == "torch":
        import torch

        return torch.empty(shape, dtype=torch.float32, device=array.device)
    import cupy  # JAX's own arrays cannot be written into: the result is CuPy's, which JAX takes by DLPack

    return cupy.empty(shape, dtype=cupy.float32)


def apply(function, given, from_shape, out, to_shape):
    """`function` of the address of `given` and of the result, which is `out` or a new array of the same library."""
    given = given.detach() if hasattr(given, "detach") else given
    result = out if out is not None else _empty_like(given, to_shape)
    addresses = _interface(given, from_shape), _interface(result, to_shape)
    if addresses[0] < addresses[1] + 4 * math.prod(to_shape) and addresses[1] < addresses[0] + 4 * math.prod(from_shape):
        raise UsageError("out lies in the memory of what is read", "", "it would change while it is read", "give another array")
    _finish_stream(given)
    function(*addresses)
    return result
