# SPDX-License-Identifier: Apache-2.0
"""lepus convert --surface against scikit-image's marching cubes, read back as a stranger would; closed everywhere."""
import collections
import unittest

import numpy
import skimage.measure
import tifffile

from program_case import ProgramCase

STEP = (0.5, 0.4, 0.3)  # x, y, z


def write_mha(path, volume):
    """[z, y, x] floats by hand, with voxels of STEP and the first centre at 1, 2, 3 mm."""
    nz, ny, nx = volume.shape
    header = (f"ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nDimSize = {nx} {ny} {nz}\n"
              f"ElementSpacing = {STEP[0]} {STEP[1]} {STEP[2]}\nOffset = 1 2 3\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n")
    path.write_bytes(header.encode() + volume.astype("<f4").tobytes())


def read_stl(path):
    data = path.read_bytes()
    count = int.from_bytes(data[80:84], "little")
    record = numpy.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attributes", "<u2")])
    assert len(data) == 84 + count * record.itemsize
    return numpy.frombuffer(data, record, count, 84)


def read_ply(path):
    data = path.read_bytes()
    header, _, body = data.partition(b"end_header\n")
    counts = [int(line.split()[-1]) for line in header.decode().splitlines() if line.startswith("element")]
    vertices = numpy.frombuffer(body, "<f4", 3 * counts[0]).reshape(-1, 3)
    faces = numpy.frombuffer(body, numpy.dtype([("n", "u1"), ("corners", "<i4", 3)]), counts[1], 12 * counts[0])
    assert (faces["n"] == 3).all() and len(body) == 12 * counts[0] + 13 * counts[1]
    return vertices, faces["corners"]


def area_and_volume(triangles):
    """Of [n, corner, xyz]; the volume is positive where normals point outwards."""
    a, b, c = (triangles[:, i].astype(float) for i in range(3))
    normals = numpy.cross(b - a, c - a)
    return numpy.linalg.norm(normals, axis=1).sum() / 2, (a * normals).sum() / 6


def open_edges(triangles):
    """Edges, by the places of their ends, that are not used once in each direction."""
    _, numbers = numpy.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    count = collections.Counter()
    for a, b, c in numbers.reshape(-1, 3):
        count.update([(a, b), (b, c), (c, a)])
    return sum(1 for (a, b), n in count.items() if n != 1 or count[b, a] != 1)


