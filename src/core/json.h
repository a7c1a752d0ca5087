// SPDX-License-Identifier: Apache-2.0
// Text to values of nlohmann's JSON and back, compiled once: its parsers and writers take longer to compile than most
// files that call them.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace lepus {

// Throw nlohmann::json::parse_error where it is no JSON.
nlohmann::json parse_json(std::string_view text);
nlohmann::ordered_json parse_ordered_json(std::string_view text);
// is_discarded() where it is no JSON.
nlohmann::json json_or_discarded(std::string_view text);
nlohmann::ordered_json ordered_json_or_discarded(std::string_view text);

// One line, or indented by so many blanks. Bytes that are no UTF-8, which a path may hold, become U+FFFD.
std::string json_text(const nlohmann::json& json, int indent = -1);
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);
// All beyond ASCII is escaped.
std::string ascii_json_text(const nlohmann::json& json, int indent = -1);
std::string ascii_json_text(const nlohmann::ordered_json& json, int indent = -1);

// The same in bytes (CBOR), where numbers and binary values keep every bit. json_from_cbor throws
// nlohmann::json::parse_error.
std::string cbor_bytes(const nlohmann::json& json);
nlohmann::json json_from_cbor(std::string_view bytes);

}  // namespace lepus
