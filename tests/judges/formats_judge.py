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


def halved(data):
    """The mean of 2 x 2 x 2 voxels, of fewer at the end of an odd axis; integers to the nearest, halves up."""
    sums, counts = data.astype(np.float64), np.ones(data.shape)
    for axis in range(3):
        even, odd = ([np.take(v, range(start, v.shape[axis], 2), axis) for v in (sums, counts)] for start in (0, 1))
        pad = [(0, even[0].shape[i] - odd[0].shape[i]) for i in range(3)]
        sums, counts = [e + np.pad(o, pad) for e, o in zip(even, odd)]
    mean = sums / counts
    return (np.floor(mean + 0.5) if data.dtype.kind in "iu" else mean).astype(data.dtype)


def check_zarr(folder):
    import zarr
    group = zarr.open_group(f"{folder}/volume.zarr", mode="r")
    same("volume.zarr", group["0"][:], float_pattern())
    equal("levels of a small volume", [d["path"] for d in group.attrs["multiscales"][0]["datasets"]], ["0"])
    z, y, x = np.mgrid[0:150, 0:131, 0:70]
    floats = (0.5 * ((7 * x + 13 * y + 29 * z) % 126) - 20.25).astype(np.float32)
    for dtype in ("float32", "uint8", "uint16", "int16"):
        group = zarr.open_group(f"{folder}/{dtype}.zarr", mode="r")
        image = group.attrs["multiscales"][0]
        equal("version", image["version"], "0.4")
        equal("axes", [(a["name"], a["type"], a["unit"]) for a in image["axes"]],
              [(n, "space", "millimeter") for n in "zyx"])
        expected = floats if dtype == "float32" else np.clip(np.floor(floats + 0.5), *(
            (0, 255) if dtype == "uint8" else (0, 65535) if dtype == "uint16" else (-32768, 32767))).astype(dtype)
        equal("levels", len(image["datasets"]), 2)
        for level, dataset in enumerate(image["datasets"]):
            array = group[dataset["path"]]
            equal("chunks", array.chunks, tuple(min(64, n) for n in expected.shape))
            equal("compressor", (array.compressor.codec_id, array.compressor.cname), ("blosc", "zstd"))
            same(f"{dtype} level {level}", array[:], expected)
            scale, translation = dataset["coordinateTransformations"]
            step = np.array(STEP[::-1]) * 2 ** level
            close("scale", scale["scale"], step)
            close("translation", translation["translation"], np.array(ORIGIN[::-1]) + (step - np.array(STEP[::-1])) / 2)
            expected = halved(expected)
        equal("unit", group.attrs["lepus"]["unit"], "1/mm")
        equal("provenance", group.attrs["lepus"]["provenance"], {"program": "lepus"})


def make_zarr(folder):
    import numcodecs
    import zarr
    codecs = {"none": None, "zlib": numcodecs.Zlib(3), "gzip": numcodecs.GZip(3), "zstd": numcodecs.Zstd(3)}
    for inside in ("zstd", "lz4", "lz4hc", "zlib", "blosclz"):
        for shuffle in (0, 1, 2):
            codecs[f"blosc_{inside}_{shuffle}"] = numcodecs.Blosc(inside, 5, shuffle)
    codecs["blosc_blocks"] = numcodecs.Blosc("zstd", 1, 1, blocksize=16)
    for name, codec in codecs.items():
        for chunks in ((2, 3, 4), (1, ROWS, COLUMNS), (10, 10, 10)):
            zarr.save_array(f"{folder}/{name}_{'x'.join(map(str, chunks))}.zarr", pattern("float32"), chunks=chunks,
                            compressor=codec)
    for dtype in ("u1", "i1", "<u2", ">u2", "<i2", ">i2", "<u4", ">u4", "<i4", ">i4", "<f4", ">f4", "<f8", ">f8"):
        name = dtype.replace("<", "little_").replace(">", "big_")
        zarr.save_array(f"{folder}/type_{name}.zarr", pattern(dtype), chunks=(4, 5, 3), dimension_separator="/")
    holes = zarr.open_array(f"{folder}/holes.zarr", mode="w", shape=(6, 5, 7), chunks=(2, 3, 4), dtype="f4", fill_value=7)
    holes[:4] = pattern("float32")[:4]
    for name, leading, axes, unit in (("ome.zarr", (), "zyx", 1), ("ome5.zarr", (1, 1), "tczyx", 1e3)):
        group = zarr.open_group(f"{folder}/{name}", mode="w")
        group.create_dataset("s0", data=pattern("uint16").reshape(leading + (6, 5, 7)), chunks=(1,) * len(leading) + (4, 4, 4),
                             dimension_separator="/")
        group.create_dataset("s1", data=np.zeros(leading + (3, 3, 4), "uint16"), chunks=(1,) * len(leading) + (4, 4, 4))
        word = {1: "millimeter", 1e3: "micrometer"}[unit]
        kinds = {"t": {"type": "time"}, "c": {"type": "channel"}}
        ones = [1.0] * len(leading)
        group.attrs["multiscales"] = [{
            "version": "0.4", "axes": [{"name": a, **kinds.get(a, {"type": "space", "unit": word})} for a in axes],
            "datasets": [{"path": "s0", "coordinateTransformations": [
                {"type": "scale", "scale": ones + [0.125 * unit, 0.25 * unit, 0.5 * unit]},
                {"type": "translation", "translation": [0.0] * len(leading) + [v * unit for v in ORIGIN[::-1]]}]},
                         {"path": "s1", "coordinateTransformations": [
                {"type": "scale", "scale": ones + [0.25 * unit, 0.5 * unit, 1.0 * unit]}]}]}]


def check_ole(folder):
    import olefile
    for name, columns, rows, images, dtype in (("small", 7, 5, 250, "<u2"), ("large", 70, 41, 120, "<f4")):
        with olefile.OleFileIO(f"{folder}/{name}.txrm", raise_defects=olefile.DEFECT_INCORRECT) as ole:
            equal("streams", len(ole.listdir()), images + 7)
            equal("width", np.frombuffer(ole.openstream("imageinfo/imagewidth").read(), "<i4").tolist(), [columns])
            for i in range(images):
                y, x = np.mgrid[0:rows, 0:columns]
                pixels = np.frombuffer(ole.openstream(f"ImageData{i // 100 + 1}/Image{i + 1}").read(), dtype)
                same(f"image {i}", pixels.reshape(rows, columns), ((7 * x + 13 * y + 29 * i) % 126).astype(dtype))


if __name__ == "__main__":
    actions = {"check-tiff": check_tiff, "make-tiff": make_tiff, "check-hdf5": check_hdf5, "make-hdf5": make_hdf5,
               "check-vtk": check_vtk, "make-vtk": make_vtk, "check-raw": check_raw,
               "check-zarr": check_zarr, "make-zarr": make_zarr, "check-ole": check_ole}
    try:
        actions[sys.argv[1]](sys.argv[2])
    except ImportError as missing:
        print(f"formats_judge.py: {missing}")
        sys.exit(77)
