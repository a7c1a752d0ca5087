# SPDX-License-Identifier: Apache-2.0
"""Arrays as the library takes them: float32, C order, in the host's memory. Those that are so are used as they are, whoever
made them (NumPy, any producer of DLPack, whatever has __array__); others are converted, which copies."""
import ctypes

import numpy

from .errors import UsageError

# Before 2.1 NumPy asks for DLPack as it was when it had no word for read-only, and takes all for that.
_numpy_knows_read_only = tuple(int(n) for n in numpy.__version__.split(".")[:2]) >= (2, 1)


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
    if on_gpu(array):
        raise UsageError(f"the {name} lie in the memory of a GPU", "", "this call works on arrays of the host",
                         "bring them over first; Operator takes arrays of a GPU")
    values, refused = array, "it is no array"
    if not isinstance(array, numpy.ndarray):
        try:
            values = numpy.from_dlpack(array) if hasattr(array, "__dlpack__") else None
        except (BufferError, RuntimeError, TypeError) as error:  # read-only, or a gradient is wanted: __array__ says more
            values, refused = None, str(error)
        try:
            values = numpy.asarray(array) if values is None else values
        except (RuntimeError, TypeError, ValueError) as error:
            raise UsageError(f"the {name} are no array", "", str(error)) from None
    if values.dtype == object:
        raise UsageError(f"the {name} are no array of numbers", "", refused, "hand over a NumPy array")
    if numpy.ma.is_masked(values):
        raise UsageError(f"some of the {name} are masked", "", "what is under a mask would count as a value",
                         "fill them first: array.filled(0)")
    return values


def floats(array, shape, name):
    """`array` as float32 in C order and of that shape; no copy where it is so already."""
    values = host_array(array, name)
    if values.dtype.kind not in "fiub":
        raise UsageError(f"the {name} are of type {values.dtype}", "", "real numbers are needed")
    if values.shape != tuple(shape):
        raise UsageError(f"the {name} have the shape {values.shape}", "", f"geometry and grid make it {tuple(shape)}")
    return numpy.ascontiguousarray(values, numpy.float32).view(numpy.ndarray)


def _writable(values, out):
    """What came by DLPack and may be written into, although NumPy says that it may not."""
    if isinstance(out, numpy.ndarray) or values.flags.writeable or _numpy_knows_read_only or not hasattr(out, "__dlpack__"):
        return values
    if hasattr(out, "block_until_ready") or not values.flags.c_contiguous or not values.size:  # JAX's never change
        return values
    memory = (ctypes.c_byte * values.nbytes).from_address(values.ctypes.data)
    memory.owner = values
    return numpy.ndarray(values.shape, values.dtype, memory)


def output(out, shape, name, given=None):
    """The array that results go to: a new one, or `out` itself, which must be what the library can write into, and apart from
    what it reads meanwhile, `given`."""
    if out is None:
        return numpy.empty(shape, numpy.float32)
    values = _writable(host_array(out, name), out)
    if values.dtype != numpy.float32 or not values.flags.c_contiguous or not values.flags.writeable:
        raise UsageError("out cannot be written into", "", "it must be float32, C-contiguous and writable")
    if values.shape != tuple(shape):
        raise UsageError(f"out has the shape {values.shape}", "", f"geometry and grid make it {tuple(shape)}")
    if given is not None and numpy.may_share_memory(values, given):  # of contiguous arrays that is whether they do
        raise UsageError("out lies in the memory of what is read", "", "it would change while it is read", "give another array")
    return values


def same_place(place, other, name, why):
    """`other` (a grid, a geometry, or None where it is not known) must be `place`."""
    if other is None or other is place or place._near(other):
        return
    kind, differ = type(place).__name__.lower(), "these lie elsewhere" if repr(other) == repr(place) else f"these have {other!r}"
    raise UsageError(f"the {name} belong to another {kind}", "", f"{why} has {place!r}, {differ}",
                     "numpy.asarray(...) of them has none, if that is what you mean")
