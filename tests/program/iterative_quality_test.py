# SPDX-License-Identifier: Apache-2.0
"""How good iterative methods are: simulated scans with few views, noise, a short arc, truncation and a helix, beside FDK; and
RTK's own gates on its set-up. LEPUS_ITERATIVE=full runs the sizes of docs/iterative.md (128 voxels a side, minutes on a GPU)
and prints its tables."""
import os
import unittest

import numpy

from program_case import ProgramCase

FULL = os.environ.get("LEPUS_ITERATIVE") == "full"
BACKEND = os.environ.get("LEPUS_BACKEND", "cpu")
SIDE = 128 if FULL else 24
BEADS = ["--beads", "8", "--bead-radius", "0.08"] if FULL else ["--beads", "5", "--bead-radius", "0.12"]


def decibels(made, truth):
    """Peak signal to noise: the peak is the truth's largest value."""
    return 20 * numpy.log10(truth.max() / numpy.sqrt(numpy.mean((made - truth) ** 2)))


class QualityCase(ProgramCase):
    def scan(self, name, views, *more, side=SIDE, phantom="beads", pixels_a_voxel=1):
        """Beads in a cylinder: piecewise constant."""
        pixel = 2.0 * 100 / side / pixels_a_voxel  # twice the voxel, at twice the distance
        columns = [] if "--columns" in more else ["--columns", side * 3 // 2 * pixels_a_voxel]
        self.lepus("simulate", phantom, "-o", name, "--views", views, *columns, "--rows", side * 5 // 4 * pixels_a_voxel,
                   "--pixel", pixel, "--size", side, "--voxel", 100 / side, "--phantom-size", 80, *(BEADS if phantom == "beads" else []), "--quiet", *more)
        return self.volume(f"{name}/truth.mha")

    def volume(self, name):
        raw = (self.folder / name).read_bytes()
        mark = b"ElementDataFile = LOCAL\n"
        return numpy.frombuffer(raw[raw.index(mark) + len(mark):], "<f4").astype(float)

    def made(self, scan, method, *words, timeout=1800):
        words = () if method == "fdk" else ("--method", method, *words)
        result = self.lepus_json("reconstruct", f"{scan}/scan.toml", "-o", "v.mha", "--force", "--backend", BACKEND,
                                 "--precision", "exact", *words, timeout=timeout)
        return self.volume("v.mha"), result

    def table(self, title, scan, truth, rows):
        figures = {}
        print(f"\n{title}\n\n| method | PSNR dB | RMS error 1/mm | residual | seconds |\n|---|---|---|---|---|")
        for label, method, *words in rows:
            voxels, result = self.made(scan, method, *words)
            figures[label] = decibels(voxels, truth)
            residuals = result["provenance"].get("method", {}).get("residuals", [])
            rms = numpy.sqrt(numpy.mean((voxels - truth) ** 2))
            print(f"| {label} | {figures[label]:.1f} | {rms:.2e} | {residuals[-1] if residuals else float('nan'):.4f} "
                  f"| {result['seconds']:.1f} |", flush=True)
        return figures


class Quality(QualityCase):
    def test_few_views(self):
        truth = self.scan("few", 60 if FULL else 12, "--content", "line-integrals")
        rows = [("FDK", "fdk"), ("CGLS, 15", "cgls", "--iterations", 15),
                ("FISTA-TV, 100", "fista-tv", "--iterations", 100, "--strength", 0.001)]
        if FULL:
            rows += [("SIRT, 200", "sirt", "--iterations", 200),
                     ("OS with momentum, 10", "os-momentum", "--iterations", 10, "--subsets", 12),
                     ("LSQR, 15", "lsqr", "--iterations", 15), ("ramp-CGLS, 5", "ramp-cgls", "--iterations", 5),
                     ("OS-SART, 10", "os-sart", "--iterations", 10, "--subsets", 10),
                     ("OSEM, 10", "osem", "--iterations", 10, "--subsets", 10),
                     ("iterative FDK, 5", "iterative-fdk", "--iterations", 5),
                     ("Chambolle-Pock, 300", "chambolle-pock", "--iterations", 300, "--strength", 0.0005),
                     ("OS with momentum and TV, 10", "os-momentum", "--iterations", 10, "--subsets", 10, "--strength", 0.0005)]
        figures = self.table("few views", "few", truth, rows)
        # 60 views of pixels as wide as a voxel are nearly enough for FDK in 128 voxels: 2.4 dB there, 3.4 of 40 views, 4.3 of 30.
        self.assertGreater(figures["CGLS, 15"], figures["FDK"] + (2 if FULL else 3))
        self.assertGreater(figures["FISTA-TV, 100"], figures["CGLS, 15"] + 3)

    def test_few_views_of_fine_pixels(self):
        """Pixels of half a voxel: FDK's ramp then ends at twice the frequency that voxels have."""
        truth = self.scan("fine", 60 if FULL else 12, "--content", "line-integrals", pixels_a_voxel=2)
        figures = self.table("few views of fine pixels", "fine", truth, [
            ("FDK", "fdk"), ("CGLS, 15", "cgls", "--iterations", 15),
            ("FISTA-TV, 100", "fista-tv", "--iterations", 100, "--strength", 0.001)])
        self.assertGreater(figures["CGLS, 15"], figures["FDK"] + 3)
        self.assertGreater(figures["FISTA-TV, 100"], figures["CGLS, 15"] + 3)

    @unittest.skipUnless(FULL, "as test_few_views, but for the size: LEPUS_ITERATIVE=full")
    def test_fewer_views(self):
        truth = self.scan("fewer", 30, "--content", "line-integrals")
        figures = self.table("30 views", "fewer", truth, [("FDK", "fdk"), ("CGLS, 15", "cgls", "--iterations", 15)])
        self.assertGreater(figures["CGLS, 15"], figures["FDK"] + 3)

    def test_momentum(self):
        """Ten passes leave less than two hundred iterations of SIRT."""
        self.scan("few", 60 if FULL else 30, "--content", "line-integrals")
        left = {method: self.made("few", method, *words)[1]["provenance"]["method"]["residuals"][-1]
                for method, words in (("os-momentum", ["--iterations", 10, "--subsets", 12 if FULL else 5]),
                                      ("sirt", ["--iterations", 200]))}
        print("\nresidual after ten passes and after 200 iterations of SIRT:", left)
        self.assertLess(left["os-momentum"], left["sirt"])

    def test_noise(self):
        truth = self.scan("noise", 180 if FULL else 24, "--photons", 1000, phantom="shepp-logan-modified")
        figures = self.table("noise", "noise", truth, [
            ("FDK", "fdk"), ("CGLS, 10", "cgls", "--iterations", 10),
            ("CGLS with weights, 10", "cgls", "--iterations", 10, "--weights", "counts"),
            ("FISTA-TV, 60", "fista-tv", "--iterations", 60, "--strength", 0.01),
            ("FISTA-TV, 60, strength auto", "fista-tv", "--iterations", 60, "--strength", "auto")])
        self.assertGreater(figures["FISTA-TV, 60"], max(figures["FDK"], figures["CGLS, 10"]) + 3)
        # The discrepancy principle smooths too much rather than too little.
        self.assertGreater(figures["FISTA-TV, 60, strength auto"], max(figures["FDK"], figures["CGLS, 10"]) + 1.5)

    def test_limited_angle(self):
        truth = self.scan("arc", 120 if FULL else 24, "--arc", 120, "--content", "line-integrals")
        figures = self.table("120 degrees", "arc", truth, [
            ("FDK", "fdk"), ("CGLS, 20", "cgls", "--iterations", 20),
            ("FISTA-TV", "fista-tv", "--iterations", 200 if FULL else 100, "--strength", 0.0005)])
        self.assertGreater(figures["CGLS, 20"], figures["FDK"])
        self.assertGreater(figures["FISTA-TV"], figures["CGLS, 20"] + 3)

    def test_truncation(self):
        """A ball of 80 mm in a field of view of 67: what is wrong beside a constant, which no method can know."""
        truth = self.scan("cut", 120 if FULL else 24, "--columns", SIDE * 2 // 3, "--content", "line-integrals", phantom="ball")
        side = SIDE * 2 // 3 // 2 * 2
        cut = (SIDE - side) // 2
        scan = self.folder / "cut" / "scan.toml"
        text = scan.read_text().replace("[volume]\n", "[volume]\nmask = false\n").replace(
            f"size = [{SIDE}, {SIDE}, {SIDE}]", f"size = [{side}, {side}, {SIDE}]")

        def inner(volume):
            return volume.reshape(SIDE, SIDE, SIDE)[:, cut:cut + side, cut:cut + side].ravel()
        errors = {}
        for name, keys in (("FDK", None), ("SIRT, 60", 'name = "sirt"\n'),
                           ("SIRT, 60, extended", 'name = "sirt"\nextend = [0.1, 0.1, 0.0]\n'),
                           ("FISTA-TV, 60, extended", 'name = "fista-tv"\nstrength = 0.0005\nextend = [0.1, 0.1, 0.0]\n')):
            scan.write_text(text + ("" if keys is None else f"\n[method]\niterations = 60\n{keys}"))
            self.lepus("reconstruct", scan, "-o", "v.mha", "--force", "--backend", BACKEND, "--quiet", timeout=1800)
            wrong = (self.volume("v.mha") - inner(truth))[inner(self.inside(SIDE, 0.28))] / truth.max()
            errors[name] = wrong.std()
            print(f"\ntruncation, {name}: constant {wrong.mean():.4f}, the rest {wrong.std():.4f} of the ball", flush=True)
        self.assertLess(errors["SIRT, 60, extended"], 0.7 * errors["SIRT, 60"])
        self.assertLess(errors["FISTA-TV, 60, extended"], errors["SIRT, 60, extended"])
        self.assertLess(errors["FISTA-TV, 60, extended"], errors["FDK"])

    def inside(self, side, radius):
        at = (numpy.arange(side) - (side - 1) / 2) / side
        z, y, x = numpy.meshgrid(at, at, at, indexing="ij")
        return ((numpy.hypot(x, y) < radius) & (abs(z) < 0.25)).ravel()

    def test_helix(self):
        """Two turns; a circle at the same detector height sees less than half of it."""
        words = ["--views", "90", "--arc", "720", "--columns", "40", "--rows", "16", "--pixel", "6.25", "--size", "32",
                 "--voxel", "3.125", "--phantom-size", "60", "--content", "line-integrals", "--quiet"]
        self.lepus("simulate", "shepp-logan-modified", "-o", "helix", *words, "--helix-pitch", "40")
        truth = self.volume("helix/truth.mha")
        self.assertIn("pitch_mm = 40", (self.folder / "helix" / "scan.toml").read_text())
        voxels, _ = self.made("helix", "os-sart", "--iterations", 10, "--subsets", 9)
        self.assertGreater(decibels(voxels, truth), 22)
        result = self.lepus("reconstruct", "helix/scan.toml", "-o", "f.mha", code=7)
        self.assert_error(result, "unsupported", "helical")
        for words in (["iterative-fdk"], ["sirt", "--start", "fdk"]):
            result = self.lepus("reconstruct", "helix/scan.toml", "-o", "f.mha", "--iterations", 1, "--method", *words, code=7)
            self.assert_error(result, "unsupported", "helical")
        # The same frames without the pitch are nonsense.
        scan = self.folder / "helix" / "scan.toml"
        scan.write_text("\n".join(line for line in scan.read_text().splitlines() if not line.startswith("pitch_mm")) + "\n")
        wrong, _ = self.made("helix", "os-sart", "--iterations", 10, "--subsets", 9)
        self.assertLess(decibels(wrong, truth), decibels(voxels, truth) - 5)


class RtkGates(QualityCase):
    """RTK's functional tests (rtksarttest, rtkosemtest, rtkconjugategradientreconstructiontest, rtkadmmtotalvariationtest):
    a ball of radius 90 mm and density 1, 64 voxels of 4 mm a side, 64 x 64 pixels of 8 mm, source 600 mm from the axis and
    1200 mm from the detector, 180 views (90 for total variation); mean absolute error and PSNR with a peak of 2. Iterative FDK:
    its Shepp-Logan phantom of scale 116, 128 voxels of 2 mm, 128 x 128 pixels of 4 mm, three iterations."""

    def judge(self, voxels, truth, error, psnr):
        absolute = numpy.mean(numpy.abs(voxels - truth))
        made = 20 * numpy.log10(2) - 10 * numpy.log10(numpy.mean((voxels - truth) ** 2))
        print(f"\nmean absolute error {absolute:.4f} (RTK {error}), PSNR {made:.1f} dB (RTK {psnr})", flush=True)
        self.assertLess(absolute, error)
        self.assertGreater(made, psnr)

    def ball(self, views=180):
        self.lepus("simulate", "ball", "-o", "ball", "--phantom-size", 180, "--value", 1, "--source-axis", 600,
                   "--source-detector", 1200, "--columns", 64, "--rows", 64, "--pixel", 8, "--views", views, "--size", 64,
                   "--voxel", 4, "--content", "line-integrals", "--subpixels", 1, "--truth-samples", 1, "--quiet")
        scan = self.folder / "ball" / "scan.toml"
        scan.write_text(scan.read_text().replace("[volume]\n", "[volume]\nmask = false\n"))
        return self.volume("ball/truth.mha")

    def test_sart(self):
        truth = self.ball()
        scan = self.folder / "ball" / "scan.toml"
        scan.write_text(scan.read_text() + "\n[method]\nrelaxation = 0.5\n")
        self.judge(self.made("ball", "sart", "--iterations", 1)[0], truth, 0.032, 28.6)

    def test_expectation_maximisation(self):
        truth = self.ball()
        self.judge(self.made("ball", "mlem", "--iterations", 7)[0], truth, 0.032, 25)
        self.judge(self.made("ball", "osem", "--iterations", 4, "--subsets", 4)[0], truth, 0.032, 25)

    def test_conjugate_gradients(self):
        truth = self.ball()
        self.judge(self.made("ball", "cgls", "--iterations", 5)[0], truth, 0.08, 23)

    def test_total_variation(self):
        truth = self.ball(90)
        self.judge(self.made("ball", "os-momentum", "--iterations", 6, "--subsets", 6, "--strength", 0.0005)[0], truth, 0.05, 23)

    @unittest.skipUnless(FULL, "LEPUS_ITERATIVE=full runs it")
    def test_iterative_fdk(self):
        self.lepus("simulate", "shepp-logan-rtk", "-o", "head", "--phantom-size", 232, "--value", 1, "--source-axis", 600,
                   "--source-detector", 1200, "--columns", 128, "--rows", 128, "--pixel", 4, "--views", 180, "--size", 128,
                   "--voxel", 2, "--content", "line-integrals", "--subpixels", 1, "--truth-samples", 1, "--shift-u", 20,
                   "--axis-offset", 20, "--quiet")
        truth = self.volume("head/truth.mha")
        # FDK, and twice 0.3 of FDK of what is left: RTK's three iterations.
        scan = self.folder / "head" / "scan.toml"
        scan.write_text(scan.read_text() + '\n[method]\nrelaxation = 0.3\nstart = "fdk"\n')
        made = self.made("head", "iterative-fdk", "--iterations", 2)[0]
        # As RTK does, nothing where not all views look: beyond the cones from the source's circle over the detector's edges.
        at = 2 * (numpy.arange(128) - 63.5)
        z, y, x = numpy.meshgrid(at, at, at, indexing="ij")
        made[(abs(z) > 254 * (600 - numpy.hypot(x, y)) / 1200).ravel()] = 0
        self.judge(made, truth, 0.027, 27)


if __name__ == "__main__":
    unittest.main()
