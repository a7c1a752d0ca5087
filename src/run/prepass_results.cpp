// SPDX-License-Identifier: Apache-2.0
// CBOR, which has binary data and every float and double as it is. Texts may have file names of any bytes: they are
// binary, too.
#include "run/prepass_results.h"

#include <cstring>

#include "core/json.h"

namespace lepus {
namespace {

using Cbor = nlohmann::json;

Cbor binary(const void* data, std::int64_t bytes) {
  const auto* const from = static_cast<const std::uint8_t*>(data);
  return Cbor::binary(bytes > 0 ? std::vector<std::uint8_t>(from, from + bytes) : std::vector<std::uint8_t>());
}
Cbor binary(const std::string& text) { return binary(text.data(), std::ssize(text)); }
Cbor binary(const std::vector<std::string>& texts) {
  Cbor list = Cbor::array();
  for (const std::string& text : texts) list.push_back(binary(text));
  return list;
}

std::string text_in(const Cbor& json) {
  const auto& bytes = json.get_binary();
  return {bytes.begin(), bytes.end()};
}
std::vector<std::string> texts_in(const Cbor& json) {
  std::vector<std::string> texts;
  for (const Cbor& text : json) texts.push_back(text_in(text));
  return texts;
}
Buffer<float> values_in(const std::uint8_t* bytes, std::size_t size) {
  Buffer<float> values(static_cast<std::int64_t>(size / sizeof(float)));
  if (size > 0) std::memcpy(values.data(), bytes, size);
  return values;
}
Buffer<float> values_in(const Cbor& json) {
  const auto& bytes = json.get_binary();
  return values_in(bytes.data(), bytes.size());
}

}  // namespace

std::string to_bytes(const CountFigures& c) {
  Cbor air;
  if (c.air) air = {c.air->level, c.air->lowest, c.air->highest};
  return cbor_bytes({{"views", c.views},
                     {"pixels", c.pixels},
                     {"at_dark", c.at_dark},
                     {"saturated", c.saturated},
                     {"above_flat", c.above_flat},
                     {"air", air},
                     {"constant", c.constant},
                     {"warnings", binary(c.warnings)}});
}

CountFigures counts_from(const std::string& bytes) {
  const Cbor json = json_from_cbor(bytes);
  CountFigures c;
  c.views = json.at("views");
  c.pixels = json.at("pixels");
  c.at_dark = json.at("at_dark");
  c.saturated = json.at("saturated");
  c.above_flat = json.at("above_flat");
  if (const Cbor& air = json.at("air"); !air.is_null()) c.air = {air.at(0), air.at(1), air.at(2)};
  c.constant = json.at("constant");
  c.warnings = texts_in(json.at("warnings"));
  return c;
}

std::string to_bytes(const Normalised& n) {
  const Normalisation& maps = n.maps;
  return cbor_bytes({{"columns", maps.columns},
                     {"rows", maps.rows},
                     {"dark", binary(maps.dark.data(), maps.dark.bytes())},
                     {"log_i0", binary(maps.log_i0.data(), maps.log_i0.bytes())},
                     {"log_i0_everywhere", maps.log_i0_everywhere},
                     {"clip", maps.clip},
                     {"unusable", maps.unusable},
                     {"not_finite", maps.not_finite},
                     {"flats", n.flats_checksum},
                     {"darks", n.darks_checksum},
                     {"intensity", binary(n.intensity)}});
}

Normalised normalised_from(const std::string& bytes) {
  const Cbor json = json_from_cbor(bytes);
  Normalised n;
  n.maps.columns = json.at("columns");
  n.maps.rows = json.at("rows");
  n.maps.dark = values_in(json.at("dark"));
  n.maps.log_i0 = values_in(json.at("log_i0"));
  n.maps.log_i0_everywhere = json.at("log_i0_everywhere");
  n.maps.clip = json.at("clip");
  n.maps.unusable = json.at("unusable").get<std::vector<std::int64_t>>();
  n.maps.not_finite = json.at("not_finite");
  n.flats_checksum = json.at("flats");
  n.darks_checksum = json.at("darks");
  n.intensity = text_in(json.at("intensity"));
  return n;
}

std::string to_bytes(const Buffer<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), static_cast<std::size_t>(values.bytes())};
}
Buffer<float> values_from(const std::string& bytes) {
  return values_in(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string to_bytes(const std::vector<std::string>& texts) { return cbor_bytes(binary(texts)); }
std::vector<std::string> texts_from(const std::string& bytes) { return texts_in(json_from_cbor(bytes)); }

}  // namespace lepus
