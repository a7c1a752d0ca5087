// SPDX-License-Identifier: Apache-2.0
// Geometry files by the name of their format.
#include "geometry/exchange.h"

#include "core/format.h"
#include "core/output_file.h"
#include "core/text.h"
#include "geometry/camera.h"
#include "geometry/exchange_text.h"
#include <lepus/error.h>

namespace lepus {
namespace {

[[noreturn]] void refuse_format(const std::string& name) {
  const std::string nearest = nearest_name(name, geometry_formats());
  throw Error(ErrorKind::usage, {.what = format("no geometry format is called \"{}\"", name),
                                 .where = "geometry format",
                                 .why = "known are rtk, astra, tigre and matrices",
                                 .hint = nearest.empty() ? "use one of these" : format("did you mean {}?", nearest)});
}

}  // namespace

std::vector<std::string> geometry_formats() { return {"rtk", "astra", "tigre", "matrices"}; }

ScanGeometry read_geometry(const std::filesystem::path& path, const std::string& format,
                           const GeometryFileOptions& options) {
  auto* const parse = format == "rtk"        ? parse_rtk
                      : format == "astra"    ? parse_astra
                      : format == "tigre"    ? parse_tigre
                      : format == "matrices" ? parse_matrices
                                             : nullptr;
  if (parse == nullptr) refuse_format(format);
  ScanGeometry geometry = parse(read_text(path), path.string(), options);
  if (geometry.matrices.empty())
    throw Error(ErrorKind::input, {.what = "the geometry file holds no view",
                                   .where = path.string(),
                                   .why = "it is empty or of another format",
                                   .hint = "check the file and the name of its format"});
  check_views(geometry);
  return geometry;
}

void write_geometry(const ScanGeometry& geometry, const std::filesystem::path& path, const std::string& format,
                    const GeometryFileOptions& options) {
  if (nearest_name(format, geometry_formats()) != format) refuse_format(format);
  check_views(geometry);
  const std::string text = format == "rtk"     ? format_rtk(geometry)
                           : format == "astra" ? format_astra(geometry, options)
                           : format == "tigre" ? format_tigre(geometry)
                                               : format_matrices(geometry, options);
  write_file(path, text, options.force);
}

}  // namespace lepus
