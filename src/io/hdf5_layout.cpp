// SPDX-License-Identifier: Apache-2.0
// Datasets of images: where they are in a file and behind its links, how their pixels lie, and whether this libhdf5 can
// read them. Asked when a file is opened, so that nothing fails at the first frame.
#ifdef LEPUS_HAVE_HDF5

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/format.h"
#include "io/file.h"
#include "io/hdf5_file.h"
#include "io/pixels.h"
#include <lepus/error.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

hid_t big_endian_type(PixelType type) {
  switch (type) {
    case PixelType::u8:
      return H5T_STD_U8BE;
    case PixelType::i8:
      return H5T_STD_I8BE;
    case PixelType::u16:
      return H5T_STD_U16BE;
    case PixelType::i16:
      return H5T_STD_I16BE;
    case PixelType::u32:
      return H5T_STD_U32BE;
    case PixelType::i32:
      return H5T_STD_I32BE;
    case PixelType::f16:
      return -1;  // the library makes float of them
    case PixelType::f32:
      return H5T_IEEE_F32BE;
    case PixelType::f64:
      return H5T_IEEE_F64BE;
  }
  return -1;
}

// Links are followed as H5Dopen follows them; a group that is met again is not entered.
class Hdf5Walk {
public:
  explicit Hdf5Walk(const Hdf5Visit& visit) : visit_(visit) {}

  void enter(hid_t group, const std::string& path, int depth) {
    constexpr int deepest = 32;
    if (depth > deepest || !seen_.insert(identity(group)).second) return;
    Step step{*this, group, path, depth};
    hsize_t start = 0;
    H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, &start, visit_link, &step);
  }

private:
  struct Step {
    Hdf5Walk& walk;
    hid_t group;
    const std::string& path;
    int depth;
  };

  static herr_t visit_link(hid_t, const char* name, const H5L_info_t*, void* data) {
    const Step& step = *static_cast<Step*>(data);
    if (step.walk.ended_) return 1;
    const Hdf5Id access = hdf5_access(H5P_LINK_ACCESS);
    const Hdf5Id object(H5Oopen(step.group, name, access), H5Oclose);
    if (!object.valid()) return 0;  // a link to nowhere
    const std::string path = step.path + "/" + name;
    const H5I_type_t type = H5Iget_type(object);
    if (type == H5I_GROUP) step.walk.enter(object, path, step.depth + 1);
    if (type == H5I_DATASET && !step.walk.visit_(object, path)) step.walk.ended_ = true;
    return 0;
  }

  using Identity = std::pair<unsigned long, std::string>;
  static Identity identity(hid_t object) {
#if H5_VERSION_GE(1, 12, 0)
    H5O_info2_t info;
    if (H5Oget_info3(object, &info, H5O_INFO_BASIC) < 0) return {};
    return {info.fileno, std::string(reinterpret_cast<const char*>(&info.token), sizeof info.token)};
#else
    H5O_info_t info;
    if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) return {};
    return {info.fileno, std::to_string(info.addr)};
#endif
  }
  const Hdf5Visit& visit_;
  bool ended_ = false;
  std::set<Identity> seen_;
};

// Filters that are often met and not part of libhdf5, by the numbers that the HDF Group gave them.
std::string filter_words(H5Z_filter_t filter, const char* stored_name) {
  static const std::pair<H5Z_filter_t, const char*> known[] = {{H5Z_FILTER_DEFLATE, "gzip"},
                                                               {H5Z_FILTER_SZIP, "szip"},
                                                               {307, "bzip2"},
                                                               {32000, "LZF"},
                                                               {32001, "blosc"},
                                                               {32004, "LZ4"},
                                                               {32008, "bitshuffle"},
                                                               {32013, "zfp"},
                                                               {32015, "zstd"},
                                                               {32017, "SZ"},
                                                               {32019, "JPEG"},
                                                               {32026, "blosc2"}};
  for (const auto& [number, name] : known)
    if (number == filter) return format("{} ({})", name, filter);
  return stored_name[0] == '\0' ? format("number {}", filter) : format("{} ({})", stored_name, filter);
}

