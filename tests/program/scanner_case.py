# SPDX-License-Identifier: Apache-2.0
"""What the tests of scanners' folders share: writing one by `lepus simulate`, and comparing the volumes of two scans."""
import contextlib

from program_case import ProgramCase

# Nothing is symmetric where a header can say so. Square pixels, unless an option says otherwise.
SIZE = ["--views=30", "--columns=40", "--rows=32", "--pixel=4.8"]
NO_DARKS = ["--darks=0", "--offset-level=0"]  # of scanners that subtract the dark themselves
CORRECTED = ["--flats=0", *NO_DARKS]  # of those that correct their frames themselves
FULL_RANGE = [*CORRECTED, "--open-level=65535"]  # ... and scale air to the largest count
EXACT = ["--precision=exact"]  # a GPU's texture unit rounds coordinates, and headers give them other last digits


def merged(options, others):
    """Both, the others before those of the same name."""
    names = {option.split("=")[0] for option in others}
    return [option for option in options if option.split("=")[0] not in names] + list(others)


class ScannerCase(ProgramCase):
    def scan(self, name, *more):
        self.lepus("simulate", "shepp-logan-modified", "-o", name, *merged(SIZE, more), "--no-truth", "--quiet")
        return self.folder / name

    @contextlib.contextmanager
    def inside(self, folder):
        """The program runs in this folder."""
        home, self.folder = self.folder, folder
        try:
            yield
        finally:
            self.folder = home

    def own_scan(self, *more):
        """The same scan in lepus' own files; its scan file."""
        file = self.scan("own", *more, "--force") / "scan.toml"
        if any(option.startswith("--open-level=6553") for option in more):  # that air is at the largest count is no saturation
            file.write_text(file.read_text().replace("[frames]", "[frames]\nsaturation_level = 65536"))
        return file

    def volume(self, scan, name):
        self.lepus("reconstruct", scan, "-o", name, "--force", "--quiet", *EXACT)
        return name

    def assert_same(self, one, other):
        """Every voxel, to 1e-5 of the largest."""
        result = self.lepus_json("compare", one, other)
        self.assertGreater(result["reference_values"]["max"], 0.005)
        self.assertLess(result["metrics"]["max"], 1e-5 * result["reference_values"]["max"])
