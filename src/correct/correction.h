// SPDX-License-Identifier: Apache-2.0
// One link of the chain of corrections that a scan file orders. A correction sees a band of detector rows of all views
// at once, on the host or on a device, and works in place; the chain (run/corrected_frames) brings the bands, with
// the halo of rows that each needs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/memory.h"
#include "correct/planes.h"
#include "correct/replaced_share.h"
#include "scan/scan.h"

namespace lepus {

namespace cuda {
class Workspace;
}

// What the values are. Grey levels: counts above the dark as a fraction of the open beam, g = (I - dark) / (flat -
// dark), 1 in air; line integrals: p = -ln g.
enum class Stage { grey_levels, line_integrals };

class Correction {
public:
  virtual ~Correction() = default;

  // Rows that must be in the band for rows `wanted` to come out right; clipped to the detector.
  virtual RowBand rows_needed(RowBand wanted, std::int64_t /*detector_rows*/) const { return wanted; }
  // Host memory that apply() takes beside the band, for the plan.
  virtual std::int64_t scratch_bytes(const SinogramBand& /*largest*/, int /*threads*/) const { return 0; }

  // In place: afterwards rows `wanted` of the band are right, others of it may be anything. The result of a row does
  // not depend on how the detector is cut into bands nor on the number of threads.
  virtual void apply(const SinogramBand& band, RowBand wanted, ThreadPool& threads) = 0;
  // The same for a band in device memory, on the workspace's stream; may return before the work is done.
  virtual void apply_on_device(const SinogramBand& band, RowBand wanted, cuda::Workspace& workspace) = 0;

  // What it replaced so far, of the rows it has seen; none: it replaces nothing, or it was judged when it was made.
  // After the device's stream has been waited for.
  virtual std::optional<ReplacedPixels> replaced() const { return std::nullopt; }
  // What it found and did so far, for the report: "12 hot pixels replaced".
  virtual std::string summary() const = 0;
};

// What a correction may know of the scan when it is made.
struct ScanFacts {
  std::int64_t columns = 0, rows = 0, views = 0;  // of the selected frames
  const ScanGeometry* geometry = nullptr;
  Stage stage = Stage::grey_levels;  // where the chain has placed it
  // Rows of all views, [row][view][column], as the chain before this correction leaves them.
  std::function<Buffer<float>(RowBand)> band;
  Context* context = nullptr;
};

using MakeCorrection = std::unique_ptr<Correction>(const CorrectionSpec& spec, const ScanFacts& facts);

// A parameter of a [[correct]] section; the scan file's table of kinds has filled in the defaults and checked types.
double number_of(const CorrectionSpec& spec, const std::string& name);
std::int64_t integer_of(const CorrectionSpec& spec, const std::string& name);
bool flag_of(const CorrectionSpec& spec, const std::string& name);
std::string text_of(const CorrectionSpec& spec, const std::string& name);
std::vector<double> numbers_of(const CorrectionSpec& spec, const std::string& name);  // empty where not given
std::filesystem::path file_of(const CorrectionSpec& spec, const std::string& name);   // beside the scan file
// Where it writes what it leaves, a .mha where the scan file gives no ending; none where it does not.
std::optional<std::filesystem::path> written_file(const CorrectionSpec& spec);

// What a person should look at, with the correction's name and its line in the scan file; and said.
std::string warning_of(const CorrectionSpec& spec, const std::string& message);
void warn(const ScanFacts& facts, const CorrectionSpec& spec, const std::string& message);

// Error(input) that names the correction and its line in the scan file.
[[noreturn]] void refuse(const CorrectionSpec& spec, std::string what, std::string why, std::string hint);

}  // namespace lepus
