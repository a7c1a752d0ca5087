// SPDX-License-Identifier: Apache-2.0
// Backprojection: filtered views of structure and noise into a volume, whole and cut into slabs, wedges and row bands.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "cases.h"
#include "device/host/backprojector.h"
#include "device/host/device.h"
#include "device/projector.h"
#include "geometry/camera.h"
#include "operations.h"

namespace lepus::parity {
namespace {

struct Cut {
  std::int64_t slices = 1 << 20, views = 1 << 20;
  bool bands = false;  // views hold the rows that the slab needs inside its cylinder, and nothing else
};
// The last four for the CPU, where a few slices are summed along x, and others in vectors that start before them.
const Cut cuts[] = {{},           {16, 1 << 20}, {32, 5},      {1 << 20, 1}, {16, 7, true}, {1, 1 << 20},
                    {1, 7, true}, {2, 1 << 20},  {3, 1 << 20}, {4, 1 << 20}, {13, 1 << 20}};
constexpr int every_cut = static_cast<int>(std::size(cuts)) - 1, cuts_for_all = every_cut - 4;

// [view][row][column]
std::vector<float> pixels_of(const ScanGeometry& g) {
  std::vector<float> pixels;
  pixels.reserve(static_cast<std::size_t>(g.views() * g.rows * g.columns));
  for (std::int64_t line = 0; line < g.views() * g.rows; ++line)
    for (std::int64_t column = 0; column < g.columns; ++column)
      pixels.push_back(
          static_cast<float>(std::sin(0.2 * static_cast<double>(column)) + noise(line * g.columns + column)));
  return pixels;
}

// One way to sum a case on a machine.
class Backprojection {
public:
  Backprojection(Machine& machine, const ScanGeometry& geometry, const VolumeGrid& grid, Interpolation interpolation,
                 const Cut& cut)
      : machine_(machine),
        geometry_(geometry),
        grid_(grid),
        cut_(cut),
        margin_(interpolation_margin(interpolation)),
        cylinder_mm_(cut.bands ? std::min(field_of_view_radius_mm(geometry), 60.0) : 1e9),
        pixels_(pixels_of(geometry)),
        projector_(machine.device().make_projector({&geometry, grid, cylinder_mm_, interpolation})) {
    machine.ran = projector_->description();
  }

