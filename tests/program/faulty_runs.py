# SPDX-License-Identifier: Apache-2.0
"""Runs of the program that something happens to: calls of the system that fail or end it (fault_shim.cpp), kill -9 after a
while; and whether the same command then completes with the same voxels."""
import hashlib
import os
import pathlib
import subprocess

from program_case import PROGRAM, ProgramCase

SHIM = os.environ.get("LEPUS_FAULT_SHIM", "")


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


class FaultyCase(ProgramCase):
    def setUp(self):
        super().setUp()
        self.log = self.folder / "struck"

    def run_with_fault(self, words, fault, **options):
        """The command with LEPUS_FAULT="CALL:WHAT:NUMBER:PATTERN". None: its call never came, and the command is done."""
        if not SHIM:
            self.skipTest("LEPUS_FAULT_SHIM does not name the shim")
        self.log.unlink(missing_ok=True)
        environment = dict(os.environ, LD_PRELOAD=SHIM, LEPUS_FAULT=fault, LEPUS_FAULT_LOG=str(self.log))
        result = self.lepus(*words, code=None, env=environment, **options)
        if not self.log.exists():
            self.assertEqual(result.returncode, 0, f"{fault}: {result.stderr}")
            return None
        return result

    def kill_after(self, words, seconds):
        """kill -9 after so long, unless it has ended."""
        running = subprocess.Popen([PROGRAM, *map(str, words)], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            running.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()

    def left_beside(self, stem):
        """What a run left beside its output, but for the output itself."""
        return [n for n in self.names() if n.startswith((stem, "." + stem)) and n not in (stem + ".mhd", stem + ".raw")]
