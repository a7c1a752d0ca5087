// SPDX-License-Identifier: Apache-2.0
// lepus scan-keys: every key of a scan file, from the table that the reader uses.
#include <lepus/scan_keys.h>

#include <sstream>

#include <nlohmann/json.hpp>

#include "app/commands.h"

namespace lepus::app {
namespace {

nlohmann::json list_of_words(std::string_view text) {
  nlohmann::json list = nlohmann::json::array();
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) list.push_back(word);
  return list;
}

nlohmann::json to_json(const ScanKey& key) {
  return {{"section", key.section},
          {"name", key.name},
          {"type", type_words(key)},
          {"unit", key.unit},
          {"default", key.default_toml.empty() ? key.default_words : key.default_toml},
          {"choices", list_of_words(key.choices)},
          {"meaning", key.meaning}};
}

// What kind = "..." of a [[correct]] or [[post]] section can be, with the keys that belong to each.
template <class Kinds>
nlohmann::json kinds_json(const Kinds& kinds, bool corrections) {
  nlohmann::json list = nlohmann::json::array();
  for (const CorrectionKind& kind : kinds) {
    nlohmann::json keys = nlohmann::json::array();
    for (const ScanKey& key : kind.parameters) keys.push_back(to_json(key));
    list.push_back({{"kind", kind.name}, {"meaning", kind.meaning}, {"keys", keys}});
    if (corrections) list.back()["works_on"] = list_of_words(kind.works_on);
  }
  return list;
}

}  // namespace

std::unique_ptr<Command> scan_keys_command() {
  auto command = std::make_unique<Command>();
  command->name = "scan-keys";
  command->summary = "print every key that a scan file can have, with its meaning and default";
  command->description = "Prints the reference of the scan file as Markdown; docs/scan-file.md is made of it.";
  command->examples = {{"lepus scan-keys", "Look up what a scan file can say"}};
  command->run = [](Session& session) {
    session.print(scan_keys_markdown());
    nlohmann::json keys = nlohmann::json::array();
    for (const ScanKey& key : scan_keys()) keys.push_back(to_json(key));
    session.result({{"keys", keys},
                    {"corrections", kinds_json(correction_kinds(), true)},
                    {"post", kinds_json(post_kinds(), false)}});
    return exit_ok;
  };
  return command;
}

}  // namespace lepus::app
