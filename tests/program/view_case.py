# SPDX-License-Identifier: Apache-2.0
"""What the tests of lepus view share: a running one, asked as its page asks, and a small volume."""
import json
import os
import pathlib
import signal
import subprocess
import time
import urllib.error
import urllib.request

import numpy

from program_case import PROGRAM, ProgramCase


def mha_header(nx, ny, nz, kind="MET_FLOAT"):
    return (f"ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nDimSize = {nx} {ny} {nz}\n"
            f"ElementSpacing = 0.5 0.5 0.5\nlepus_value_unit = 1/mm\nElementType = {kind}\nElementDataFile = LOCAL\n").encode()


def write_mha(path, volume):
    path.write_bytes(mha_header(*volume.shape[::-1]) + volume.astype("<f4").tobytes())


class Viewed:
    """A running lepus view."""

    def __init__(self, folder, *words, **options):
        options.setdefault("env", {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")})
        self.process = subprocess.Popen([PROGRAM, "view", *map(str, words), "--json"], cwd=folder, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **options)
        text = b""
        while not text.endswith(b"}\n"):
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(self.process.stderr.read().decode())
            text += line
        self.address = json.loads(text)["address"]
        self.port = int(self.address.split(":")[2].split("/")[0])
        self.token = self.address.partition("token=")[2]

    def get(self, target, headers=None, data=None, timeout=60):
        """Status, headers and body."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{target}", headers=headers or {}, data=data)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def json(self, target, **options):
        return json.loads(self.get(target, **options)[2])

    def post(self, target, **body):
        return self.get(target, {"Content-Type": "application/json"}, json.dumps(body).encode())

    def picture(self, target, kind="<f4", **options):
        status, headers, body = self.get(target, **options)
        assert status == 200, body
        width, height = map(int, headers["X-Lepus-Size"].split(","))
        return numpy.frombuffer(body, kind).reshape(height, width)

    def memory(self, what="VmHWM"):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in text.splitlines() if line.startswith(what)).split()[1]) * 1024

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wait_for(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            session = self.json("/api/session")
            if condition(session):
                return session
            time.sleep(0.1)
        raise AssertionError(f"did not happen in {seconds} s: {self.json('/api/session')}")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        out, error = self.process.communicate(timeout=30)
        return self.process.returncode, error.decode()


class ViewCase(ProgramCase):
    def view(self, *words, **options):
        viewed = Viewed(self.folder, *words, **options)
        self.addCleanup(viewed.stop)
        return viewed

    def small(self, name="v.mha", shape=(12, 16, 20), seed=1):
        volume = numpy.random.default_rng(seed).random(shape).astype("f4")
        write_mha(self.folder / name, volume)
        return volume
