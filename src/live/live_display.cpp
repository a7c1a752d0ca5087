// SPDX-License-Identifier: Apache-2.0
#include "live/live_display.h"

#include <utility>

#include "analysis/array_volume.h"
#include "analysis/panel.h"
#include "core/format.h"
#include "core/json.h"
#include "core/output_file.h"

namespace lepus {
namespace {

constexpr double status_every_s = 1;

// One slice as a volume of its own, one voxel thick, so that the pictures are those of lepus slice.
Slice slice_so_far(const LiveVolume& volume, SliceRequest request) {
  VolumeGrid grid = volume.scan().grid;
  VoxelBox box{0, grid.nx, 0, grid.ny, 0, grid.nz};
  const std::int64_t i = request.index;
  const auto at = static_cast<double>(i);
  if (request.axis == Axis::x) {
    box.x0 = i, box.x1 = i + 1, grid.nx = 1;
    grid.origin_mm.x += at * grid.step_mm.x;
  } else if (request.axis == Axis::y) {
    box.y0 = i, box.y1 = i + 1, grid.ny = 1;
    grid.origin_mm.y += at * grid.step_mm.y;
  } else {
    box.z0 = i, box.z1 = i + 1, grid.nz = 1;
    grid.origin_mm.z += at * grid.step_mm.z;
  }
  std::vector<float> values(static_cast<std::size_t>(box.voxels()));
  volume.read(box, values.data());
  ThreadPool one(1);
  CancelFlag never;  // an interruption is when the last picture is wanted
  Progress silent;
  Context quiet{one, never, silent};
  constexpr std::int64_t memory = std::int64_t{64} << 20;
  return extract_slices(ArrayVolume(grid, std::move(values)), {{request.axis, 0}}, memory, quiet).front();
}

double seconds_after(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::string ranges_of(const std::vector<std::int64_t>& ascending) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t end = i;
    while (end + 1 < ascending.size() && ascending[end + 1] == ascending[end] + 1) ++end;
    text += (text.empty() ? "" : ", ") + format("{}", ascending[i]);
    if (end > i) text += format("{}{}", end > i + 1 ? "-" : ", ", ascending[end]);
    i = end + 1;
  }
  return text;
}

bool LiveDisplay::Shown::write(const std::string& bytes) {
  try {
    write_file(file_, bytes, true);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::disk) throw;
    if (!std::exchange(failing_, true)) progress_.warning(format("{}; it is tried again", error.what()));
    return false;
  }
  if (std::exchange(failing_, false)) progress_.note(format("{} is written again", file_.string()));
  return true;
}

void LiveDisplay::write_preview(const LiveState& state, const LiveVolume& volume) {
  if (!preview_.wanted() || state.views_in == 0) return;
  std::vector<Slice> slices;
  for (const SliceRequest& request : middle_slices(volume.scan().grid)) slices.push_back(slice_so_far(volume, request));
  PanelOptions panel;
  panel.title = format("{} of {} views, {}", state.views_in, state.views, state.state);
  const GreyWindow window = percentile_window(slices, 0.5, 99.5);
  const Picture picture = draw_panel({{"", std::move(slices), window, ColourMap::grey}}, panel);
  last_preview_ = Clock::now();
  if (!preview_.write(png_bytes(picture, options_.preview.string()))) return;
  shown_views_ = state.views_in;
  ++previews_;
}

void LiveDisplay::write_status(const LiveState& state) {
  last_status_ = Clock::now();
  if (!status_.wanted()) return;
  const nlohmann::ordered_json object{{"state", state.state},
                                      {"views", state.views},
                                      {"views_in", state.views_in},
                                      {"waiting_for", state.missing},
                                      {"waiting_seconds", state.waiting_s},
                                      {"seconds", seconds_after(start_)},
                                      {"preview", options_.preview.string()},
                                      {"previews", previews_}};
  status_.write(json_text(object, 2) + "\n");
}

void LiveDisplay::show(const LiveState& state, const LiveVolume* volume) {
  if (volume && state.views_in > shown_views_ && seconds_after(last_preview_) >= options_.every_s)
    write_preview(state, *volume);
  if (seconds_after(last_status_) >= status_every_s) write_status(state);
}

void LiveDisplay::show_now(const LiveState& state, const LiveVolume* volume) {
  if (volume) write_preview(state, *volume);
  write_status(state);
}

}  // namespace lepus
