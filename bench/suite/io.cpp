// SPDX-License-Identifier: Apache-2.0
// Volumes and frames, written and read back through the system's cache, each compared bit by bit. The limit of each is
// measured in kind and in turns with it: plain files of the same number and size, in the same pieces, read by as many
// threads.
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "bench/suite/synthetic.h"
#include "bench/suite/parts.h"
#include "core/format.h"
#include "core/memory.h"
#include "core/scratch_folder.h"
#include "io/frames.h"
#include "io/volume_file.h"
#include "bench/measure/clock.h"
#include "bench/measure/files.h"

namespace lepus::bench {
namespace {

template <class T>
double values_that_differ(const Buffer<T>& a, const Buffer<T>& b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>;
  double differing = 0;
  for (std::int64_t i = 0; i < a.size(); ++i)
    differing += std::bit_cast<Bits>(a[i]) != std::bit_cast<Bits>(b[i]) ? 1 : 0;
  return differing;
}

// New memory may still hold what was read before: what is not read must show.
template <class T>
void forget(Buffer<T>& buffer) {
  std::memset(buffer.data(), 0xff, static_cast<std::size_t>(buffer.bytes()));
}

constexpr int io_repeats = 5;

// first: ours; second: the same bytes without a format.
void add_pair(Run& run, const std::string& what, const measure::TwoTimes& write, const measure::TwoTimes& read,
              double bytes, double error) {
  for (const bool writes : {true, false}) {
    const measure::TwoTimes& times = writes ? write : read;
    measure::Figure f;
    f.group = "I/O";
    f.name = what + (writes ? ", write" : ", read");
    f.unit = "GB/s";
    f.work = 1e-9 * bytes;
    f.seconds = times.first;
    f.limit_rate = f.work / times.second;
    f.limit = "plain files";
    f.error = error;
    f.error_of = "values that come back changed";
    run.add(f);
  }
}

void volume_io(Run& run, const std::filesystem::path& folder, const std::string& ending) {
  const std::int64_t size = run.options.quick ? 96 : 320;
  const VolumeGrid grid = cube_of_256_mm(size);
  Buffer<float> out(grid.voxels()), in(grid.voxels());
  for (std::int64_t i = 0; i < out.size(); ++i)
    out[i] = synthetic_pixel(static_cast<unsigned>(i >> 20), static_cast<unsigned>(i & 1023),
                             static_cast<unsigned>(i >> 10 & 1023));
  forget(in);
  const std::filesystem::path file = folder / ("volume" + ending);
  constexpr std::int64_t slab = 16;
  const std::int64_t slice = size * size;
  measure::PlainFiles plain({.files = 1, .file_bytes = out.bytes(), .piece_bytes = slab * slice * 4}, folder,
                            run.context.threads);
  const measure::TwoTimes write = measure::best_seconds_of_two(
      io_repeats,
      [&] {
        const auto writer = create_volume(file, grid, {.force = true});
        for (std::int64_t z = 0; z < size; z += slab)
          writer->write(z, std::min(z + slab, size), out.data() + z * slice);
        writer->finish("{}");
      },
      [&] { plain.write(); });
  const measure::TwoTimes read = measure::best_seconds_of_two(
      io_repeats,
      [&] {
        const auto reader = open_volume(file);
        for (std::int64_t z = 0; z < size; z += slab) reader->read(z, std::min(z + slab, size), in.data() + z * slice);
      },
      [&] { plain.read(); });
  add_pair(run, format("volume {}, {}^3 float", ending, size), write, read, static_cast<double>(out.bytes()),
           values_that_differ(out, in) + plain.take_wrong_bytes());
}

void frames_io(Run& run, const std::filesystem::path& folder, const std::string& name, const std::string& says) {
  const std::int64_t columns = 1248, rows = 960, frames = run.options.quick ? 4 : 64;
  Buffer<std::uint16_t> out(columns * rows * frames), in(columns * rows * frames);
  for (std::int64_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::uint16_t>((static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15ULL >> 48);
  forget(in);
  const std::filesystem::path file = folder / name;
  const bool folder_of_files = name.find('%') != std::string::npos;
  const std::int64_t frame_bytes = columns * rows * 2, plain_files = folder_of_files ? frames : 1;
  measure::PlainFiles plain(
      {.files = plain_files, .file_bytes = frames / plain_files * frame_bytes, .piece_bytes = frame_bytes}, folder,
      run.context.threads);
  const measure::TwoTimes write = measure::best_seconds_of_two(
      io_repeats,
      [&] {
        const auto writer = create_frames(
            file,
            {.columns = columns, .rows = rows, .frames = frames, .type = PixelType::u16, .force = true, .dataset = {}});
        for (std::int64_t i = 0; i < frames; ++i) writer->write(out.data() + i * columns * rows);
        writer->finish();
      },
      [&] { plain.write(); });
  FrameFiles files;
  files.files = folder_of_files ? expand_pattern(folder, "*.tif") : std::vector<std::filesystem::path>{file};
  if (name.ends_with(".raw"))
    files.raw = RawLayout{.columns = columns, .rows = rows, .frames_per_file = frames, .type = PixelType::u16};
  const measure::TwoTimes read = measure::best_seconds_of_two(
      io_repeats,
      [&] {
        const auto source = open_frames(files);
        run.context.threads.parallel_for(0, frames, 1, [&](std::int64_t first, std::int64_t last, int) {
          for (std::int64_t i = first; i < last; ++i) source->read_native(i, 0, rows, in.data() + i * columns * rows);
        });
      },
      [&] { plain.read_by_all(); });
  add_pair(run, format("{} frames {}", frames, says), write, read, static_cast<double>(out.bytes()),
           values_that_differ(out, in) + plain.take_wrong_bytes());
}

}  // namespace

void bench_io(Run& run) {
  const ScratchFolder scratch(run.options.folder, run.context.progress);
  volume_io(run, scratch.path(), ".mha");
  frames_io(run, scratch.path(), "frames.raw", "16-bit, one raw file");
  for (const VolumeFormat& f : volume_formats())  // those that this build has
    if (f.available && f.ending == ".tif") {
      volume_io(run, scratch.path(), ".tif");
      std::filesystem::create_directories(scratch.path() / "frames");
      frames_io(run, scratch.path() / "frames", "%04d.tif", "16-bit, TIFF files");
    }
}

}  // namespace lepus::bench
