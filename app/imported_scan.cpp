// SPDX-License-Identifier: Apache-2.0
#include "app/imported_scan.h"

#include <nlohmann/json.hpp>

#include "app/header_fields.h"
#include "core/format.h"
#include "scan/describe.h"

namespace lepus::app {

Scan read_scan_argument(const std::string& place) {
  return is_importable(place) ? read_imported(place) : read_scan(place);
}

int imported_info(const std::string& place, Session& session) {
  const ImportedScan imported = import_place(place, {});
  const std::filesystem::path folder = imported.header.parent_path();
  const Scan scan = read_scan_text(scan_file_text(imported, folder), folder / "scan.toml");
  for (const auto& list : {imported.warnings, scan.warnings})
    for (const std::string& warning : list) session.context().progress.warning(warning);
  session.print(format("scanner   {}\nheader    {}, {} fields\n{}", imported.scanner, imported.header.string(),
                       imported.fields.size(), fields_text(imported.fields)) +
                describe_text(scan));
  nlohmann::json object = describe_json(scan);
  object["kind"] = "scanner";
  object["scanner"] = imported.scanner;
  object["header"] = imported.header.string();
  object["fields"] = nlohmann::json::array();
  for (const HeaderField& field : imported.fields)
    object["fields"].push_back({{"name", field.name}, {"value", field.value}, {"use", field.use}});
  session.result(object);
  return exit_ok;
}

}  // namespace lepus::app
