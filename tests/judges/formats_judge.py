#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Other people's readers and writers against the files of lepus: formats_judge.py check-tiff|make-tiff|... FOLDER.

src/io/formats_judge_test.cpp runs it. Exit status 0: all agreed; 77: a module is missing; else a message says what
differs. Pixels are the pattern of src/io/test_support.h.
"""
import json
import os
import sys

try:
    import numpy as np
except ImportError as missing:
    print(f"formats_judge.py: {missing}")
    sys.exit(77)

COLUMNS, ROWS, IMAGES = 7, 5, 6
ORIGIN, STEP = (-1.5, 2.25, 10.125), (0.5, -0.25, 0.1)


def pattern(dtype=np.int64, columns=COLUMNS):
    z, y, x = np.mgrid[0:IMAGES, 0:ROWS, 0:columns]
    return ((7 * x + 13 * y + 29 * z) % 126).astype(dtype)


def float_pattern(columns=COLUMNS):
    return (0.5 * pattern(columns=columns) - 20.25).astype(np.float32)


def same(what, found, expected):
    found = np.asarray(found)
    if found.shape != expected.shape or found.dtype != expected.dtype or not np.array_equal(found, expected):
        sys.exit(f"formats_judge.py: {what}: found {found.shape} {found.dtype}, expected {expected.shape} "
                 f"{expected.dtype}, or other values")


def equal(what, found, expected):
    if found != expected:
        sys.exit(f"formats_judge.py: {what}: found {found!r}, expected {expected!r}")


def close(what, found, expected):
    if not np.allclose(found, expected, rtol=1e-9, atol=1e-12):
        sys.exit(f"formats_judge.py: {what}: found {found}, expected {expected}")


def check_description(text):
    d = json.loads(text)
    equal("size", d["size"], [COLUMNS, ROWS, IMAGES])
    close("origin", d["origin_mm"], ORIGIN)
    close("step", d["step_mm"], STEP)
    equal("unit", d["unit"], "1/mm")
    equal("provenance", d["provenance"]["program"], "lepus")


def check_tiff(folder):
    import tifffile
    for name, big in (("volume.tif", False), ("big.tif", True)):
        with tifffile.TiffFile(f"{folder}/{name}") as tiff:
            equal(name + " BigTIFF", tiff.is_bigtiff, big)
            equal(name + " pages", len(tiff.pages), IMAGES)
            same(name, tiff.asarray(), float_pattern())
            same(name + " page 3", tiff.pages[3].asarray(), float_pattern()[3])
            check_description(tiff.pages[0].description)
            across, down = tiff.pages[0].tags["XResolution"].value, tiff.pages[0].tags["YResolution"].value
            close(name + " resolution", (across[0] / across[1], down[0] / down[1]), (20, 40))  # per centimetre
            equal(name + " resolution unit", int(tiff.pages[0].tags["ResolutionUnit"].value), 3)
    names = sorted(n for n in os.listdir(f"{folder}/slices") if n.endswith(".tif"))
    same("slices", np.stack([tifffile.imread(f"{folder}/slices/{n}") for n in names]), float_pattern())
    with open(f"{folder}/slices/slice_volume.json") as side_car:
        check_description(side_car.read())
    for dtype in ("uint8", "int16", "uint16", "uint32", "float64"):
        same(dtype, tifffile.imread(f"{folder}/{dtype}.tif"), pattern(dtype))
    names = sorted(os.listdir(f"{folder}/frames"))
    equal("frame names", names, [f"{i:04d}.tif" for i in range(IMAGES)])
    same("frames", np.stack([tifffile.imread(f"{folder}/frames/{n}") for n in names]), pattern("uint16"))


def make_tiff(folder):
    import tifffile
    types = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64")
    for dtype in types:
        data = pattern(dtype)
        for order, word in (("<", "little"), (">", "big")):
            tifffile.imwrite(f"{folder}/{dtype}_{word}.tif", data, byteorder=order, photometric="minisblack")
        tifffile.imwrite(f"{folder}/{dtype}_bigtiff.tif", data, bigtiff=True, byteorder=">", photometric="minisblack")
        tifffile.imwrite(f"{folder}/{dtype}_zlib.tif", data, compression="zlib", photometric="minisblack")
        tifffile.imwrite(f"{folder}/{dtype}_tiles.tif", data, tile=(16, 16), photometric="minisblack")
        tifffile.imwrite(f"{folder}/{dtype}_strips.tif", data, rowsperstrip=2, photometric="minisblack")
    for dtype in ("uint8", "uint16", "float32"):
        tifffile.imwrite(f"{folder}/{dtype}_imagej.tif", pattern(dtype), imagej=True)
    huge = tifffile.memmap(f"{folder}/huge.tif", shape=(2200, 1024, 1024), dtype="uint16", bigtiff=True,
                           photometric="minisblack")
    huge[2199, 1023, 1023] = 12345
    huge.flush()


def check_hdf5(folder):
    import h5py
    with h5py.File(f"{folder}/volume.h5", "r") as file:
        volume = file["volume"]
        same("volume.h5", volume[()], float_pattern())
        close("origin", volume.attrs["origin_mm"], ORIGIN)
        close("step", volume.attrs["step_mm"], STEP)
        equal("unit", volume.attrs["unit"].decode(), "1/mm")
        equal("provenance", json.loads(volume.attrs["lepus_provenance"])["program"], "lepus")
    with h5py.File(f"{folder}/long.h5", "r") as file:  # too long for an attribute
        equal("long provenance", len(json.loads(file["volume_provenance"][()])["text"]), 100000)
    with h5py.File(f"{folder}/frames.h5", "r") as file:
        same("frames.h5", file["exchange/data"][()], pattern("uint16"))


def make_hdf5(folder):
    import h5py
    with h5py.File(f"{folder}/a.h5", "w") as file:
        for dtype in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64", "int64", "float16"):
            data = pattern(dtype)
            file.create_dataset("little/" + dtype, data=data, dtype=data.dtype.newbyteorder("<"))
            file.create_dataset("big/" + dtype, data=data, dtype=data.dtype.newbyteorder(">"))
            file.create_dataset("chunked/" + dtype, data=data, chunks=(2, 3, 4))
            file.create_dataset("gzip/" + dtype, data=data, chunks=(1, ROWS, COLUMNS), compression="gzip")
            file.create_dataset("shuffled/" + dtype, data=data, chunks=(1, 2, COLUMNS), compression="gzip",
                                shuffle=True, fletcher32=True)
        file["exchange/data"] = pattern("uint16")
        file["two_dimensions"] = pattern("uint16")[0]
        file["text"] = "words"
        file.create_dataset("compound", shape=(2, 2), dtype=[("a", "f4"), ("b", "i4")])
        file.create_dataset("unwritten", shape=(6, 5, 7), dtype="u2")
    layout = h5py.VirtualLayout(shape=(IMAGES, ROWS, COLUMNS), dtype="uint16")
    layout[:] = h5py.VirtualSource(f"{folder}/a.h5", "exchange/data", shape=(IMAGES, ROWS, COLUMNS))
    with h5py.File(f"{folder}/a.h5", "a") as file:
        file.create_virtual_dataset("virtual", layout)
    with h5py.File(f"{folder}/only.h5", "w") as file:
        file["some/where"] = pattern("int16")
        file["angles"] = np.arange(6.0)
    with h5py.File(f"{folder}/huge.h5", "w") as file:
        data = file.create_dataset("data", shape=(2200, 1024, 1024), dtype="uint16")
        data[2199, 1023, 1023] = 12345


def vtk_image(reader, path):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    reader.SetFileName(path)
    reader.Update()
    image = reader.GetOutput()
    scalars = image.GetPointData().GetScalars()
    if scalars is None:
        sys.exit(f"formats_judge.py: VTK cannot read {path}")
    columns, rows, images = image.GetDimensions()
    return image, vtk_to_numpy(scalars).reshape(images, rows, columns)


def check_vtk(folder):
    # Not "import vtk": with all modules loaded, Debian's VTK replaces the NRRD reader by one that wants MPI.
    from vtkmodules.vtkIOImage import vtkMetaImageReader, vtkNrrdReader
    for name in ("volume.mha", "mhd/volume.mhd", "volume.nrrd", "nhdr/volume.nhdr"):
        reader = vtkMetaImageReader() if name.split(".")[1].startswith("m") else vtkNrrdReader()
        image, voxels = vtk_image(reader, f"{folder}/{name}")
        # VTK takes a first axis of a few samples in an NRRD for components, so the volume is wide.
        same(name, voxels, float_pattern(31))
        close(name + " spacing", np.abs(image.GetSpacing()), np.abs(STEP))
        close(name + " origin", image.GetOrigin(), ORIGIN)


def make_vtk(folder):
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk
    for dtype in ("uint8", "int16", "uint16", "float32", "float64"):
        image = vtk.vtkImageData()
        image.SetDimensions(COLUMNS, ROWS, IMAGES)
        image.SetSpacing(0.5, 0.25, 0.125)
        image.SetOrigin(*ORIGIN)
        image.GetPointData().SetScalars(numpy_to_vtk(pattern(dtype).ravel(), deep=True))
        for ending in ("mha", "mhd"):
            writer = vtk.vtkMetaImageWriter()
            writer.SetInputData(image)
            writer.SetCompression(False)
            writer.SetFileName(f"{folder}/{dtype}.{ending}")
            if ending == "mhd":
                writer.SetRAWFileName(f"{folder}/{dtype}.raw")
            writer.Write()


def check_raw(folder):
    for name, expected in (("volume.raw", float_pattern()), ("frames.raw", pattern("int32"))):
        with open(f"{folder}/{name}.json") as side_car:
            d = json.load(side_car)
        order = "<" if d["byte_order"] == "little" else ">"
        data = np.fromfile(f"{folder}/{name}", dtype=np.dtype(d["type"]).newbyteorder(order), offset=d["header_bytes"])
        same(name, data.reshape(d["size"][::-1]), expected)
    with open(f"{folder}/volume.raw.json") as side_car:
        check_description(side_car.read())


if __name__ == "__main__":
    actions = {"check-tiff": check_tiff, "make-tiff": make_tiff, "check-hdf5": check_hdf5, "make-hdf5": make_hdf5,
               "check-vtk": check_vtk, "make-vtk": make_vtk, "check-raw": check_raw}
    try:
        actions[sys.argv[1]](sys.argv[2])
    except ImportError as missing:
        print(f"formats_judge.py: {missing}")
        sys.exit(77)
