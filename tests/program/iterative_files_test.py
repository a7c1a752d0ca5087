# SPDX-License-Identifier: Apache-2.0
"""Iterative methods whose vectors are larger than --memory: they are kept in a file that nobody sees, the limit is kept as the
kernel counts it, and the voxels are those of a run that has all memory. Nothing stays behind, however the run ends."""
import json
import os
import resource
import signal
import subprocess
import time
import unittest

from faulty_runs import FaultyCase, sha256
from program_case import EXIT_AFTER, PROGRAM

MIB = 1 << 20
MEMORY, DISK = 5, 6
VIEWS, COLUMNS, ROWS, SIZE = 32, 176, 160, 128
LIMIT = 44  # MiB beside the program itself; a volume has 8, all vectors 95 (SIRT) to 167 (FISTA-TV)
# That every method has the same bits in files is tested in src/iterative/files_test.cpp, too; LEPUS_METHODS=all runs them all.
SHORT = ["sirt", "cgls", "os-sart", "fista-tv"]
METHODS = {"sirt": ["--iterations", "2"], "cgls": ["--iterations", "2"], "os-sart": ["--subsets", "4", "--iterations", "1"],
           "fista-tv": ["--strength", "0.001", "--iterations", "2"], "ramp-cgls": ["--iterations", "2"],
           "iterative-fdk": ["--iterations", "2"],
           "chambolle-pock": ["--strength", "0.001", "--iterations", "2"]}


