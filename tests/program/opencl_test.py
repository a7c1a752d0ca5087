# SPDX-License-Identifier: Apache-2.0
"""Iterative methods, projections and ring removal on an OpenCL device as a user asks for them: what the CPU's own code makes."""
import numpy

from program_case import ProgramCase

SCAN = ["--views", "24", "--columns", "24", "--rows", "20", "--pixel", "8.5", "--size", "16,16,16", "--content",
        "line-integrals", "--format", "raw"]


class OnOpencl(ProgramCase):
    def setUp(self):
        super().setUp()
        self.lepus("simulate", "shepp-logan", "-o", "scan", *SCAN, "--quiet")
        asked = self.project("opencl", code=None)
        if "no OpenCL device can be used" in asked.stderr:
            self.skipTest(asked.stderr)
        self.assertEqual(asked.returncode, 0, asked.stderr)

    def project(self, backend, **options):
        return self.lepus("project", "scan/truth.mha", "--scan", "scan/scan.toml", "-o", f"{backend}.raw", "--backend", backend,
                          "--precision", "exact", **options)

    def values(self, name):
        raw = (self.folder / name).read_bytes()
        header = b"ElementDataFile = LOCAL\n"
        at = raw.index(header) + len(header) if header in raw else 0
        return numpy.frombuffer(raw[at:], "<f4").astype(float)

    def assert_near(self, made, expected, limit):
        self.assertLess(numpy.linalg.norm(made - expected), limit * numpy.linalg.norm(expected))

    def test_projections(self):
        self.project("cpu")
        self.assert_near(self.values("opencl.raw"), self.values("cpu.raw"), 1e-5)

    def test_methods(self):
        for method, more in (("cgls", ["--iterations", "5"]), ("fista-tv", ["--iterations", "5", "--strength", "0.01"]),
                             ("os-sart", ["--iterations", "2", "--subsets", "4", "--device-memory", "1MiB"])):
            with self.subTest(method):
                for backend in ("cpu", "opencl"):
                    self.lepus("reconstruct", "scan/scan.toml", "-o", f"{method}-{backend}.mha", "--method", method, "--backend",
                               backend, "--precision", "exact", *more)
                self.assert_near(self.values(f"{method}-opencl.mha"), self.values(f"{method}-cpu.mha"), 1e-4)

    def test_rings(self):
        text = (self.folder / "scan/scan.toml").read_text()
        plain = self.rings(text, "plain", "cpu")
        for method, more in (("trend", 'filter = "median"\n'), ("wavelet-fourier", "levels = 2\n"), ("sorting", ""),
                             ("combined", "maximum_share = 1.0\n")):
            with self.subTest(method):
                corrected = text + f'\n[[correct]]\nkind = "rings"\nmethod = "{method}"\n{more}'
                expected = self.rings(corrected, method, "cpu")
                self.assertGreater(numpy.linalg.norm(expected - plain), 1e-3 * numpy.linalg.norm(plain), "it does something")
                self.assert_near(self.rings(corrected, method, "opencl"), expected, 1e-5)

    def rings(self, text, name, backend):
        (self.folder / f"scan/{name}.toml").write_text(text)
        self.lepus("reconstruct", f"scan/{name}.toml", "-o", f"{name}-{backend}.mha", "--backend", backend, "--precision", "exact")
        return self.values(f"{name}-{backend}.mha")
