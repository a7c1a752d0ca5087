# SPDX-License-Identifier: Apache-2.0
"""Commands whose output is a folder, killed or asked to end: the same command goes on with what is finished, to the same bits."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import numpy

from killed_runs import KILLS, KilledFolder
from program_case import EXIT_AFTER, PROGRAM
from volumes_test import write_mha

VIEWS, ROWS = 60, 80
SCAN = ["--views", VIEWS, "--columns", "96", "--rows", ROWS, "--pixel", "2", "--size", "32,32,32", "--flats", "3", "--darks", "2"]


class ResumedScan(KilledFolder):
    """convert of a scan, to each form."""
    FORMS = {"tiff": VIEWS + 5, "raw": VIEWS + 5, "stack": VIEWS + 5, "sinograms": ROWS + 5}

    @classmethod
    def setUpClass(cls):
        cls.made = pathlib.Path(tempfile.mkdtemp(prefix="lepus-resumed-"))
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        subprocess.run([PROGRAM, "simulate", "ball", "-o", "scan", *map(str, SCAN), "--quiet"], cwd=cls.made, check=True)
        # A file that comes along: it must have its name however often the run was ended.
        (cls.made / "scan/angles.txt").write_text("".join(f"{360 * view / VIEWS}\n" for view in range(VIEWS)))
        toml = cls.made / "scan/scan.toml"
        lines = [line for line in toml.read_text().splitlines() if not line.startswith(("first_angle", "arc", "angle"))]
        lines.insert(lines.index("[geometry]") + 1, 'angles_file = "angles.txt"')
        toml.write_text("\n".join(lines) + "\n")

    def setUp(self):
        super().setUp()
        shutil.copytree(self.made / "scan", self.folder / "scan")

    def use(self, form):
        words = ["--frames", "raw", "--order", "sinograms"] if form == "sinograms" else ["--frames", form]
        self.command = ["convert", "scan/scan.toml", "-o", "v", *words, "--threads", "1", "--quiet"]

    def test_killed_at_any_moment(self):
        for form in self.FORMS:
            with self.subTest(form):
                self.use(form)
                hit = self.kill_often(KILLS if KILLS >= 100 else 6, slabs=4)
                self.assertGreater(hit["slabs"], 0, hit)

    def test_asked_to_end(self):
        for form, count in self.FORMS.items():
            with self.subTest(form):
                self.use(form)
                expected = self.uninterrupted()
                process = self.leave_unfinished(ending=signal.SIGTERM)
                self.assertEqual(process.returncode, EXIT_AFTER[signal.SIGTERM], process.output)
                self.assertIn("the same command goes on", process.output[1])
                status = self.lepus_json("status", "v")
                self.assertEqual((status["state"], status["command"], status["unit"], status["all"]), ("unfinished", "convert", "images", count))
                self.assertTrue(0 < status["done"] <= count, status)
                self.lepus(*self.command, "--resume")
                self.assert_complete(expected)
                self.assertEqual(self.lepus_json("status", "v")["state"], "complete")
                self.remove_outputs()

    def leave_frames_finished(self):
        """Kills the run once its frames, which are the first piece, are recorded. A file of the name is not enough: it has it a moment before."""
        for _ in range(20):
            self.end_when(self.start(*self.command), lambda: self.pieces() >= 1)
            if self.pieces() >= 1 and not (self.folder / "v").exists():
                return self.folder / "v.unfinished/frames.raw"
            self.remove_outputs()
        self.fail("it always ended too early")

    def test_what_was_finished_is_not_made_again(self):
        self.use("raw")
        expected = self.uninterrupted()
        frames = self.leave_frames_finished()
        written = frames.stat()
        self.lepus(*self.command)
        self.assert_complete(expected)
        self.assertEqual((self.folder / "v/frames.raw").stat().st_ino, written.st_ino)
        self.assertEqual((self.folder / "v/frames.raw").stat().st_mtime_ns, written.st_mtime_ns)

    def test_what_was_changed_is_made_again(self):
        self.use("raw")
        expected = self.uninterrupted()
        with open(self.leave_frames_finished(), "r+b") as file:
            file.seek(1000)
            file.write(b"!!!!")
        self.assertIn("made again", self.lepus(*[word for word in self.command if word != "--quiet"]).stderr)
        self.assert_complete(expected)

    def test_another_run_is_refused(self):
        self.use("tiff")
        expected = self.uninterrupted()
        self.assert_error(self.lepus(*self.command, "--resume", code=2), "usage", "no unfinished run")
        self.leave_unfinished()
        begun = self.command
        self.use("raw")
        self.assert_error(self.lepus(*self.command, code=2), "usage", "cannot be gone on with", "the form", "--restart")
        frame = sorted((self.folder / "scan/frames").iterdir())[7]
        times = frame.stat()
        os.utime(frame, (1, 1))
        self.assert_error(self.lepus(*begun, code=2), "usage", "input files", "--restart")
        os.utime(frame, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.lepus(*begun)  # nothing was lost
        self.assert_complete(expected)
        self.remove_outputs()
        self.command = begun
        self.leave_unfinished()
        self.lepus(*begun, "--restart")
        self.assert_complete(expected)

    def test_nothing_is_left_where_nothing_was_made(self):
        self.use("tiff")
        next((self.folder / "scan/frames").iterdir()).write_bytes(b"II*\0")
        self.lepus(*self.command, code=3)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["scan"])


class ResumedAnalysis(KilledFolder):
    STEPS = 8  # survey, noise, the phase, its values, distances, blobs, thickness, walls

    @classmethod
    def setUpClass(cls):
        cls.made = pathlib.Path(tempfile.mkdtemp(prefix="lepus-resumed-"))
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        values = numpy.random.default_rng(1).normal(0, 1, size=(70, 80, 90))
        for axis in range(3):  # pores of some voxels
            values = sum(numpy.roll(values, shift, axis) for shift in range(-3, 4))
        write_mha(cls.made / "in.mha", (values / values.std()).astype(numpy.float32))

    def setUp(self):
        super().setUp()
        shutil.copy(self.made / "in.mha", self.folder)
        self.command = ["analyze", "in.mha", "-o", "v", "--threshold", "otsu", "--porosity", "--blobs", "--thickness", "--noise",
                        "--clean", "open:1", "--save", "distance", "--save", "thickness", "--backend", "cpu", "--threads", "1", "--quiet"]

    def test_killed_at_any_moment(self):
        hit = self.kill_often(slabs=self.STEPS)
        self.assertGreater(hit["slabs"], 0, hit)

    def test_asked_to_end(self):
        expected = self.uninterrupted()
        process = self.leave_unfinished(3, ending=signal.SIGTERM)
        self.assertEqual(process.returncode, EXIT_AFTER[signal.SIGTERM], process.output)
        self.assertIn("the same command goes on", process.output[1])
        status = self.lepus_json("status", "v")
        self.assertEqual((status["state"], status["command"], status["unit"], status["all"]), ("unfinished", "analyze", "steps", self.STEPS))
        self.assertTrue(3 <= status["done"] <= self.STEPS, status)
        self.lepus(*self.command, "--resume")
        self.assert_complete(expected)

    def test_what_was_finished_is_not_made_again(self):
        expected = self.uninterrupted()
        self.leave_unfinished(6)  # the blobs are done
        labels = self.folder / "v.unfinished/labels.mha"
        written = labels.stat()
        self.lepus(*self.command)
        self.assert_complete(expected)
        now = (self.folder / "v/labels.mha").stat()
        self.assertEqual((now.st_ino, now.st_mtime_ns), (written.st_ino, written.st_mtime_ns))
        # What was changed is made again.
        self.remove_outputs()
        self.leave_unfinished(6)
        with open(labels, "r+b") as file:
            file.seek(-1000, 2)
            file.write(b"!!!!")
        kept = self.folder / "v.unfinished/kept/survey"
        kept.write_bytes(kept.read_bytes()[:-1])
        self.lepus(*self.command)
        self.assert_complete(expected)

    def test_another_run_is_refused(self):
        expected = self.uninterrupted()
        self.leave_unfinished(2)
        self.assert_error(self.lepus(*self.command, "--phase", "bright", code=2), "usage", "cannot be gone on with", "--phase", "--restart")
        self.lepus(*self.command)  # nothing was lost
        self.assert_complete(expected)

    def test_what_cannot_be_analysed_leaves_nothing(self):
        self.assert_error(self.lepus("analyze", "in.mha", "-o", "v", "--threshold", "100", code=3), "input", "selects everything")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["in.mha"])
        self.assert_error(self.lepus("analyze", "in.mha", "--resume", code=2), "usage", "-o")


if __name__ == "__main__":
    unittest.main()
