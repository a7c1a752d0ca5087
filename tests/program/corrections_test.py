# SPDX-License-Identifier: Apache-2.0
"""What bad input gets from the chain of corrections: one error, or a warning, that says what to do; never NaN."""
import re
import unittest

import numpy
import tifffile

from program_case import ProgramCase, command_names

USAGE = 2
INPUT = 3


def section(kind, **keys):
    lines = [f'\n[[correct]]\nkind = "{kind}"\n']
    for key, value in keys.items():
        if isinstance(value, bool):
            value = "true" if value else "false"
        elif isinstance(value, str):
            value = f'"{value}"'
        lines.append(f"{key} = {value}\n")
    return "".join(lines)


@unittest.skipUnless("reconstruct" in command_names(), "this lepus has no reconstruct")
class BadCorrections(ProgramCase):
    def setUp(self):
        super().setUp()
        self.simulate()

    def simulate(self, flats=2, *words):
        """64 columns: the ball is seen in columns 20 to 43, beside it is air. Two flats have noise enough for rings."""
        self.lepus("simulate", "ball", "-o", "scan", "--views", "24", "--columns", "64", "--rows", "16", "--pixel", "3.2",
                   "--phantom-size", "36", "--photons", "10000", "--flats", str(flats), "--darks", "2", "--format", "tiff",
                   "--no-truth", "--quiet", *words)
        self.scan = self.folder / "scan"
        self.text = (self.scan / "scan.toml").read_text()

    def reconstruct(self, chain, **options):
        (self.scan / "chain.toml").write_text(self.text + chain)
        return self.lepus("reconstruct", "scan/chain.toml", "-o", "volume.mha", "--force", **options)

    def refused(self, chain, *needles):
        with self.subTest(chain=chain):
            (self.folder / "volume.mha").unlink(missing_ok=True)
            self.assert_error(self.reconstruct(chain, code=INPUT), "input", *needles)
            self.assertFalse((self.folder / "volume.mha").exists(), "a volume was written")

    def finite(self):
        header, voxels = (self.folder / "volume.mha").read_bytes().split(b"ElementDataFile = LOCAL\n", 1)
        self.assertIn(b"MET_FLOAT", header)
        values = numpy.frombuffer(voxels, "<f4")
        self.assertTrue(numpy.isfinite(values).all())
        return values

    def warned(self, chain, *needles):
        """One warning that has the needles; the volume is finite."""
        with self.subTest(chain=chain):
            result = self.reconstruct(chain)
            warnings = [line for line in result.stderr.splitlines() if line.startswith("lepus: warning:")]
            found = [line for line in warnings if all(needle in line for needle in needles)]
            self.assertEqual(len(found), 1, result.stderr)
            self.finite()

    def test_the_scan_itself_is_good(self):
        """Otherwise every case below would pass for the wrong reason."""
        result = self.reconstruct(section("hot-pixels") + section("rings", method="sorting"))
        self.assertNotIn("warning", result.stderr)
        self.assertGreater(self.finite().max(), 0.01)

    def test_dead_pixels_that_no_flats_show(self):
        for intensity in ('from = "value"\nvalue = 50000', 'from = "air-region"\nair_region_px = [0, 8, 0, 16]'):
            self.text = re.sub(r"\n\[intensity\][^\[]*", "\n", self.text).replace("[geometry]", f"[intensity]\n{intensity}\n\n[geometry]")
            self.refused(section("dead-pixels"), "nothing to find dead pixels in", "intensity.from", '"defect-map"')
            self.refused(section("dead-pixels") + section("drift"), "nothing to find dead pixels in")

    def test_a_radius_larger_than_the_row(self):
        for name in ("box", "median", "bilateral", "gaussian"):
            self.refused(section("filter", filter=name, radius_px=100), "radius of 100", "64 pixels wide", "at most 31")
        self.refused(section("rings", radius_px=100), "radius of 100", "64 pixels wide", "at most 63")
        self.refused(section("rings", method="wavelet-fourier", levels=9), "9 wavelet levels", "64 columns", "fewer levels")
        self.refused(section("rings", method="sorting", small_px=501), "small_px = 501", "rows of 64", "at most 127")
        self.refused(section("rings", method="combined", large_px=60), "large_px = 60", "odd")
        self.refused(section("rings", method="sorting", small_px=1), "small_px = 1", "odd number from 3")
        for name in ("rings", "filter"):
            self.refused(section(name, filter="bilateral", radius_px=9, sigma_value=1e-20, value_range=1.0), "sigma of 1e-20",
                         "sigma_value or value_range")
        self.refused(section("hot-pixels", window_px=30), "64 columns is too short", "124 columns", "window_px")

    def test_division_by_zero(self):
        ones = [1.0] * 23
        self.refused(section("dose", values=ones + [0.0]), "values", "found 0", "must be")
        self.refused(section("dose", values=ones + [1.0], reference=0), "reference", "found 0")
        self.refused(section("dose", values=ones + [1.0], reference=1e300), "reference", "at most")
        (self.scan / "dose.txt").write_text("1\n" * 23 + "0\n")
        self.refused(section("dose", file="dose.txt"), "dose of view 23 is 0", "divided by it", "leave views without beam out")
        self.refused(section("filter", filter="gaussian", radius_px=3, sigma_px=0), "sigma_px", "found 0", "at least")
        self.refused(section("filter", filter="gaussian", radius_px=3, sigma_px=1e-300), "sigma_px", "at least")
        self.refused(section("rings", method="wavelet-fourier", levels=3, damping_sigma=1e-300), "damping_sigma", "at least")
        self.refused(section("hardening", coefficients=[0.0]), "c1 = 0", "rise")
        self.refused(section("hardening", coefficients=[1.0, 1e300]), "coefficients", "at most")
        self.refused(section("hot-pixels", tolerance=0), "tolerance", "above 0")

    def test_zeros_before_the_log_are_no_nan(self):
        """A frame without beam, and pixels without a flat, with a chain that divides by what is seen there."""
        for file in sorted((self.scan / "flats").glob("*.tif")):
            flat = tifffile.imread(file)
            flat[5, 30] = flat[6, 3:7] = 0
            tifffile.imwrite(file, flat)
        frame = sorted((self.scan / "frames").glob("*.tif"))[7]
        tifffile.imwrite(frame, numpy.full_like(tifffile.imread(frame), 100))  # the level without beam
        self.refused(section("rings"), "5 pixels of the mean flat are zero", '"dead-pixels"')
        bridged = section("dead-pixels")
        self.refused(bridged + section("drift", region_px=[0, 10, 0, 16]), "a frame without beam", "view 7")
        self.warned(bridged, "a view without beam", frame.name, "leave such frames out")
        for chain in ("", section("hot-pixels"), section("zingers"), section("rings"),
                      section("rings", method="combined"), section("rings", on="grey-levels", method="trend"),
                      section("filter", filter="box", radius_px=3, border="zero")):
            with self.subTest(chain=chain):
                self.reconstruct(bridged + chain)
                self.finite()

    def test_outputs_that_overwrite_what_is_read(self):
        """Not even with --force: what was measured cannot be made again."""
        recorded = {path: path.read_bytes() for path in self.scan.rglob("*.tif")}
        frame = sorted((self.scan / "frames").glob("*.tif"))[0]
        (self.scan / "chain.toml").write_text(self.text)
        for output in (frame, "scan/flats/../frames/%04d.tif", "scan/chain.toml"):
            result = self.lepus("reconstruct", "scan/chain.toml", "-o", output, "--force", code=None)
            self.assertNotEqual(result.returncode, 0)
            self.assert_error(result, "usage", "cannot be written to", "is read from", "another name")
        (self.scan / "chain.toml").write_text(self.text + section("rings", write=f"frames/{frame.name}"))
        result = self.lepus("reconstruct", "scan/chain.toml", "-o", "volume.mha", "--force", code=USAGE)
        self.assert_error(result, "usage", 'write of correction "rings"', "would overwrite")
        self.assertEqual({path: path.read_bytes() for path in self.scan.rglob("*.tif")}, recorded)

    def test_outputs_of_the_same_name(self):
        """Said before the work, not when the second file is to be renamed."""
        for chain in (section("zingers", write="s.mha") + section("rings", write="./s.mha"),
                      section("rings", write="../volume.mha"), section("rings", write="s.mhd") + section("rings", write="s.raw")):
            with self.subTest(chain=chain):
                self.assert_error(self.reconstruct(chain, code=USAGE), "usage", "two want it", "another name")

    def test_a_curve_that_ends_inside_the_object(self):
        """The ball's line integrals go up to 0.7."""
        self.warned(section("hardening", coefficients=[1, -2]), '"hardening"', "above 0.23", "straight line", "coefficients")
        (self.scan / "steps.txt").write_text("0 0\n5 0.1\n10 0.2\n15 0.3\n")
        self.warned(section("hardening", calibration="steps.txt"), '"hardening"', "above 0.3", "thicker pieces")
        self.assertNotIn("warning", self.reconstruct(section("hardening", coefficients=[1, 0.1])).stderr)

    def test_most_pixels_dead(self):
        self.refused(section("dead-pixels", threshold=1.0), "dead-pixels", "% of the pixels", "lower threshold", "maximum_share")
        self.warned(section("dead-pixels", threshold=1.0, maximum_share=1.0), '"dead-pixels"', "% of the pixels", "lower threshold")

    def provenance_warnings(self):
        return self.lepus_json("reconstruct", "scan/chain.toml", "-o", "volume.mha", "--force")["provenance"]["warnings"]

    def test_more_pixels_than_any_detector_has_bad(self):
        """The original form of hot-pixels takes a large part of good pixels for bad."""
        original = {"normalise": False, "window_px": 2, "below": True}
        self.refused(section("hot-pixels", **original), "hot-pixels", "it would replace", "% of the pixels", "below = false", "maximum_share")
        self.warned(section("hot-pixels", maximum_share=1.0, **original), '"hot-pixels"', "% of the pixels", "below = false")
        self.assertTrue(any("hot-pixels" in w for w in self.provenance_warnings()))
        self.refused(section("zingers", tolerance=0.3, neighbours="views"), "zingers", "it would replace", "raise tolerance")
        (self.scan / "bad.txt").write_text("0 0 30 15\n")
        self.refused(section("defect-map", file="bad.txt"), "defect-map", "48 % of the pixels", "check the map")
        (self.scan / "bad.txt").write_text("30 0 31 15\n")
        self.assertNotIn("warning", self.reconstruct(section("defect-map", file="bad.txt")).stderr)

    def test_rings_that_auto_leaves(self):
        """A clean scan comes out as if the step were not there; and what a step leaves is what the next one finds."""
        self.simulate(100, "--force")
        self.reconstruct(section("zingers"))
        without = self.finite()
        result = self.reconstruct(section("zingers") + section("rings", method="auto"))
        self.assertIn("rings: nothing taken out: no method would make the slice better", result.stderr)
        self.assertNotIn("warning", result.stderr)
        self.assertEqual(self.finite().tobytes(), without.tobytes())
        figures = re.findall(r"rings (\S+) before, (\S+) after", result.stderr)
        self.assertEqual(figures[0][1], figures[1][0], result.stderr)

    def test_more_ring_than_before(self):
        self.warned(section("rings", method="wavelet-fourier", levels=2), '"rings"', "more ring after it than before", "leave it out")
        self.assertTrue(any("more ring" in w for w in self.provenance_warnings()))

    def test_a_plan_refuses_what_a_run_refuses(self):
        for chain in (section("defect-map", file="none.tif"), section("hardening", homogeneous=False), section("hardening", calibration="none.txt"),
                      section("dose", values=[1] * 24, column="1"), section("rings", method="sorting", small_px=8), section("rings", levels=3),
                      section("hardening", coefficients=[1.0], degree=4), section("rings") + section("drift")):
            with self.subTest(chain):
                (self.scan / "scan.toml").write_text(self.text + chain)
                planned = self.lepus("plan", "scan/scan.toml", "-q", code=INPUT).stderr
                self.assertEqual(planned, self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", "-q", code=INPUT).stderr)
                self.assertEqual(planned, self.lepus("plan", "scan/scan.toml", "--method", "sirt", "-q", code=INPUT).stderr)
        # What they find in the frames is not looked for.
        good = [section(kind) for kind in ("dead-pixels", "hot-pixels", "drift", "lag", "zingers")] + [section("rings", method="auto"), section("hardening", homogeneous=True)]
        (self.scan / "scan.toml").write_text(self.text + "".join(good))
        self.lepus("plan", "scan/scan.toml")

    def test_unknown_kinds_and_keys(self):
        self.refused(section("hotpixel"), "unknown correction", 'did you mean "hot-pixels"')
        self.refused(section("ring"), "unknown correction", 'did you mean "rings"', "known: ")
        self.refused(section("rings", radus_px=3), "unknown key radus_px", "did you mean radius_px")
        self.refused(section("rings", method="sortin"), "sortin", "sorting")

    def test_grey_levels_after_line_integrals(self):
        self.refused(section("rings") + section("drift"), "belongs before the log", "this order works: drift, rings")
        self.refused(section("hardening", coefficients=[1.0, 0.1]) + section("hot-pixels") + section("dose", values=[1.0] * 24),
                     "belongs before the log", "this order works:")
        self.refused(section("drift", on="line-integrals"), "on", "grey-levels")

    def test_an_air_region_inside_the_object(self):
        self.refused(section("drift", region_px=[28, 36, 4, 12]), "does not look like air", "columns 28 to 35",
                     "region_px = [first column")
        self.refused(section("drift", region_px=[60, 90, 0, 16]), "not a part of the detector", "64 columns and 16 rows")
        self.warned(section("drift", region_px=[28, 36, 4, 12], lowest_level=0.1), "inside the object", "region_px")

    def test_an_air_region_of_one_pixel(self):
        """Its level has noise that nothing in the frame tells: no number is made up for it."""
        result = self.reconstruct(section("drift", region_px=[3, 4, 2, 3]))
        self.assertIn("1 pixel of air", result.stderr)
        self.assertNotIn("known to", result.stderr)
        self.assertIn("each level known to", self.reconstruct(section("drift")).stderr)

    def test_a_warning_is_given_once(self):
        """The search for the axis looks at the scan, too."""
        self.text = self.text.replace("[geometry]\n", '[geometry]\ncenter = "auto"\n')
        self.warned(section("drift", region_px=[28, 36, 4, 12], lowest_level=0.1), "inside the object")
        self.warned(section("filter", filter="box", radius_px=3, border="zero"), "past both sides of the detector")


@unittest.skipUnless("center" in command_names(), "this lepus has no center")
class CenterOfMatrices(ProgramCase):
    """The geometry in a file of matrices: where they lie on a circle, the axis is found as for any other scan."""
    def setUp(self):
        super().setUp()
        self.lepus("simulate", "shepp-logan-modified", "-o", "scan", "--views", "90", "--columns", "96", "--rows", "12",
                   "--pixel", "3.3", "--phantom-size", "100", "--hidden-shift", "3.3", "--no-truth", "--quiet")
        self.lepus("convert", "scan/scan.toml", "--geometry", "matrices", "-o", "scan/matrices.txt")
        text = (self.folder / "scan" / "scan.toml").read_text()
        self.head, rest = text.split("[geometry]\n", 1)
        self.tail = rest.split("\n[", 1)[1]

    def write(self, keys):
        (self.folder / "scan" / "matrices.toml").write_text(f'{self.head}[geometry]\nmatrices_file = "matrices.txt"\n{keys}\n[{self.tail}')

    def test_the_axis_is_found(self):
        found = self.lepus_json("center", "scan/scan.toml", "--no-tilt")
        self.assertAlmostEqual(found["column"], 47.5 - 3.3, delta=0.1)
        self.write("")
        self.assertAlmostEqual(self.lepus_json("center", "scan/matrices.toml", "--no-tilt")["column"], found["column"], delta=0.01)
        self.write('center = "auto"\n')
        done = self.lepus_json("reconstruct", "scan/matrices.toml", "-o", "volume.mha")
        self.assertIn("the rotation axis is seen on column 44.", done["provenance"]["scan"])

    def test_no_circle(self):
        file = self.folder / "scan" / "matrices.txt"
        first, *lines = file.read_text().splitlines()
        moved = []
        for view, line in enumerate(lines):  # a helix: z grows by a pixel at the axis every fifth view
            p = numpy.array(line.split(), float).reshape(3, 4)
            p[:, 3] += p[:, 2] * 1.65 * view / 5
            moved.append(" ".join(f"{x:.17g}" for x in p.ravel()))
        file.write_text("\n".join([first, *moved]) + "\n")
        self.write("")
        result = self.lepus("center", "scan/matrices.toml", "--json", code=4)
        self.assert_error(result, "geometry", "circle about the z axis", "pixels from where", "leave the search")


@unittest.skipUnless("calibrate" in command_names(), "this lepus has no calibrate")
class BadBeads(ProgramCase):
    def beads(self, *words):
        self.lepus("simulate", "beads", "-o", "beads", "--views", "36", "--columns", "128", "--rows", "96", "--pixel", "1.6",
                   "--no-truth", "--quiet", *words)

    def test_beads_that_overlap(self):
        self.beads("--beads", "40", "--phantom-size", "90", "--bead-radius", "0.04")
        result = self.lepus("calibrate", "beads/scan.toml", "--json", code=INPUT)
        self.assert_error(result, "input", "misses the beads by", "overlap", "fewer or smaller beads")
        self.assertIn("beads overlap in views 0-35", result.stderr)

    def test_beads_that_leave_the_detector(self):
        self.beads("--beads", "12", "--phantom-size", "90")
        result = self.lepus("calibrate", "beads/scan.toml", "--json")
        self.assertIn("warning: beads leave the detector in views", result.stderr)

    def test_a_distance_of_beads_that_cannot_be(self):
        self.beads("--beads", "12")
        self.lepus("calibrate", "beads/scan.toml")
        result = self.lepus("calibrate", "beads/scan.toml", "--bead-spacing-mm", "1000", "--json", code=INPUT)
        self.assert_error(result, "input", "1000 mm apart", "behind the detector", "check the distance")

    def test_beads_that_are_hardly_seen(self):
        self.beads("--beads", "12", "--phantom-size", "200")
        result = self.lepus("calibrate", "beads/scan.toml", "--json", code=INPUT)
        self.assert_error(result, "input", "0 beads were followed", "at least 4")
        self.assertIn("warning: beads leave the detector in views", result.stderr)


if __name__ == "__main__":
    unittest.main()
