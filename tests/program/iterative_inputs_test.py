# SPDX-License-Identifier: Apache-2.0
"""What an iterative method is given beside the frames (volumes, choices, an arc detector), several methods compared."""
import json
import re
import signal
import subprocess
import time
import unittest

import numpy

from program_case import PROGRAM, ProgramCase

SCAN = ["--views", "24", "--columns", "24", "--rows", "20", "--pixel", "8.5", "--size", "16,16,16", "--format", "raw"]
LINES = [*SCAN, "--content", "line-integrals"]
HEAD = "ObjectType = Image\nNDims = 3\nBinaryData = True\nElementSpacing = {}\nOffset = {}\nDimSize = 16 16 16\n{}ElementType = MET_FLOAT\n"


class InputCase(ProgramCase):
    def simulate_into(self, name, *words, phantom="shepp-logan"):
        self.lepus("simulate", phantom, "-o", name, *words, "--quiet")
        self.scan = self.folder / name / "scan.toml"
        self.scan.write_text(self.scan.read_text().replace("[volume]\n", "[volume]\nmask = false\n"))
        self.plain = self.scan.read_text()

    def volume(self, name):
        raw = (self.folder / name).read_bytes()
        return numpy.frombuffer(raw[raw.index(b"LOCAL\n") + 6:], "<f4").astype(float)

    def header(self, name):
        text = (self.folder / name).read_bytes().split(b"ElementDataFile")[0].decode()
        return dict(line.split(" = ", 1) for line in text.splitlines())

    def write_volume(self, name, voxels, spacing="", offset="", unit=""):
        """On the truth's grid, unless told otherwise."""
        truth = self.header("scan/truth.mha")
        text = HEAD.format(spacing or truth["ElementSpacing"], offset or truth["Offset"], f"lepus_value_unit = {unit}\n" if unit else "")
        (self.folder / "scan" / name).write_bytes((text + "ElementDataFile = LOCAL\n").encode() + voxels.astype("<f4").tobytes())

    def method(self, keys, *words, **options):
        self.scan.write_text(self.plain + f"\n[method]\n{keys}\n")
        return self.lepus("reconstruct", self.scan, "-o", "v.mha", "--backend", "cpu", "--json", "--force", *words, **options)

    def voxels(self, keys, *words):
        self.method(keys, *words)
        return self.volume("v.mha")


class Volumes(InputCase):
    def setUp(self):
        super().setUp()
        self.simulate_into("scan", *LINES)
        self.truth = self.volume("scan/truth.mha")

    def test_a_mask_says_nothing_of_what_extend_adds(self):
        self.write_volume("ones.mha", numpy.ones(16 ** 3))
        keys = 'name = "sirt"\niterations = 3\n'
        plain, extended = self.voxels(keys), self.voxels(keys + "extend = [0.25, 0.25, 0.25]\n")
        self.assertFalse(numpy.array_equal(plain, extended))
        masked = self.voxels(keys + 'extend = [0.25, 0.25, 0.25]\nmask = "ones.mha"\n')
        self.assertTrue(numpy.array_equal(masked, extended))

    def test_volumes_of_another_grid_or_unit_are_refused_first(self):
        spacing, offset = (self.header("scan/truth.mha")[key] for key in ("ElementSpacing", "Offset"))
        half = " ".join(str(float(number) / 2) for number in spacing.split())
        moved = " ".join(str(float(number) + 500) for number in offset.split())
        mirrored = " ".join(str(-float(number)) for number in offset.split())
        for words, needle in ((dict(spacing=half), "steps"), (dict(offset=moved), "from"), (dict(unit="HU"), "1/mm"),
                              (dict(spacing="1 1 1"), "steps"), (dict(offset=mirrored), "from")):
            self.write_volume("other.mha", self.truth, **words)
            for key in ("start", "mask", "prior"):
                with self.subTest(key, **words):
                    refused = key != "mask" or "unit" not in words
                    method = 'name = "chambolle-pock"\nstrength = 0.01\niterations = 1\n'
                    result = self.method(f'{method}{key} = "other.mha"', code=3 if refused else 0)
                    if refused:
                        self.assert_error(result, "input", "other.mha", needle)
                        self.assertNotIn("reading views", result.stderr)
        # Files that do not know where they lie, or how large their voxels are, and those that are off by rounding.
        for words in (dict(spacing="1 1 1", offset="0 0 0"), dict(offset="0 0 0"),
                      dict(spacing=" ".join(f"{float(number):.4f}" for number in spacing.split()))):
            with self.subTest(**words):
                self.write_volume("other.mha", self.truth, **words)
                self.method('name = "sirt"\niterations = 1\nstart = "other.mha"')

    def test_voxels_that_are_no_numbers_are_refused(self):
        self.truth[5 * 256 + 3] = numpy.nan
        self.write_volume("nan.mha", self.truth)
        for key in ("start", "mask", "prior"):
            with self.subTest(key):
                result = self.method(f'name = "chambolle-pock"\nstrength = 0.01\niterations = 1\n{key} = "nan.mha"', code=3)
                self.assert_error(result, "input", "not a number", "nan.mha, slice 5")

    def test_a_state_is_not_gone_on_from_with_another_prior(self):
        """Whose header is the same, and the data beside it not."""
        spacing, offset = (self.header("scan/truth.mha")[key] for key in ("ElementSpacing", "Offset"))
        (self.folder / "scan" / "p.mhd").write_text(HEAD.format(spacing, offset, "") + "ElementDataFile = p.raw\n")
        self.truth.astype("<f4").tofile(self.folder / "scan" / "p.raw")
        self.scan.write_text(self.plain + '\n[method]\nname = "chambolle-pock"\nstrength = 0.01\nprior = "p.mhd"\n')
        words = ["reconstruct", "scan/scan.toml", "-o", "v.mha", "--backend", "cpu", "--iterations", "100000", "--save-every", "1"]
        running = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while not (self.folder / "v.mha.state").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130)
        (0.5 * self.truth).astype("<f4").tofile(self.folder / "scan" / "p.raw")
        self.assert_error(self.lepus(*words, code=2), "usage", "times of the inputs")


