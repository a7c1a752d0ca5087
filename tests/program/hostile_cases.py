# SPDX-License-Identifier: Apache-2.0
"""What users and disks do to a program, made systematically: every option of every command with values that it cannot have,
every key of a scan file with wrong types and extremes, every format cut off, flipped and filled with nonsense, inputs and
outputs that are no plain files, systems without memory, files or somebody who listens. hostile_test.py runs the cases."""
import dataclasses
import itertools
import os
import re
import resource
import struct

DEEP = 100_000


@dataclasses.dataclass
class Case:
    name: str
    words: list                                 # of the command line
    refused: bool = True                        # False: it may also succeed
    files: dict = dataclasses.field(default_factory=dict)  # made before, by name: bytes, or a function of the path
    limits: tuple = ()                          # of the system, for the process: (resource, amount)
    streams: str = ""                           # "full": standard output is /dev/full; "closed": not there; "pipe": nobody reads it
    environment: dict = dataclasses.field(default_factory=dict)
    may_write_silently: bool = False            # an error need not have words: nobody can read them


# Command lines that work, by command. Outputs are in out/, which is empty.
def good_lines(volume="v.mha", scan="scan/scan.toml", out="out"):
    return {
        "simulate": ["simulate", "ball", "-o", f"{out}/s", "--views", "4", "--columns", "16", "--rows", "12", "--pixel", "12.8", "--subpixels", "1"],
        "info": ["info", volume],
        "plan": ["plan", scan],
        "center": ["center", scan],
        "calibrate": ["calibrate", scan, "-o", f"{out}/c.toml"],
        "preview": ["preview", scan, "-o", f"{out}/p.html"],
        "reconstruct": ["reconstruct", scan, "-o", f"{out}/v.mha"],
        "project": ["project", volume, "--scan", scan, "-o", f"{out}/p.raw"],
        "live": ["live", scan, "-o", f"{out}/v.mha", "--views", "8", "--timeout", "1"],
        "analyze": ["analyze", volume, "-o", f"{out}/r", "--threshold", "otsu"],
        "post": ["post", volume, "-o", f"{out}/v.mha", "--do", "median radius=1"],
        "compare": ["compare", volume, "v.nrrd"],
        "convert": ["convert", volume, "-o", f"{out}/v.nrrd"],
        "slice": ["slice", volume, "-o", f"{out}/s.png"],
        "scan-keys": ["scan-keys"],
        "rabbitct": ["rabbitct", "score", "none.rctd", "none.bin"],
        "bench": ["bench", "compare", "none.json", "none.json"],
        "completion": ["completion", "bash"],
        "man": ["man", "slice"],
    }


WRONG_VALUES = ["", "abc", "-1", "nan", "0,5", "1e999", "9" * 30]


NAMES_A_FILE = ("--difference", "--folder", "--output", "--picture", "--preview", "--status", "--trace", "--truth-file")


TAKES_A_LIST = ("--device", "--slices", "--percentiles", "--threshold")


def must_be_refused(option, value):
    """Some are fine (a level of -1, a file called nan): that they end well is all that is asked then."""
    if value == "" or (option, value) in (("--device", "-1"), ("--threads", "-1"), ("--memory", "-1")):
        return True
    if option in NAMES_A_FILE or (value == "0,5" and option in TAKES_A_LIST):
        return False
    return value in ("abc", "nan", "0,5", "1e999")


def options_with_values(help_text):
    return sorted(set(re.findall(r"^ {2,6}(?:-\w, )?(--[a-z-]+) [A-Z]", help_text, re.M)))


def option_cases(help_of):
    """help_of: the text of `lepus COMMAND --help`, by command."""
    for command, line in good_lines().items():
        yield Case(f"{command}: an option that is not there", [*line, "--nonsense"])
        yield Case(f"{command}: a word too many", [*line, "one", "two", "three", "four"])
        if command not in ("scan-keys", "man", "bench"):
            yield Case(f"{command}: no arguments", [command])
        for option in options_with_values(help_of(command)):
            yield Case(f"{command} {option}: without its value", [*line, option])
            for value in WRONG_VALUES:
                yield Case(f"{command} {option} {value[:9]!r}", [*line, f"{option}={value}"], refused=must_be_refused(option, value))
    for number, words in enumerate([[], ["nonsense"], ["-x"], ["--"], [""], ["\udcff\udcfe"], ["a" * 100_000]]):
        yield Case(f"no command {number}", words)


