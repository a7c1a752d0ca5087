# SPDX-License-Identifier: Apache-2.0
"""Builds of two commits side by side, for scripts/same-voxels and scripts/same-speed."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def add_arguments(parser):
    parser.add_argument("commits", nargs="*", metavar="COMMIT", help="BEFORE and AFTER; . is the checkout with what is not committed")
    parser.add_argument("--before-build", type=pathlib.Path, metavar="DIR", help="a build of BEFORE, instead of a commit")
    parser.add_argument("--after-build", type=pathlib.Path, metavar="DIR", help="a build of AFTER, likewise")
    parser.add_argument("--cmake", action="append", default=[], metavar="ARG",
                        help="an argument for cmake: --cmake=-DLEPUS_WITH_CUDA=OFF; may be repeated")


def build(commit, name, work, targets, arguments):
    """The program of a commit, or of the checkout itself for "."."""
    source = ROOT
    if commit != ".":
        source = work / f"{name}-source"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", source, commit], check=True)
    folder = work / f"{name}-build"
    print(f"building {name}: {commit}", flush=True)
    subprocess.run(["cmake", "--preset", "release", "-B", folder, "-DLEPUS_BUILD_TESTS=OFF", "-DLEPUS_BUILD_BENCHMARKS=OFF", *arguments],
                   cwd=source, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "-j", os.environ.get("JOBS", str(os.cpu_count())), "--target", *targets],
                   check=True, stdout=subprocess.DEVNULL)
    return folder / "bin" / "lepus"


@contextlib.contextmanager
def two_builds(parser, given, targets, one_is_enough=False):
    """A scratch folder, and the programs "before" and "after" as the arguments name them; all is removed at the end."""
    wanted = (not given.before_build) + (not given.after_build and not one_is_enough)
    if len(given.commits) != wanted:
        parser.error(f"{wanted} commits are wanted, {len(given.commits)} were given")
    commits = list(given.commits)
    work = pathlib.Path(tempfile.mkdtemp(prefix="lepus-two-builds-"))
    try:
        programs = {}
        for name, ready in (("before", given.before_build), ("after", given.after_build)):
            if ready:
                programs[name] = (ready / "bin" / "lepus").resolve(strict=True)
            elif commits:
                programs[name] = build(commits.pop(0), name, work, targets, given.cmake)
            else:
                programs[name] = programs["before"]
        yield work, programs
    finally:
        for source in work.glob("*-source"):
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", source], check=False)
        shutil.rmtree(work, ignore_errors=True)
