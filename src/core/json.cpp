// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"

namespace lepus {
namespace {

constexpr auto with_replacement = nlohmann::json::error_handler_t::replace;

}  // namespace

nlohmann::json parse_json(std::string_view text) { return nlohmann::json::parse(text); }
nlohmann::ordered_json parse_ordered_json(std::string_view text) { return nlohmann::ordered_json::parse(text); }
nlohmann::json json_or_discarded(std::string_view text) { return nlohmann::json::parse(text, nullptr, false); }
nlohmann::ordered_json ordered_json_or_discarded(std::string_view text) {
  return nlohmann::ordered_json::parse(text, nullptr, false);
}

std::string json_text(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, with_replacement);
}
std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, with_replacement);
}
std::string ascii_json_text(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', true, with_replacement);
}
std::string ascii_json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', true, with_replacement);
}

std::string cbor_bytes(const nlohmann::json& json) {
  std::string bytes;
  nlohmann::json::to_cbor(json, bytes);
  return bytes;
}
nlohmann::json json_from_cbor(std::string_view bytes) { return nlohmann::json::from_cbor(bytes); }

}  // namespace lepus