WRONG_TOML = ["true", "-1", "0", "1e300", "1e-300", "-1e300", "nan", "inf", '""', '"nonsense"', "[]", "[1, 2, 3, 4, 5]", "[[1]]", "{a = 1}",
              "2026-11-16", "9223372036854775807", "9" * 30, "1,5", "'''"]


def with_key(scan, section, key, value):
    """The scan file with one key of a section set."""
    text = scan if f"[{section}]" in scan else f"{scan}\n[{section}]\n"
    head, body = text.split(f"[{section}]\n", 1)
    own, *others = re.split(r"(?m)^(?=\[)", body, maxsplit=1)
    own = re.sub(rf"(?m)^{key}\s*=.*\n", "", own)
    return f"{head}[{section}]\n{key} = {value}\n{own}{''.join(others)}"


def key_cases(scan, keys):
    """scan: the text of a scan file that works; keys: `lepus scan-keys --json`."""
    line = ["reconstruct", "scan/hostile.toml", "-o", "out/v.mha"]
    for key in keys:
        if key["section"] in ("correct", "post"):
            continue
        for value in WRONG_TOML:
            text = with_key(scan, key["section"], key["name"], value)
            yield Case(f"{key['section']}.{key['name']} = {value[:12]}", line, refused=False, files={"scan/hostile.toml": text.encode()})
    for section in sorted({key["section"] for key in keys}):
        for value in ("1", "[]", '"x"'):
            yield Case(f"[{section}] = {value}", line, files={"scan/hostile.toml": re.sub(rf"(?ms)^\[{section}\].*?(?=^\[|\Z)", "", scan).replace(
                "", f"{section} = {value}\n", 1).encode()})
    for name, text in {
        "deep table": "[" + ".".join(["a"] * DEEP) + "]\n", "deep key": ".".join(["a"] * DEEP) + " = 1\n", "deep list": "a = " + "[" * DEEP,
        "deep inline table": "a = " + "{b = " * DEEP, "quoted deep key": ".".join(['"a"'] * DEEP) + " = 1\n", "empty": "", "nothing but a comment": "#\n",
        "no newline": "[frames", "zeros": "\0" * 1000, "a key twice": scan + scan, "17 MB": "# " + "x" * (17 << 20), "latin-1": "[frames]\nfiles = '\udce4'\n",
        "a byte order mark alone": "\ufeff", "carriage returns": scan.replace("\n", "\r"), "only sections": "\n".join(f"[s{i}]" for i in range(1000)),
    }.items():
        yield Case(f"scan file: {name}", line, files={"scan/hostile.toml": text.encode(errors="surrogateescape")})
    for kind, more in itertools.product(("correct", "post"), ("", "kind = 'nonsense'", "kind = 1", "kind = ''", "kind = 'rings'\nnonsense = 1", "kind = 'median'\nradius = nan")):
        yield Case(f"[[{kind}]] {more!r}", line, files={"scan/hostile.toml": f"{scan}\n[[{kind}]]\n{more}\n".encode()})


def angle_cases(scan):
    own = re.sub(r"(?m)^(first_angle_deg|arc_deg).*\n", "", scan)
    text = with_key(own, "geometry", "angles_file", '"hostile.txt"').encode()
    eight = lambda value: "".join(f"{value}\n" for _ in range(8))
    for name, numbers in {"empty": "", "words": eight("north"), "nan": eight("nan"), "1e308": eight("1e308"), "decimal commas": "".join(f"{i},5\n" for i in range(8)),
                          "too few": "1\n2\n", "too many": "".join(f"{i}\n" for i in range(1000)), "zeros": "\0" * 100, "hexadecimal": eight("0x10"),
                          "one long line": "1" * 1_000_000, "binary": bytes(range(256)).decode("latin-1") * 10}.items():
        yield Case(f"angles file: {name}", ["info", "scan/hostile.toml"], files={"scan/hostile.toml": text, "scan/hostile.txt": numbers.encode()})
    for name, make in ODD_FILES.items():
        yield Case(f"angles file: {name}", ["info", "scan/hostile.toml"], files={"scan/hostile.toml": text, "scan/hostile.txt": make})


