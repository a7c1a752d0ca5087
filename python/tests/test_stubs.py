# SPDX-License-Identifier: Apache-2.0
"""The stubs say of every public name what the package has: the same names, the same parameters, the same defaults given."""
import ast
import inspect
import pathlib

import pytest

import lepus

stub = ast.parse((pathlib.Path(lepus.__file__).parent / "__init__.pyi").read_text(encoding="utf-8"))
defined = {node.name: node for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


def parameters_of_stub(function):
    a = function.args
    names = [(arg.arg, "positional", i >= len(a.args) - len(a.defaults)) for i, arg in enumerate(a.args)]
    names += [(arg.arg, "keyword", default is not None) for arg, default in zip(a.kwonlyargs, a.kw_defaults)]
    return names + [(arg.arg, kind, False) for arg, kind in ((a.vararg, "all"), (a.kwarg, "all named")) if arg]


def parameters_of(function):
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional", inspect.Parameter.KEYWORD_ONLY: "keyword",
             inspect.Parameter.VAR_POSITIONAL: "all", inspect.Parameter.VAR_KEYWORD: "all named"}
    listed = [(p.name, kinds[p.kind], p.default is not p.empty) for p in inspect.signature(function).parameters.values()]
    return sorted(listed, key=lambda p: ("positional", "keyword", "all", "all named").index(p[1]))


def test_every_public_name_is_there():
    assert set(defined) | {"corrections"} == set(lepus.__all__)


@pytest.mark.parametrize("name", sorted(defined))
def test_signatures(name):
    node, real = defined[name], getattr(lepus, name)
    if isinstance(node, ast.FunctionDef):
        assert parameters_of_stub(node) == parameters_of(real)
        assert real.__doc__
        return
    for member in node.body:
        if not isinstance(member, ast.FunctionDef):
            continue
        found = inspect.getattr_static(real, member.name)
        decorators = [d.id for d in member.decorator_list]
        assert isinstance(found, property) == ("property" in decorators), member.name
        assert isinstance(found, classmethod) == ("classmethod" in decorators), member.name
        if not isinstance(found, property):
            assert parameters_of_stub(member) == parameters_of(getattr(found, "__func__", found)), member.name
    public = {key for key, value in vars(real).items() if not key.startswith("_") and (callable(value) or isinstance(value, (property, classmethod)))}
    assert public <= {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
