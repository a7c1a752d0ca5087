# SPDX-License-Identifier: Apache-2.0
"""Iterative reconstruction as a user runs it: each method against an implementation of its own here, with the matrix that
`lepus project --matrix` writes; interrupted and resumed; what cannot be done is said."""
import json
import re
import signal
import subprocess
import time
import unittest

import numpy

from program_case import PROGRAM, ProgramCase

SCAN = ["--views", "24", "--columns", "24", "--rows", "20", "--pixel", "8.5", "--size", "16,16,16", "--content",
        "line-integrals", "--format", "raw"]


class Matrix:
    """A CSR matrix in .npz, in double precision."""

    def __init__(self, file):
        stored = numpy.load(file)
        self.shape = tuple(stored["shape"])
        self.values = stored["data"].astype(float)
        self.columns = stored["indices"]
        self.rows = numpy.repeat(numpy.arange(self.shape[0]), numpy.diff(stored["indptr"]))

    def __call__(self, x):
        return numpy.bincount(self.rows, self.values * x[self.columns], self.shape[0])

    def transpose(self, y):
        return numpy.bincount(self.columns, self.values * y[self.rows], self.shape[1])

    def subset(self, rows):
        """Of the rows whose number is in a list."""
        kept = numpy.zeros(self.shape[0], bool)
        kept[rows] = True
        some = object.__new__(Matrix)
        entries = kept[self.rows]
        number = numpy.cumsum(kept) - 1
        some.shape = (len(rows), self.shape[1])
        some.values, some.columns, some.rows = self.values[entries], self.columns[entries], number[self.rows[entries]]
        return some


def divided(a, b):
    return numpy.divide(a, b, out=numpy.zeros_like(a), where=b != 0)


def sart(matrix, data, per_view, subsets, iterations):
    """In sequential order; one subset: SIRT."""
    views = len(data) // per_view
    x = numpy.zeros(matrix.shape[1])
    parts = []
    for s in range(subsets):
        rows = numpy.concatenate([numpy.arange(v * per_view, (v + 1) * per_view) for v in range(s, views, subsets)])
        some = matrix.subset(rows)
        parts.append((some, data[rows], some(numpy.ones(matrix.shape[1])), some.transpose(numpy.ones(len(rows)))))
    for _ in range(iterations):
        for some, b, lengths, seen in parts:
            x += divided(some.transpose(divided(b - some(x), lengths)), seen)
    return x


def cgls(matrix, data, iterations):
    x = numpy.zeros(matrix.shape[1])
    r = data.copy()
    s = matrix.transpose(r)
    p, gamma = s.copy(), s @ s
    for _ in range(iterations):
        q = matrix(p)
        alpha = gamma / (q @ q)
        x += alpha * p
        r -= alpha * q
        s = matrix.transpose(r)
        gamma, before = s @ s, gamma
        p = s + gamma / before * p
    return x


def lsqr(matrix, data, iterations):
    """Paige and Saunders, 1982, step by step."""
    beta = numpy.linalg.norm(data)
    u = data / beta
    v = matrix.transpose(u)
    alpha = numpy.linalg.norm(v)
    v /= alpha
    w, x = v.copy(), numpy.zeros(matrix.shape[1])
    phi_bar, rho_bar = beta, alpha
    for _ in range(iterations):
        u = matrix(v) - alpha * u
        beta = numpy.linalg.norm(u)
        u /= beta
        v = matrix.transpose(u) - beta * v
        alpha = numpy.linalg.norm(v)
        v /= alpha
        rho = numpy.hypot(rho_bar, beta)
        c, s = rho_bar / rho, beta / rho
        theta, rho_bar = s * alpha, -c * alpha
        phi, phi_bar = c * phi_bar, s * phi_bar
        x += phi / rho * w
        w = v - theta / rho * w
    return x


def mlem(matrix, data, iterations):
    x = numpy.ones(matrix.shape[1])
    seen = matrix.transpose(numpy.ones(matrix.shape[0]))
    for _ in range(iterations):
        factor = divided(matrix.transpose(divided(numpy.maximum(data, 0), matrix(x))), seen)
        x = numpy.where(seen > 0, x * factor, x)
    return x


