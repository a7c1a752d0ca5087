// SPDX-License-Identifier: Apache-2.0
// Surfaces as binary STL (triangles with their corners) and binary PLY (vertices, then triangles by their numbers).
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "analysis/surface.h"
#include "core/format.h"
#include "core/output_file.h"
#include "core/scratch_file.h"
#include "io/file.h"
#include <lepus/error.h>
#include <lepus/math.h>

namespace lepus::analysis {
namespace fs = std::filesystem;

namespace {

static_assert(std::endian::native == std::endian::little, "both formats are written little-endian");

// Small pieces, written together.
class Pieces {
public:
  template <class T>
  void add(const T& value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  bool many() const { return bytes_.size() > (1 << 20); }
  const std::vector<char>& bytes() const { return bytes_; }
  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }
  void clear() { bytes_.clear(); }

private:
  std::vector<char> bytes_;
};

class SurfaceFile : public SurfaceSink {
public:
  virtual void finish(const SurfaceReport& report) = 0;
};

class StlFile final : public SurfaceFile {
public:
  StlFile(const fs::path& path, bool force) : file_(path, force, 0) {
    std::string head = "lepus surface, millimetres, binary STL";
    head.resize(84, ' ');
    file_.append(head);
  }
  void vertex(const std::array<float, 3>&) override {}
  void triangle(const std::array<std::int64_t, 3>&, const std::array<std::array<float, 3>, 3>& corners) override {
    const auto edge = [&](std::size_t to, std::size_t i) {
      return static_cast<double>(corners[to][i]) - static_cast<double>(corners[0][i]);
    };
    const Vec3 normal = cross({edge(1, 0), edge(1, 1), edge(1, 2)}, {edge(2, 0), edge(2, 1), edge(2, 2)});
    const double length = norm(normal);
    for (const double n : {normal.x, normal.y, normal.z}) pieces_.add(static_cast<float>(length > 0 ? n / length : 0));
    pieces_.add(corners);
    pieces_.add(std::uint16_t{0});
    if (pieces_.many()) flush();
  }
  void finish(const SurfaceReport& report) override {
    flush();
    if (report.triangles > 0xffffffffLL)
      throw Error(ErrorKind::unsupported, {.what = "an STL file holds at most 2^32 - 1 triangles",
                                           .where = file_.target().string(),
                                           .why = format("this surface has {}", report.triangles),
                                           .hint = "bin the volume first, or take a part of it"});
    const auto count = static_cast<std::uint32_t>(report.triangles);
    file_.write(80, &count, sizeof count);
    file_.commit();
  }

private:
  void flush() {
    file_.append(pieces_.bytes().data(), pieces_.size());
    pieces_.clear();
  }
  PartialFile file_;
  Pieces pieces_;
};

class PlyFile final : public SurfaceFile {
public:
  PlyFile(const fs::path& path, bool force)
      : file_(path, force, 0),
        triangles_(fs::absolute(path).parent_path(), 0,
                   {"triangles of a surface", "free some space, or write the surface elsewhere"}) {
    file_.append(header({}));
  }
  void vertex(const std::array<float, 3>& mm) override {
    vertices_.add(mm);
    if (vertices_.many()) flush_vertices();
  }
  void triangle(const std::array<std::int64_t, 3>& numbers, const std::array<std::array<float, 3>, 3>&) override {
    if (numbers[0] > 0x7fffffffLL || numbers[1] > 0x7fffffffLL || numbers[2] > 0x7fffffffLL)
      throw Error(ErrorKind::unsupported, {.what = "a PLY file holds at most 2^31 vertices",
                                           .where = file_.target().string(),
                                           .why = {},
                                           .hint = "write STL, or bin the volume first"});
    faces_.add(std::uint8_t{3});
    for (const std::int64_t number : numbers) faces_.add(static_cast<std::int32_t>(number));
    if (faces_.many()) flush_faces();
  }
  void finish(const SurfaceReport& report) override {
    flush_vertices();
    flush_faces();
    std::vector<char> block(1 << 20);
    for (std::int64_t at = 0; at < face_bytes_;) {
      const std::int64_t bytes = std::min<std::int64_t>(face_bytes_ - at, 1 << 20);
      triangles_.read(at, block.data(), bytes);
      file_.append(block.data(), bytes);
      at += bytes;
    }
    const std::string head = header(report);
    file_.write(0, head.data(), static_cast<std::int64_t>(head.size()));
    file_.commit();
  }

private:
  // Of the same length whatever the numbers are.
  static std::string header(const SurfaceReport& report) {
    return format(
        "ply\nformat binary_little_endian 1.0\ncomment lepus surface, millimetres\nelement vertex {:020}\n"
        "property float x\nproperty float y\nproperty float z\nelement face {:020}\n"
        "property list uchar int vertex_indices\nend_header\n",
        report.vertices, report.triangles);
  }
  void flush_vertices() {
    file_.append(vertices_.bytes().data(), vertices_.size());
    vertices_.clear();
  }
  void flush_faces() {
    triangles_.write(face_bytes_, faces_.bytes().data(), faces_.size());
    face_bytes_ += faces_.size();
    faces_.clear();
  }
  PartialFile file_;
  ScratchFile triangles_;
  Pieces vertices_, faces_;
  std::int64_t face_bytes_ = 0;
};

}  // namespace

SurfaceReport write_surface(const VolumeReader& volume, const SurfaceOptions& options, const fs::path& path, bool force,
                            Context& context) {
  std::unique_ptr<SurfaceFile> file;
  const std::string ending = lower_extension(path);
  if (ending == ".stl") {
    file = std::make_unique<StlFile>(path, force);
  } else if (ending == ".ply") {
    file = std::make_unique<PlyFile>(path, force);
  } else {
    throw Error(ErrorKind::unsupported, {.what = "unknown kind of surface file",
                                         .where = path.string(),
                                         .why = format("the ending '{}' is neither .stl nor .ply", ending),
                                         .hint = "choose a name with one of these endings"});
  }
  const SurfaceReport report = extract_surface(volume, options, *file, context);
  file->finish(report);
  return report;
}

}  // namespace lepus::analysis
