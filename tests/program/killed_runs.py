# SPDX-License-Identifier: Apache-2.0
"""Commands that are killed while they work, and the same command again. LEPUS_KILLS=100 kills as often (12 unless told)."""
import os
import random
import signal
import subprocess
import time

from program_case import PROGRAM, ProgramCase

KILLS = int(os.environ.get("LEPUS_KILLS", "12"))
SECONDS = 60  # more than any of these runs takes


class KilledCase(ProgramCase):
    """self.command writes v.raw and v.raw.json; result() says what of them must be the same."""

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

    def leave_unfinished(self, slabs=1, ending=signal.SIGKILL, output="v.raw"):
        """Ends self.command when so many slabs are recorded; tries again where it was too fast. The process that was ended."""
        for _ in range(10):
            process = self.start(*self.command)
            if self.end_when(process, lambda: self.recorded(output) >= slabs, ending):
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

    def kill_often(self, kills=KILLS, slabs=12):
        """At random moments, when it has begun, when some slabs are recorded; how often each was hit."""
        expected = self.uninterrupted()
        chance = random.Random(kills)
        hit = {"before": 0, "begun": 0, "slabs": 0, "complete": 0}
        for kill in range(kills):
            moment, enough = chance.uniform(0, 1.1 * self.seconds), chance.randrange(1, slabs)
            ready = [lambda end=time.monotonic() + moment: time.monotonic() > end,
                     lambda: self.recorded() >= 0,
                     lambda: self.recorded() >= enough][kill % 3]
            # Now and then it is killed twice before it may end.
            for _ in range(1 + (kill % 5 == 4)):
                killed = self.end_when(self.start(*self.command), ready)
                before = self.recorded()
                hit["complete" if (self.folder / "v.raw").exists() else
                    "before" if before < 0 else "slabs" if before > 0 else "begun"] += 1
            if not (self.folder / "v.raw").exists():
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
