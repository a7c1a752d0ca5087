// SPDX-License-Identifier: Apache-2.0
// RunState as JSON. What is read is checked key by key: a state may come from a file that was damaged.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/format.h"
#include "core/json.h"
#include "core/nesting.h"
#include "run/run_state.h"
#include <lepus/error.h>
#include <lepus/version.h>

namespace lepus {
namespace {

using Json = nlohmann::ordered_json;
using IndexCounts = std::map<std::int64_t, std::int64_t>;

const std::pair<Precision, const char*> precision_words[] = {
    {Precision::exact, "exact"}, {Precision::fast, "fast"}, {Precision::half, "half"}};
const std::pair<Stage, const char*> stage_words[] = {{Stage::grey_levels, "grey-levels"},
                                                     {Stage::line_integrals, "line-integrals"}};

template <class Names, class Value>
const char* word_for(const Names& names, Value value) {
  for (const auto& [named, word] : names)
    if (named == value) return word;
  throw Error(ErrorKind::internal, {.what = "the state of the run cannot be written",
                                    .where = "the journal",
                                    .why = "a choice has no word",
                                    .hint = "please report this"});
}

// "[[first, last], ...]" of anything with two such numbers.
template <class Ranges, class Pair>
Json ranges_json(const Ranges& ranges, const Pair& pair) {
  Json list = Json::array();
  for (const auto& range : ranges) list.push_back(pair(range));
  return list;
}
Json counts_json(const IndexCounts& counts) {
  return ranges_json(counts, [](const auto& c) { return Json{c.first, c.second}; });
}
Json slab_json(SlabRange slab) { return {slab.z0, slab.z1}; }

// A JSON object that is read; every failure names the path of the key, "plan.slabs[3]".
class StateReader {
public:
  StateReader(const Json& json, std::string path, const std::string& where)
      : json_(json), path_(std::move(path)), where_(where) {}

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::input, {.what = "the state of the run cannot be used",
                                   .where = where_,
                                   .why = path_.empty() ? why : format("{}: {}", path_, why),
                                   .hint = "it is damaged or was not written by lepus: begin anew"});
  }
  StateReader at(const char* key) const {
    if (!json_.is_object() || !json_.contains(key)) fail(format("there is no '{}'", key));
    return {json_.at(key), path_.empty() ? key : path_ + "." + key, where_};
  }
  std::vector<StateReader> list() const {
    if (!json_.is_array()) fail("it is not a list");
    std::vector<StateReader> items;
    for (std::size_t i = 0; i < json_.size(); ++i) items.emplace_back(json_[i], format("{}[{}]", path_, i), where_);
    return items;
  }
  std::string text() const {
    if (!json_.is_string()) fail("it is not a text");
    return json_.get<std::string>();
  }
  std::int64_t whole() const {
    if (!json_.is_number_integer()) fail("it is not a whole number");
    if (json_.is_number_unsigned() && json_.get<std::uint64_t>() > std::uint64_t{1} << 62) fail("it is too large");
    return json_.get<std::int64_t>();
  }
  std::int64_t count() const {
    const std::int64_t value = whole();
    if (value < 0) fail("it is negative");
    return value;
  }
  double number() const {
    if (json_.is_null()) return std::numeric_limits<double>::quiet_NaN();  // as JSON writes it
    if (!json_.is_number()) fail("it is not a number");
    return json_.get<double>();
  }
  std::string checksum() const {
    std::string digits = text();
    if (digits.size() != 16 || digits.find_first_not_of("0123456789abcdef") != std::string::npos)
      fail(format("'{}' is not a checksum of 16 hexadecimal digits", digits));
    return digits;
  }
  template <std::size_t N>
  std::array<std::int64_t, N> counts() const {
    const std::vector<StateReader> items = list();
    if (items.size() != N) fail(format("it does not have {} numbers", N));
    std::array<std::int64_t, N> numbers{};
    for (std::size_t i = 0; i < N; ++i) numbers[i] = items[i].count();
    return numbers;
  }
  std::pair<std::int64_t, std::int64_t> range() const {  // not empty
    const auto [first, last] = counts<2>();
    if (last <= first) fail(format("[{}, {}) is empty", first, last));
    return {first, last};
  }
  IndexCounts count_of() const {
    IndexCounts result;
    for (const StateReader& item : list()) {
      const auto [index, count] = item.counts<2>();
      result[index] = count;
    }
    return result;
  }
  template <class Names>
  auto word_in(const Names& names) const {
    const std::string word = text();
    for (const auto& [value, name] : names)
      if (word == name) return value;
    fail(format("'{}' is not known", word));
  }

private:
  const Json& json_;
  std::string path_;
  const std::string& where_;
};

Json identity_json(const ScanIdentity& scan) {
  return {{"file", scan.file},
          {"resolved", scan.resolved},
          {"inputs", scan.inputs},
          {"input_files", scan.input_files},
          {"geometry", scan.geometry}};
}

AuditState read_audit(const StateReader& audit) {
  AuditState state;
  for (const StateReader& item : audit.at("seen").list()) {
    const auto [frame0, frame1, row0, row1] = item.counts<4>();
    if (frame1 <= frame0 || row1 <= row0) item.fail("it is empty");
    state.seen.push_back({frame0, frame1, row0, row1});
  }
  state.checksum = std::stoull(audit.at("checksum").checksum(), nullptr, 16);
  state.not_finite = audit.at("not_finite").count();
  state.saturated = audit.at("saturated").count();
  state.bad_in = audit.at("bad_in_frame").count_of();
  state.dark = {audit.at("dark_in_row").count_of(), audit.at("dark_in_column").count_of()};
  return state;
}

