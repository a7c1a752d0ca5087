# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, and a request to end: the program stops within a second, says so and leaves nothing that looks finished.
Runs while no other test does: the second is one of the program, not of a machine that does a dozen other things."""
import json
import signal
import subprocess
import time
import unittest

from program_case import EXIT_AFTER, PROGRAM, ProgramCase


class Interruption(ProgramCase):
    def start(self, *words):
        return subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def end(self, process, number):
        """Sends a signal to a run that is at work: what it then says."""
        self.assertIsNone(process.poll(), "it ended before it could be interrupted")
        start = time.monotonic()
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - start, 1, "it must stop within a second")
        self.assertEqual(process.returncode, EXIT_AFTER[number], stderr)
        return stdout, stderr

    def test_simulate_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                process = self.start("simulate", "shepp-logan", "-o", "big", "--preset", "large", "--subpixels", "4")
                time.sleep(1)
                _, stderr = self.end(process, number)
                self.assertIn("interrupted", stderr)
                self.assertEqual(self.names(), [])

    def test_json_says_so(self):
        for number, kind in ((signal.SIGINT, "cancelled"), (signal.SIGTERM, "stopped")):
            with self.subTest(signal=number):
                process = self.start("simulate", "shepp-logan", "-o", "big", "--preset", "large", "--json")
                time.sleep(1)
                stdout, _ = self.end(process, number)
                self.assertEqual(json.loads(stdout)["error"]["kind"], kind)

    def test_a_third_one_ends_it_at_once(self):
        process = self.start("simulate", "shepp-logan", "-o", "big", "--preset", "large")
        time.sleep(0.5)
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, EXIT_AFTER[signal.SIGINT])

    def test_reconstruct_leaves_what_was_there(self):
        scan = self.simulate("scan", "--format", "tiff", "--no-truth", "--size", "640", "--voxel", "0.1")
        out = self.folder / "out"
        out.mkdir()
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                for left in out.iterdir():
                    left.unlink()
                (out / "volume.mha").write_bytes(b"precious")
                process = self.start("reconstruct", scan / "scan.toml", "-o", out / "volume.mha", "--force", "--threads", "2")
                # Until it writes: there is a partial file to remove.
                patience = time.monotonic() + 60
                while len(self.names(out)) < 2 and process.poll() is None and time.monotonic() < patience:
                    time.sleep(0.02)
                _, stderr = self.end(process, number)
                self.assertIn("interrupted", stderr)
                kept = ["volume.mha.journal", "volume.mha.unfinished"] if "goes on" in stderr else []  # where a slab was finished
                self.assertEqual(self.names(out), ["volume.mha", *kept])
                self.assertEqual((out / "volume.mha").read_bytes(), b"precious")


if __name__ == "__main__":
    unittest.main()
