# SPDX-License-Identifier: Apache-2.0
"""Pairs of commands at once in one folder: each ends right, or with an error that names the other; nothing is left.

The voxels and pictures of every output are compared with those of the same command alone. Thirteen pairs that are chosen to
meet in every way, and as many random ones as LEPUS_PAIRS asks for beyond those.
"""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from program_case import EXIT_AFTER, PROGRAM, ProgramCase

PAIRS = int(os.environ.get("LEPUS_PAIRS", 13))
SCAN = ["--views", "48", "--columns", "120", "--rows", "88", "--pixel", "1.7", "--flats", "2", "--darks", "2", "--quiet"]
# The filter is costly and the percentiles need its result: the volume between them is kept on disk.
STEPS = ["gaussian radius=2 dimensions=3", "rescale bits=16 low=1 high=99"]
POST = "".join('\n[[post]]\n' + text for text in ['kind = "gaussian"\nradius = 2\ndimensions = 3\n',
                                                  'kind = "rescale"\nbits = 16\nlow = 1\nhigh = 99\n'])

# What a command writes, as "STEM" with the ending of its format, and its words; IN is "a" or "b".
COMMANDS = {
    "post": ("STEM.mha", ["post", "IN.mha", "-o", "STEM.mha", "--backend", "cpu", "--do", STEPS[0], "--do", STEPS[1]]),
    "reconstruct": ("STEM.mha", ["reconstruct", "IN/post.toml", "-o", "STEM.mha", "--backend", "cpu"]),
    "mhd": ("STEM.mhd", ["convert", "IN.mha", "-o", "STEM.mhd"]),
    "nhdr": ("STEM.nhdr", ["convert", "IN.mha", "-o", "STEM.nhdr"]),
    "slices": ("STEM", ["convert", "IN.mha", "-o", "STEM/"]),
    "scan": ("STEM", ["convert", "IN/scan.toml", "-o", "STEM/"]),
    "analyze": ("STEM", ["analyze", "IN.mha", "-o", "STEM", "--threshold", "otsu", "--phase", "bright"]),
    "preview": ("STEM.html", ["preview", "IN/scan.toml", "-o", "STEM.html", "--backend", "cpu"]),
}
MEETING = {"post": ["post", "reconstruct"], "reconstruct": ["post", "reconstruct"], "mhd": ["mhd", "nhdr"], "nhdr": ["mhd", "nhdr"],
           "slices": ["slices"], "scan": ["scan"], "analyze": ["analyze"], "preview": ["preview"]}

# first command, second command, same output, --force, signal that ends the first
CHOSEN = [
    ("post", "post", False, False, None), ("post", "post", True, False, None),
    ("reconstruct", "reconstruct", False, False, None), ("reconstruct", "post", True, True, None),
    ("post", "post", True, False, signal.SIGKILL), ("reconstruct", "reconstruct", True, True, signal.SIGINT),
    ("mhd", "nhdr", True, True, None), ("slices", "slices", True, False, None), ("scan", "scan", True, True, signal.SIGKILL),
    ("preview", "preview", True, False, None), ("preview", "post", False, False, signal.SIGHUP),
    ("post", "reconstruct", False, True, signal.SIGTERM), ("analyze", "analyze", True, False, None),
]


def content(path):
    """What an output holds, without the text that says when and from what it was made, and without what an ended run keeps
    among the slices of a finished one, to be gone on with."""
    if path.is_dir():
        return {str(p.relative_to(path)): p.read_bytes().split(b"\n", 1)[1] if p.suffix == ".toml" else p.read_bytes()
                for p in sorted(path.rglob("*")) if p.is_file() and p.suffix not in (".json", ".unfinished")}
    if path.suffix in (".mhd", ".nhdr"):
        return path.with_suffix(".raw").read_bytes()
    if path.suffix == ".html":
        assert path.with_suffix(".png").read_bytes().endswith(b"IEND\xaeB`\x82")
        return re.findall(r"data:image/png;base64,([^\"]+)", path.read_text())
    return path.read_bytes().partition(b"ElementDataFile = LOCAL\n")[2]