Compute read_compute(const StateReader& compute) {
  Compute result;
  result.backend = compute.at("backend").text();
  result.devices = compute.at("devices").text();
  result.precision = compute.at("precision").word_in(precision_words);
  result.device_memory_bytes = compute.at("device_memory_bytes").count();
  result.threads = static_cast<int>(std::min<std::int64_t>(compute.at("threads").count(), 1 << 20));
  result.memory_bytes = compute.at("memory_bytes").count();
  return result;
}

RunState::Cut read_plan(const StateReader& plan) {
  RunState::Cut cut;
  cut.kind = plan.at("kind").text();
  cut.slices = plan.at("slices").count();
  cut.views = plan.at("views").count();
  cut.wedge_views = plan.at("views_at_a_time").count();
  std::int64_t next = 0;
  for (const StateReader& item : plan.at("slabs").list()) {
    const auto [z0, z1] = item.range();
    if (z0 != next || z1 > cut.slices)
      item.fail(format("[{}, {}) does not follow on {} of {}", z0, z1, next, cut.slices));
    cut.slabs.push_back({z0, next = z1});
  }
  return cut;
}

CorrectionReport read_correction(const StateReader& item) {
  return {.kind = item.at("kind").text(),
          .found = item.at("found").text(),
          .stage = item.at("on").word_in(stage_words),
          .rms_change = item.at("rms_change").number(),
          .rings_before = item.at("rings_before").number(),
          .rings_after = item.at("rings_after").number()};
}

}  // namespace

std::string to_json(const RunState& state) {
  const Compute& compute = state.compute;
  const AuditState& audit = state.audit;
  Json corrections = Json::array();
  for (const CorrectionReport& c : state.corrections)
    corrections.push_back({{"kind", c.kind},
                           {"on", word_for(stage_words, c.stage)},
                           {"found", c.found},
                           {"rms_change", c.rms_change},
                           {"rings_before", c.rings_before},
                           {"rings_after", c.rings_after}});
  const Json all{{"run_state", RunState::version},
                 {"lepus", lepus::version},
                 {"scan", identity_json(state.scan)},
                 {"output", state.output},
                 {"compute",
                  {{"backend", compute.backend},
                   {"devices", compute.devices},
                   {"precision", word_for(precision_words, compute.precision)},
                   {"device_memory_bytes", compute.device_memory_bytes},
                   {"threads", compute.threads},
                   {"memory_bytes", compute.memory_bytes}}},
                 {"plan",
                  {{"kind", state.plan.kind},
                   {"slices", state.plan.slices},
                   {"views", state.plan.views},
                   {"views_at_a_time", state.plan.wedge_views},
                   {"slabs", ranges_json(state.plan.slabs, slab_json)}}},
                 {"finished", ranges_json(state.finished_slabs,
                                          [](const RunState::FinishedSlab& f) {
                                            return Json{{"slab", slab_json(f.slab)}, {"checksum", f.checksum}};
                                          })},
                 {"audit",
                  {{"seen", ranges_json(audit.seen,
                                        [](const AuditState::Rows& r) {
                                          return Json{r.frame0, r.frame1, r.row0, r.row1};
                                        })},
                   {"checksum", format("{:016x}", audit.checksum)},
                   {"not_finite", audit.not_finite},
                   {"saturated", audit.saturated},
                   {"bad_in_frame", counts_json(audit.bad_in)},
                   {"dark_in_row", counts_json(audit.dark.in_row)},
                   {"dark_in_column", counts_json(audit.dark.in_column)}}},
                 {"corrections", corrections},
                 {"corrected_rows",
                  {{"file", state.corrected_rows.file},
                   {"bands", ranges_json(state.corrected_rows.bands,
                                         [](RowBand b) {
                                           return Json{b.first, b.last};
                                         })}}},
                 {"iteration", state.iteration}};
  return ascii_json_text(all, 1) + "\n";
}

RunState run_state_from_json(const std::string& text, const std::string& where) {
  check_json_nesting(text, where);
  const Json json = ordered_json_or_discarded(text);
  const StateReader all(json, "", where);
  if (json.is_discarded() || !json.is_object()) all.fail("it is not a JSON object");
  if (const std::int64_t found = all.at("run_state").whole(); found != RunState::version)
    throw Error(ErrorKind::input,
                {.what = "the state of the run has another version",
                 .where = where,
                 .why = format("it is of version {}, this lepus knows version {}", found, RunState::version),
                 .hint = "go on with the lepus that began the run, or begin anew"});
  RunState state;
  const StateReader scan = all.at("scan");
  state.scan = {scan.at("file").text(), scan.at("resolved").checksum(), scan.at("inputs").checksum(),
                scan.at("input_files").count(), scan.at("geometry").checksum()};
  state.output = all.at("output").text();
  state.compute = read_compute(all.at("compute"));
  state.plan = read_plan(all.at("plan"));
  for (const StateReader& item : all.at("finished").list()) {
    const auto [z0, z1] = item.at("slab").range();
    if (z1 > state.plan.slices || (!state.finished_slabs.empty() && z0 < state.finished_slabs.back().slab.z1))
      item.fail(format("slices [{}, {}) are outside the volume or finished twice", z0, z1));
    const StateReader checksum = item.at("checksum");
    state.finished({z0, z1}, checksum.text().empty() ? "" : checksum.checksum());
  }
  state.audit = read_audit(all.at("audit"));
  for (const StateReader& item : all.at("corrections").list()) state.corrections.push_back(read_correction(item));
  const StateReader rows = all.at("corrected_rows");
  state.corrected_rows.file = rows.at("file").text();
  for (const StateReader& item : rows.at("bands").list()) {
    const auto [first, last] = item.range();
    state.corrected_rows.bands.push_back({first, last});
  }
  state.iteration = all.at("iteration").count();
  return state;
}

}  // namespace lepus
