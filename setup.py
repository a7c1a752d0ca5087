# SPDX-License-Identifier: Apache-2.0
"""Builds the extension module and the program with CMake, and puts both into the package lepus.

LEPUS_BUILD names a build folder that is there already, for example the one of `make build`."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

root = pathlib.Path(__file__).resolve().parent


class BuildWithCMake(build_ext):
    def build_extension(self, extension):
        folder = pathlib.Path(os.environ.get("LEPUS_BUILD") or self.build_temp).resolve()
        if not (folder / "CMakeCache.txt").exists():
            subprocess.check_call(["cmake", "--preset", "release", "-S", root, "-B", folder, "-DLEPUS_BUILD_TESTS=OFF",
                                   "-DLEPUS_BUILD_BENCHMARKS=OFF", f"-DPython_EXECUTABLE={sys.executable}"], cwd=root)
        subprocess.check_call(["cmake", "--build", folder, "--target", "lepus_python_package", "--parallel",
                               os.environ.get("JOBS", str(os.cpu_count()))])
        target = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve()
        (target.parent / "bin").mkdir(parents=True, exist_ok=True)
        built = folder / "python" / "lepus" / target.name
        if not built.exists():
            sys.exit(f"{folder} has no {target.name}: it was configured without Python, or for another one")
        for source, copy in ((built, target), (folder / "bin" / "lepus", target.parent / "bin" / "lepus")):
            shutil.copy2(source, copy)
            subprocess.check_call(["strip", "--strip-unneeded", copy])


setup(version=re.search(r"project\(lepus VERSION (\S+)", (root / "CMakeLists.txt").read_text()).group(1),
      package_dir={"": "python"}, packages=["lepus"], package_data={"lepus": ["py.typed", "*.pyi"]},
      ext_modules=[Extension("lepus._lepus", [])], cmdclass={"build_ext": BuildWithCMake})
