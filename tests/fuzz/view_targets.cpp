// SPDX-License-Identifier: Apache-2.0
// Requests to lepus view, apart from the other targets: this one needs all that the viewer does.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_folder.h"
#include "fuzz_targets.h"
#include "view/guard.h"
#include "view/viewer.h"

namespace lepus::fuzz {

namespace {

// A viewer of two small volumes, kept for all requests.
view::Viewer& viewer() {
  static ThreadPool threads(1);
  static const CancelFlag never;
  static Progress silent;
  static Context context{threads, never, silent};
  static view::Viewer one = [] {
    ViewOptions options;
    for (const char* name : {"seen.mha", "seen_too.mha"}) {
      const VolumeGrid grid{9, 7, 5, {}, {1, 1, 1}};
      const fs::path file = folder().open_to_all() / name;
      const auto writer = create_volume(file, grid, {.force = true});
      const std::vector<float> voxels(static_cast<std::size_t>(grid.voxels()), 0.5F);
      writer->write(0, grid.nz, voxels.data());
      writer->finish("{}");
      options.volumes.push_back(file);
    }
    return view::Viewer(options, std::int64_t{64} << 20, context);
  }();
  return one;
}

// "/api/volumes/0/slice?index=1", then a line per header: host, origin, cookie, authorization; the rest is the body.
void view_request(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = text_of(data, size);
  const auto next = [&] { return std::string(take_part(rest, '\n')); };
  const std::string target = next();
  view::Visitor visitor{.method = "GET", .host = next(), .origin = next(), .authorization = next(), .cookie = next()};
  (void)view::refused({8790, "0123456789abcdef", {"scanner"}}, visitor);
  (void)view::refused({8790, "", {}}, visitor);
  const std::size_t mark = std::min(target.find('?'), target.size());
  view::Request request{rest.empty() ? "GET" : "POST", target.substr(0, mark), {}, std::string(rest)};
  if (mark < target.size()) request.parameters = view::parse_query(target.substr(mark + 1));
  const view::Answer answer = viewer().answer(request);
  if (answer.read_file && answer.file_bytes < (1 << 20)) {
    std::string bytes(static_cast<std::size_t>(answer.file_bytes), '\0');
    answer.read_file(0, bytes.data(), answer.file_bytes);
  }
}

constexpr Target all[] = {{"view_request", view_request}};

}  // namespace

std::span<const Target> targets() { return all; }

}  // namespace lepus::fuzz
