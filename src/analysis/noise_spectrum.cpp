// SPDX-License-Identifier: Apache-2.0
#include "analysis/noise_spectrum.h"

#include <algorithm>
#include <cmath>

#include <fftw3.h>

#include "core/fftw_planner.h"

namespace lepus::analysis {
namespace {

// What a block is transformed with; one plan serves all threads, as their buffers are aligned alike.
class BlockTransform {
public:
  explicit BlockTransform(std::int64_t edge) : edge_(static_cast<int>(edge)) {
    Buffer<double> in(edge * edge * edge);
    Buffer<fftw_complex> out(edge * edge * (edge / 2 + 1));
    const auto lock = lock_fftw_planner_with_room(edge);
    plan_ = fftw_plan_dft_r2c_3d(edge_, edge_, edge_, in.data(), out.data(), FFTW_ESTIMATE);
  }
  ~BlockTransform() {
    const auto lock = lock_fftw_planner();
    fftw_destroy_plan(plan_);
  }
  BlockTransform(const BlockTransform&) = delete;
  BlockTransform& operator=(const BlockTransform&) = delete;
  void apply(double* in, fftw_complex* out) const { fftw_execute_dft_r2c(plan_, in, out); }

private:
  int edge_;
  fftw_plan plan_;
};

// Values less the plane that fits them best; about the middle its mean and slopes do not depend on each other.
void take_off_plane(const float* values, std::int64_t n, double* out) {
  const double middle = static_cast<double>(n - 1) / 2;
  double sum = 0, sx = 0, sy = 0, sz = 0;
  for (std::int64_t z = 0; z < n; ++z)
    for (std::int64_t y = 0; y < n; ++y) {
      const float* const row = values + (z * n + y) * n;
      double row_sum = 0;
      for (std::int64_t x = 0; x < n; ++x) {
        row_sum += row[x];
        sx += row[x] * (static_cast<double>(x) - middle);
      }
      sum += row_sum;
      sy += row_sum * (static_cast<double>(y) - middle);
      sz += row_sum * (static_cast<double>(z) - middle);
    }
  const auto count = static_cast<double>(n * n * n);
  const double squares = count * (static_cast<double>(n * n) - 1) / 12;  // of (x - middle), over the block
  const double mean = sum / count;
  for (std::int64_t z = 0; z < n; ++z)
    for (std::int64_t y = 0; y < n; ++y) {
      const double level =
          mean + (sy * (static_cast<double>(y) - middle) + sz * (static_cast<double>(z) - middle)) / squares;
      for (std::int64_t x = 0; x < n; ++x, ++values, ++out)
        *out = *values - level - sx / squares * (static_cast<double>(x) - middle);
    }
}

}  // namespace

NoiseSpectrum::NoiseSpectrum(std::int64_t edge, Vec3 step_mm)
    : edge_(edge), step_mm_{std::abs(step_mm.x), std::abs(step_mm.y), std::abs(step_mm.z)} {
  const double coarsest = std::max({step_mm_.x, step_mm_.y, step_mm_.z});
  const double finest = std::min({step_mm_.x, step_mm_.y, step_mm_.z});
  const auto n = static_cast<double>(edge);
  shell_per_mm_ = 1 / (n * coarsest);
  const auto shells = static_cast<std::size_t>(std::floor(0.5 / finest / shell_per_mm_ + 1e-9)) + 1;
  coefficients_.assign(shells, 0);
  sums_.assign(shells, 0);
  const auto signed_one = [&](std::int64_t k) { return static_cast<double>(2 * k > edge ? k - edge : k); };
  for (std::int64_t z = 0; z < edge; ++z)
    for (std::int64_t y = 0; y < edge; ++y)
      for (std::int64_t x = 0; x <= edge / 2; ++x) {
        const double fx = static_cast<double>(x) / (n * step_mm_.x), fy = signed_one(y) / (n * step_mm_.y),
                     fz = signed_one(z) / (n * step_mm_.z);
        const auto shell =
            static_cast<std::size_t>(std::floor(std::sqrt(fx * fx + fy * fy + fz * fz) / shell_per_mm_ + 0.5));
        shell_of_.push_back(shell > 0 && shell < shells ? static_cast<std::int32_t>(shell) : -1);
        if (shell_of_.back() > 0) coefficients_[shell] += x > 0 && 2 * x < edge ? 2 : 1;  // and its conjugate
      }
}

void NoiseSpectrum::add(const VolumeReader& volume, const std::array<std::vector<std::int64_t>, 3>& starts,
                        WorkMemory& memory, Context& context) {
  const VolumeGrid& grid = volume.grid();
  const std::int64_t n = edge_, block = n * n * n, slice = grid.nx * grid.ny;
  const auto across = static_cast<std::int64_t>(starts[0].size() * starts[1].size());
  const int workers = context.threads.size();
  const std::int64_t own_bytes = 12 * slice + 8 * block + 16 * n * n * (n / 2 + 1);
  const WorkMemory::Share share =
      memory.take(workers * own_bytes, "a slice and a block for each thread", "use fewer --threads");
  // As many blocks of a layer at a time as there is memory for.
  const std::int64_t at_once = std::clamp<std::int64_t>(memory.left_bytes() / 2 / (4 * block), 1, across);
  const WorkMemory::Share held = memory.take(4 * block * at_once, "a block of voxels", {});
  Buffer<float> blocks(block * at_once), slices(slice * workers);
  Buffer<double> flat(block * workers);
  Buffer<fftw_complex> spectra(n * n * (n / 2 + 1) * workers);
  const BlockTransform transform(n);
  std::vector<std::vector<double>> shells(static_cast<std::size_t>(at_once));
  context.progress.begin("noise spectrum", across * static_cast<std::int64_t>(starts[2].size()));
  for (const std::int64_t z0 : starts[2])
    for (std::int64_t first = 0; first < across; first += at_once) {
      const std::int64_t count = std::min(at_once, across - first);
      context.threads.parallel_for(z0, z0 + n, 1, [&](std::int64_t z, std::int64_t, int worker) {
        float* const values = slices.data() + worker * slice;
        volume.read(z, z + 1, values);
        for (std::int64_t b = 0; b < count; ++b) {
          const auto in_layer = static_cast<std::size_t>(first + b);
          const std::int64_t x0 = starts[0][in_layer % starts[0].size()], y0 = starts[1][in_layer / starts[0].size()];
          for (std::int64_t y = 0; y < n; ++y)
            std::copy_n(values + (y0 + y) * grid.nx + x0, n, blocks.data() + b * block + ((z - z0) * n + y) * n);
        }
      });
      context.threads.parallel_for(0, count, 1, [&](std::int64_t b, std::int64_t, int worker) {
        double* const in = flat.data() + worker * block;
        fftw_complex* const out = spectra.data() + worker * n * n * (n / 2 + 1);
        take_off_plane(blocks.data() + b * block, n, in);
        transform.apply(in, out);
        auto& own = shells[static_cast<std::size_t>(b)];
        own.assign(sums_.size(), 0);
        for (std::size_t i = 0; i < shell_of_.size(); ++i) {
          if (shell_of_[i] < 0) continue;
          const auto x = static_cast<std::int64_t>(i) % (n / 2 + 1);
          const double twice = x > 0 && 2 * x < n ? 2 : 1;
          own[static_cast<std::size_t>(shell_of_[i])] += twice * (out[i][0] * out[i][0] + out[i][1] * out[i][1]);
        }
      });
      for (std::int64_t b = 0; b < count; ++b)
        for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += shells[static_cast<std::size_t>(b)][i];
      blocks_ += count;
      context.progress.advance(count);
    }
  context.progress.end();
}

std::vector<double> NoiseSpectrum::per_mm() const {
  std::vector<double> result;
  for (std::size_t i = 1; i < sums_.size(); ++i) result.push_back(static_cast<double>(i) * shell_per_mm_);
  return result;
}

std::vector<double> NoiseSpectrum::power_mm3() const {
  const double voxel_mm3 = step_mm_.x * step_mm_.y * step_mm_.z, voxels = static_cast<double>(edge_ * edge_ * edge_);
  std::vector<double> result;
  for (std::size_t i = 1; i < sums_.size(); ++i)
    result.push_back(voxel_mm3 / voxels * sums_[i] / (coefficients_[i] * static_cast<double>(blocks_)));
  return result;
}

}  // namespace lepus::analysis
