// SPDX-License-Identifier: Apache-2.0
// RabbitCT: 496 filtered views of 1248 x 960 from an irregular C-arm sweep, in memory, to 512^3 and 1024^3 voxels in
// memory. Two slices are computed again in double precision, from the definition.
#include <cmath>

#include "bench/papers/parts.h"
#include "core/format.h"
#include "bench/rabbitct/make.h"
#include "bench/rabbitct/plain.h"
#include "bench/rabbitct/whole.h"

namespace lepus::bench {
namespace {

using measure::Figure;

// What was found: the best time and how far the checked slices are from the definition.
struct RabbitTime {
  double seconds = 0, error = 0;
  std::string kernel;
};

// A smooth picture that differs from view to view: a pixel differs from the next by at most 0.021.
void fill_view(std::int64_t view, std::int64_t columns, std::int64_t rows, float* pixels) {
  std::vector<float> across(static_cast<std::size_t>(columns));
  for (std::int64_t u = 0; u < columns; ++u)
    across[static_cast<std::size_t>(u)] = 0.5F * std::sin(static_cast<float>(u) / 40.0F + static_cast<float>(view));
  for (std::int64_t v = 0; v < rows; ++v) {
    const float down = std::cos(static_cast<float>(v) / 60.0F);
    for (std::int64_t u = 0; u < columns; ++u)
      pixels[v * columns + u] = 0.5F + across[static_cast<std::size_t>(u)] * down;
  }
}

RabbitTime time_rabbit(const PaperRun& run, const rabbitct::MakeOptions& sweep, std::int64_t size) {
  const ScanGeometry geometry = rabbitct::c_arm_sweep(sweep);
  rabbitct::Header header;
  header.columns = geometry.columns;
  header.rows = geometry.rows;
  header.views = geometry.views();
  rabbitct::RunOptions options;
  options.size = size;
  const Devices devices =
      open_devices(compute_on(run.kind, format("{}", run.device), run.precision), run.context.threads);
  rabbitct::WholeSweep whole(header, geometry.matrices, options, devices, run.context);
  const std::int64_t pixels = header.columns * header.rows;
  run.context.threads.parallel_for(0, header.views, 1, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t view = first; view < last; ++view)
      fill_view(view, header.columns, header.rows, whole.views() + view * pixels);
  });
  rabbitct::PlainSlices plain(size, rabbitct::spread_slices(size, 2));
  for (std::int64_t view = 0; view < header.views; ++view) {
    run.context.cancel.check();
    plain.add(geometry.matrices[static_cast<std::size_t>(view)], header.columns, header.rows,
              whole.views() + view * pixels, run.context.threads);
  }
  RabbitTime found;
  found.seconds = best_of_repeats(run, [&] { whole.run(); });
  found.kernel = whole.description();
  double squares = 0, truth = 0;
  for (std::size_t i = 0; i < plain.slices().size(); ++i) {
    const float* slice = whole.volume().get() + plain.slices()[i] * size * size;
    for (std::int64_t j = 0; j < size * size; ++j) {
      const double is = static_cast<double>(slice[j]), must = plain.values(i)[j];
      squares += (is - must) * (is - must);
      truth += must * must;
    }
  }
  found.error = std::sqrt(squares / truth);
  return found;
}

// Texture weights are off by up to 1/256 of the difference to the next pixel (0.021 at most, of 0.5 in the mean):
// 1.6e-4; fp16 holds a pixel to 2^-11. In single precision what is left is rounding.
double rabbit_limit(const PaperRun& run) {
  if (!run.gpu || run.precision == Precision::exact) return 1e-5;
  return run.precision == Precision::fast ? 2e-4 : 7e-4;
}

}  // namespace

std::vector<Figure> rabbitct_paper(const PaperRun& run) {
  struct Other {
    std::int64_t size;
    double seconds;
    const char *name, *who;
  };
  const Other others[] = {{512, 0.99, "Thumper", "Thumper (Zinsser and Keck 2013), GTX 680"},
                          {512, 0.92, "Rapid Rabbit", "Rapid Rabbit (Papenhausen and Mueller 2013)"},
                          {1024, 6.04, "Thumper", "Thumper (Zinsser and Keck 2013), GTX 680"}};
  rabbitct::MakeOptions sweep;
  const double full_views = static_cast<double>(sweep.views);
  sweep.columns = scaled(sweep.columns, run.scale, 64);
  sweep.rows = scaled(sweep.rows, run.scale, 48);
  sweep.views = scaled(sweep.views, run.scale, 8);
  std::vector<Figure> figures;
  RabbitTime found;
  std::int64_t last = 0;
  for (const Other& other : others) {
    // RabbitCT has volumes of 128, 256, 512 and 1024 only.
    std::int64_t size = 128;
    while (size < other.size && static_cast<double>(2 * size) <= static_cast<double>(other.size) * run.scale * 1.001)
      size *= 2;
    if (size != last) found = time_rabbit(run, sweep, size);
    last = size;
    Figure f;
    f.group = "RabbitCT";
    f.name = format("{}^3, {}", other.size, other.name);
    f.seconds = found.seconds;
    const double cube = std::pow(static_cast<double>(size), 3), views = static_cast<double>(sweep.views);
    f.work = cube * views / 0x1p30;
    f.unit = "GUPS";
    f.error = found.error;
    f.error_limit = rabbit_limit(run);
    f.error_of = "rms of two slices against the definition in double precision, of their rms";
    f.note = format("{}^3 from {} filtered views of {}x{}, host to host; {}, {}", size, sweep.views, sweep.columns,
                    sweep.rows, run.how(), found.kernel);
    put_published(f, other.seconds, other.who,
                  cube * views / (std::pow(static_cast<double>(other.size), 3) * full_views));
    figures.push_back(std::move(f));
  }
  return figures;
}

}  // namespace lepus::bench
