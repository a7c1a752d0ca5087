# SPDX-License-Identifier: Apache-2.0
"""Outputs that must not be lost: limits on files, dropped connections, kill -9, names that are taken or cannot be written."""
import os
import resource
import signal
import subprocess
import time
import unittest

from program_case import PROGRAM, SMALL, ProgramCase

LONG = ["simulate", "shepp-logan", "-o", "long", "--preset", "large", "--subpixels", "4"]


class Outputs(ProgramCase):
    def start(self, *words, **options):
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(lambda: (process.kill(), process.communicate()) if process.poll() is None else None)
        return process

    def wait_for_partial(self, name):
        end = time.monotonic() + 30
        while not list(self.folder.glob(name)):
            self.assertLess(time.monotonic(), end, "it never began")
            time.sleep(0.02)

    def test_a_limit_on_the_size_of_files(self):
        self.simulate()
        before = self.names()
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        for words in (["convert", "scan/truth.mha", "-o", "v.mha"], ["convert", "scan/truth.mha", "-o", "v.h5"],
                      ["reconstruct", "scan/scan.toml", "-o", "v.mha"], ["simulate", "ball", "-o", "large", "--preset", "tiny"],
                      ["preview", "scan/scan.toml", "-o", "p.html"]):  # how large the page will be is not known before
            with self.subTest(words=words):
                result = self.lepus(*words, code=None, preexec_fn=limit)
                if result.returncode == 7:
                    continue  # built without that format: it said so
                self.assertEqual(result.returncode, 6, result.stderr)
                self.assert_error(result, "disk", "files may not become so large", "ulimit")
                self.assertEqual(self.names(), before)

    def test_a_dropped_connection(self):
        process = self.start(*LONG)
        self.wait_for_partial("long.partial-*")
        process.send_signal(signal.SIGHUP)
        _, stderr = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertEqual(self.names(), [])
        under_nohup = self.start(*LONG, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for_partial("long.partial-*")
        under_nohup.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        self.assertIsNone(under_nohup.poll(), "nohup was not heeded")
        under_nohup.terminate()
        under_nohup.communicate(timeout=30)
        self.assertEqual(under_nohup.returncode, 75)

    def test_the_next_run_names_and_removes_what_a_killed_one_left(self):
        process = self.start(*LONG)
        self.wait_for_partial("long.partial-*/frames/*")
        process.kill()
        process.communicate()
        self.assertNotEqual(self.names(), [])
        again = self.lepus("simulate", "ball", "-o", "long", *SMALL)
        self.assertIn(f"process {process.pid} on ", again.stderr)
        self.assertIn("long.partial-", again.stderr)
        self.assertEqual({n.split("/")[0] for n in self.names()}, {"long"})

    def test_the_truth_takes_no_name_of_the_scan(self):
        (self.folder / "mine.mha").write_text("mine")
        for name in ("frames/0003.tif", "frames/%04d.tif", "../mine.mha", "/tmp/x.mha", "scan.toml", "frames.raw", "sub/../../mine.mha"):
            with self.subTest(name=name):
                result = self.lepus("simulate", "ball", "-o", "scan", *SMALL, "--truth-file", name, code=2)
                self.assert_error(result, "usage", "truth file", "within the scan's folder")
                self.assertEqual(self.names(), ["mine.mha"])
        self.lepus("simulate", "ball", "-o", "scan", *SMALL, "--truth-file", "truth/%04d.tif", "--quiet")
        self.assertTrue((self.folder / "scan/truth/0000.tif").exists())
        self.assertEqual((self.folder / "mine.mha").read_text(), "mine")

    def test_no_slices_among_the_frames(self):
        self.simulate()
        before = self.names()
        for name in ("scan/frames/", "scan/frames/slice_%05d.tif", "scan/frames/volume.tif", "scan/flats/"):
            with self.subTest(name=name):
                self.assert_error(self.lepus("reconstruct", "scan/scan.toml", "-o", name, code=2), "usage", "beside", "choose another name")
                self.assertEqual(self.names(), before)
        self.lepus("reconstruct", "scan/scan.toml", "-o", "scan/frames/volume.mha", "--quiet")

    def test_outputs_are_looked_at_before_the_work(self):
        """A missing folder is said without the progress of any work."""
        self.simulate()
        (self.folder / "taken.png").write_text("mine")
        (self.folder / "taken.toml").write_text("mine")
        for words in (["center", "scan/scan.toml", "--picture", "none/c.png"], ["center", "scan/scan.toml", "--picture", "taken.png"],
                      ["calibrate", "scan/scan.toml", "-o", "none/c.toml"], ["calibrate", "scan/scan.toml", "-o", "taken.toml"],
                      ["live", "scan/scan.toml", "-o", "none/v.mha"], ["live", "scan/scan.toml", "-o", "v.mha", "--preview", "none/p.png"],
                      ["live", "scan/scan.toml", "-o", "v.mha", "--status", "none/s.json"],
                      ["compare", "scan/truth.mha", "scan/truth.mha", "--difference", "none/d.png"],
                      ["slice", "scan/truth.mha", "-o", "none/s.png"], ["preview", "scan/scan.toml", "-o", "none/p.html"]):
            with self.subTest(words=words):
                result = self.lepus(*words, code=6)
                self.assert_error(result, "disk", "none" if "none" in words[-1] else "--force")
                self.assertNotIn("...", result.stderr.split("lepus: error:")[0])
        self.assertEqual((self.folder / "taken.png").read_text() + (self.folder / "taken.toml").read_text(), "minemine")
        (self.folder / "file").write_text("mine")
        result = self.lepus("bench", "--quick", "-o", "file/report", code=None)
        if result.returncode != 7:  # built without the benchmarks
            self.assertEqual(result.returncode, 6, result.stderr)

    def test_an_output_that_is_a_link_stays_one(self):
        self.simulate()
        (self.folder / "disk").mkdir()
        (self.folder / "v.mha").symlink_to("disk/real.mha")
        self.lepus("convert", "scan/truth.mha", "-o", "v.mha", "--quiet")
        self.lepus("convert", "scan/truth.mha", "-o", "v.mha", "--quiet", "--force")
        self.assertEqual(os.readlink(self.folder / "v.mha"), "disk/real.mha")
        self.assertEqual(self.names(self.folder / "disk"), ["real.mha"])

    def test_scratch_of_the_users_is_left_alone(self):
        self.simulate()
        names = ["lepus-post-scratch-1.mha", "v.mha.partial", "v.mha.partial-1"]
        for name in names:
            (self.folder / name).write_text("mine")
        self.lepus("post", "scan/truth.mha", "-o", "v.mha", "--do", "gaussian radius=1", "--do", "rescale bits=8", "--quiet")
        self.assertEqual([(self.folder / name).read_text() for name in names], ["mine"] * 3)


if __name__ == "__main__":
    unittest.main()
