// SPDX-License-Identifier: Apache-2.0
#include "post/output.h"

#include "core/json.h"

namespace lepus::post {
namespace {

constexpr const char* measured_kind = "measured";

}  // namespace

Output::Output(const std::filesystem::path& path, const VolumeGrid& grid, const VolumeWriterOptions& options)
    : slices_(grid.nz), writer_(create_volume(path, grid, options)) {}

Output::Output(const std::filesystem::path& path, const VolumeGrid& grid, const VolumeWriterOptions& options,
               const ResumableRun& run, Progress& progress)
    : slices_(grid.nz) {
  auto resumable = std::make_unique<ResumableVolume>(path, grid, options, run, progress);
  resumable_ = resumable.get();
  writer_ = std::move(resumable);
}

std::vector<SliceRange> Output::missing() const {
  if (!resumable_) return {{0, slices_}};
  std::vector<SliceRange> missing;
  for (const auto& part : resumable_->missing()) missing.push_back({part.z0, part.z1});
  return missing;
}

// JSON writes every double so that it is read as the same one.
std::optional<std::vector<double>> Output::measured(std::size_t step) const {
  if (!resumable_) return {};
  for (const JournalRecord& note : resumable_->earlier_notes()) {
    if (note.kind != measured_kind) continue;
    const nlohmann::json json = json_or_discarded(note.text);
    if (json.is_object() && json.value("step", std::size_t{0}) == step && json.contains("values"))
      return json.at("values").get<std::vector<double>>();
  }
  return {};
}

void Output::keep_measured(std::size_t step, const std::vector<double>& values) {
  if (resumable_) resumable_->note({measured_kind, json_text(nlohmann::json{{"step", step}, {"values", values}})});
}

}  // namespace lepus::post
