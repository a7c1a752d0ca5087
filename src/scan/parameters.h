// SPDX-License-Identifier: Apache-2.0
// The parameters of a [[correct]] or [[post]] section by name; the scan file's table of kinds has filled in the
// defaults and checked types. Each throws Error(input) that names the section and its line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scan/scan.h"
#include <lepus/error.h>

namespace lepus {

double number_of(const CorrectionSpec& spec, const std::string& name);
std::int64_t integer_of(const CorrectionSpec& spec, const std::string& name);
int small_integer_of(const CorrectionSpec& spec, const std::string& name);  // what is far out of range stays so
bool flag_of(const CorrectionSpec& spec, const std::string& name);
std::string text_of(const CorrectionSpec& spec, const std::string& name);
std::vector<double> numbers_of(const CorrectionSpec& spec, const std::string& name);  // empty where not given
std::filesystem::path file_of(const CorrectionSpec& spec, const std::string& name);   // beside the scan file
// Which of the choices it is, counted from 0.
std::size_t choice_of(const CorrectionSpec& spec, const std::string& name,
                      std::initializer_list<std::string_view> choices);

// Where it writes what it leaves, a .mha where the scan file gives no ending; none where it does not.
std::optional<std::filesystem::path> written_file(const CorrectionSpec& spec);

// What a person should look at, with the correction's name and its line in the scan file.
std::string warning_of(const CorrectionSpec& spec, const std::string& message);

// Error(input) that names the correction and its line in the scan file.
[[noreturn]] void refuse(const CorrectionSpec& spec, std::string what, std::string why, std::string hint);

// Runs `body`; what it says of the correction's options, Error(usage), gets the correction's name and line.
template <class Body>
auto located(const CorrectionSpec& spec, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    refuse(spec, error.parts().what, error.parts().why, error.parts().hint);
  }
}

}  // namespace lepus
