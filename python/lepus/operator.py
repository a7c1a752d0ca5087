# SPDX-License-Identifier: Apache-2.0
"""The scan as a linear operator A: a volume to its line integrals, and the transpose."""
import math

import numpy

from . import _device, _lepus
from ._arrays import floats, host_array, on_gpu, output, same_place
from ._options import compute, word
from .errors import UsageError
from .volume import Views, Volume


class Operator:
    """A of a scan and a grid: `A @ x` are the line integrals of a volume x (nz, ny, nx), `A.T @ y` is the transpose of views y
    (views, rows, columns). Both also take flat vectors, as SciPy's solvers hand them over, and give flat ones back then.

    model: "joseph", "siddon", "footprint" (each with its exact transpose) or "voxel" (a fast A.T that is none). options: backend,
    device, precision, threads, memory_bytes. Arrays of a GPU (CuPy, PyTorch, JAX) are used where they lie, when the operator works
    on that GPU.

    >>> import lepus, numpy
    >>> scan = lepus.Geometry(source_axis_mm=200, source_detector_mm=400, columns=24, rows=24, pixel_mm=1, views=8)
    >>> A = lepus.Operator(scan, lepus.Grid(16, 0.5), precision="exact")
    >>> x, y = numpy.random.rand(16, 16, 16), numpy.random.rand(8, 24, 24)
    >>> bool(numpy.isclose(numpy.vdot(A @ x, y), numpy.vdot(x, A.T @ y), rtol=1e-5))
    True
    """

    dtype = "float32"
    __array_ufunc__ = None  # numpy_array @ A is not tried element by element

    def __init__(self, geometry, grid=None, model="joseph", **options):
        grid = grid or geometry.grid()
        compute_options = compute("Operator", options, ("model",))
        made = _lepus.Operator(geometry._scan, grid._grid, word(_lepus.RayModel, model, "model"), compute_options)
        self._set(made, geometry, grid, model, options)

    def _set(self, made, geometry, grid, model, options):
        self._operator, self.geometry, self.grid, self.model, self._options = made, geometry, grid, model, options
        self.domain_shape, self.range_shape = grid.shape, geometry.flat_shape

    @property
    def shape(self):
        """As a matrix: (pixels of all views, voxels)."""
        return math.prod(self.range_shape), math.prod(self.domain_shape)

    @property
    def T(self):
        """The transpose."""
        return _Transpose(self)

    H = T

    def forward(self, volume, out=None):
        """A x; `out` takes the result where it is given."""
        same_place(self.grid, getattr(volume, "grid", None), "voxels", "the operator")
        return self._apply(self._operator.forward, self._operator.forward_on_device, volume, self.domain_shape, out,
                           self.range_shape, lambda y: Views(y, self.geometry))

    def adjoint(self, views, out=None):
        """A' y."""
        same_place(self.geometry, getattr(views, "geometry", None), "views", "the operator")
        return self._apply(self._operator.adjoint, self._operator.adjoint_on_device, views, self.range_shape, out,
                           self.domain_shape, lambda x: Volume(x, self.grid))

    def _apply(self, on_host, on_device, given, from_shape, out, to_shape, named):
        elsewhere = on_gpu(given)
        given = given if elsewhere else host_array(given, "values")
        flat = len(given.shape) == 1
        if flat:
            if given.shape[0] != math.prod(from_shape):
                raise UsageError(f"a vector of {given.shape[0]} values", "Operator", f"geometry and grid make it {math.prod(from_shape)}")
            given = given.reshape(from_shape)
        if elsewhere:
            _device.require(self._operator.devices, given)
            result = _device.apply(on_device, given, from_shape, out, to_shape)
        else:
            given = floats(given, from_shape, "values")
            result = output(out, to_shape, "results", given)
            on_host(given, result)
            result = named(result)
        return result.reshape(-1) if flat else result

    def __matmul__(self, volume):
        return self.forward(volume)

    __call__ = __matmul__

    def subset(self, views):
        """The operator of some of the views: indices, a slice or a mask. It shares the devices."""
        geometry = self.geometry[views]
        chosen = [int(i) for i in numpy.atleast_1d(numpy.arange(self.geometry.views)[views])]
        part = Operator.__new__(Operator)
        part._set(self._operator.subset(chosen), geometry, self.grid, self.model, self._options)
        return part

    def subsets(self, count):
        """`count` operators, each of every count-th view, for methods with ordered subsets."""
        return [self.subset(slice(i, None, count)) for i in range(count)]

    def norm(self, tolerance=1e-3):
        """The largest singular value, from below."""
        return self._operator.norm(tolerance)

    def linear_operator(self):
        """As a scipy.sparse.linalg.LinearOperator, for its solvers."""
        from scipy.sparse.linalg import LinearOperator

        def flat(apply):
            return lambda vector: apply(vector.reshape(-1)).view(numpy.ndarray)
        return LinearOperator(self.shape, matvec=flat(self.forward), rmatvec=flat(self.adjoint), dtype="float32")

    def matrix(self, maximum_bytes=2 << 30):
        """A as a SciPy CSR matrix, weights in mm; of small problems: MemoryLimitError where it would be larger."""
        from scipy.sparse import csr_matrix

        if self.geometry.shape != self.geometry.flat_shape:
            raise UsageError("an arc detector has no matrix", "", "its frames are resampled first")
        values, indices, starts, shape = _lepus.matrix(self.geometry._scan, self.grid._grid,
                                                       word(_lepus.RayModel, self.model, "model"), maximum_bytes)
        return csr_matrix((values, indices, starts), shape=shape)

    def __repr__(self):
        return f"<lepus.Operator {self.shape[0]} x {self.shape[1]}: {self._operator.description}>"


class _Transpose:
    """A' of an operator A."""

    dtype = "float32"
    __array_ufunc__ = None

    def __init__(self, operator):
        self.T = self.H = operator
        self.shape = operator.shape[::-1]

    def __matmul__(self, views):
        return self.T.adjoint(views)

    __call__ = __matmul__

    def __repr__(self):
        return f"<transpose of {self.T!r}>"