class TwoAtOnce(ProgramCase):
    @classmethod
    def setUpClass(cls):
        cls.made = pathlib.Path(tempfile.mkdtemp(prefix="lepus-two-"))
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        for name, phantom in (("a", "shepp-logan"), ("b", "ball")):
            cls.alone(cls.made, "simulate", phantom, "-o", name, *SCAN)
            cls.alone(cls.made, "convert", f"{name}/truth.mha", "-o", f"{name}.mha")
            scan = cls.made / name / "scan.toml"
            (cls.made / name / "post.toml").write_text(scan.read_text() + POST)
            scan.write_text(scan.read_text() + '\n[[correct]]\nkind = "filter"\nfilter = "box"\nradius_px = 1\n')
        cls.right = {}
        for command in COMMANDS:
            for name in "ab":
                output, words = cls.command(command, name, f"{command}-{name}")
                cls.alone(cls.made, *words)
                cls.right[command, name] = content(cls.made / output)
        for command in COMMANDS:  # or no mixture could be told
            assert cls.right[command, "a"] != cls.right[command, "b"] and cls.right[command, "a"], command

    @staticmethod
    def alone(folder, *words):
        subprocess.run([PROGRAM, *words], cwd=folder, check=True, capture_output=True, stdin=subprocess.DEVNULL)

    @staticmethod
    def command(command, name, stem):
        output, words = COMMANDS[command]
        fill = lambda word: word.replace("IN", name, 1).replace("STEM", stem) if "STEM" in word or word.startswith("IN") else word
        return fill(output), [fill(word) for word in words]

    def start(self, words):
        return subprocess.Popen([PROGRAM, *words, "--threads", "1"], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_pair(self, chance, first, second, same, force, ending):
        commands = [(first, chance.choice("ab"), "v"), (second, chance.choice("ab"), "v" if same else "w")]
        runs = []
        for command in commands:
            output, words = self.command(*command)
            runs.append((command[:2], output, words + ["--force"] * force))
            if len(runs) == 1:
                one = self.start(runs[0][2])
                time.sleep(chance.choice([0, 0, 0.01, 0.03]))
        two = self.start(runs[1][2])
        if ending:
            time.sleep(chance.uniform(0.02, 0.3))
            one.send_signal(ending)
        said = [process.communicate(timeout=120)[1] for process in (one, two)]
        codes = [one.returncode, two.returncode]
        for i, other in ((0, two), (1, one)):
            allowed = [0, 6] + ([EXIT_AFTER.get(ending, -9)] if ending and i == 0 else [])
            # The signal may come before the program is ready for it.
            allowed += [-ending] if ending and i == 0 else []
            # What the first left unfinished is not the second's to go on with, where it is of another input.
            allowed += [2] if ending and i == 1 and same else []
            self.assertIn(codes[i], allowed, said[i])
            if codes[i] == 2:
                self.assertIn("an unfinished run of this output cannot be gone on with", said[i])
            if codes[i] == 6:
                self.assertTrue(same, said[i])
                self.met += "another run" in said[i]
                self.assertRegex(said[i], rf"another run is writing this[\s\S]*process {other.pid} on |exists already|appeared")
        if same and not force:
            self.assertLess(codes.count(0), 2, "both wrote one output unasked")
        if same and not ending:
            self.assertIn(0, codes, said)
        winners = [i for i in (0, 1) if codes[i] == 0]
        for i in winners:
            possible = [self.right[runs[k][0]] for k in winners] if same else [self.right[runs[i][0]]]
            self.assertIn(content(self.folder / runs[i][1]), possible, f"run {i} of {codes} is wrong: {said[i]}")
        if ending:  # the next run on the same output is right, and nothing is left of the one that was ended
            left = [n for n in self.names() if ".partial-" in n.split("/")[0] and n.startswith("v")]
            again = self.lepus(*self.command(*commands[0])[1], "--force")
            self.assertEqual(content(self.folder / runs[0][1]), self.right[runs[0][0]])
            if left and runs[0][1] == "v.mha":
                self.assertIn("left behind", again.stderr)
        self.assertEqual([n for n in self.names() if ".partial" in n or "lepus" in n or "scratch" in n], ["v.mha.partial"])
        self.assertEqual((self.folder / "v.mha.partial").read_text(), "mine")

    def test_pairs(self):
        self.met = 0  # how often a run found the other's lock
        for number in range(PAIRS):
            chance = random.Random(number)
            pair = CHOSEN[number] if number < len(CHOSEN) else None
            if pair is None:
                first, same = chance.choice(list(COMMANDS)), chance.random() < 0.6
                ending = chance.choice([None, None, signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
                pair = (first, chance.choice(MEETING[first] if same else list(COMMANDS)), same, chance.random() < 0.5, ending)
            with self.subTest(number=number, pair=pair):
                shutil.rmtree(self.folder, ignore_errors=True)
                self.folder.mkdir()
                for name in ("a", "b", "a.mha", "b.mha"):
                    (self.folder / name).symlink_to(self.made / name)
                (self.folder / "v.mha.partial").write_text("mine")
                self.run_pair(chance, *pair)
        self.assertGreater(self.met, 0, "no two runs ever met: nothing was tested")


if __name__ == "__main__":
    unittest.main()
