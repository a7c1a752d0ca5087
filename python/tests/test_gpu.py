# SPDX-License-Identifier: Apache-2.0
"""Arrays in a GPU's memory, and gradients through A. Skipped, with the reason, where CuPy, PyTorch or a GPU is missing."""
import numpy
import pytest

import lepus
from lepus import _device

gpu = next((d for d in lepus.list_devices() if d["kind"] == "cuda"), {"why_not": "no CUDA"})
needs_gpu = pytest.mark.skipif(bool(gpu["why_not"]), reason=f"no GPU can be used: {gpu['why_not']}")


class Device:
    """An array that says it lies in a GPU's memory."""

    shape = (2, 2, 2)

    def __init__(self, number=0, typestr="<f4", strides=None):
        self._number = number
        self.__cuda_array_interface__ = {"typestr": typestr, "shape": (2, 2, 2), "strides": strides, "data": (4096, False), "version": 3}

    def __dlpack_device__(self):
        return 2, self._number


def test_addresses_of_another_place_are_never_used():
    scan = lepus.Geometry(beam="parallel", columns=2, rows=2, pixel_mm=1, views=2)
    A = lepus.Operator(scan, lepus.Grid(2), backend="cpu")
    with pytest.raises(lepus.UsageError, match="cpu"):
        A @ Device()
    with pytest.raises(lepus.UsageError, match="GPU"):
        lepus.fdk(Device(), scan, lepus.Grid(2))
    with pytest.raises(lepus.UsageError, match="GPU 1"):
        _device.require([("cuda", 0)], Device(1))
    with pytest.raises(lepus.UsageError, match="f8"):
        _device._interface(Device(typestr="<f8"), (2, 2, 2))
    with pytest.raises(lepus.UsageError, match="contiguous"):
        _device._interface(Device(strides=(4, 8, 16)), (2, 2, 2))
    assert _device._interface(Device(strides=(16, 8, 4)), (2, 2, 2)) == 4096


def operators(scan, grid):
    return lepus.Operator(scan, grid, backend="cuda", precision="exact"), lepus.Operator(scan, grid, backend="cpu")


@needs_gpu
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_arrays_of_a_gpu_are_used_where_they_lie(library, scan, grid):
    module = pytest.importorskip(library)
    on_gpu, on_cpu = operators(scan, grid)
    x = numpy.random.default_rng(7).random(grid.shape).astype("f4")
    there = module.asarray(x) if library == "cupy" else module.from_numpy(x).cuda()
    out = on_gpu @ there
    assert type(out) is type(there)
    back = out.get() if library == "cupy" else out.cpu().numpy()
    assert back == pytest.approx(on_cpu @ x, rel=1e-4, abs=1e-4)
    into = module.empty_like(out)
    assert on_gpu.forward(there, out=into) is into
    transposed = on_gpu.T @ out
    assert (transposed.get() if library == "cupy" else transposed.cpu().numpy()) == pytest.approx(on_cpu.T @ back, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("place", ["cpu", pytest.param("cuda", marks=needs_gpu)])
def test_gradients_go_through_the_operator(place, scan):
    torch = pytest.importorskip("torch")
    from lepus import autograd

    A = lepus.Operator(scan[::10], lepus.Grid(8, 1), backend=place, precision="exact")
    x = torch.rand(A.domain_shape, device=place, requires_grad=True)
    y = torch.rand(A.range_shape, device=place)
    (autograd.project(A)(x) * y).sum().backward()
    assert torch.allclose(x.grad, autograd.backproject(A)(y), rtol=1e-4, atol=1e-4)
