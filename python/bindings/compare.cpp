// SPDX-License-Identifier: Apache-2.0
// Two volumes in memory, held against each other.
#include "analysis/compare.h"

#include <pybind11/stl.h>

#include "analysis/array_volume.h"
#include "python/bindings/arrays.h"
#include "python/bindings/bindings.h"
#include "python/bindings/call.h"

namespace lepus::python {
namespace {

py::dict compare_arrays(const FloatArray& reference, const FloatArray& volume, const VolumeGrid& grid,
                        std::optional<double> radius_mm, std::optional<double> peak, int threads,
                        const py::object& progress) {
  const ArrayVolume first(grid, values_of(reference)), second(grid, values_of(volume));
  Comparison c;
  run_call(progress, threads, [&](Context& context) {
    CompareSettings options;
    options.mask.radius_mm = radius_mm;
    options.peak = peak;
    c = compare_volumes(first, second, options, context);
  });
  py::dict d;
  d["voxels"] = c.voxels;
  d["not_finite"] = c.not_finite;
  d["rmse"] = c.rmse;
  d["mae"] = c.mae;
  d["bias"] = c.bias;
  d["maximum_error"] = c.maximum_error;
  d["maximum_error_at"] = py::make_tuple(c.at_z, c.at_y, c.at_x);
  d["peak"] = c.peak;
  d["nrmse"] = c.nrmse;
  d["psnr_db"] = c.psnr_db;
  d["ssim"] = c.ssim;
  return d;
}

}  // namespace

void bind_compare(py::module_& module) { module.def("compare", &compare_arrays); }

}  // namespace lepus::python