  std::vector<float> volume() {
    std::vector<float> all;
    for (std::int64_t z0 = 0; z0 < grid_.nz; z0 += cut_.slices) {
      const std::vector<float> part = slab({z0, std::min(grid_.nz, z0 + cut_.slices)});
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
  bool inside(std::int64_t x, std::int64_t y) const {
    const Vec3 p = grid_.centre(static_cast<double>(x), static_cast<double>(y), 0);
    return p.x * p.x + p.y * p.y <= cylinder_mm_ * cylinder_mm_;
  }

private:
  // The slices beside it lie in the same store, and must stay zero.
  std::vector<float> slab(SlabRange range) {
    const SlabRange held{std::max<std::int64_t>(0, range.z0 - 1), std::min(grid_.nz, range.z1 + 1)};
    const auto store = projector_->make_slab_store(held.slices());
    Queue& queue = machine_.queue();
    store->begin(held, queue);
    const std::int64_t all = geometry_.views(), block = projector_->view_block();
    const std::int64_t at_once = std::min(all, (std::min(cut_.views, all) + block - 1) / block * block);
    for (std::int64_t first = 0; first < all; first += at_once)
      add_wedge(first, std::min(at_once, all - first), *store, range);
    store->finish(queue);
    constexpr std::int64_t around = 64;
    constexpr float sentinel = -12345.0F;
    const std::int64_t area = grid_.nx * grid_.ny;
    std::vector<float> host(static_cast<std::size_t>(held.slices() * area + 2 * around), sentinel);
    store->download(held.z0, held.z1, host.data() + around, queue);
    queue.wait();
    const auto all_are = [](auto first, auto last, float value) {
      return std::all_of(first, last, [value](float v) { return v == value; });
    };
    EXPECT_TRUE(all_are(host.begin(), host.begin() + around, sentinel) &&
                all_are(host.end() - around, host.end(), sentinel))
        << "written beside what was asked for";
    const auto begin = host.begin() + around + (range.z0 - held.z0) * area, end = begin + range.slices() * area;
    EXPECT_TRUE(all_are(host.begin() + around, begin, 0.0F) && all_are(end, host.end() - around, 0.0F))
        << "written into other slices";
    return {begin, end};
  }

  void add_wedge(std::int64_t first, std::int64_t count, SlabStore& slab, SlabRange range) {
    if (!store_ || cut_.bands || count < geometry_.views()) fill_store(first, count, range);
    // A wedge that sees nothing of the slab is left out, as in a reconstruction.
    if (cut_.bands && projector_->rows_alike() && rows_of_wedge(first, count, range).size() == 0) return;
    machine_.work([&] {
      projector_->back({.store = store_.get(), .first_slot = 0, .first = first, .views = count, .slots = nullptr}, slab,
                       range, machine_.queue());
    });
  }

  RowBand rows_of(std::int64_t view, SlabRange range) const {
    if (!cut_.bands) return {0, geometry_.rows};
    return row_band(geometry_, view, grid_, cylinder_mm_, range.z0, range.z1, margin_);
  }

  RowBand rows_of_wedge(std::int64_t first, std::int64_t count, SlabRange range) const {
    RowBand together;
    for (std::int64_t i = first; i < first + count; ++i)
      together = joined_rows(together, rows_of(projector_->view_order()[static_cast<std::size_t>(i)], range));
    return together;
  }

  // Rows that a view does not hold are not numbers, as far as the store has any.
  void fill_store(std::int64_t first, std::int64_t count, SlabRange range) {
    const auto view_at = [&](std::int64_t i) { return projector_->view_order()[static_cast<std::size_t>(first + i)]; };
    RowBand together = rows_of_wedge(first, count, range);
    std::int64_t highest = 1;
    for (std::int64_t i = 0; i < count; ++i) highest = std::max(highest, rows_of(view_at(i), range).size());
    const bool alike = projector_->rows_alike();
    if (alike) {
      together = {together.first / 2 * 2, std::min(geometry_.rows, (together.last + 1) / 2 * 2)};
      highest = std::max<std::int64_t>(1, together.size());
    }
    const std::int64_t held = machine_.is_host() ? highest + 2 : std::min(geometry_.rows, highest + 2);
    store_ = projector_->make_view_store(count, held);
    store_->set_largest_value(2);
    for (std::int64_t i = 0; i < count; ++i) store_->set_window(i, {0, held}, ViewStore::Keep::nothing);
    put(std::vector<float>(static_cast<std::size_t>(held * geometry_.columns), NAN), 0, 0, count, {0, held});
    for (std::int64_t i = 0; i < count; ++i)
      store_->set_window(i, alike ? together : rows_of(view_at(i), range), ViewStore::Keep::nothing);
    for (std::int64_t i = 0; i < count; i += alike ? count : 1) {
      const RowBand rows = alike ? together : rows_of(view_at(i), range);
      const std::int64_t views = alike ? count : 1;
      if (rows.size() == 0) continue;
      std::vector<float> values;
      for (std::int64_t k = 0; k < views; ++k) {
        const auto view = pixels_.begin() + view_at(i + k) * geometry_.rows * geometry_.columns;
        values.insert(values.end(), view + rows.first * geometry_.columns, view + rows.last * geometry_.columns);
      }
      put(values, rows.size() * geometry_.columns, i, views, rows);
    }
  }

  void put(const std::vector<float>& values, std::int64_t view_stride, std::int64_t slot, std::int64_t slots,
           RowBand rows) {
    const Guarded<float> sent(machine_, values);
    store_->put(sent.data(), view_stride, slot, slots, rows, machine_.queue());
    machine_.queue().wait();
  }

  Machine& machine_;
  const ScanGeometry& geometry_;
  const VolumeGrid& grid_;
  Cut cut_;
  std::int64_t margin_;
  double cylinder_mm_;
  std::vector<float> pixels_;
  std::unique_ptr<Projector> projector_;
  std::unique_ptr<ViewStore> store_;
};

std::vector<float> backproject(Machine& machine, const Scan& scan, Interpolation interpolation, const Way& way) {
  ScanGeometry geometry = scan.geometry;
  if (way.wrong)  // half a pixel
    for (Matrix34& m : geometry.matrices)
      for (int j = 0; j < 4; ++j) m(0, j) += 0.5 * m(2, j);
  const Cut& cut = cuts[way.cut];
  Backprojection run(machine, geometry, scan.grid, interpolation, cut);
  std::vector<float> volume = run.volume();
  if (!cut.bands) return volume;
  // Beyond the cylinder there is nothing, instead of what whole views have there.
  const std::vector<float> whole = backproject(machine, scan, interpolation, {});
  for (std::size_t i = 0; i < volume.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (run.inside(at % scan.grid.nx, at / scan.grid.nx % scan.grid.ny)) continue;
    EXPECT_EQ(volume[i], 0.0F);
    volume[i] = whole[i];
  }
  return volume;
}

// Whether some view sees the voxel so near to the border of two pixels that rounding may choose either.
bool near_a_border(const Scan& scan, std::int64_t x, std::int64_t y, std::int64_t z) {
  const auto near_half = [](double t) { return std::abs(t - std::floor(t) - 0.5) < 2e-3; };
  for (const Matrix34& matrix : scan.geometry.matrices) {
    const Vec3 p =
        transform(matrix, scan.grid.centre(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)));
    if (near_half(p.x / p.z) || near_half(scan.geometry.beam == Beam::fan ? p.y : p.y / p.z)) return true;
  }
  return false;
}

Truth truth_of(const Scan& scan, Interpolation interpolation) {
  ThreadPool threads(2);
  Devices reference;
  reference.push_back(host::make_device("reference", threads));
  Machine machine(std::move(reference));
  const std::vector<float> volume = backproject(machine, scan, interpolation, {});
  Truth truth{{volume.begin(), volume.end()}, {}};
  if (interpolation != Interpolation::nearest) return truth;
  double square = 0;
  for (const double value : truth.values) square += value * value;
  const double rms = std::sqrt(square / static_cast<double>(volume.size()));
  for (std::int64_t z = 0; z < scan.grid.nz; ++z)
    for (std::int64_t y = 0; y < scan.grid.ny; ++y)
      for (std::int64_t x = 0; x < scan.grid.nx; ++x) truth.unit.push_back(near_a_border(scan, x, y, z) ? 0 : rms);
  return truth;
}

// What the kernel for this machine, precision and scan calls itself.
std::string kernel_for(const Machine& machine, const Scan& scan, Interpolation interpolation, Precision precision) {
  const bool linear = interpolation == Interpolation::linear;
  if (machine.is_host()) return linear ? scan.kernel : scan.kernel.substr(0, scan.kernel.find(','));
  if (machine.kind() == "opencl")
    return !linear || precision == Precision::exact ? "general matrices, fp32 weights"
           : precision == Precision::half && machine.ran.find("no fp16") == std::string::npos ? "fp16 pixels"
                                                                                              : "sampler's weights";
  if (!linear) return "plain kernel";
  if (precision == Precision::exact) return "fp32 texels and weights";
  const char* const texels = precision == Precision::half ? "fp16 texels" : "fp32 texels";
  const bool four = scan.kernel.ends_with("4"), two = scan.kernel.ends_with("2");
  if (!four && !two) return texels;
  return std::string("circular orbit, ") + (four && precision == Precision::half ? "4" : "2") + " symmetric views, " +
         texels;
}

bool wanted(const Scan& scan) {
  const char* const most = std::getenv("LEPUS_PARITY_UPDATES");
  return !most || scan.grid.voxels() * scan.geometry.views() <= std::atoll(most);
}

// One of each kind of beam, orbit and grid.
const std::set<std::string> one_of_each_kind{"swaying C-arm",
                                             "parallel beam",
                                             "swaying fan",
                                             "general, slices far apart",
                                             "mirrored steps",
                                             "one voxel",
                                             "volume around the source",
                                             "one row, one fan",
                                             "several tiles"};

// Where a CPU imitates a GPU every cut takes long. On the host slabs and wedges are the same code for every
// interpolation and SIMD target: linear tries it all, on the best target.
int cuts_in_short(const Scan& scan, Interpolation interpolation, const Machine& machine) {
  const bool best = machine.is_host() && machine.target() == cpu_targets().front();
  if (machine.kind() == "cuda" || (best && interpolation == Interpolation::linear)) return every_cut;
  if (!one_of_each_kind.contains(scan.name)) return 0;
  return machine.is_host() ? every_cut : cuts_for_all;
}

}  // namespace

std::vector<Case> backprojection_cases(Interpolation interpolation, Precision precision) {
  std::vector<Case> cases;
  const auto has = [=](const Machine& m) { return precision == Precision::exact || !m.is_host(); };  // it has one
  for (const Scan& scan : all_scans()) {
    if (!wanted(scan)) continue;
    cases.push_back({.name = scan.name,
                     .truth = [=] { return truth_of(scan, interpolation); },
                     .run = [=](Machine& m, const Way& way) { return backproject(m, scan, interpolation, way); },
                     .cuts = every_cut,
                     .cuts_in_short = [=](const Machine& m) { return cuts_in_short(scan, interpolation, m); },
                     .has = has,
                     .kernel = [=](const Machine& m) { return kernel_for(m, scan, interpolation, precision); }});
  }
  if (timing()) {
    const Scan large = large_scan();
    cases.push_back({.name = large.name,
                     .truth = {},
                     .run = [=](Machine& m, const Way&) { return backproject(m, large, interpolation, {}); },
                     .has = has});
  }
  return cases;
}

}  // namespace lepus::parity
