# SPDX-License-Identifier: Apache-2.0
"""Hostile input, some thousand cases of it (hostile_cases.py). Whatever is done to lepus, it does not crash, hang or lose a file,
it leaves nothing behind, ends with a code that its help lists, and an error says what to do. LEPUS_HOSTILE=all runs every
case; without it every n-th, 600 of them."""
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import numpy

import hostile_cases
from program_case import EXIT_AFTER, PROGRAM, ProgramCase

SECONDS = 20  # a case takes hundredths; a machine that is busy may take longer
INTERNAL = 70
NOT_FOR_PEOPLE = re.compile(r"std::|terminate called|basic_string|vector::|bad_alloc|json\.exception|filesystem error|what\(\)|Assertion|Segmentation|0x[0-9a-f]{8}")


def run(*words, **options):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True, timeout=60, **options).stdout


def documented_codes():
    return {int(code) for code in re.findall(r"(?m)^  (\d+) ", run("--help").split("Exit codes:")[1])} - {INTERNAL}


def state_of(folder):
    """Every name below, with what would show that it was changed."""
    found = {}
    for top, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(top, name)
            info = os.lstat(path)
            found[os.path.relpath(path, folder)] = (info.st_mode, 0, 0) if name in folders else (info.st_mode, info.st_size, info.st_mtime_ns)
    return found


class Sandbox:
    """A folder with a scan and volumes, as it was before each case."""

    def __init__(self, original):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lepus-hostile-"))
        shutil.copytree(original, self.folder, dirs_exist_ok=True)
        self.before = state_of(self.folder)

    def place(self, files):
        self.replaced = {}
        for name, content in files.items():
            path = self.folder / name
            self.replaced[path] = path.read_bytes() if path.is_file() else None
            path.unlink(missing_ok=True)
            if callable(content):
                content(path)
            else:
                path.write_bytes(content)

    def restore(self):
        for path, content in self.replaced.items():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
            if content is not None:
                path.write_bytes(content)
        for name in sorted(set(state_of(self.folder)) - set(self.before), reverse=True):  # what is in a folder comes before it
            path = self.folder / name
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def prepared(case):
    """For the child, after fork."""
    def prepare():
        for kind, amount in case.limits:
            resource.setrlimit(kind, (amount, amount))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if case.streams == "closed":
            os.close(1)
        if case.streams == "all closed":
            for stream in (0, 1, 2):
                os.close(stream)
    return prepare


def execute(case, folder):
    environment = {**os.environ, **{k: v for k, v in case.environment.items() if v is not None}}
    for name, value in case.environment.items():
        if value is None:
            environment.pop(name, None)
    words = [PROGRAM.encode(), *(word.encode(errors="surrogateescape") for word in case.words)]
    if case.streams == "full":
        stdout = open("/dev/full", "wb")
    elif case.streams == "pipe":
        reader, writer = os.pipe()
        os.close(reader)
        stdout = os.fdopen(writer, "wb")
    else:
        stdout = subprocess.DEVNULL
    with subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, env=environment, preexec_fn=prepared(case)) as process:
        try:
            text = process.communicate(timeout=SECONDS)[1]
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            text, code = process.communicate()[1], "it hangs"
    if stdout is not subprocess.DEVNULL:
        stdout.close()
    return code, text[:100_000].decode(errors="replace")


