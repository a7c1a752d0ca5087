# SPDX-License-Identifier: Apache-2.0
"""What belongs to a run: files that its geometry and its data come from, whatever names them, and files that other runs are making."""
import signal
import subprocess
import unittest

from program_case import PROGRAM, ProgramCase


class RestartInputs(ProgramCase):
    def setUp(self):
        super().setUp()
        self.simulate()
        self.scan = self.folder / "scan/scan.toml"

    def edit(self, old, new):
        text = self.scan.read_text()
        self.assertIn(old, text)
        self.scan.write_text(text.replace(old, new, 1))

    def angles(self, first):
        (self.folder / "scan/angles.txt").write_text("".join(f"{first + 15 * view}\n" for view in range(24)))

    def list_angles(self):
        lines = self.scan.read_text().splitlines(keepends=True)
        self.scan.write_text("".join(line for line in lines if not line.startswith(("first_angle_deg", "arc_deg"))))
        self.edit("[geometry]\n", '[geometry]\nangles_file = "angles.txt"\n')
        self.angles(0)

    def share(self, number, output="v.mha", **more):
        return self.lepus("reconstruct", "scan/scan.toml", "-o", output, "--share", f"{number}/2", "--quiet", **more)

    def assert_refused(self, result, *needles):
        self.assert_error(result, "usage", *needles)
        self.assertFalse((self.folder / "v.mha").exists())

    def test_other_angles(self):
        self.list_angles()
        self.share(1)
        self.angles(90)
        self.assert_refused(self.share(2, code=2), "the views' geometry")
        self.angles(0)
        self.share(2)
        self.lepus("reconstruct", "scan/scan.toml", "-o", "one.mha", "--quiet")
        self.lepus("compare", "one.mha", "v.mha", "--fail-above", "max=0", "--ssim", "none")

    def test_other_jitter(self):
        def jitter(mm):
            (self.folder / "scan/jitter.csv").write_text("".join(f"{mm},0,0,0,0,0,0,0,0,0\n" for _ in range(24)))
        self.edit("[geometry]\n", '[geometry]\nperturbations_file = "jitter.csv"\n')
        jitter(0)
        self.share(1)
        jitter(2)
        self.assert_refused(self.share(2, code=2), "the views' geometry")

    def test_a_journal_of_before(self):
        """Which says nothing of the geometry, and is another lepus' in all but its number."""
        import zlib
        self.share(1)
        journal = self.folder / "v.mha.share-1-of-2.journal"
        first, *lines = journal.read_text().splitlines()
        kept = [line.split(" ", 2)[2] for line in lines if "the checksum of the views' geometry" not in line]
        self.assertEqual(len(kept), len(lines) - 1)
        texts = [f"{number} {text}" for number, text in enumerate(kept)]
        journal.write_text("\n".join([first, *(f"{zlib.crc32(text.encode(), zlib.crc32(first.encode())):08x} {text}" for text in texts)]) + "\n")
        self.assert_refused(self.share(2, code=2), "the views' geometry was not given")

    def test_other_angles_of_an_iterative_run(self):
        self.list_angles()
        words = ["reconstruct", "scan/scan.toml", "-o", "v.mha", "--quiet", "--method", "sirt", "--save-every", "1", "--iterations"]
        process = subprocess.Popen([PROGRAM, *words, "3000"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not (self.folder / "v.mha.state").exists() and process.poll() is None:
            pass
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75)
        self.angles(90)
        self.assert_refused(self.lepus(*words, "3000", code=2), "the views' geometry")

    def test_data_behind_an_hdf5_file(self):
        import h5py
        import numpy
        self.lepus("convert", "scan/scan.toml", "-o", "h5", "--frames", "hdf5", "--quiet")
        master, data = self.folder / "h5/frames.h5", self.folder / "h5/data.h5"
        with h5py.File(master, "r+") as h, h5py.File(data, "w") as d:
            frames = h["exchange/data"][...]
            d["d"] = frames
            del h["exchange/data"]
            h["exchange/data"] = h5py.ExternalLink("data.h5", "/d")
        words = ["reconstruct", "h5/scan.toml", "-o", "v.mha", "--quiet", "--share"]
        self.lepus(*words, "1/2")
        with h5py.File(data, "w") as d:
            d["d"] = numpy.roll(frames, 6, axis=0)
        self.assert_refused(self.lepus(*words, "2/2", code=2), "names, sizes and times")

    def test_slices_beside_another_output(self):
        (self.folder / "out").mkdir()
        self.share(1, "out/other.tif")
        before = (self.folder / "out/other.tif.unfinished").read_bytes()
        for more in ([], ["--restart"]):
            self.lepus("reconstruct", "scan/scan.toml", "-o", "out/%04d.tif", "--share", "1/2", "--quiet", *more)
            self.assertEqual((self.folder / "out/other.tif.unfinished").read_bytes(), before)
        self.share(2, "out/other.tif")
        self.assertTrue((self.folder / "out/other.tif").exists())

    def test_what_is_said_of_slices(self):
        (self.folder / "out").mkdir()
        self.share(1, "out/%04d.tif")
        for name in ("out", "out/%04d.tif"):
            self.assertEqual(self.lepus_json("status", name)["state"], "unfinished", name)
        self.share(2, "out/%04d.tif")
        for name in ("out", "out/%04d.tif"):
            self.assertEqual(self.lepus_json("status", name)["state"], "complete", name)
        self.share(1, "slices/")
        for name in ("slices", "slices/"):
            self.assertEqual(self.lepus_json("status", name)["state"], "unfinished", name)

    def test_a_journal_alone_is_no_run(self):
        self.share(1)
        (self.folder / "v.mha.unfinished").unlink()
        result = self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", "--resume", code=2)
        self.assert_refused(result, "there is no unfinished run of this output", "its journal is there")
        self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", "--quiet")

    def test_the_trace_is_another_file(self):
        for more in ([], ["--force"]):
            result = self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", "--trace", "./v.mha", *more, code=2)
            self.assert_refused(result, "two want it", "the trace")


if __name__ == "__main__":
    unittest.main()
