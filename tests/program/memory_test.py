# SPDX-License-Identifier: Apache-2.0
"""The memory limit is kept, as the kernel counts it, with limits far below the volume and the scan, and the volume does
not depend on it. The process's peak is read from wait4: nothing of lepus's own accounting is trusted here."""
import hashlib
import json
import os
import subprocess
import unittest

from program_case import PROGRAM, ProgramCase

MIB = 1 << 20


class Memory(ProgramCase):
    def reconstruct(self, name, limit_mib, threads):
        words = ["reconstruct", "scan/scan.toml", "-o", name, "--memory", f"{limit_mib}MiB", "--threads", str(threads), "--backend", "cpu", "--json"]
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        text = process.stdout.read()
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, text)
        return json.loads(text), usage.ru_maxrss * 1024

    def digest(self, name):
        """Of the voxels alone: the header holds the time and the plan."""
        file = self.folder / name
        self.assertEqual(file.stat().st_size, 4 * 384**3)
        digest = hashlib.sha256()
        with file.open("rb") as data:  # in pieces: what this process holds would count in the next child's peak
            while piece := data.read(MIB):
                digest.update(piece)
        return digest.hexdigest()

    def test_peak_stays_under_the_limit_and_the_bits_stay_the_same(self):
        # 64 frames of 480 x 480 pixels (28 MiB as files, 56 MiB as float) and a volume of 216 MiB.
        self.lepus("simulate", "ball", "-o", "scan", "--views", "64", "--columns", "480", "--rows", "480", "--pixel", "0.8",
                   "--subpixels", "1", "--flats", "2", "--darks", "2", "--size", "384,384,384", "--voxel", "0.45",
                   "--no-truth", "--quiet", timeout=300)
        kinds, digests = set(), set()
        for limit, threads in ((600, 2), (160, 1), (110, 2), (80, 3)):
            report, peak = self.reconstruct(f"volume{limit}.raw", limit, threads)
            plan = report["provenance"]["plan"]
            print(f"limit {limit} MiB: {plan['kind']}, {plan['slabs']} slabs, planned {plan['memory_bytes'] / MIB:.0f} MiB, "
                  f"peak {peak / MIB:.0f} MiB")
            self.assertLessEqual(peak, 1.05 * limit * MIB)
            kinds.add(plan["kind"])
            digests.add(self.digest(f"volume{limit}.raw"))
        self.assertEqual(kinds, {"rolling window", "streamed views"}, "both plans must have been at work")
        self.assertEqual(len(digests), 1)

    def test_a_limit_that_is_too_low_says_what_would_do(self):
        self.simulate()
        run = ["reconstruct", "scan/scan.toml", "-o", "volume.mha", "--backend", "cpu", "--memory"]
        result = self.lepus(*run, "20MiB", code=5)
        self.assert_error(result, "memory", "--memory")
        enough = result.stderr.split("--memory ")[1].split("MiB")[0]
        self.lepus(*run, f"{int(enough) + 2}MiB")


if __name__ == "__main__":
    unittest.main()
