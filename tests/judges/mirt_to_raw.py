#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# MIRT's FDK example (fdkexampledata.mat, MATLAB 5) as plain files: projections.raw (72 views x 60 rows x 64 columns) and
# truth.raw (50 x 60 x 64), float32 little-endian, x and columns fastest; ellipsoids.txt (x y z rx ry rz, two angles in
# degrees, value). Usage: mirt_to_raw.py fdkexampledata.mat FOLDER
import sys

import numpy as np
import scipy.io

data = scipy.io.loadmat(sys.argv[1])
folder = sys.argv[2]
for name, key in (("projections", "proj"), ("truth", "xtrue")):
    np.ascontiguousarray(data[key].T, dtype="<f4").tofile(f"{folder}/{name}.raw")
np.savetxt(f"{folder}/ellipsoids.txt", data["ell"], fmt="%.17g")
