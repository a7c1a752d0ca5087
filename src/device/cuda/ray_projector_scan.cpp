// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/ray_projector_scan.h"

#include <algorithm>

#include "core/format.h"
#include "device/cuda/cuda_check.h"
#include "device/cuda/device.h"
#include "device/queue_share.h"
#include <lepus/error.h>

namespace lepus::cuda {

namespace {

constexpr std::int64_t batch_bytes = std::int64_t{512} << 20;

void require_texture_size(const JosephGrid& grid) {
  constexpr int maximum = layers_per_sheet * maximum_sheets;
  for (int k = 0; k < 3; ++k)
    if (grid.size[k] > maximum)
      throw Error(ErrorKind::unsupported,
                  {.what = "the volume is too large for a texture",
                   .where = {},
                   .why = format("{} voxels along {}, at most {}", grid.size[k], "xyz"[k], maximum),
                   .hint = "use the backend cpu, or --precision exact"});
}

}  // namespace

Faces::Faces(const RayViews& job, const JosephView* views)
    : views_(views),
      grid_(job.grid),
      columns_(job.columns),
      faces_(faces_of(job)),
      on_device_(on_device(faces_.data(), static_cast<std::int64_t>(faces_.size()), "copy faces to the device")) {}

void Faces::in_batches(const ViewRows<const float>& lines, std::int64_t bytes_per_face,
                       const std::function<void(const FaceSource&, int)>& work) const {
  if (lines.views == 0 || lines.rows.size() == 0) return;
  const auto by_view = [](const Face& face, std::int64_t view) { return face.view < view; };
  const auto end = std::lower_bound(faces_.begin(), faces_.end(), lines.first_view + lines.views, by_view);
  auto first = std::lower_bound(faces_.begin(), faces_.end(), lines.first_view, by_view);
  const std::ptrdiff_t at_once = std::max<std::int64_t>(1, batch_bytes / bytes_per_face);
  for (; first != end; first += std::min(at_once, end - first)) {
    const auto number = static_cast<int>(first - faces_.begin());
    work({.face = on_device_.data() + number,
          .view = views_,
          .grid = grid_,
          .values = lines.values,
          .faces = static_cast<int>(std::min(at_once, end - first)),
          .first_view = static_cast<int>(lines.first_view),
          .columns = static_cast<int>(columns_),
          .first_row = static_cast<int>(lines.rows.first),
          .rows = static_cast<int>(lines.rows.size())},
         number);
  }
}

std::int64_t Faces::work_bytes(std::int64_t views, std::int64_t bytes_per_face) {
  constexpr std::int64_t faces_per_view = 3;  // at most
  return std::min(std::max(batch_bytes, bytes_per_face), views * faces_per_view * bytes_per_face);
}

ScanRays::ScanRays(const RayProjectorSetup& setup, Weights weights)
    : weights_(weights),
      job_(ray_views(*setup.geometry, setup.grid)),
      axes_(axes_of(job_)),
      views_(on_device(job_.views.data(), static_cast<std::int64_t>(job_.views.size()), "copy views to the device")) {
  if (weights == Weights::texture) require_texture_size(job_.grid);
}

void ScanRays::project(const SlabVoxels<const float>& slab, const ViewRows<float>& lines, Queue& queue,
                       const std::function<void(const RaysOnDevice&, const PlanesOnDevice&)>& launch) {
  if (lines.views == 0 || lines.rows.size() == 0) return;
  const std::int64_t slices = slab.slices.slices();
  if (slices == 0) {  // no ray of the piece meets the volume
    const std::int64_t bytes = lines.views * lines.rows.size() * job_.columns * std::int64_t{sizeof(float)};
    check(cudaMemsetAsync(lines.values, 0, static_cast<std::size_t>(bytes), stream_of(queue)), "clear line integrals");
    return;
  }
  bool filled = slab.as_before;
  const auto fits = [&](const VolumePlanes& planes) { return planes.fits(job_.grid, axes_, weights_, slices); };
  if (!planes_ || planes_queue_ != queue.id() || !fits(*planes_)) {
    static QueueShare<VolumePlanes> share;
    filled = false;
    queue.wait();  // kernels that read the old ones
    planes_.reset();
    planes_queue_ = queue.id();
    planes_ =
        share.get(queue.id(), fits, [&] { return std::make_shared<VolumePlanes>(job_.grid, axes_, weights_, slices); });
  }
  launch({.view = views_.data() + lines.first_view,
          .views = static_cast<int>(lines.views),
          .columns = static_cast<int>(job_.columns),
          .first_row = static_cast<int>(lines.rows.first),
          .rows = static_cast<int>(lines.rows.size()),
          .sums = lines.values},
         filled ? planes_->filled() : planes_->fill(slab.voxels, slab.slices, stream_of(queue)));
}

}  // namespace lepus::cuda
