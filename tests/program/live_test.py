# SPDX-License-Identifier: Apache-2.0
"""lepus live against a scanner that is slow, stops and resumes, mixes up the order, leaves a view out or spoils one."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import numpy
import skimage.io

from program_case import PROGRAM, SMALL, ProgramCase

VIEWS = 24
# Both volumes are sums of the same 24 terms t in single precision (rounding unit u = 2^-24), in another order: each is
# off by at most 23 u sum|t|, and inside and around a ball sum|t| stays below 4 times the peak: 2 * 23 * 4 * u = 1.1e-5.
# Coordinates of up to 32 pixels are known to 32 u, which an edge turns into as much of the peak: 2e-6 each.
LIMIT = 1.5e-5


def voxels(path):
    """The floats of a MetaImage, by hand."""
    data = path.read_bytes()
    header, _, rest = data.partition(b"ElementDataFile = LOCAL\n")
    size = next(line for line in header.decode().splitlines() if line.startswith("DimSize")).split("=")[1].split()
    return numpy.frombuffer(rest, "<f4", numpy.prod([int(n) for n in size]))


class Live(ProgramCase):
    @classmethod
    def setUpClass(cls):
        cls.made = pathlib.Path(tempfile.mkdtemp(prefix="lepus-live-"))
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        subprocess.run([PROGRAM, "simulate", "ball", "-o", "scan", *SMALL, "--quiet"], cwd=cls.made, check=True,
                       capture_output=True)
        subprocess.run([PROGRAM, "reconstruct", "scan/scan.toml", "-o", "reference.mha", "--backend", "cpu", "--quiet"],
                       cwd=cls.made, check=True, capture_output=True)
        cls.frames = [(cls.made / "scan" / "frames" / f"{i:04}.tif").read_bytes() for i in range(VIEWS)]

    def setUp(self):
        super().setUp()
        self.scan = self.folder / "scan"
        shutil.copytree(self.made / "scan", self.scan, ignore=shutil.ignore_patterns("frames", "truth*"))
        self.running = None

    def tearDown(self):
        if self.running and self.running.poll() is None:
            self.running.kill()
            self.running.communicate()

    def start(self, *more, views=VIEWS, shown=""):
        """Starts lepus live, which waits."""
        words = [PROGRAM, "live", "scan/scan.toml", "-o", "live.mha", "--backend", "cpu", "--preview", f"{shown}live.png",
                 "--status", f"{shown}live.json", "--every", "0.1", "--json", *(["--views", str(views)] if views else []), *map(str, more)]
        self.running = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        stdin=subprocess.DEVNULL)
        return self.running

    def end(self, code=0):
        out, err = self.running.communicate(timeout=60)
        self.assertEqual(self.running.returncode, code, out + err)
        self.assertEqual([n for n in self.names() if "partial" in n], [])
        return json.loads(out), err

    def frame_path(self, view):
        (self.scan / "frames").mkdir(exist_ok=True)
        return self.scan / "frames" / f"{view:04}.tif"

    def write(self, views):
        for view in views:
            self.frame_path(view).write_bytes(self.frames[view])

    def wait_until(self, what, seconds=20):
        end = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), end, "waited in vain")
            self.assertIsNone(self.running.poll(), self.running.poll() is not None and self.running.communicate())
            time.sleep(0.01)

    def status(self):
        try:
            return json.loads((self.folder / "live.json").read_text())  # never half a file
        except FileNotFoundError:
            return {"views_in": 0, "state": ""}

    def assert_same_volume(self, reference=None):
        a, b = voxels(reference or self.made / "reference.mha"), voxels(self.folder / "live.mha")
        self.assertEqual(len(a), len(b))
        self.assertLessEqual(abs(a - b).max(), LIMIT * abs(a).max())

    def assert_picture(self):
        picture = (self.folder / "live.png").read_bytes()
        self.assertEqual((picture[:8], picture[-8:-4]), (b"\x89PNG\r\n\x1a\n", b"IEND"))
        return picture

    def test_a_slow_writer_whose_files_grow(self):
        """Halves in one go, halves closed in between, full size at once and pixels later: no half file is taken."""
        self.start()
        time.sleep(0.2)  # the folder is not even there
        pictures = set()
        for view, data in enumerate(self.frames):
            half = len(data) // 2
            with open(self.frame_path(view), "wb") as file:
                if view % 3 == 1:
                    file.write(data[:half])
                elif view % 3 == 2:
                    file.truncate(len(data))
                    file.write(data[:half])
                    file.flush()
                    time.sleep(0.25 if view == 5 else 0.03)  # longer than the time that other files have to settle
                    file.write(data[half:])
                else:
                    file.write(data[:half])
                    file.flush()
                    time.sleep(0.03)
                    file.write(data[half:])
            if view % 3 == 1:
                time.sleep(0.03)
                with open(self.frame_path(view), "ab") as file:
                    file.write(data[half:])
            if (self.folder / "live.png").exists():
                pictures.add(self.assert_picture())
        closed = time.monotonic()
        result, err = self.end()
        # The end of the process has the volume on disk, a picture and the report behind it: 0.1 s on an idle machine.
        self.assertLess(time.monotonic() - closed, 5)
        self.assertGreaterEqual(result["written_seconds"], result["ready_seconds"])
        self.assertEqual((result["views"], result["missing"], result["left_out"]), (VIEWS, [], []))
        self.assertGreaterEqual(len(pictures), 2)
        self.assertGreaterEqual(result["previews"], 3)
        self.assertEqual(self.status()["state"], "finished")
        self.assert_same_volume()

    def test_a_writer_that_stops_and_resumes(self):
        self.start()
        self.write(range(12))
        self.wait_until(lambda: self.status()["views_in"] == 12)
        self.wait_until(lambda: self.status().get("waiting_seconds", 0) > 2)
        self.assertEqual(self.status()["state"], "waiting")
        self.assertTrue(self.status()["waiting_for"][0].endswith("0012.tif"))
        self.assert_picture()
        self.write(range(12, VIEWS))
        _, err = self.end()
        self.assertRegex(err, r"waiting for view 13 of 24, .*0012\.tif, [2-5] s")
        self.assert_same_volume()

    def test_any_order(self):
        """Also files that appear whole, by a link, of which nobody says that they were closed."""
        self.start("--first-number", 0)
        for view in numpy.random.default_rng(1).permutation(VIEWS):
            whole = self.folder / f"{view}.whole"
            whole.write_bytes(self.frames[view])
            os.link(whole, self.frame_path(view))
        self.end()
        self.assert_same_volume()

    def test_numbers_that_begin_elsewhere(self):
        self.write([5])
        self.start("--timeout", 1)
        result, err = self.end(code=3)
        self.assertIn("--first-number", result["error"]["why"])
        self.start("--timeout", 5)
        self.write([1])
        self.frame_path(VIEWS).write_bytes(self.frames[0])  # the last of a series from 1: then 0 cannot be
        self.wait_until(lambda: self.status()["views_in"] == 3)
        self.write([0])
        result, err = self.end(code=3)
        self.assertIn("0000.tif", result["error"]["where"])
        self.assertIn("--first-number", result["error"]["hint"])

    def test_the_first_frame_comes_after_the_second(self):
        """Frames 1 to 5 seem to be the first of a series from 1, until 0 is there."""
        self.start("--timeout", 20)
        self.write(range(1, 6))
        self.wait_until(lambda: self.status()["views_in"] == 5)
        self.write([0, *range(6, VIEWS)])
        _, err = self.end()
        self.assertIn("begins with 0", err)
        self.assert_same_volume()

    def test_pictures_that_cannot_be_written_for_a_while(self):
        """The folder of preview and status goes and comes again: a warning, and the volume is made all the same."""
        shown = self.folder / "shown"
        shown.mkdir()
        self.start("--timeout", 20, shown="shown/")
        self.write(range(8))
        self.wait_until(lambda: (shown / "live.png").exists())
        shutil.rmtree(shown)
        self.write(range(8, 16))
        time.sleep(1.5)  # the status is written every second
        self.assertIsNone(self.running.poll())
        shown.mkdir()
        self.write(range(16, VIEWS))
        result, err = self.end()
        self.assertEqual(len([w for w in result["warnings"] if "tried again" in w and "shown/live" in w]), len(result["warnings"]), err)
        self.assertGreaterEqual(len(result["warnings"]), 1)
        self.assertEqual(json.loads((shown / "live.json").read_text())["state"], "finished")
        self.assertTrue((shown / "live.png").exists())
        self.assert_same_volume()

    def test_outputs_are_kept_away_from_the_frames(self):
        (self.scan / "frames").mkdir()
        for more in (["-o", "scan/frames/v.tif"], ["-o", "scan/frames/"], ["-o", "scan/flats/v.tif"], ["-o", "scan/frames/s_%04d.tif"]):
            with self.subTest(more=more):
                self.assert_error(self.lepus("live", "scan/scan.toml", "--views", "24", *more, code=2), "usage", "scan's images", "another folder")
        self.assertEqual(self.names(self.scan / "frames"), [])

    def test_memory_and_time_do_not_grow_with_the_square_of_the_views(self):
        """A copy of all names for each of 6000 views would be 1.5 GB."""
        words = [PROGRAM, "live", "scan/scan.toml", "-o", "live.mha", "--views", "6000", "--timeout", "0.5", "--memory", "150MB", "--backend", "cpu"]
        self.write([0])
        start = time.monotonic()
        process = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        err = process.stderr.read()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 3, err)
        self.assertIn("5999 of 6000 views did not come", err)
        self.assertIn("nothing came for 0.5 s", err)
        self.assertLess(usage.ru_maxrss, 100 << 10)
        self.assertLess(time.monotonic() - start, 30)

    def test_a_view_that_never_comes(self):
        self.write(view for view in range(VIEWS) if view != 7)
        self.start("--timeout", 0.5)
        result, err = self.end(code=3)
        self.assertIn("1 of 24 views did not come: 7", result["error"]["what"])
        self.assertIn("0007.tif", result["error"]["what"])
        self.assertIn("--missing finish", result["error"]["hint"])
        self.assertFalse((self.folder / "live.mha").exists())
        self.assertEqual((self.status()["state"], self.status()["views_in"]), ("incomplete", VIEWS - 1))
        self.assert_picture()

        self.start("--timeout", 0.5, "--missing", "finish")
        result, err = self.end()
        self.assertEqual((result["views"], len(result["missing"])), (VIEWS - 1, 1))
        self.assertTrue(any("0007.tif" in warning for warning in result["warnings"]))
        # As a reconstruction that knows the angle of every frame that is there: the neighbours count more.
        text = (self.scan / "scan.toml").read_text().replace("first_angle_deg = 0.0\n", "")
        angles = [360 / VIEWS * view for view in range(VIEWS) if view != 7]
        text = "\n".join(f"angles_deg = {angles}" if line.startswith("arc_deg") else line for line in text.splitlines())
        (self.scan / "without.toml").write_text(text)
        self.lepus("reconstruct", "scan/without.toml", "-o", "without.mha", "--backend", "cpu", "--quiet")
        self.assert_same_volume(self.folder / "without.mha")
        with self.assertRaises(AssertionError):  # the test can tell one view more or less
            self.assert_same_volume()

    def test_a_frame_that_is_never_whole(self):
        for spoilt in [self.frames[3][:300], b"this is no picture" * 200]:
            with self.subTest(bytes=len(spoilt)):
                self.write(view for view in range(VIEWS) if view != 3)
                self.frame_path(3).write_bytes(spoilt)
                self.start("--timeout", 0.7)
                result, err = self.end(code=3)
                self.assertIn("0003.tif", result["error"]["where"])
                self.assertIn("0003.tif", result["error"]["why"])  # the reader's own words

    def test_interrupted_and_started_again(self):
        self.start()
        self.write(range(10))
        self.wait_until(lambda: self.status()["views_in"] == 10)
        self.running.send_signal(signal.SIGINT)
        result, err = self.end(code=130)
        self.assertIn("10 of 24 views were in", result["error"]["why"])
        self.assertEqual((self.status()["state"], self.status()["views_in"]), ("interrupted", 10))
        self.assert_picture()
        self.assertFalse((self.folder / "live.mha").exists())
        self.start()
        self.write(range(10, VIEWS))
        self.end()
        self.assert_same_volume()
        self.start()  # there is a volume now
        result, err = self.end(code=6)
        self.assertIn("exists", result["error"]["what"] + result["error"]["why"])

    def test_corrections(self):
        """Those of single views are done; those that compare views are named."""
        (self.scan / "bad.txt").write_text("5 5\n20 3 20 9\n")
        doses = [1 + 0.01 * view for view in range(VIEWS)]
        each = (f'\n[[correct]]\nkind = "dose"\nvalues = {doses}\n'
                '\n[[correct]]\nkind = "drift"\nregion_px = [0, 3, 0, 24]\n'
                '\n[[correct]]\nkind = "defect-map"\nfile = "bad.txt"\n'
                '\n[[correct]]\nkind = "filter"\nfilter = "gaussian"\npictures = "frames"\ndimensions = 2\nradius_px = 2\nsigma_px = 1.0\n'
                '\n[[correct]]\nkind = "hardening"\ncoefficients = [1.0, 0.1]\n')
        plain = (self.scan / "scan.toml").read_text()
        (self.scan / "scan.toml").write_text(plain + each)
        self.write(range(VIEWS))
        self.lepus("reconstruct", "scan/scan.toml", "-o", "corrected.mha", "--backend", "cpu", "--quiet")
        rings = '\n[[correct]]\nkind = "rings"\nradius_px = 5\n'
        (self.scan / "scan.toml").write_text(plain + each + rings + '\n[[post]]\nkind = "rescale"\n')
        self.start()
        result, err = self.end()
        self.assertEqual(result["left_out"], ["rings"])
        self.assertIn("rings", err)
        self.assertTrue(any("post" in warning for warning in result["warnings"]))
        self.assert_same_volume(self.folder / "corrected.mha")
        with self.assertRaises(AssertionError):
            self.assert_same_volume()

    def test_what_views_tell_is_said(self):
        """Saturated pixels and those that are no numbers, in the words of reconstruct."""
        self.write(range(VIEWS))
        for kind, needle in (("<u2", "pixels are saturated"), ("<f4", "were not numbers")):
            for view in range(VIEWS):
                pixels = skimage.io.imread(self.made / "scan" / "frames" / f"{view:04}.tif").astype(kind)
                if view in (3, 9):
                    pixels[10, 20:23] = 65535 if kind == "<u2" else numpy.nan
                skimage.io.imsave(self.frame_path(view), pixels, check_contrast=False)
            said = self.lepus_json("reconstruct", "scan/scan.toml", "-o", "whole.mha", "--backend", "cpu", "--force")["warnings"]
            live = self.lepus_json("live", "scan/scan.toml", "--views", VIEWS, "-o", "live.mha", "--backend", "cpu", "--force")["warnings"]
            self.assertEqual([w for w in live if needle in w], [w for w in said if needle in w])
            self.assertEqual(len([w for w in live if needle in w]), 1, live)

    def test_parts_of_a_scan_and_raw_files(self):
        text = (self.scan / "scan.toml").read_text()
        text = text.replace('files = "frames/*.tif"', 'files = [  # one by one\n' + "".join(f'  "raw/{i}.raw",\n' for i in range(VIEWS)) +
                            ']\nfirst_view = 1\nlast_view = 21\nview_step = 2\nfirst_row = 2\nlast_row = 21\n')
        text += '\n[frames.raw]\ncolumns = 32\nrows = 24\nheader_bytes = 8\n'
        (self.scan / "scan.toml").write_text(text)
        (self.scan / "raw").mkdir()
        self.start(views=None)
        for view in range(VIEWS):
            tiff = self.made / "scan" / "frames" / f"{view:04}.tif"
            pixels = b"\0" * 8 + skimage.io.imread(tiff).astype("<u2").tobytes()
            if view in (0, 22):  # not selected, never whole
                pixels = pixels[:100]
            (self.scan / "raw" / f"{view}.raw").write_bytes(pixels)
        result, err = self.end()
        self.assertEqual(result["views"], 11)
        for view in (0, 22):
            shutil.copy(self.scan / "raw" / "1.raw", self.scan / "raw" / f"{view}.raw")
        self.lepus("reconstruct", "scan/scan.toml", "-o", "part.mha", "--backend", "cpu", "--quiet")
        self.assert_same_volume(self.folder / "part.mha")
        scan = json.loads(self.lepus("info", "live.mha", "--json").stdout)
        self.assertIn("raw/23.raw", json.dumps(scan))  # the resolved scan file names the frames, not stand-ins

    def test_bad_input(self):
        self.write(range(VIEWS))
        live = lambda *words, code: self.lepus("live", "scan/scan.toml", "-o", "live.mha", "--backend", "cpu", *words, code=code)
        self.assert_error(live(code=2), "usage", "--views")
        self.assert_error(live("--views", 0, code=2), "usage", "--views")
        self.assert_error(live("--views", 24, "--preview", "a.jpg", code=2), "usage", ".png")
        self.assert_error(live("--views", 24, "--timeout", -1, code=2), "usage", "--timeout")
        self.assert_error(live("--views", 20, code=3), "input", "0020.tif", "more frames than views")
        self.assert_error(live("--views", 24, "--memory", "18MB", code=5), "memory", "held whole")
        (self.scan / "frames" / "notes.tif").write_text("x")
        self.assert_error(live("--views", 24, code=3), "input", "notes.tif")
        (self.scan / "frames" / "notes.tif").unlink()
        good = (self.scan / "scan.toml").read_text()
        for old, new, code, needle in [
                ('"frames/*.tif"', '"stack.h5"', 7, "HDF5"), ('"frames/*.tif"', '"stack.tif"', 7, "grows"),
                ('"frames/*.tif"', '["a/*.tif", "b/*.tif"]', 7, "several patterns"),
                ('beam = "cone"', 'beam = "cone"\ncenter = "auto"', 7, "lepus center"),
                ("[geometry]", '[method]\nname = "sirt"\n\n[geometry]', 7, "sirt"),
                ("[geometry]", "[method]\niterations = 5\n\n[geometry]", 7, "method.iterations"),
                ('files =', 'order = "sinograms"\nfiles =', 7, "sinogram"),
                ('files =', 'axes = "view-column-row"\nfiles =', 7, "frames.axes"),
                ('files =', 'views = 23\nfiles =', 2, "it lists 23 views"),
                ('flats =', 'flats_at_view = [0, 12]\nflats =', 7, "flats"),
                ('source_axis_mm', 'source_axsi_mm', 3, "source_axis_mm")]:
            with self.subTest(new=new):
                (self.scan / "scan.toml").write_text(good.replace(old, new, 1))
                self.assert_error(live("--views", 24, code=code), {7: "unsupported", 3: "input", 2: "usage"}[code], needle)
        (self.scan / "scan.toml").write_text(good.replace("source_axis_mm = 500.0", "source_axis_mm = 5000.0"))
        result = live("--views", 24, code=4)
        line = next(i for i, text in enumerate(good.splitlines(), 1) if text.startswith("source_detector_mm"))
        self.assertIn(f"scan.toml:{line}", result.stderr)  # lines are those of the file, whatever stands in for the frames
        self.assertEqual([n for n in self.names() if n.startswith("live")], [])


if __name__ == "__main__":
    unittest.main()