class Iterative(ProgramCase):
    def setUp(self):
        super().setUp()
        self.lepus("simulate", "shepp-logan", "-o", "scan", *SCAN, "--quiet")
        scan = self.folder / "scan" / "scan.toml"
        scan.write_text(scan.read_text().replace("[volume]\n", "[volume]\nmask = false\n"))

    def volume(self, name):
        """Its voxels; MetaImage, float."""
        raw = (self.folder / name).read_bytes()
        at = raw.index(b"ElementDataFile = LOCAL\n") + len(b"ElementDataFile = LOCAL\n")
        return numpy.frombuffer(raw[at:], "<f4").astype(float)

    def frames(self):
        return numpy.fromfile(self.folder / "scan" / "frames.raw", "<f4").astype(float)

    def reconstruct(self, output, method, *more, **options):
        return self.lepus_json("reconstruct", "scan/scan.toml", "-o", output, "--backend", "cpu", "--method", method, *more,
                               **options)

    def test_a_volume_that_no_disk_holds_is_refused_first(self):
        """400 TB of voxels, by FDK and by a method."""
        scan = self.folder / "scan" / "scan.toml"
        changed = re.sub(r"(?m)^size = .*$", "size = [46000, 46000, 46000]", scan.read_text())
        self.assertNotEqual(changed, scan.read_text())
        scan.write_text(changed)
        for method in ("fdk", "sirt"):
            with self.subTest(method):
                result = self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", "--method", method, code=6)
                self.assert_error(result, "disk", "no space for the volume")
                self.assertNotIn("v.mha", self.names())

    def test_methods_agree_with_others(self):
        self.lepus("project", "--scan", "scan/scan.toml", "--matrix", "-o", "a.npz")
        matrix = Matrix(self.folder / "a.npz")
        self.assertEqual(matrix.shape, (24 * 24 * 20, 16 ** 3))
        data = self.frames()
        cases = {
            "sirt": (["--iterations", "20"], sart(matrix, data, 480, 1, 20)),
            "os-sart": (["--iterations", "4", "--subsets", "5"], sart(matrix, data, 480, 5, 4)),
            "cgls": (["--iterations", "8"], cgls(matrix, data, 8)),
            "lsqr": (["--iterations", "8"], lsqr(matrix, data, 8)),
            "mlem": (["--iterations", "15"], mlem(matrix, data, 15)),
        }
        scan = self.folder / "scan" / "scan.toml"
        plain = scan.read_text()
        for method, (words, expected) in cases.items():
            with self.subTest(method):
                scan.write_text(plain + ('\n[method]\norder = "sequential"\n' if method == "os-sart" else ""))
                report = self.reconstruct(f"{method}.mha", method, *words)
                made = self.volume(f"{method}.mha")
                self.assertLess(numpy.linalg.norm(made - expected) / numpy.linalg.norm(expected), 1e-4)
                residual = numpy.linalg.norm(matrix(made) - data) / numpy.linalg.norm(data)
                said = report["provenance"]["method"]
                self.assertEqual(said["iterations"], int(words[1]))
                # That of the volume before or after the last step.
                self.assertLess(residual, 1.01 * said["residuals"][-1])
                self.assertGreater(residual, 0.7 * said["residuals"][-1])

    def test_as_many_subsets_as_views(self):
        """Momentum leads away within the first pass: what is written and what is said of it agree all the same."""
        for iterations in (1, 3, 10):
            with self.subTest(iterations):
                said = self.reconstruct("v.mha", "os-momentum", "--subsets", 24, "--iterations", iterations,
                                        "--force")["provenance"]["method"]
                left = self.lepus_json("project", "v.mha", "--scan", "scan/scan.toml", "-o", "r.raw", "--against", "--force",
                                       "--backend", "cpu")
                residual = left["residual_norm"] / left["measured_norm"]
                self.assertLess(residual, 1.01 * said["residuals"][-1])
                self.assertLess(residual, 0.1 if iterations == 10 else 1.01)

    def with_keys(self, method, keys, *words, **options):
        """A run with these keys in [method]."""
        scan = self.folder / "scan" / "scan.toml"
        plain = scan.read_text()
        scan.write_text(plain + f'\n[method]\nname = "{method}"\niterations = 5\n{keys}\n')
        try:
            return self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", "--force", "--backend", "cpu", "--json", *words,
                              **options)
        finally:
            scan.write_text(plain)

    def test_noise_of_dead_pixels(self):
        def noise():
            result = self.with_keys("cgls", "stop_at_noise = true")
            return json.loads(result.stdout)["provenance"]["method"]["noise"]
        frames = (self.frames() + 0.02 * numpy.random.default_rng(1).standard_normal(24 * 24 * 20)).astype("<f4")
        frames.tofile(self.folder / "scan" / "frames.raw")
        clean = noise()
        self.assertLess(abs(clean / 0.02 - 1), 0.5)
        for value in (20, 800):
            with self.subTest(value):
                frames[[700, 5000]] = value
                frames.tofile(self.folder / "scan" / "frames.raw")
                self.assertLess(abs(noise() / clean - 1), 0.1)

    def test_noise_larger_than_the_data(self):
        result = self.with_keys("cgls", "stop_at_noise = true\nnoise = 1000.0")
        self.assertIn("larger than they are", result.stderr)
        result = self.with_keys("cgls", "noise = 1000.0", "--strength", "auto")
        self.assertIn("larger than they are", result.stderr)
        self.assertIn("the largest that is tried", result.stderr)

    def test_inputs_without_use_are_refused_before_the_views_are_read(self):
        for method, keys, needle in (("chambolle-pock", 'prior = "truth.mha"', "strength"),
                                     ("chambolle-pock", "huber = 0.1", "strength"),
                                     ("cgls", 'prior = "truth.mha"', "prior"),
                                     ("mlem", 'weights = "counts"', "weights"),
                                     ("cgls", 'model = "voxel"', "transpose"),
                                     ("cgls", "relaxation = 0.5", "relaxation"),
                                     ("sirt", 'order = "random"', "order"),
                                     ("chambolle-pock", "total_variation_steps = 5", "total_variation_steps")):
            with self.subTest(f"{method}, {keys}"):
                result = self.with_keys(method, keys, code=2)
                self.assert_error(result, "usage", needle)
                self.assertNotIn("reading views", result.stderr)
        self.with_keys("chambolle-pock", 'huber = 0.1\nprior = "truth.mha"', "--strength", "auto")
        self.assert_error(self.lepus("plan", "scan/scan.toml", "--method", "cgls", "--model", "voxel", code=2), "usage",
                          "transpose")

    def test_projecting_is_the_matrix(self):
        self.lepus("project", "--scan", "scan/scan.toml", "--matrix", "-o", "a.npz")
        matrix = Matrix(self.folder / "a.npz")
        result = self.lepus_json("project", "scan/truth.mha", "--scan", "scan/scan.toml", "-o", "p.raw", "--backend", "cpu")
        made = numpy.fromfile(self.folder / "p.raw", "<f4").astype(float)
        expected = matrix(self.volume("scan/truth.mha"))
        self.assertLess(numpy.linalg.norm(made - expected) / numpy.linalg.norm(expected), 1e-5)
        self.assertAlmostEqual(result["norm"] / numpy.linalg.norm(expected), 1, 4)
        against = self.lepus_json("project", "scan/truth.mha", "--scan", "scan/scan.toml", "-o", "r.raw", "--against",
                                  "--backend", "cpu")
        left = numpy.fromfile(self.folder / "r.raw", "<f4").astype(float)
        data = self.frames()
        self.assertLess(numpy.abs(left - (made - data)).max(), 1e-5)
        self.assertLess(against["residual_norm"] / against["measured_norm"], 0.1)
        self.assert_error(self.lepus("project", "--scan", "scan/scan.toml", "-o", "x.h5", code=2), "usage", "no volume")
        self.assert_error(self.lepus("project", "--scan", "scan/scan.toml", "--matrix", "-o", "x.h5", code=2), "usage", "npz")
        self.assert_error(self.lepus("project", "scan/truth.mha", "--scan", "scan/scan.toml", "-o", "p.raw", code=6), "disk")

    def leave_state(self, *words):
        """Interrupts a run after its first iterations; how many they were."""
        running = subprocess.Popen([PROGRAM, "reconstruct", "scan/scan.toml", "-o", "v.mha", "--backend", "cpu", *words,
                                    "--iterations", "100000", "--save-every", "1", "--json"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while not (self.folder / "v.mha.state").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130, err)
        self.assertIn("same command", err)
        error = json.loads(out)["error"]
        self.assertEqual(error["kind"], "cancelled")
        left = [n for n in self.names() if n.startswith("v.mha")]
        self.assertIn(left, (["v.mha.state"], ["v.mha.state", "v.mha.state.before"]))
        return int(error["what"].split()[-1])

    def test_a_run_that_goes_on_has_the_same_bits(self):
        for method, more in (("os-sart", ["--subsets", "4"]), ("cgls", []), ("fista-tv", ["--strength", "0.001"])):
            for further in (0, 3):  # as a volume, and then on
                with self.subTest(method, further=further):
                    done = self.leave_state("--method", method, *more) + further
                    self.reconstruct("v.mha", method, *more, "--iterations", done, "--threads", "1",
                                     *(["--resume"] if further else []))
                    self.reconstruct("whole.mha", method, *more, "--iterations", done, "--force")
                    self.assertTrue(numpy.array_equal(self.volume("v.mha"), self.volume("whole.mha")))
                    self.assertEqual([n for n in self.names() if "state" in n], [])
                    (self.folder / "v.mha").unlink()

    def test_other_states_are_refused(self):
        self.lepus("simulate", "ball", "-o", "other", *SCAN, "--quiet")
        words = ["-o", "v.mha", "--backend", "cpu", "--method", "cgls", "--iterations", "100000"]
        result = self.lepus("reconstruct", "scan/scan.toml", *words, "--resume", code=3)
        self.assert_error(result, "input", "no state")
        done = self.leave_state("--method", "cgls")
        result = self.lepus("reconstruct", "other/scan.toml", *words, code=2)
        self.assert_error(result, "usage", "times of the inputs", "--restart")
        result = self.lepus("reconstruct", "scan/scan.toml", *words, "--model", "siddon", code=2)
        self.assert_error(result, "usage", 'method.model was "joseph", is "siddon"')
        if done > 1:
            result = self.lepus("reconstruct", "scan/scan.toml", *words[:-1], done - 1, code=2)
            self.assert_error(result, "usage", f"{done} iterations are done")
        for file in self.folder.glob("v.mha.state*"):
            file.write_bytes(file.read_bytes()[:-100])
        result = self.lepus("reconstruct", "scan/scan.toml", *words, code=3)
        self.assert_error(result, "input", "--restart")
        self.reconstruct("v.mha", "cgls", "--iterations", "3", "--restart")
        self.reconstruct("whole.mha", "cgls", "--iterations", "3")
        self.assertTrue(numpy.array_equal(self.volume("v.mha"), self.volume("whole.mha")))
        self.assertEqual([n for n in self.names() if "state" in n], [])

    def test_choices_that_make_no_sense(self):
        for words, needle in ((["--method", "sirt", "--strength", "0.1"], "does not regularise"),
                              (["--method", "os-sart", "--subsets", "25"], "24 views"),
                              (["--method", "fista-tv", "--strength", "-1"], "zero"),
                              (["--method", "fista-tv", "--strength", "much"], "not a number"),
                              (["--method", "cgls", "--subsets", "2"], "no subsets"),
                              (["--iterations", "3"], "fdk"),
                              (["--method", "cgls", "--save-every", "often"], "nor a time"),
                              (["--method", "cgls", "--save-every", "0"], "nor a time"),
                              (["--method", "cgls", "--resume", "--restart"], "contradict"),
                              (["--method", "sirt", "--iterations", "0"], "at least one")):
            with self.subTest(words):
                result = self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", *words, "--json", code=2)
                self.assert_error(result, "usage", needle)
        self.assert_error(self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", "--method", "sirt", "--start", "no.mha",
                                     code=3), "input", "no.mha")

    def test_what_is_known_of_the_volume(self):
        scan = self.folder / "scan" / "scan.toml"
        plain = scan.read_text()
        error = {}
        truth = self.volume("scan/truth.mha")
        for name, keys in (("plain", ""), ("bounded", "low = 0.0\n"), ("warm", 'start = "truth.mha"\n'),
                           ("weighted", 'weights = "counts"\n'), ("extended", "extend = [0.5, 0.5, 0.0]\n"),
                           ("masked", 'mask = "truth.mha"\n')):
            scan.write_text(plain + f'\n[method]\nname = "sirt"\niterations = 15\n{keys}')
            self.lepus("reconstruct", "scan/scan.toml", "-o", f"{name}.mha", "--backend", "cpu", "--quiet")
            made = self.volume(f"{name}.mha")
            self.assertEqual(made.shape, truth.shape)
            error[name] = numpy.linalg.norm(made - truth) / numpy.linalg.norm(truth)
            if name == "bounded":
                self.assertGreaterEqual(made.min(), 0)
            if name == "masked":
                self.assertTrue((made[truth == 0] == 0).all())
        self.assertLess(error["warm"], error["plain"])
        self.assertLess(error["bounded"], error["plain"])
        self.assertLess(error["masked"], error["plain"])
        # Nothing lies there, and voxels there take from those inside.
        self.assertLess(error["plain"], error["extended"])
        self.assertLess(error["extended"], 2 * error["plain"])
        self.assertLess(error["weighted"], 1.3 * error["plain"])

    def test_two_at_once(self):
        words = [PROGRAM, "reconstruct", "scan/scan.toml", "-o", "v.mha", "--backend", "cpu", "--method", "sirt", "--iterations", "20"]
        both = [subprocess.Popen(words, cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
        codes = sorted((p.communicate()[0], p.returncode)[1] for p in both)
        self.assertEqual(codes, [0, 6])
        self.assertTrue((self.folder / "v.mha").exists())


if __name__ == "__main__":
    unittest.main()
