// SPDX-License-Identifier: Apache-2.0
// The one exception type of lepus. The library never prints, exits or aborts: it throws an Error that says what went
// wrong, where (file, key, view), why, and what to do about it. Only the program turns a kind into an exit code.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include <lepus/export.h>

namespace lepus {

enum class ErrorKind {
  usage,        // the caller's options contradict each other
  input,        // a file is missing, truncated, of another size, or holds values that cannot be used
  geometry,     // the scan's geometry cannot give the volume that was asked for
  memory,       // the plan does not fit the memory limit, or an allocation failed
  disk,         // writing failed: full, not permitted, exists already
  unsupported,  // a format or feature this build was made without
  cancelled,    // the user interrupted the run
  internal      // a bug in lepus
};

struct ErrorParts {
  std::string what;   // "frame is truncated"
  std::string where;  // "frames/0017.tif, view 17"
  std::string why;    // "expected 1248x960 pixels, the file ends after row 611"
  std::string hint;   // "copy the file again, or leave the view out with scan.views"
};

class LEPUS_API Error : public std::runtime_error {
public:
  Error(ErrorKind kind, ErrorParts parts)
      : std::runtime_error(sentence(parts)), kind_(kind), parts_(std::move(parts)) {}

  ErrorKind kind() const noexcept { return kind_; }
  const ErrorParts& parts() const noexcept { return parts_; }

private:
  static std::string sentence(const ErrorParts& parts) {
    std::string text = parts.where.empty() ? parts.what : parts.where + ": " + parts.what;
    if (!parts.why.empty()) text += " (" + parts.why + ")";
    if (!parts.hint.empty()) text += "; " + parts.hint;
    return text;
  }

  ErrorKind kind_;
  ErrorParts parts_;
};

// What the C++ library throws where the system gives no more memory, threads or files, in lepus' words; an Error as it
// is.
LEPUS_API Error as_error(const std::exception& exception);

}  // namespace lepus
