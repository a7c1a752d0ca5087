// SPDX-License-Identifier: Apache-2.0
#include "io/number_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#ifdef LEPUS_HAVE_HDF5
#include "io/hdf5_file.h"
#endif

#include "core/format.h"
#include "core/input_file.h"
#include "io/stored_array.h"
#include <lepus/error.h>

namespace lepus {
namespace {

constexpr std::size_t shown_characters = 40;  // of a word, in an error

double parse_number(std::string_view word, const std::filesystem::path& file, int line) {
  double value = 0;
  const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;  // from_chars knows no plus sign
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
    throw Error(ErrorKind::input, {.what = format("\"{}\" is not a finite number", word.substr(0, shown_characters)),
                                   .where = format("{}:{}", file.string(), line),
                                   .why = {},
                                   .hint = "numbers stand between blanks, commas or line ends; # starts a comment"});
  return value;
}

// "0,5" is one number to many people and two numbers here. Where every word of a file could be either, nothing is
// guessed.
class DecimalCommas {
public:
  void look_at(std::string_view word, int line) {
    ++words_;
    const std::string_view number = word.substr(word.starts_with('+') || word.starts_with('-') ? 1 : 0);
    const std::size_t comma = number.find(',');
    const bool digits_alone =
        is_whole(number.substr(0, comma)) && (comma == std::string_view::npos || is_whole(number.substr(comma + 1)));
    possible_ = possible_ && digits_alone;
    if (comma == std::string_view::npos || !first_.empty()) return;
    first_ = word;
    line_ = line;
  }

  void refuse(const std::filesystem::path& file) const {
    if (!possible_ || first_.empty() || words_ < 2) return;
    std::string point = first_;
    point[point.find(',')] = '.';
    throw Error(ErrorKind::input,
                {.what = format("\"{}\" may be one number or two", first_.substr(0, shown_characters)),
                 .where = format("{}:{}", file.string(), line_),
                 .why = "commas separate numbers, and all of these look like decimal commas",
                 .hint = format("write decimal points ({}), or a blank after commas that separate",
                                point.substr(0, shown_characters))});
  }

private:
  static bool is_whole(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  }

  std::int64_t words_ = 0;
  bool possible_ = true;
  std::string first_;
  int line_ = 0;
};

// Calls visit(word) for each of the words between these separators.
template <class Visit>
void each_word(std::string_view text, std::string_view separators, const Visit& visit) {
  for (std::size_t begin = text.find_first_not_of(separators); begin != std::string_view::npos;
       begin = text.find_first_not_of(separators)) {
    text.remove_prefix(begin);
    const std::size_t length = std::min(text.find_first_of(separators), text.size());
    visit(text.substr(0, length));
    text.remove_prefix(length);
  }
}

}  // namespace

NumberFile read_number_file(const std::filesystem::path& file) {
  std::error_code unknown;
  if (!std::filesystem::exists(file, unknown) && !unknown)
    throw Error(ErrorKind::input, {.what = "cannot open the file",
                                   .where = file.string(),
                                   .why = "no such file",
                                   .hint = "names in a scan file are relative to its folder"});
  const std::string text = read_text_file(file, largest_number_file);
  NumberFile numbers;
  DecimalCommas commas;
  int line = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view whole = std::string_view(text).substr(start, end - start);
    start = end + 1;
    ++line;
    each_word(whole.substr(0, whole.find('#')), " \t\r\v\f;", [&](std::string_view word) {
      commas.look_at(word, line);
      each_word(word, ",", [&](std::string_view number) {
        numbers.values.push_back(parse_number(number, file, line));
        numbers.lines.push_back(line);
      });
    });
  }
  commas.refuse(file);
  return numbers;
}

void check_angle_deg(double angle_deg, const std::string& where) {
  constexpr double largest = 1e7;
  if (std::abs(angle_deg) <= largest) return;  // written so that NaN is refused
  throw Error(ErrorKind::input, {.what = format("an angle of {:g} degrees", angle_deg),
                                 .where = where,
                                 .why = format("no scanner turns beyond {:g}", largest),
                                 .hint = "check the angles and their unit"});
}

namespace {

constexpr std::int64_t maximum_numbers = 100'000'000;  // frames named by mistake are not read into memory

#ifdef LEPUS_HAVE_HDF5

NumberDataset read_hdf5_dataset(const std::filesystem::path& file, const std::string& dataset) {
  const Hdf5Lock lock;
  const std::string where = format("{}:{}", file.string(), dataset);
  const Hdf5Id opened = open_hdf5(file);
  const Hdf5Id data = open_hdf5_dataset(opened, dataset, file);
  const Hdf5Id space(H5Dget_space(data), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count < 1 || count > maximum_numbers)
    throw_hdf5("this is not a list of numbers", where, format("it has {} elements", count));
  const Hdf5Id type(H5Dget_type(data), H5Tclose);
  if (const std::size_t bytes = H5Tget_size(type); bytes > sizeof(long double))  // libhdf5 would make room for them
    throw_hdf5("this is not a list of numbers", where, format("its elements have {} bytes each", bytes));
  std::vector<double> values(static_cast<std::size_t>(count));
  if (H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    throw_hdf5("the dataset cannot be read as numbers", where, hdf5_message());
  return {std::move(values), read_hdf5_any_text(data, "units")};
}

#else

NumberDataset read_hdf5_dataset(const std::filesystem::path& file, const std::string& dataset) {
  throw Error(ErrorKind::unsupported, {.what = "this lepus was built without HDF5",
                                       .where = format("{}:{}", file.string(), dataset),
                                       .why = {},
                                       .hint = "install libhdf5-dev and build again, or use angles_file"});
}

#endif

}  // namespace

NumberDataset read_number_dataset(const std::filesystem::path& file, const std::string& dataset) {
  NumberDataset numbers;
  if (const FileKind kind = kind_of_file(file); has_named_arrays(kind))
    numbers.values = read_numbers(file, choose_array(read_array_file(file, kind), dataset, file), maximum_numbers);
  else
    numbers = read_hdf5_dataset(file, dataset);
  for (const double value : numbers.values)
    if (!std::isfinite(value))
      throw Error(ErrorKind::input, {.what = "the dataset holds NaN or infinity",
                                     .where = format("{}:{}", file.string(), dataset),
                                     .why = "every number must be finite",
                                     .hint = "write the file again"});
  return numbers;
}

}  // namespace lepus
