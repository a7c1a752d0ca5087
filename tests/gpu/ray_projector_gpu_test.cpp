// SPDX-License-Identifier: Apache-2.0
// The operators on a GPU, on pieces in its own memory: A and A' against sums in double precision, one the transpose of
// the other, the same bits however the work is cut, nothing written beside the piece.
#include <cmath>
#include <cstdio>
#include <cstring>

#include <gtest/gtest.h>

#include "core/threads.h"
#include "device/device.h"
#include "device/ray_projector_cases_test.h"
#include "device/test_values.h"
#include "device/ray_projector.h"
#include "need_device.h"
#include "project/detector_point.h"
#include "project/interpolate.h"
#include "project/visit_voxels.h"
#include "geometry/camera.h"
#include <lepus/error.h>

namespace lepus {
namespace {

using namespace ray_cases;

constexpr float sentinel = 12345.0f;

// One device with a projector, and host vectors that go there and back.
class Operators {
public:
  Operators(const ScanGeometry& geometry, const VolumeGrid& grid, Precision precision,
            RayModel model = RayModel::joseph)
      : geometry_(geometry), grid_(grid), devices_(open_devices(compute_on("cuda", "0", precision), threads_)) {
    RayProjectorSetup setup;
    setup.geometry = &geometry_;
    setup.grid = grid;
    setup.precision = precision;
    setup.model = model;
    projector_ = device().make_ray_projector(setup);
    queue_ = device().make_queue();
  }
  std::string description() const { return projector_->description(); }
  std::int64_t slice() const { return grid_.nx * grid_.ny; }
  RowBand all_rows() const { return {0, geometry_.rows}; }
  SlabRange all_slices() const { return {0, grid_.nz}; }

  // Rows of some views; between sentinels.
  std::vector<float> forward(const std::vector<float>& volume, std::int64_t first_view, std::int64_t views,
                             RowBand rows, SlabRange slices) {
    const std::int64_t size = views * rows.size() * geometry_.columns;
    std::vector<float> out(static_cast<std::size_t>(size + 2 * around), sentinel);
    const Block in = to_device(volume.data() + slices.z0 * slice(), slices.slices() * slice());
    const Block sums = to_device(out.data(), size + 2 * around);
    projector_->forward({floats(in), slices}, {floats(sums) + around, first_view, views, rows}, *queue_);
    return between_sentinels(sums, std::move(out));
  }
  std::vector<float> forward(const std::vector<float>& volume) {
    return forward(volume, 0, geometry_.views(), all_rows(), all_slices());
  }

  // Adds to `slab`.
  std::vector<float> adjoint(const std::vector<float>& lines, std::int64_t first_view, std::int64_t views, RowBand rows,
                             SlabRange slices, const std::vector<float>& slab) {
    std::vector<float> part;
    for (std::int64_t view = first_view; view < first_view + views; ++view) {
      const float* const from = lines.data() + (view * geometry_.rows + rows.first) * geometry_.columns;
      part.insert(part.end(), from, from + rows.size() * geometry_.columns);
    }
    std::vector<float> out(slab.size() + 2 * around, sentinel);
    std::copy(slab.begin(), slab.end(), out.begin() + around);
    const Block in = to_device(part.data(), static_cast<std::int64_t>(part.size()));
    const Block voxels = to_device(out.data(), static_cast<std::int64_t>(out.size()));
    projector_->adjoint({floats(in), first_view, views, rows}, {floats(voxels) + around, slices}, *queue_);
    return between_sentinels(voxels, std::move(out));
  }
  std::vector<float> adjoint(const std::vector<float>& lines) {
    return adjoint(lines, 0, geometry_.views(), all_rows(), all_slices(),
                   std::vector<float>(static_cast<std::size_t>(grid_.voxels())));
  }

private:
  static constexpr std::int64_t around = 64;
  Device& device() { return *devices_.front(); }
  static float* floats(const Block& block) { return reinterpret_cast<float*>(block.get()); }
  Block to_device(const float* from, std::int64_t count) {
    const Block block = device().allocate(count * 4);
    device().copy(block.get(), from, count * 4, *queue_);
    return block;
  }
  std::vector<float> between_sentinels(const Block& block, std::vector<float> out) {
    device().copy(out.data(), block.get(), static_cast<std::int64_t>(out.size()) * 4, *queue_);
    queue_->wait();
    for (std::int64_t i = 0; i < around; ++i) {
      EXPECT_EQ(out[static_cast<std::size_t>(i)], sentinel);
      EXPECT_EQ(out[out.size() - 1 - static_cast<std::size_t>(i)], sentinel);
    }
    return {out.begin() + around, out.end() - around};
  }

