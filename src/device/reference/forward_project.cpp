// SPDX-License-Identifier: Apache-2.0
// Joseph's method as it is written: for every ray, for every plane, the four voxels around the sample. In double
// precision; a line integral is rounded once, when it is stored.
#include <algorithm>
#include <cmath>

#include "device/forward_project_job.h"
#include "project/interpolate.h"

namespace lepus {

double reference_line_integral(const ForwardJob& job, const JosephLine& line) {
  const int axis = line.axis, a = joseph_axis_a(axis), b = joseph_axis_b(axis);
  const std::int64_t stride[3] = {1, job.grid.size[0], job.slice_voxels()};
  double sum = 0;
  for (int i = line.first; i < line.last; ++i) {
    const float* plane = job.volume + (i + job.grid.middle[axis]) * stride[axis];
    sum += sample(
        Interpolation::linear, job.grid.size[a], job.grid.size[b], line.a0 + i * line.da, line.b0 + i * line.db,
        [&](std::int64_t on_a, std::int64_t on_b) { return plane[on_a * stride[a] + on_b * stride[b]]; },
        job.grid.middle[a], job.grid.middle[b]);
  }
  return sum * line.way_mm;
}

void forward_project_reference(const ForwardJob& job, ThreadPool& threads, ForwardReport& report) {
  const auto views = static_cast<std::int64_t>(job.views.size());
  threads.parallel_for(0, views * job.rows, 1, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t line = first; line < last; ++line)
      for (std::int64_t u = 0; u < job.columns; ++u)
        job.line_integrals[line * job.columns + u] = static_cast<float>(
            reference_line_integral(job, joseph_line(job.views[static_cast<std::size_t>(line / job.rows)], job.grid,
                                                     static_cast<double>(u), static_cast<double>(line % job.rows))));
  });
  report.kernel = "plain loops in double precision";
  report.slabs = 1;
}

}  // namespace lepus
