# SPDX-License-Identifier: Apache-2.0
"""lepus analyze, what it measures without a phase: noise against NumPy and known spectra."""
import unittest

from analyze_test import np, write_mha
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
        runs = [self.lepus("analyze", "v.mha", *box, "--noise", "--json", *words).stdout
                for words in (["--threads", 1], ["--threads", 3], ["--threads", 1, "--memory", "56MiB"])]
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


if __name__ == "__main__":
    unittest.main()
