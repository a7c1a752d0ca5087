# SPDX-License-Identifier: Apache-2.0
"""A and A' as functions that PyTorch differentiates, for learned reconstruction. Needs torch; nothing else in lepus does.

    layer = lepus.autograd.project(A)          # volume -> line integrals
    loss = ((layer(x) - y) ** 2).sum(); loss.backward()
"""
import numpy
import torch


class _Linear(torch.autograd.Function):
    """apply(x) of a linear map, whose gradient is its transpose's."""

    @staticmethod
    def forward(context, x, apply, transpose):
        context.transpose = transpose
        return _result(apply, x)

    @staticmethod
    def backward(context, gradient):
        return _result(context.transpose, gradient.contiguous()), None, None


def _result(apply, x):
    x = x.detach().to(torch.float32).contiguous()
    made = apply(x)
    return made if isinstance(made, torch.Tensor) else torch.from_numpy(made.view(numpy.ndarray))


def project(operator):
    """x -> A x for tensors (nz, ny, nx), on the CPU or on the operator's GPU."""
    return lambda x: _Linear.apply(x, operator.forward, operator.adjoint)


def backproject(operator):
    """y -> A' y for tensors (views, rows, columns)."""
    return lambda y: _Linear.apply(y, operator.adjoint, operator.forward)
