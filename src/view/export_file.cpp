// SPDX-License-Identifier: Apache-2.0
#include "view/export_file.h"

#include <utility>

#include "analysis/surface.h"
#include "core/format.h"
#include "core/input_file.h"
#include "core/output_file.h"
#include "core/scratch_folder.h"

namespace lepus::view {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t maximum_exported = std::int64_t{1} << 31;

// A folder that goes when the file was sent.
struct SentFile {
  SentFile() : folder(fs::temp_directory_path(), silent) {}
  Progress silent;
  ScratchFolder folder;
  std::unique_ptr<InputFile> file;
};

Answer send(const std::shared_ptr<SentFile>& sent, const fs::path& file, const std::string& name) {
  sent->file = std::make_unique<InputFile>(file);
  Answer answer;
  answer.type = "application/octet-stream";
  answer.headers.emplace_back("Content-Disposition", format("attachment; filename=\"{}\"", name));
  answer.file_bytes = sent->file->size();
  answer.read_file = [sent](std::int64_t offset, char* out, std::int64_t bytes) {
    sent->file->read(offset, out, bytes);
  };
  return answer;
}

// "volume.mha" and "npy" -> "volume-part.npy", without what a header cannot hold.
std::string download_name(const OpenedVolume& volume, const std::string& what, const std::string& ending) {
  std::string stem;
  for (const char c : volume.path.stem().string())
    stem +=
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ? c : '_';
  return stem + "-" + what + "." + ending;
}

VolumeGrid grid_of(const OpenedVolume& volume, const std::array<std::int64_t, 6>& box) {
  VolumeGrid grid = volume.grid;
  grid.nx = box[1] - box[0];
  grid.ny = box[3] - box[2];
  grid.nz = box[5] - box[4];
  grid.origin_mm =
      volume.grid.centre(static_cast<double>(box[0]), static_cast<double>(box[2]), static_cast<double>(box[4]));
  return grid;
}

// NumPy's header, padded so that the data begins on a multiple of 64 bytes.
std::string npy_header(const VolumeGrid& grid) {
  std::string text =
      format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}, {}), }}", grid.nz, grid.ny, grid.nx);
  text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 11, ' ');
  text += '\n';
  const auto length = static_cast<unsigned>(text.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 0xff) + static_cast<char>(length >> 8) + text;
}

template <class Take>
void each_slice(const OpenedVolume& volume, const std::array<std::int64_t, 6>& box, const Workplace& place,
                const Take& take) {
  std::vector<float> slice(static_cast<std::size_t>((box[1] - box[0]) * (box[3] - box[2])));
  for (std::int64_t z = box[4]; z < box[5]; ++z) {
    place.cancel.check();
    read_level(volume.levels.front(), {{box[0], box[2], z}, {box[1], box[3], z + 1}, {1, 1, 1}}, place.cache,
               slice.data());
    take(z - box[4], slice);
  }
}

}  // namespace

Answer export_crop(const OpenedVolume& volume, const std::array<std::int64_t, 6>& box, const std::string& kind,
                   const Workplace& workplace) {
  const VolumeGrid grid = grid_of(volume, box);
  if (grid.nx * grid.ny > maximum_exported / grid.nz)
    throw Refusal(413, {.what = "this part is too large to be sent",
                        .where = {},
                        .why = format("{} x {} x {} voxels", grid.nx, grid.ny, grid.nz),
                        .hint = "use lepus convert with --crop and --slices"});
  const auto memory = workplace.admission.take(8 * grid.nx * grid.ny);
  auto sent = std::make_shared<SentFile>();
  const fs::path file = sent->folder.path() / ("part." + kind);
  if (kind == "npy") {
    PartialFile out(file, false, 4 * grid.voxels());
    out.append(npy_header(grid));
    each_slice(volume, box, workplace, [&](std::int64_t, const std::vector<float>& slice) {
      out.append(slice.data(), static_cast<std::int64_t>(4 * slice.size()));
    });
    out.commit();
  } else {
    const VolumeReader& reader = *volume.levels.front().reader;
    VolumeWriterOptions options = options_of_copy(reader);
    const std::string provenance = reader.provenance();
    options.provenance_room = 4096 + 2 * static_cast<std::int64_t>(provenance.size());
    const auto writer = create_volume(file, grid, options);
    each_slice(volume, box, workplace,
               [&](std::int64_t z, const std::vector<float>& slice) { writer->write(z, z + 1, slice.data()); });
    writer->finish(provenance);
  }
  return send(sent, file, download_name(volume, "part", kind));
}

Answer export_surface(const OpenedVolume& volume, const std::array<std::int64_t, 6>& box, double threshold,
                      const std::string& kind, const Workplace& workplace) {
  const auto memory = workplace.admission.take(60 * (box[1] - box[0] + 2) * (box[3] - box[2] + 2));
  auto sent = std::make_shared<SentFile>();
  const fs::path file = sent->folder.path() / ("surface." + kind);
  ThreadPool one(1);
  Context context{one, workplace.cancel, sent->silent};
  analysis::write_surface(*volume.levels.front().reader, {threshold, box}, file, false, context);
  return send(sent, file, download_name(volume, "surface", kind));
}

}  // namespace lepus::view