void check_filters(hid_t creation, const std::string& where) {
  const int filters = H5Pget_nfilters(creation);
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0, configuration = 0;
    std::size_t values = 0;
    char name[64] = "";
    const H5Z_filter_t filter =
        H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, nullptr, sizeof name, name, &configuration);
    if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
    name[sizeof name - 1] = '\0';
    throw Error(
        ErrorKind::unsupported,
        {.what = format("the HDF5 filter {} is not installed", filter_words(filter, name)),
         .where = where,
         .why = "the dataset is compressed with it",
         .hint = "install its plugin and let HDF5_PLUGIN_PATH name its folder (the Python package hdf5plugin has "
                 "one), or write the file anew without it where the plugin is: h5repack -f NONE in.h5 out.h5"});
  }
}

// libhdf5 gives zeros for what a virtual dataset lacks: frames of nothing.
void check_sources(hid_t creation, const fs::path& file, const std::string& where) {
  if (std::getenv("HDF5_VDS_PREFIX")) return;
  bool first = true;
  for (const Hdf5Source& source : virtual_sources(creation, file)) {
    if (source.files.empty() && !source.numbered)
      throw_hdf5("a part of the virtual dataset is missing", where,
                 format("it refers to {}, which is not there", source.name));
    if (!std::exchange(first, false) || source.files.empty()) continue;  // all parts were written by one program
    const Hdf5Id opened = open_hdf5(source.files.front());
    const Hdf5Id part(H5Dopen2(opened, source.dataset.c_str(), H5P_DEFAULT), H5Dclose);
    const Hdf5Id packing(part.valid() ? H5Dget_create_plist(part) : -1, H5Pclose);
    if (packing.valid()) check_filters(packing, where);
  }
}

}  // namespace

void walk_hdf5_datasets(hid_t file, const Hdf5Visit& visit) {
  const Hdf5Id root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
  if (root.valid()) Hdf5Walk(visit).enter(root, "", 0);
}

std::vector<std::string> list_hdf5_images(hid_t file) {
  constexpr std::size_t maximum_names = 1000;
  std::vector<std::string> names;
  walk_hdf5_datasets(file, [&](hid_t dataset, const std::string& path) {
    const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
    const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
    const int rank = H5Sget_simple_extent_ndims(space);
    if ((rank == 2 || rank == 3) && hdf5_pixel_type(type)) names.push_back(path);
    return names.size() < maximum_names;
  });
  return names;
}

Hdf5Id open_hdf5_dataset(hid_t file, const std::string& dataset, const fs::path& path) {
  const Hdf5Id access = hdf5_access(H5P_DATASET_ACCESS);
  Hdf5Id id(H5Dopen2(file, dataset.c_str(), access), H5Dclose);
  if (id.valid()) return id;
  const std::string why = hdf5_message();
  const std::vector<std::string> names = list_hdf5_images(file);
  std::string known;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 8); ++i) known += (i ? ", " : "") + names[i];
  if (names.size() > 8) known += ", ...";
  throw Error(ErrorKind::input,
              {.what = format("dataset {} cannot be opened", dataset),
               .where = path.string(),
               .why = why,
               .hint = known.empty() ? "the file holds no images" : "the file holds the images " + known});
}