# Damage to files


def damages(data, header_bytes):
    """By name: the bytes of a file after something happened to them."""
    for length in sorted({0, 1, header_bytes // 2, header_bytes, len(data) // 2, len(data) - 1}):
        if length < len(data):
            yield f"cut off after {length} bytes", data[:length]
    for i in range(16):  # spread over the header, another bit each time
        at = i * header_bytes // 16
        yield f"bit {i % 8} of byte {at} flipped", data[:at] + bytes([data[at] ^ 1 << i % 8]) + data[at + 1:]
    yield "random bytes", bytes((i * i * 7919 >> 3) & 255 for i in range(1000))
    yield "zeros", bytes(len(data))
    yield "all ones", b"\xff" * len(data)
    yield "a header of ones", b"\xff" * header_bytes + data[header_bytes:]


HEADER_LINES = {
    "v.mha": ["DimSize = 0 0 0", "DimSize = -1 -1 -1", "DimSize = 1000000000 1000000000 1000000000", "DimSize = 9223372036854775807 2 2", "DimSize = 3", "DimSize = x y z",
              "NDims = 99999999999", "NDims = -3", "ElementType = MET_NONSENSE", "ElementType = ", "ElementSpacing = 0 0 0", "ElementSpacing = nan nan nan", "ElementSpacing = 1e308 1e308 1e308",
              "ElementSpacing = 0,5 0,5 0,5", "Offset = inf 0 0", "CompressedData = True", "ElementDataFile = LIST", "ElementDataFile = ", "ElementDataFile = /etc/passwd", "ElementDataFile = v.mha"],
    "v.nrrd": ["sizes: 0 0 0", "sizes: -1 -1 -1", "sizes: 1000000000 1000000000 1000000000", "sizes: 9223372036854775807 2 2", "dimension: 100", "dimension: -1", "type: nonsense", "encoding: nonsense",
               "endian: middle", "spacings: 0 0 0", "spacings: nan nan nan", "space directions: (1,0,0) (1,0,0) (1,0,0)", "space origin: (x,y,z)", "data file: nowhere.raw", "data file: ../../../etc/passwd", "byte skip: -5"],
    "v.raw.json": ['"size": [0, 0, 0]', '"size": [-1, 1, 1]', '"size": [4000000000, 4000000000, 4000000000]', '"size": "x"', '"type": "float128"', '"header_bytes": -1',
                   '"header_bytes": 9223372036854775807', '"step_mm": [0, 0, 0]', '"byte_order": "middle"'],
}


def with_header_line(data, line):
    key = re.split(r" = |: ", line)[0].encode()
    changed = re.sub(rb"(?m)^\s*" + re.escape(key) + rb"[ :=][^\n]*?(,?)$", line.encode() + rb"\1", data, count=1)
    if changed != data:
        return changed
    before = data.index(b"\n") + 1
    return data[:before] + line.encode() + b"\n" + data[before:]


def format_cases(volumes):
    """volumes: the bytes of volumes that can be read, by name."""
    for name, data in volumes.items():
        copy = "hostile" + name[1:]
        read = copy.removesuffix(".json")
        beside = {"hostile.raw": volumes["v.raw"]} if name.endswith((".json", ".mhd")) else {}
        if name.endswith("v.raw"):
            beside = {"hostile.raw.json": volumes["v.raw.json"]}
        header = data.find(b"ElementDataFile") if b"ElementDataFile" in data else min(len(data), 600)
        for number, (what, bad) in enumerate(damages(data, header)):
            words = ["info", read] if number % 2 else ["convert", read, "-o", "out/v.mha"]
            # A voxel or a letter that changed is nobody's error.
            yield Case(f"{name}: {what}", words, refused=False, files={**beside, copy: bad})
        for line in HEADER_LINES.get(name, []):
            yield Case(f"{name}: {line}", ["info", read], refused=False, files={**beside, copy: with_header_line(data, line)})
    deep = b"[" * DEEP + b"]" * DEEP
    at = volumes["v.mha"].find(b"lepus_provenance_")
    deep_lines = b"".join(b"lepus_provenance_%05d = |%s|\n" % (i, deep[i * 1000:(i + 1) * 1000]) for i in range(len(deep) // 1000))
    deep_mha = volumes["v.mha"][:at] + deep_lines + volumes["v.mha"][volumes["v.mha"].find(b"ElementDataFile"):]
    yield Case("v.mha: deep provenance", ["info", "hostile.mha"], files={"hostile.mha": deep_mha})
    yield Case("v.mha: deep provenance, converted", ["convert", "hostile.mha", "-o", "out/v.nrrd"],
               files={"hostile.mha": deep_mha})
    yield Case("v.raw: deep side-car", ["info", "hostile.raw"], files={"hostile.raw": volumes["v.raw"], "hostile.raw.json": b'{"size": ' + deep + b"}"})
    yield Case("v.tif: deep description", ["info", "hostile.tif"], files={"hostile.tif": tiff(b'{"lepus": ' + deep + b"}")})
    yield Case("bench report: deep", ["bench", "compare", "hostile.json", "hostile.json"], files={"hostile.json": deep})
    yield Case("phantom: deep", ["simulate", "hostile.toml", "-o", "out/s"], files={"hostile.toml": b"[" + b".".join([b"a"] * DEEP) + b"]"})


def tiff(description):
    """One float pixel with this description."""
    entries = [(256, 3, 1, 1), (257, 3, 1, 1), (258, 3, 1, 32), (259, 3, 1, 1), (262, 3, 1, 1), (270, 2, len(description), 0), (273, 4, 1, 8), (278, 3, 1, 1), (279, 4, 1, 4), (339, 3, 1, 3)]
    ifd = 12
    end = ifd + 2 + 12 * len(entries) + 4
    body = b"".join(struct.pack("<HHI", tag, kind, count) + (struct.pack("<HH", value, 0) if kind == 3 else struct.pack("<I", end if tag == 270 else value))
                    for tag, kind, count, value in entries)
    return struct.pack("<2sHI", b"II", 42, ifd) + struct.pack("<f", 1.0) + struct.pack("<H", len(entries)) + body + struct.pack("<I", 0) + description


def form_cases(forms):
    """forms: the folder of a scan and the bytes of its one file of frames, by the file's name in it."""
    for folder, (name, data) in forms.items():
        for number, (what, bad) in enumerate(damages(data, min(len(data), 2000))):
            words = ["info", f"{folder}/scan.toml"] if number % 2 else ["reconstruct", f"{folder}/scan.toml", "-o", "out/v.mha"]
            yield Case(f"{folder}/{name}: {what}", words, refused=False, files={f"{folder}/{name}": bad})
        for kind, make in ODD_FILES.items():
            yield Case(f"{folder}/{name}: {kind}", ["reconstruct", f"{folder}/scan.toml", "-o", "out/v.mha"], files={f"{folder}/{name}": make})


def frame_cases(frame):
    for number, (what, bad) in enumerate(damages(frame, 200)):
        yield Case(f"a frame: {what}", ["reconstruct", "scan/scan.toml", "-o", "out/v.mha"], refused=False, files={f"scan/frames/000{number % 8}.tif": bad})
    for name, make in ODD_FILES.items():
        # What a pattern does not find is missing, which is another test's matter.
        found = name not in ("a folder", "a link to itself", "a link to nowhere")
        yield Case(f"a frame: {name}", ["reconstruct", "scan/scan.toml", "-o", "out/v.mha"], refused=found, files={"scan/frames/0003.tif": make})
        yield Case(f"a flat: {name}", ["info", "scan/scan.toml"], refused=False, files={"scan/flats/0000.tif": make})


# Names that are no plain files


ODD_FILES = {
    "a folder": lambda path: path.mkdir(),
    "a pipe": os.mkfifo,
    "empty": lambda path: path.write_bytes(b""),
    "/dev/null": lambda path: path.symlink_to("/dev/null"),
    "/dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
    "noise": lambda path: path.write_bytes(bytes((i * 7919 >> 4) & 255 for i in range(5000))),
}


def input_cases():
    for kind, make in ODD_FILES.items():
        for command, line in good_lines("hostile.mha", "hostile.toml").items():
            name = next((word for word in line if word.startswith("hostile")), None)
            if name:
                yield Case(f"{command}: its input is {kind}", line, files={name: make})
        for ending in ("nrrd", "nhdr", "mhd", "tif", "h5", "raw"):
            yield Case(f"info: a .{ending} is {kind}", ["info", f"hostile.{ending}"], files={f"hostile.{ending}": make})
    for name in ("nowhere.mha", "no/where.mha", "v.mha/below.mha", "x" * 300 + ".mha", "x/" * 3000 + "v.mha", "new\nline.mha", "\udcff.mha", ".mha", "v.unknown", "v.h5:/nowhere", "v.mha:/x", "%d.tif", "x*.tif", "[.tif"):
        yield Case(f"info {name[:20]!r}", ["info", name])
    for name in ("nowhere.toml", "no/where.toml", "scan", "x" * 300 + ".toml", "\udcff.toml"):
        yield Case(f"plan {name[:20]!r}", ["plan", name])


def output_cases():
    writing = {command: line for command, line in good_lines().items() if any(word.startswith("out/") for word in line)}
    for command, line in writing.items():
        at = next(i for i, word in enumerate(line) if word.startswith("out/"))
        ending = re.search(r"(\.\w+)?$", line[at]).group()
        named = lambda name: [*line[:at], name, *line[at + 1:]]
        folder_is_fine = command in ("simulate", "analyze")
        for kind, name in {"a folder that is not there": "nowhere/v" + ending, "below a file": "v.mha/v" + ending, "too long": "out/" + "x" * 300 + ending,
                           "a folder": "scan", "/dev/full": "/dev/full", "/dev/null": "/dev/null", "nothing": "", "a file that is there": "v.mha", "the folder itself": "."}.items():
            # A pattern that names nothing and a folder that is made are both allowed where scans or reports are written.
            yield Case(f"{command}: its output is {kind}", named(name), refused=not (folder_is_fine and kind == "a folder that is not there"))
        yield Case(f"{command}: its output is a link to itself", named("loop" + ending), files={"loop" + ending: ODD_FILES["a link to itself"]})
        yield Case(f"{command}: its output is a pipe", named("pipe" + ending), files={"pipe" + ending: os.mkfifo})
        yield Case(f"{command}: its output is a device", named("device" + ending), files={"device" + ending: lambda path: path.symlink_to("/dev/full")})


def system_cases():
    mebibyte = 1 << 20
    for command, line in good_lines().items():
        if command in ("bench", "rabbitct"):
            continue
        talks = [word for word in line] + ["--json"] if command not in ("completion", "man") else line
        yield Case(f"{command}: standard output is full", talks, refused=False, streams="full")
        yield Case(f"{command}: standard output is closed", talks, refused=False, streams="closed")
        yield Case(f"{command}: nobody reads", talks, refused=False, streams="pipe", may_write_silently=True)
        yield Case(f"{command}: all streams are closed", line, refused=False, streams="all closed", may_write_silently=True)
        for amount in (0, 100, 3000):
            yield Case(f"{command}: files of {amount} bytes at most", line, refused=False, limits=((resource.RLIMIT_FSIZE, amount),))
        for amount in (4, 8, 10):
            yield Case(f"{command}: {amount} open files at most", line, refused=False, limits=((resource.RLIMIT_NOFILE, amount),))
        for amount in (96, 160, 256):
            yield Case(f"{command}: {amount} MiB of addresses", line, refused=False, limits=((resource.RLIMIT_AS, amount * mebibyte),))
        yield Case(f"{command}: 1 byte of memory", [*line, "--memory", "1"], refused=False)
        yield Case(f"{command}: 1 MiB of memory", [*line, "--memory", "1MiB"], refused=False)
        yield Case(f"{command}: no environment", line, refused=False, environment={"PATH": None, "HOME": None, "TMPDIR": "/nowhere", "LANG": "xx_XX", "TERM": "nonsense"})


def all_cases(help_of, scan, keys, volumes, frame, forms):
    return list(itertools.chain(option_cases(help_of), key_cases(scan, keys), angle_cases(scan), format_cases(volumes), frame_cases(frame), form_cases(forms),
                                input_cases(), output_cases(), system_cases()))

