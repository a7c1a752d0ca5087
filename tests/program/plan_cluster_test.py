# SPDX-License-Identifier: Apache-2.0
"""`lepus plan --nodes`: how long a cluster would take, term by term."""
import unittest

from program_case import ProgramCase

PROBLEM = ["--problem", "256x256x100-256"]


class PlanCluster(ProgramCase):
    def terms(self, *words):
        plan = self.lepus_json("plan", *PROBLEM, "--gups", 100, *words)["cluster"]
        return plan, {term["name"]: term["seconds"] for term in plan["terms"]}

    def test_the_terms_are_those_of_what_was_said(self):
        plan, terms = self.terms("--nodes", 4)
        for name in ("start", "read", "filter", "sum", "write"):
            self.assertGreater(terms[name], 0, name)
        self.assertGreaterEqual(plan["seconds"], max(terms.values()))
        faster = self.terms("--nodes", 4, "--disk", "50GB/s")[1]
        self.assertAlmostEqual(faster["write"], terms["write"] / 10)
        self.assertEqual(faster["sum"], terms["sum"])

    def test_the_launch_is_added_to_the_opening_of_the_frames(self):
        ten = self.terms("--nodes", 4, "--launch", 10)
        none = self.terms("--nodes", 4, "--launch", 0)
        self.assertAlmostEqual(ten[1]["start"] - none[1]["start"], 10)
        self.assertAlmostEqual(ten[0]["seconds"] - none[0]["seconds"], 10)
        self.assertGreater(none[1]["start"], 0)

    def test_what_is_no_cluster_is_refused(self):
        for words, option in ((["--nodes", "-1"], "--nodes"), (["--nodes", "0"], "--nodes"), (["--launch", "1"], "--nodes"),
                              (["--nodes", "2", "--launch", "-1"], "--launch"),
                              (["--nodes", "2", "--launch", "nan"], "--launch"),
                              (["--nodes", "2", "--gups", "1", "--network", "fast"], "--network"),
                              (["--nodes", "2", "--gups", "0"], "--gups"),
                              (["--nodes", "2", "--gpus-per-node", "2", "--ranks-per-node", "2"], "--ranks-per-node")):
            with self.subTest(words):
                self.assertIn(option, self.lepus("plan", *PROBLEM, *words, code=2).stderr)

    def test_what_is_no_problem_is_refused(self):
        self.lepus("plan", "--problem", "999999x1x0-256", "--gups", 100, "--nodes", 2)
        for problem in ("256x256x100", "256x256-100-256", "256x256x100x256", "256x256x100-256 ", "256x256x100-256-1",
                        "-1x256x100-256", "256x256x100-1000000", "x256x100-256", "256x256x100-", "", "99999999999x1x1-1"):
            with self.subTest(problem):
                stderr = self.lepus("plan", f"--problem={problem}", "--gups", 100, "--nodes", 2, code=2).stderr
                self.assertIn("--problem", stderr)

    def test_a_list_of_gpus_may_be_long_but_has_numbers_only(self):
        for devices in ("1,,2", ",1", "1,", "0123", "0,x", "0x1", "-1", ",".join(["0"] * 60000) + ";"):
            with self.subTest(devices[:8]):
                stderr = self.lepus("plan", *PROBLEM, "--gups", 100, "--nodes", 2, f"--device={devices}", code=2).stderr
                self.assertIn("--device", stderr)


if __name__ == "__main__":
    unittest.main()