class Hostile(ProgramCase):
    @classmethod
    def setUpClass(cls):
        cls.original = pathlib.Path(tempfile.mkdtemp(prefix="lepus-hostile-"))
        cls.addClassCleanup(shutil.rmtree, cls.original, ignore_errors=True)
        run("simulate", "ball", "-o", "scan", "--views", "8", "--columns", "16", "--rows", "12", "--pixel", "12.8", "--flats", "2", "--darks", "2", "--subpixels", "1", "--quiet", cwd=cls.original)
        (cls.original / "scan/truth.mha").rename(cls.original / "v.mha")
        for ending in ("nrrd", "mhd", "tif", "h5", "raw"):
            if subprocess.run([PROGRAM, "convert", "v.mha", "-o", f"v.{ending}", "--quiet", "--force"], cwd=cls.original, capture_output=True).returncode not in (0, 7):
                raise RuntimeError(f"v.{ending} cannot be made")
        forms = {}
        for form, name in (("stack", "frames.tif"), ("hdf5", "frames.h5"), ("raw", "frames.raw")):
            if subprocess.run([PROGRAM, "convert", "scan/scan.toml", "-o", form, "--frames", form, "--quiet"], cwd=cls.original, capture_output=True).returncode == 0:
                forms[form] = (name, (cls.original / form / name).read_bytes())
        (cls.original / "out").mkdir()
        cls.codes = documented_codes()
        helps = {}
        scan = (cls.original / "scan/scan.toml").read_text()
        volumes = {path.name: path.read_bytes() for path in sorted(cls.original.glob("v.*"))}
        cls.cases = hostile_cases.all_cases(lambda command: helps.setdefault(command, run(command, "--help")), scan, json.loads(run("scan-keys", "--json"))["keys"], volumes,
                                            (cls.original / "scan/frames/0000.tif").read_bytes(), forms)

    def complaints(self, case, sandbox, before, code, text):
        """What was wrong with how it ended."""
        if code == "it hangs":
            yield "it hangs"
            return
        if code < 0:
            yield f"killed by {signal.Signals(-code).name}"
        elif code not in self.codes:
            yield f"exit code {code} is not listed in --help"
        if case.refused and code == 0:
            yield "it was accepted"
        heard = case.streams != "all closed"
        if code not in (0, 8, 130, 141) and code > 0 and heard and not case.may_write_silently:
            if text.count("lepus: error:") != 1 and case.words:
                yield f"{text.count('lepus: error:')} errors"
            if "hint: " not in text and case.words:
                yield "no hint"
        if NOT_FOR_PEOPLE.search(text):
            yield f"words that are not for people: {NOT_FOR_PEOPLE.search(text).group()}"
        volume = sandbox.folder / "out/v.mha"
        if code == 0 and case.words[0] == "reconstruct" and not numpy.isfinite(numpy.frombuffer(volume.read_bytes()[-4 * 15 * 15 * 12:], "<f4")).all():
            yield "the volume holds NaN"
        after = state_of(sandbox.folder)
        for name in before:
            if name not in after:
                yield f"{name} is lost"
            elif after[name] != before[name]:
                yield f"{name} was changed"
        left = sorted(set(after) - set(before))
        if "what is finished is kept" in text:  # for the same command
            left = [name for name in left if not re.search(r"\.(journal|unfinished|results|rows)$|\.unfinished/", name)]
        if code != 0 and code != 8 and left and case.streams == "":
            yield f"it left {left}"
        if any(re.search("partial-|lepus-lock|lepus-scratch", name) for name in left):
            yield f"it left {left}"

    def attempt(self, case):
        sandbox = getattr(self.local, "sandbox", None)
        if sandbox is None:
            sandbox = self.local.sandbox = Sandbox(self.original)
            self.addCleanup(shutil.rmtree, sandbox.folder, ignore_errors=True)
        sandbox.place(case.files)
        before = state_of(sandbox.folder)
        start = time.monotonic()
        code, text = execute(case, sandbox.folder)
        wrong = list(self.complaints(case, sandbox, before, code, text))
        sandbox.restore()
        return case, wrong, code, text, time.monotonic() - start

    def test_signals_leave_nothing_behind(self):
        """In the middle of a run: when the output is locked and the handlers are there."""
        sandbox = Sandbox(self.original)
        self.addCleanup(shutil.rmtree, sandbox.folder, ignore_errors=True)
        long = {"simulate": ["simulate", "shepp-logan", "-o", "out/s", "--preset", "large", "--subpixels", "4"],
                "reconstruct": ["reconstruct", "scan/large.toml", "-o", "out/v.mha"],
                "live": ["live", "scan/scan.toml", "-o", "out/v.mha", "--views", "9", "--first-number", "0", "--preview", "out/p.png", "--every", "0"]}
        (sandbox.folder / "scan/large.toml").write_text(
            hostile_cases.with_key(hostile_cases.with_key((sandbox.folder / "scan/scan.toml").read_text(), "volume", "size", "[600, 600, 600]"), "volume", "voxel_mm", "0.1"))
        before = state_of(sandbox.folder)
        for (command, words), number in itertools.product(long.items(), (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
            with self.subTest(command=command, signal=number.name):
                process = subprocess.Popen([PROGRAM, *words], cwd=sandbox.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                end = time.monotonic() + SECONDS
                while not any(re.search("partial-|unfinished", name) for name in state_of(sandbox.folder)) and process.poll() is None:
                    self.assertLess(time.monotonic(), end, "it never began")
                    time.sleep(0.01)
                process.send_signal(number)
                _, text = process.communicate(timeout=SECONDS)
                self.assertEqual(process.returncode, EXIT_AFTER[number], text)
                self.assertIn("interrupted", text)
                left = set(state_of(sandbox.folder)) - set(before)
                kept = {"out/v.mha.journal", "out/v.mha.unfinished", "out/v.mha.results"} if "goes on" in text else set()  # of finished slabs
                self.assertLessEqual(left, {"out/p.png"} | kept, text)  # live's last picture stays
                for name in left:
                    (sandbox.folder / name).unlink()

    def test_nothing_breaks_it(self):
        every = 1 if os.environ.get("LEPUS_HOSTILE") == "all" else len(self.cases) // 600
        cases = self.cases[::every]
        self.local = threading.local()
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(self.attempt, cases))
        codes = {}
        for _, _, code, _, _ in results:
            codes[code] = codes.get(code, 0) + 1
        print(f"hostile: {len(cases)} cases of {len(self.cases)} in {time.monotonic() - begin:.0f} s; exit codes {dict(sorted(codes.items(), key=str))}")
        slowest = sorted(results, key=lambda result: -result[4])[:5]
        print("slowest: " + "; ".join(f"{case.name} {seconds:.1f} s" for case, _, _, _, seconds in slowest))
        failed = [f"{case.name}: {'; '.join(wrong)}\n    lepus {' '.join(case.words)[:200]!r} ended with {code}\n    {text[:400].strip()!r}" for case, wrong, code, text, _ in results if wrong]
        self.assertEqual(len(failed), 0, f"{len(failed)} of {len(cases)}\n" + "\n".join(failed))
        self.assertGreaterEqual(len(self.cases), 600)


if __name__ == "__main__":
    unittest.main()
