# SPDX-License-Identifier: Apache-2.0
"""--help, the man pages and the completions: made from one table, so that all know every option; examples work."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from program_case import PROGRAM, SMALL, ProgramCase, command_names

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def man_works():
    """Ubuntu's containers have a man that only says that it was taken away."""
    if not shutil.which("man"):
        return False
    return "minimized" not in subprocess.run(["man", "man"], capture_output=True, text=True).stdout


def options_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", re.sub(r"\\f[BIR]", " ", text)))


def write_tetrahedron(path):
    """The smallest part: an STL file of four triangles."""
    a, b, c, d = (0, 0, 0), (10, 0, 0), (0, 10, 0), (0, 0, 10)
    lines = ["solid part"]
    for corners in ((a, c, b), (a, b, d), (a, d, c), (b, c, d)):
        lines += ["facet normal 0 0 0", "outer loop", *(f"vertex {x} {y} {z}" for x, y, z in corners), "endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid part", ""]))


class Help(ProgramCase):
    def table_options(self, command):
        """Options that the help of a command lists: those at the start of a line."""
        text = self.lepus(command, "--help").stdout
        return set(re.findall(r"^  (?:-\w, |    )(--[a-z][a-z-]+)", text, re.M))

    def test_commands_are_there(self):
        names = command_names()
        for name in ["simulate", "info", "compare", "convert", "slice", "completion", "man", "scan-keys"]:
            self.assertIn(name, names)
        help_text = self.lepus("--help").stdout
        for code in ["130", "75", "70", "8", "2"]:
            self.assertRegex(help_text, rf"(?m)^  {code} ")
        self.assertEqual(self.lepus("help").stdout, help_text)
        self.assertEqual(self.lepus("help", "slice").stdout, self.lepus("slice", "--help").stdout)
        self.assertRegex(self.lepus("--version").stdout, r"^lepus \d+\.\d+\.\d+\n$")
        nothing = self.lepus(code=2)
        self.assertIn("Usage:", nothing.stderr)
        self.assertEqual(nothing.stdout, "")

    def test_each_command_explains_itself(self):
        for name in command_names():
            with self.subTest(command=name):
                text = self.lepus(name, "--help").stdout
                self.assertIn(f"Usage: lepus {name}", text)
                self.assertRegex(text, r"(?m)^Examples?:$")
                self.assertIn(f"lepus {name}", text.split("Example")[1])
                self.assertLessEqual({"--quiet", "--json", "--threads", "--memory", "--help"}, self.table_options(name))
                self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_man_pages_know_every_option(self):
        for name in command_names():
            with self.subTest(command=name):
                page = self.lepus("man", name).stdout
                self.assertTrue(page.startswith(".TH "))
                self.assertLessEqual(self.table_options(name), options_in(page.replace("\\-", "-")))
        overview = self.lepus("man").stdout.replace("\\-", "-")
        for name in command_names():
            self.assertIn(f"lepus-{name}", overview)
        self.lepus("man", "--folder", "pages")
        self.assertEqual(len(list((self.folder / "pages").glob("*.1"))), len(command_names()) + 1)

    @unittest.skipUnless(man_works(), "man is not installed")
    def test_man_pages_render_without_a_warning(self):
        for name in [None, *command_names()]:
            page = self.lepus("man", *([name] if name else [])).stdout
            (self.folder / "page.1").write_text(page)
            result = subprocess.run(["man", "--warnings", "-l", "page.1"], cwd=self.folder, capture_output=True,
                                    text=True, env={"PATH": "/usr/bin:/bin", "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr, "", name)
            self.assertIn("EXIT STATUS", result.stdout)

    def test_completions_know_every_option(self):
        scripts = {shell: self.lepus("completion", shell).stdout for shell in ["bash", "zsh", "fish"]}
        for name in command_names():
            with self.subTest(command=name):
                expected = self.table_options(name)
                bash = re.search(rf'^    {name}\) options="([^"]*)"', scripts["bash"], re.M).group(1)
                self.assertLessEqual(expected, set(bash.split()))
                zsh = scripts["zsh"].split(f"    {name})\n      _arguments")[1].split(";;")[0]
                self.assertLessEqual(expected, options_in(zsh))
                fish = re.findall(rf"seen_subcommand_from {name}'.* -l ([a-z-]+)", scripts["fish"])
                self.assertLessEqual(expected, {"--" + option for option in fish})

    def test_the_page_of_commands_is_their_help(self):
        page = subprocess.run([SOURCE / "scripts/commands-page"], capture_output=True, text=True, check=True,
                              env={**os.environ, "LEPUS_PROGRAM": PROGRAM}).stdout
        self.assertEqual((SOURCE / "docs/commands.md").read_text(), page,
                         "docs/commands.md is out of date; write it with scripts/commands-page")

    def test_python_snippets_run(self):
        """Statements of the page of formats, those of one import together, on volumes that lepus wrote."""
        self.simulate("demo")
        for name in ["v.tif", "v.h5", "v.mha", "v.nrrd", "v.raw", "v.npy", "v.npz"]:
            self.lepus("convert", "demo/truth.mha", "-o", name, "--quiet")
        snippets = re.findall(r"```python\n(.*?)```", (SOURCE / "docs/formats.md").read_text(), re.S)
        self.assertTrue(snippets)
        ran = 0
        for part in re.split(r"(?m)^(?=import )", "".join(snippets)):
            if not part.strip():
                continue
            result = subprocess.run([sys.executable, "-c", part + "\nassert v is not None"], cwd=self.folder,
                                    capture_output=True, text=True)
            if "ModuleNotFoundError" in result.stderr:
                print(f"NOT run, a module is not installed: {part.splitlines()[0]}")
                continue
            self.assertEqual(result.returncode, 0, part + result.stderr)
            ran += 1
        if ran == 0:
            self.skipTest("none of the modules of the page's snippets is installed")

    def test_scan_keys_as_json_have_what_the_page_has(self):
        keys, page = self.lepus_json("scan-keys"), self.lepus("scan-keys").stdout
        kinds = [kind for name in ("corrections", "post") for kind in keys[name]]
        self.assertEqual([kind["kind"] for kind in kinds], re.findall(r'(?m)^`kind = "([a-z0-9-]+)"`', page))
        names = [key["name"] for key in keys["keys"]] + [key["name"] for kind in kinds for key in kind["keys"]]
        self.assertEqual(sorted(names), sorted(re.findall(r"(?m)^\| `(\w+)` \|", page)))
        rings = next(kind for kind in keys["corrections"] if kind["kind"] == "rings")
        self.assertIn("line-integrals", rings["works_on"])

    def complete(self, line):
        """What bash would offer at the end of the line."""
        script = (f"source <('{PROGRAM}' completion bash); COMP_LINE={line!r}; COMP_WORDS=({line}); "
                  f"[[ $COMP_LINE == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); _lepus; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"; complete -p lepus")
        result = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("complete -o default -F _lepus lepus", result.stdout)
        return [word for word in result.stdout.splitlines()[:-1] if word]

    def test_bash_completes(self):
        self.assertEqual(self.complete("lepus sim"), ["simulate"])
        self.assertEqual(self.complete("lepus slice --ax"), ["--axis"])
        self.assertEqual(self.complete("lepus slice --axis "), ["x", "y", "z"])
        self.assertEqual(self.complete("lepus completion f"), ["fish"])
        self.assertIn("porous-block", self.complete("lepus simulate "))
        self.assertEqual(self.complete("lepus --quiet compare --ssim s"), ["slices"])
        self.assertEqual(self.complete("lepus slice --output "), [])  # bash falls back to file names

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_script_is_valid(self):
        script = self.lepus("completion", "zsh").stdout
        self.assertEqual(subprocess.run(["zsh", "-n"], input=script, text=True).returncode, 0)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_script_is_valid(self):
        script = self.lepus("completion", "fish").stdout
        self.assertEqual(subprocess.run(["fish", "--no-execute"], input=script, text=True).returncode, 0)

    def test_examples_work(self):
        """Each line that a help gives, typed into bash in a folder that has what it names."""
        demo = self.simulate("demo")
        for name in command_names():
            text = self.lepus(name, "--help").stdout
            examples = re.findall(r"(?m)^  (?!#)(.*\blepus .*)$", re.split(r"(?m)^Examples?:\n", text)[1])
            self.assertTrue(examples, name)
            for line in examples:
                if "| man " in line and not man_works():
                    continue
                with self.subTest(line=line):
                    place = self.folder / "place"
                    shutil.rmtree(place, ignore_errors=True)
                    if line.startswith("srun "):  # slurm_test has a cluster
                        continue
                    if name == "simulate":
                        place.mkdir()
                        write_tetrahedron(place / "part.stl")
                        line += " " + " ".join(SMALL)
                    else:  # the scan both here and in demo/
                        shutil.copytree(demo, place)
                        shutil.copytree(demo, place / "demo")
                    if name not in ("simulate", "reconstruct"):
                        shutil.copy(demo / "truth.mha", place / "demo" / "volume.mha")
                    if name == "view":  # serves until it is interrupted, and then ends well
                        line = f"BROWSER=true timeout --preserve-status -s INT 2 {line}"
                    path = f"{PROGRAM.rsplit('/', 1)[0]}:/usr/bin:/bin"
                    result = subprocess.run(["bash", "--norc", "-o", "pipefail", "-c", line], cwd=place,
                                            capture_output=True, text=True, timeout=120,
                                            env={**os.environ, "PATH": path, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
                    # The example with --fail-above may find that the limit is broken, and there may be no GPU.
                    allowed = (0, 8) if "--fail-" in line else (0, 7) if "--backend cuda" in line else (0,)
                    if name == "status":  # no run is under way
                        allowed = (3,)
                    self.assertIn(result.returncode, allowed, line + "\n" + result.stderr)


if __name__ == "__main__":
    unittest.main()
