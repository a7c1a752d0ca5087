# SPDX-License-Identifier: Apache-2.0
"""Commands that are killed while they work, and the same command again. LEPUS_KILLS=100 kills as often (12 unless told)."""
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

from program_case import PROGRAM, ProgramCase

KILLS = int(os.environ.get("LEPUS_KILLS", "12"))
SECONDS = 60  # more than any of these runs takes

SCAN = ["--views", "40", "--columns", "64", "--rows", "96", "--pixel", "2", "--flats", "2", "--darks", "2"]
# Tall and thin, so that there are many slabs and little to do.
VOLUME = 'size = [80, 80, 512]\nvoxel_mm = [0.8, 0.8, 0.18]\ncentre_mm = [0.0, 0.0, 0.0]\n'


def records(journal, kind):
    """How many of them the journal has; 0 where there is none, not yet or not any more."""
    try:
        return len(re.findall(rf"(?m)^[0-9a-f]{{8}} \d+ {kind} ", journal.read_text(errors="replace")))
    except FileNotFoundError:
        return 0


class KilledCase(ProgramCase):
    """self.command writes v.raw and v.raw.json; result() says what of them must be the same."""
    output = "v.raw"
    journals = ["v.raw"]  # of the volumes that it makes one after the other

    def start(self, *words):
        return subprocess.Popen([PROGRAM, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def recorded(self, name="v.raw"):
        """How many slabs the journal says are finished; -1 where there is none."""
        try:
            return (self.folder / f"{name}.journal").read_text(errors="replace").count(" slab ")
        except FileNotFoundError:  # not yet, or not any more
            return -1

    def end_when(self, process, ready, ending=signal.SIGKILL):
        """Ends the run once it is there; whether it still ran."""
        end = time.monotonic() + SECONDS
        while process.poll() is None and not ready():
            self.assertLess(time.monotonic(), end, "it never got there")
            time.sleep(0.0005)
        process.send_signal(ending)
        process.output = process.communicate(timeout=SECONDS)
        return process.returncode not in (0, None)

    def stopped(self, words, ready):
        """A run that stands still once it is there; tries again where it was too fast."""
        for _ in range(10):
            process = self.start(*words)
            while process.poll() is None and not ready():
                time.sleep(0.0005)
            process.send_signal(signal.SIGSTOP)
            if process.poll() is None and not (self.folder / self.output).exists():
                return process
            process.send_signal(signal.SIGCONT)
            process.communicate(timeout=SECONDS)
            self.remove_outputs()
        self.fail("it always ended too early")

    def leave_unfinished(self, slabs=1, ending=signal.SIGKILL, output=None):
        """Ends self.command when so many slabs are recorded; tries again where it was too fast. The process that was ended."""
        output = output or self.output
        for _ in range(10):
            process = self.start(*self.command)
            ended = self.end_when(process, lambda: self.recorded(output) >= slabs, ending)
            if ended and not (self.folder / output).exists():  # in its last moment it is whole, and still has its journal
                self.assertGreaterEqual(self.recorded(output), slabs, process.output)
                return process
            self.remove_outputs()
        self.fail("it always ended too early")

    def uninterrupted(self):
        start = time.monotonic()
        self.lepus(*self.command)
        self.seconds = time.monotonic() - start
        result = self.result()
        self.remove_outputs()
        return result

    def remove_outputs(self):
        for path in self.folder.glob("v.*"):
            path.unlink()

    def assert_complete(self, expected):
        self.assertEqual(self.result(), expected)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if path.name.startswith(("v.", ".v."))), ["v.raw", "v.raw.json"])

    def phase(self):
        """How far it got: "before", "begun" or "slabs" of one of its journals (numbered where there are several), "complete"."""
        if (self.folder / self.output).exists():
            return "complete"
        for number, name in reversed(list(enumerate(self.journals, 1))):
            if (recorded := self.recorded(name)) >= 0:
                return ("slabs" if recorded > 0 else "begun") + (f" {number}" if len(self.journals) > 1 else "")
        return "before"

    def kill_often(self, kills=KILLS, slabs=12):
        """At random moments, when it has begun, when some slabs are recorded, of each of its journals; how often each was hit."""
        expected = self.uninterrupted()
        chance = random.Random(kills)
        numbers = [f" {number}" if len(self.journals) > 1 else "" for number in range(1, len(self.journals) + 1)]
        hit = dict.fromkeys(["before", *(word + number for number in numbers for word in ("begun", "slabs")), "complete"], 0)
        for kill in range(kills):
            moment, enough = chance.uniform(0, 1.1 * self.seconds), chance.randrange(1, slabs)
            journal = self.journals[kill // 3 % len(self.journals)]
            ready = [lambda end=time.monotonic() + moment: time.monotonic() > end,
                     lambda: self.recorded(journal) >= 0,
                     lambda: self.recorded(journal) >= enough][kill % 3]
            # Now and then it is killed twice before it may end.
            for _ in range(1 + (kill % 5 == 4)):
                killed = self.end_when(self.start(*self.command), ready)
                hit[self.phase()] += 1
            if not (self.folder / self.output).exists():
                self.lepus(*self.command)
            elif killed:  # in the last moment: it is whole, and what lies beside it goes with the next run
                self.assertEqual(self.result(), expected)
                self.lepus(*self.command, "--force")
            self.assert_complete(expected)
            self.remove_outputs()
        print(f"{self.command[0]}: {kills} kills: {hit}", flush=True)
        if kills >= 100:
            self.assertTrue(all(hit.values()), hit)
        return hit


class KilledFolder(KilledCase):
    """self.command writes a folder v; pieces of it are recorded, and images of volumes that it makes in it."""
    output = "v"
    journals = ["v"]

    def pieces(self, name="v"):
        """How many pieces are finished, and said to be; -1 where there is no journal."""
        try:
            return (self.folder / f"{name}.journal").read_text(errors="replace").count(" piece ")
        except FileNotFoundError:
            return -1

    def recorded(self, name="v"):
        done = self.pieces(name)
        if done < 0:
            return done
        for journal in (self.folder / f"{name}.unfinished").rglob("*.journal"):
            try:
                done += journal.read_text(errors="replace").count(" slab ")
            except FileNotFoundError:
                pass
        return done

    def remove_outputs(self):
        for path in self.folder.glob("v*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def result(self):
        """Every file in it, to the bit."""
        return {str(path.relative_to(self.folder / "v")): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted((self.folder / "v").rglob("*")) if path.is_file()}

    def assert_complete(self, expected):
        self.assertEqual(self.result(), expected)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if path.name.startswith(("v", ".v"))), ["v"])


