# SPDX-License-Identifier: Apache-2.0
"""lepus reconstruct under a real Slurm of one node, started by hand in a folder of its own: munged, slurmctld, slurmd, no systemd.

LEPUS_SLURM_REQUEUE=1 ends a job as its time limit does, which takes half a minute; LEPUS_SLURM_REQUEUE=limit also waits for a limit of
Slurm's own, which takes ten: Slurm lets a job wait two before it starts again.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import unittest

from program_case import PROGRAM, ProgramCase
from iterative_ranks_test import SCAN as SMALL_SCAN
from ranks_test import MODULE, SCAN, voxels

REQUEUE = os.environ.get("LEPUS_SLURM_REQUEUE", "")
NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch")
METHOD = """
[method]
name = "sirt"
iterations = {iterations}
save_every = 1
"""
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "examples/slurm/reconstruct.sh"


def find(name):
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def why_skipped():
    missing = [name for name in NEEDED if not find(name)]
    if missing:
        return f"Slurm is not installed: {', '.join(missing)} (slurm-wlm, munge)"
    if not MODULE.exists():
        return f"this build has no {MODULE.name}"
    if not any(" /sys/fs/cgroup" in line for line in open("/proc/mounts")):
        return "slurmd needs /sys/fs/cgroup, which this system has not mounted"
    return "" if os.geteuid() == 0 else "slurmd by hand needs root"


CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
SlurmUser=root
SlurmctldPort={port}
SlurmdPort={port2}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobRequeue=1
SchedulerParameters=sched_interval=2
KillWait=10
InactiveLimit=0
ReturnToService=2
MessageTimeout=60
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=60 State=UP OverSubscribe=FORCE:8
"""


