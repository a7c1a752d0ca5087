# SPDX-License-Identifier: Apache-2.0
"""lepus reconstruct as several processes, started by mpirun on this machine: the same volume as by one, one report, one error.

More processes than cores are started (--oversubscribe): what is tested is who makes and writes what, not the speed.
LEPUS_KILLED_RANKS asks for more than three rounds of killing a rank.
"""
import array
import contextlib
import filecmp
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

from faulty_runs import SHIM
from killed_runs import records
from program_case import PROGRAM, ProgramCase

MPIRUN = shutil.which("mpirun")
MODULE = pathlib.Path(PROGRAM).parent / "liblepus_mpi.so"
KILLED = int(os.environ.get("LEPUS_KILLED_RANKS", 3))
# 112 slices: seven slabs of 16, the least a slab can be; 100 views: four blocks, so that views can be split.
SCAN = ["--views", "100", "--columns", "48", "--rows", "112", "--pixel", "4", "--flats", "2", "--darks", "2", "--quiet"]
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# A rank that is killed while MPI starts may hold a lock of PMIx in memory that mpirun shares with it, and mpirun waits for it
# for ever (Open MPI 4.1.4, PMIx 4.2.2: once in 420 kills). This keeps that memory apart.
KILLABLE = ROOT | {"PMIX_MCA_gds": "hash"}


def voxels(path):
    return path.read_bytes().partition(b"ElementDataFile = LOCAL\n")[2]


def why_skipped():
    if not MPIRUN:
        return "mpirun is not installed (openmpi-bin)"
    if not MODULE.exists():
        return f"this build has no {MODULE.name} (libopenmpi-dev was not there)"
    return ""


