# SPDX-License-Identifier: Apache-2.0
"""convert, post and project that are killed or asked to end: the same command goes on with what is finished, to the same bits;
another input or option is refused by name. LEPUS_KILLS=100 kills each as often."""
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import h5py
import numpy

from killed_runs import KILLS, KilledCase
from program_case import EXIT_AFTER, PROGRAM
from volumes_test import write_mha

VIEWS, SLICES = 48, 160
SCAN = ["--views", VIEWS, "--columns", "96", "--rows", "80", "--pixel", "2", "--size", "32,32,32", "--flats", "2", "--darks", "2"]
COMMANDS = {
    "convert": ["convert", "in.mha", "-o", "v.raw"],
    "post": ["post", "in.mha", "-o", "v.raw", "--backend", "cpu", "--do", "gaussian radius=1 dimensions=3", "--do", "rescale low=1 high=99"],
    "project": ["project", "scan/truth.mha", "--scan", "scan/scan.toml", "-o", "v.raw", "--backend", "cpu", "--against"],
}


class ResumedCommands(KilledCase):
    @classmethod
    def setUpClass(cls):
        cls.made = pathlib.Path(tempfile.mkdtemp(prefix="lepus-resumed-"))
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        subprocess.run([PROGRAM, "simulate", "ball", "-o", "scan", *map(str, SCAN), "--quiet"], cwd=cls.made, check=True)
        values = numpy.random.default_rng(1).normal(0.02, 0.005, size=(SLICES, 180, 170)).astype(numpy.float32)
        write_mha(cls.made / "in.mha", values)
        cls.memory = {}

    def setUp(self):
        super().setUp()
        for path in self.made.iterdir():
            (self.folder / path.name).symlink_to(path)

    def use(self, name):
        """The command in nearly as little memory as it takes, so that there are many slabs."""
        words = [*COMMANDS[name], "--threads", "1", "--quiet"]
        if name not in self.memory:
            enough, too_little = 256, 8
            while enough - too_little > 1:
                middle = (enough + too_little) // 2
                if self.lepus(*words, "--memory", f"{middle}MiB", "--force", code=None).returncode == 0:
                    enough = middle
                else:
                    too_little = middle
            self.memory[name] = enough + 1
            self.remove_outputs()
        self.command = [*words, "--memory", f"{self.memory[name]}MiB"]

    def result(self):
        return [hashlib.sha256((self.folder / name).read_bytes()).hexdigest() for name in ("v.raw", "v.raw.json")]

    def test_killed_at_any_moment(self):
        for name in COMMANDS:
            with self.subTest(name):
                self.use(name)
                hit = self.kill_often(KILLS if KILLS >= 100 else 6, slabs=3)
                self.assertGreater(hit["slabs"], 0, hit)

    def test_asked_to_end(self):
        for name, unit, count in (("convert", "slices", SLICES), ("post", "slices", SLICES), ("project", "views", VIEWS)):
            with self.subTest(name):
                self.use(name)
                expected = self.uninterrupted()
                process = self.leave_unfinished(ending=signal.SIGTERM)
                self.assertEqual(process.returncode, EXIT_AFTER[signal.SIGTERM])
                self.assertIn("the same command goes on", process.output[1])
                status = self.lepus_json("status", "v.raw")
                self.assertEqual((status["command"], status["unit"], status["all"]), (name, unit, count))
                self.assertGreater(status["done"], 0)
                words = [word for word in self.command if word != "--quiet"]
                self.assertIn(f"{status['done']} of {count} {unit} are done", self.lepus(*words, "--resume").stderr)
                self.assert_complete(expected)
                self.remove_outputs()

    def test_others_are_refused(self):
        for name, changed, why in (("convert", ["--slices", "0,40"], "the part of the volume"),
                                   ("convert", ["--output-type", "float16"], "what is stored of a voxel was float32, now it is float16"),
                                   ("post", ["--do", "rescale low=2 high=99"], "the steps"),
                                   ("project", ["--model", "siddon"], "what computes")):
            with self.subTest(name, changed=changed):
                self.use(name)
                self.assert_error(self.lepus(*self.command, "--resume", code=2), "usage", "no unfinished run")
                self.assert_error(self.lepus(*self.command, "--resume", "--restart", code=2), "usage", "contradict")
                self.leave_unfinished()
                begun = self.command
                self.command = ([*begun[:begun.index("rescale low=1 high=99") - 1], *changed, *begun[begun.index("rescale low=1 high=99") + 1:]]
                                if name == "post" else [*begun, *changed])
                self.assert_error(self.lepus(*self.command, code=2), "usage", "cannot be gone on with", why, "--restart")
                self.lepus(*begun)  # nothing was lost
                self.remove_outputs()

    def test_another_input_is_refused(self):
        for name, file in (("convert", "in.mha"), ("post", "in.mha"), ("project", "scan/truth.mha")):
            with self.subTest(name):
                self.use(name)
                self.leave_unfinished()
                times = (self.folder / file).stat()
                os.utime(self.folder / file, (1, 1))
                self.assert_error(self.lepus(*self.command, code=2), "usage", "cannot be gone on with", "the input", "--restart")
                self.assert_error(self.lepus("convert", "scan/truth.mha", "-o", "v.raw", code=2) if name != "convert" else
                                  self.lepus("post", "in.mha", "-o", "v.raw", "--do", "finite", code=2), "usage", "the command")
                self.lepus(*self.command, "--restart")
                os.utime(self.folder / file, ns=(times.st_atime_ns, times.st_mtime_ns))
                self.remove_outputs()

    def test_the_data_behind_a_header_are_the_input(self):
        header, _, values = (self.folder / "in.mha").read_bytes().partition(b"ElementDataFile = LOCAL\n")
        (self.folder / "in.mhd").write_bytes(header + b"ElementDataFile = other.raw\n")
        for name in ("convert", "post"):
            with self.subTest(name):
                (self.folder / "other.raw").write_bytes(values)
                self.use(name)
                self.command = ["in.mhd" if word == "in.mha" else word for word in self.command]
                self.leave_unfinished()
                os.utime(self.folder / "other.raw", (1, 1))
                self.assert_error(self.lepus(*self.command, code=2), "usage", "cannot be gone on with", "the input", "--restart")
                self.remove_outputs()

    def test_other_angles_are_refused(self):
        """Of a projection without --against, too: its frames are not read, but its geometry is used."""
        (self.folder / "scan").unlink()
        shutil.copytree(self.made / "scan", self.folder / "scan", copy_function=shutil.copy2)
        toml, angles = self.folder / "scan/scan.toml", self.folder / "scan/angles.txt"
        kept = [line for line in toml.read_text().splitlines() if not line.startswith(("first_angle_deg", "arc_deg"))]
        kept.insert(kept.index("[geometry]") + 1, 'angles_file = "angles.txt"')
        toml.write_text("\n".join(kept) + "\n")
        for against in (True, False):
            with self.subTest(against=against):
                angles.write_text("".join(f"{360 / VIEWS * view}\n" for view in range(VIEWS)))
                self.use("project")
                self.command = [word for word in self.command if against or word != "--against"]
                self.leave_unfinished()
                angles.write_text("".join(f"{360 / VIEWS * view + 1}\n" for view in range(VIEWS)))
                self.assert_error(self.lepus(*self.command, code=2), "usage", "cannot be gone on with", "the views' geometry")
                self.remove_outputs()

    def test_sums_over_all_views(self):
        """What project says of the difference is of all views, those of the first run too."""
        self.use("project")
        expected = json.loads(self.lepus(*self.command, "--json").stdout)
        self.remove_outputs()
        self.leave_unfinished()
        result = json.loads(self.lepus(*self.command, "--json").stdout)
        for key in ("norm", "measured_norm", "residual_norm"):
            self.assertGreater(expected[key], 0)
            self.assertEqual(result[key], expected[key])

    def contents(self):
        """Of every file of the output; HDF5's have the time in them."""
        checksum = lambda content: hashlib.sha256(content).hexdigest()
        return {path.name: checksum(h5py.File(path)["exchange/data"][()].tobytes() if path.suffix == ".h5" else path.read_bytes())
                for path in self.folder.glob("v.*")}

    def test_frames_in_every_format(self):
        for output in ("v.tif", "v.h5", "v.%03d.tif"):
            with self.subTest(output):
                self.use("project")
                self.command = [output if word == "v.raw" else word for word in self.command]
                self.lepus(*self.command)
                whole = self.contents()
                self.remove_outputs()
                self.leave_unfinished(output=output)
                self.assertEqual(self.lepus_json("status", output)["unit"], "views")
                self.lepus(*self.command, "--resume")
                self.assertEqual(self.contents(), whole)
                self.remove_outputs()


if __name__ == "__main__":
    unittest.main()
