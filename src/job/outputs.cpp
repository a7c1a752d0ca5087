// SPDX-License-Identifier: Apache-2.0
#include "job/outputs.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/format.h"
#include "scan/parameters.h"
#include "io/stack.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;
namespace {

struct Output {
  fs::path file;
  std::string who;  // for messages
};

std::vector<Output> outputs_of(const Scan& scan, const fs::path& volume_file, const fs::path& trace) {
  std::vector<Output> outputs{{volume_file, "the volume"}};
  if (!trace.empty()) outputs.push_back({trace, "the trace"});
  for (const CorrectionSpec& spec : scan.corrections)
    if (const auto file = written_file(spec))
      outputs.push_back({*file, format("write of correction \"{}\", line {}", spec.kind, spec.line)});
  // Headers with their data beside them, data with their side-cars.
  for (std::size_t i = 0, count = outputs.size(); i < count; ++i)
    for (const fs::path& file : files_of_volume(outputs[i].file))
      if (file != outputs[i].file) outputs.push_back({file, outputs[i].who});
  return outputs;
}

std::vector<const FrameFiles*> image_sets(const Scan& scan) {
  std::vector<const FrameFiles*> sets{&scan.frames};
  if (scan.flats) sets.push_back(&*scan.flats);
  if (scan.darks) sets.push_back(&*scan.darks);
  for (const auto& flats : scan.flat_series) sets.push_back(&flats.files);
  return sets;
}

std::vector<fs::path> inputs_of(const Scan& scan) {
  std::vector<fs::path> inputs{scan.file};
  for (const FrameFiles* set : image_sets(scan)) inputs.insert(inputs.end(), set->files.begin(), set->files.end());
  for (const CorrectionSpec& spec : scan.corrections)
    for (const char* name : {"file", "calibration"})
      if (spec.parameters.contains(name)) inputs.push_back(file_of(spec, name));
  for (const std::string& volume : scan.method.volume_files()) inputs.emplace_back(volume);
  return inputs;
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code code;
  return fs::equivalent(a, b, code) && !code;
}

// A folder of slices is many files, with numbers in their names.
bool is_slice_of(const NumberPlace& slices, const fs::path& folder, const fs::path& input) {
  const std::string name = input.filename().string();
  return name.starts_with(slices.prefix) && name.ends_with(slices.suffix) &&
         same_file(folder, fs::absolute(input).parent_path());
}

bool overwrites(const fs::path& output, const fs::path& input) {
  const fs::path file = slice_pattern(output, 1);
  if (const auto slices = find_number(file)) return is_slice_of(*slices, fs::absolute(file).parent_path(), input);
  return same_file(output, input);
}

// An image among the frames would be a view of the next run.
bool joins(const fs::path& output, const FrameFiles& set) {
  if (set.files.size() < 2) return false;
  const fs::path file = slice_pattern(output, 1);
  return same_file(fs::absolute(file).parent_path(), fs::absolute(set.files.front()).parent_path()) &&
         (find_number(file) || file.extension() == set.files.front().extension());
}

[[noreturn]] void refuse_output(const Output& output, std::string why) {
  throw Error(ErrorKind::usage, {.what = "this name cannot be written to",
                                 .where = output.file.string(),
                                 .why = std::move(why),
                                 .hint = "choose another name"});
}

void refuse_inputs(const Scan& scan, const std::vector<Output>& outputs) {
  const std::vector<fs::path> inputs = inputs_of(scan);
  for (const Output& output : outputs) {
    const auto read = std::find_if(inputs.begin(), inputs.end(),
                                   [&](const fs::path& input) { return overwrites(output.file, input); });
    if (read != inputs.end())
      refuse_output(output, format("the scan is read from {}, which {} would overwrite", read->string(), output.who));
    for (const FrameFiles* set : image_sets(scan))
      if (joins(output.file, *set))
        refuse_output(output, format("it would lie beside {} and be taken for one of the scan's images",
                                     set->files.front().string()));
  }
}

}  // namespace

void check_outputs(const Scan& scan, const fs::path& volume_file, const fs::path& trace) {
  const std::vector<Output> outputs = outputs_of(scan, volume_file, trace);
  std::map<fs::path, const Output*> taken;
  for (const Output& output : outputs) {
    std::error_code code;
    fs::path name = fs::weakly_canonical(fs::absolute(output.file), code);
    const auto [other, first] = taken.emplace(std::move(name), &output);
    if (!first) refuse_output(output, format("two want it: {}, and {}", other->second->who, output.who));
  }
  refuse_inputs(scan, outputs);
}

void check_output(const Scan& scan, const fs::path& file, const std::string& what) {
  if (!file.empty()) refuse_inputs(scan, {{file, what}});
}

}  // namespace lepus
