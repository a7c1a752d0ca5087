// SPDX-License-Identifier: Apache-2.0
// Where the data of an HDF5 file lie: behind external links, in the sources of virtual datasets, in external storage.
#include "io/file.h"
#include "io/stack.h"

#ifndef LEPUS_HAVE_HDF5

namespace lepus {

std::vector<std::filesystem::path> files_behind_hdf5(const std::filesystem::path& path, const std::string&) {
  throw_missing_library("HDF5", "libhdf5-dev", path.string());
}

}  // namespace lepus

#else

#include <algorithm>
#include <cstdlib>
#include <set>

#include "io/hdf5_file.h"

namespace lepus {
namespace fs = std::filesystem;

namespace {

// An external link may name a pipe, which would be waited for for ever: only plain files are followed to.
herr_t meet_link(const char* parent, const char*, const char* child, const char*, unsigned*, hid_t, void* met) {
  std::error_code code;
  const fs::path file = fs::path(parent).parent_path() / child;
  const fs::file_status status = fs::status(file, code);
  if (fs::exists(status) && !fs::is_regular_file(status)) return -1;
  if (met && fs::exists(status)) static_cast<std::vector<fs::path>*>(met)->push_back(file);
  return 0;
}

using TextOf = ssize_t (*)(hid_t, std::size_t, char*, std::size_t);
std::string source_text(TextOf text_of, hid_t creation, std::size_t index) {
  const ssize_t length = text_of(creation, index, nullptr, 0);
  if (length <= 0) return {};
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  text_of(creation, index, text.data(), text.size());
  text.resize(static_cast<std::size_t>(length));
  return text;
}

// Where libhdf5 looks for a file that `file` names; none where it is nowhere.
std::optional<fs::path> named_file(const std::string& name, const fs::path& file, const char* prefix_variable) {
  std::vector<fs::path> tried{name == "." ? file : file.parent_path() / name, name,
                              file.parent_path() / fs::path(name).filename()};
  if (const char* prefix = std::getenv(prefix_variable)) tried.insert(tried.begin(), fs::path(prefix) / name);
  std::error_code code;
  const auto found = std::ranges::find_if(tried, [&](const fs::path& path) { return fs::is_regular_file(path, code); });
  return found == tried.end() ? std::nullopt : std::optional(*found);
}

std::string with_number(std::string text, std::size_t number) {
  for (std::size_t at = 0; (at = text.find("%b", at)) != std::string::npos;)
    text.replace(at, 2, std::to_string(number));
  return text;
}

// A file that libhdf5 has opened on its way to a dataset cannot be opened with settings other than its own, and one
// that lepus holds open not with other than ours.
Hdf5Id open_beside_others(const fs::path& path) {
  Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  return file.valid() ? std::move(file) : open_hdf5(path);
}

class FilesBehind {
public:
  void add(const fs::path& path, const std::string& dataset, int depth = 0) {
    constexpr int deepest = 32;
    if (depth > deepest || !seen_.insert({path, dataset}).second) return;
    const Hdf5Id file = open_beside_others(path);
    const Hdf5Id access = hdf5_access(H5P_DATASET_ACCESS, &files);
    const Hdf5Id id(H5Dopen2(file, dataset.c_str(), access), H5Dclose);
    if (!id.valid()) return;  // whoever reads it says so
    const fs::path own = hdf5_file_of(id, path);
    files.push_back(own);
    const Hdf5Id creation(H5Dget_create_plist(id), H5Pclose);
    for (int i = 0; i < H5Pget_external_count(creation); ++i) {
      char name[4096] = "";
      if (H5Pget_external(creation, static_cast<unsigned>(i), sizeof name - 1, name, nullptr, nullptr) < 0) continue;
      if (const auto found = named_file(name, own, "HDF5_EXTFILE_PREFIX")) files.push_back(*found);
    }
    for (const Hdf5Source& source : virtual_sources(creation, own))
      for (std::size_t i = 0; i < source.files.size(); ++i) {
        files.push_back(source.files[i]);
        add(source.files[i], with_number(source.dataset, i), depth + 1);
      }
  }

  std::vector<fs::path> files;

private:
  using Place = std::pair<fs::path, std::string>;  // a file and a dataset in it
  std::set<Place> seen_;
};

}  // namespace

Hdf5Id hdf5_access(hid_t kind, std::vector<fs::path>* met) {
  Hdf5Id access(H5Pcreate(kind), H5Pclose);
  H5Pset_elink_cb(access, meet_link, met);
  return access;
}

fs::path hdf5_file_of(hid_t dataset, const fs::path& opened) {
  const ssize_t length = H5Fget_name(dataset, nullptr, 0);
  if (length <= 0) return opened;
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  H5Fget_name(dataset, name.data(), name.size());
  name.resize(static_cast<std::size_t>(length));
  std::error_code code;
  return fs::exists(name, code) ? fs::path(name) : opened;
}

std::vector<Hdf5Source> virtual_sources(hid_t creation, const fs::path& file) {
  std::vector<Hdf5Source> sources;
  std::size_t count = 0;
  if (H5Pget_layout(creation) != H5D_VIRTUAL || H5Pget_virtual_count(creation, &count) < 0) return sources;
  const auto find = [&](const std::string& name) { return named_file(name, file, "HDF5_VDS_PREFIX"); };
  for (std::size_t i = 0; i < count; ++i) {
    Hdf5Source source;
    source.name = source_text(H5Pget_virtual_filename, creation, i);
    source.dataset = source_text(H5Pget_virtual_dsetname, creation, i);
    if (source.name.empty()) continue;
    source.numbered = source.name.find('%') != std::string::npos;
    const bool counted = source.name.find("%b") != std::string::npos;
    auto found = find(with_number(source.name, 0));
    while (found) {
      source.files.push_back(*found);
      found = counted ? find(with_number(source.name, source.files.size())) : std::nullopt;
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

std::vector<fs::path> files_behind_hdf5(const fs::path& path, const std::string& dataset) {
  const Hdf5Lock lock;
  FilesBehind behind;
  behind.add(path, dataset.empty() ? volume_dataset(open_hdf5(path)) : dataset);
  std::set<fs::path> others;
  std::error_code code;
  for (const fs::path& file : behind.files)
    if (!fs::equivalent(file, path, code)) others.insert(fs::weakly_canonical(file, code));
  return {others.begin(), others.end()};
}

}  // namespace lepus

#endif
