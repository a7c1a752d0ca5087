# SPDX-License-Identifier: Apache-2.0
"""The memory limit is kept, as the kernel counts it, with limits far below the volume and the scan, and the volume does
not depend on it. The process's peak is read from wait4: nothing of lepus's own accounting is trusted here."""
import hashlib
import json
import os
import struct
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
        kinds, digests, itself = set(), set(), self.program_mebibytes()
        for more, threads in ((570, 2), (130, 1), (80, 2), (50, 3), (36, 1)):
            limit = itself + more
            report, peak = self.reconstruct(f"volume{limit}.raw", limit, threads)
            plan = report["provenance"]["plan"]
            print(f"limit {limit} MiB: {plan['kind']}, {plan['slabs']} slabs, planned {plan['memory_bytes'] / MIB:.0f} MiB, "
                  f"peak {peak / MIB:.0f} MiB")
            self.assertLessEqual(peak, 1.05 * limit * MIB)
            kinds.add(plan["kind"])
            digests.add(self.digest(f"volume{limit}.raw"))
        self.assertEqual(kinds, {"rolling window", "streamed views"}, "both plans must have been at work")
        self.assertEqual(len(digests), 1)

    def peak_of(self, *words):
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        err = process.stderr.read()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage.ru_maxrss * 1024, err

    def test_what_reads_volumes_keeps_the_limit_too(self):
        """A volume of 144 MiB in slices of 4 MiB, within 51 MiB beside the program; a limit that is too low for that says what would do."""
        header = ["NRRD0004", "type: float", "dimension: 3", "sizes: 1024 1024 36", "encoding: raw", "endian: little", "data file: v.raw", "", ""]
        (self.folder / "v.nhdr").write_text("\n".join(header))
        with (self.folder / "v.raw").open("wb") as data:
            for z in range(36):
                data.write(struct.pack("<f", z) * (1 << 20))
        limit = self.program_mebibytes() + 51
        for words in (["info", "v.nhdr"], ["convert", "v.nhdr", "-o", "out.mha"], ["convert", "v.nhdr", "-o", "out.tif"], ["slice", "v.nhdr", "--axis", "x", "-o", "x.png"],
                      ["slice", "v.nhdr", "--three", "-o", "three.png"], ["compare", "v.nhdr", "v.nhdr", "--ssim", "none"]):
            with self.subTest(words=words):
                code, peak, err = self.peak_of(*words, "--memory", f"{limit}MiB", "--threads", "2", "--quiet")
                self.assertEqual(code, 0, err)
                print(f"{' '.join(words)}: peak {peak / MIB:.0f} of {limit} MiB")
                self.assertLessEqual(peak, limit * MIB)
                code, peak, err = self.peak_of(*words, "--memory", "20MiB", "--force" if words[0] != "info" else "--quiet")
                self.assertEqual(code, 5, err)
                self.assertLessEqual(peak, 40 * MIB)
                enough = err.split("--memory ")[1].split()[0]
                code, peak, err = self.peak_of(*words, "--memory", enough, *(["--force"] if words[0] != "info" else []))
                self.assertEqual(code, 0, err)
        with (self.folder / "v.raw").open("rb") as data, (self.folder / "out.mha").open("rb") as copy:
            copy.seek(-4 * 36 * MIB, os.SEEK_END)
            while piece := data.read(MIB):
                self.assertEqual(piece, copy.read(MIB))

    def test_sinograms_are_made_in_bands_that_fit(self):
        """48 views of 512 x 1024 pixels, 48 MiB; a sinogram has 48 KiB."""
        views, rows, columns = 48, 1024, 512
        (self.folder / "scan").mkdir()
        with (self.folder / "scan/f.raw").open("wb") as data:
            for view in range(views):
                for row in range(rows):
                    data.write(struct.pack("<H", row * views + view) * columns)
        (self.folder / "scan/scan.toml").write_text(
            f'[frames]\nfiles = "f.raw"\n[frames.raw]\ncolumns = {columns}\nrows = {rows}\ntype = "uint16"\nframes_per_file = {views}\n'
            '[intensity]\nfrom = "value"\nvalue = 65535\n[geometry]\nsource_axis_mm = 500\nsource_detector_mm = 1000\npixel_width_mm = 0.2\n')
        limit = self.program_mebibytes() + 18
        code, peak, err = self.peak_of("convert", "scan/scan.toml", "-o", "turned", "--frames", "raw", "--order", "sinograms", "--memory", f"{limit}MiB", "--threads", "2")
        self.assertEqual(code, 0, err)
        print(f"sinograms of 48 MiB: peak {peak / MIB:.0f} of {limit} MiB")
        self.assertLessEqual(peak, limit * MIB)
        with (self.folder / "turned/sinograms.raw").open("rb") as data:
            wrong = [line for line in range(rows * views) if data.read(2 * columns) != struct.pack("<H", line) * columns]
        self.assertEqual(wrong, [])

    def test_a_limit_that_is_too_low_says_what_would_do(self):
        self.simulate()
        run = ["reconstruct", "scan/scan.toml", "-o", "volume.mha", "--backend", "cpu", "--memory"]
        result = self.lepus(*run, "20MiB", code=5)
        self.assert_error(result, "memory", "--memory")
        enough = result.stderr.split("--memory ")[1].split("MiB")[0]
        self.lepus(*run, f"{int(enough) + 2}MiB")


if __name__ == "__main__":
    unittest.main()
