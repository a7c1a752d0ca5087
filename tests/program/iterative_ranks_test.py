# SPDX-License-Identifier: Apache-2.0
"""Iterative methods, and steps on the volume, as several processes: one volume near that of one process, the same bits for the
same number of ranks, states that a killed run goes on from."""
import array
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from faulty_runs import SHIM
from program_case import EXIT_AFTER, PROGRAM, ProgramCase
from ranks_test import MPIRUN, ROOT, voxels, why_skipped

SCAN = ["--views", "24", "--columns", "24", "--rows", "20", "--pixel", "8.5", "--size", "16,16,16", "--flats", "2", "--darks", "2"]
METHODS = {"cgls": ["--method", "cgls", "--iterations", "12"],
           "os-sart": ["--method", "os-sart", "--subsets", "5", "--iterations", "4"]}
SMOOTHED = '\n[[post]]\nkind = "gaussian"\nradius = 1\ndimensions = 3\n'


@unittest.skipIf(why_skipped(), why_skipped())
class IterativeRanks(ProgramCase):
    def setUp(self):
        super().setUp()
        self.lepus("simulate", "shepp-logan", "-o", "scan", *SCAN, "--quiet")

    def words(self, output, *more):
        return [PROGRAM, "reconstruct", "scan/scan.toml", "-o", output, "--backend", "cpu", "--threads", "1", *more]

    def started(self, ranks, output, *more, first=()):
        """first: what mpirun is told of rank 0 alone."""
        words = [MPIRUN, "--oversubscribe", "-n", "1", *first, *self.words(output, *more)]
        return words if ranks == 1 else [*words, ":", "-n", str(ranks - 1), *self.words(output, *more)]

    def over(self, ranks, output, *more, code=0, **options):
        result = subprocess.run(self.started(ranks, output, *more, **options), cwd=self.folder, capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, timeout=120, env=os.environ | ROOT)
        if code is not None:
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def largest_difference(self, one, other):
        """Of the voxels, over the largest of them."""
        a, b = (array.array("f", voxels(self.folder / name)) for name in (one, other))
        peak = max(map(abs, a))
        self.assertGreater(peak, 0)
        return max(abs(x - y) for x, y in zip(a, b, strict=True)) / peak

    def nothing_left(self):
        self.assertEqual([n for n in self.names() if not n.endswith(".mha") and not n.startswith("scan")], [])

    def test_methods_over_ranks(self):
        for method, words in METHODS.items():
            alone = self.lepus_json(*self.words("alone.mha", *words, "--force")[1:])
            for ranks in (1, 2, 3):
                with self.subTest(method, ranks=ranks):
                    result = self.over(ranks, "v.mha", *words, "--force", "--json")
                    difference = self.largest_difference("alone.mha", "v.mha")
                    self.assertLessEqual(difference, 2e-6 if ranks > 1 else 0)
                    said = json.loads(result.stdout)
                    self.assertEqual(sum(rank["rows"] for rank in said["ranks"]), 20 if ranks > 1 else 0)
                    self.assertEqual(len(said["provenance"]["method"]["residuals"]), len(alone["provenance"]["method"]["residuals"]))
                    for key in ("inputs", "pixels_saturated", "pixels_at_dark", "pixels_not_finite", "warnings"):
                        self.assertEqual(said["provenance"][key], alone["provenance"][key], key)
                    if ranks == 3:
                        once = voxels(self.folder / "v.mha")
                        self.over(3, "v.mha", *words, "--force", "--quiet")
                        self.assertEqual(voxels(self.folder / "v.mha"), once, "other bits in another run")
        self.nothing_left()

    def test_fdk_within_a_method(self):
        words = ["--method", "iterative-fdk", "--iterations", "2"]
        self.lepus(*self.words("alone.mha", *words)[1:], "--quiet")
        self.over(2, "v.mha", *words, "--quiet")
        self.assertLessEqual(self.largest_difference("alone.mha", "v.mha"), 2e-6)

    def test_steps_on_the_volume(self):
        scan = self.folder / "scan/scan.toml"
        scan.write_text(scan.read_text() + SMOOTHED)
        self.lepus(*self.words("alone.mha")[1:], "--quiet")
        said = json.loads(self.over(2, "v.mha", "--json").stdout)
        self.assertEqual(voxels(self.folder / "v.mha"), voxels(self.folder / "alone.mha"))
        self.assertEqual(len(said["post"]), 1)
        if SHIM:  # killed when the steps are done, before the volume has its name: neither is made again
            fault = "rename:KILL:1:*k.mha"
            self.over(2, "k.mha", "--quiet", code=None, first=["-x", f"LD_PRELOAD={SHIM}", "-x", f"LEPUS_FAULT={fault}"])
            self.assertFalse((self.folder / "k.mha").exists())
            self.assertEqual(len(list(self.folder.glob("k.mha.before-post.mha.rank-*.journal"))), 2, self.names())
            self.assertEqual(self.over(3, "k.mha").stderr.count(" are done, 0 are left"), 2)  # by another number of ranks
            self.assertEqual(voxels(self.folder / "k.mha"), voxels(self.folder / "alone.mha"))
        self.over(2, "i.mha", *METHODS["cgls"], "--quiet")
        self.lepus(*self.words("alone.mha", *METHODS["cgls"])[1:], "--quiet", "--force")
        self.assertLessEqual(self.largest_difference("alone.mha", "i.mha"), 2e-6)
        self.nothing_left()

    def goes_on(self, words, whole):
        """The same command completes what a run left."""
        self.assertTrue((self.folder / "v.mha.state").exists(), self.names())
        again = self.over(3, "v.mha", *words)
        self.assertRegex(again.stderr, r"going on after iteration \d+")
        self.assertEqual(voxels(self.folder / "v.mha"), whole)
        (self.folder / "v.mha").unlink()

    def test_killed_and_gone_on_with(self):
        words = ["--method", "cgls", "--iterations", "60", "--save-every", "2"]
        self.over(3, "whole.mha", *words, "--quiet")
        whole = voxels(self.folder / "whole.mha")
        run = subprocess.Popen(self.started(3, "v.mha", *words), cwd=self.folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=os.environ | ROOT)
        until = time.monotonic() + 60
        while run.poll() is None and not (self.folder / "v.mha.state").exists() and time.monotonic() < until:
            time.sleep(0.002)
        ranks = [int(p) for p in pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()]
        with contextlib.suppress(ProcessLookupError):
            os.kill(ranks[-1], signal.SIGKILL)
        run.wait(10)
        self.assertFalse((self.folder / "v.mha").exists(), "it was faster than the kill")
        # Another number of ranks would round differently.
        other = self.over(2, "v.mha", *words, code=2)
        self.assertIn("ranks was 3, is 2", other.stderr)
        self.goes_on(words, whole)
        if not SHIM:
            return
        for fault in ("sync:KILL:3:*/v.mha.state.partial*", "write:TERM:5:*/v.mha.state.partial*"):
            with self.subTest(fault=fault):
                result = self.over(3, "v.mha", *words, code=None, first=["-x", f"LD_PRELOAD={SHIM}", "-x", f"LEPUS_FAULT={fault}"])
                if "TERM" in fault:  # one rank was asked to end: all do, after the same iteration, and say so once
                    self.assertEqual(result.returncode, EXIT_AFTER[signal.SIGTERM], result.stderr)
                    self.assertEqual(result.stderr.count("interrupted after iteration"), 1, result.stderr)
                self.goes_on(words, whole)
        self.nothing_left()


if __name__ == "__main__":
    unittest.main()
