# SPDX-License-Identifier: Apache-2.0
"""scripts/same-voxels, which holds two builds against each other, finds what it is for: a changed bit, a run that fails, too few cases."""
import pathlib
import subprocess
import unittest

from program_case import PROGRAM, ProgramCase

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "same-voxels"


class SameVoxels(ProgramCase):
    def builds(self, script):
        """A folder as a build would be, in which lepus is a shell script."""
        (self.folder / "bin").mkdir()
        program = self.folder / "bin" / "lepus"
        program.write_text(f"#!/bin/sh\n{script}\nexec '{PROGRAM}' \"$@\"\n")
        program.chmod(0o755)
        return self.folder

    def compare(self, *words):
        result = subprocess.run([SCRIPT, "--jobs", "1", *words], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(result.stderr, "")
        return result.returncode, result.stdout

    def test_a_changed_bit_is_found(self):
        code, said = self.compare("--self-test", "--before-build", self.builds(""))
        self.assertEqual(code, 0, said)
        self.assertIn("the changed voxel was found", said)

    def test_a_run_that_fails_and_too_few_cases(self):
        build = self.builds('case "$*" in *after*rings-sorting.toml*) echo broken; exit 3;; esac')
        code, said = self.compare("--only", "rings sorting", "--before-build", build, "--after-build", build)
        self.assertEqual(code, 1, said)
        self.assertRegex(said, r"(?m)^FAILED +cpu +rings sorting +after: ")
        self.assertIn("broken", said)
        self.assertIn("fewer than 30 cases ran", said)


if __name__ == "__main__":
    unittest.main()
