// SPDX-License-Identifier: Apache-2.0
// Writes OME-Zarr: a folder that appears when the last chunk is packed. A volume that is kept lies in the folder as a
// plain file until then, because slabs of several processes share chunks, and because a chunk that was packed cannot be
// written on.
#include <algorithm>

#include "core/format.h"
#include "core/output_file.h"
#include "core/output_folder.h"
#include "io/file.h"
#include "io/stack.h"
#include "io/zarr_array.h"
#include "io/zarr_pyramid.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

PartialFolder::Replace replacing(const StackTarget& target) {
  return target.force ? PartialFolder::Replace::whole : PartialFolder::Replace::nothing;
}

class ZarrStack final : public StackWriter {
public:
  explicit ZarrStack(const StackTarget& target)
      : target_(target), folder_(target.path, silent_), pyramid_(target, folder_.path()) {}

  std::int64_t memory_bytes() const override { return ZarrPyramid::memory_bytes(target_); }
  void write(std::int64_t first, std::int64_t images, const void* pixels) override {
    pyramid_.write(first, images, pixels);
  }
  void finish(const std::string& provenance) override {
    pyramid_.finish(provenance);
    folder_.commit(replacing(target_));
  }

private:
  StackTarget target_;
  Progress silent_;  // whoever reserved the output has said what was left there
  PartialFolder folder_;
  ZarrPyramid pyramid_;
};

struct KeptFolder {
  explicit KeptFolder(const StackTarget& target) : folder(target.path, silent, target.unfinished, target.sharing) {}
  Progress silent;
  PartialFolder folder;
};

class KeptZarr final : private KeptFolder, public PlainStack {
public:
  explicit KeptZarr(const StackTarget& target)
      : KeptFolder(target), PlainStack(target, OutputLock(), folder.path() / kept_voxels, 2 * target.shape.bytes()) {
    begin_data(0);
  }

  std::int64_t memory_bytes() const override {
    return target_.shape.image_bytes() + ZarrPyramid::memory_bytes(target_);
  }

  void finish(const std::string& provenance) override {
    remove_all_but_voxels();
    {
      ZarrPyramid pyramid(target_, folder.path());
      std::vector<char> slice(static_cast<std::size_t>(target_.shape.image_bytes()));
      for (std::int64_t z = 0; z < target_.shape.images; ++z) {
        read_back(z, 1, slice.data());
        pyramid.write(z, 1, slice.data());
      }
      pyramid.finish(provenance);
    }
    data_.close();
    // The voxels go last: until the folder has its name they are what a killed run goes on from.
    folder.commit(replacing(target_));
    std::error_code code;
    fs::remove(folder.target() / data_.partial().filename(), code);
  }

private:
  // Chunks of a run that was killed while it packed.
  void remove_all_but_voxels() const {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder.path(), code))
      if (entry.path() != data_.partial()) fs::remove_all(entry.path(), code);
  }
};

}  // namespace

bool is_zarr_name(const fs::path& path) {
  return lower_extension(path.has_filename() ? path : path.parent_path()) == ".zarr";
}

void check_zarr_target(const fs::path& path, bool force) {
  const fs::path target = zarr_target(path);
  const auto refuse = [&](const char* what, const std::string& why, const char* hint) {
    throw Error(ErrorKind::disk, {.what = what, .where = path.string(), .why = why, .hint = hint});
  };
  std::error_code code;
  const fs::path folder = fs::absolute(followed(target)).parent_path();
  if (!fs::is_directory(folder, code))
    refuse("cannot write", format("there is no folder {}", folder.string()), "make the folder first");
  const fs::file_status status = fs::status(target, code);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    refuse("cannot write", "it is a file, and a Zarr volume is a folder", "choose another name");
  if (fs::is_empty(target, code)) return;
  if (!force) refuse("folder exists already", "nothing is overwritten unasked", "choose another name or use --force");
  if (!is_zarr(target))
    refuse("cannot write", "the folder holds something else than a Zarr volume", "choose another name");
}

fs::path zarr_target(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

std::unique_ptr<StackWriter> create_zarr(const StackTarget& target) {
  if (!have_zarr()) throw_missing_library("OME-Zarr", "libblosc-dev, libzstd-dev or zlib1g-dev", target.path.string());
  check_zarr_target(target.path, target.force);
  if (target.unfinished == Unfinished::removed) check_free_space(zarr_target(target.path), target.shape.bytes());
  if (target.unfinished == Unfinished::removed) return std::make_unique<ZarrStack>(target);
  return std::make_unique<KeptZarr>(target);
}

}  // namespace lepus
