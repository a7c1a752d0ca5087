# SPDX-License-Identifier: Apache-2.0
"""lepus analyze: against SciPy and scikit-image, against what a simulated block is made of, and on bad input.

LEPUS_ANALYZE=long makes the volumes of the comparisons 128^3; LEPUS_ANALYZE=full has 5,000 spheres in 512^3."""
import csv
import json
import os
import re
import subprocess
import unittest

from program_case import PROGRAM, ProgramCase

try:
    import numpy as np
    import scipy.ndimage as ndi
except ImportError:
    np = None
try:
    import skimage.filters
    import skimage.morphology
except ImportError:
    skimage = None

TYPES = {"MET_UCHAR": "uint8", "MET_SHORT": "int16", "MET_USHORT": "uint16", "MET_UINT": "uint32", "MET_FLOAT": "float32"}
SHAPE = (128, 128, 128) if os.environ.get("LEPUS_ANALYZE") == "long" else (36, 52, 70)


def write_mha(path, values, spacing=(1, 1, 1), offset=(0, 0, 0), more=""):
    names = {np.dtype(v): k for k, v in TYPES.items()}
    header = ("ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
              f"ElementSpacing = {spacing[0]} {spacing[1]} {spacing[2]}\nOffset = {offset[0]} {offset[1]} {offset[2]}\n{more}"
              f"DimSize = {values.shape[2]} {values.shape[1]} {values.shape[0]}\n"
              f"ElementType = {names[values.dtype]}\nElementDataFile = LOCAL\n")
    path.write_bytes(header.encode() + np.ascontiguousarray(values).tobytes())


def read_mha(path):
    data = path.read_bytes()
    end = data.index(b"\n", data.index(b"ElementDataFile")) + 1
    fields = dict(line.split(" = ", 1) for line in data[:end].decode().splitlines())
    nx, ny, nz = map(int, fields["DimSize"].split())
    return np.frombuffer(data[end:], TYPES[fields["ElementType"]]).reshape(nz, ny, nx)


def porous(shape=SHAPE, seed=1):
    """Smooth noise: pores of all shapes, some of which touch; values 0 to 1."""
    noise = ndi.gaussian_filter(np.random.default_rng(seed).normal(size=shape), 2.0)
    noise = (noise - noise.min()) / (noise.max() - noise.min())
    return noise.astype(np.float32)