class IterativeFiles(FaultyCase):
    def setUp(self):
        super().setUp()
        self.lepus("simulate", "shepp-logan", "-o", "scan", "--views", VIEWS, "--columns", COLUMNS, "--rows", ROWS, "--pixel",
                   "1.2", "--size", f"{SIZE},{SIZE},{SIZE}", "--subpixels", "1", "--flats", "2", "--darks", "2", "--no-truth",
                   "--quiet")
        self.limit = self.program_mebibytes() + LIMIT

    def words(self, method, *more, limit=None):
        limit = self.limit if limit is None else limit
        return ["reconstruct", "scan/scan.toml", "-o", "v.mhd", "--backend", "cpu", "--threads", "2", "--method", method,
                *METHODS[method], *(["--memory", f"{limit}MiB"] if limit else []), *more]

    def measured(self, words):
        """The report, the digest of the voxels and the largest resident memory, which wait4 says."""
        start = time.monotonic()
        process = subprocess.Popen([PROGRAM, *words, "--json"], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        text, error = process.stdout.read(), process.stderr.read()
        process.stdout.close()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, text + error)
        seconds = time.monotonic() - start
        voxels = sha256(self.folder / "v.raw")
        self.assertEqual(self.left_beside("v"), [])
        self.clear()
        return json.loads(text), voxels, usage.ru_maxrss * 1024, seconds

    def clear(self):
        for file in self.folder.glob("v.*"):
            file.unlink()

    def test_the_limit_is_kept_and_the_voxels_are_the_same(self):
        before = self.names()
        for method in METHODS if os.environ.get("LEPUS_METHODS") == "all" else SHORT:
            with self.subTest(method):
                report, voxels, needed, seconds = self.measured(self.words(method, limit=0))
                self.assertNotIn("file_bytes", report["provenance"]["method"])
                limited, same, peak, longer = self.measured(self.words(method))
                kept = limited["provenance"]["method"]["file_bytes"]
                print(f"{method}: {needed / MIB:.0f} MiB and {seconds:.2f} s in memory; {kept / MIB:.0f} MiB in files, "
                      f"{peak / MIB:.0f} of {self.limit} MiB and {longer:.2f} s")
                self.assertGreater(kept, 0)
                itself = self.limit - LIMIT
                self.assertGreater(needed - itself * MIB, 1.15 * LIMIT * MIB, "the limit does not ask for anything")
                self.assertEqual(same, voxels)
                self.assertLessEqual(peak, self.limit * MIB)
                self.assertEqual(limited["provenance"]["method"]["residuals"], report["provenance"]["method"]["residuals"])
                self.assertEqual(self.names(), before)

    def test_it_is_said_before_and_after(self):
        words = self.words("fista-tv")
        plan = self.lepus_json("plan", *words[1:2], *words[4:])
        self.assertGreater(plan["memory"]["file_bytes"], 0)
        self.assertLess(plan["memory"]["file_bytes"], plan["memory"]["bytes"])
        self.assertFalse(plan["forward"]["in_place"] or plan["adjoint"]["in_place"])
        self.assertIn("reading and writing the files of vectors", plan["time"]["not_counted"])
        self.assertIn("in files beside the output", self.lepus("plan", *words[1:2], *words[4:]).stdout)
        report = self.lepus_json(*words)
        kept = report["provenance"]["method"]["file_bytes"]
        self.assertAlmostEqual(kept / plan["memory"]["file_bytes"], 1, delta=0.2)
        self.clear()
        result = self.lepus(*self.words("cgls"), "--verbose")
        self.assertIn(f"in files in {self.folder.resolve()}", result.stdout + result.stderr)

    def test_a_run_that_is_ended_leaves_its_state_alone_and_goes_on(self):
        for method, ending in (("cgls", signal.SIGKILL), ("fista-tv", signal.SIGINT)):
            with self.subTest(method):
                voxels = self.measured(self.words(method, limit=0))[1]
                words = self.words(method, "--save-every", "1")
                run = subprocess.Popen([PROGRAM, *words, "--quiet"], cwd=self.folder, stderr=subprocess.PIPE)
                end = time.monotonic() + 60
                while not (self.folder / "v.mhd.state").exists() and run.poll() is None and time.monotonic() < end:
                    time.sleep(0.01)
                run.send_signal(ending)
                run.communicate(timeout=60)
                self.assertEqual(run.returncode, EXIT_AFTER.get(ending, -ending))
                for name in self.left_beside("v"):
                    self.assertRegex(name, r"^\.?v\.(mhd|raw)\.(state|partial|lepus-lock)")
                self.assertEqual([n for n in self.names() if "scratch" in n], [])
                self.assertEqual(self.measured(words)[1], voxels)
                self.clear()

    def test_a_disk_that_is_too_small_says_so_before_the_work(self):
        def limited():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (12 * MIB, 12 * MIB))  # more than the volume has

        result = self.lepus(*self.words("sirt"), code=DISK, preexec_fn=limited, restore_signals=False)
        self.assert_error(result, "disk", "vectors", "File too large", "--memory")
        self.assertNotIn("reading views", result.stderr)
        self.assertEqual(self.left_beside("v"), [])

    def test_a_disk_that_fails_is_one_error(self):
        words = self.words("cgls", "--save-every", "1")
        voxels = self.measured(words)[1]
        for fault, needle in (("write:EIO:40:*/#*", "cannot write"), ("read:EIO:200:*/#*", "cannot read")):
            with self.subTest(fault):
                result = self.run_with_fault(words, fault)
                self.assertIsNotNone(result, "there was no such call")
                self.assertEqual(result.returncode, DISK, result.stderr)
                self.assert_error(result, "disk", needle, "vectors", "Input/output error")
                self.assertFalse((self.folder / "v.mhd").exists())
                self.assertEqual(self.measured(words)[1], voxels)

    def test_too_little_for_a_piece_is_refused(self):
        for command in (self.words("sirt", limit=30), self.words("fista-tv", limit=30)):
            with self.subTest(command[-1]):
                result = self.lepus(*command, code=MEMORY)
                self.assert_error(result, "memory", "--memory")
                self.assertEqual(self.left_beside("v"), [])
                planned = self.lepus("plan", command[1], *command[4:], code=MEMORY)
                self.assert_error(planned, "memory", "--memory")


if __name__ == "__main__":
    unittest.main()
