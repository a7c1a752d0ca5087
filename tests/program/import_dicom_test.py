# SPDX-License-Identifier: Apache-2.0
"""lepus import of DICOM projections as IBA's systems write them: pydicom judges the simulated files, changes them and writes them
in another transfer syntax; what is wrong is said."""
import shutil
import unittest
import xml.etree.ElementTree as ElementTree

from scanner_case import ScannerCase

try:
    import pydicom
except ImportError:
    pydicom = None

SAYS = ["--first-angle=25", "--shift-u=2", "--shift-v=-3", "--pixel-height=4.4"]
ROOM, MODEL = (0x3001, 0x0012), (0x3001, 0x0013)


@unittest.skipIf(pydicom is None, "SKIPPED: no pydicom")
class ImportDicomCase(ScannerCase):
    def dicom_scan(self, *more):
        return self.scan("iba", *SAYS, *more, "--format", "iba-dicom", "--force")

    def change(self, file, change):
        data = pydicom.dcmread(file)
        change(data)
        data.save_as(file)

    def test_pydicom_reads_what_is_simulated(self):
        scan = self.dicom_scan()
        xml_scan = self.scan("xml", "--shift-u=2", "--shift-v=-3", "--pixel-height=4.4", "--first-angle=0", "--format", "iba")
        same_views = self.scan("same", "--shift-u=2", "--shift-v=-3", "--pixel-height=4.4", "--format", "iba-dicom")
        identifiers = set()
        for view in range(30):
            data = pydicom.dcmread(scan / f"proj_{view:04d}.dcm")
            self.assertEqual((data.Manufacturer, data.SoftwareVersions, data.Modality), ("IBA", "IMAGX:1.6", "RTIMAGE"))
            self.assertAlmostEqual((float(data.GantryAngle) - 90 - 25 - 12 * view + 180) % 360 - 180, 0, 7)
            self.assertEqual([float(x) for x in data.ImagePlanePixelSpacing], [4.4, 4.8])
            identifiers.add(data.SOPInstanceUID)
            room = ElementTree.fromstring(data[ROOM].value).find("Axis")
            self.assertEqual(room.find("Distances").attrib, {"sid": "500", "sdd": "1000"})
            model = ElementTree.fromstring(data[MODEL].value).find("Axis")
            self.assertEqual([float(x) for x in model.find("DetectorTranslation/Px").attrib.values()], [0, 2, 0, 0, 1, 0])
            self.assertEqual([float(x) for x in model.find("DetectorTranslation/Py").attrib.values()], [0, 3, 0, 0, 1, 0])
            # The pixels are those of the same scan as XML with raw files.
            pixels = pydicom.dcmread(same_views / f"proj_{view:04d}.dcm").pixel_array
            self.assertEqual(pixels.shape, (32, 40))
            self.assertEqual(pixels.astype("<u2").tobytes(), (xml_scan / f"proj_{view:04d}.raw").read_bytes())
        self.assertEqual(len(identifiers), 30)

    def test_other_transfer_syntaxes_and_spacings(self):
        from pydicom.uid import ImplicitVRLittleEndian
        scan = self.dicom_scan()
        before = self.volume("iba", "before.mha")

        def other(data):
            data.file_meta.TransferSyntaxUID = ImplicitVRLittleEndian
            data.is_implicit_VR, data.is_little_endian = True, True
            data.ImagerPixelSpacing = data.ImagePlanePixelSpacing
            del data.ImagePlanePixelSpacing
        for file in scan.glob("*.dcm"):
            self.change(file, other)
        self.assert_same(before, self.volume("iba", "after.mha"))

    def test_a_calibration_beside_the_projections(self):
        """A detector that bends by a cosine is one whose every view is shifted by it; names of files say nothing."""
        scan = self.dicom_scan()
        first = pydicom.dcmread(scan / "proj_0000.dcm")
        for name, tag, what, by in (("room.xml", ROOM, 'sid="500"', 'sid="480"'),
                                    ("b.xml", MODEL, '<Tx MSE="0" a0="0" a1="0" a2="0"', '<Tx MSE="0" a0="0" a1="0.01" a2="3"')):
            text = first[tag].value
            self.assertIn(what, text)
            (scan / name).write_text(text.replace(what, by))
        self.lepus("import", "iba", "-o", "iba.toml")
        text = (self.folder / "iba.toml").read_text()
        self.assertIn("source_axis_mm = 480.0  # sid in room.xml", text)
        self.assertIn("# view_perturbations: the calibration in b.xml", text)
        rows = text.split("view_perturbations = [\n")[1].split("\n]")[0].splitlines()
        self.assertEqual(len(rows), 30)
        from math import cos, radians
        for view, row in enumerate(rows):
            angle = float(pydicom.dcmread(scan / f"proj_{view:04d}.dcm").GantryAngle)
            numbers = [float(word) for word in row.strip(" ,").split(",")]
            self.assertAlmostEqual(numbers[0], 0.01 * angle + 3 * cos(radians(angle)), 9)
            self.assertEqual(numbers[1:], [0] * 9)

    def test_a_flexmap_in_the_projections(self):
        scan = self.scan("iba", *SAYS, "--jitter-source=0.5", "--jitter-detector=0.5", "--jitter-known", "--format", "iba-flexmap")
        before = self.volume("iba", "before.mha")
        text = (scan / "calibration.xml").read_text()
        self.assertIn("view_perturbations", self.imported_text("iba"))
        (scan / "calibration.xml").unlink()
        for file in scan.glob("*.dcm"):
            self.change(file, lambda data: data.add_new((0x3001, 0x1018), "UT", text))
        self.assertIn("ARC_PLUS in (3001,1018)", self.imported_text("iba"))
        self.assert_same(before, self.volume("iba", "after.mha"))

    def test_one_projection_stands_for_all_beside_it(self):
        self.folder = self.dicom_scan()  # the program runs in it
        self.lepus("import", "proj_0003.dcm")
        self.assertIn("views = 30 ", (self.folder / "scan.toml").read_text())

    def imported_text(self, name):
        self.lepus("import", name, "-o", "imported.toml", "--force", "--quiet")
        return (self.folder / "imported.toml").read_text()

    def test_mistakes_are_named(self):
        scan = self.dicom_scan()
        file, kept = scan / "proj_0007.dcm", self.folder / "kept"
        shutil.copy(file, kept)

        def expect(change, *words):
            self.change(file, change)
            self.assert_error(self.lepus("import", "iba", code=3), "input", "proj_0007.dcm", *words)
            shutil.copy(kept, file)
        expect(lambda data: data.pop("GantryAngle"), "does not say its angle")
        expect(lambda data: setattr(data, "SoftwareVersions", "adaPTinsight: 2.1"), "are two scans mixed?")
        expect(lambda data: setattr(data, "Manufacturer", "other"), "not of IBA")
        expect(lambda data: setattr(data, "NumberOfFrames", 2), "several images")
        expect(lambda data: data.pop("PixelData"), "it has no pixels")
        file.write_bytes(kept.read_bytes()[:-100])
        self.assert_error(self.lepus("reconstruct", "iba", code=3), "input", "proj_0007.dcm", "the file ends before")
        shutil.copy(kept, file)
        for one in scan.glob("*.dcm"):
            self.change(one, lambda data: setattr(data, "SoftwareVersions", "adaPTinsight: 2.1"))
        self.assert_error(self.lepus("import", "iba", code=3), "input", "the calibration is missing", "(3001,1018)")


if __name__ == "__main__":
    unittest.main()
