# SPDX-License-Identifier: Apache-2.0
"""Iterative methods that are killed: the same command goes on from the last state and ends with the voxels of a run that was
never interrupted. Six moments for each method, three of them in the midst of saving; LEPUS_KILLS asks for more random ones."""
import collections
import json
import os
import random
import signal
import unittest

from faulty_runs import FaultyCase, sha256
from program_case import EXIT_AFTER

KILLS = int(os.environ.get("LEPUS_KILLS", 3))
SCAN = ["--views", "24", "--columns", "24", "--rows", "20", "--pixel", "8.5", "--size", "16,16,16", "--content",
        "line-integrals", "--format", "raw"]
METHODS = {"cgls": ["--method", "cgls", "--iterations", "40"],
           "fista-tv": ["--method", "fista-tv", "--strength", "0.001", "--iterations", "25"]}


class KilledIterations(FaultyCase):
    def setUp(self):
        super().setUp()
        self.lepus("simulate", "shepp-logan", "-o", "scan", *SCAN, "--quiet")

    def words(self, method, output):
        return ["reconstruct", "scan/scan.toml", "-o", output, "--backend", "cpu", *METHODS[method], "--save-every", "2"]

    def complete(self, method):
        """The same command once more; the sum of its voxels and how many iterations it had to do."""
        done = self.lepus_json(*self.words(method, "v.mhd"))
        self.assertEqual(self.left_beside("v"), [])
        voxels = sha256(self.folder / "v.raw")
        for name in ("v.mhd", "v.raw"):
            (self.folder / name).unlink()
        return voxels, done["provenance"]["method"]

    def test_kill(self):
        moments = random.Random(15)
        for method in METHODS:
            whole = self.lepus_json(*self.words(method, "whole.mhd"))
            voxels, seconds = sha256(self.folder / "whole.raw"), whole["seconds"]
            wanted = whole["provenance"]["method"]
            phases, right = collections.Counter(), 0
            for number in range(KILLS):
                with self.subTest(method, number=number):
                    self.kill_after(self.words(method, "v.mhd"), moments.uniform(0, 1.1 * seconds + 0.05))
                    if (self.folder / "v.mhd").exists():
                        phases["finished"] += 1
                        seconds *= 0.9  # it was measured when the machine was slower
                        self.assertEqual(sha256(self.folder / "v.raw"), voxels)
                        right += 1
                        for file in self.folder.glob("v.*"):
                            file.unlink()
                        continue
                    left = " ".join(self.left_beside("v"))
                    phases["saving" if "state.partial" in left else "iterating" if "state" in left else "before"] += 1
                    again, did = self.complete(method)
                    self.assertEqual(again, voxels)
                    self.assertEqual((did["residuals"], did["stopped"]), (wanted["residuals"], wanted["stopped"]))
                    right += 1
            for name in ("whole.mhd", "whole.raw"):
                (self.folder / name).unlink()
            if KILLS > 3:
                print(f"{method}: {KILLS} kills, {dict(phases)}: {right} ended with the same voxels")

    def test_kill_while_saving(self):
        """While the third state is written, before it is on the disk, and between the two changes of names."""
        for method in METHODS:
            self.lepus(*self.words(method, "whole.mhd"), "--quiet")
            voxels = sha256(self.folder / "whole.raw")
            for fault, left in (("write:KILL:14:*/v.mhd.state.partial*", 4), ("sync:KILL:3:*/v.mhd.state.partial*", 4),
                                ("rename:KILL:4:*v.mhd.state", 4)):
                with self.subTest(method, fault=fault):
                    result = self.run_with_fault(self.words(method, "v.mhd"), fault)
                    self.assertEqual(result.returncode, -signal.SIGKILL)
                    self.assertIn("v.mhd.state", " ".join(self.names()))
                    self.assertEqual(self.complete(method)[0], voxels)
            for name in ("whole.mhd", "whole.raw"):
                (self.folder / name).unlink()

    def test_request_to_end(self):
        """SIGTERM: the iteration is finished, its state kept, and a job script can tell."""
        words = self.words("cgls", "v.mhd")
        result = self.run_with_fault([*words, "--json"], "write:TERM:1:*/v.mhd.state.partial*")
        self.assertEqual(result.returncode, EXIT_AFTER[signal.SIGTERM], result.stderr)
        self.assertIn("interrupted after iteration 2", json.loads(result.stdout)["error"]["what"])
        self.lepus(*self.words("cgls", "whole.mhd"), "--quiet")
        self.assertEqual(self.complete("cgls")[0], sha256(self.folder / "whole.raw"))

    def test_states_stay_until_the_steps_on_the_volume_are_done(self):
        scan = self.folder / "scan" / "scan.toml"
        scan.write_text(scan.read_text() + '\n[[post]]\nkind = "gaussian"\nradius = 1\ndimensions = 3\n')
        words = self.words("cgls", "v.mhd")
        result = self.run_with_fault(words, "write:KILL:1:*/v.raw.partial*")
        self.assertEqual(result.returncode, -signal.SIGKILL)
        again = self.lepus(*words)
        self.assertIn("going on after iteration 40", again.stderr)
        self.lepus(*self.words("cgls", "whole.mhd"), "--quiet")
        self.assertEqual(sha256(self.folder / "v.raw"), sha256(self.folder / "whole.raw"))
        self.assertEqual(self.left_beside("v"), [])


if __name__ == "__main__":
    unittest.main()
