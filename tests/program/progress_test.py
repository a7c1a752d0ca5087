# SPDX-License-Identifier: Apache-2.0
"""Progress as lines and as a bar, --quiet and --threads."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import time
import unittest

from program_case import PROGRAM, SMALL, ProgramCase


class ProgressDisplay(ProgramCase):
    def terminal_parts(self, *words, columns=80):
        """Standard error of a run whose standard error is a terminal: what was written when, in seconds from the start."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        start = time.monotonic()
        process = subprocess.Popen([PROGRAM, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=slave,
                                   env={**os.environ, "LC_ALL": "C", "NO_COLOR": ""})
        os.close(slave)
        parts = []
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # what Linux says when the other end is closed
                break
            if not part:
                break
            parts.append((time.monotonic() - start, part.decode()))
        os.close(master)
        self.assertEqual(process.wait(60), 0, parts)
        return parts, time.monotonic() - start

    def in_terminal(self, *words, columns=80):
        return "".join(text for _, text in self.terminal_parts(*words, columns=columns)[0])

    def test_plain_lines(self):
        result = self.lepus("simulate", "ball", "-o", "scan", *SMALL)
        self.assertNotIn("\r", result.stderr)
        self.assertNotIn("\033", result.stderr)
        self.assertRegex(result.stderr, r"(?m)^.+ \.\.\.$")
        self.assertRegex(result.stderr, r"(?m)^.+: done in [\d.]+ s$")
        self.assertNotIn("done in", result.stdout)

    def test_a_bar_on_a_terminal(self):
        shepp = ["simulate", "shepp-logan", "-o"]
        seen = self.in_terminal(*shepp, "scan", "--preset", "tiny", "--subpixels", "6", "--threads", "1")
        self.assertRegex(seen, r"\r\033\[K.* \[#*\.*\] +\d+ %")
        self.assertRegex(seen, r" left")
        self.assertRegex(seen, r"done in [\d.]+ s\r\n")
        # Never wider than the terminal, or it would scroll.
        narrow = self.in_terminal(*shepp, "narrow", *SMALL, columns=40)
        for line in narrow.replace("\r\n", "\n").replace("\033[K", "").replace("\r", "\n").split("\n"):
            if "%" in line:
                self.assertLess(len(line), 40, repr(line))

    def test_something_moves_every_second(self):
        """Also where a correction works for seconds and cannot say how far it is, and from the start on."""
        self.simulate()
        text = (self.folder / "scan/scan.toml").read_text()
        for command in (["reconstruct", "scan/slow.toml", "-o", "v.mha"], ["preview", "scan/slow.toml"]):
            seconds, corrections = 0, 1
            while seconds < 1.8:  # as slow as it must be, on any machine
                corrections *= 2
                section = '\n[[correct]]\nkind = "filter"\nfilter = "bilateral"\nradius_px = 15\niterations = 100\n'
                (self.folder / "scan/slow.toml").write_text(text + corrections * section)
                parts, seconds = self.terminal_parts(*command, "--force")
            times = [0.0] + [when for when, _ in parts] + [seconds]
            longest = max(later - earlier for earlier, later in zip(times, times[1:]))
            self.assertLess(longest, 1.2, f"{command[0]}: nothing moved for {longest:.1f} of {seconds:.1f} s")

    def test_quiet(self):
        """Nothing but errors and warnings, of every command that writes."""
        self.assert_silent("simulate", "ball", "-o", "scan", *SMALL)
        self.assertEqual(self.in_terminal("simulate", "ball", "-o", "again", *SMALL, "--quiet"), "")
        self.assert_silent("reconstruct", "scan/scan.toml", "-o", "v.mha")
        self.assert_silent("preview", "scan/scan.toml")
        self.assert_silent("post", "v.mha", "-o", "w.mha", "--do", "median")
        self.assert_silent("convert", "v.mha", "-o", "v.nrrd")
        self.assert_silent("slice", "v.mha", "-o", "v.png")
        # What was asked for stays.
        self.assertIn("voxels", self.lepus("plan", "scan/scan.toml", "--quiet").stdout)

    def assert_silent(self, *words):
        result = self.lepus(*words, "--quiet")
        self.assertEqual(result.stdout + result.stderr, "")

    def test_a_short_report_and_a_long_one(self):
        self.simulate()
        report = self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha").stdout
        self.assertRegex(report, r"\Awrote     v\.mha: \d+ x \d+ x \d+ voxels, [\d.]+ KiB\ntime      [\d.]+ s\n\Z")
        verbose = self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", "--force", "-v", "--backend", "cpu").stdout
        for word in ("plan", "memory", "rows", "kernel", "spent", "peak", "wrote", "time"):
            self.assertRegex(verbose, rf"(?m)^{word} +\S")
        frame = self.folder / "scan" / "frames" / sorted(os.listdir(self.folder / "scan" / "frames"))[-1]
        frame.write_bytes((self.folder / "scan" / "darks" / sorted(os.listdir(self.folder / "scan" / "darks"))[0]).read_bytes())
        warned = self.lepus("reconstruct", "scan/scan.toml", "-o", "w.mha", code=None)
        if warned.stderr.count("warning:"):
            self.assertRegex(warned.stdout, r"(?m)^warnings  \d+, above$")

    def test_json_keeps_standard_output_clean(self):
        result = self.lepus("simulate", "ball", "-o", "scan", *SMALL, "--json")
        self.assertEqual(json.loads(result.stdout)["views"], 24)
        self.assertIn("done in", result.stderr)

    def test_common_options_may_stand_before_the_command(self):
        self.simulate()
        self.assertEqual(json.loads(self.lepus("--json", "-q", "--threads", "1", "info", "scan/truth.mha").stdout)["kind"],
                         "volume")


class PlannedTime(ProgramCase):
    def test_small_scans(self):
        """Within a factor of five, of whole runs, the fastest of three: what else the machine does is not known."""
        self.simulate()
        text = (self.folder / "scan/scan.toml").read_text()
        (self.folder / "scan/one.toml").write_text(re.sub(r"(?m)^size = .*$", "size = [256, 256, 1]", text))
        for scan in ("scan/scan.toml", "scan/one.toml"):
            with self.subTest(scan=scan):
                expected = min(self.lepus_json("plan", scan, "--backend", "cpu")["plan"]["expected_seconds"] for _ in range(2))
                took = []
                for _ in range(3):
                    start = time.monotonic()
                    self.lepus("reconstruct", scan, "-o", "v.mha", "--force", "--quiet", "--backend", "cpu")
                    took.append(time.monotonic() - start)
                self.assertLess(expected, 5 * min(took))
                self.assertGreater(expected, min(took) / 5)


if __name__ == "__main__":
    unittest.main()
