# SPDX-License-Identifier: Apache-2.0
"""The program lepus, for what works on files: the command of that name with its options, and its result as a dict."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from ._messages import warn
from .errors import UnsupportedError, make


def find():
    """LEPUS_PROGRAM, the one that was installed with this package, or the first of PATH."""
    beside = pathlib.Path(__file__).parent / "bin" / "lepus"
    found = os.environ.get("LEPUS_PROGRAM") or (str(beside) if beside.exists() else shutil.which("lepus"))
    if not found:
        raise UnsupportedError("the program lepus is not installed", "", "it is neither beside this package nor in PATH",
                               "install the package lepus, or name it in LEPUS_PROGRAM")
    return found


def words_of(options):
    """Keyword arguments as options of the command line: beam_width=3 is --beam-width 3, a list --size 1,2,3, True a flag; several
    times one option is a tuple of texts."""
    words = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(flag)
        elif value is None or value is False:
            continue
        elif isinstance(value, tuple) and all(isinstance(one, str) for one in value):
            words += [word for one in value for word in (flag, one)]
        elif isinstance(value, (list, tuple)):
            words += [flag, ",".join(str(one) for one in value)]
        else:
            words += [flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return words


def run(command, *arguments, show=False, **options):
    """`lepus COMMAND ARGUMENTS --OPTIONS --json`: the dict that it prints. Errors are raised as the library's own; warnings are
    warned of. show: its progress and notes appear on standard error."""
    words = [find(), command, *map(os.fspath, arguments), *words_of(options), "--json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=None if show else subprocess.PIPE, text=True, check=False)
    try:
        result = json.loads(done.stdout) if done.stdout.strip() else {}
    except json.JSONDecodeError:
        raise make("internal", "the program's answer cannot be read", " ".join(words[1:]), done.stdout[:200]) from None
    if "error" in result:
        error = result["error"]
        raise make(error.get("kind", "internal"), error.get("what", ""), error.get("where", ""), error.get("why", ""),
                   error.get("hint", ""), memory="memory")
    for text in result.pop("warnings", []):
        warn(text)
    if done.returncode == 8:
        raise make("comparison", "a metric is beyond the limit it was given", " ".join(words[1:]), json.dumps(result))
    if done.returncode:
        raise make("internal", f"the program ended with code {done.returncode}", " ".join(words[1:]), (done.stderr or "").strip()[-500:])
    return result


def main():
    """The command lepus of a Python environment: the program that lies in the package."""
    program = find()
    os.execv(program, [program, *sys.argv[1:]])
