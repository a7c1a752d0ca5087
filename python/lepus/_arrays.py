# SPDX-License-Identifier: Apache-2.0
"""Arrays as the library takes them: float32, C order, in the host's memory. Those that are so are used as they are, whoever
made them (NumPy, any producer of DLPack, whatever has __array__); others are converted, which copies."""
import numpy

from .errors import UsageError


def on_gpu(array):
    """Whether an array lies in the memory of a CUDA device."""
    if isinstance(array, numpy.ndarray):
        return False
    if hasattr(array, "__dlpack_device__"):
        return int(array.__dlpack_device__()[0]) in (2, 13)  # kDLCUDA, kDLCUDAManaged
    try:
        return hasattr(array, "__cuda_array_interface__")
    except Exception:  # tensors that need a gradient refuse it by raising
        return False


def host_array(array, name):
    """Any array-like as a NumPy array, without a copy where that is possible."""
    if isinstance(array, numpy.ndarray):
        return array
    if on_gpu(array):
        raise UsageError(f"the {name} lie in the memory of a GPU", "", "this call works on arrays of the host",
                         "bring them over first; Operator takes arrays of a GPU")
    if hasattr(array, "__dlpack__"):
        try:
            return numpy.from_dlpack(array)
        except (BufferError, RuntimeError, TypeError):  # read-only, or a gradient is wanted: __array__ says more
            pass
    return numpy.asarray(array)


def floats(array, shape, name):
    """`array` as float32 in C order and of that shape; no copy where it is so already."""
    values = host_array(array, name)
    if values.dtype.kind not in "fiub":
        raise UsageError(f"the {name} are of type {values.dtype}", "", "real numbers are needed")
    if values.shape != tuple(shape):
        raise UsageError(f"the {name} have the shape {values.shape}", "", f"geometry and grid make it {tuple(shape)}")
    return numpy.ascontiguousarray(values, numpy.float32).view(numpy.ndarray)


def output(out, shape, name):
    """The array that results go to: a new one, or `out` itself, which must be what the library can write into."""
    if out is None:
        return numpy.empty(shape, numpy.float32)
    values = host_array(out, name)
    if values.dtype != numpy.float32 or not values.flags.c_contiguous or not values.flags.writeable:
        raise UsageError("out cannot be written into", "", "it must be float32, C-contiguous and writable")
    if values.shape != tuple(shape):
        raise UsageError(f"out has the shape {values.shape}", "", f"geometry and grid make it {tuple(shape)}")
    return values
