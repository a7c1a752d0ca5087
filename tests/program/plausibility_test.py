#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scans that are wrong in some way are told so with the cause; scans that are only unusual are left in peace."""
import unittest

import numpy
import tifffile

from program_case import ProgramCase

SCAN = ["--views", "48", "--columns", "64", "--rows", "48", "--pixel", "3.2", "--flats", "4", "--darks", "4", "--no-truth"]


class PlausibilityCase(ProgramCase):
    def scan(self, *more, phantom="shepp-logan"):
        chosen = list(SCAN)
        for option in more:  # an option that is given again takes the place of the first
            if option in chosen:
                at = chosen.index(option)
                del chosen[at:at + 2]
        self.lepus("simulate", phantom, "-o", "scan", *chosen, "--quiet", "--force", *more)
        return self.folder / "scan"

    def rewrite(self, change, *sets):
        for name in sets or ("frames",):
            for index, file in enumerate(sorted((self.folder / "scan" / name).glob("*.tif"))):
                tifffile.imwrite(file, change(tifffile.imread(file), index))

    def edit(self, old, new):
        file = self.folder / "scan" / "scan.toml"
        text = file.read_text()
        self.assertIn(old, text)
        file.write_text(text.replace(old, new))

    def said(self):
        """What `info` warns of; the same must be said by `plan` and stand in the volume that is made."""
        info = self.lepus_json("info", "scan/scan.toml")
        return info["counts"]["warnings"]

    def as_raw(self, images, dtype, columns=64, rows=48):
        """Frames without a header, and the keys that tell how they are to be read."""
        folder = self.folder / "scan" / "frames"
        for index, image in enumerate(images):
            image.tofile(folder / f"{index:04}.raw")
        for file in folder.glob("*.tif"):
            file.unlink()
        self.edit('"frames/*.tif"', '"frames/*.raw"')
        self.edit("[geometry]", f'[frames.raw]\ncolumns = {columns}\nrows = {rows}\ntype = "{dtype}"\n\n[geometry]')
        for name in ("flats", "darks"):
            self.edit(f'{name} = "{name}/*.tif"\n', "")
        self.edit("[geometry]", '[intensity]\nfrom = "value"\nvalue = 50000\n\n[geometry]')

    def frames(self):
        return [tifffile.imread(file) for file in sorted((self.folder / "scan" / "frames").glob("*.tif"))]


