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

void require_known(const std::string& name, const std::vector<std::string>& formats) {
  const std::string nearest = nearest_name(name, formats);
  if (nearest == name) return;
  std::string known;
  for (const std::string& one : formats) known += known.empty() ? one : ", " + one;
  throw Error(ErrorKind::usage, {.what = format("no geometry format is called \"{}\"", name),
                                 .where = "geometry format",
                                 .why = "known are " + known,
                                 .hint = nearest.empty() ? "use one of these" : format("did you mean {}?", nearest)});
}

std::vector<std::string> formats_to_read() {
  std::vector<std::string> formats = geometry_formats();
  formats.emplace_back("xrad");
  return formats;
}

}  // namespace

std::vector<std::string> geometry_formats() { return {"rtk", "astra", "tigre", "matrices"}; }

ScanGeometry read_geometry(const std::filesystem::path& path, const std::string& format,
                           const GeometryFileOptions& options) {
  require_known(format, formats_to_read());
  return parse_geometry(read_text(path), path.string(), format, options);
}

ScanGeometry parse_geometry(const std::string& text, const std::string& name, const std::string& format,
                            const GeometryFileOptions& options) {
  require_known(format, formats_to_read());
  auto* const parse = format == "rtk"     ? parse_rtk
                      : format == "astra" ? parse_astra
                      : format == "tigre" ? parse_tigre
                      : format == "xrad"  ? parse_xrad
                                          : parse_matrices;
  ScanGeometry geometry = parse(text, name, options);
  if (geometry.matrices.empty())
    throw Error(ErrorKind::input, {.what = "the geometry file holds no view",
                                   .where = name,
                                   .why = "it is empty or of another format",
                                   .hint = "check the file and the name of its format"});
  check_views(geometry);
  return geometry;
}

void write_geometry(const ScanGeometry& geometry, const std::filesystem::path& path, const std::string& format,
                    const GeometryFileOptions& options) {
  write_file(path, geometry_text(geometry, format, options), options.force);
}

std::string geometry_text(const ScanGeometry& geometry, const std::string& format, const GeometryFileOptions& options) {
  require_known(format, geometry_formats());
  check_views(geometry);
  return format == "rtk"     ? format_rtk(geometry, options)
         : format == "astra" ? format_astra(geometry, options)
         : format == "tigre" ? format_tigre(geometry)
                             : format_matrices(geometry, options);
}

}  // namespace lepus
