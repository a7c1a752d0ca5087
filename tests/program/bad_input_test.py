# SPDX-License-Identifier: Apache-2.0
"""What bad input gets from `lepus reconstruct`: one error that says what, where, why and what to do, an exit code, no
output left under the final or a partial name, and an output that was there before left as it was."""
import os
import re
import resource
import shutil
import signal
import subprocess
import unittest

import numpy
import tifffile

from program_case import PROGRAM, ProgramCase, command_names

INPUT, GEOMETRY, MEMORY, DISK, UNSUPPORTED = 3, 4, 5, 6, 7
KINDS = {INPUT: "input", GEOMETRY: "geometry", MEMORY: "memory", DISK: "disk", UNSUPPORTED: "unsupported"}


@unittest.skipUnless("reconstruct" in command_names(), "this lepus has no reconstruct")
class BadInput(ProgramCase):
    def setUp(self):
        super().setUp()
        self.scan = self.simulate("scan", "--format", "tiff", "--no-truth")
        self.toml = self.scan / "scan.toml"
        self.frames = sorted((self.scan / "frames").glob("*.tif"))
        self.flats = sorted((self.scan / "flats").glob("*.tif"))
        self.assertEqual(len(self.frames), 24)

    # Changes to the scan

    def set(self, section, **keys):
        """Sets keys of a section of the scan file; None removes one."""
        text = self.toml.read_text()
        if f"[{section}]" not in text:
            text += f"\n[{section}]\n"
        head, rest = text.split(f"[{section}]", 1)
        body, *tail = re.split(r"(?m)^(?=\[)", rest, maxsplit=1)
        for key, value in keys.items():
            body = re.sub(rf"(?m)^{key}\s*=.*\n", "", body)
            if value is not None:
                body = body.rstrip("\n") + f"\n{key} = {value}\n\n"
        self.toml.write_text(f"{head}[{section}]{body}{''.join(tail)}")

    def drop_section(self, section):
        text = self.toml.read_text()
        self.toml.write_text(re.sub(rf"(?ms)^\[{re.escape(section)}\]\n.*?(?=^\[|\Z)", "", text))

    def rewrite(self, files, change):
        for index, file in enumerate(files):
            tifffile.imwrite(file, change(index, tifffile.imread(file)))

    # What is asked of every case

    def refused(self, code, *needles, words=(), **options):
        """Runs twice: to a new name, and with --force onto an output that exists."""
        out = self.folder / "out"
        for existing in (False, True):
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            if existing:
                (out / "volume.mha").write_bytes(b"precious")
            more = [*words, "--force"] if existing else list(words)
            before = self.names(self.scan)
            result = self.lepus("reconstruct", self.toml, "-o", out / "volume.mha", "--json", *more, code=code, **options)
            self.assert_error(result, KINDS[code], *needles)
            self.assertEqual(self.names(out), ["volume.mha"] if existing else [], "something was left behind")
            if existing:
                self.assertEqual((out / "volume.mha").read_bytes(), b"precious")
            self.assertEqual(self.names(self.scan), before)
        return result

    def test_the_scan_itself_is_good(self):
        """Otherwise every case below would pass for the wrong reason."""
        self.lepus("reconstruct", self.toml, "-o", "volume.mha")
        self.assert_error(self.lepus("reconstruct", self.toml, "-o", "volume.mha", code=DISK), "disk", "volume.mha", "--force")
        self.lepus("reconstruct", self.toml, "-o", "volume.mha", "--force")

    # Frames

    def test_missing_frame_of_a_list(self):
        names = ", ".join(f'"frames/{file.name}"' for file in self.frames)
        self.set("frames", files=f"[{names}]")
        self.frames[7].unlink()
        self.refused(INPUT, self.frames[7].name)

    def test_missing_frame_of_a_pattern(self):
        """A gap in the numbers would shift every later view to a wrong angle."""
        self.frames[7].unlink()
        self.refused(INPUT, self.frames[7].stem)

    def test_no_frames_at_all(self):
        for file in self.frames:
            file.unlink()
        self.refused(INPUT, "frames")

    def test_truncated_frame(self):
        whole = self.frames[7].read_bytes()
        self.frames[7].write_bytes(whole[:len(whole) // 2])
        self.refused(INPUT, self.frames[7].name)

    def test_empty_frame(self):
        self.frames[7].write_bytes(b"")
        self.refused(INPUT, self.frames[7].name)

    def test_differently_sized_frame(self):
        tifffile.imwrite(self.frames[7], numpy.full((24, 31), 1000, numpy.uint16))
        self.refused(INPUT, self.frames[7].name, "31", "32")

    def test_unreadable_frame(self):
        self.frames[7].write_bytes(b"this is not a picture" * 100)
        self.refused(INPUT, self.frames[7].name)

    @unittest.skipIf(os.geteuid() == 0, "root may read every file")
    def test_forbidden_frame(self):
        self.frames[7].chmod(0)
        self.refused(INPUT, self.frames[7].name, "permi")

    def test_frame_of_nan(self):
        nan = lambda i, image: numpy.full(image.shape, numpy.nan, numpy.float32) if i == 7 else image.astype(numpy.float32)
        self.rewrite(self.frames, nan)
        self.refused(INPUT, self.frames[7].name, "view 7", "not a number")

    def test_frame_of_saturated_pixels(self):
        self.rewrite(self.frames, lambda i, image: numpy.full_like(image, 65535) if i == 7 else image)
        self.refused(INPUT, self.frames[7].name, "view 7", "saturated")

    def test_a_few_bad_pixels_are_counted_and_reported(self):
        def spoil(i, image):
            if i == 7:
                image[3, 4:9] = 65535  # 5 of 768 pixels: below the limit of 1 %
            return image
        self.rewrite(self.frames, spoil)
        result = self.lepus("reconstruct", self.toml, "-o", "volume.mha")
        self.assertIn("warning", result.stderr)
        self.assertRegex(result.stderr, r"\b5\b")
        # The limit is the scan's to set.
        self.set("frames", maximum_bad_fraction="0.001")
        (self.folder / "volume.mha").unlink()
        self.refused(INPUT, self.frames[7].name)

    # Flats

    def test_missing_flat(self):
        for file in self.flats:
            file.unlink()
        self.refused(INPUT, "flats")

    def test_missing_flat_of_a_list(self):
        names = ", ".join(f'"flats/{file.name}"' for file in self.flats)
        self.set("frames", flats=f"[{names}]")
        self.flats[1].unlink()
        self.refused(INPUT, self.flats[1].name)

    def test_no_flats_and_no_intensity(self):
        self.set("frames", flats=None)
        self.refused(INPUT, "flats", "intensity")

    def test_zero_flat(self):
        self.rewrite(self.flats, lambda i, image: numpy.zeros_like(image))
        self.refused(INPUT, "flat")

    def test_negative_flat(self):
        self.rewrite(self.flats, lambda i, image: numpy.full(image.shape, -5, numpy.float32))
        self.refused(INPUT, "flat")

    def test_flat_of_another_size(self):
        self.rewrite(self.flats, lambda i, image: image[:, :-1])
        self.refused(INPUT, "flats")

    # Geometry

    def angles(self, count):
        (self.scan / "angles.txt").write_text("".join(f"{15 * i}\n" for i in range(count)))
        self.set("geometry", angles_file='"angles.txt"', first_angle_deg=None, arc_deg=None, angle_step_deg=None)

    def test_angles_that_do_not_match(self):
        for count in (23, 25):
            with self.subTest(count=count):
                self.angles(count)
                self.refused(INPUT, "angles", str(count), "24")

    def test_angles_that_are_no_numbers(self):
        self.angles(24)
        path = self.scan / "angles.txt"
        path.write_text(path.read_text().replace("45\n", "north\n"))
        self.refused(INPUT, "angles.txt", "north")

    def test_volume_outside_the_field_of_view(self):
        self.set("volume", size="[16, 16, 16]", voxel_mm="1.0", centre_mm="[500.0, 0.0, 0.0]")
        self.refused(GEOMETRY, "volume", "field of view")
        self.set("volume", centre_mm="[0.0, 0.0, 500.0]")
        self.refused(GEOMETRY, "volume")

    def test_detector_behind_the_source(self):
        self.set("geometry", source_detector_mm="-1000.0")
        result = self.refused_with((INPUT, GEOMETRY), "source_detector_mm")
        self.assertNotEqual(result.returncode, 0)

    def test_detector_between_source_and_axis_is_no_crash(self):
        self.set("geometry", source_axis_mm="0.0")
        self.refused_with((INPUT, GEOMETRY), "source_axis_mm")

    def refused_with(self, codes, *needles):
        """Where either of two kinds describes the case."""
        result = self.lepus("reconstruct", self.toml, "-o", self.folder / "v.mha", "--json", code=None)
        self.assertIn(result.returncode, codes, result.stderr)
        return self.refused(result.returncode, *needles)

    def matrices(self, change):
        """The scan's geometry as matrices: w = 1 at the origin, 32 x 24 pixels of 3.2 mm at the axis, 500 mm away."""
        lines = []
        for view in range(24):
            angle = numpy.radians(15 * view)
            right = numpy.array([numpy.cos(angle), numpy.sin(angle), 0])
            depth = numpy.array([-numpy.sin(angle), numpy.cos(angle), 0])
            w = numpy.append(depth / 500, 1)
            u = numpy.append(right / 3.2, 0) + 15.5 * w
            v = numpy.array([0, 0, -1 / 3.2, 0]) + 11.5 * w
            matrix = change(view, numpy.stack([u, v, w]))
            lines.append(" ".join(f"{x:.17g}" for x in matrix.ravel()))
        (self.scan / "matrices.txt").write_text("\n".join(lines) + "\n")
        self.drop_section("geometry")
        self.set("geometry", matrices_file='"matrices.txt"')

    def test_matrices_are_good(self):
        self.matrices(lambda view, matrix: 3.0 * matrix)  # any scaling
        self.lepus("reconstruct", self.toml, "-o", "volume.mha")

    def test_singular_matrix(self):
        def spoil(view, matrix):
            if view == 5:
                matrix[1] = 2 * matrix[0]
            return matrix
        self.matrices(spoil)
        self.refused(GEOMETRY, "view 5", "singular")

    def test_matrix_of_a_detector_behind_the_source(self):
        def spoil(view, matrix):
            if view == 5:
                matrix[2, 3] = 0  # the rotation centre lies in the plane of the source
            return matrix
        self.matrices(spoil)
        self.refused(GEOMETRY, "view 5")

    def test_a_matrix_too_few(self):
        self.matrices(lambda view, matrix: matrix)
        path = self.scan / "matrices.txt"
        path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
        self.refused(INPUT, "matrices")

    def test_half_fan_of_less_than_a_turn(self):
        self.set("geometry", detector_shift_u_mm="60.0", arc_deg="270.0", angle_step_deg=None)
        self.refused(GEOMETRY, "360")

    def test_unknown_key(self):
        self.set("geometry", source_axis="500.0")
        self.refused(INPUT, "source_axis", "source_axis_mm")

    # Disk and memory

    def limited(self, kind, amount):
        """For a child: a limit of the system. SIGXFSZ stays ignored, so that writing past the limit is an error."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(kind, (amount, amount))

    def test_disk_that_fills_up(self):
        """A file may not grow past half the volume: the same error from the same call as on a full disk."""
        self.set("volume", size="[64, 64, 64]", voxel_mm="1.0", centre_mm="[0.0, 0.0, 0.0]")
        self.refused(DISK, "volume.mha", preexec_fn=lambda: self.limited(resource.RLIMIT_FSIZE, 512 << 10),
                     restore_signals=False)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "only root can mount a small disk")
    def test_small_disk(self):
        self.set("volume", size="[64, 64, 64]", voxel_mm="1.0", centre_mm="[0.0, 0.0, 0.0]")
        disk = self.folder / "disk"
        disk.mkdir()
        script = (f"mount -t tmpfs -o size=300k none '{disk}' || exit 99; "
                  f"'{PROGRAM}' reconstruct '{self.toml}' -o '{disk}/volume.mha' --json; code=$?; ls -A '{disk}' >&2; exit $code")
        result = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, timeout=120)
        if result.returncode in (1, 99):
            self.skipTest("mounting is not permitted here: " + result.stderr.strip())
        self.assertEqual(result.returncode, DISK, result.stderr)
        self.assert_error(result, "disk", "volume.mha")
        self.assertNotIn("\nvolume.mha", result.stderr)

    def test_folder_that_is_not_there(self):
        result = self.lepus("reconstruct", self.toml, "-o", "nowhere/volume.mha", code=DISK)
        self.assert_error(result, "disk", "nowhere")

    def test_memory_limit_below_any_plan(self):
        self.refused(MEMORY, "memory", words=["--memory", "64KB", "--backend", "cpu"])

    # The GPU

    def test_a_gpu_that_is_not_there(self):
        """With or without a GPU: none has this number."""
        self.refused(UNSUPPORTED, "--backend cpu" if self.no_gpu() else "--device",
                     words=["--backend", "cuda", "--device", "99"])

    def test_no_gpu_falls_back_to_the_cpu_and_says_so(self):
        if not self.no_gpu():
            self.skipTest("there is a GPU")
        if "build lepus where nvcc" in self.plan_on_cuda().stderr:
            self.skipTest("this lepus was built without CUDA, and says nothing of GPUs")
        result = self.lepus("reconstruct", self.toml, "-o", "volume.mha")
        self.assertIn("no GPU can be used", result.stderr)
        self.lepus("reconstruct", self.toml, "-o", "other.mha", "--backend", "cpu")

    def no_gpu(self):
        return self.plan_on_cuda().returncode == UNSUPPORTED

    def plan_on_cuda(self):
        return self.lepus("plan", self.toml, "--backend", "cuda", code=None)

    def test_memory_for_nearly_all_of_it(self):
        """Whatever the system refuses first: one error, or the volume. FFTW alone would end the process."""
        def reconstruct(kib):
            return self.lepus("reconstruct", self.toml, "-o", "volume.mha", "--force", "--restart", "--threads", "1", code=None,
                              preexec_fn=lambda: self.limited(resource.RLIMIT_AS, kib << 10))
        enough = next(kib for kib in range(40 << 10, 4 << 20, 4 << 10) if reconstruct(kib).returncode == 0)
        for kib in range(enough, enough - (4 << 10), -200):
            result = reconstruct(kib)
            self.assertIn(result.returncode, (0, MEMORY), f"{kib} KiB\n{result.stderr}")

    def test_no_memory_left(self):
        """Where the system gives less than --memory promised: it works in what there is, or says so; no crash."""
        self.set("volume", size="[256, 256, 256]", voxel_mm="0.3", centre_mm="[0.0, 0.0, 0.0]")
        self.set("frames", last_view="3")
        out = self.folder / "out"
        out.mkdir()
        def within(mib, *words):
            return self.lepus(*words, code=None, preexec_fn=lambda: self.limited(resource.RLIMIT_AS, mib << 20))
        loads = next(mib for mib in range(16, 1 << 10, 4) if within(mib, "--version").returncode == 0)
        ended = []
        for mib in range(loads, loads + 100, 5):
            for file in out.iterdir():
                file.unlink()
            result = within(mib, "reconstruct", self.toml, "-o", out / "volume.mha", "--memory", "4GB", "--threads", "1")
            self.assertIn(result.returncode, (0, MEMORY), f"{mib} MiB\n{result.stderr}")
            left = self.names(out)
            if result.returncode == 0:
                self.assertEqual(left, ["volume.mha"])
                continue
            ended.append(mib)
            self.assert_error(result, "memory", "memory")
            kept = "goes on" in result.stderr  # where a slab was finished
            self.assertEqual("volume.mha.unfinished" in left, kept, f"{mib} MiB\n{result.stderr}\n{left}")
            if kept:
                self.assertLessEqual(set(left), {f"volume.mha.{what}" for what in ("journal", "results", "unfinished")})
            else:
                self.assertEqual(left, [])
        self.assertTrue(ended)


if __name__ == "__main__":
    unittest.main()