Hdf5Images inspect_hdf5(hid_t file, const std::string& name, const fs::path& path) {
  const Hdf5Id dataset = open_hdf5_dataset(file, name, path);
  const std::string where = path.string() + ":" + name;
  const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
  const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose);
  if (!space.valid() || !type.valid() || !creation.valid())
    throw_hdf5("HDF5 dataset cannot be read", where, hdf5_message());
  Hdf5Images result;
  result.rank = H5Sget_simple_extent_ndims(space);
  if (result.rank != 2 && result.rank != 3)
    throw_hdf5("dataset is not a stack of images", where,
               format("expected [frames][rows][columns], found {} dimensions", result.rank));
  hsize_t sizes[3] = {1, 1, 1};
  H5Sget_simple_extent_dims(space, sizes + (3 - result.rank), nullptr);
  constexpr hsize_t limit = hsize_t{1} << 62;
  result.images = static_cast<std::int64_t>(std::min(sizes[0], limit));
  result.rows = static_cast<std::int64_t>(std::min(sizes[1], limit));
  result.columns = static_cast<std::int64_t>(std::min(sizes[2], limit));
  const auto memory = hdf5_pixel_type(type);
  if (!memory)
    throw Error(ErrorKind::unsupported, {.what = "dataset does not hold plain numbers",
                                         .where = where,
                                         .why = "its type is neither an integer of up to 64 bits nor a float",
                                         .hint = "name another dataset"});
  result.type = *memory;
  result.file = hdf5_file_of(dataset, path);
  check_filters(creation, where);
  if (const auto slope = read_hdf5_numbers(dataset, "scale_factor", 1)) result.scale.slope = slope->front();
  if (const auto offset = read_hdf5_numbers(dataset, "add_offset", 1)) result.scale.offset = offset->front();
  if (!result.scale.is_usable())
    throw_hdf5("HDF5 dataset has an impossible scale", where,
               format("scale_factor {}, add_offset {}", result.scale.slope, result.scale.offset));

  const std::int64_t file_size = InputFile(result.file).size();
  const auto bytes = checked_product(result.images, result.rows, result.columns, bytes_per_pixel(result.type));
  const H5D_layout_t layout = H5Pget_layout(creation);
  const bool elsewhere = layout == H5D_VIRTUAL || H5Pget_external_count(creation) > 0;
  if (layout == H5D_VIRTUAL) check_sources(creation, result.file, where);
  // Neither gzip (1000:1) nor the newer filters pack real frames tighter than 2^16:1.
  if (!bytes || (!elsewhere && *bytes / (1 << 16) > file_size))
    throw_hdf5("HDF5 dataset has an impossible size", where,
               format("{} images of {} in a file of {} bytes", result.images,
                      describe(result.columns, result.rows, result.type), file_size));
  if (layout == H5D_CHUNKED) {
    if (H5Dget_storage_size(dataset) == 0)
      throw_hdf5("dataset holds no data", where, "it was created but never written");
    hsize_t chunk[3] = {1, 1, 1};
    if (H5Pget_chunk(creation, 3, chunk) < 1) throw_hdf5("HDF5 dataset cannot be read", where, hdf5_message());
    const auto chunk_bytes =
        checked_product(static_cast<std::int64_t>(chunk[0]), static_cast<std::int64_t>(chunk[1]),
                        static_cast<std::int64_t>(chunk[2]), static_cast<std::int64_t>(H5Tget_size(type)));
    if (!chunk_bytes || *chunk_bytes / (1 << 16) > file_size)
      throw_hdf5("HDF5 dataset has impossible chunks", where, format("in a file of {} bytes", file_size));
  }
  if (layout != H5D_CONTIGUOUS || elsewhere) return result;

  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) throw_hdf5("dataset holds no data", where, "it was created but never written");
  const bool little = H5Tequal(type, hdf5_type(result.type)) > 0;
  result.big_endian = !little && H5Tequal(type, big_endian_type(result.type)) > 0;
  const std::int64_t stored = *bytes / bytes_per_pixel(result.type) * static_cast<std::int64_t>(H5Tget_size(type));
  if (offset > static_cast<haddr_t>(file_size) || static_cast<std::int64_t>(offset) > file_size - stored)
    throw_hdf5("HDF5 file is truncated", where,
               format("expected {} bytes at {}, the file has {} bytes", stored, offset, file_size));
  if (little || result.big_endian) result.offset = static_cast<std::int64_t>(offset);
  return result;
}

}  // namespace lepus

#endif
