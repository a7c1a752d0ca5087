# SPDX-License-Identifier: Apache-2.0
"""Runs that are killed, and the same command again: the volume of an uninterrupted run, bit for bit, and the same account of the frames."""
import json
import os
import random
import re
import shutil
import signal
import unittest

from killed_runs import SECONDS, KilledScan, records


class Restart(KilledScan):
    def test_killed_at_any_moment(self):
        hit = self.kill_often()
        self.assertTrue(hit["begun"] and hit["slabs"], hit)

    def test_what_was_finished_is_not_made_again(self):
        expected = self.uninterrupted()
        self.leave_unfinished()
        status = self.lepus_json("status", "v.raw")
        self.assertEqual((status["state"], status["unit"], status["all"]), ("unfinished", "slices", 512))
        self.assertGreaterEqual(status["done"], 16)
        self.assertEqual(status["done"] + status["left"], 512)
        partial = self.folder / "v.raw.unfinished"
        untouched = partial.stat().st_ino
        going_on = self.start(*[word for word in self.command if word != "--quiet"])
        said = going_on.communicate(timeout=SECONDS)[1]
        self.assertEqual(going_on.returncode, 0, said)
        self.assertIn(f"{status['done']} of 512 slices are done", said)
        self.assertEqual((self.folder / "v.raw").stat().st_ino, untouched)
        self.assert_complete(expected)
        self.assertEqual(self.lepus_json("status", "v.raw")["state"], "complete")

    def test_with_corrections_and_an_automatic_axis(self):
        self.edit("[volume]", '[[correct]]\nkind = "rings"\n\n[volume]')
        self.edit("[geometry]", '[geometry]\ncenter = "auto"')
        self.allow_memory(8)
        expected = self.uninterrupted()
        self.leave_unfinished()
        self.lepus(*self.command)
        self.assert_complete(expected)

    def change_keeping_times(self, path, change):
        """Other content of the same size, which no look at names, sizes and times can tell."""
        times = path.stat()
        path.write_bytes(change(path.read_bytes()))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def journal_has(self, kind, count=1):
        return records(self.folder / "v.raw.journal", kind) >= count

    def kill_when_recorded(self, kind, count=1):
        for _ in range(10):
            if self.end_when(self.start(*self.command), lambda: self.journal_has(kind, count)) and self.journal_has(kind, count):
                return
            self.remove_outputs()
        self.fail("it always ended too early")

    def test_the_pre_pass_is_not_made_again(self):
        self.edit("[volume]", '[[correct]]\nkind = "rings"\n\n[volume]')
        self.allow_memory(8)
        expected = self.uninterrupted()
        self.kill_when_recorded("result", 3)  # counts, mean flats and darks, the middle row
        # Flats and darks are not looked into again: whatever is in them now, the volume is that of the first ones.
        for folder in ("flats", "darks"):
            for image in (self.folder / "scan" / folder).iterdir():
                self.change_keeping_times(image, lambda content: content[:16] + bytes(2 * 64 * 96) + content[16 + 2 * 64 * 96:])  # the pixels of these TIFF files
        self.lepus(*self.command)
        self.assert_complete(expected)
        # Where what was kept is not as it was written, it is made again.
        self.remove_outputs()
        shutil.rmtree(self.folder / "scan")
        shutil.copytree(self.made / "scan", self.folder / "scan")
        self.edit("[volume]", '[[correct]]\nkind = "rings"\n\n[volume]')
        self.kill_when_recorded("result", 3)
        results = self.folder / "v.raw.results"
        results.write_bytes(bytes(results.stat().st_size))
        self.lepus(*self.command)
        self.assert_complete(expected)

    def test_corrected_rows_are_not_made_again(self):
        # Slow enough that rows in memory are kept in a file, too.
        self.edit("[volume]", '[[correct]]\nkind = "filter"\nfilter = "median"\npictures = "frames"\ndimensions = 2\nradius_px = 7\n\n[volume]')
        self.allow_memory(8)
        expected = self.uninterrupted()
        taken = lambda said: int(re.search(r"(\d+) rows that an earlier run had corrected", said).group(1))
        self.kill_when_recorded("rows")
        rows = self.folder / "v.raw.rows"
        self.assertEqual(rows.stat().st_size, 4 * 40 * 64 * 96)
        said = self.lepus(*[word for word in self.command if word != "--quiet"]).stderr
        self.assertGreater(taken(said), 0)
        self.assert_complete(expected)
        # With more memory than the first run had; and what was changed is not believed.
        for damage in (False, True):
            self.remove_outputs()
            self.kill_when_recorded("rows")
            if damage:
                rows.write_bytes(bytes(rows.stat().st_size))
            words = ["1GiB" if word.endswith("MiB") else word for word in self.command if word != "--quiet"]
            said = self.lepus(*words).stderr
            self.assertEqual("rows that an earlier run had corrected" in said, not damage, said)
            self.assert_complete(expected)

    def test_asked_to_end(self):
        expected = self.uninterrupted()
        self.command += ["--json"]
        for ending, code, word in ((signal.SIGTERM, 75, "stopped"), (signal.SIGINT, 130, "cancelled")):
            process = self.leave_unfinished(max(0, self.recorded()) + 1, ending)
            self.assertEqual(process.returncode, code, process.output)
            error = json.loads(process.output[0])["error"]
            self.assertEqual(error["kind"], word)
            self.assertIn("the same command goes on", error["hint"])
        self.lepus(*self.command, "--resume")
        self.assert_complete(expected)

    def test_another_run_is_refused(self):
        expected = self.uninterrupted()
        self.leave_unfinished()
        self.edit("source_axis_mm = 500.0", "source_axis_mm = 501.0")
        self.assert_error(self.lepus(*self.command, code=2), "usage", "cannot be gone on with", "source_axis_mm", "501", "--restart")
        self.edit("source_axis_mm = 501.0", "source_axis_mm = 500.0")
        frame = sorted((self.folder / "scan/frames").iterdir())[7]
        times = frame.stat()
        os.utime(frame, (1, 1))
        self.assert_error(self.lepus(*self.command, code=2), "usage", "input files", "--restart")
        os.utime(frame, ns=(times.st_atime_ns, times.st_mtime_ns))
        elsewhere = [word.replace("cpu", "reference") for word in self.command]
        self.assert_error(self.lepus(*elsewhere, code=2), "usage", "what computes", "--restart")
        self.assert_error(self.lepus(*self.command, "--resume", "--restart", code=2), "usage", "contradict")
        self.assert_error(self.lepus(*self.command, "--method", "sirt", "--iterations", "1", code=2), "usage",
                          "the method was fdk, now it is sirt", "--restart")
        self.lepus(*self.command)
        self.assert_complete(expected)
        self.assert_error(self.lepus(*self.command, "--force", "--resume", code=2), "usage", "no unfinished run")
        self.leave_unfinished_over(expected)

    def leave_unfinished_over(self, expected):
        """With --force the older volume stays until the new one is whole."""
        ended = (self.end_when(self.start(*self.command, "--force"), lambda: self.recorded() >= 1) for _ in range(10))
        self.assertTrue(any(ended), "it always ended too early")
        self.assertEqual(self.result(), expected)
        self.lepus(*self.command, "--force", "--restart")
        self.assert_complete(expected)

    def test_damage_is_refused_or_repaired(self):
        expected = self.uninterrupted()
        self.leave_unfinished()
        kept = self.folder / "kept"
        kept.mkdir()
        for path in self.folder.glob("v.*"):
            shutil.copy(path, kept)
        journal, partial = self.folder / "v.raw.journal", self.folder / "v.raw.unfinished"
        whole, chance = (kept / "v.raw.journal").read_bytes(), random.Random(1)

        def torn():
            journal.write_bytes(whole[:-chance.randrange(1, 60)])

        def changed():
            at = chance.randrange(40, len(whole) // 2)
            journal.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])

        def foreign():
            journal.write_text("what I did on Monday\n")

        def voxels_changed():
            with open(partial, "r+b") as file:
                file.seek(chance.randrange(80 * 80 * 4 * 16))
                file.write(b"!!!!")

        def cut_short():
            os.truncate(partial, 1000)

        for damage, code in ((torn, 0), (changed, 3), (foreign, 3), (voxels_changed, 0), (cut_short, None)):
            with self.subTest(damage=damage.__name__):
                self.remove_outputs()
                for path in kept.iterdir():
                    shutil.copy(path, self.folder)
                damage()
                result = self.lepus(*self.command, code=None)
                if code is not None:
                    self.assertEqual(result.returncode, code, result.stderr)
                if result.returncode != 0:
                    self.assertIn(result.returncode, (3, 6), result.stderr)
                    if damage is foreign:
                        self.assert_error(self.lepus(*self.command, "--restart", code=6), "disk", "no journal")
                        journal.unlink()  # whose volume it is nobody knows then
                        self.assert_error(self.lepus(*self.command, "--restart", code=6), "disk", "v.raw.unfinished", "remove it")
                        partial.unlink()
                        results = self.folder / "v.raw.results"
                        self.assert_error(self.lepus(*self.command, "--restart", code=6), "disk", "v.raw.results", "remove it")
                        results.unlink()
                    self.lepus(*self.command, "--restart")
                if damage is voxels_changed:
                    self.assertIn("made again", result.stderr)
                self.assertEqual(self.result(), expected)

    def test_two_at_once(self):
        process = self.stopped(self.command, lambda: self.recorded() >= 1)
        try:
            self.assert_error(self.lepus(*self.command, code=6), "disk", "another run is writing this", f"process {process.pid} on ")
            status = self.lepus_json("status", "v.raw")
            self.assertEqual(status["state"], "running")
            self.assertIn(f"process {process.pid} on ", status["parts"][0]["holder"])
        finally:
            process.send_signal(signal.SIGCONT)
        process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 0)

    def test_shares(self):
        expected = self.uninterrupted()[0]
        share = lambda number, of=3: [*self.command, "--share", f"{number}/{of}"]
        for wrong in ("0/3", "4/3", "3", "a/b", "-1/3", "1/3/5"):
            self.assert_error(self.lepus(*self.command, "--share", wrong, code=2), "usage", "--share", "3/16")
        self.assertFalse(self.lepus_json(*share(2))["complete"])
        self.assertEqual(self.lepus_json("status", "v.raw")["parts"][0]["part"], "share-2-of-3")
        self.assert_error(self.lepus(*share(1, 4), code=2), "usage", "another number of parts")
        # Two at once, one of which is killed and started again; whoever is the last completes the volume.
        first, third = self.start(*share(1)), self.start(*share(3))
        self.end_when(first, lambda: self.recorded("v.raw.share-1-of-3") >= 1)
        third.communicate(timeout=SECONDS)
        self.assertEqual(third.returncode, 0)
        self.assertFalse((self.folder / "v.raw").exists())
        self.assertTrue(self.lepus_json(*share(1))["complete"])
        self.assertEqual(self.result()[0], expected)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["scan", "v.raw", "v.raw.json"])

    def test_the_same_share_twice(self):
        process = self.stopped([*self.command, "--share", "1/2"], lambda: self.recorded("v.raw.share-1-of-2") >= 1)
        try:
            self.assert_error(self.lepus(*self.command, "--share", "1/2", code=6), "disk", "another run", f"process {process.pid} on ")
            self.assert_error(self.lepus(*self.command, code=6), "disk", "another run")
        finally:
            process.send_signal(signal.SIGCONT)
        process.communicate(timeout=SECONDS)
        # What shares have left unfinished can be gone on with as a whole.
        self.lepus(*self.command)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["scan", "v.raw", "v.raw.json"])

    def test_nothing_is_left_where_nothing_was_made(self):
        self.edit('content = "counts"', 'content = "counts"\nmaximum_bad_fraction = 0.5')
        for frame in list((self.folder / "scan/frames").iterdir())[:5]:
            frame.write_bytes(b"II*\0")
        self.lepus(*self.command, code=3)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["scan"])
        self.assert_error(self.lepus("status", "v.raw", code=3), "input", "no run of this output")


if __name__ == "__main__":
    unittest.main()
