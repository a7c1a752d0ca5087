#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""NumPy, SciPy, h5py and astropy against the arrays of lepus: arrays_judge.py check-numpy|make-numpy|... FOLDER.

src/io/arrays_test.cpp runs it; exit status and pixels as in formats_judge.py.
"""
import json
import os
import sys
import zipfile

from formats_judge import COLUMNS, IMAGES, ORIGIN, ROWS, STEP, check_description, close, equal, float_pattern, pattern, same
import numpy as np

TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "int64", "uint64", "float16", "float32", "float64")


def check_numpy(folder):
    same("volume.npy", np.load(f"{folder}/volume.npy"), float_pattern())
    same("mapped", np.load(f"{folder}/volume.npy", mmap_mode="r"), float_pattern())
    with open(f"{folder}/volume.npy.json") as side_car:
        check_description(side_car.read())
    with zipfile.ZipFile(f"{folder}/volume.npz") as archive:
        equal("checksums", archive.testzip(), None)
    with np.load(f"{folder}/volume.npz") as archive:
        same("volume.npz", archive["volume"], float_pattern())
        close("origin", archive["origin_mm"], ORIGIN)
        close("step", archive["step_mm"], STEP)
        equal("unit", archive["unit"].item(), b"1/mm")
        equal("provenance", json.loads(archive["provenance"].item())["program"], "lepus")
    same("uint16.npy", np.load(f"{folder}/uint16.npy"), pattern("uint16"))
    equal("side-car of frames", os.path.exists(f"{folder}/uint16.npy.json"), False)
    for dtype in ("uint8", "float64"):
        with np.load(f"{folder}/{dtype}.npz") as archive:
            equal("arrays", archive.files, ["data"])
            same(dtype, archive["data"], pattern(dtype))


def make_numpy(folder):
    for dtype in TYPES:
        for order in "<>":
            data = pattern(dtype).astype(np.dtype(dtype).newbyteorder(order))
            name = f"{folder}/{dtype}_{'little' if order == '<' else 'big'}"
            np.save(name + ".npy", data)
            np.save(name + "_fortran.npy", np.asfortranarray(data))
            np.savez(name + ".npz", data=data, angles=np.arange(6.0))
            np.savez_compressed(name + "_packed.npz", np.asfortranarray(data), words=np.array(["text"]))
    np.save(f"{folder}/image.npy", pattern("float32")[0])
    np.save(f"{folder}/image_fortran.npy", np.asfortranarray(pattern("uint16")[0]))
    for version in ((2, 0), (3, 0)):
        with open(f"{folder}/version{version[0]}.npy", "wb") as file:
            np.lib.format.write_array(file, pattern("int16"), version)


def make_numpy_files(folder):
    for i, image in enumerate(pattern("uint16")):
        np.save(f"{folder}/plain_{i}.npy", image)
        np.save(f"{folder}/fortran_{i}.npy", np.asfortranarray(image))
        np.savez_compressed(f"{folder}/packed_{i}.npz", image)
    np.save(f"{folder}/other.npy", np.zeros((ROWS, COLUMNS + 1), "uint16"))


def make_matlab(folder):
    import scipy.io
    os.mkdir(f"{folder}/stacks")
    for dtype in TYPES:
        if dtype == "float16":  # MATLAB has none
            continue
        data = pattern(dtype).transpose()  # A(column, row, view)
        for packed in (False, True):
            scipy.io.savemat(f"{folder}/stacks/{dtype}{'_packed' if packed else ''}.mat", {"a": data, "text": "words"},
                             do_compression=packed)
    scipy.io.savemat(f"{folder}/stacks/image.mat", {"a": pattern("float64")[0].transpose(), "n": 3.5, "v": np.arange(4.0)})
    scipy.io.savemat(f"{folder}/mixed.mat", {
        "views": pattern("float64").transpose(), "transposed": pattern("int16"), "waves": 1j * pattern("float64"),
        "words": "some text", "parts": {"a": 1.0}, "angles": np.array([0, 30.5, 61, 91.5])}, do_compression=True)
    try:
        import h5py
    except ImportError:
        return
    with h5py.File(f"{folder}/seven.mat", "w", userblock_size=512) as file:  # as MATLAB 7.3 writes it
        file["views"] = pattern("float64")
        file["views"].attrs["MATLAB_class"] = np.bytes_("double")
    with open(f"{folder}/seven.mat", "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 .".ljust(124) + b"\0\2IM")


def make_fits(folder):
    from astropy.io import fits
    for dtype in TYPES:
        if dtype not in ("uint64", "float16"):  # which FITS has not without a scale
            fits.writeto(f"{folder}/{dtype}.fits", pattern(dtype))
    scaled = fits.PrimaryHDU(pattern("float64"))
    scaled.scale("int16", bscale=0.5, bzero=10)
    scaled.writeto(f"{folder}/scaled.fits")
    fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(pattern("float32"))]).writeto(f"{folder}/extension.fits")
    header = fits.Header({"CUNIT1": "mm", "CDELT1": 0.5, "CDELT2": 0.25, "CDELT3": 0.125, "BUNIT": "1/mm"})
    fits.writeto(f"{folder}/millimetres.fits", pattern("float32"), header)
    fits.HDUList([fits.PrimaryHDU(np.zeros((IMAGES, ROWS, COLUMNS), "int16")),
                  fits.ImageHDU(pattern("uint8"), name="FLATS")]).writeto(f"{folder}/two.fits")


def make_ome(folder):
    import tifffile
    sizes = {"PhysicalSizeX": 500, "PhysicalSizeY": 0.25, "PhysicalSizeYUnit": "mm", "PhysicalSizeZ": 125e3,
             "PhysicalSizeZUnit": "nm"}
    tifffile.imwrite(f"{folder}/stack.ome.tif", pattern("uint16"), ome=True, photometric="minisblack",
                     metadata={"axes": "ZYX", **sizes})
    tifffile.imwrite(f"{folder}/bare.ome.tif", pattern("uint16"), ome=True, photometric="minisblack",
                     metadata={"axes": "ZYX"})
    tifffile.imwrite(f"{folder}/times.ome.tif", pattern("uint16"), ome=True, photometric="minisblack",
                     metadata={"axes": "TYX"})


def make_odd(folder):
    np.save(f"{folder}/complex.npy", pattern("complex128"))
    np.save(f"{folder}/vector.npy", np.arange(5))
    np.save(f"{folder}/four.npy", np.zeros((2, IMAGES, ROWS, COLUMNS)))
    np.save(f"{folder}/empty.npy", np.zeros((0, ROWS, COLUMNS)))
    np.save(f"{folder}/leading.npy", pattern("uint8")[None, None])
    np.savez(f"{folder}/two.npz", a=pattern("uint8"), b=pattern("uint8"))


def check_large(folder):
    with zipfile.ZipFile(f"{folder}/large.npz") as archive:
        equal("sizes", [(e.filename, e.file_size) for e in archive.infolist()], [("large.npy", 5 << 30), ("late.npy", 3)])


if __name__ == "__main__":
    actions = {"check-numpy": check_numpy, "make-numpy": make_numpy, "make-numpy-files": make_numpy_files,
               "make-matlab": make_matlab, "make-fits": make_fits, "make-ome": make_ome, "make-odd": make_odd, "check-large": check_large}
    try:
        actions[sys.argv[1]](sys.argv[2])
    except ImportError as missing:
        print(f"arrays_judge.py: {missing}")
        sys.exit(77)
