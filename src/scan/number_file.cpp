// SPDX-License-Identifier: Apache-2.0
#include "scan/number_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>

#ifdef LEPUS_HAVE_HDF5
#include "io/hdf5_file.h"
#endif

#include "core/format.h"
#include <lepus/error.h>

namespace lepus {
namespace {

double parse_number(std::string_view word, const std::filesystem::path& file, int line) {
  double value = 0;
  const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;  // from_chars knows no plus sign
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
    throw Error(ErrorKind::input, {.what = format("\"{}\" is not a finite number", word.substr(0, 40)),
                                   .where = format("{}:{}", file.string(), line),
                                   .why = {},
                                   .hint = "numbers stand between blanks, commas or line ends; # starts a comment"});
  return value;
}

}  // namespace

NumberFile read_number_file(const std::filesystem::path& file) {
  std::error_code ignored;
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file, ignored))
    throw Error(ErrorKind::input, {.what = "cannot open the file",
                                   .where = file.string(),
                                   .why = std::filesystem::exists(file, ignored) ? "not readable" : "no such file",
                                   .hint = "names in a scan file are relative to its folder"});
  NumberFile numbers;
  std::string text;
  for (int line = 1; std::getline(stream, text); ++line) {
    std::string_view rest = std::string_view(text).substr(0, text.find('#'));
    constexpr std::string_view separators = " \t\r\v\f,;";
    for (std::size_t begin = rest.find_first_not_of(separators); begin != std::string_view::npos;
         begin = rest.find_first_not_of(separators)) {
      rest.remove_prefix(begin);
      const std::size_t length = std::min(rest.find_first_of(separators), rest.size());
      numbers.values.push_back(parse_number(rest.substr(0, length), file, line));
      numbers.lines.push_back(line);
      rest.remove_prefix(length);
    }
  }
  return numbers;
}

#ifdef LEPUS_HAVE_HDF5

NumberDataset read_number_dataset(const std::filesystem::path& file, const std::string& dataset) {
  constexpr hssize_t most_numbers = 100'000'000;  // a dataset of frames named by mistake is not read into memory
  const Hdf5Lock lock;
  const std::string where = format("{}:{}", file.string(), dataset);
  const Hdf5Id opened = open_hdf5(file);
  const Hdf5Id data = open_hdf5_dataset(opened, dataset, file);
  const Hdf5Id space(H5Dget_space(data), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count < 1 || count > most_numbers)
    throw_hdf5("this is not a list of numbers", where, format("it has {} elements", count));
  std::vector<double> values(static_cast<std::size_t>(count));
  if (H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    throw_hdf5("the dataset cannot be read as numbers", where, hdf5_message());
  for (const double value : values)
    if (!std::isfinite(value)) throw_hdf5("the dataset holds NaN or infinity", where, "every number must be finite");
  return {std::move(values), read_hdf5_any_text(data, "units")};
}

#else

NumberDataset read_number_dataset(const std::filesystem::path& file, const std::string& dataset) {
  throw Error(ErrorKind::unsupported, {.what = "this lepus was built without HDF5",
                                       .where = format("{}:{}", file.string(), dataset),
                                       .why = {},
                                       .hint = "install libhdf5-dev and build again, or use angles_file"});
}

#endif

}  // namespace lepus
