// SPDX-License-Identifier: Apache-2.0
#include "analysis/value_slices.h"

namespace lepus::analysis {

void each_value_slice(const VolumeReader& volume, const std::string& stage, WorkMemory& memory, Context& context,
                      const std::function<void(std::int64_t z, const float* values, int worker)>& body) {
  const VolumeGrid& grid = volume.grid();
  const std::int64_t slice = grid.nx * grid.ny;
  const int workers = context.threads.size();
  // A reader holds a slice as it is stored, of at most eight bytes a voxel, beside that of floats.
  const WorkMemory::Share share = memory.take(12 * slice * workers, "a slice for each thread", "use fewer --threads");
  Buffer<float> slices(slice * workers);
  context.progress.begin(stage, grid.nz);
  context.threads.parallel_for(0, grid.nz, 1, [&](std::int64_t z, std::int64_t, int worker) {
    float* const values = slices.data() + slice * worker;
    volume.read(z, z + 1, values);
    body(z, values, worker);
    context.progress.advance(1);
  });
  context.progress.end();
}

}  // namespace lepus::analysis
