# SPDX-License-Identifier: Apache-2.0
"""The commands linked to the shared library do what the program does: they need nothing of lepus but its API."""
import os
import subprocess

from program_case import ProgramCase

ON_LIBRARY = os.environ["LEPUS_ON_LIBRARY"]


class OnLibrary(ProgramCase):
    def on_library(self, *words):
        return subprocess.run([ON_LIBRARY, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL)

    def test_it_is_linked_to_the_library(self):
        linked = subprocess.run(["ldd", ON_LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertIn("liblepus.so", linked)

    def test_it_makes_the_same_volume(self):
        self.simulate("scan")
        self.lepus("reconstruct", "scan/scan.toml", "-o", "program.raw", "--backend", "cpu", "--quiet")
        done = self.on_library("reconstruct", "scan/scan.toml", "-o", "library.raw", "--backend", "cpu", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        program, library = ((self.folder / name).read_bytes() for name in ("program.raw", "library.raw"))
        self.assertGreater(len(program), 0)
        self.assertEqual(program, library)

    def test_errors_cross_the_library(self):
        program = self.lepus("info", "nothing.toml", code=None)
        library = self.on_library("info", "nothing.toml")
        self.assertNotEqual(program.returncode, 0)
        self.assertEqual((library.returncode, library.stderr), (program.returncode, program.stderr))