class Choices(InputCase):
    def setUp(self):
        super().setUp()
        self.simulate_into("scan", *LINES)

    def test_a_strength_that_is_given_is_not_chosen(self):
        keys = 'name = "cgls"\niterations = 2\nchoose_strength = true\n'
        said = json.loads(self.method(keys, "--strength", "0.02").stdout)
        self.assertEqual(said["provenance"]["method"]["strength"], 0.02)
        self.assertNotIn("v.mha.l-curve.svg", self.names())

    def test_choices_of_no_method_are_refused(self):
        for command in (["reconstruct", "--force", "-o", "v.mha"], ["plan"]):
            with self.subTest(command):
                self.scan.write_text(self.plain + "\n[method]\niterations = 3\nlow = 0.0\n")
                result = self.lepus(command[0], self.scan, *command[1:], code=3)
                self.assert_error(result, "input", "names no method", "os-sart")
                self.lepus(command[0], self.scan, *command[1:], "--method", "sirt")
                self.lepus(command[0], self.scan, *command[1:], "--method", "fdk")
        self.method('name = "fdk"\nlow = 0.0')
        self.method('name = "fdk"\nstart = "not-there.zarr"')  # which FDK does not look at

    def test_what_a_method_has_not_is_named_as_it_was_given(self):
        for words, needle in ((["sirt", "--strength", "auto"], "to be chosen"), (["mlem", "--strength", "auto"], "to be chosen"),
                              (["sart", "--subsets", "2"], "no subsets")):
            with self.subTest(words):
                result = self.lepus("reconstruct", self.scan, "-o", "v.mha", "--method", *words, code=2)
                self.assert_error(result, "usage", needle, f"method {words[0]}")
                self.assertNotIn("strength = 0.1", result.stderr)

    def test_what_helps_against_truncation_is_of_the_method(self):
        self.simulate_into("cut", *LINES, "--phantom-size", "400", phantom="ball")
        for keys, needle in (("", "filter.extrapolate"), ('[method]\nname = "sirt"\niterations = 1\n', "method.extend"),
                             ('[filter]\nextrapolate = 0.5\n[method]\nname = "sirt"\niterations = 1\n', "method.extend"),
                             ("[filter]\nextrapolate = 0.5\n", None),
                             ('[method]\nname = "sirt"\niterations = 1\nextend = [0.5, 0.5, 0.0]\n', None)):
            with self.subTest(keys):
                self.scan.write_text(self.plain + keys)
                said = self.lepus("reconstruct", self.scan, "-o", "v.mha", "--force").stderr
                self.assertEqual("reach past" in said, needle is not None, said)
                self.assertIn(f"set {needle} = " if needle else "", said)