class KilledScan(KilledCase):
    """self.command reconstructs a scan of many slabs."""

    @classmethod
    def setUpClass(cls):
        cls.made = pathlib.Path(tempfile.mkdtemp(prefix="lepus-restart-"))
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        subprocess.run([PROGRAM, "simulate", "shepp-logan", "-o", "scan", *SCAN, "--quiet"], cwd=cls.made, check=True)
        toml = cls.made / "scan/scan.toml"
        toml.write_text(re.sub(r"(?s)(\[volume\]\n).*?(\n\[)", rf"\1{VOLUME}\2", toml.read_text()))

    def setUp(self):
        super().setUp()
        shutil.copytree(self.made / "scan", self.folder / "scan")
        self.allow_memory(2)

    def allow_memory(self, more):
        """As little as it takes, and so many MiB, so that slabs are small. On the CPU: what a driver takes varies by more than that."""
        least = int(self.minimum_memory("plan", "scan/scan.toml", "--threads", "1", "--backend", "cpu")[1].removesuffix("MiB"))
        self.command = ["reconstruct", "scan/scan.toml", "-o", "v.raw", "--threads", "1", "--memory", f"{least + more}MiB", "--backend", "cpu", "--quiet"]

    def edit(self, old, new):
        toml = self.folder / "scan/scan.toml"
        text = toml.read_text()
        self.assertIn(old, text)
        toml.write_text(text.replace(old, new))

    def result(self, name="v.raw"):
        """What must be the same: the voxels, and what was counted of the frames."""
        said = json.loads((self.folder / f"{name}.json").read_text())
        provenance = said.get("provenance", said)
        provenance = json.loads(provenance) if isinstance(provenance, str) else provenance
        counted = {key: provenance[key] for key in ("inputs", "pixels_not_finite", "pixels_saturated", "pixels_at_dark", "counts", "scan")}
        return hashlib.sha256((self.folder / name).read_bytes()).hexdigest(), counted
