# SPDX-License-Identifier: Apache-2.0
"""What the tests of the program share: running it in a folder of its own, and looking at what it left there."""
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

PROGRAM = os.path.abspath(os.environ.get("LEPUS_PROGRAM", shutil.which("lepus") or "lepus"))

# A scan that takes a fraction of a second: 24 views of 32 x 24 pixels of a ball.
SMALL = ["--views", "24", "--columns", "32", "--rows", "24", "--pixel", "6.4", "--flats", "2", "--darks", "2"]

# With which exit code the program ends when it is asked to.
EXIT_AFTER = {signal.SIGINT: 130, signal.SIGHUP: 130, signal.SIGTERM: 75}


class ProgramCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lepus-program-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def lepus(self, *words, code=0, **options):
        """Runs the program in self.folder and checks its exit code (None: any)."""
        options.setdefault("timeout", 120)
        result = subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, **options)
        if code is not None:
            self.assertEqual(result.returncode, code, f"lepus {' '.join(map(str, words))}\n{result.stdout}{result.stderr}")
        return result

    def lepus_json(self, *words, **options):
        return json.loads(self.lepus(*words, "--json", **options).stdout)

    def program_mebibytes(self):
        """What a run counts for the program itself before it does anything: other systems' libraries take other amounts."""
        (self.folder / "one.nhdr").write_text("NRRD0004\ntype: float\ndimension: 3\nsizes: 1 1 1\nencoding: raw\nendian: little\ndata file: one.raw\n\n")
        (self.folder / "one.raw").write_bytes(bytes(4))
        said = self.lepus("info", "one.nhdr", "--memory", "1MiB", code=5).stderr
        for name in ("one.nhdr", "one.raw"):
            (self.folder / name).unlink()
        return math.ceil(float(re.search(r"beside ([\d.]+) MiB for the program itself", said).group(1)))

    def minimum_memory(self, *words):
        """The limit, as an option, that a command names where it was allowed too little."""
        said = self.lepus(*words, "--memory", "1MiB", code=5).stderr
        return ["--memory", re.search(r"--memory (\d+MiB)", said).group(1)]

    def cuts(self, words):
        """Options that cut a command's work in different ways: one thread, three, and as little memory as it can do with."""
        return ["--threads", 1], ["--threads", 3], ["--threads", 1, *self.minimum_memory(*words, "--threads", 1)]

    def simulate(self, name="scan", *more, phantom="ball"):
        self.lepus("simulate", phantom, "-o", name, *SMALL, "--quiet", *more)
        return self.folder / name

    def assert_error(self, result, kind, *needles):
        """One error on standard error that has all the needles and a hint; the same as JSON where it was asked for."""
        self.assertIn("lepus: error:", result.stderr)
        self.assertEqual(result.stderr.count("lepus: error:"), 1, result.stderr)
        self.assertIn("hint:", result.stderr)
        for needle in needles:
            self.assertIn(needle.lower(), result.stderr.lower())
        if result.stdout.strip():
            error = json.loads(result.stdout)["error"]
            self.assertEqual(error["kind"], kind, error)
            self.assertEqual(set(error), {"kind", "what", "where", "why", "hint"})

    def names(self, folder=None):
        """Every file and folder below, to see that nothing was left or lost."""
        top = pathlib.Path(folder or self.folder)
        return sorted(str(p.relative_to(top)) for p in top.rglob("*"))


def command_names():
    text = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    lines = text.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    return [line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("   ")]
