# SPDX-License-Identifier: Apache-2.0
"""scripts/install-dependencies on a system that has none of the libraries: all of them are asked for, in every environment."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "install-dependencies"
# What is looked for by pkg-config alone, so that a system with them installed can play one without.
LIBRARIES = {"libfftw3-dev", "libhwy-dev", "libtomlplusplus-dev", "libtiff-dev", "libhdf5-dev", "libpng-dev", "libblosc-dev",
             "libzstd-dev", "zlib1g-dev", "libfreetype-dev", "libcpp-httplib-dev"}
TOOLS = {"dpkg-query": "exit 1", "pkg-config": "exit 1", "id": "echo 0", "apt-get": 'echo "$@" >>"$ASKED"'}


class Dependencies(unittest.TestCase):
    def asked(self, *groups, **environment):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in TOOLS.items():
                tool = pathlib.Path(folder) / name
                tool.write_text(f"#!/bin/sh\n{text}\n")
                tool.chmod(0o755)
            asked = pathlib.Path(folder) / "asked"
            kept = {name: value for name, value in os.environ.items() if name not in ("CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH")}
            subprocess.run([SCRIPT, *groups], check=True, capture_output=True, env={**kept, "PATH": f"{folder}:{os.environ['PATH']}",
                                                                                "ASKED": str(asked), **environment})
            return set(asked.read_text().split())

    def test_nothing_is_forgotten(self):
        for environment in ({}, {"CMAKE_PREFIX_PATH": "/nowhere"}, {"CMAKE_PREFIX_PATH": "/nowhere;/else:/where"}):
            with self.subTest(environment):
                self.assertLessEqual(LIBRARIES, self.asked("build", **environment))
        self.assertLessEqual({*LIBRARIES, "dcmtk"}, self.asked("test"))
        self.assertLessEqual({*LIBRARIES, "dcmtk", "mmdebstrap"}, self.asked("cache", "test", "package"))