@unittest.skipIf(why_skipped(), why_skipped())
class Slurm(ProgramCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.home = pathlib.Path(subprocess.check_output(["mktemp", "-d", "/tmp/lepus-slurm-XXXXXX"], text=True).strip())
        cls.addClassCleanup(shutil.rmtree, cls.home, ignore_errors=True)
        for name in ("state", "spool"):
            (cls.home / name).mkdir()
        key = cls.home / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        cls.home.chmod(0o755)
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            two.bind(("127.0.0.1", 0))
            ports = one.getsockname()[1], two.getsockname()[1]
        host = socket.gethostname().split(".")[0]
        conf = cls.home / "slurm.conf"
        conf.write_text(CONFIGURATION.format(folder=cls.home, host=host, port=ports[0], port2=ports[1], cores=os.cpu_count()))
        cls.env = os.environ | {"SLURM_CONF": str(conf)}
        cls.daemon([find("munged"), "--foreground", "--force", f"--key-file={key}", f"--socket={cls.home}/munge.socket",
                    f"--pid-file={cls.home}/munge.pid", f"--log-file={cls.home}/munge.log", f"--seed-file={cls.home}/munge.seed"])
        cls.wait(lambda: (cls.home / "munge.socket").exists(), "munged")
        cls.daemon([find("slurmctld"), "-D", "-f", str(conf)])
        cls.daemon([find("slurmd"), "-D", "-f", str(conf), "-N", host])
        cls.wait(lambda: "idle" in cls.slurm("sinfo", "-h", "-o", "%T", code=None).stdout, "the node")
        subprocess.run([PROGRAM, "simulate", "shepp-logan", "-o", "scan", *SCAN], cwd=cls.home, check=True, capture_output=True)
        subprocess.run([PROGRAM, "reconstruct", "scan/scan.toml", "-o", "alone.mha", "--backend", "cpu", "--quiet"], cwd=cls.home, check=True)

    @classmethod
    def daemon(cls, words):
        with open(cls.home / f"{pathlib.Path(words[0]).name}.out", "w") as log:
            process = subprocess.Popen(words, env=cls.env, stdout=log, stderr=subprocess.STDOUT)

        def end():
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        cls.addClassCleanup(end)

    @classmethod
    def wait(cls, ready, what, seconds=60):
        until = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > until:
                logs = "\n".join(f"{p.name}: {p.read_text()[-2000:]}" for p in cls.home.glob("*.out"))
                raise RuntimeError(f"{what} did not come up\n{logs}")
            time.sleep(0.2)

    @classmethod
    def slurm(cls, *words, code=0, **more):
        result = subprocess.run([find(words[0]), *map(str, words[1:])], env=cls.env | more.pop("env", {}), capture_output=True,
                                text=True, timeout=300, stdin=subprocess.DEVNULL, **more)
        if code is not None and result.returncode != code:
            raise AssertionError(f"{words}: {result.returncode}\n{result.stdout}{result.stderr}")
        return result

    def test_srun_makes_one_volume_of_several_tasks(self):
        self.slurm("srun", "--mpi=pmix", "-n", "2", "--overcommit", PROGRAM, "reconstruct", self.home / "scan/scan.toml", "-o",
                   "v.mha", "--backend", "cpu", "--quiet", cwd=self.folder)
        self.assertEqual(voxels(self.folder / "v.mha"), voxels(self.home / "alone.mha"))

    def test_srun_without_mpi_is_refused(self):
        result = self.slurm("srun", "--mpi=none", "-n", "2", "--overcommit", PROGRAM, "reconstruct", self.home / "scan/scan.toml",
                            "-o", "v.mha", "--backend", "cpu", code=2, cwd=self.folder)
        self.assertIn("--mpi=pmix", result.stderr)
        self.assertFalse((self.folder / "v.mha").exists())

    def test_the_example_script_makes_the_volume(self):
        self.slurm("sbatch", "--wait", "--nodes=1", "--ntasks-per-node=2", "--gpus-per-task=0", "--cpus-per-task=1", "--time=5",
                   "-o", self.folder / "log", SCRIPT, self.home / "scan/scan.toml", self.folder / "v.mha", cwd=self.folder,
                   env={"LEPUS": PROGRAM})
        self.assertEqual(voxels(self.folder / "v.mha"), voxels(self.home / "alone.mha"), (self.folder / "log").read_text())

    def iterated(self, iterations, volume):
        """Makes a scan to be iterated so often, and its volume without an interruption; how long that took."""
        if not (self.folder / "scan").exists():
            self.lepus("simulate", "shepp-logan", "-o", "scan", *SMALL_SCAN, "--quiet")
        scan = self.folder / "scan/scan.toml"
        scan.write_text(scan.read_text().split("\n[method]")[0] + METHOD.format(iterations=iterations))
        start = time.monotonic()
        self.slurm("srun", "--mpi=pmix", "-n", "2", "--overcommit", PROGRAM, "reconstruct", scan, "--backend", "cpu", "--quiet",
                   "-o", volume, cwd=self.folder)
        return time.monotonic() - start

    def requeued(self, end, iterations, *more):
        """The example script's job, which is ended once it iterates: it goes back into the queue and completes the volume."""
        self.iterated(iterations, "whole.mha")
        scan = self.folder / "scan/scan.toml"
        job = self.slurm("sbatch", "--parsable", "--nodes=1", "--ntasks-per-node=2", "--gpus-per-task=0", "--cpus-per-task=1", *more,
                         "-o", self.folder / "log", SCRIPT, scan, self.folder / "v.mha", cwd=self.folder,
                         env={"LEPUS": PROGRAM}).stdout.strip()
        log = lambda: (self.folder / "log").read_text() if (self.folder / "log").exists() else ""
        self.wait(lambda: (self.folder / "v.mha.state").exists() or self.fail_if((self.folder / "v.mha").exists(), log()), "a state")
        end(job)
        self.wait(lambda: (self.folder / "v.mha").exists(), "the volume", seconds=1200)
        self.assertEqual(voxels(self.folder / "v.mha"), voxels(self.folder / "whole.mha"))
        self.assertIn("which goes back into the queue", log())
        self.assertRegex(log(), r"going on after iteration \d+")
        self.assertEqual([n for n in self.names() if n.startswith("v.mha.")], [])

    def fail_if(self, wrong, why):
        self.assertFalse(wrong, why)
        return False

    @unittest.skipUnless(REQUEUE, "LEPUS_SLURM_REQUEUE is not set")
    def test_a_job_that_is_told_to_end_goes_back_into_the_queue(self):
        """As at the time limit: SIGTERM to the job's steps, not to its script."""
        self.requeued(lambda job: self.slurm("scancel", "--signal=TERM", job), 150, "--time=5")

    @unittest.skipUnless(REQUEUE == "limit", "LEPUS_SLURM_REQUEUE is not limit")
    def test_a_job_at_its_time_limit_goes_back_into_the_queue(self):
        """A limit of a minute, the least that Slurm has; it counts in steps of up to a minute, so that its signal may come early."""
        few, many = self.iterated(100, "few.mha"), self.iterated(1100, "many.mha")
        iterations = round(80 / (many - few) * 1000)  # eighty seconds of them
        self.requeued(lambda job: None, iterations, "--time=1", "--signal=TERM@20")


if __name__ == "__main__":
    unittest.main()
