#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pydicom, GDCM's and DCMTK's tools against the DICOM files of lepus: dicom_judge.py check|make FOLDER.

src/io/dicom_test.cpp runs it; exit status and pixels as in formats_judge.py.
"""
import os
import shutil
import subprocess
import sys

from formats_judge import COLUMNS, IMAGES, ORIGIN, ROWS, STEP, close, equal, float_pattern, pattern, same
import numpy as np


def run(*words):
    """What a tool prints; nothing where it is not installed."""
    if not shutil.which(words[0]):
        print(f"dicom_judge.py: no {words[0]}")
        return None
    done = subprocess.run(words, capture_output=True, text=True)
    equal(f"exit status of {words[0]}: {done.stderr}", done.returncode, 0)
    return done.stdout + done.stderr


def check_by_tools(path, frames):
    printed = run("gdcminfo", path)
    if printed is not None:
        equal("GDCM's sizes", f"({COLUMNS},{ROWS},{frames})" in printed, True)
    printed = run("dcmdump", path)
    if printed is not None:
        equal("DCMTK's rows", f"US {ROWS}" in printed, True)
        equal("DCMTK's warnings", [line for line in printed.splitlines() if line.startswith(("W:", "E:"))], [])
    if shutil.which("dciodvfy"):
        done = subprocess.run(["dciodvfy", path], capture_output=True, text=True)
        equal("dciodvfy's errors", [line for line in done.stderr.splitlines() if line.startswith("Error")], [])


def check(folder):
    import pydicom
    expected = np.floor(float_pattern() + 0.5).astype("int16")
    names = sorted(n for n in os.listdir(f"{folder}/series") if n.endswith(".dcm"))
    equal("names", names, [f"{i:04d}.dcm" for i in range(IMAGES)])
    identifiers = set()
    for z, name in enumerate(names):
        slice_ = pydicom.dcmread(f"{folder}/series/{name}")
        same(name, slice_.pixel_array, expected[z])
        close("position", slice_.ImagePositionPatient, (ORIGIN[0], ORIGIN[1], ORIGIN[2] + z * STEP[2]))
        close("orientation", slice_.ImageOrientationPatient, (1, 0, 0, 0, -1, 0))
        close("spacing", slice_.PixelSpacing, (0.25, 0.5))
        equal("rescale", (slice_.RescaleSlope, slice_.RescaleIntercept, slice_.RescaleType), (1, 0, "HU"))
        identifiers.add((slice_.SOPInstanceUID, slice_.file_meta.MediaStorageSOPInstanceUID))
        equal("series", slice_.SeriesInstanceUID, pydicom.dcmread(f"{folder}/series/0000.dcm").SeriesInstanceUID)
    equal("identifiers", len(identifiers), IMAGES)
    volume = pydicom.dcmread(f"{folder}/volume.dcm")
    same("volume.dcm", volume.pixel_array, expected)
    for z, frame in enumerate(volume.PerFrameFunctionalGroupsSequence):
        close("position", frame.PlanePositionSequence[0].ImagePositionPatient,
              (ORIGIN[0], ORIGIN[1], ORIGIN[2] + z * STEP[2]))
    shared = volume.SharedFunctionalGroupsSequence[0]
    close("spacing", shared.PixelMeasuresSequence[0].PixelSpacing, (0.25, 0.5))
    equal("rescale", shared.PixelValueTransformationSequence[0].RescaleType, "HU")
    check_by_tools(f"{folder}/series/0003.dcm", 1)
    check_by_tools(f"{folder}/volume.dcm", IMAGES)


def new_object(pixels, object_class, syntax, **elements):
    import pydicom
    from pydicom.uid import generate_uid
    meta = pydicom.dataset.FileMetaDataset()
    meta.MediaStorageSOPClassUID = object_class
    meta.MediaStorageSOPInstanceUID = generate_uid()
    meta.TransferSyntaxUID = syntax
    data = pydicom.dataset.FileDataset("", {}, file_meta=meta, preamble=b"\0" * 128)
    data.SOPClassUID, data.SOPInstanceUID = object_class, meta.MediaStorageSOPInstanceUID
    data.is_little_endian, data.is_implicit_VR = True, syntax == pydicom.uid.ImplicitVRLittleEndian
    data.Rows, data.Columns, data.SamplesPerPixel, data.PhotometricInterpretation = ROWS, COLUMNS, 1, "MONOCHROME2"
    data.BitsAllocated = data.BitsStored = 8 * pixels.dtype.itemsize
    data.HighBit, data.PixelRepresentation = data.BitsStored - 1, int(pixels.dtype.kind == "i")
    if pixels.ndim == 3:
        data.NumberOfFrames = len(pixels)
    for name, value in elements.items():
        setattr(data, name, value)
    data.PixelData = pixels.tobytes()
    data["PixelData"].VR = "OW"
    return data


def make(folder):
    import pydicom.encaps
    from pydicom.uid import ExplicitVRLittleEndian, ImplicitVRLittleEndian, JPEGLosslessSV1, generate_uid
    xray, ct = "1.2.840.10008.5.1.4.1.1.12.1", "1.2.840.10008.5.1.4.1.1.2"
    code = pydicom.Dataset()
    code.CodeValue = "1"
    for name, syntax in (("projections", ExplicitVRLittleEndian), ("implicit", ImplicitVRLittleEndian)):
        new_object(pattern("uint16"), xray, syntax, ViewCodeSequence=[code]).save_as(f"{folder}/{name}.dcm")
    undefined = new_object(pattern("uint16"), xray, ExplicitVRLittleEndian, ViewCodeSequence=[code])
    undefined["ViewCodeSequence"].is_undefined_length = True
    undefined.ViewCodeSequence[0].is_undefined_length_sequence_item = True
    undefined.save_as(f"{folder}/undefined.dcm")
    packed = new_object(pattern("uint16"), xray, JPEGLosslessSV1)
    packed.PixelData = pydicom.encaps.encapsulate([image.tobytes() for image in pattern("uint16")])
    packed["PixelData"].is_undefined_length = True
    packed.save_as(f"{folder}/packed.dcm")
    for place in ("series", "gap", "mixed"):
        os.mkdir(f"{folder}/{place}")
    series = generate_uid()

    def slice_of(z, **elements):
        return new_object(pattern("uint16")[z], ct, ExplicitVRLittleEndian, **{
            "ImagePositionPatient": [-1.5, 2.25, 10 + 2 * z], "ImageOrientationPatient": [1, 0, 0, 0, 1, 0],
            "PixelSpacing": [0.25, 0.5], "RescaleSlope": 2, "RescaleIntercept": -1024, "RescaleType": "HU",
            "SeriesInstanceUID": series, **elements})
    for z in range(IMAGES):
        slice_of(z).save_as(f"{folder}/series/{(5 * z + 2) % 7}.dcm")
        if z != 3:
            slice_of(z).save_as(f"{folder}/gap/{z}.dcm")
    slice_of(0).save_as(f"{folder}/mixed/0.dcm")
    slice_of(1, SeriesInstanceUID=generate_uid()).save_as(f"{folder}/mixed/1.dcm")
    slice_of(0, ImageOrientationPatient=[0, 1, 0, 0, 0, -1]).save_as(f"{folder}/turned.dcm")


if __name__ == "__main__":
    try:
        {"check": check, "make": make}[sys.argv[1]](sys.argv[2])
    except ImportError as missing:
        print(f"dicom_judge.py: {missing}")
        sys.exit(77)
