# SPDX-License-Identifier: Apache-2.0
"""Progress as lines and as a bar, --quiet, --threads, and Ctrl-C."""
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import time
import unittest

from program_case import PROGRAM, SMALL, ProgramCase


class ProgressDisplay(ProgramCase):
    def in_terminal(self, *words, columns=80):
        """Standard error of a run whose standard error is a terminal."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=slave,
                                   env={**os.environ, "LC_ALL": "C", "NO_COLOR": ""})
        os.close(slave)
        seen = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # what Linux says when the other end is closed
                break
            if not part:
                break
            seen += part
        os.close(master)
        process.stdout.close()
        self.assertEqual(process.wait(60), 0, seen)
        return seen.decode()

    def test_plain_lines(self):
        result = self.lepus("simulate", "ball", "-o", "scan", *SMALL)
        self.assertNotIn("\r", result.stderr)
        self.assertNotIn("\033", result.stderr)
        self.assertRegex(result.stderr, r"(?m)^.+ \.\.\.$")
        self.assertRegex(result.stderr, r"(?m)^.+: done in [\d.]+ s$")
        self.assertNotIn("done in", result.stdout)

    def test_a_bar_on_a_terminal(self):
        shepp = ["simulate", "shepp-logan", "-o"]
        seen = self.in_terminal(*shepp, "scan", "--preset", "tiny", "--subpixels", "6")
        self.assertRegex(seen, r"\r\033\[K.* \[#*\.*\] +\d+ %")
        self.assertRegex(seen, r" left")
        self.assertRegex(seen, r"done in [\d.]+ s\r\n")
        # Never wider than the terminal, or it would scroll.
        narrow = self.in_terminal(*shepp, "narrow", *SMALL, columns=40)
        for line in narrow.replace("\r\n", "\n").replace("\033[K", "").replace("\r", "\n").split("\n"):
            if "%" in line:
                self.assertLess(len(line), 40, repr(line))

    def test_quiet(self):
        result = self.lepus("simulate", "ball", "-o", "scan", *SMALL, "--quiet")
        self.assertEqual(result.stderr, "")
        self.assertEqual(self.in_terminal("simulate", "ball", "-o", "again", *SMALL, "--quiet"), "")

    def test_json_keeps_standard_output_clean(self):
        result = self.lepus("simulate", "ball", "-o", "scan", *SMALL, "--json")
        self.assertEqual(json.loads(result.stdout)["views"], 24)
        self.assertIn("done in", result.stderr)

    def test_common_options_may_stand_before_the_command(self):
        self.simulate()
        self.assertEqual(json.loads(self.lepus("--json", "-q", "--threads", "1", "info", "scan/truth.mha").stdout)["kind"],
                         "volume")


class Interruption(ProgramCase):
    def interrupt(self, words, signal_number, after=1.0):
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(after)
        self.assertIsNone(process.poll(), "it ended before it could be interrupted")
        start = time.monotonic()
        process.send_signal(signal_number)
        stdout, stderr = process.communicate(timeout=30)
        seconds = time.monotonic() - start
        self.assertEqual(process.returncode, 130, stderr)
        self.assertLess(seconds, 1.0, "Ctrl-C must stop within a second")
        return stdout, stderr

    def test_simulate_stops_and_leaves_nothing(self):
        big = ["simulate", "shepp-logan", "-o", "big", "--preset", "large", "--subpixels", "4"]
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                _, stderr = self.interrupt(big, number)
                self.assertIn("interrupted", stderr)
                self.assertEqual(self.names(), [])

    def test_json_says_so(self):
        stdout, _ = self.interrupt(["simulate", "shepp-logan", "-o", "big", "--preset", "large", "--json"], signal.SIGINT)
        self.assertEqual(json.loads(stdout)["error"]["kind"], "cancelled")

    def test_a_third_one_ends_it_at_once(self):
        process = subprocess.Popen([PROGRAM, "simulate", "shepp-logan", "-o", "big", "--preset", "large"],
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)
        self.assertEqual(process.wait(10), 130)


if __name__ == "__main__":
    unittest.main()
