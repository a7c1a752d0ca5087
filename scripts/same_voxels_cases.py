# SPDX-License-Identifier: Apache-2.0
"""What scripts/same-voxels reconstructs: small scans of every geometry, and cases that differ in how a volume is made of them.

A case names a scan, what is added to or replaced in its scan file, and the words of the command. `same_as` names a case that
must give the same voxels (another plan, another format); every other case must give voxels of its own, or the list would
say less than it seems to. SIDE stands for "before" or "after", in names of files that both programs write."""
import array
import dataclasses
import pathlib
import re

FEW = ["--flats", "2", "--darks", "2", "--format", "raw", "--no-truth"]


def small(views=60, columns=72, rows=50):
    return ["--views", str(views), "--columns", str(columns), "--rows", str(rows), "--pixel", "2.5", *FEW]


# Noise, stripes and a beam that varies, with air on both sides of the object.
FAULTY = ["--columns", "128", "--rows", "26", "--pixel", "1.6", "--views", "90", "--phantom-size", "60", "--photons", "20000",
          "--gain-spread", "0.03", "--beam-drift", "0.05", "--beam-flicker", "0.01", *FEW]

SCANS = {
    # Three symmetries of a full turn: views in fours, in pairs, none; the first is cut into two slabs without being asked.
    "cone": ["shepp-logan", "--columns", "100", "--rows", "76", "--pixel", "2", "--views", "96", *FEW],
    "pairs": ["shepp-logan", *small(views=58)],
    "odd": ["porous-block", "--pores", "60", *small(views=61, columns=73, rows=47)],
    "short": ["shepp-logan", *small(), "--arc", "215"],
    "half-fan": ["ball", *small(), "--shift-u", "30"],
    "parallel": ["shepp-logan", *small(), "--beam", "parallel", "--arc", "180"],
    "fan": ["shepp-logan", *small(), "--beam", "fan", "--arc", "230"],
    "arc": ["shepp-logan", *small(), "--arc-detector"],
    "tilted": ["shepp-logan", *small(), "--in-plane", "0.8", "--pitch", "1", "--yaw", "1.5"],
    "levelled": ["ball", *small(), "--shift-u", "30", "--in-plane", "2"],
    "offset-axis": ["shepp-logan", *small(), "--axis-offset", "4", "--shift-v", "3", "--pixel-height", "3"],
    "jitter": ["shepp-logan", *small(), "--jitter-source", "0.4", "--jitter-detector", "0.6", "--jitter-in-plane", "0.2",
               "--jitter-angle", "0.3", "--jitter-known"],
    "hidden-axis": ["shepp-logan", *small(columns=96), "--hidden-shift", "2.5"],
    "integrals": ["forbild-head", *small(), "--content", "line-integrals"],
    "faulty": ["shepp-logan", *FAULTY],
    "dead": ["shepp-logan", *FAULTY, "--hot-pixels", "8", "--dead-pixels", "6"],
    "hard": ["ball", *small(columns=96), "--tube-kv", "90", "--value", "0.05"],
}


def section(heading, **keys):
    """A section of a scan file; heading is "filter", or "[correct]" for one of many."""
    written = {key: str(value).lower() if isinstance(value, (bool, list)) else repr(value).replace("'", '"')
               for key, value in keys.items()}
    return f"\n[{heading}]\n" + "".join(f"{key} = {value}\n" for key, value in written.items())


def correct(kind, **keys):
    return section("[correct]", kind=kind, **keys)


def post(kind, **keys):
    return section("[post]", kind=kind, **keys)


def change_text(file, *changes):
    text = file.read_text()
    for pattern, replacement in changes:
        text, count = re.subn(pattern, lambda match: replacement, text, flags=re.S)
        assert count, f"{file}: nothing matches {pattern}"
    file.write_text(text)


