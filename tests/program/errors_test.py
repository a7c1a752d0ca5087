# SPDX-License-Identifier: Apache-2.0
"""Exit codes, words for wrong options, JSON errors, files that exist, and standard output that is closed or full."""
import json
import os
import subprocess
import unittest

from program_case import PROGRAM, ProgramCase


class Errors(ProgramCase):
    def test_the_nearest_command_is_suggested(self):
        self.assert_error(self.lepus("sliec", code=2), "usage", "sliec", "lepus slice")
        self.assert_error(self.lepus("nothing-like-it", code=2), "usage", "lepus --help")

    def test_the_nearest_option_is_suggested(self):
        self.assert_error(self.lepus("slice", "v.mha", "--axsi", "z", "-o", "x.png", code=2), "usage", "--axsi", "--axis")
        # Named although something is missing as well: it is usually the cause.
        self.assert_error(self.lepus("slice", "--ouput=x.png", code=2), "usage", "--ouput", "'--output'")
        self.assert_error(self.lepus("--quite", "info", "x", code=2), "usage", "--quite", "--quiet")
        self.assert_error(self.lepus("info", "a", "b", code=2), "usage", "'b'")

    def test_values_are_checked(self):
        for words, needles in [
            (["slice", "v.mha", "-o", "x.png", "--axis", "w"], ["--axis", "one of x, y, z"]),
            (["slice", "v.mha", "-o", "x.png", "--index", "3.5"], ["--index", "whole number"]),
            (["slice", "v.mha", "-o", "x.png", "--index", "1", "--position", "2"], ["--index", "--position"]),
            (["slice", "v.mha", "-o", "x.png", "--window", "1"], ["--level"]),
            (["info", "v.mha", "--threads", "-2"], ["--threads"]),
            (["info", "v.mha", "--memory", "much"], ["much"]),
            (["compare", "a.mha", "b.mha", "--fail-above", "rsme=1"], ["rsme", "'rmse'"]),
            (["compare", "a.mha", "b.mha", "--fail-above", "rmse"], ["rmse=0.01"]),
            (["compare", "a.mha", "b.mha", "--box", "1,2,3"], ["--box", "six"]),
            (["simulate", "shep-logan", "-o", "x"], ["shep-logan", "shepp-logan"]),
            (["simulate", "ball", "-o", "x", "--views", "0"], ["views"]),
        ]:
            with self.subTest(words=words):
                result = self.lepus(*words, code=2)
                self.assertIn("lepus: error:", result.stderr)
                for needle in needles:
                    self.assertIn(needle, result.stderr)
        self.assertEqual(self.names(), [])

    def test_arguments_that_are_missing_are_named(self):
        self.assertIn("VOLUME", self.lepus("slice", "-o", "x.png", code=2).stderr)
        self.assertIn("--output", self.lepus("slice", "v.mha", code=2).stderr)

    def test_negative_numbers_are_values(self):
        self.simulate()
        self.lepus("slice", "scan/truth.mha", "-o", "x.png", "--position", "-3", "--min", "-0.1", "--max=0.1")

    def test_json_errors(self):
        missing = self.lepus("info", "missing.mha", "--json", code=3)
        self.assert_error(missing, "input", "missing.mha")
        self.assertEqual(json.loads(missing.stdout)["error"]["kind"], "input")
        self.assertEqual(json.loads(self.lepus("--json", "infoo", code=2).stdout)["error"]["kind"], "usage")
        unknown = self.lepus("info", "--json", "--bogus", "x", code=2)
        self.assertEqual(json.loads(unknown.stdout)["error"]["kind"], "usage")

    def test_nothing_is_overwritten(self):
        self.simulate()
        for words in [["slice", "scan/truth.mha", "-o", "out"], ["convert", "scan/truth.mha", "-o", "out"],
                      ["compare", "scan/truth.mha", "scan/truth.mha", "--difference", "out"]]:
            with self.subTest(words=words):
                ending = ".mha" if words[0] == "convert" else ".png"
                words = [word.replace("out", "out" + ending) if word == "out" else word for word in words]
                target = self.folder / ("out" + ending)
                target.write_bytes(b"precious")
                self.assert_error(self.lepus(*words, code=6), "disk", target.name, "--force")
                self.assertEqual(target.read_bytes(), b"precious")
                self.lepus(*words, "--force")
                self.assertNotEqual(target.read_bytes(), b"precious")
                self.assertEqual([n for n in self.names() if "partial" in n], [])
        before = self.names("%s/scan" % self.folder)
        self.assert_error(self.lepus("simulate", "ball", "-o", "scan", code=6), "disk", "scan", "--force")
        self.assertEqual(self.names("%s/scan" % self.folder), before)

    def test_standard_output_that_is_full_or_gone(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, "scan-keys"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 6)
        self.assertIn("standard output", result.stderr)
        # Closed altogether: the first file that is opened must not become standard output.
        self.simulate()
        closed = subprocess.run(["bash", "-c", f"'{PROGRAM}' convert scan/truth.mha -o copy.mha --json >&-"],
                                cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.assertEqual(closed.returncode, 6, closed.stderr)
        original, copy = self.folder / "scan/truth.mha", self.folder / "copy.mha"
        self.assertEqual(original.read_bytes()[-4 * 1000:], copy.read_bytes()[-4 * 1000:])

    def test_a_reader_that_leaves(self):
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen([PROGRAM, "scan-keys"], stdout=write, stderr=subprocess.PIPE, text=True)
        os.close(write)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 141)
        self.assertEqual(stderr, "")


if __name__ == "__main__":
    unittest.main()
