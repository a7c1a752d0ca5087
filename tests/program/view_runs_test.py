# SPDX-License-Identifier: Apache-2.0
"""lepus view of an output that another process makes: slabs as they are written, the views of lepus live, the iterations of a method."""
import json
import os
import subprocess
import time
import unittest

import numpy

from program_case import PROGRAM
from view_case import ViewCase, mha_header


class ViewRuns(ViewCase):
    def test_a_run_is_shown_while_it_writes(self):
        nx, ny, nz = 64, 32, 24  # slices of two blocks
        header = mha_header(nx, ny, nz)
        header = header.replace(b"ElementType", b"lepus_room = " + b"." * (8192 - len(header) - 14) + b"\nElementType")
        self.assertEqual(len(header), 8192)
        volume = numpy.random.default_rng(5).random((nz, ny, nx)).astype("<f4")
        partial = self.folder / "v.mha.partial-1-00000000"
        with open(partial, "wb") as out:
            out.write(header)
            out.seek(len(header) + 8 * volume[0].nbytes)
            out.write(volume[8:16].tobytes())
            out.flush()
            viewed = self.view("v.mha", "--no-browser")
            session = viewed.json("/api/session")
            self.assertEqual((session["kind"], session["run"]["state"], session["run"]["slices"]), ("run", "running", nz))
            self.assertEqual(session["run"]["finished"], [[8, 16]])
            self.assertEqual(session["volumes"][0]["name"], "v.mha")
            numpy.testing.assert_array_equal(viewed.picture("/api/volumes/0/slice?index=9&format=f32"), volume[9])
            self.assertTrue(numpy.isnan(viewed.picture("/api/volumes/0/slice?index=3&format=f32")).all())
            out.write(volume[16:].tobytes())
            out.flush()
            viewed.wait_for(lambda s: s["run"]["finished"] == [[8, 24]])
            numpy.testing.assert_array_equal(viewed.picture("/api/volumes/0/slice?index=20&format=f32"), volume[20])
            out.seek(len(header))
            out.write(volume[:8].tobytes())
        os.rename(partial, self.folder / "v.mha")
        viewed.wait_for(lambda s: s["kind"] == "volume" and not s["volumes"][0]["gone"] and s["volumes"][0]["not_finite"] == 0)
        numpy.testing.assert_array_equal(viewed.picture("/api/volumes/0/slice?index=3&format=f32"), volume[3])

    def test_a_live_run_is_told_by_its_status(self):
        self.assert_error(self.lepus("view", "v.mha", "--status", "live.json", "--no-browser", code=3), "input", "live.json")
        said = {"state": "running", "views": 24, "views_in": 7, "waiting_for": ["0007.tif"]}
        (self.folder / "live.json").write_text(json.dumps(said))
        viewed = self.view("v.mha", "--status", "live.json", "--no-browser")
        session = viewed.json("/api/session")
        self.assertEqual((session["kind"], session["volumes"], session["run"]["views_in"]), ("run", [], 7))
        self.assertEqual(viewed.get("/api/volumes/0/slice")[0], 404)
        (self.folder / "live.json").write_text(json.dumps({**said, "state": "finished", "views_in": 24}))
        volume = self.small()
        viewed.wait_for(lambda s: s["kind"] == "volume" and s["volumes"] and s["run"]["views_in"] == 24)
        numpy.testing.assert_array_equal(viewed.picture("/api/volumes/0/slice?index=3&format=f32"), volume[3])

    def test_an_iterative_method_is_told_by_its_states(self):
        self.simulate()
        words = ["reconstruct", "scan/scan.toml", "--method", "sirt", "--iterations", "4000", "--save-every", "2", "-o", "it.mha", "--quiet"]
        run = subprocess.Popen([PROGRAM, *words], cwd=self.folder)
        try:
            state = self.folder / "it.mha.state"
            until = time.monotonic() + 30
            while not state.exists() and time.monotonic() < until:
                time.sleep(0.05)
            viewed = self.view("it.mha", "--no-browser")
            session = viewed.wait_for(lambda s: s["run"].get("iterations_done", 0) >= 4)
            self.assertEqual((session["kind"], session["run"]["state"]), ("run", "running"))
            self.assertEqual(session["run"]["iterations"], 4000)
            self.assertEqual(len(session["run"]["residual"]), session["run"]["iterations_done"])
            self.assertLess(session["run"]["residual"][-1], session["run"]["residual"][0])
            self.assertGreater(session["run"]["seconds_left"], 0)
        finally:
            run.terminate()
            run.wait(30)
        left = viewed.wait_for(lambda s: s["run"]["state"] == "stopped")["run"]["iterations_done"]
        later = self.view("it.mha", "--no-browser")  # begun when nobody works on it
        session = later.json("/api/session")
        self.assertEqual((session["kind"], session["volumes"], session["run"]["state"]), ("run", [], "stopped"))
        self.assertEqual(session["run"]["iterations_done"], left)
        words[words.index("4000")] = str(left)
        self.lepus(*words)
        data = (self.folder / "it.mha").read_bytes().partition(b"ElementDataFile = LOCAL\n")[2]
        for page in (viewed, later):
            page.wait_for(lambda s: s["kind"] == "volume" and s["volumes"] and not s["volumes"][0]["gone"] and s["volumes"][0]["not_finite"] == 0)
            numpy.testing.assert_array_equal(page.picture("/api/volumes/0/slice?index=3&format=f32"), numpy.frombuffer(data, "f4").reshape(page.json("/api/session")["volumes"][0]["size"][::-1])[3])


if __name__ == "__main__":
    unittest.main()