@unittest.skipIf(why_skipped(), why_skipped())
class Ranks(ProgramCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = pathlib.Path(subprocess.check_output(["mktemp", "-d"], text=True).strip())
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        run = lambda *words: subprocess.run([PROGRAM, *words], cwd=cls.made, check=True, capture_output=True)
        run("simulate", "shepp-logan", "-o", "scan", *SCAN)
        run("reconstruct", "scan/scan.toml", "-o", "alone.mha", "--backend", "cpu", "--quiet")
        cls.alone = voxels(cls.made / "alone.mha")
        cls.provenance = json.loads(subprocess.check_output([PROGRAM, "info", "alone.mha", "--json"], cwd=cls.made))["provenance"]

    def words(self, ranks, *more):
        return [MPIRUN, "--oversubscribe", "-n", str(ranks), PROGRAM, "reconstruct", self.made / "scan/scan.toml",
                "--backend", "cpu", "--threads", "1", *more]

    def over(self, ranks, *more, code=0, **environment):
        result = subprocess.run(list(map(str, self.words(ranks, *more))), cwd=self.folder, capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, timeout=120, env=os.environ | ROOT | environment)
        if code is not None:
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    @unittest.skipIf(not SHIM, "LEPUS_FAULT_SHIM does not name the shim")
    def test_a_file_system_without_locks(self):
        no_locks = {"LD_PRELOAD": SHIM, "LEPUS_FAULT": "lock:ENOSYS:1:*"}
        for attempt in range(3):  # who opens it when is left to chance
            result = self.over(4, "-o", f"v{attempt}.mha", **no_locks)
            self.assertEqual(voxels(self.folder / f"v{attempt}.mha"), self.alone)
            self.assertEqual(result.stderr.count("knows no locks"), 1, result.stderr)
        share = self.lepus("reconstruct", self.made / "scan/scan.toml", "-o", "shares.mha", "--share", "1/2", code=6,
                           env=os.environ | no_locks)
        self.assert_error(share, "disk", "need a file system with locks", "mpirun")
        self.assertEqual([name for name in self.names() if "shares" in name], [])

    def test_a_folder_that_not_all_ranks_see_is_refused(self):
        hidden = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs none "{self.folder}" && cd "{self.folder}" && exec "$@"', "sh"]
        if subprocess.run([*hidden, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("a folder cannot be hidden from a process here (unshare)")
        words = [PROGRAM, "reconstruct", self.made / "scan/scan.toml", "-o", self.folder / "v.mha", "--backend", "cpu", "--threads", "1"]
        result = subprocess.run(list(map(str, [MPIRUN, "--oversubscribe", "-n", "1", *words, ":", "-n", "1", *hidden, *words])), cwd="/",
                                capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, env=os.environ | ROOT, check=False)
        self.assertEqual(result.returncode, 6, result.stderr)
        self.assertIn("does not see the output that all write into", result.stderr)

    def test_slabs_over_ranks_give_the_same_bits(self):
        for ranks in (1, 2, 3, 4, 6):
            with self.subTest(ranks=ranks):
                result = self.over(ranks, "-o", f"v{ranks}.mha", "--json")
                self.assertEqual(voxels(self.folder / f"v{ranks}.mha"), self.alone)
                said = json.loads(result.stdout)
                self.assertEqual(len(said["ranks"]), ranks if ranks > 1 else 0)
                self.assertEqual(sum(rank["slices"] for rank in said["ranks"]), 112 if ranks > 1 else 0)
                # What was read is counted once, whoever read it.
                for key in ("inputs", "pixels_saturated", "pixels_at_dark", "pixels_not_finite", "warnings"):
                    self.assertEqual(said["provenance"][key], self.provenance[key], key)
                self.assertEqual(result.stderr.count("reconstruct: done"), 1, result.stderr)
        self.assertEqual([n for n in self.names() if not n.endswith(".mha")], [], "nothing is left")

    def test_wedges_give_the_same_bits_whatever_the_timing(self):
        made = set()
        for round in range(2):
            self.over(8, "-o", f"w{round}.mha", "--quiet")
            made.add(voxels(self.folder / f"w{round}.mha"))
        self.assertEqual(len(made), 1)
        self.assertNotEqual(made, {self.alone}, "the views were not split")
        alone, split = array.array("f", self.alone), array.array("f", made.pop())
        peak = max(map(abs, alone))
        self.assertGreater(peak, 0)
        self.assertLessEqual(max(abs(a - b) for a, b in zip(alone, split, strict=True)), 2e-6 * peak)

    def test_every_format_is_written_by_all(self):
        for name in ("a.mhd", "b.nrrd", "c.tif", "d.raw", "e.zarr", "f.h5"):
            with self.subTest(name=name):
                self.over(3, "-o", name, "--quiet")
                self.lepus("convert", name, "-o", "back.mha", "--force", "--quiet")
                self.assertEqual(voxels(self.folder / "back.mha"), self.alone)

    def test_one_error_names_the_rank(self):
        (self.folder / "v.mha").write_text("mine")
        result = self.over(3, "-o", "v.mha", code=6)
        self.assertEqual(result.stderr.count("lepus: error:"), 1, result.stderr)
        self.assertRegex(result.stderr, r"error: rank \d on \S+: .*v\.mha")
        self.assertEqual((self.folder / "v.mha").read_text(), "mine")

    def test_different_scans_are_refused(self):
        shutil.copytree(self.made / "scan", self.folder / "scan")
        text = (self.folder / "scan/scan.toml").read_text()
        (self.folder / "scan/other.toml").write_text(text + '\n[[correct]]\nkind = "filter"\nfilter = "box"\nradius_px = 1\n')
        one = [PROGRAM, "reconstruct", "scan/scan.toml", "-o", "v.mha", "--backend", "cpu"]
        two = [PROGRAM, "reconstruct", "scan/other.toml", "-o", "v.mha", "--backend", "cpu"]
        result = subprocess.run([MPIRUN, "--oversubscribe", "-n", "1", *one, ":", "-n", "1", *two], cwd=self.folder,
                                capture_output=True, text=True, timeout=60, env=os.environ | ROOT)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stderr.count("lepus: error:"), 1, result.stderr)
        self.assertIn("the scan file is not the same on all ranks", result.stderr)
        self.assertFalse((self.folder / "v.mha").exists())

    def test_different_angles_are_refused(self):
        """In files of one name, which the scan file alone does not tell."""
        for rank in range(2):
            folder = self.folder / f"rank{rank}"
            shutil.copytree(self.made / "scan", folder, copy_function=shutil.copy2)
            text = (folder / "scan.toml").read_text()
            views = len(list((folder / "frames").iterdir()))
            text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith(("first_angle_deg", "arc_deg")))
            (folder / "scan.toml").write_text(text.replace("[geometry]\n", '[geometry]\nangles_file = "angles.txt"\n'))
            (folder / "angles.txt").write_text("".join(f"{360 / views * view + rank}\n" for view in range(views)))
        one = [PROGRAM, "reconstruct", "scan.toml", "-o", str(self.folder / "v.mha"), "--backend", "cpu"]
        places = [["--oversubscribe", "-n", "1", "-wdir", str(self.folder / f"rank{rank}"), *one] for rank in range(2)]
        result = subprocess.run([MPIRUN, *places[0], ":", *places[1][1:]], cwd=self.folder, capture_output=True, text=True,
                                timeout=60, env=os.environ | ROOT)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("geometry", result.stderr)
        self.assertFalse((self.folder / "v.mha").exists())

    def test_a_killed_rank_ends_all_and_the_next_start_completes(self):
        for round in range(KILLED):
            chance = random.Random(round)
            with self.subTest(round=round):
                run = subprocess.Popen(list(map(str, self.words(3, "-o", "k.mha", "--quiet"))), cwd=self.folder, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | KILLABLE)
                victim = None
                until = time.monotonic() + 20
                while victim is None and run.poll() is None and time.monotonic() < until:
                    ranks = [int(p) for p in pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()]
                    victim = chance.choice(ranks) if len(ranks) >= 3 else None
                self.assertIsNotNone(victim)
                time.sleep(chance.uniform(0.05, 0.6))
                with contextlib.suppress(ProcessLookupError):  # it may have ended before mpirun did
                    if run.poll() is None:
                        os.kill(victim, signal.SIGKILL)
                killed = time.monotonic()
                said = run.communicate(timeout=60)[1]
                self.assertLess(time.monotonic() - killed, 10, said)
                if not (self.folder / "k.mha").exists():  # else the volume was complete before
                    self.over(3, "-o", "k.mha", "--quiet")
                self.assertEqual(voxels(self.folder / "k.mha"), self.alone)
                for left in self.folder.glob("k.mha*"):
                    left.unlink()

    def test_fewer_slabs_left_than_ranks_give_the_same_bits(self):
        self.lepus("reconstruct", self.made / "scan/scan.toml", "-o", "v.mha", "--backend", "cpu", "--share", "1/2", "--quiet")
        self.assertFalse((self.folder / "v.mha").exists())
        result = self.over(6, "-o", "v.mha")
        self.assertRegex(result.stderr, r"\d+ of 112 slices are done")
        self.assertEqual(voxels(self.folder / "v.mha"), self.alone)

    def test_rows_that_a_rank_had_corrected_are_not_corrected_again(self):
        # So many voxels that slabs take longer than a kill, and a correction so slow that rows in memory are kept in a file, too.
        self.lepus("simulate", "shepp-logan", "-o", "scan", *SCAN, "--size", "384,384,112", "--voxel", "0.4", "--no-truth")
        scan = self.folder / "scan/scan.toml"
        scan.write_text(scan.read_text() + '\n[[correct]]\nkind = "filter"\nfilter = "median"\npictures = "frames"\ndimensions = 2\nradius_px = 7\n')
        self.lepus("reconstruct", scan, "-o", "alone.mha", "--backend", "cpu", "--quiet")
        words = [MPIRUN, "--oversubscribe", "-n", "2", PROGRAM, "reconstruct", scan, "-o", "v.mha", "--backend", "cpu", "--threads", "1"]
        journal = self.folder / "v.mha.rank-1-of-2.journal"
        for _ in range(10):
            run = subprocess.Popen(list(map(str, words)), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | KILLABLE)
            while run.poll() is None and not records(journal, "rows"):
                time.sleep(0.001)
            ranks = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split() if run.poll() is None else []
            for rank in ranks:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(rank), signal.SIGKILL)
            run.wait(timeout=60)
            if records(journal, "rows") and not records(journal, "slab"):  # else that rank may need other rows the next time
                break
            for left in self.folder.glob("v.mha*"):
                left.unlink()
        self.assertTrue(records(journal, "rows"), "it always ended too early")
        result = subprocess.run(list(map(str, words)), cwd=self.folder, capture_output=True, text=True, timeout=120, env=os.environ | ROOT)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"[1-9]\d* rows that an earlier run had corrected")
        self.assertEqual(voxels(self.folder / "v.mha"), voxels(self.folder / "alone.mha"))
        self.assertEqual([name for name in self.names() if name.startswith((".v.", "v.mha."))], [], "nothing is left")
        account = [json.loads(subprocess.check_output([PROGRAM, "info", name, "--json"], cwd=self.folder))["provenance"] for name in ("v.mha", "alone.mha")]
        for key in ("inputs", "pixels_saturated", "pixels_at_dark", "pixels_not_finite"):
            self.assertEqual(account[0][key], account[1][key], key)

    def test_every_rank_keeps_the_memory_limit(self):
        """A volume of 125 MiB by two ranks of 96 MiB each, counted by the kernel."""
        self.lepus("simulate", "ball", "-o", "large", "--views", "40", "--columns", "400", "--rows", "400", "--pixel", "0.8", "--subpixels", "1",
                   "--flats", "2", "--darks", "2", "--size", "320,320,320", "--voxel", "0.5", "--no-truth", "--quiet")
        command = [PROGRAM, "reconstruct", "large/scan.toml", "--backend", "cpu", "--threads", "1", "--memory", "96MiB", "--quiet"]
        measured = [sys.executable, "-c", "import os, resource, subprocess, sys; code = subprocess.call(sys.argv[1:]);"
                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=open('peak.' + os.environ['OMPI_COMM_WORLD_RANK'], 'w'));"
                    "sys.exit(code)"]
        result = subprocess.run([MPIRUN, "--oversubscribe", "-n", "2", *measured, *command, "-o", "ranks.raw"], cwd=self.folder, capture_output=True,
                                text=True, timeout=120, env=os.environ | ROOT)
        self.assertEqual(result.returncode, 0, result.stderr)
        for rank in range(2):
            peak = int((self.folder / f"peak.{rank}").read_text()) / 1024
            print(f"rank {rank}: peak {peak:.0f} of 96 MiB")
            self.assertLessEqual(peak, 1.05 * 96)
        subprocess.run([*command, "-o", "alone.raw"], cwd=self.folder, check=True)
        self.assertTrue(filecmp.cmp(self.folder / "ranks.raw", self.folder / "alone.raw", shallow=False))

    def test_what_one_process_must_do_is_refused(self):
        for more, needle in ((["--compare-methods", "fdk,sirt"], "methods are compared by one process"),
                             (["--method", "sirt", "--wedges", "2"], "views are shared out by FDK alone")):
            result = self.over(2, "-o", "v.mha", *more, code=2)
            self.assertEqual(result.stderr.count("lepus: error:"), 1, result.stderr)
            self.assertIn(needle, result.stderr)


class WithoutMpi(ProgramCase):
    def test_the_plain_program_does_not_load_mpi(self):
        if not shutil.which("ldd"):
            self.skipTest("ldd is not installed")
        self.assertNotIn("mpi", subprocess.check_output(["ldd", PROGRAM], text=True).replace(PROGRAM, ""))

    def test_several_processes_without_the_module_are_refused(self):
        self.simulate()
        result = self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", code=7,
                            env=os.environ | {"OMPI_COMM_WORLD_SIZE": "2", "LEPUS_MPI_MODULE": "/nowhere/liblepus_mpi.so"})
        self.assert_error(result, "unsupported", "/nowhere/liblepus_mpi.so")

    def test_tasks_that_cannot_meet_are_refused(self):
        self.simulate()
        result = self.lepus("reconstruct", "scan/scan.toml", "-o", "v.mha", code=2,
                            env=os.environ | {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4"})
        self.assert_error(result, "usage", "--mpi=pmix")


if __name__ == "__main__":
    unittest.main()