  ScanGeometry geometry_;
  VolumeGrid grid_;
  ThreadPool threads_{1};
  Devices devices_;
  std::unique_ptr<RayProjector> projector_;
  std::unique_ptr<Queue> queue_;
};

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Calls per_weight(ray, voxel, weight) for each weight of A, in double precision.
template <class PerWeight>
void each_weight(RayModel model, const RayViews& job, const PerWeight& per_weight) {
  const std::int64_t rays = static_cast<std::int64_t>(job.views.size()) * job.pixels();
  const IndexBox box = whole_grid(job.grid);
  for (std::int64_t ray = 0; ray < rays; ++ray)
    visit_voxels<double>(
        model, job.views[static_cast<std::size_t>(ray / job.pixels())], job.grid,
        static_cast<double>(ray % job.columns), static_cast<double>(ray / job.columns % job.rows), box,
        [&](int x, int y, int z, double weight) {
          per_weight(ray,
                     ((std::int64_t{z} - box.first[2]) * job.grid.size[1] + y - box.first[1]) * job.grid.size[0] + x -
                         box.first[0],
                     weight);
        });
}

struct Difference {
  double squares = 0, norm = 0;
  void add(float found, double expected) {
    const double off = static_cast<double>(found) - expected;
    squares += off * off;
    norm += expected * expected;
  }
  double relative() const { return std::sqrt(squares / norm); }
};

struct Problem {
  ScanGeometry geometry;
  VolumeGrid grid;
  RayViews job;
  explicit Problem(const Case& c)
      : geometry(scan_of(c)), grid(centred_grid(c.nx, c.ny, c.nz, c.step)), job(ray_views(geometry, grid)) {}
  std::int64_t values() const { return geometry.views() * geometry.rows * geometry.columns; }
};

const Case larger[] = {
    {.name = "pixels finer than voxels",
     .nx = 34,
     .ny = 45,
     .nz = 130,
     .columns = 160,
     .rows = 400,
     .source_axis = 300,
     .source_detector = 450,
     .pixel = 0.5},
    {.name = "voxels finer than pixels",
     .nx = 34,
     .ny = 45,
     .nz = 130,
     .columns = 40,
     .rows = 60,
     .source_axis = 300,
     .source_detector = 450,
     .pixel = 4},
    {.name = "pixels much finer than voxels",
     .nx = 10,
     .ny = 12,
     .nz = 14,
     .columns = 200,
     .rows = 250,
     .source_axis = 300,
     .source_detector = 450,
     .pixel = 0.15},
};

std::vector<Case> tilted_cases() {
  Case fine = larger[0], coarse = larger[1], parallel = cases[8];
  fine.name = "tilted, pixels finer than voxels";
  coarse.name = "tilted, voxels finer than pixels";
  parallel.name = "tilted, parallel";
  for (Case* c : {&fine, &coarse, &parallel}) {
    c->pitch = 0.1;
    c->in_plane = -0.05;
  }
  return {fine, coarse, parallel};
}

std::vector<Case> all_cases() {
  std::vector<Case> all(std::begin(cases), std::end(cases));
  all.insert(all.end(), std::begin(larger), std::end(larger));
  const std::vector<Case> tilted = tilted_cases();
  all.insert(all.end(), tilted.begin(), tilted.end());
  return all;
}

// The texture unit's weights have 8 bits; even cut off instead of rounded they would stay below half of this.
constexpr double texture_weight_error = 1.0 / 512;

TEST(ray_projector_gpu, forward_against_reference) {
  NEED_DEVICE();
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(c.name);
    const Problem p(c);
    const std::vector<float> volume = random_volume(p.grid);
    std::vector<double> truth(static_cast<std::size_t>(p.values()));
    each_weight(RayModel::joseph, p.job, [&](std::int64_t ray, std::int64_t voxel, double weight) {
      truth[static_cast<std::size_t>(ray)] += weight * static_cast<double>(volume[static_cast<std::size_t>(voxel)]);
    });
    for (const Precision precision : {Precision::exact, Precision::fast}) {
      const std::vector<float> found = Operators(p.geometry, p.grid, precision).forward(volume);
      for (std::int64_t i = 0; i < p.values(); ++i) {
        const JosephLine line =
            joseph_line(p.job.views[static_cast<std::size_t>(i / p.job.pixels())], p.job.grid,
                        static_cast<double>(i % p.job.columns), static_cast<double>(i / p.job.columns % p.job.rows));
        const double weight_error = precision == Precision::exact ? 0 : texture_weight_error;
        const double limit =
            single_precision_limit(line, p.job.grid) + line.way_mm * (line.last - line.first + 1) * 2 * weight_error;
        const double off =
            std::abs(static_cast<double>(found[static_cast<std::size_t>(i)]) - truth[static_cast<std::size_t>(i)]);
        if (!(off <= limit)) {
          ADD_FAILURE() << "ray " << i << " is off by " << off << ", at most " << limit;
          break;
        }
      }
    }
  }
}

// Both operators against the sums of all weights in double precision.
void expect_weights(const Problem& p, RayModel model, const std::string& name) {
  const std::vector<float> volume = random_values(p.grid.voxels(), 4), lines = random_values(p.values(), 3);
  std::vector<double> ax(lines.size()), aty(volume.size());
  each_weight(model, p.job, [&](std::int64_t ray, std::int64_t voxel, double weight) {
    const auto r = static_cast<std::size_t>(ray), v = static_cast<std::size_t>(voxel);
    ax[r] += weight * static_cast<double>(volume[v]);
    aty[v] += weight * static_cast<double>(lines[r]);
  });
  Operators operators(p.geometry, p.grid, Precision::exact, model);
  Difference of_forward, of_adjoint;
  const std::vector<float> found_lines = operators.forward(volume), found_voxels = operators.adjoint(lines);
  for (std::size_t i = 0; i < ax.size(); ++i) of_forward.add(found_lines[i], ax[i]);
  for (std::size_t i = 0; i < aty.size(); ++i) of_adjoint.add(found_voxels[i], aty[i]);
  // Single-precision coordinates of some hundred voxels and pixels are off by 2^-24 of that, each weight by about
  // as much.
  EXPECT_LT(of_forward.relative(), 2e-5) << operators.description() << ", " << name;
  EXPECT_LT(of_adjoint.relative(), 2e-5) << operators.description() << ", " << name;
}

TEST(ray_projector_gpu, all_models_against_reference) {
  NEED_DEVICE();
  for (const RayModel model : {RayModel::joseph, RayModel::siddon, RayModel::footprint})
    for (const Case& c : all_cases()) expect_weights(Problem(c), model, c.name);
}

TEST(ray_projector_gpu, tilted_views_go_by_columns_of_voxels) {
  NEED_DEVICE();
  const auto description = [](const Case& c) {
    const Problem p(c);
    return Operators(p.geometry, p.grid, Precision::exact).description();
  };
  for (const Case& c : tilted_cases()) EXPECT_NE(description(c).find("columns of voxels"), std::string::npos) << c.name;
  EXPECT_NE(description(cases[7]).find("general"), std::string::npos);  // the source is inside of the volume
}

// Upright views have footprints of their own, in every kernel.
TEST(ray_projector_gpu, footprints_of_upright_and_tilted_views) {
  NEED_DEVICE();
  const auto by_columns = [](const Problem& p) {
    return Operators(p.geometry, p.grid, Precision::exact, RayModel::footprint).description().find("upright") !=
           std::string::npos;
  };
  EXPECT_TRUE(by_columns(Problem(cases[0])));
  for (Case c : larger) {
    c.rows = std::min<std::int64_t>(c.rows, 320);  // the rays beyond rise too steeply for their fine pixels
    EXPECT_TRUE(by_columns(Problem(c))) << c.name;
  }
  Case large = cases[0];  // pixels of more voxels than a block has memory for
  large.pixel = 12;
  large.columns = large.rows = 5;
  Case tilted = cases[0];
  tilted.in_plane = 0.1;
  Problem mixed(cases[0]);
  mixed.geometry.matrices[2] = scan_of(tilted).matrices[2];
  mixed.job = ray_views(mixed.geometry, mixed.grid);
  for (const Problem& p : {Problem(large), mixed}) {
    EXPECT_FALSE(by_columns(p));
    expect_weights(p, RayModel::footprint, "general kernels");
  }
}

TEST(ray_projector_gpu, voxel_model_samples_at_the_centres) {
  NEED_DEVICE();
  for (const Case& c : {cases[0], cases[1], cases[4], cases[5], cases[8], cases[9]}) {
    const Problem p(c);
    const std::vector<float> lines = random_values(p.values(), 3);
    for (const Precision precision : {Precision::exact, Precision::fast}) {
      const std::vector<float> found = Operators(p.geometry, p.grid, precision, RayModel::voxel).adjoint(lines);
      Difference difference;
      for (std::int64_t voxel = 0; voxel < p.grid.voxels(); ++voxel) {
        double sum = 0;
        for (std::int64_t view = 0; view < p.geometry.views(); ++view) {
          const Matrix34 m = in_voxel_indices(p.geometry.matrices[static_cast<std::size_t>(view)], p.grid);
          const auto at = detector_point(m.m.data(), p.geometry.beam, static_cast<double>(voxel % p.grid.nx),
                                         static_cast<double>(voxel / p.grid.nx % p.grid.ny),
                                         static_cast<double>(voxel / p.grid.nx / p.grid.ny));
          sum += sample<double>(
              Interpolation::linear, p.geometry.columns, p.geometry.rows, at.u, at.v,
              [&](std::int64_t column, std::int64_t row) {
                return lines[static_cast<std::size_t>((view * p.geometry.rows + row) * p.geometry.columns + column)];
              });
        }
        difference.add(found[static_cast<std::size_t>(voxel)], sum);
      }
      EXPECT_LT(difference.relative(), precision == Precision::exact ? 1e-5 : 5e-3) << c.name;
    }
  }
}

double adjoint_difference(Operators& operators, const std::vector<float>& x, const std::vector<float>& y) {
  const std::vector<float> ax = operators.forward(x);
  return std::abs(dot(ax, y) - dot(x, operators.adjoint(y))) / std::sqrt(dot(ax, ax) * dot(y, y));
}

TEST(ray_projector_gpu, adjoint_is_the_transpose) {
  NEED_DEVICE();
  struct {
    const char* name;
    RayModel model;
    Precision precision;
    double limit;
  } const kinds[] = {{"Joseph, exact", RayModel::joseph, Precision::exact, 1e-6},
                     {"Joseph, fast", RayModel::joseph, Precision::fast, 1e-3},
                     {"Siddon", RayModel::siddon, Precision::exact, 1e-6},
                     {"footprint", RayModel::footprint, Precision::exact, 1e-6}};
  for (const auto& kind : kinds) {
    double worst = 0;
    for (const Case& c : all_cases()) {
      const Problem p(c);
      const std::vector<float> x = random_values(p.grid.voxels(), 1), y = random_values(p.values(), 2);
      Operators operators(p.geometry, p.grid, kind.precision, kind.model);
      const double difference = adjoint_difference(operators, x, y);
      EXPECT_LT(difference, kind.limit) << kind.name << ", " << c.name;
      worst = std::max(worst, difference);
    }
    std::printf("%s: at most %.1e\n", kind.name, worst);
  }
}

TEST(ray_projector_gpu, a_wrong_transpose_fails) {
  NEED_DEVICE();
  const Problem p(larger[0]);
  const std::vector<float> x = random_values(p.grid.voxels(), 1);
  Operators right(p.geometry, p.grid, Precision::exact);
  const std::vector<float> ax = right.forward(x);
  // What a transpose should see best; of another scan, with views half a pixel off.
  Case shifted = larger[0];
  shifted.pixel *= 1.003;
  Operators wrong(scan_of(shifted), p.grid, Precision::exact);
  const double scale = dot(ax, ax);
  EXPECT_LT(std::abs(dot(x, right.adjoint(ax)) - scale) / scale, 1e-6);
  EXPECT_GT(std::abs(dot(x, wrong.adjoint(ax)) - scale) / scale, 1e-3);
}

TEST(ray_projector_gpu, cuts_give_the_same_bits) {
  NEED_DEVICE();
  Case tilted = larger[0];
  tilted.name = "tilted";
  tilted.pitch = 0.1;
  tilted.in_plane = 0.05;
  for (const Case& c : {larger[0], tilted}) {
    const Problem p(c);
    const std::vector<float> x = random_values(p.grid.voxels(), 1), y = random_values(p.values(), 2);
    // The rows that see each slice, and the slices that each row sees.
    const auto nz = static_cast<std::size_t>(p.grid.nz), rows = static_cast<std::size_t>(p.geometry.rows);
    std::vector<RowBand> seen_rows(nz, {p.geometry.rows, 0});
    std::vector<SlabRange> met_slices(rows, {p.grid.nz, 0});
    const auto note = [&](std::int64_t ray, std::int64_t voxel, double) {
      const std::int64_t z = voxel / (p.grid.nx * p.grid.ny), row = ray / p.job.columns % p.job.rows;
      RowBand& band = seen_rows[static_cast<std::size_t>(z)];
      band = {std::min(band.first, row), std::max(band.last, row + 1)};
      SlabRange& slab = met_slices[static_cast<std::size_t>(row)];
      slab = {std::min(slab.z0, z), std::max(slab.z1, z + 1)};
    };
    each_weight(RayModel::joseph, p.job, note);
    each_weight(RayModel::footprint, p.job, note);
    struct {
      RayModel model;
      Precision precision;
    } const kinds[] = {{RayModel::joseph, Precision::exact}, {RayModel::joseph, Precision::fast},
                       {RayModel::voxel, Precision::exact},  {RayModel::voxel, Precision::fast},
                       {RayModel::siddon, Precision::exact}, {RayModel::footprint, Precision::exact}};
    for (const auto& kind : kinds) {
      Operators operators(p.geometry, p.grid, kind.precision, kind.model);
      std::vector<float> ax = operators.forward(x), cut(ax.size());
      for (const std::int64_t height : {7, 150}) {
        for (std::int64_t row = 0; row < p.geometry.rows; row += height) {
          const RowBand band{row, std::min(row + height, p.geometry.rows)};
          SlabRange slices{p.grid.nz, 0};
          for (std::int64_t r = band.first; r < band.last; ++r) {
            const SlabRange& one = met_slices[static_cast<std::size_t>(r)];
            slices = {std::min(slices.z0, one.z0), std::max(slices.z1, one.z1)};
          }
          if (slices.z0 >= slices.z1) slices = {0, 1};
          slices = {std::max<std::int64_t>(slices.z0 - 1, 0), std::min(slices.z1 + 1, p.grid.nz)};
          for (std::int64_t view = 0; view < p.geometry.views(); view += 3) {
            const std::int64_t views = std::min<std::int64_t>(3, p.geometry.views() - view);
            const std::vector<float> part = operators.forward(x, view, views, band, slices);
            for (std::int64_t i = 0; i < views; ++i)
              std::memcpy(cut.data() + ((view + i) * p.geometry.rows + band.first) * p.geometry.columns,
                          part.data() + i * band.size() * p.geometry.columns,
                          static_cast<std::size_t>(band.size() * p.geometry.columns) * sizeof(float));
          }
        }
        EXPECT_TRUE(same_bits(ax, cut)) << operators.description() << ", " << c.name << ", " << height << " rows";
      }
      const std::vector<float> aty = operators.adjoint(y);
      for (const std::int64_t thickness : {5, 33, 127}) {
        std::vector<float> joined;
        for (std::int64_t z = 0; z < p.grid.nz; z += thickness) {
          const SlabRange slices{z, std::min(z + thickness, p.grid.nz)};
          RowBand band{p.geometry.rows, 0};
          for (std::int64_t s = slices.z0; s < slices.z1; ++s)
            band = joined_rows(band.size() > 0 ? band : RowBand{}, seen_rows[static_cast<std::size_t>(s)]);
          band = {std::max<std::int64_t>(band.first - 1, 0), std::min(band.last + 1, p.geometry.rows)};
          std::vector<float> slab(static_cast<std::size_t>(slices.slices() * operators.slice()));
          for (std::int64_t view = 0; view < p.geometry.views(); view += 2)
            slab = operators.adjoint(y, view, std::min<std::int64_t>(2, p.geometry.views() - view), band, slices, slab);
          joined.insert(joined.end(), slab.begin(), slab.end());
        }
        EXPECT_TRUE(same_bits(aty, joined))
            << operators.description() << ", " << c.name << ", " << thickness << " slices";
      }
    }
  }
}

// More than 2048 planes on x: several sheets of layers where the texture unit weighs.
TEST(ray_projector_gpu, long_axes) {
  NEED_DEVICE();
  const Problem p({.name = "long", .nx = 4100, .ny = 3, .nz = 5, .columns = 40, .rows = 12, .step = {0.01, 1, 1}});
  const std::vector<float> x = random_values(p.grid.voxels(), 1);
  const std::vector<float> exact = Operators(p.geometry, p.grid, Precision::exact).forward(x);
  const std::vector<float> fast = Operators(p.geometry, p.grid, Precision::fast).forward(x);
  double off = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double d = static_cast<double>(exact[i]) - static_cast<double>(fast[i]);
    off += d * d;
  }
  // Planes from a wrong layer would have nothing to do with each other: a difference as large as the sums.
  EXPECT_LT(std::sqrt(off / dot(exact, exact)), 0.02);
}

}  // namespace
}  // namespace lepus