class Compared(InputCase):
    def compare(self, methods, *words, **options):
        return self.lepus("reconstruct", "scan/scan.toml", "-o", "m.png", "--compare-methods", methods, "--iterations", "3",
                          "--backend", "cpu", "--json", "--force", *words, **options)

    def test_methods_are_compared(self):
        """Of counts and of line integrals; nothing but the picture stays."""
        for words in (SCAN, LINES):
            with self.subTest(words):
                self.simulate_into("scan", *words, "--force")
                before = self.names()
                said = json.loads(self.compare("fdk,cgls,sirt,cgls").stdout)["methods"]
                self.assertEqual([one["name"] for one in said], ["fdk", "cgls", "sirt", "cgls"])
                self.assertEqual(said[1]["residual"], said[3]["residual"])
                self.assertLess(said[1]["residual"], 0.3)
                self.assertEqual(sorted(set(self.names()) - set(before)), ["m.png"])
                (self.folder / "m.png").unlink()

    def test_another_method_takes_of_the_files_choices_those_that_it_has(self):
        self.simulate_into("scan", *LINES)
        self.scan.write_text(self.plain + '\n[method]\nname = "os-sart"\niterations = 2\nrelaxation = 0.5\norder = "random"\nsubsets = 4\n')
        for method, left_out in (("cgls", "subsets, order, relaxation"), ("sirt", "subsets, order"), ("mlem", "subsets, order, relaxation")):
            said = self.lepus("reconstruct", self.scan, "--method", method, "-o", f"{method}.mha", "--backend", "cpu").stderr
            self.assertIn(f"{method} has no use for its {left_out}\n", said)
        self.assert_error(self.lepus("reconstruct", self.scan, "--method", "cgls", "--subsets", "3", "-o", "v.mha", code=2), "usage", "subsets")

    def test_volumes_are_taken_in_the_axes_that_they_note(self):
        self.simulate_into("scan", *LINES)
        self.lepus("reconstruct", self.scan, "-o", "v.mha", "--backend", "cpu")
        self.lepus("convert", "v.mha", "--axes", "z,y,x", "-o", "turned.mha")
        made = []
        for name in ("v.mha", "turned.mha"):
            self.lepus("project", name, "--scan", self.scan, "-o", "p.raw", "--backend", "cpu", "--force")
            made.append((self.folder / "p.raw").read_bytes())
        self.assertEqual(made[0], made[1])
        self.lepus("reconstruct", self.scan, "--method", "sirt", "--iterations", "1", "--start", "turned.mha", "-o", "s.mha", "--backend", "cpu")

    def test_no_states_are_kept(self):
        self.simulate_into("scan", *LINES)
        self.scan.write_text(self.plain + "\n[method]\nsave_every = 1\n")
        self.compare("cgls,sirt")
        self.assertEqual([name for name in self.names() if "state" in name], [])
        for words in (["--resume"], ["--save-every", "1"]):
            self.assert_error(self.compare("cgls,sirt", *words, code=2), "usage", words[0], "no state")

    def test_the_residual_is_of_all_that_was_iterated(self):
        self.simulate_into("scan", *LINES)
        self.scan.write_text(re.sub(r"(?m)^size = .*$", "size = [8, 8, 16]", self.plain) + "\n[method]\n")
        cut = {one["name"]: one["residual"] for one in json.loads(self.compare("fdk,sirt").stdout)["methods"]}
        self.scan.write_text(self.scan.read_text() + "extend = [0.5, 0.5, 0.0]\n")
        whole = {one["name"]: one["residual"] for one in json.loads(self.compare("fdk,sirt").stdout)["methods"]}
        self.assertEqual(whole["fdk"], cut["fdk"])
        self.assertLess(whole["sirt"], 0.7 * cut["sirt"])


class Arc(InputCase):
    """A detector that is bent around the source, so that its flat one is wider."""
    ARC = ["--arc-detector", "--source-axis", "300", "--source-detector", "500", "--views", "40", "--columns", "60", "--rows",
           "24", "--pixel", "8", "--size", "32", "--voxel", "2.5", "--phantom-size", "70", "--format", "raw"]

    def test_projections_are_those_of_the_arc(self):
        for beam in ("cone", "fan"):
            with self.subTest(beam):
                self.simulate_into("arc", *self.ARC, "--beam", beam, "--content", "line-integrals", "--force", phantom="ball")
                recorded = numpy.fromfile(self.folder / "arc" / "frames.raw", "<f4").astype(float)
                words = ["project", "arc/truth.mha", "--scan", self.scan, "--backend", "cpu", "--force", "-o"]
                said = self.lepus_json(*words, "p.raw")
                self.assertEqual((said["columns"], said["rows"]), (60, 24))
                made = numpy.fromfile(self.folder / "p.raw", "<f4").astype(float)
                self.assertLess(numpy.linalg.norm(made - recorded) / numpy.linalg.norm(recorded), 0.05)
                self.lepus_json(*words, "r.raw", "--against")
                left = numpy.fromfile(self.folder / "r.raw", "<f4").astype(float)
                self.assertLess(numpy.abs(left - (made - recorded)).max(), 1e-5)
                result = self.lepus("project", "--scan", self.scan, "--matrix", "-o", "a.npz", code=2)
                self.assert_error(result, "usage", "arc detector has no matrix")

    def test_weights_know_the_flats(self):
        """Columns that count a thousand times fewer photons hold frames of something else: they have no say."""
        self.simulate_into("arc", *self.ARC, phantom="ball")
        self.plain = self.plain.replace('type = "uint16"', 'type = "float32"')
        lines = 0.02 * numpy.ones((40, 24, 60))
        lines[:, :, 24:36] = 1
        wrong = lines.copy()
        wrong[:, :, :24] += 0.5
        flats = numpy.full((24, 60), 60000.0)
        flats[:, :24] = 60
        volumes = {}
        for name, p, flat in (("right", lines, flats), ("wrong", wrong, flats), ("alike", wrong, numpy.full((24, 60), 60000.0))):
            (flat * numpy.exp(-p)).astype("<f4").tofile(self.folder / "arc" / "frames.raw")
            flat.astype("<f4").tofile(self.folder / "arc" / "flats.raw")
            volumes[name] = self.voxels('name = "cgls"\niterations = 6\nweights = "counts"\n')

        def off(name):
            return numpy.linalg.norm(volumes[name] - volumes["right"]) / numpy.linalg.norm(volumes["right"])
        self.assertLess(off("wrong"), 0.2 * off("alike"))


if __name__ == "__main__":
    unittest.main()
