// SPDX-License-Identifier: Apache-2.0
#include "view/pyramid.h"

#include <algorithm>
#include <chrono>

#include "core/format.h"
#include "core/json.h"
#include "io/file.h"
#include "io/stack.h"
#include "io/zarr_array.h"
#include <lepus/error.h>

namespace lepus::view {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t small_edge = 256;  // below this every slice is shown at once

// The file that a pyramid was made of, kept in its provenance.
std::string identity_text(const fs::path& path, const FileIdentity& identity) {
  return format("{} of {} bytes, {} ns", path.filename().string(), identity.bytes, identity.modified_ns);
}

// Another lepus may have read the same file in another way: what the pyramid stores has to be what is read now.
bool is_pyramid_of(const fs::path& folder, const std::string& identity, const VolumeReader& volume) {
  try {
    const auto group = read_zarr_group(folder);
    if (!group || !group->complete) return false;
    const ZarrLevel& finest = group->levels.at(0);
    const ZarrArray stored = read_zarr_array(folder / finest.path);
    const VolumeWriterOptions wanted = options_of_copy(volume);
    const auto provenance = json_or_discarded(group->provenance);
    return provenance.is_object() && provenance.value("pyramid_of", "") == identity && stored.type == wanted.type &&
           stored.scale == wanted.scale && finest.step_mm == volume.grid().step_mm;
  } catch (const std::exception&) {
    return false;
  }
}

// One that lepus view made of another state of the file may be replaced; what somebody else put there may not.
bool is_some_pyramid(const fs::path& folder) {
  try {
    const auto group = read_zarr_group(folder);
    const auto provenance = group ? json_or_discarded(group->provenance) : nlohmann::json();
    return provenance.is_object() && provenance.contains("pyramid_of");
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

fs::path pyramid_path(const fs::path& volume) { return with_suffix(volume, ".zarr"); }

PyramidThread::PyramidThread(ViewedVolume& volume, Events& events, const Admission& requests, bool write)
    : volume_(volume), events_(events), requests_(requests), write_(write), thread_([this] {
        run();
        finished_ = true;
      }) {}

PyramidThread::~PyramidThread() {
  stop_ = true;
  thread_.join();
}

void PyramidThread::tell(const PyramidState& state) {
  volume_.set_pyramid(state);
  const nlohmann::json data{{"volume", volume_.id()}, {"state", state.state}, {"done", state.done}};
  events_.publish("pyramid", json_text(data));
}

void PyramidThread::run() {
  try {
    const auto volume = volume_.get();
    const auto identity = volume_.identity();
    const fs::path path = volume->path;
    std::error_code code;
    if (volume->levels.size() > 1) return tell({"there", "", 1});
    if (!identity || !fs::is_regular_file(path, code))
      return tell({"none", "only volumes that are one file get a pyramid", 0});
    const fs::path folder = pyramid_path(path);
    const std::string of = identity_text(path, *identity);
    if (!is_pyramid_of(folder, of, *volume->levels.front().reader)) {
      const auto size = volume->size();
      if (std::ranges::max(size) <= small_edge) return tell({"none", "the volume is small", 0});
      if (!write_) return tell({"none", "--no-pyramid", 0});
      make(folder, volume, of);
      if (stop_) return;
    }
    volume_.use_pyramid(folder, volume);
    tell(volume_.pyramid());
    events_.publish("session", "{}");
  } catch (const std::exception& error) {
    tell({"none", error.what(), 0});
  }
}

void PyramidThread::make(const fs::path& folder, const std::shared_ptr<const OpenedVolume>& volume,
                         const std::string& identity) {
  const VolumeReader& reader = *volume->levels.front().reader;
  VolumeWriterOptions options = options_of_copy(reader);
  options.force = is_some_pyramid(folder);
  tell({"writing", "", 0});
  const auto writer = create_volume(folder, volume->grid, options);
  const std::int64_t slice = volume->grid.nx * volume->grid.ny;
  const std::int64_t slab = std::clamp<std::int64_t>((std::int64_t{1} << 22) / slice, 1, volume->grid.nz);
  std::vector<float> slices(static_cast<std::size_t>(slab * slice));
  auto last_told = std::chrono::steady_clock::now();
  for (std::int64_t z = 0; z < volume->grid.nz; z += slab) {
    for (int waited = 0; requests_.busy() && waited < 50 && !stop_; ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (stop_) return;
    if (!volume_.gone().empty())
      throw Error(ErrorKind::input, {.what = "the volume changed while its pyramid was made",
                                     .where = volume->path.string(),
                                     .why = {},
                                     .hint = "it is made when the volume is opened again"});
    const std::int64_t end = std::min(z + slab, volume->grid.nz);
    reader.read(z, end, slices.data());
    writer->write(z, end, slices.data());
    const auto now = std::chrono::steady_clock::now();
    if (now - last_told < std::chrono::milliseconds(500)) continue;
    last_told = now;
    tell({"writing", "", static_cast<double>(end) / static_cast<double>(volume->grid.nz)});
  }
  writer->finish(json_text(nlohmann::json{{"pyramid_of", identity}}));
}

}  // namespace lepus::view
