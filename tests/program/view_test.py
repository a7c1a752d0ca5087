# SPDX-License-Identifier: Apache-2.0
"""lepus view asked as its page asks: the right voxels, nobody else's requests, files that change, many clients at once."""
import http.client
import importlib.util
import json
import os
import pathlib
import signal
import socket
import statistics
import threading
import time
import unittest

import numpy

from view_case import ViewCase, mha_header, write_mha


class View(ViewCase):
    def test_voxels_are_those_of_the_file_and_ctrl_c_ends_it(self):
        volume = self.small()
        viewed = self.view("v.mha", "--no-browser", "--water", "0.5")
        numpy.testing.assert_array_equal(viewed.picture("/api/volumes/0/slice?axis=z&index=3&format=f32"), volume[3])
        numpy.testing.assert_array_equal(viewed.picture("/api/volumes/0/slice?axis=y&index=4&format=f32"), volume[:, 4])
        numpy.testing.assert_array_equal(viewed.picture("/api/volumes/0/slice?axis=x&index=5&format=f32&step=2&box=1,16,2,12"),
                                         volume[2:12:2, 1:16:2, 5])
        grey = viewed.picture("/api/volumes/0/slice?axis=z&index=3&window=0.2,0.7", "u1")
        numpy.testing.assert_array_equal(grey, numpy.floor(numpy.clip((volume[3].astype(float) - 0.2) / 0.5, 0, 1) * 255 + 0.5))
        slab = viewed.picture("/api/volumes/0/slice?axis=z&index=5&slab=3&mode=max&format=f32")
        numpy.testing.assert_array_equal(slab, volume[4:7].max(0))
        value = viewed.json("/api/volumes/0/value?at=5,4,3")
        self.assertAlmostEqual(value["value"], volume[3, 4, 5], places=6)
        self.assertAlmostEqual(value["hu"], 1000 * (volume[3, 4, 5] - 0.5) / 0.5, places=2)
        numbers = viewed.json("/api/volumes/0/statistics?box=2,18,1,9,0,12")
        part = volume[0:12, 1:9, 2:18].astype(float)
        self.assertAlmostEqual(numbers["mean"], part.mean(), places=9)
        self.assertAlmostEqual(numbers["sd"], part.std(), places=9)
        self.assertAlmostEqual(numbers["mm3"], part.size / 8)
        line = viewed.json("/api/volumes/0/profile?from=0,4,3&to=19,4,3&samples=20")
        numpy.testing.assert_allclose(line["values"], volume[3, 4], rtol=1e-6)
        counts, _ = numpy.histogram(volume, 16, (0, 1))
        self.assertEqual(viewed.json("/api/volumes/0/histogram?bins=16&range=0,1")["counts"], counts.tolist())
        plane = viewed.picture("/api/volumes/0/oblique?origin=0,0,1.5&u=1,0,0&v=0,1,0&size=20,16&step=0.5&format=f32")
        numpy.testing.assert_allclose(plane, volume[3], rtol=1e-6)
        self.assertIn(b"<html", viewed.get("/")[2])
        code, error = viewed.stop()
        self.assertEqual(code, 0)
        self.assertNotIn("working", error)

    def test_downloads_can_be_read(self):
        volume = self.small()
        viewed = self.view("v.mha", "--no-browser")
        expected = volume[2:9, 3:10, 1:15]
        for kind in ("npy", "mha", "tif"):
            status, headers, body = viewed.get(f"/api/volumes/0/export?box=1,15,3,10,2,9&format={kind}")
            self.assertEqual(status, 200, body)
            self.assertIn("attachment", headers["Content-Disposition"])
            (self.folder / f"part.{kind}").write_bytes(body)
            if kind == "npy":
                numpy.testing.assert_array_equal(numpy.load(self.folder / "part.npy"), expected)
            else:
                self.lepus("convert", f"part.{kind}", "-o", f"{kind}.raw", "--quiet")
                raw = numpy.fromfile(self.folder / f"{kind}.raw", "<f4").reshape(expected.shape)
                numpy.testing.assert_array_equal(raw, expected)
        body = viewed.get("/api/volumes/0/surface?value=0.5&format=stl")[2]
        self.assertEqual(len(body), 84 + 50 * int.from_bytes(body[80:84], "little"))

    def test_bad_starts_are_said(self):
        self.small()
        taken = self.view("v.mha", "--no-browser")
        result = self.lepus("view", "v.mha", "--no-browser", "--port", taken.port, code=2)
        self.assert_error(result, "usage", f"port {taken.port}", "--port")
        other = self.view("v.mha", "--no-browser")  # finds another by itself
        self.assertNotEqual(other.port, taken.port)
        (self.folder / "empty.mha").write_bytes(b"")
        self.assertIn("lepus: error:", self.lepus("view", "empty.mha", "--no-browser", code=None).stderr)
        (self.folder / "none.mha").write_bytes(mha_header(0, 0, 0))
        self.assert_error(self.lepus("view", "none.mha", "--no-browser", code=3), "input", "none.mha")
        self.assert_error(self.lepus("view", "missing.mha", "--no-browser", code=3), "input", "missing.mha")
        self.assert_error(self.lepus("view", "v.mha", "--port", "70000", code=2), "usage", "70000")
        self.assert_error(self.lepus("view", "v.mha", "--listen", "203.0.113.7", "--no-browser", code=2), "usage", "203.0.113.7")
        without_browser = self.view("v.mha")
        self.assertIn("no browser", without_browser.stop()[1])

    def test_only_its_own_page_is_answered(self):
        self.small()
        viewed = self.view("v.mha", "--no-browser")
        for headers in ({"Host": "evil.example"}, {"Host": f"evil.example:{viewed.port}"}, {"Origin": "http://evil.example"},
                        {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
            status, _, body = viewed.get("/api/session", headers)
            self.assertEqual(status, 403, headers)
            self.assertIn("hint", json.loads(body)["error"])
        self.assertEqual(viewed.get("/api/session", {"Origin": f"http://127.0.0.1:{viewed.port}"})[0], 200)
        policy = viewed.get("/")[1]["Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertIn("frame-ancestors 'none'", policy)
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/v.mha", "/api/volumes/..%2f..%2fetc/slice"):
            self.assertEqual(viewed.get(path)[0], 404, path)
        # It listens on loopback alone.
        sockets = [line.split()[1] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"]
        self.assertEqual([s for s in sockets if s.endswith(f":{viewed.port:04X}")], [f"0100007F:{viewed.port:04X}"])

    def test_others_need_the_token(self):
        self.small()
        viewed = self.view("v.mha", "--no-browser", "--listen", "127.0.0.1")
        self.assertEqual(len(viewed.token), 32)
        for target, headers in (("/api/session", {}), ("/", {}), ("/api/session?token=" + 32 * "0", {}),
                                ("/api/session", {"Authorization": "Bearer x"})):
            self.assertEqual(viewed.get(target, headers)[0], 401, target)
        status, headers, _ = viewed.get(f"/?token={viewed.token}")
        self.assertEqual(status, 200)
        cookie = headers["Set-Cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertIn("SameSite=Strict", cookie)
        self.assertEqual(viewed.get("/api/session", {"Cookie": cookie.split(";")[0]})[0], 200)
        self.assertEqual(viewed.get("/api/session", {"Authorization": f"Bearer {viewed.token}"})[0], 200)

    def test_malformed_requests_do_no_harm(self):
        self.small()
        viewed = self.view("v.mha", "--no-browser")
        host = f"Host: localhost:{viewed.port}\r\n".encode()
        for data in (b"\r\n\r\n", b"GARBAGE\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n" + host + b"\r\n", bytes(range(256)) * 16,
                     b"GET /" + 100000 * b"a" + b" HTTP/1.1\r\n" + host + b"\r\n", b"GET / HTTP/1.1\r\n" + 5000 * b"X: y\r\n" + b"\r\n",
                     b"GET /api/volumes/0/slice?" + 2000 * b"a=1&" + b" HTTP/1.1\r\n" + host + b"\r\n",
                     b"POST /api/scan/slice HTTP/1.1\r\n" + host + b"Content-Type: application/json\r\nContent-Length: -5\r\n\r\n{}",
                     b"POST /api/scan/slice HTTP/1.1\r\n" + host + b"Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{}",
                     b"POST /api/scan/slice HTTP/1.1\r\n" + host + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                     b"GET /api/session HTTP/1.1\r\n" + host + b"Range: bytes=5-1,-,9999999999999-\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", viewed.port), 5) as raw:
                raw.settimeout(0.3)
                try:
                    raw.sendall(data)
                    raw.recv(4096)
                except OSError:
                    pass
            self.assertIsNone(viewed.process.poll(), data[:60])
        self.assertEqual(viewed.get("/api/session")[0], 200)
        self.assertEqual(viewed.get("/api/session", data=b"{}")[0], 415)

    def test_once_ends_with_the_page(self):
        self.small()
        viewed = self.view("v.mha", "--no-browser", "--once")
        page = http.client.HTTPConnection("127.0.0.1", viewed.port)
        page.request("GET", "/api/events")
        answer = page.getresponse()
        self.assertEqual(answer.headers["Content-Type"], "text/event-stream")
        self.assertIn(b"retry", answer.fp.readline() + answer.fp.readline())
        time.sleep(1)
        self.assertIsNone(viewed.process.poll())
        page.sock.shutdown(socket.SHUT_RDWR)
        page.close()
        self.assertEqual(viewed.process.wait(15), 0)

    def test_a_file_that_changes_or_vanishes_is_told(self):
        self.small()
        viewed = self.view("v.mha", "--no-browser")
        page = http.client.HTTPConnection("127.0.0.1", viewed.port, timeout=20)
        page.request("GET", "/api/events")
        events = page.getresponse()
        os.rename(self.folder / "v.mha", self.folder / "away.mha")
        viewed.wait_for(lambda s: s["volumes"][0]["gone"] == "vanished")
        status, _, body = viewed.get("/api/volumes/0/slice")
        self.assertEqual((status, json.loads(body)["error"]["what"]), (410, "the file vanished"))
        seen = b""
        while b"event: gone" not in seen:
            seen += events.read1(4096)
        page.close()
        other = self.small(shape=(8, 8, 8), seed=7)
        viewed.wait_for(lambda s: s["volumes"][0]["size"] == [8, 8, 8])
        numpy.testing.assert_array_equal(viewed.picture("/api/volumes/0/slice?index=2&format=f32"), other[2])

    def test_integers_with_a_scale_stay_what_they_are(self):
        volume = numpy.random.default_rng(2).normal(0.02, 0.003, (12, 14, 300)).astype("f4")
        write_mha(self.folder / "f.mha", volume)
        self.lepus("convert", "f.mha", "-o", "v.mha", "--output-type", "uint16", "--output-range=-0.01:0.05")
        half = volume.astype(float).reshape(6, 2, 7, 2, 150, 2).mean((1, 3, 5))
        coarse = self.folder / "v.mha.zarr"
        for remade in (False, True):
            if remade:  # one that was written without the scale, as earlier ones were
                for attributes in coarse.glob("[0-9]/.zattrs"):
                    attributes.unlink()
            viewed = self.view("v.mha", "--no-browser")
            viewed.wait_for(lambda s: s["volumes"][0]["pyramid"]["state"] == "there")
            level = viewed.picture("/api/volumes/0/slice?axis=z&index=5&level=1&format=f32")
            numpy.testing.assert_allclose(level, half[2], atol=2 * 0.06 / 65535)
            if not remade:
                for kind in ("mha", "tif"):
                    (self.folder / f"part.{kind}").write_bytes(viewed.get(f"/api/volumes/0/export?box=10,20,2,8,3,7&format={kind}")[2])
                    self.assertEqual(self.lepus_json("info", f"part.{kind}")["pixel_type"], "uint16")
                    self.lepus("convert", f"part.{kind}", "-o", f"{kind}.raw", "--quiet")
                    raw = numpy.fromfile(self.folder / f"{kind}.raw", "<f4").reshape(4, 6, 10)
                    numpy.testing.assert_allclose(raw, volume[3:7, 2:8, 10:20], atol=0.06 / 65535)
            viewed.stop()

    def test_a_range_is_answered_with_the_whole(self):
        volume = self.small()
        viewed = self.view("v.mha", "--no-browser")
        target = "/api/volumes/0/slice?axis=z&index=3&format=f32"
        for part in ("0-9", "1270-66000", "1280-66000", "999999999-", "0-1,4-5", "-5", "-5000000"):
            with self.subTest(part=part):
                status, headers, body = viewed.get(target, {"Range": f"bytes={part}"})
                self.assertEqual((status, headers["Content-Length"], headers["Content-Range"]), (200, "1280", None))
                self.assertEqual(body, volume[3].tobytes())
                status, headers, body = viewed.get("/api/nothing", {"Range": f"bytes={part}"})
                self.assertEqual((status, len(body)), (404, int(headers["Content-Length"])))
                self.assertIn("error", json.loads(body))
        for part in ("9-3", "99999-, 9-3", "99999999999999999999999-", "x"):  # what the library itself refuses
            status, headers, body = viewed.get(target, {"Range": f"bytes={part}"})
            self.assertIn(status, (200, 416), part)
            self.assertEqual(len(body), int(headers["Content-Length"]), part)
            if status == 416:
                self.assertIn("error", json.loads(body), part)

    def test_water(self):
        volume = numpy.full((4, 5, 6), 0.03, "f4")
        header = mha_header(6, 5, 4)

        def write(name, unit):
            (self.folder / name).write_bytes(header.replace(b"lepus_value_unit = 1/mm\n", unit) + volume.tobytes())
        write("none.mha", b"")
        write("hu.mha", b"lepus_value_unit = HU\n")
        write("grey.mha", b"lepus_value_unit = grey levels\n")
        viewed = self.view("none.mha", "hu.mha", "--labels", "none.mha", "--no-browser", "--water", "0.02")
        shown = viewed.json("/api/session")["volumes"]
        self.assertEqual([v["unit"] for v in shown], ["1/mm", "HU", "raw"])
        self.assertEqual([v["hu"] for v in shown], [{"water_per_mm": 0.02}, {"water_per_mm": 0.02}, None])
        values = [viewed.json(f"/api/volumes/{i}/value?at=1,1,1")["hu"] for i in range(3)]
        self.assertAlmostEqual(values[0], 500, places=3)
        self.assertAlmostEqual(values[1], 0.03, places=6)
        self.assertIsNone(values[2])
        self.assert_error(self.lepus("view", "grey.mha", "--water", "0.02", "--no-browser", code=2), "usage", "grey levels")
        self.assert_error(self.lepus("view", "scan.toml", "--water", "0.02", "--no-browser", code=2), "usage", "--water")

    @unittest.skipUnless(importlib.util.find_spec("zarr"), "python3-zarr is not installed")
    def test_a_pyramid_is_written_used_and_used_again(self):
        import zarr
        volume = self.small(shape=(70, 90, 300))
        viewed = self.view("v.mha", "--no-browser")
        viewed.wait_for(lambda s: s["volumes"][0]["pyramid"]["state"] == "there")
        levels = viewed.json("/api/session")["volumes"][0]["levels"]
        self.assertEqual([level["factor"] for level in levels], [1, 2, 4])
        group = zarr.open(str(self.folder / "v.mha.zarr"), "r")
        numpy.testing.assert_array_equal(group["0"][:], volume)
        half = volume.astype(float).reshape(35, 2, 45, 2, 150, 2).mean((1, 3, 5))
        numpy.testing.assert_allclose(viewed.picture("/api/volumes/0/slice?axis=x&index=100&level=1&format=f32"), half[:, :, 50], rtol=1e-5)
        coarse = viewed.get("/api/volumes/0/slice?axis=y&index=7&level=auto&step=auto&max=100&format=f32")
        self.assertEqual((coarse[1]["X-Lepus-Level"], coarse[1]["X-Lepus-Size"]), ("2", "75,18"))
        viewed.stop()
        written = (self.folder / "v.mha.zarr/.zattrs").stat().st_mtime_ns
        again = self.view("v.mha", "--no-browser", "--no-pyramid")
        again.wait_for(lambda s: s["volumes"][0]["pyramid"]["state"] == "there", 5)
        self.assertEqual((self.folder / "v.mha.zarr/.zattrs").stat().st_mtime_ns, written)
        again.stop()
        self.small("w.mha", shape=(4, 4, 300))
        without = self.view("w.mha", "--no-browser", "--no-pyramid")
        without.wait_for(lambda s: s["volumes"][0]["pyramid"]["why"] == "--no-pyramid")
        self.assertFalse((self.folder / "w.mha.zarr").exists())

    def test_a_volume_far_larger_than_memory_opens_at_once(self):
        n, header = 2048, mha_header(2048, 2048, 2048)
        random = numpy.random.default_rng(3)
        places = {tuple(int(i) for i in random.integers(0, n // 4, 3) * 4): float(v) for v in random.uniform(1, 2, 100)}
        with open(self.folder / "large.mha", "wb") as out:
            out.write(header)
            for (x, y, z), value in places.items():
                out.seek(len(header) + 4 * ((z * n + y) * n + x))
                out.write(numpy.float32(value).tobytes())
            out.truncate(len(header) + 4 * n**3)
        start = time.monotonic()
        viewed = self.view("large.mha", "--no-browser", "--no-pyramid")
        (x, y, z), _ = next(iter(places.items()))
        full = viewed.picture(f"/api/volumes/0/slice?axis=z&index={z}&format=f32")
        across_y = viewed.picture(f"/api/volumes/0/slice?axis=y&index={y}&step=4&format=f32")
        across_x = viewed.picture(f"/api/volumes/0/slice?axis=x&index={x}&step=4&format=f32")
        seconds = time.monotonic() - start
        print(f"2048^3: opened, xy whole, xz and yz every 4th in {seconds:.2f} s, {viewed.memory() / 2**20:.0f} MiB, "
              f"{viewed.processor_seconds():.2f} s of processor time", flush=True)
        self.assertEqual(full.shape, (n, n))
        for (i, j, k), value in places.items():
            if k == z:
                self.assertAlmostEqual(float(full[j, i]), value, places=6)
            if j == y:
                self.assertAlmostEqual(float(across_y[k // 4, i // 4]), value, places=6)
            if i == x:
                self.assertAlmostEqual(float(across_x[k // 4, j // 4]), value, places=6)
            self.assertAlmostEqual(viewed.json(f"/api/volumes/0/value?at={i},{j},{k}")["value"], value, places=6)
        self.assertEqual(int((full != 0).sum()), sum(1 for p in places if p[2] == z))
        self.assertLess(viewed.memory(), 2**30)
        if os.environ.get("LEPUS_VIEW_TIMES"):  # on a machine that does nothing else
            self.assertLess(seconds, 2)
            # Across x every voxel is a page of the file: the page asks for a quarter of the pixels while it scrolls.
            for axis, pixels, least in (("z", 1024, 20), ("y", 1024, 20), ("x", 256, 20), ("x", 1024, 0)):
                start = time.monotonic()
                for index in range(512, 512 + 64):
                    viewed.picture(f"/api/volumes/0/slice?axis={axis}&index={index}&level=auto&step=auto&max={pixels}", "u1")
                rate = 64 / (time.monotonic() - start)
                print(f"scrolling across {axis}, {pixels}^2: {rate:.0f} slices/s, {viewed.memory() / 2**20:.0f} MiB", flush=True)
                self.assertGreaterEqual(rate, least)

    def test_a_scan_is_shown_tuned_and_saved(self):
        scan = self.simulate()
        viewed = self.view("scan/scan.toml", "--no-browser")
        about = viewed.json("/api/session")["scan"]
        self.assertEqual((about["views"], about["columns"], about["rows"], len(about["angles"])), (24, 32, 24, 24))
        self.assertAlmostEqual(about["axis_column"], 15.5, places=3)
        import skimage.io
        frame = skimage.io.imread(scan / "frames" / "0005.tif")
        numpy.testing.assert_array_equal(viewed.picture("/api/scan/frame?index=5&stage=raw&format=f32"), frame)
        self.assertEqual((about["flats"], about["darks"]), (2, 2))
        flat = skimage.io.imread(sorted((scan / "flats").iterdir())[1])
        numpy.testing.assert_array_equal(viewed.picture("/api/scan/frame?index=1&stage=flat&format=f32"), flat)
        self.assertEqual(viewed.get("/api/scan/frame?index=2&stage=dark")[0], 400)
        lines = viewed.picture("/api/scan/frame?index=5&stage=line&format=f32")
        sinogram = viewed.picture("/api/scan/sinogram?row=11&stage=line&format=f32")
        self.assertEqual(sinogram.shape, (24, 32))
        numpy.testing.assert_array_equal(sinogram[5], lines[11])
        self.assertGreater(lines.max(), 0.5)
        # A slice as lepus reconstruct makes it, on the same device.
        toml = about["toml"]
        self.lepus("reconstruct", "scan/scan.toml", "-o", "v.raw", "--quiet")
        nx, ny, nz = about["grid"]["size"]
        expected = numpy.fromfile(self.folder / "v.raw", "<f4").reshape(nz, ny, nx)
        status, headers, body = viewed.post("/api/scan/slice", toml=toml, z=nz // 2)
        self.assertEqual(status, 200, body)
        numpy.testing.assert_allclose(numpy.frombuffer(body, "<f4").reshape(ny, nx), expected[nz // 2], atol=1e-5 * expected.max())
        # With a changed text: a correction that is switched on changes the sinogram.
        changed = toml + '\n[[correct]]\nkind = "filter"\ntype = "median"\nsize = 3\n'
        status, _, body = viewed.post("/api/scan/sinogram", toml=changed, row=11, stage="corrected", format="f32")
        self.assertIn(status, (200, 422), body)
        axis = json.loads(viewed.post("/api/scan/axis", toml=toml)[2])
        self.assertAlmostEqual(axis["column"], 15.5, delta=0.5)
        # Wrong texts are told, and not saved.
        status, _, body = viewed.post("/api/scan/slice", toml=toml + "\nnonsense = 1\n", z=None)
        self.assertIn(status, (400, 422))
        self.assertIn("nonsense", body.decode())
        self.assertNotEqual(viewed.post("/api/scan/save", toml="[frames", read=toml)[0], 200)
        self.assertEqual(viewed.post("/api/scan/save", toml=toml + "# tuned\n", read="something else")[0], 409)
        self.assertEqual((scan / "scan.toml").read_text(), toml)
        status, _, body = viewed.post("/api/scan/save", toml=toml + "# tuned\n", read=toml)
        self.assertEqual((status, json.loads(body)), (200, {"backup": "scan.toml.bak"}))
        self.assertEqual((scan / "scan.toml").read_text(), toml + "# tuned\n")
        self.assertEqual((scan / "scan.toml.bak").read_text(), toml)

    def test_the_end_of_the_terminal_ends_it(self):
        self.small()
        viewed = self.view("v.mha", "--no-browser")
        viewed.process.send_signal(signal.SIGHUP)
        self.assertEqual(viewed.process.wait(20), 0)

    def test_memory_is_bounded_whatever_is_asked_for(self):
        """Ten times 48 MiB at once, where requests may hold 96 MiB: they wait for each other."""
        write_mha(self.folder / "v.mha", numpy.ones((48, 512, 512), "f4"))
        viewed = self.view("v.mha", "--no-browser", "--no-pyramid", "--memory", "256MiB")
        found = []
        threads = [threading.Thread(target=lambda: found.append(viewed.get("/api/volumes/0/box?max=512&format=f32", timeout=120)))
                   for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for status, _, body in found:
            self.assertIn(status, (200, 503))
            self.assertTrue(status == 503 or len(body) == 4 * 48 * 512 * 512)
        self.assertGreaterEqual(sum(status == 200 for status, _, _ in found), 5)
        self.assertLess(viewed.memory(), 256 << 20)
        status, _, body = viewed.get("/api/volumes/0/slice?slab=48&mode=mean&axis=z&max=8192")
        self.assertEqual(status, 200)

    def test_many_clients_at_once(self):
        """4 slices of 512^2 a second each; the long form, 50 clients for 60 s, with LEPUS_VIEW_LOAD=50,60."""
        clients, seconds = map(float, os.environ.get("LEPUS_VIEW_LOAD", "12,2").split(","))
        shape = (64, 512, 512)
        write_mha(self.folder / "v.mha", numpy.random.default_rng(1).random(shape).astype("f4"))
        viewed = self.view("v.mha", "--no-browser", "--no-pyramid")
        times, errors = [], []

        def client(number):
            connection = http.client.HTTPConnection("127.0.0.1", viewed.port, timeout=30)
            start = time.monotonic() + 0.25 * number / clients
            for turn in range(int(4 * seconds)):
                time.sleep(max(0, start + 0.25 * turn - time.monotonic()))
                asked = time.monotonic()
                try:
                    connection.request("GET", f"/api/volumes/0/slice?axis=z&index={(7 * number + turn) % 64}&window=0,1")
                    answer = connection.getresponse()
                    if answer.status != 200 or len(answer.read()) != 512 * 512:
                        errors.append(answer.status)
                except OSError as error:
                    errors.append(error)
                times.append(time.monotonic() - asked)
            connection.close()

        threads = [threading.Thread(target=client, args=(i,)) for i in range(int(clients))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        median = 1000 * statistics.median(times)
        print(f"{clients:.0f} clients for {seconds:.0f} s: {len(times)} slices, median {median:.0f} ms, 99 % "
              f"{1000 * sorted(times)[int(0.99 * len(times))]:.0f} ms, {viewed.memory() / 2**20:.0f} MiB", flush=True)
        self.assertEqual(errors, [])
        self.assertLess(viewed.memory(), 2**30)
        if "LEPUS_VIEW_LOAD" in os.environ:
            self.assertLess(median, 100)


if __name__ == "__main__":
    unittest.main()
