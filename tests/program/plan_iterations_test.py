# SPDX-License-Identifier: Apache-2.0
"""`lepus plan` of iterative methods: what it says must be what a run then takes, and what a run refuses it refuses, too."""
import json
import re
import signal
import subprocess
import time
import unittest

from program_case import PROGRAM, ProgramCase

VIEWS, COLUMNS, ROWS, SIZE = 24, 24, 20, 16
VOLUME, LINES = SIZE**3 * 4, VIEWS * COLUMNS * ROWS * 4  # bytes


class PlanIterations(ProgramCase):
    def setUp(self):
        super().setUp()
        self.lepus("simulate", "shepp-logan", "-o", "scan", "--views", VIEWS, "--columns", COLUMNS, "--rows", ROWS, "--pixel",
                   "8.5", "--size", f"{SIZE},{SIZE},{SIZE}", "--content", "line-integrals", "--format", "raw", "--quiet")
        self.scan = self.folder / "scan" / "scan.toml"

    def plan(self, *words, **options):
        return self.lepus_json("plan", "scan/scan.toml", "--backend", "cpu", *words, **options)

    def state_of_run(self, *words):
        """The size of the state that an interrupted run keeps beside its output, and that of the residuals in it."""
        state = self.folder / "v.mha.state"
        run = subprocess.Popen([PROGRAM, "reconstruct", "scan/scan.toml", "-o", "v.mha", "--backend", "cpu", *words,
                                "--iterations", "1000000", "--save-every", "1", "--quiet"], cwd=self.folder,
                               stderr=subprocess.PIPE)
        try:
            end = time.monotonic() + 60
            while not state.exists() and run.poll() is None and time.monotonic() < end:
                time.sleep(0.02)
            run.send_signal(signal.SIGINT)
            error = run.communicate(timeout=60)[1]
        finally:
            run.kill()
        self.assertTrue(state.exists(), error)
        done = re.search(rb"iterations? (\d+)", error)  # "... --iterations N to write what is there"
        self.assertTrue(done, error)
        return state.stat().st_size, 8 * int(done.group(1))

    def test_says_what_os_sart_takes(self):
        before = self.names()
        plan = self.plan("--method", "os-sart", "--subsets", 4, "--iterations", 10)
        self.assertEqual(plan["method"], {"name": "os-sart", "iterations": 10, "subsets": 4, "model": "joseph"})
        memory = plan["memory"]
        self.assertEqual((memory["volume_bytes"], memory["line_integrals_bytes"]), (VOLUME, LINES))
        self.assertEqual(memory["bytes"], memory["volumes"] * VOLUME + memory["line_integrals"] * LINES)
        self.assertLess(memory["bytes"], memory["limit_bytes"])
        self.assertTrue(plan["forward"]["in_place"])
        t = plan["time"]
        operator = sum(plan[name]["seconds"] * plan[name]["per_iteration"] for name in ("forward", "adjoint"))
        self.assertGreater(min(plan["forward"]["seconds"], plan["adjoint"]["seconds"], t["vectors_seconds"]), 0)
        self.assertAlmostEqual(t["iteration_seconds"], operator + t["vectors_seconds"])
        self.assertAlmostEqual(t["expected_seconds"], t["before_seconds"] + 10 * t["iteration_seconds"])
        text = self.lepus("plan", "scan/scan.toml", "--method", "os-sart", "--subsets", 4).stdout
        for line in ("volume ", "scan ", "method    os-sart, 4 subsets, at most 50 iterations", "operator  Joseph's rays", "memory ",
                     "A         each subset in one piece", "A'        each subset in one piece", "state ", "iteration ", "time "):
            self.assertIn("\n" + line, "\n" + text)
        self.assertEqual(self.names(), before, "a plan writes nothing")

    def test_the_method_of_the_scan_file(self):
        self.scan.write_text(self.scan.read_text() + '\n[method]\nname = "iterative-fdk"\niterations = 3\nextend = [0.25, 0.0, 0.0]\n')
        plan = self.plan()
        self.assertEqual((plan["method"]["name"], plan["method"]["iterations"]), ("iterative-fdk", 3))
        self.assertEqual(plan["memory"]["volume_bytes"], VOLUME * 3 // 2)
        self.assertEqual((plan["forward"]["per_iteration"], plan["adjoint"]["per_iteration"]), (1, 0))
        self.assertGreater(plan["time"]["fdk_seconds"], 0)
        self.assertEqual(self.plan("--method", "fdk")["plan"]["kind"], "rolling window")

    def test_the_state_is_as_large_as_it_was_said(self):
        for words in (["--method", "cgls"], ["--method", "fista-tv", "--strength", "0.001"], ["--method", "sart"]):
            with self.subTest(words):
                planned = self.plan(*words)["state"]["bytes"]
                size, residuals = self.state_of_run(*words)
                self.assertGreaterEqual(size, planned)
                self.assertLess(size - planned - residuals, 8192, "a header and checksums")
                for file in self.folder.glob("v.mha*"):
                    file.unlink()

    def test_how_often_it_is_saved(self):
        for words, said in (([], "hundredth"), (["--save-every", "5"], "after every 5 iterations"),
                            (["--save-every", "2h"], "every 120 minutes")):
            self.assertIn(said, self.plan("--method", "sirt", *words)["state"]["saved"])

    def test_too_little_memory_is_the_error_of_the_run(self):
        self.scan.write_text(re.sub(r"(?m)^size = .*$", "size = [256, 256, 256]", self.scan.read_text()))
        words = ["scan/scan.toml", "--backend", "cpu", "--method", "sirt", "--memory", "40MiB", "--json"]
        planned = self.lepus("plan", *words, code=None)
        made = self.lepus("reconstruct", *words, "-o", "v.mha", code=None)
        self.assert_error(planned, "memory", "the operator does not fit into the memory", "the thinnest piece needs")
        self.assertEqual(planned.returncode, made.returncode)
        first, second = (json.loads(result.stdout)["error"] for result in (planned, made))
        for key in ("kind", "what", "where", "hint"):
            self.assertEqual(first[key], second[key])
        self.assertEqual(first["why"].split(",")[0], second["why"].split(",")[0])

    def test_what_a_run_refuses_a_plan_refuses(self):
        for words, code, needle in ((["--method", "os-sart", "--subsets", "25"], 2, "24 views"),
                                    (["--method", "mlem", "--weights", "counts"], 2, "statistical weights"),
                                    (["--method", "sirt", "--start", "no.mha"], 3, "no.mha"),
                                    (["--iterations", "3"], 2, "fdk"),
                                    (["--method", "sirt", "--nodes", "4", "--gups", "100"], 2, "fdk alone")):
            with self.subTest(words):
                result = self.lepus("plan", "scan/scan.toml", *words, code=code)
                self.assertIn(needle, result.stderr)
        for words in (["--method", "sirt"], ["--iterations", "3"]):
            with self.subTest(words):
                result = self.lepus("plan", "--problem", "256x256x100-256", "--nodes", 4, "--gups", 100, *words, code=2)
                self.assertIn("fdk", result.stderr)

    def test_what_is_not_known_is_said(self):
        missing = self.plan("--method", "fista-tv", "--strength", "auto")["time"]["not_counted"]
        self.assertIn("the runs that find the strength", missing)


if __name__ == "__main__":
    unittest.main()