@unittest.skipIf(np is None, "python3-numpy and python3-scipy are not installed: the analysis is NOT checked against them")
class AgainstSciPy(ProgramCase):
    def analyze(self, values, *words, spacing=(1, 1, 1), name="v.mha"):
        write_mha(self.folder / name, values, spacing)
        result = self.lepus_json("analyze", name, "-o", "r", "--force", *words)
        self.report = self.folder / "r"
        return result

    def blobs(self):
        with open(self.report / "blobs.csv", newline="") as file:
            return list(csv.DictReader(file))

    def test_labels_blobs_and_porosity(self):
        v = porous()
        dark = v.astype(float) <= 0.42
        for connectivity, order in ((6, 1), (18, 2), (26, 3)):
            labels, count = ndi.label(dark, ndi.generate_binary_structure(3, order))
            result = self.analyze(v, "--threshold", "0.42", "--connectivity", connectivity, "--sort", "label")
            self.assertGreater(count, 20)
            self.assertEqual(result["blobs"]["count"], count)
            # SciPy numbers by the first voxel, too.
            np.testing.assert_array_equal(read_mha(self.report / "labels.mha"), labels)
        self.assertEqual(result["phase_voxels"], int(dark.sum()))
        self.assertAlmostEqual(result["porosity"]["total"], dark.mean(), places=15)
        border = np.ones(v.shape, bool)
        border[1:-1, 1:-1, 1:-1] = False
        open_ones = set(np.unique(labels[border])) - {0}
        self.assertAlmostEqual(result["porosity"]["open"], np.isin(labels, list(open_ones)).mean(), places=15)
        self.assertEqual(result["porosity"]["slices"]["phase"], dark.sum(axis=(1, 2)).tolist())
        for name, chosen in (("phase", dark), ("rest", ~dark)):
            values = v[chosen].astype(float)
            self.assertEqual(result["statistics"][name]["voxels"], values.size)
            self.assertAlmostEqual(result["statistics"][name]["mean"], values.mean(), delta=1e-7)
            self.assertAlmostEqual(result["statistics"][name]["spread"], values.std(), delta=1e-7)
        noise = np.sqrt((v[dark].astype(float).var() + v[~dark].astype(float).var()) / 2)
        self.assertAlmostEqual(result["statistics"]["contrast_to_noise"],
                               (v[~dark].astype(float).mean() - v[dark].astype(float).mean()) / noise, delta=1e-5)
        rows = self.blobs()
        numbers = np.arange(1, count + 1)
        self.assertEqual([int(r["voxels"]) for r in rows], ndi.sum_labels(dark, labels, numbers).astype(int).tolist())
        np.testing.assert_allclose([[float(r[k]) for k in ("z_mm", "y_mm", "x_mm")] for r in rows],
                                   ndi.center_of_mass(dark, labels, numbers), atol=1e-6)
        np.testing.assert_allclose([float(r["mean"]) for r in rows], ndi.mean(v.astype(float), labels, numbers), atol=2e-7)
        np.testing.assert_allclose([float(r["spread"]) for r in rows],
                                   ndi.standard_deviation(v.astype(float), labels, numbers), atol=2e-7)
        for row, box in zip(rows, ndi.find_objects(labels)):
            self.assertEqual([int(row[k]) for k in ("z0", "z1", "y0", "y1", "x0", "x1")],
                             [n for s in box for n in (s.start, s.stop)])
            self.assertEqual(row["open"], "1" if int(row["label"]) in open_ones else "0")

    def test_every_cut_gives_the_same_report(self):
        v = porous(seed=2)
        wanted = ["--threshold", "otsu", "--porosity", "--blobs", "--thickness", "--save", "thickness", "--clean", "open:1.5"]
        write_mha(self.folder / "v.mha", v)
        reports = []
        for words in self.cuts(["analyze", "v.mha", "-o", "r", *wanted]):
            self.analyze(v, *wanted, *words)
            reports.append({p.name: p.read_bytes() for p in self.report.iterdir()})
        self.assertEqual(reports[0], reports[1])
        self.assertEqual(reports[0], reports[2])

    def test_filters_by_size(self):
        v = porous(seed=3)
        labels, count = ndi.label(v.astype(float) <= 0.4, np.ones((3, 3, 3)))
        sizes = np.bincount(labels.ravel())[1:]
        result = self.analyze(v, "--threshold", "0.4", "--minimum-voxels", 30, "--maximum-voxels", 500)
        kept = (sizes >= 30) & (sizes <= 500)
        self.assertTrue(0 < kept.sum() < count)
        self.assertEqual(result["blobs"]["count"], kept.sum())
        self.assertEqual(result["blobs"]["left_out"]["count"], count - kept.sum())
        voxels = [int(r["voxels"]) for r in self.blobs()]
        self.assertEqual(voxels, sorted(sizes[kept].tolist(), reverse=True))
        found = read_mha(self.report / "labels.mha")
        np.testing.assert_array_equal(found > 0, np.isin(labels, np.flatnonzero(kept) + 1))

    def test_closed_blobs_alone(self):
        v = porous(seed=3)
        labels, count = ndi.label(v.astype(float) <= 0.4, np.ones((3, 3, 3)))
        inner = labels[1:-1, 1:-1, 1:-1]
        faces = labels.copy()
        faces[1:-1, 1:-1, 1:-1] = 0
        closed = np.setdiff1d(np.unique(inner), np.unique(faces)[1:])
        closed = closed[closed > 0]
        self.assertTrue(0 < len(closed) < count)
        every = self.analyze(v, "--threshold", "0.4")
        self.assertEqual((every["blobs"]["count"], every["blobs"]["open"]), (count, count - len(closed)))
        result = self.analyze(v, "--threshold", "0.4", "--closed")
        self.assertEqual((result["blobs"]["count"], result["blobs"]["open"]), (len(closed), 0))
        self.assertEqual(result["blobs"]["left_out"]["count"], count - len(closed))
        np.testing.assert_array_equal(read_mha(self.report / "labels.mha") > 0, np.isin(labels, closed))
        self.assertEqual(result["porosity"], every["porosity"])

    def test_parted_blobs(self):
        v = np.full((30, 30, 70), 200, np.uint8)
        z, y, x = np.indices(v.shape)
        for centre, radius in (((15, 15, 14), 9), ((15, 15, 30), 9), ((15, 15, 55), 8), ((3, 3, 66), 1)):
            v[(z - centre[0]) ** 2 + (y - centre[1]) ** 2 + (x - centre[2]) ** 2 <= radius ** 2] = 0
        whole = self.analyze(v, "--threshold", "100")
        self.assertEqual(whole["blobs"]["count"], 3)
        parted = self.analyze(v, "--threshold", "100", "--part", 1, "--minimum-voxels", 10, "--sort", "label")
        self.assertEqual(parted["blobs"]["count"], 3)
        self.assertEqual(parted["blobs"]["left_out"], {"count": 1, "voxels": 7})
        self.assertIsNone(parted["blobs"]["open"])
        labels = read_mha(self.report / "labels.mha")
        rows = self.blobs()
        self.assertEqual([int(r["voxels"]) for r in rows], [int((labels == int(r["label"])).sum()) for r in rows])
        self.assertEqual(set(np.unique(labels)), {0} | {int(r["label"]) for r in rows})
        self.assertNotEqual(labels[15, 15, 14], labels[15, 15, 30])

    def test_distances(self):
        v = porous(seed=4)
        dark = v.astype(float) <= 0.55
        for spacing in ((1, 1, 1), (0.25, 0.25, 0.25), (0.1, 0.13, 0.2)):
            self.analyze(v, "--threshold", "0.55", "--save", "distance", "--porosity", spacing=spacing)
            expected = ndi.distance_transform_edt(dark, spacing[::-1])
            np.testing.assert_allclose(read_mha(self.report / "distance.mha"), expected, rtol=1e-6, atol=1e-9)

    @unittest.skipIf(skimage is None, "python3-skimage is not installed: thresholds are NOT checked against it")
    def test_thresholds(self):
        v = np.where(ndi.gaussian_filter(np.random.default_rng(5).normal(size=SHAPE), 2) > 0.02, 0.8, 0.2)
        v = (v + np.random.default_rng(6).normal(scale=0.1, size=SHAPE)).astype(np.float32)
        bytes_ = np.clip(v * 100 + 60, 0, 255).astype(np.uint8)
        words = np.clip(v * 3000 + 900, 0, 65535).astype(np.uint16)
        phase = lambda: read_mha(self.report / "phase.mha") == 2
        for image, bins in ((v, 256), (bytes_, 256), (words, 256)):
            otsu = skimage.filters.threshold_otsu(image, nbins=bins)
            result = self.analyze(image, "--threshold", "otsu", "--bins", bins, "--phase", "bright", "--save", "phase", "--porosity")
            self.assertAlmostEqual(result["threshold"]["values"][0], otsu, delta=1e-6 * abs(otsu))
            np.testing.assert_array_equal(phase(), image > otsu)
        for image in (v, bytes_):
            levels = skimage.filters.threshold_multiotsu(image, classes=3, nbins=256)
            result = self.analyze(image, "--threshold", "multi-otsu:3", "--bins", 256, "--phase", 1, "--save", "phase", "--porosity")
            np.testing.assert_allclose(result["threshold"]["values"], levels, rtol=1e-6)
            np.testing.assert_array_equal(phase(), (image > levels[0]) & (image <= levels[1]))
        self.analyze(v, "--threshold", "hysteresis:0.4,0.7", "--phase", "bright", "--save", "phase", "--porosity")
        np.testing.assert_array_equal(phase(), skimage.filters.apply_hysteresis_threshold(v, 0.4, 0.7))
        self.analyze(v, "--threshold", "local:4,0.05", "--phase", "bright", "--save", "phase", "--porosity")
        mean = ndi.uniform_filter(v.astype(float), 9, mode="reflect")
        # Values are rounded to 24 bits: voxels that close to the mean may differ.
        sure = np.abs(v - (mean - 0.05)) > 1e-6
        np.testing.assert_array_equal(phase()[sure], (v > mean - 0.05)[sure])

    @unittest.skipIf(skimage is None, "python3-skimage is not installed: morphology is NOT checked against it")
    def test_morphology(self):
        v = porous(seed=7)
        dark = v.astype(float) <= 0.45
        erode = lambda b, s: ndi.binary_erosion(b, s, border_value=1)
        dilate = ndi.binary_dilation
        for step, element in (("2", skimage.morphology.ball(2)), ("3", skimage.morphology.ball(3)), ("-box", np.ones((3, 3, 3)))):
            text = (lambda name: f"{name}-box:1") if step == "-box" else (lambda name: f"{name}:{step}")
            for name, expected in (("erode", erode(dark, element)), ("dilate", dilate(dark, element)),
                                   ("open", dilate(erode(dark, element), element)),
                                   ("close", erode(dilate(dark, element), element))):
                self.analyze(v, "--threshold", "0.45", "--clean", text(name), "--save", "phase", "--porosity")
                np.testing.assert_array_equal(read_mha(self.report / "phase.mha") == 2, expected, text(name))
        self.analyze(v, "--threshold", "0.45", "--phase", "bright", "--clean", "fill-holes", "--save", "phase", "--porosity")
        np.testing.assert_array_equal(read_mha(self.report / "phase.mha") == 2, ndi.binary_fill_holes(~dark))

    def test_regions(self):
        v = porous(seed=8)
        z, y, x = np.indices(v.shape)
        mask = ((x + y) % 3 > 0).astype(np.uint8)
        write_mha(self.folder / "m.mha", mask)
        result = self.analyze(v, "--threshold", "0.45", "--box", "3,40,5,50,2,30", "--radius", "45", "--mask", "m.mha")
        inside = (x >= 3) & (x <= 40) & (y >= 5) & (y <= 50) & (z >= 2) & (z <= 30) & (x * x + y * y <= 45 * 45) & (mask > 0)
        self.assertEqual(result["inside_voxels"], int(inside.sum()))
        self.assertEqual(result["phase_voxels"], int((inside & (v.astype(float) <= 0.45)).sum()))
        share = read_mha(self.report / "porosity.mha")
        cell = result["porosity"]["cell_voxels"]
        part = tuple(slice(i * cell, (i + 1) * cell) for i in (1, 3, 2))
        self.assertAlmostEqual(share[1, 3, 2], (inside & (v.astype(float) <= 0.45))[part].sum() / inside[part].sum(), places=6)

    def test_scaled_integers_have_a_bin_for_each_value(self):
        stored = np.where(porous(seed=3) < 0.4, 100, 400) + np.random.default_rng(3).integers(-60, 60, SHAPE)
        dark = stored < 250
        thresholds = []
        for slope, offset in ((1, 0), (0.01, 0), (0.5, -7.3), (-0.003, 1.5), (1e5, 0), (1e-7, 0)):
            with self.subTest(slope=slope):
                words = ["--threshold", "multi-otsu:2"] if slope == 0.5 else []
                write_mha(self.folder / "v.mha", stored.astype(np.int16),
                          more=f"ElementToIntensityFunctionSlope = {slope}\nElementToIntensityFunctionOffset = {offset}\n")
                result = self.lepus_json("analyze", "v.mha", "--phase", "bright" if slope < 0 else "dark", *words)
                self.assertEqual(result["phase_voxels"], int(dark.sum()))
                thresholds.append((result["threshold"]["values"][0] - offset) / slope)
        self.assertEqual(thresholds[0], stored[dark].max())  # as it was, without a scale
        np.testing.assert_allclose(thresholds[1:3], stored[dark].max() + 0.5, atol=1e-3)
        levels = np.round((stored / 500 * 0.06) / 0.06 * 65535).astype(np.uint16)
        write_mha(self.folder / "u.mha", levels, more=f"ElementToIntensityFunctionSlope = {0.06 / 65535!r}\n"
                                                      "ElementToIntensityFunctionOffset = -0.01\n")
        self.assertEqual(self.lepus_json("analyze", "u.mha")["phase_voxels"], int(dark.sum()))

    def test_masks_lie_on_the_volume(self):
        v = porous((20, 20, 20), seed=4)
        mask = np.zeros(v.shape, np.uint8)
        mask[:, :7, :12] = 1
        grid = dict(spacing=(0.5, 0.5, 0.5), offset=(1, 2, 3))
        write_mha(self.folder / "v.mha", v, **grid)
        write_mha(self.folder / "m.mha", mask, **grid)
        masked = lambda name, **more: self.lepus_json("analyze", "v.mha", "--threshold", "0.45", "--mask", name, **more)
        expected = masked("m.mha")
        self.assertEqual(expected["phase_voxels"], int((v.astype(float) <= 0.45)[mask > 0].sum()))
        self.lepus("convert", "m.mha", "--axes", "z,y,x", "-o", "turned.mha")
        self.assertEqual(masked("turned.mha")["phase_voxels"], expected["phase_voxels"])
        np.save(self.folder / "bare.npy", mask)  # says nothing of a grid
        bare = masked("bare.npy")
        self.assertEqual(bare["phase_voxels"], expected["phase_voxels"])
        self.assertTrue(any("voxel by voxel" in w for w in bare["warnings"]))
        write_mha(self.folder / "sized.mha", mask, grid["spacing"], (0, 0, 0))  # nor this one of a place
        self.assertEqual(masked("sized.mha")["phase_voxels"], expected["phase_voxels"])
        write_mha(self.folder / "mirrored.mha", mask[:, :, ::-1], grid["spacing"], (1 + 19 * 0.5, 2, 3), "TransformMatrix = -1 0 0 0 1 0 0 0 1\n")
        write_mha(self.folder / "large.mha", mask, (0.6, 0.5, 0.5), grid["offset"])
        write_mha(self.folder / "beside.mha", mask, grid["spacing"], (1, 2, 3.5))
        for name in ("mirrored.mha", "large.mha", "beside.mha"):
            self.assert_error(self.lepus("analyze", "v.mha", "--mask", name, code=3), "input", "another grid", "--mask")

    def test_air_is_the_darkest_class_whatever_the_phase(self):
        z, y, x = np.indices((16, 40, 40))
        r = np.hypot(x - 19.5, y - 19.5)
        sample = r < 14
        v = sample.astype(np.float32)
        v[(x - 24) ** 2 + (y - 20) ** 2 + (z - 8) ** 2 < 9] = 0
        v[(x - 14) ** 2 + (y - 20) ** 2 + (z - 8) ** 2 < 9] = 3
        surrounded = v.copy()
        surrounded[r > 18] = np.nan
        surrounded[0, 0, 0] = np.inf
        for name, values in (("v.mha", v), ("nan.mha", surrounded)):
            write_mha(self.folder / name, values)
            for phase, low, high in (("dark", -1, 0.5), ("1", 0.5, 2), ("bright", 2, 4)):
                result = self.lepus_json("analyze", name, "--remove-air", "--threshold", "0.5,2", "--phase", phase)
                self.assertEqual(result["inside_voxels"], int(sample.sum()), (name, phase))
                self.assertEqual(result["phase_voxels"], int((sample & (v > low) & (v <= high)).sum()), (name, phase))
            for threshold in ("0.5", "hysteresis:0.4,0.6"):
                for phase in ("dark", "bright"):
                    result = self.lepus_json("analyze", name, "--remove-air", "--threshold", threshold, "--phase", phase)
                    self.assertEqual(result["inside_voxels"], int(sample.sum()), (name, threshold, phase))

    def test_a_cut_volume_is_as_thick_as_a_region(self):
        v = porous(seed=6)
        words = ["--threshold", "0.5", "--thickness"]
        write_mha(self.folder / "v.mha", v)
        write_mha(self.folder / "cut.mha", v[4:30, 6:40, 10:60])
        region = self.lepus_json("analyze", "v.mha", *words, "--box", "10,59,6,39,4,29")
        cut = self.lepus_json("analyze", "cut.mha", *words)
        for key in ("thickness", "walls"):
            self.assertEqual(region[key], cut[key])

    def test_noted_axes_are_followed(self):
        v = porous((20, 22, 24), seed=7)
        write_mha(self.folder / "v.mha", v, (0.5, 0.4, 0.3), (-5, -3, 2))
        self.lepus("convert", "v.mha", "--axes", "x,z,-y", "-o", "turned.mha")
        wanted = ["--threshold", "0.45", "--box", "-3,5,-2,4,3,6"]
        reports = []
        for name in ("v.mha", "turned.mha"):
            result = self.lepus_json("analyze", name, *wanted, "-o", "r", "--force")
            reports.append([result["phase_voxels"], result["voxel_mm"], (self.folder / "r/blobs.csv").read_text(), read_mha(self.folder / "r/labels.mha").tolist()])
        self.assertEqual(reports[0], reports[1])
        self.assertEqual(self.lepus_json("info", "r/labels.mha")["axes"], "x,y,z")
        self.assertEqual(self.lepus_json("analyze", "v.mha", "--against", "turned.mha")["against"]["rmse"], 0)
        self.assertEqual(self.lepus_json("analyze", "turned.mha", "--against", "v.mha")["against"]["voxels"], v.size)

    def test_not_finite_voxels_are_left_out_and_said(self):
        v = porous(seed=9)
        v[3, 4, 5:9] = np.nan
        v[7, 7, 7] = np.inf
        write_mha(self.folder / "v.mha", v)
        result = self.lepus_json("analyze", "v.mha", "--threshold", "0.45")
        self.assertEqual(result["not_finite"], 5)
        self.assertEqual(result["inside_voxels"], v.size - 5)
        self.assertEqual(result["phase_voxels"], int((v.astype(float) <= 0.45).sum()))
        self.assertTrue(any("not finite" in w for w in result["warnings"]))
        self.assert_error(self.lepus("analyze", "v.mha", "--threshold", "local:3,0", code=3), "input", "finite")

    def test_bad_input(self):
        v = porous((8, 9, 10))
        write_mha(self.folder / "v.mha", v)
        write_mha(self.folder / "small.mha", v[:4])
        write_mha(self.folder / "one.mha", np.full((4, 5, 6), 7, np.uint8))
        write_mha(self.folder / "nan.mha", np.full((4, 5, 6), np.nan, np.float32))
        block = np.zeros((8, 9, 10), np.uint8)
        block[1:-1, 1:-1, 1:-1] = 9
        block[4, 4, 4] = 0
        write_mha(self.folder / "block.mha", block)
        (self.folder / "empty.mha").write_text("ObjectType = Image\nNDims = 3\nDimSize = 0 0 0\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n")
        before = self.names()
        refused = lambda *words, code: self.lepus("analyze", *words, "-o", "r", code=code)
        self.assert_error(refused("v.mha", "--threshold", "-5", code=3), "input", "selects nothing", "0 to 1")
        self.assert_error(refused("v.mha", "--threshold", "5", code=3), "input", "selects everything")
        self.assert_error(refused("one.mha", code=3), "input", "no classes", "7")
        self.assert_error(refused("nan.mha", code=3), "input", "no voxel counts", "120 of 120")
        self.assert_error(refused("empty.mha", code=3), "input", "empty.mha")
        self.assert_error(refused("v.mha", "--box", "900,901,0,1,0,1", code=3), "input", "no voxel counts")
        self.assert_error(refused("v.mha", "--mask", "small.mha", code=3), "input", "another size")
        self.assert_error(refused("block.mha", "--remove-container", code=3), "input", "container")
        for words, needle in ((["--threshold", "otzu"], "otsu"), (["--threshold", "local:0"], "radius"),
                              (["--threshold", "hysteresis:2,1"], "LOW,HIGH"), (["--phase", "7"], "class 7"),
                              (["--phase", "grey"], "dark"), (["--clean", "opn:2"], "open:2"), (["--box", "1,2"], "six"),
                              (["--part", "-1"], "depth"), (["--save", "thickness"], "--thickness"), (["--seal", "2"], "--remove-air"),
                              (["--closed", "--part", "1"], "not known which are open"),
                              (["--minimum-voxels", "9", "--maximum-voxels", "3"], "not below it"),
                              (["--noise", "--remove-air"], "--remove-air"), (["--resolution", "--remove-container"], "--remove-container"),
                              (["--against", "v.mha", "--remove-air"], "--remove-air")):
            self.assert_error(refused("v.mha", *words, code=2), "usage", needle)
        self.assertEqual(self.names(), before, "something was left behind")
        self.lepus("analyze", "v.mha", "-o", "r")
        self.assert_error(refused("v.mha", code=6), "disk", "--force")
        self.lepus("analyze", "v.mha", "-o", "r", "--force")
        (self.folder / "mine").mkdir()
        (self.folder / "mine/thesis.tex").write_text("all of it")
        self.assert_error(self.lepus("analyze", "v.mha", "-o", "mine", "--force", code=6), "disk", "no report")

    def test_two_at_once_leave_one_whole_report(self):
        write_mha(self.folder / "v.mha", porous((60, 80, 90)))
        line = [PROGRAM, "analyze", "v.mha", "-o", "r", "--thickness", "--quiet"]
        runs = [subprocess.Popen(line, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        errors = [run.communicate(timeout=120)[1] for run in runs]
        codes = sorted(run.returncode for run in runs)
        self.assertEqual(codes, [0, 6], errors)
        self.assertEqual([n for n in self.names() if "partial" in n or "lock" in n], [])
        self.assertTrue((self.folder / "r/index.html").exists())

    def test_the_page_stands_alone(self):
        self.analyze(porous(seed=10), "--porosity", "--blobs", "--thickness")
        page = (self.report / "index.html").read_text()
        self.assertNotRegex(page, r"(src|href)=\"(?!data:)")
        self.assertEqual(len(re.findall(r"data:image/png;base64,", page)), 6)
        self.assertEqual(page.count("<svg"), 4)
        stored = json.loads((self.report / "analysis.json").read_text())
        self.assertEqual(stored["provenance"]["analyze"][0]["threshold"], "otsu")


@unittest.skipIf(np is None, "python3-numpy is not installed: spheres are NOT counted")
class Truth(ProgramCase):
    """A block with spheres apart, 6 to 24 voxels wide: made, scanned, reconstructed and analysed."""
    # Edge of the block in voxels, spheres; columns, rows, views, photons: the block's diagonal must be seen; photons for a noise
    # of a tenth of the contrast. "full", in a volume of 512^3, is meant for a GPU.
    FORMS = {"": (112, 58, 176, 150, 240, 9000), "long": (224, 464, 352, 300, 720, 12000), "full": (480, 5000, 704, 576, 720, 55000)}
    FORM = os.environ.get("LEPUS_ANALYZE", "")
    VOXELS, SPHERES, *DETECTOR = FORMS[FORM]
    GAP = 3.0  # voxels between spheres, and to the faces
    VALUE = 5.6 / VOXELS

    def phantom(self, voxel_mm):
        random = np.random.default_rng(3)
        edge = self.VOXELS
        radii = np.sort(random.uniform(3, 12, self.SPHERES))[::-1]
        centres = np.empty((0, 3))
        while len(centres) < len(radii):
            r = radii[len(centres)]
            c = random.uniform(-1, 1, 3) * (edge / 2 - r - self.GAP)
            if (np.linalg.norm(centres - c, axis=1) > radii[:len(centres)] + r + self.GAP).all():
                centres = np.vstack([centres, c])
        text = f'name = "spheres"\ncombine = "add"\n\n[[shape]]\nkind = "box"\nsize_mm = [{edge * voxel_mm}, {edge * voxel_mm}, {edge * voxel_mm}]\nvalue_per_mm = {self.VALUE}\n'
        for c, r in zip(centres, radii):
            c = (c * voxel_mm).tolist()
            text += f'\n[[shape]]\nkind = "sphere"\ncentre_mm = {c}\nradius_mm = {r * voxel_mm}\nvalue_per_mm = {-self.VALUE}\n'
        (self.folder / "spheres.toml").write_text(text)
        return radii, 4 / 3 * np.pi * (radii ** 3).sum() / edge ** 3

    def test_simulated_block(self):
        voxel = 0.1
        radii, porosity = self.phantom(voxel)
        self.assertTrue(0.08 < porosity < 0.12, porosity)
        # Magnification 1.25 makes a pixel a voxel. The material is thinner where the block is larger, so that it lets as much through.
        columns, rows, views, photons = self.DETECTOR
        axis = 800 * max(1, self.VOXELS / 224)  # the cone opens no wider for a larger block
        grid = ["--size", 512, "--voxel", voxel] if self.FORM == "full" else []
        self.lepus("simulate", "spheres.toml", "-o", "scan", "--columns", columns, "--rows", rows, "--pixel", 0.125,
                   "--source-axis", axis, "--source-detector", 1.25 * axis, "--views", views, "--photons", photons, "--subpixels", 1,
                   *grid, "--quiet", timeout=1800)
        backend = "auto" if self.FORM == "full" else "cpu"
        self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", "--backend", backend, "--quiet", timeout=1800)
        v, truth = read_mha(self.folder / "v.mha"), read_mha(self.folder / "scan/truth.mha")
        contrast = self.VALUE
        noise = (v - truth)[ndi.binary_erosion(truth > 0.99 * contrast, iterations=3)].std() / contrast
        self.assertTrue(0.08 < noise < 0.13, f"the noise is {noise:.3f} of the contrast")
        # The spheres are closed pores. At the upper and lower face, where a circular orbit does not see enough, pits are sealed to open ones.
        words = ["--threshold", "otsu", "--remove-air", "--seal", 3, "--closed", "--minimum-voxels", 20, "--sort", "label"]
        for name in ("scan/truth.mha", "v.mha"):
            result = self.lepus_json("analyze", name, "-o", "r", "--force", *words)
            print(f"{name}: porosity {100 * result['porosity']['total']:.3f} % (truth {100 * porosity:.3f} %), "
                  f"{result['blobs']['count']} blobs of {self.SPHERES}, noise {noise:.3f}")
            self.assertLess(abs(result["porosity"]["total"] - porosity), 0.002)
            self.assertLessEqual(abs(result["blobs"]["count"] - self.SPHERES), 0.02 * self.SPHERES)
            with open(self.folder / "r/blobs.csv", newline="") as file:
                found = np.sort([float(r["diameter_mm"]) / voxel for r in csv.DictReader(file)])
            self.assertLess(abs(np.median(found) - np.median(2 * radii)), 0.5)
        # The voxelised truth itself: exactly what it holds.
        dark = truth <= result["threshold"]["values"][0]
        exact = self.lepus_json("analyze", "scan/truth.mha", "--threshold", repr(float(result["threshold"]["values"][0])), "--remove-air")
        labels, count = ndi.label(dark, np.ones((3, 3, 3)))
        air = labels[0, 0, 0]
        self.assertEqual(exact["blobs"]["count"], count - 1)
        self.assertEqual(exact["phase_voxels"], int((dark & (labels != air)).sum()))
        self.assertEqual(exact["inside_voxels"], int((labels != air).sum()))


if __name__ == "__main__":
    unittest.main()
