# SPDX-License-Identifier: Apache-2.0
"""RMSE, MAE, PSNR and SSIM of two float32 volumes by NumPy and scikit-image, as JSON.

Usage: metrics_skimage.py A.raw B.raw NX NY NZ PEAK
"""
import json
import sys

import numpy
from skimage.metrics import peak_signal_noise_ratio, structural_similarity


def main():
    nx, ny, nz = (int(word) for word in sys.argv[3:6])
    peak = float(sys.argv[6])
    a, b = (numpy.fromfile(name, numpy.float32).reshape(nz, ny, nx).astype(numpy.float64) for name in sys.argv[1:3])
    window = dict(data_range=peak, gaussian_weights=True, sigma=1.5, use_sample_covariance=False)
    print(json.dumps({
        "rmse": numpy.sqrt(numpy.mean((a - b) ** 2)),
        "mae": numpy.mean(numpy.abs(a - b)),
        "psnr": peak_signal_noise_ratio(a, b, data_range=peak),
        "ssim": structural_similarity(a, b, **window),
        "ssim_slices": numpy.mean([structural_similarity(a[k], b[k], **window) for k in range(nz)]),
    }))


main()