class Surface(ProgramCase):
    def blobs(self):
        """Smooth and irregular, and away from the ends."""
        z, y, x = numpy.mgrid[0:40, 0:44, 0:48].astype(float)
        value = numpy.zeros(z.shape)
        random = numpy.random.default_rng(1)
        for _ in range(12):
            centre, radius = random.uniform([10, 10, 10], [30, 34, 38]), random.uniform(2, 6)
            value = numpy.maximum(value, 1 - ((z - centre[0])**2 + (y - centre[1])**2 + (x - centre[2])**2) / (2 * radius**2))
        return numpy.maximum(value, 0)

    def test_area_and_volume_are_those_of_scikit_image(self):
        volume = self.blobs()
        write_mha(self.folder / "v.mha", volume)
        report = self.lepus_json("convert", "v.mha", "--surface", "0.5", "-o", "part.stl")
        corners = read_stl(self.folder / "part.stl")["corners"]
        vertices, faces, _, _ = skimage.measure.marching_cubes(volume, 0.5, spacing=STEP[::-1])
        area, enclosed = area_and_volume(vertices[:, ::-1][faces])
        mine = area_and_volume(corners)
        # Both cut the same edges at the same places; they differ in how they fill a few of the polygons.
        self.assertAlmostEqual(mine[0] / area, 1, delta=1e-3)
        self.assertAlmostEqual(mine[1] / abs(enclosed), 1, delta=1e-3)
        self.assertGreater(mine[1], 0, "normals point inwards")
        self.assertAlmostEqual(report["area_mm2"] / mine[0], 1, delta=1e-5)
        self.assertAlmostEqual(report["volume_mm3"] / mine[1], 1, delta=1e-4)
        self.assertEqual(open_edges(corners), 0)
        normals = read_stl(self.folder / "part.stl")["normal"]
        numpy.testing.assert_allclose(numpy.linalg.norm(normals, axis=1), 1, atol=1e-5)
        # The places are those of the grid: 1, 2, 3 mm is the centre of the first voxel.
        mine_range, theirs = corners.reshape(-1, 3), vertices[:, ::-1] + (1, 2, 3)
        numpy.testing.assert_allclose(mine_range.min(0), theirs.min(0), atol=2e-3)
        numpy.testing.assert_allclose(mine_range.max(0), theirs.max(0), atol=2e-3)

    def test_stl_and_ply_hold_the_same_body(self):
        write_mha(self.folder / "v.mha", self.blobs())
        self.lepus("convert", "v.mha", "--surface", "0.3", "-o", "a.stl", "--quiet")
        self.lepus("convert", "v.mha", "--surface", "0.3", "-o", "a.ply", "--quiet")
        vertices, faces = read_ply(self.folder / "a.ply")
        numpy.testing.assert_array_equal(vertices[faces], read_stl(self.folder / "a.stl")["corners"])
        self.assertEqual(faces.max() + 1, len(vertices))

    def test_closed_at_the_ends_of_the_volume_and_of_a_crop(self):
        volume = numpy.random.default_rng(2).random((12, 14, 16))
        write_mha(self.folder / "v.mha", volume)
        for more in ([], ["--crop", "3,12,2,11"], ["--slices", "4,7"]):
            self.lepus("convert", "v.mha", "--surface", "0.4", "-o", "a.stl", "--quiet", "--force", *more)
            corners = read_stl(self.folder / "a.stl")["corners"]
            self.assertEqual(open_edges(corners), 0, more)
            self.assertGreater(area_and_volume(corners)[1], 0)

    def test_a_scan_of_the_part_sees_its_volume(self):
        write_mha(self.folder / "v.mha", self.blobs())
        self.lepus("convert", "v.mha", "--surface", "0.5", "-o", "part.stl", "--quiet")
        corners = read_stl(self.folder / "part.stl")["corners"]
        (self.folder / "two.toml").write_text('combine = "replace"\n[[shape]]\nkind = "mesh"\nfile = "part.stl"\nmaterial = "iron"\n'
                                              '[[shape]]\nkind = "mesh"\nfile = "part.stl"\nscale = 0.5\nvalue_per_mm = 0\n')
        for phantom, *value in (("part.stl", "--value", "0.05"), ("two.toml",)):
            self.lepus("simulate", phantom, "-o", phantom + ".scan", "--beam", "parallel", "--columns", "160", "--rows", "80", "--pixel",
                       "0.125", "--views", "3", "--arc", "180", "--subpixels", "1", "--content", "line-integrals", *value,
                       "--no-truth", "--quiet")
        # Parallel rays that cover the part: their sum is its volume, whatever the direction. Measured: 1e-4, which rays twice as far
        # apart make thirty times larger.
        frames = sorted((self.folder / "part.stl.scan" / "frames").iterdir())
        self.assertEqual(len(frames), 3)
        for frame in frames:
            seen = tifffile.imread(frame).astype(float).sum() * 0.125**2
            self.assertAlmostEqual(seen / (0.05 * area_and_volume(corners)[1]), 1, delta=1e-3)
        self.lepus("simulate", "part.stl", "-o", "x", "--material", "tin", code=2)
        cut = (self.folder / "part.stl").read_bytes()
        (self.folder / "open.stl").write_bytes(cut[:80] + (len(corners) - 1).to_bytes(4, "little") + cut[84:-50])
        self.assert_error(self.lepus("simulate", "open.stl", "-o", "x", code=3), "input", "does not enclose", "3 edges")

    def test_what_cannot_be_is_said(self):
        write_mha(self.folder / "v.mha", self.blobs())
        self.assert_error(self.lepus("convert", "v.mha", "--surface", "7", "-o", "a.stl", code=3), "input", "no surface", "above 7")
        self.assert_error(self.lepus("convert", "v.mha", "--surface", "0.5", "-o", "a.obj", code=7), "unsupported", ".obj", ".stl")
        self.simulate()
        self.assert_error(self.lepus("convert", "scan/scan.toml", "--surface", "1", "-o", "x/", code=2), "usage", "for volumes")
        self.assertEqual([n for n in self.names() if n.startswith("a.")], [])


if __name__ == "__main__":
    unittest.main()