class WrongScans(PlausibilityCase):
    def assert_said(self, *needles):
        said = self.said()
        self.assertTrue(any(all(n in s for n in needles) for s in said), f"{needles} is not in {said}")
        return said

    def test_black_frames(self):
        self.scan()
        self.rewrite(lambda image, i: numpy.minimum(image, 90) - (numpy.arange(64) % 3).astype(numpy.uint16))
        self.assert_said("at or below the dark", "black")

    def test_never_written(self):
        self.scan()
        self.rewrite(lambda image, i: numpy.zeros_like(image))
        self.assert_said("every pixel", "ever written")
        self.assert_error(self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", code=None), "input", "empty", "ever written")

    def test_wrong_byte_order(self):
        self.scan()
        self.rewrite(lambda image, i: image.byteswap())
        self.assert_said("bytes", "wrong order")

    def test_wrong_byte_order_of_floats(self):
        self.scan("--content", "line-integrals")
        frames = self.frames()
        self.rewrite(lambda image, i: (image + numpy.float32(0.01)).byteswap())
        self.assertEqual(frames[0].dtype, numpy.float32)
        self.assert_said("bytes", "wrong order")

    def test_floats_read_as_whole_numbers(self):
        self.scan()
        self.as_raw([f.astype(numpy.float32).repeat(1, 1) for f in self.frames()], "uint16", columns=128)
        self.edit("columns = 64\nrows = 48\npixel_width", "columns = 128\nrows = 48\npixel_width")
        self.assert_said("every second column", "float32")

    def test_whole_numbers_read_as_floats(self):
        self.scan()
        self.as_raw([f for f in self.frames()], "float32", columns=32)
        self.edit("columns = 64\nrows = 48\npixel_width", "columns = 32\nrows = 48\npixel_width")
        self.assert_said("not float32", "frames.raw.type")

    def test_no_sign_read_as_signed(self):
        self.scan()
        self.as_raw(self.frames(), "int16")
        self.assert_said("negative", "int16")

    def test_wrong_row_length(self):
        self.scan()
        self.as_raw([f.ravel()[:60 * 48].copy() for f in self.frames()], "uint16", columns=60)
        self.edit("columns = 64\nrows = 48\npixel_width", "columns = 60\nrows = 48\npixel_width")
        self.assert_said("row length", "frames.raw.columns")

    def test_darks_of_another_exposure(self):
        self.scan()
        self.rewrite(lambda image, i: image + numpy.uint16(20000), "darks")
        self.assert_said("at or below the dark", "darks_scale")

    def test_flats_of_another_exposure(self):
        self.scan()
        self.rewrite(lambda image, i: (image * 0.8).astype(numpy.uint16), "flats")
        self.assert_said("open beam", "1.25 of the flats", "frames.flats_scale = 1.25")

    def test_frames_of_another_exposure(self):
        self.scan()
        self.rewrite(lambda image, i: ((image - 100.0) * 0.8 + 100).astype(numpy.uint16))
        self.assert_said("open beam", "0.8 of the flats", "frames.flats_scale = 0.8")

    def test_object_in_the_flats(self):
        self.scan()
        picture = self.frames()[7]
        self.rewrite(lambda image, i: picture, "flats")
        self.assert_said("brighter than the open beam", "flats were taken")

    def test_saturated_frames(self):
        self.scan("--open-level", "90000")
        self.assert_said("frames' pixels are saturated")
        self.assert_said("flats' pixels are saturated")

    def test_no_object(self):
        self.scan()
        flat = tifffile.imread(self.folder / "scan" / "flats" / "0000.tif")
        self.rewrite(lambda image, i: flat + (numpy.arange(64) % 5).astype(numpy.uint16))
        self.assert_said("no object")

    def test_line_integrals_taken_for_counts(self):
        self.scan("--content", "line-integrals")
        self.edit('"line-integrals"', '"counts"')
        self.edit("[geometry]", '[intensity]\nfrom = "value"\nvalue = 1.0\n\n[geometry]')
        self.assert_said("line integrals", "frames.content")

    def test_counts_taken_for_line_integrals(self):
        self.scan()
        self.edit('"counts"', '"line-integrals"')
        for name in ("flats", "darks"):
            self.edit(f'{name} = "{name}/*.tif"\n', "")
        self.assert_said("nothing shines through", "counts")

    def test_line_integrals_of_pixels_that_were_not_measured(self):
        self.scan("--content", "line-integrals")

        def unmeasured(image, index):
            image[23:25, 30] = -999
            return image
        self.rewrite(unmeasured)
        self.assert_said("reach down to -999", "defect-map")
        for correction in ('"zingers"', '"lag"', '"phase"\nenergy_kev = 20\ndelta_over_beta = 100'):
            with self.subTest(correction):
                scan = self.folder / "scan" / "scan.toml"
                (scan.parent / "corrected.toml").write_text(scan.read_text() + f"\n[[correct]]\nkind = {correction}\n")
                result = self.lepus_json("reconstruct", "scan/corrected.toml", "-o", "v.mha", "--force")
                self.assertIn("-999", " ".join(result["warnings"]))
                volume = numpy.frombuffer((self.folder / "v.mha").read_bytes().split(b"LOCAL\n", 1)[1], "<f4")
                self.assertTrue(numpy.isfinite(volume).all())

    def test_transmission_taken_for_line_integrals(self):
        self.scan()
        self.rewrite(lambda image, i: ((image - 100) / 50000).astype(numpy.float32))
        self.edit('"counts"', '"line-integrals"')
        for name in ("flats", "darks"):
            self.edit(f'{name} = "{name}/*.tif"\n', "")
        self.assert_said("transmissions", "intensity.from")

    def test_divided_by_the_flats_already(self):
        self.scan()
        self.rewrite(lambda image, i: ((image - 100) / 50000).astype(numpy.float32))
        self.assert_said("at or below the dark", "divided by the flats already")

    def test_beam_that_changes(self):
        self.scan("--beam-drift", "0.3")
        self.assert_said("open beam changes", "drift")

    def test_dead_and_stuck_pixels(self):
        self.scan("--hot-pixels", "10", "--dead-columns", "1")
        self.assert_said("dead or stuck", "dead-pixels")

    def test_stuck_pixels_are_counted_once(self):
        """And they do not hide flats that are saturated elsewhere."""
        self.scan("--hot-pixels", "300")  # of 64 x 48
        said = self.assert_said("dead or stuck")
        share = float(next(s for s in said if "dead or stuck" in s).split(" %")[0])
        self.assertAlmostEqual(share, 100 * 300 / (64 * 48), delta=0.01)
        self.assertFalse(any("of the flats' pixels are saturated" in s for s in said), said)

        def overexposed(image, i):
            image[:, :5] = 65535
            return image
        self.rewrite(overexposed, "flats")
        self.assert_said("of the flats' pixels are saturated")

    def test_flats_that_are_not_numbers(self):
        self.scan()

        def damage(image, i):
            image = image.astype(numpy.float32)
            image[3, 5:9] = numpy.nan
            return image
        self.rewrite(damage, "flats")
        result = self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", code=None)
        self.assert_error(result, "input", "not numbers (4 of them)", "column 5, row 3")
        self.rewrite(lambda image, i: numpy.full_like(image, numpy.nan), "flats")
        result = self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", code=None)
        self.assert_error(result, "input", "not numbers", "damaged")

    def test_swapped_flats_and_darks(self):
        self.scan()
        self.edit('flats = "flats/*.tif"\ndarks = "darks/*.tif"', 'flats = "darks/*.tif"\ndarks = "flats/*.tif"')
        self.assert_error(self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", code=None), "input", "swapped")


class UnusualScans(PlausibilityCase):
    """Right, but not like the others."""

    def assert_nothing_said(self, *more, phantom="shepp-logan", toml=()):
        self.scan(*more, phantom=phantom)
        for old, new in toml:
            self.edit(old, new)
        self.assertEqual(self.said(), [], more)

    def test_few_photons(self):
        self.assert_nothing_said("--photons", "100", "--open-level", "20000")

    def test_object_past_the_sides(self):
        self.assert_nothing_said("--phantom-size", "300")

    def test_inside_of_a_large_object(self):
        self.assert_nothing_said("--phantom-size", "500", "--value", "0.005", phantom="ball")

    def test_inside_of_a_large_object_with_noise(self):
        self.assert_nothing_said("--photons", "500", phantom="forbild-head")

    def test_half_fan(self):
        self.assert_nothing_said("--shift-u", "60")

    def test_short_scan(self):
        self.assert_nothing_said("--arc", "220")

    def test_dense_object(self):
        self.assert_nothing_said("--value", "0.15")

    def test_faint_object(self):
        self.assert_nothing_said("--value", "0.0005", "--photons", "100000", "--open-level", "30000")

    def test_high_offset(self):
        self.assert_nothing_said("--offset-level", "20000", "--offset-spread", "300", "--open-level", "30000")

    def test_low_counts(self):
        self.assert_nothing_said("--open-level", "200", "--offset-level", "10")

    def test_eight_bits(self):
        self.assert_nothing_said("--bits", "8", "--open-level", "200", "--offset-level", "10")

    def test_uneven_gain(self):
        self.assert_nothing_said("--gain-spread", "0.2", "--open-level", "30000")

    def test_line_integrals(self):
        self.assert_nothing_said("--content", "line-integrals")

    def test_parallel_beam(self):
        self.assert_nothing_said("--beam", "parallel")

    def test_single_row(self):
        self.assert_nothing_said("--beam", "fan", "--rows", "1")

    def test_small_object_between_the_rows_that_are_looked_at(self):
        # 16 groups of 4 rows of 400; the object is seen in 10 rows in the middle, 188 to 207 are passed over.
        self.assert_nothing_said("--rows", "400", "--views", "6", "--pixel", "0.4", "--phantom-size", "2",
                                 "--content", "line-integrals", phantom="ball")

    def test_slanted_object(self):
        self.scan("--content", "line-integrals")
        row, column = numpy.mgrid[0:48, 0:64]
        plate = (numpy.abs(column - 32 - 2.0 * (row - 24)) < 8).astype(numpy.float32)
        self.rewrite(lambda image, i: plate * (1 + 0.1 * numpy.sin(i)).astype(numpy.float32))
        self.assertEqual(self.said(), [])

    def test_layers(self):
        self.assert_nothing_said(phantom="defrise")

    def test_beads(self):
        self.assert_nothing_said(phantom="beads")

    def test_flickering_beam(self):
        self.assert_nothing_said("--beam-flicker", "0.02")

    def test_tube_spectrum(self):
        self.assert_nothing_said("--tube-kv", "80")

    def test_scaled_flats(self):
        self.scan()
        self.rewrite(lambda image, i: ((image - 100.0) * 0.8 + 100).astype(numpy.uint16), "flats")
        self.edit('content = "counts"', 'content = "counts"\nflats_scale = 1.2495')
        self.assertEqual(self.said(), [])

    def test_drift_that_is_corrected(self):
        self.scan("--beam-drift", "0.3")
        toml = self.folder / "scan" / "scan.toml"
        toml.write_text(toml.read_text() + '\n[[correct]]\nkind = "drift"\nregion_px = [0, 4, 0, 48]\n')
        self.assertEqual(self.said(), [])


    def test_drift_between_flats_at_both_ends(self):
        self.scan("--beam-drift", "0.3")
        (self.folder / "scan" / "after").mkdir()
        for file in sorted((self.folder / "scan" / "flats").glob("*.tif")):
            flat = tifffile.imread(file)
            tifffile.imwrite(self.folder / "scan" / "after" / file.name, ((flat - 100.0) * 1.3 + 100).astype(numpy.uint16))
        self.edit('flats = "flats/*.tif"', 'flats = ["flats/*.tif", "after/*.tif"]\nflats_at_view = [0, 48]')
        info = self.lepus_json("info", "scan/scan.toml")["counts"]
        self.assertEqual(info["warnings"], [])
        for level in info["air"].values():
            self.assertAlmostEqual(level, 1, delta=0.01)

    def test_helix(self):
        for more in ([], ["--beam", "fan"]):
            with self.subTest(more=more):
                self.scan("--helix-pitch", "20", "--arc", "720", "--views", "96", "--size", "32,32,16", "--voxel", "4", *more)
                made = self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", "--method", "os-sart", "--iterations", "1", "--force")
                self.assertNotIn("agree", made.stderr)


class SaidEverywhere(PlausibilityCase):
    def test_plan_and_volume_say_what_info_says(self):
        self.scan()
        self.rewrite(lambda image, i: (image * 0.8).astype(numpy.uint16), "flats")
        said = self.said()
        self.assertEqual(len(said), 1)
        self.assertIn(said[0], self.lepus_json("plan", "scan/scan.toml")["warnings"])
        made = self.lepus_json("reconstruct", "scan/scan.toml", "-o", "v.mha")
        self.assertIn(said[0], made["provenance"]["warnings"])
        self.assertAlmostEqual(made["provenance"]["counts"]["air"]["level"], 1.25, delta=0.01)

    def test_scales_give_the_volume_of_the_right_exposure(self):
        self.scan()
        self.lepus("reconstruct", "scan/scan.toml", "-o", "right.mha")
        # Frames of half the exposure, darks of a quarter.
        self.rewrite(lambda image, i: (image / 2).astype(numpy.float32))
        self.rewrite(lambda image, i: (image / 4).astype(numpy.float32), "darks")
        self.edit('content = "counts"', 'content = "counts"\nframes_scale = 2.0\ndarks_scale = 4.0')
        self.lepus("reconstruct", "scan/scan.toml", "-o", "scaled.mha")
        self.assertEqual(self.said(), [])
        compared = self.lepus_json("compare", "right.mha", "scaled.mha")
        self.assertLess(compared["metrics"]["rmse"], 1e-7, compared)  # of values near 0.02: floats' rounding

    def test_pixels_at_the_dark_are_counted_and_named(self):
        self.scan()

        def darken(image, i):
            image = image.copy()
            image[20, 30:33] = 0
            return image
        self.rewrite(darken)
        made = self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", "--json")
        self.assertIn("not above the dark", made.stderr)
        self.assertIn("row 20", made.stderr)
        self.assertRegex(made.stderr, "column 3[012]")
        self.assertIn('"pixels_at_dark":144', made.stdout.replace(" ", ""))

    def test_pixels_at_the_dark_that_corrections_leave_are_warned_of(self):
        self.scan()

        def darken(image, i):  # in no row that is in the middle of anything
            image = image.copy()
            image[20, 30:33] = 0
            image[11, 28] = 0
            return image
        self.rewrite(darken)
        toml = self.folder / "scan" / "scan.toml"
        right, text = toml.read_text(), "% of the pixels are not above the dark"
        (self.folder / "scan" / "bad.txt").write_text("30 20 32 20\n28 11\n")
        (self.folder / "scan" / "one.txt").write_text("30 20 32 20\n")
        share = 100 * 4 / (64 * 48)

        def left(*corrections):
            toml.write_text(right + "".join(f"\n[[correct]]\nkind = {c}\n" for c in corrections))
            warnings = self.lepus_json("reconstruct", "scan/scan.toml", "-o", "v.mha", "--force")["warnings"]
            return [float(w.split(" %")[0]) for w in warnings if text in w]
        hardening, rings = '"hardening"\ncoefficients = [0.9]', '"rings"\nmethod = "trend"'
        drift = '"drift"\nregion_px = [0, 4, 0, 48]'
        for chain in ([hardening], [rings], [drift], [drift, hardening]):
            found = left(*chain)
            self.assertEqual(len(found), 1, chain)
            self.assertAlmostEqual(found[0], share, delta=0.01 * share)
        bridged = '"defect-map"\nfile = "bad.txt"'
        for chain in ([bridged], [bridged, hardening], [drift, bridged]):
            self.assertEqual(left(*chain), [], chain)
        found = left('"defect-map"\nfile = "one.txt"')
        self.assertEqual(len(found), 1)
        self.assertAlmostEqual(found[0], share / 4, delta=0.01 * share)

    def test_the_dark_is_not_in_the_detectors_maximum(self):
        self.scan("--offset-level", "4000", "--open-level", "30000")
        self.edit('flats = "flats/*.tif"\n', "saturation_level = 34000\nmaximum_bad_fraction = 1.0\n")
        self.edit("[geometry]", '[intensity]\nfrom = "detector-maximum"\n\n[geometry]')
        made = self.lepus_json("reconstruct", "scan/scan.toml", "-o", "v.mha")
        self.assertAlmostEqual(float(made["provenance"]["intensity"].split("= ")[1]), 30000, delta=1)


if __name__ == "__main__":
    unittest.main()
