# SPDX-License-Identifier: Apache-2.0
"""FDK and the [[post]] steps after it, killed in either: the same command goes on, and what was made is not made again."""
import signal
import unittest

from killed_runs import SECONDS, KilledScan

# The second needs percentiles of what the first makes.
STEPS = """
[[post]]
kind = "gaussian"
radius = 1
dimensions = 3

[[post]]
kind = "rescale"
low = 1.0
high = 99.0
"""
BEFORE = "v.raw.before-post.mha"


class RestartSteps(KilledScan):
    journals = [BEFORE, "v.raw"]

    def setUp(self):
        super().setUp()
        toml = self.folder / "scan/scan.toml"
        toml.write_text(toml.read_text() + STEPS)
        self.allow_memory(6)

    def test_killed_at_any_moment(self):
        hit = self.kill_often(slabs=2)
        self.assertTrue(hit["slabs 1"] and hit["slabs 2"], hit)

    def test_an_older_output_does_not_make_it_complete(self):
        self.lepus(*self.command)
        self.assertEqual(self.lepus_json("status", "v.raw")["state"], "complete")
        for _ in range(10):  # fast machines may end before they are killed
            if self.end_when(self.start(*self.command, "--force"), (self.folder / BEFORE).exists):
                break
        self.assertTrue((self.folder / f"{BEFORE}.journal").exists())
        self.assertEqual(self.lepus_json("status", "v.raw")["state"], "unfinished")

    def test_what_was_finished_is_not_made_again(self):
        expected = self.uninterrupted()
        for _ in range(10):  # fast machines may end before they are asked to
            self.leave_unfinished(output=BEFORE)
            status = self.lepus_json("status", "v.raw")
            self.assertEqual((status["state"], status["command"], status["all"]), ("unfinished", "reconstruct, before its [[post]] steps", 512))
            self.assertGreater(status["done"], 0)
            process = self.start(*self.command)
            if self.end_when(process, lambda: self.recorded() >= 1, signal.SIGTERM):
                break
            self.remove_outputs()
        self.assertEqual(process.returncode, 75, process.output)
        self.assertIn("the same command goes on", process.output[1])
        status = self.lepus_json("status", "v.raw")
        self.assertEqual((status["state"], status["command"], status["all"]), ("unfinished", "reconstruct", 512))
        self.assertGreater(status["done"], 0)
        before = (self.folder / BEFORE).stat()
        going_on = self.start(*[word for word in self.command if word != "--quiet"], "--resume")
        said = going_on.communicate(timeout=SECONDS)[1]
        self.assertEqual(going_on.returncode, 0, said)
        self.assertIn("512 of 512 slices are done", said)
        self.assertIn(f"{status['done']} of 512 slices are done", said)
        self.assertGreater(before.st_size, 4 * 80 * 80 * 512)
        self.assert_complete(expected)

    def test_another_run_is_refused(self):
        expected = self.uninterrupted()
        self.leave_unfinished()  # in the steps
        self.assertTrue((self.folder / BEFORE).exists())
        refused = lambda *needles: self.assert_error(self.lepus(*self.command, code=2), "usage", "cannot be gone on with", *needles, "--restart")
        self.edit("radius = 1", "radius = 2")
        refused("radius")
        self.edit("radius = 2", "radius = 1")
        self.edit(STEPS, "")
        refused("the method was fdk with [[post]], now it is fdk")
        toml = self.folder / "scan/scan.toml"
        toml.write_text(toml.read_text() + STEPS)
        self.assert_error(self.lepus(*self.command, "--method", "sirt", "--iterations", "1", code=2), "usage", "now it is sirt", "--restart")
        self.lepus(*self.command)  # nothing was lost
        self.assert_complete(expected)
        self.remove_outputs()
        self.leave_unfinished()
        self.lepus(*self.command, "--restart")
        self.assert_complete(expected)

    def test_a_volume_that_was_changed_is_made_again(self):
        expected = self.uninterrupted()
        self.leave_unfinished()
        with open(self.folder / BEFORE, "r+b") as file:
            file.seek(-80 * 80 * 4, 2)
            file.write(b"!!!!")
        self.assertIn("made again", self.lepus(*self.command).stderr)
        self.assert_complete(expected)

    def test_steps_that_cannot_be_taken_are_refused_before_the_work(self):
        self.edit(STEPS, '\n[[post]]\nkind = "crop"\nx = [0, 500]\n')
        self.assert_error(self.lepus(*self.command, code=2), "usage", "is no part of the volume")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["scan"])


if __name__ == "__main__":
    unittest.main()
