# SPDX-License-Identifier: Apache-2.0
"""What the world does to a run: full disks and quotas, disks that fail, files that vanish, no memory, signals, a reader that
leaves. Each time one error and its exit code; and once the cause is gone the same command completes, with the same voxels."""
import os
import resource
import signal
import subprocess
import unittest

from faulty_runs import FaultyCase, sha256
from program_case import EXIT_AFTER, PROGRAM, SMALL

DISK, INPUT, MEMORY, PIPE = 6, 3, 5, 141
OUTPUT = "*/v.*"
COMMANDS = {
    "fdk": ("*scan/*.tif", ["reconstruct", "scan/scan.toml", "-o", "v.mhd", "--backend", "cpu"]),
    "cgls": ("*scan/*.tif", ["reconstruct", "scan/scan.toml", "-o", "v.mhd", "--backend", "cpu", "--method", "cgls",
                              "--iterations", "4", "--save-every", "1"]),
    "post": ("*in.mha", ["post", "in.mha", "-o", "v.mhd", "--backend", "cpu", "--do", "gaussian radius=1 dimensions=3", "--do",
                          "rescale bits=16 low=1 high=99"]),
    "convert": ("*in.mha", ["convert", "in.mha", "-o", "v.mhd"]),
}


class Faults(FaultyCase):
    def setUp(self):
        super().setUp()
        self.lepus("simulate", "ball", "-o", "scan", *SMALL, "--quiet")
        self.lepus("reconstruct", "scan/scan.toml", "-o", "in.mha", "--backend", "cpu", "--quiet")

    def whole(self, words):
        """The voxels of the command when nothing happens to it."""
        self.lepus(*words, "--quiet")
        voxels = sha256(self.folder / "v.raw")
        self.clear()
        return voxels

    def clear(self):
        for file in self.folder.glob("v.*"):
            file.unlink()

    def assert_completes(self, words, voxels):
        self.lepus(*words, "--quiet")
        self.assertEqual(sha256(self.folder / "v.raw"), voxels)
        self.assertEqual(self.left_beside("v"), [])
        self.clear()

    def strike(self, words, voxels, fault, code, *needles):
        """A run with the fault must end with one error and this code; the next one completes."""
        with self.subTest(words[0], fault=fault):
            result = self.run_with_fault(words, fault)
            self.assertIsNotNone(result, f"{fault}: there was no such call")
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertEqual(result.stderr.count("lepus: error:"), 1, result.stderr)
            for needle in needles:
                self.assertIn(needle, result.stderr)
            self.assertFalse((self.folder / "v.mhd").exists())
            self.assert_completes(words, voxels)

    def test_disks(self):
        in_memory = subprocess.run(["stat", "-f", "-c", "%T", self.folder], capture_output=True, text=True).stdout.strip() == "tmpfs"
        for name, (inputs, words) in COMMANDS.items():
            voxels = self.whole(words)
            for fault, code, needle in ((f"write:ENOSPC:1:{OUTPUT}", DISK, "No space left"), (f"write:EDQUOT:1:{OUTPUT}", DISK, "quota exceeded"),
                                        ("reserve:ENOSPC:1:*/v.raw*", DISK, "No space left"),
                                        (f"write:EIO:2:{OUTPUT}", DISK, "Input/output error"), (f"rename:EIO:1:*v.raw", DISK, "v.raw"),
                                        (f"read:EIO:2:{inputs}", INPUT, "Input/output error"),
                                        (f"open:ENOENT:2:{inputs}", INPUT, "No such file")):
                if fault.startswith("reserve") and in_memory:
                    continue  # nothing is reserved there
                if fault.startswith("open") and not inputs.endswith(".tif"):
                    fault = fault.replace(":2:", ":1:")  # one file, opened once
                self.strike(words, voxels, fault, code, needle)

    def test_states_that_cannot_be_kept(self):
        """The run is not lost with them; an older state stays."""
        words = COMMANDS["cgls"][1]
        voxels = self.whole(words)
        for fault in ("write:ENOSPC:1:*/v.*.state*", "sync:EIO:2:*/v.*.state*", "rename:EIO:2:*v.mhd.state"):
            with self.subTest(fault):
                result = self.run_with_fault(words, fault)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("could not be kept", result.stderr)
                self.assertEqual(sha256(self.folder / "v.raw"), voxels)
                self.clear()

    def test_signals(self):
        for name, (inputs, words) in COMMANDS.items():
            voxels = self.whole(words)
            self.strike(words, voxels, f"read:TERM:1:{inputs}", EXIT_AFTER[signal.SIGTERM])
            for fault in (f"write:KILL:1:{OUTPUT}", "rename:KILL:1:*v.raw", f"read:KILL:2:{inputs}"):
                with self.subTest(name, fault=fault):
                    self.assertEqual(self.run_with_fault(words, fault).returncode, -signal.SIGKILL)
                    self.assert_completes(words, voxels)

    def test_a_reader_that_leaves(self):
        """Nobody reads the report any more: the volume is whole, and the exit code says what happened."""
        for name, (_, words) in COMMANDS.items():
            with self.subTest(name):
                voxels = self.whole(words)
                reading, writing = os.pipe()
                os.close(reading)
                result = subprocess.run([PROGRAM, *words, "--json"], cwd=self.folder, stdout=writing, stderr=subprocess.PIPE,
                                        timeout=60)
                os.close(writing)
                self.assertEqual(result.returncode, PIPE, result.stderr)
                self.assertEqual(sha256(self.folder / "v.raw"), voxels)
                self.clear()

    def test_no_memory(self):
        """A limit on the addresses of the process, from too little for anything to enough."""
        for name, (_, words) in COMMANDS.items():
            voxels = self.whole(words)
            refused = 0
            for mebibytes in range(32, 512, 6):
                limit = mebibytes << 20
                limited = {"code": None, "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}
                if self.lepus("--version", **limited).returncode != 0:  # too little for the libraries and the first page of stack
                    continue
                result = self.lepus(*words, "--threads", "2", **limited)
                with self.subTest(name, mebibytes=mebibytes):
                    self.assertIn(result.returncode, (0, MEMORY), result.stderr)
                    if result.returncode == 0:
                        self.assertEqual(sha256(self.folder / "v.raw"), voxels)
                        self.clear()
                        break
                    refused += 1
                    self.assertEqual(result.stderr.count("lepus: error:"), 1, result.stderr)
            self.assertGreater(refused, 0, name)
            self.assertEqual(result.returncode, 0, name)


if __name__ == "__main__":
    unittest.main()