def retype(folder, code, name, scale):
    """Rewrites the frames, flats and darks of a raw scan in another type of pixel, here at most 16 bits to code's."""
    for stem in ("frames", "flats", "darks"):
        counts = array.array("H", (folder / f"{stem}.raw").read_bytes())
        (folder / f"{stem}.raw").write_bytes(array.array(code, [scale(count) for count in counts]).tobytes())
        (folder / f"{stem}.raw.json").unlink()
    change_text(folder / "scan.toml", ('type = "uint16"', f'type = "{name}"'))


def single_files(folder):
    """One raw file for each frame, as a scanner writes them."""
    frames = (folder / "frames.raw").read_bytes()
    (folder / "frames").mkdir()
    bytes_each = len(frames) // 60
    for i in range(60):
        (folder / "frames" / f"{i:04}.raw").write_bytes(frames[i * bytes_each:(i + 1) * bytes_each])
    change_text(folder / "scan.toml", ('"frames.raw"', '"frames/*.raw"'), (r"frames_per_file = 60", "frames_per_file = 1"))


def matrices(folder, wave_mm):
    """Matrices instead of the parameters of an orbit; the source rises and falls by wave_mm, twice a turn."""
    lines = [line for line in (folder / "matrices.txt").read_text().splitlines() if not line.startswith("#")]
    moved = []
    for i, line in enumerate(lines):
        p = [float(number) for number in line.split()]
        height = wave_mm * (-1) ** (i * 4 // len(lines))
        for row in range(3):
            p[4 * row + 3] -= p[4 * row + 2] * height
        moved.append(" ".join(map(repr, p)))
    (folder / "matrices.txt").write_text("\n".join(moved) + "\n")
    change_text(folder / "scan.toml", (r"\[geometry\].*?\n\n", '[geometry]\nmatrices_file = "matrices.txt"\n\n'))


# name: the scan it is made of, the words of `lepus convert` that make it (none: a copy), what is done to the folder then.
DERIVED = {
    "matrices": ("jitter", ["--geometry", "matrices"], lambda folder: matrices(folder, 0)),
    "wave": ("cone", ["--geometry", "matrices"], lambda folder: matrices(folder, 3)),
    "uint8": ("odd", [], lambda folder: retype(folder, "B", "uint8", lambda count: count >> 8)),
    "float32": ("odd", [], lambda folder: retype(folder, "f", "float32", float)),
    "single": ("short", [], single_files),
    "sinograms": ("odd", ["--frames", "raw", "--order", "sinograms"], None),
    "tiff": ("odd", ["--frames", "tiff"], None),
    "stack": ("odd", ["--frames", "stack"], None),
    "hdf5": ("odd", ["--frames", "hdf5"], None),
}


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    scan: str
    text: str = ""  # at the end of the scan file
    words: tuple = ()
    volume: str = "volume-SIDE.raw"  # relative to the folder of the scan
    command: str = "reconstruct"
    changes: tuple = ()  # of the scan file: (pattern, replacement)
    same_as: str = ""
    limit: str = ""  # the option of a limit that is set to the least that the program says it needs
    demand: tuple = ()  # texts that must be in the JSON that the command prints
    machine: str = "cpu"  # then "cuda exact", "cuda fast", "cuda half"; "" runs nothing that has a machine
    writes: str = ""  # where the voxels to compare are, if they are not in the command's output


def volume_keys(**keys):
    return ((r"\[volume\].*?\n\n", section("volume", **keys).lstrip() + "\n"),)


def cases_of_the_cpu():
    streamed = {"limit": "--memory", "demand": ("streamed views",)}
    geometries = [Case(name, name) for name in
                  ("cone", "pairs", "odd", "short", "half-fan", "parallel", "fan", "arc", "tilted", "levelled", "offset-axis", "jitter",
                   "wave", "integrals", "hard")]
    geometries += [Case("matrices", "matrices", same_as="jitter"),
                   Case("axis found", "hidden-axis", changes=(('beam = "cone"', 'beam = "cone"\ncenter = "auto"'),)),
                   Case("clockwise, mirrored", "short", changes=(
                       ('beam = "cone"', 'beam = "cone"\ndirection = "clockwise"\nmirror_columns = true'), ("first_angle_deg = 0.0", "first_angle_deg = 30")))]
    sums = [Case(f"{taps}, {scan}", scan, section("backprojection", interpolation=taps))
            for taps in ("nearest", "cubic") for scan in ("cone", "wave", "short")]
    sums += [Case(f"{window}", "pairs", section("filter", window=window, cutoff=0.8))
             for window in ("shepp-logan", "cosine", "hamming", "hann")]
    sums += [Case("smoothed and continued rows", "pairs", section("filter", spatial_hamming_samples=5, extrapolate=0.2)),
             Case("reference", "odd", words=("--backend", "reference"), machine="",
                  changes=volume_keys(size=[31, 33, 9], voxel_mm=2.5))]
    parts = [Case("one slice", "cone", changes=volume_keys(size=[99, 99, 76], voxel_mm=1.0, first_slice=37, last_slice=37)),
             Case("five slices", "cone", changes=volume_keys(size=[99, 99, 76], voxel_mm=1.0, first_slice=30, last_slice=34)),
             Case("every third slice, a region", "cone", changes=volume_keys(
                 size=[99, 99, 76], voxel_mm=1.0, slice_step=3, region_px=[11, 80, 20, 51])),
             Case("odd size, no mask", "odd", changes=volume_keys(size=[45, 61, 37], voxel_mm=[1.3, 1.1, 0.9],
                                                                 centre_mm=[3.5, -2.0, 1.25], mask=False, mirror=[False, True, True])),
             Case("part of the scan", "odd", changes=(('content = "counts"', 'content = "counts"\nview_step = 2\nfirst_row = 3\nlast_row = 40'),))]
    plans = [Case(f"streamed, {scan}", scan, same_as=scan, **streamed) for scan in ("cone", "short", "wave")]
    plans += [Case("one thread", "cone", words=("--threads", "1"), same_as="cone")]

    trend = correct("rings", radius_px=6)
    corrections = [Case("nothing corrected", "faulty")]
    corrections += [Case(name, "faulty", text) for name, text in {
        "defect-map": correct("defect-map", file="bad.txt"),
        "hot-pixels": correct("hot-pixels"),
        "hot-pixels classic": correct("hot-pixels", method="classic", below=True),
        "zingers": correct("zingers", tolerance=3),
        "zingers by row": correct("zingers", neighbours="row", tolerance=4),
        "filter box": correct("filter", filter="box", radius_px=2),
        "filter median of sinograms": correct("filter", filter="median", dimensions=2, radius_px=1),
        "filter gaussian of frames": correct("filter", filter="gaussian", pictures="frames", dimensions=2, radius_px=2, sigma_px=1.0, border="mirror"),
        "filter bilateral": correct("filter", filter="bilateral", radius_px=4, sigma_px=2.0),
        "rings trend": trend,
        "rings trend of medians": correct("rings", filter="median", radius_px=4, iterations=2),
        "rings wavelet-fourier": correct("rings", method="wavelet-fourier"),
        "rings sorting": correct("rings", method="sorting"),
        "rings combined": correct("rings", method="combined", maximum_share=1.0),
        "rings auto": correct("rings", method="auto"),
        "drift": correct("drift"),
        "drift of a region": correct("drift", region_px=[0, 12, 2, 24]),
        "dose": correct("dose", values=[1 + 0.001 * view for view in range(90)]),
        "lag": correct("lag"),
        "phase": correct("phase", energy_kev=20.0, delta_over_beta=100.0),
        "hardening": correct("hardening", coefficients=[1.0, 0.08, 0.01]),
    }.items()]
    chain = correct("dead-pixels") + correct("hot-pixels") + correct("drift") + trend
    corrections += [Case("dead-pixels", "dead", correct("dead-pixels")),
                    Case("chain", "dead", chain),
                    Case("chain, streamed", "dead", chain, same_as="chain", limit="--memory"),
                    Case("hardening of one material", "hard", correct("hardening", homogeneous=True)),
                    Case("sinograms after rings", "faulty", correct("rings", radius_px=6, write="rings-SIDE.mha"), writes="rings-SIDE.mha")]
    steps = [Case(f"post {name}", "odd", text) for name, text in {
        "box": post("box"), "gaussian": post("gaussian", dimensions=2, radius=2), "median": post("median"),
        "bilateral": post("bilateral", radius=2), "hu, air, crop": post("hu", water=0.02) + post("air", threshold=-500.0, value=-1000.0) +
        post("crop", x=[5, 60], z=[3, 40]),
        "hardening": post("hardening", threshold=0.004, radius=5, sigma=2.0), "rescale 16": post("rescale"),
        "ring-mask, rescale 8": post("ring-mask", radius_mm=30.0) + post("rescale", bits=8)}.items()]
    steps += [Case("lepus post", "integrals", words=("--do", "median radius=1 dimensions=3", "--do", "gaussian radius=2"), command="post")]
    frames = [Case(f"{name} frames", name, same_as="odd") for name in ("float32", "sinograms", "tiff", "stack", "hdf5")]
    frames += [Case("uint8 frames", "uint8"),
               Case("live", "single", words=("--views", "60", "--timeout", "20"), command="live")]
    formats = [Case(f"{name} volume", "odd", volume=f"volume-SIDE{name}", same_as="odd") for name in (".mha", ".mhd", ".nrrd", ".tif", ".h5")]
    formats += [Case("slices", "odd", volume="slices-SIDE/%04d.tif", same_as="odd"),
                Case("lepus convert", "integrals", command="convert", machine="", words=("--slices", "3,20", "--crop", "2,50,3,60")),
                Case("lepus simulate", "", machine="", command="simulate", writes="simulated-SIDE/truth.mha",
                     words=("forbild-head", "--size", "40", *small()[:-1]))]
    return geometries + sums + parts + plans + corrections + steps + frames + formats


def cases_of_a_gpu():
    """All that a machine computes, in each precision; and plans that only a GPU has."""
    computed = [case for case in cases_of_the_cpu() if case.machine and case.limit == ""]
    plans = []
    for scan in ("cone", "odd", "short", "wave"):
        plans += [Case(f"two workers, {scan}", scan, words=("--device", "0,0"), same_as=scan),
                  Case(f"streamed on the device, {scan}", scan, limit="--device-memory", same_as=scan, demand=("streamed views",))]
    plans += [Case("chain, two workers", "dead", next(case.text for case in computed if case.name == "chain"), words=("--device", "0,0"), same_as="chain")]
    return [dataclasses.replace(case, machine=f"cuda {precision}") for precision in ("exact", "fast", "half") for case in computed + plans
            if case.command != "post" or precision == "exact"]  # steps on a volume know no precision


def prepare(name, folder: pathlib.Path):
    """Faults of the frames that the flats do not have, and a file that a case names."""
    if name not in ("faulty", "dead"):
        return
    frames = array.array("H", (folder / "frames.raw").read_bytes())
    for view in range(90):
        for row, column in ((5, 60), (6, 60), (12, 31), (12, 32), (20, 77)):  # hot, with the object in the beam
            i = (view * 26 + row) * 128 + column
            frames[i] = min(60000, frames[i] + 9000)
        frames[(view * 26 + view * 7 % 26) * 128 + 20 + view % 80] = 62000  # a zinger
    (folder / "frames.raw").write_bytes(frames.tobytes())
    (folder / "bad.txt").write_text("5 5\n60 3 60 9\n90 0 91 25\n")
