# SPDX-License-Identifier: Apache-2.0
"""lepus analyze, what it measures without a phase: noise against NumPy and known spectra, resolution against known blurs,
registration against known motions, distances from surfaces of known offsets."""
import unittest

from analyze_test import np, read_mha, write_mha
from program_case import ProgramCase

if np is not None:
    import scipy.ndimage as ndi


def radial_spectrum(block, step):
    """The power of noise in shells of |f|, by the definition: 1 / (n step) wide, up to 1 / (2 step)."""
    n = block.shape[0]
    i = np.arange(n) - (n - 1) / 2
    squares = (i ** 2).sum() * n * n
    block = block - block.mean()
    block = block - sum(i.reshape(s) * (block * i.reshape(s)).sum() / squares for s in ((-1, 1, 1), (1, -1, 1), (1, 1, -1)))
    power = np.abs(np.fft.fftn(block)) ** 2 * step ** 3 / n ** 3
    k = np.fft.fftfreq(n, 1 / n)
    shell = np.floor(np.sqrt(k[:, None, None] ** 2 + k[:, None] ** 2 + k ** 2) + 0.5).astype(int)
    return np.array([power[shell == s].mean() for s in range(1, n // 2 + 1)])


@unittest.skipIf(np is None, "python3-numpy and python3-scipy are not installed: noise is NOT checked against them")
class Noise(ProgramCase):
    def test_white_noise_of_known_spread(self):
        step, spread = 0.5, 3.0
        v = np.random.default_rng(1).normal(100, spread, (40, 48, 56)).astype(np.float32)
        write_mha(self.folder / "v.mha", v, (step,) * 3)
        noise = self.lepus_json("analyze", "v.mha", "--noise-box", "0,27.5,0,23.5,0,19.5")["noise"]
        self.assertEqual(noise["box_voxels"], [0, 56, 0, 48, 0, 40])
        self.assertAlmostEqual(noise["mean"], v.astype(float).mean(), delta=1e-5)
        self.assertAlmostEqual(noise["standard_deviation"], v.astype(float).std(), delta=1e-5)
        # Flat, spread^2 times a voxel's volume; a shell of many coefficients, chi-squared distributed, is that exact.
        power = np.array(noise["spectrum"]["power_mm3"]) / (spread ** 2 * step ** 3)
        k = np.arange(1, len(power) + 1)
        self.assertEqual(len(power), 20)
        np.testing.assert_array_less(np.abs(power - 1)[1:], 5 / np.sqrt(2 * np.pi * k[1:] ** 2))
        np.testing.assert_allclose(noise["spectrum"]["per_mm"], k / (40 * step), rtol=1e-12)

    def test_coloured_noise_as_numpy_has_it(self):
        step, n = 0.25, 24
        v = ndi.gaussian_filter(np.random.default_rng(2).normal(size=(n, n, n)), 1.2, mode="wrap").astype(np.float32)
        write_mha(self.folder / "v.mha", v, (step,) * 3)
        noise = self.lepus_json("analyze", "v.mha", "--noise-box", "-1,99,-1,99,-1,99")["noise"]
        self.assertEqual(noise["spectrum"]["blocks"], 1)
        np.testing.assert_allclose(noise["spectrum"]["power_mm3"], radial_spectrum(v.astype(float), step), rtol=1e-6, atol=1e-12)

    def test_a_box_outside_the_region(self):
        v = np.random.default_rng(5).normal(1, 0.1, (30, 32, 36)).astype(np.float32)
        v[:, :, :18] += 4
        write_mha(self.folder / "v.mha", v)
        noise = self.lepus_json("analyze", "v.mha", "--noise-box", "20,35,5,25,5,25", "--box", "0,16,0,31,0,29")["noise"]
        part = v[5:26, 5:26, 20:36].astype(float)
        self.assertAlmostEqual(noise["mean"], part.mean(), delta=1e-6)
        self.assertAlmostEqual(noise["standard_deviation"], part.std(), delta=1e-6)

    def test_known_colour(self):
        step, sigma = 1.0, 1.0
        v = ndi.gaussian_filter(np.random.default_rng(3).normal(size=(96, 96, 96)), sigma, mode="wrap").astype(np.float32)
        write_mha(self.folder / "v.mha", v)
        spectrum = self.lepus_json("analyze", "v.mha", "--noise-box", "0,95,0,95,0,95")["noise"]["spectrum"]
        self.assertEqual((spectrum["blocks"], spectrum["block_voxels"]), (8, 64))
        f = np.array(spectrum["per_mm"])
        # Gaussian noise smoothed by a Gaussian: exp(-4 pi^2 sigma^2 f^2). Blocks without a window leak, where little is.
        known = np.exp(-4 * np.pi ** 2 * sigma ** 2 * f ** 2)
        use = (f > 0.03) & (f < 0.25)
        np.testing.assert_allclose(np.array(spectrum["power_mm3"])[use], known[use], rtol=0.12)

    def test_the_flat_cube_is_found(self):
        random = np.random.default_rng(4)
        v = np.zeros((48, 56, 64), np.float32)
        v[4:44, 4:52, 4:60] = 1 + random.normal(scale=0.08, size=(40, 48, 56))
        v[24:36, 24:36, 36:48] = 1 + random.normal(scale=0.02, size=(12, 12, 12))  # flatter
        v[8:14, 8:14, 8:14] = 0.2
        write_mha(self.folder / "v.mha", v)
        result = self.lepus_json("analyze", "v.mha", "--noise", "-o", "r")
        noise = result["noise"]
        self.assertEqual(noise["box_voxels"], [36, 48, 24, 36, 24, 36])
        self.assertTrue(noise["found"])
        self.assertAlmostEqual(noise["standard_deviation"], 0.02, delta=0.001)
        self.assertAlmostEqual(noise["contrast_to_noise"], 1 / 0.02, delta=4)
        self.assertNotIn("porosity", result)
        self.assertIn("Noise power", (self.folder / "r/index.html").read_text())
        self.assertEqual(self.names(self.folder / "r"), ["analysis.json", "index.html"])

    def test_the_cut_does_not_matter(self):
        v = np.random.default_rng(5).normal(size=(70, 72, 90)).astype(np.float32)
        write_mha(self.folder / "v.mha", v)
        box = ["--noise-box", "0,89,0,71,0,69"]
        wanted = ["analyze", "v.mha", *box, "--noise"]
        runs = [self.lepus(*wanted, "--json", *words).stdout for words in self.cuts(wanted)]
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(runs[0], runs[2])

    def test_bad_input(self):
        v = np.random.default_rng(6).normal(size=(12, 12, 12)).astype(np.float32)
        write_mha(self.folder / "v.mha", v)
        v[3, 3, 3] = np.nan
        write_mha(self.folder / "nan.mha", v)
        write_mha(self.folder / "thin.mha", v[:3])
        self.assert_error(self.lepus("analyze", "v.mha", "--noise-box", "0,5,0,11,0,11", code=3), "input", "too small", "along x")
        self.assert_error(self.lepus("analyze", "v.mha", "--noise-box", "90,99,0,11,0,11", code=3), "input", "too small")
        self.assert_error(self.lepus("analyze", "v.mha", "--noise-box", "1,2,3", code=2), "usage", "six numbers")
        self.assert_error(self.lepus("analyze", "nan.mha", "--noise-box", "0,11,0,11,0,11", code=3), "input", "not finite")
        self.assert_error(self.lepus("analyze", "thin.mha", "--noise", code=3), "input", "--noise-box")


@unittest.skipIf(np is None, "python3-numpy and python3-scipy are not installed: the resolution is NOT checked against them")
class Resolution(ProgramCase):
    def cylinder(self, shape, centre, radius, sigma, tilt=(0, 0), value=1.0):
        """A cylinder whose edge is a step smoothed by a Gaussian, in voxels: its MTF is exp(-2 pi^2 sigma^2 f^2)."""
        from scipy.special import erf
        z, y, x = np.indices(shape)
        dz = z - (shape[0] - 1) / 2
        direction = np.array([*tilt, 1]) / np.linalg.norm([*tilt, 1])
        p = np.stack([x - centre[0], y - centre[1], dz])
        r = np.linalg.norm(np.cross(p, direction, axisa=0), axis=-1)
        return value * (0.5 + 0.5 * erf((radius - r) / (np.sqrt(2) * sigma)))

    def check(self, v, sigma, step, *words, delta=0.01):
        write_mha(self.folder / "v.mha", v.astype(np.float32), (step,) * 3)
        r = self.lepus_json("analyze", "v.mha", "--resolution", *words)["resolution"]
        f = np.array(r["mtf"]["per_mm"])
        known = np.exp(-2 * np.pi ** 2 * (sigma * step) ** 2 * f ** 2)
        np.testing.assert_allclose(r["mtf"]["transfer"], known, atol=delta)
        for share, key in ((0.5, "mtf_50_per_mm"), (0.1, "mtf_10_per_mm")):
            at = np.sqrt(-np.log(share) / 2) / (np.pi * sigma * step)
            self.assertLess(abs(r[key] - at), 3 * delta * at, key)
        return r

    def test_known_blur(self):
        for sigma, tilt in ((0.8, (0, 0)), (1.5, (0.02, -0.05))):
            r = self.check(self.cylinder((24, 90, 96), (47.3, 44.6), 30.2, sigma, tilt), sigma, 0.1)
            self.assertTrue(r["found"])
            self.assertAlmostEqual(r["cylinder"]["radius_mm"], 3.02, delta=0.005)
            np.testing.assert_allclose(r["cylinder"]["point_mm"][:2], [4.73, 4.46], atol=0.002)
            np.testing.assert_allclose(r["cylinder"]["direction"][:2], np.array(tilt) / np.linalg.norm([*tilt, 1]), atol=2e-3)
            self.assertAlmostEqual(r["inner"], 1, delta=1e-3)
            self.assertAlmostEqual(r["outer"], 0, delta=1e-3)

    def test_a_disc_blurred_by_scipy(self):
        fine, sigma = 5, 1.0
        i = (np.arange(72 * fine) - 36 * fine) / fine
        disc = ((i[:, None] - 0.37) ** 2 + (i + 0.21) ** 2 <= 25.4 ** 2).astype(float)
        disc = ndi.gaussian_filter(disc, sigma * fine)[fine // 2::fine, fine // 2::fine]
        self.check(np.repeat(disc[None], 12, axis=0), sigma, 0.2)

    def test_noise_pores_and_others_in_view(self):
        random = np.random.default_rng(1)
        v = self.cylinder((40, 80, 100), (40.4, 41.3), 28, 1.2)
        z, y, x = np.indices(v.shape)
        v[(x - 38) ** 2 + (y - 40) ** 2 + (z - 20) ** 2 < 36] = 0                     # a pore
        v[(x - 92) ** 2 + (y - 40) ** 2 < 16] = 1                                   # another, smaller cylinder
        self.check(v + random.normal(scale=0.05, size=v.shape), 1.2, 0.1, delta=0.03)

    def test_a_given_bore(self):
        v = 1 - self.cylinder((16, 80, 80), (38.5, 41.2), 15.5, 1.1)
        r = self.check(v, 1.1, 0.1, "--cylinder", "4,4,1.7", "--box", "0,8,0,8,0.15,1.25")
        self.assertFalse(r["found"])
        self.assertEqual(r["cylinder"]["slices"], [2, 13])
        self.assertAlmostEqual(r["cylinder"]["radius_mm"], 1.55, delta=0.003)

    def test_the_edge_outside_the_region(self):
        v = self.cylinder((16, 80, 80), (39.3, 40.2), 20, 1.0)
        given = ["--cylinder", "3.93,4.02,2", "--box", "3,5,3,5,0,2"]
        r = self.check(v, 1.0, 0.1, *given, "--threshold", "0.5")
        self.assertAlmostEqual(r["cylinder"]["radius_mm"], 2, delta=0.005)
        # Otsu's threshold of what is inside alone is not that of the edge.
        self.assert_error(self.lepus("analyze", "v.mha", "--resolution", *given, code=3), "input", "threshold", "--box")

    def test_the_cut_does_not_matter_and_the_page_shows_it(self):
        write_mha(self.folder / "v.mha", self.cylinder((20, 60, 64), (30, 31), 20, 1.0).astype(np.float32))
        wanted, runs = ["analyze", "v.mha", "--resolution", "-o", "r", "--force"], []
        for words in self.cuts(wanted):
            self.lepus(*wanted, *words)
            runs.append({p.name: p.read_bytes() for p in (self.folder / "r").iterdir()})
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(runs[0], runs[2])
        self.assertIn("Modulation transfer", runs[0]["index.html"].decode())

    def test_bad_input(self):
        z, y, x = np.indices((16, 40, 40))
        write_mha(self.folder / "box.mha", ((abs(x - 20) < 14) & (abs(y - 20) < 9)).astype(np.uint8))
        write_mha(self.folder / "thin.mha", ((x - 20) ** 2 + (y - 20) ** 2 < 9).astype(np.uint8))
        self.assert_error(self.lepus("analyze", "box.mha", "--resolution", code=3), "input", "no cylinder")
        self.assert_error(self.lepus("analyze", "thin.mha", "--resolution", code=3), "input", "too small")
        self.assert_error(self.lepus("analyze", "box.mha", "--cylinder", "5,5,2", code=3), "input", "--cylinder")
        self.assert_error(self.lepus("analyze", "box.mha", "--cylinder", "5,5", code=2), "usage", "three numbers")


@unittest.skipIf(np is None, "python3-numpy and python3-scipy are not installed: registration is NOT checked against them")
class Registration(ProgramCase):
    STEP = 0.5

    def thing(self, shape=(56, 64, 72), seed=1):
        """Smooth and without symmetry, on a background."""
        v = ndi.gaussian_filter(np.random.default_rng(seed).normal(size=shape), 2.5)
        z, y, x = [(i - (n - 1) / 2) / n for i, n in zip(np.indices(shape), shape)]
        mask = 1 / (1 + np.exp(60 * (np.sqrt((x / 0.9) ** 2 + (y / 0.7) ** 2 + z ** 2) - 0.3)))
        return (1 + v / v.std() * 0.2) * mask

    def moved(self, v, degrees, shift):
        """`v` turned about its middle (axis and angle as one vector, x y z) and shifted by voxels: where the value of a voxel
        of v is found is the motion lepus is asked for."""
        from scipy.spatial.transform import Rotation
        rotation = Rotation.from_rotvec(np.radians(degrees)).as_matrix()[::-1, ::-1]  # of z, y, x
        middle = (np.array(v.shape) - 1) / 2
        back = rotation.T
        offset = middle - back @ (middle + np.array(shift)[::-1])
        return ndi.affine_transform(v, back, offset, order=5, mode="nearest")

    def check(self, degrees, shift, v=None, noise=0.0, gain=1.0):
        v = self.thing() if v is None else v
        random = np.random.default_rng(2)
        w = gain * self.moved(v, degrees, shift)
        for name, values in (("a.mha", v), ("b.mha", w)):
            write_mha(self.folder / name, (values + random.normal(scale=noise, size=v.shape)).astype(np.float32), (self.STEP,) * 3)
        result = self.lepus_json("analyze", "a.mha", "--against", "b.mha", "--register", "-o", "r", "--force", "--save", "registered")
        found = result["against"]["registration"]
        matrix = np.array(found["matrix"]).reshape(3, 3)
        from scipy.spatial.transform import Rotation
        off = Rotation.from_matrix(matrix.T @ Rotation.from_rotvec(np.radians(degrees)).as_matrix()).magnitude()
        self.assertLess(np.degrees(off), 0.05)
        # Where the volume's middle goes.
        middle = (np.array(v.shape[::-1]) - 1) / 2 * self.STEP
        goes = matrix @ (middle - found["centre_mm"]) + found["centre_mm"] + found["shift_mm"]
        self.assertLess(np.abs((goes - middle) / self.STEP - shift).max(), 0.1)
        return result

    def test_known_motions(self):
        for degrees, shift in (((0, 0, 0), (0, 0, 0)), ((2.0, -1.5, 6.0), (2.3, -1.7, 0.6)), ((0, 0, 95), (-3.4, 2.2, 1.1))):
            with self.subTest(degrees=degrees):
                result = self.check(degrees, shift)
                self.assertLess(result["against"]["rmse"], 0.01)
                registered, first = read_mha(self.folder / "r/registered.mha"), read_mha(self.folder / "a.mha")
                use = np.isfinite(registered)
                self.assertEqual(result["against"]["voxels"], int(use.sum()))
                self.assertAlmostEqual(result["against"]["rmse"], np.sqrt(((registered - first)[use].astype(float) ** 2).mean()), delta=1e-6)

    def test_samples_that_do_not_stand_upright(self):
        for degrees, shift in (((180, 0, 0), (1.2, -0.8, 2.1)), ((70, -65, 40), (0.4, 0, 1.3))):
            with self.subTest(degrees=degrees):
                self.check(degrees, shift, v=self.thing((64, 64, 64)))

    def test_noise_and_another_gain(self):
        result = self.check((1.0, 2.0, -14.0), (1.4, 0.7, -2.6), noise=0.01, gain=1.3)
        self.assertAlmostEqual(result["against"]["registration"]["gain"], 1 / 1.3, delta=0.05)
        # The values as they are, and as the registration scales them.
        found = result["against"]["registration"]
        registered, first = read_mha(self.folder / "r/registered.mha").astype(float), read_mha(self.folder / "a.mha").astype(float)
        rms = lambda d: np.sqrt((d[np.isfinite(registered)] ** 2).mean())
        self.assertAlmostEqual(result["against"]["rmse"], rms(registered - first), delta=1e-6)
        self.assertAlmostEqual(result["against"]["scaled"]["rmse"], rms(found["gain"] * registered + found["offset"] - first), delta=1e-6)
        self.assertLess(result["against"]["scaled"]["rmse"], 0.3 * result["against"]["rmse"])
        self.assertIn("<td>scaled</td>", (self.folder / "r/index.html").read_text())

    def test_the_cut_does_not_matter(self):
        v = self.thing()
        for name, values in (("a.mha", v), ("b.mha", self.moved(v, (9, 4, 20), (1, 2, 3)))):
            write_mha(self.folder / name, values.astype(np.float32))
        wanted, runs = ["analyze", "a.mha", "--against", "b.mha", "--register", "-o", "r", "--force", "--save", "registered"], []
        for words in self.cuts(wanted):
            self.lepus(*wanted, *words)
            runs.append({p.name: p.read_bytes() for p in (self.folder / "r").iterdir()})
        self.assertEqual(set(runs[0]), {"analysis.json", "index.html", "registered.mha"})
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(runs[0], runs[2])

    def test_as_they_lie_and_bad_input(self):
        v = self.thing((20, 22, 24))
        write_mha(self.folder / "a.mha", v.astype(np.float32))
        write_mha(self.folder / "b.mha", (v + 0.25).astype(np.float32))
        write_mha(self.folder / "small.mha", v[:9].astype(np.float32))
        write_mha(self.folder / "noise.mha", np.random.default_rng(3).normal(size=v.shape).astype(np.float32))
        result = self.lepus_json("analyze", "a.mha", "--against", "b.mha", "--box", "2,20,2,20,2,18")
        self.assertAlmostEqual(result["against"]["bias"], 0.25, places=6)
        self.assertEqual(result["against"]["voxels"], 19 * 19 * 17)
        self.assertNotIn("scaled", result["against"])
        half = (np.indices(v.shape)[2] < 10)
        write_mha(self.folder / "m.mha", half.astype(np.uint8))
        write_mha(self.folder / "c.mha", np.where(half, v + 0.25, v + 3).astype(np.float32))
        masked = self.lepus_json("analyze", "a.mha", "--against", "c.mha", "--mask", "m.mha")["against"]
        self.assertEqual(masked["voxels"], int(half.sum()))
        self.assertAlmostEqual(masked["rmse"], 0.25, places=6)
        self.assert_error(self.lepus("analyze", "a.mha", "--against", "small.mha", code=3), "input", "different grids", "--register")
        self.assert_error(self.lepus("analyze", "a.mha", "--against", "noise.mha", "--register", code=3), "input", "could not be registered")
        self.assert_error(self.lepus("analyze", "a.mha", "--register", code=2), "usage", "--against")


@unittest.skipIf(np is None, "python3-numpy is not installed: distances from a nominal surface are NOT checked")
class Nominal(ProgramCase):
    def write_stl(self, name, triangles):
        data = np.zeros(len(triangles), [("n", "<f4", 3), ("t", "<f4", (3, 3)), ("a", "<u2")])
        data["t"] = triangles
        (self.folder / name).write_bytes(b"part".ljust(80) + np.uint32(len(triangles)).tobytes() + data.tobytes())

    def box(self, low, high):
        corner = lambda i: [(high if i >> k & 1 else low)[k] for k in range(3)]
        faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
        return [[corner(f[i]) for i in t] for f in faces for t in ((0, 1, 2), (0, 2, 3))]

    def sphere(self, centre, radius, n=64):
        theta, phi = np.linspace(0, np.pi, n + 1), np.linspace(0, 2 * np.pi, 2 * n + 1)[:-1]
        p = lambda i, j: centre + radius * np.array([np.sin(theta[i]) * np.cos(phi[j % (2 * n)]), np.sin(theta[i]) * np.sin(phi[j % (2 * n)]),
                                                     np.cos(theta[i])])
        return [t for i in range(n) for j in range(2 * n) for t in ((p(i, j), p(i + 1, j), p(i + 1, j + 1)), (p(i, j), p(i + 1, j + 1), p(i, j + 1)))
                if not np.allclose(t[0], t[1], atol=1e-7) and not np.allclose(t[0], t[2], atol=1e-7)]

    def ball(self, shape, centre, radius, step):
        z, y, x = np.indices(shape)
        r = np.sqrt(sum((i * step - c) ** 2 for i, c in zip((x, y, z), centre)))
        return np.clip(0.5 + (radius - r) / (2 * step), 0, 1).astype(np.float32)

    def test_a_sphere_too_large(self):
        step, offset = 0.1, 0.03
        centre = np.array([2.2, 2.03, 1.95])
        write_mha(self.folder / "v.mha", self.ball((40, 42, 44), centre, 1.5, step), (step,) * 3)
        self.write_stl("nominal.stl", self.sphere(centre, 1.5 - offset))
        n = self.lepus_json("analyze", "v.mha", "--threshold", "0.5", "--nominal", "nominal.stl", "--tolerance", 0.031, "-o", "r")["nominal"]
        self.assertAlmostEqual(n["mean_mm"], offset, delta=0.001)           # a hundredth of a voxel
        self.assertLess(n["spread_mm"], 0.002)
        self.assertAlmostEqual(n["area_mm2"], 4 * np.pi * 1.5 ** 2, delta=0.02 * 4 * np.pi * 1.5 ** 2)
        self.assertGreater(n["within_tolerance"], 0.7)
        self.assertIn("Distance from nominal.stl", (self.folder / "r/index.html").read_text())

    def test_wound_inside_out(self):
        step, centre = 0.1, np.array([2.2, 2.03, 1.95])
        write_mha(self.folder / "v.mha", self.ball((40, 42, 44), centre, 1.5, step), (step,) * 3)
        triangles = np.float32(self.sphere(centre, 1.47, 32)).round(5)  # so that its corners meet
        self.write_stl("right.stl", triangles)
        self.write_stl("wrong.stl", triangles[:, ::-1])
        self.write_stl("open.stl", triangles[9:, ::-1])
        found = {name: self.lepus_json("analyze", "v.mha", "--threshold", "0.5", "--nominal", name + ".stl") for name in ("right", "wrong", "open")}
        said = {name: " ".join(result["warnings"]) for name, result in found.items()}
        self.assertGreater(found["right"]["nominal"]["mean_mm"], 0.02)
        self.assertAlmostEqual(found["wrong"]["nominal"]["mean_mm"], found["right"]["nominal"]["mean_mm"], delta=1e-6)
        self.assertNotIn("inside out", said["right"])
        self.assertIn("it was turned", said["wrong"])
        self.assertIn("wrong sign", said["open"])

    def test_a_volume_in_other_axes(self):
        z, y, x = np.indices((30, 32, 36))
        write_mha(self.folder / "v.mha", (9 - np.sqrt((x - 14.3) ** 2 + (y - 18) ** 2 + (z - 12) ** 2)).astype(np.float32), (0.5,) * 3)
        self.lepus("convert", "v.mha", "--axes", "rtk", "-o", "turned.mha")
        self.lepus("convert", "turned.mha", "--surface", "0", "-o", "nominal.stl")
        n = self.lepus_json("analyze", "turned.mha", "--threshold", "0", "--nominal", "nominal.stl")["nominal"]
        self.assertLess(abs(n["mean_mm"]), 1e-3)
        self.assertLess(n["largest_mm"], 0.01)

    def test_a_box_off_its_place(self):
        step = 0.25
        v = np.zeros((32, 36, 40), np.float32)
        v[8:24, 8:28, 8:32] = 1                       # faces halfway between voxels: 1.875 and so on
        write_mha(self.folder / "v.mha", v, (step,) * 3)
        low, high = np.array([1.875, 1.875, 1.875]), np.array([7.875, 6.875, 5.875])
        # One face 0.1 mm too high in the part, the others where they should be.
        self.write_stl("nominal.stl", self.box(low, high - [0, 0, 0.1]))
        n = self.lepus_json("analyze", "v.mha", "--threshold", "0.5", "--nominal", "nominal.stl")["nominal"]
        self.assertAlmostEqual(n["largest_mm"], 0.1, delta=1e-6)
        self.assertAlmostEqual(n["smallest_mm"], 0, delta=1e-6)
        self.assertAlmostEqual(n["median_mm"], 0, delta=1e-4)
        area = 24 * 20 * step ** 2 / n["area_mm2"]    # of the face
        # Points on the sides above the nominal face are outside, too: a row of them, 0.025 mm above it at most.
        self.assertAlmostEqual(n["mean_mm"], 0.1 * area, delta=0.02 * 0.1)
        self.write_stl("grown.stl", self.box(low - 0.2, high + 0.2))
        inside = self.lepus_json("analyze", "v.mha", "--threshold", "0.5", "--nominal", "grown.stl")
        self.assertAlmostEqual(inside["nominal"]["mean_mm"], -0.2, delta=1e-4)
        self.assertLess(inside["nominal"]["spread_mm"], 1e-3)

    # An angle with legs of different lengths and widths: no turn leaves it as it is.
    PART = (((-2.0, -1.5, -1.2), (2.2, -0.4, 0.2)), ((-2.0, -0.4, -1.2), (-0.9, 1.7, 0.2)), ((-2.0, -1.5, 0.2), (-1.1, -0.4, 1.4)))

    def angle_part(self, step, shape, rotation, place, pores=()):
        """Its voxels with partial volumes (3 points along each edge), turned and then shifted to `place`."""
        sub = (np.arange(3) - 1) / 3
        v = np.zeros(shape, np.float32)
        z, y, x = np.indices(shape)
        for dz in sub:
            for dy in sub:
                for dx in sub:
                    at = np.stack([x + dx, y + dy, z + dz], -1) * step - place
                    p = at @ rotation  # the rotation's transpose on each point
                    inside = np.zeros(shape, bool)
                    for low, high in self.PART:
                        inside |= ((p >= low) & (p < high)).all(-1)
                    for centre, radius in pores:
                        inside &= ((p - centre) ** 2).sum(-1) > radius ** 2
                    v += inside
        return v / 27

    def part_stl(self):
        """Its outer surface, by the faces of small cubes: what lies between two boxes of the part is left out."""
        edges = [sorted({c[k] for box in self.PART for c in box}) for k in range(3)]
        middle = lambda i, k: (edges[k][i] + edges[k][i + 1]) / 2
        full = np.zeros([len(e) + 1 for e in edges], bool)  # with air around
        for i in range(len(edges[0]) - 1):
            for j in range(len(edges[1]) - 1):
                for k in range(len(edges[2]) - 1):
                    at = (middle(i, 0), middle(j, 1), middle(k, 2))
                    full[i + 1, j + 1, k + 1] = any(all(l <= c < h for l, c, h in zip(low, at, high)) for low, high in self.PART)
        triangles = []
        for cell in np.argwhere(full):
            for axis in range(3):
                for side in (0, 1):
                    other = cell.copy()
                    other[axis] += 2 * side - 1
                    if full[tuple(other)]:
                        continue
                    u, w = (axis + 1) % 3, (axis + 2) % 3
                    corner = lambda a, b: [edges[k][cell[k] - 1 + (side if k == axis else a if k == u else b)] for k in range(3)]
                    loop = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)]
                    loop = loop if side else loop[::-1]
                    triangles += [[loop[0], loop[1], loop[2]], [loop[0], loop[2], loop[3]]]
        return triangles

    def test_aligned(self):
        from scipy.spatial.transform import Rotation
        step, place = 0.1, np.array([2.9, 3.05, 2.85])
        self.write_stl("nominal.stl", self.part_stl())
        pores = [((0.6, -1.0, -0.5), 0.3), ((-1.4, 0.6, -0.5), 0.35), ((-1.5, -0.9, 0.8), 0.2)]
        for degrees in ((4, -3, 8), (175, 20, -35), (-60, 80, 90)):
            with self.subTest(degrees=degrees):
                rotation = Rotation.from_rotvec(np.radians(degrees)).as_matrix()
                write_mha(self.folder / "v.mha", self.angle_part(step, (58, 60, 62), rotation, place, pores), (step,) * 3)
                n = self.lepus_json("analyze", "v.mha", "--threshold", "0.5", "--nominal", "nominal.stl", "--align", "-o", "r", "--force")["nominal"]
                found = n["alignment"]
                matrix = np.array(found["matrix"]).reshape(3, 3)
                off = np.degrees(Rotation.from_matrix(matrix @ rotation).magnitude())
                goes = matrix @ (place - found["centre_mm"]) + found["centre_mm"] + found["shift_mm"]
                self.assertLess(off, 0.1)                                # 0.05 voxels at the part's ends
                self.assertLess(np.abs(goes).max() / step, 0.05)         # voxels
                self.assertLess(abs(n["median_mm"]) / step, 0.05)
                self.assertIn("aligned", (self.folder / "r/index.html").read_text())

    def test_the_cut_does_not_matter(self):
        write_mha(self.folder / "v.mha", self.ball((24, 26, 28), (1.4, 1.3, 1.2), 0.9, 0.1), (0.1,) * 3)
        self.write_stl("nominal.stl", self.sphere(np.array([1.4, 1.33, 1.2]), 0.85, 24))
        wanted, runs = ["analyze", "v.mha", "--threshold", "0.5", "--nominal", "nominal.stl", "--align", "-o", "r", "--force"], []
        for words in self.cuts(wanted):
            self.lepus(*wanted, *words)
            runs.append({p.name: p.read_bytes() for p in (self.folder / "r").iterdir()})
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(runs[0], runs[2])

    def test_bad_input(self):
        write_mha(self.folder / "v.mha", self.ball((12, 12, 12), (0.6, 0.6, 0.6), 0.3, 0.1), (0.1,) * 3)
        (self.folder / "text.stl").write_text("solid a\nfacet\nvertex 1 2")
        self.write_stl("flat.stl", [[[0, 0, 0], [1, 1, 1], [2, 2, 2]]])
        self.write_stl("far.stl", self.box([50, 50, 50], [60, 60, 60])[:-1])
        self.assert_error(self.lepus("analyze", "v.mha", "--nominal", "text.stl", code=3), "input", "text.stl")
        self.assert_error(self.lepus("analyze", "v.mha", "--nominal", "flat.stl", code=3), "input", "no area")
        self.assert_error(self.lepus("analyze", "v.mha", "--nominal", "none.stl", code=3), "input", "none.stl")
        self.assert_error(self.lepus("analyze", "v.mha", "--tolerance", "1", code=2), "usage", "--nominal")
        self.assert_error(self.lepus("analyze", "v.mha", "--align", code=2), "usage", "--nominal")
        for more in ([], ["--align"]):
            self.assert_error(self.lepus("analyze", "v.mha", "--nominal", "far.stl", "--threshold", "7", *more, code=3), "input", "no surface")
        said = self.lepus_json("analyze", "v.mha", "--nominal", "far.stl", "--align")["warnings"]
        self.assertTrue(any("however it is turned" in w for w in said))
        said = self.lepus_json("analyze", "v.mha", "--nominal", "far.stl")["warnings"]
        self.assertTrue(any("same place" in w for w in said))
        self.assertTrue(any("not closed" in w for w in said))


if __name__ == "__main__":
    unittest.main()
