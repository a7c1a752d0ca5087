// SPDX-License-Identifier: Apache-2.0
// The state of a method in a file: "lepus method state 2\n", the length of a JSON header, the header (whose work it is,
// how far it is, numbers, names and lengths of vectors), the residuals as fp64, a checksum of both, the vectors as
// fp32, and a checksum of all from the header on. Native byte order.
#pragma once

#include <filesystem>
#include <string>

#include "iterative/iterate.h"
#include "iterative/kept_pieces.h"
#include <lepus/error.h>

namespace lepus {

struct StateHeader {
  std::string run = {};         // whose work it is, as settings (core/settings_text.h)
  std::string method = {};      // filled when it is saved, as all that follows
  std::int64_t iterations = 0;  // that were asked for
  double strength = 0;          // of the regularisation, as it was given or found
  std::string saved = {};       // when: "2026-11-16 03:12:05 UTC"
  IterateReport done = {};      // iterations, residuals, the last change, seconds
};

// The file is no state, or not as it was written. States of other runs are other errors.
class DamagedState : public Error {
public:
  DamagedState(const std::filesystem::path& file, std::string why)
      : Error(ErrorKind::input, {.what = "this state cannot be gone on from",
                                 .where = file.string(),
                                 .why = std::move(why),
                                 .hint = "begin anew with --restart"}) {}
};

// Whole and on the disk, or not at all; a state that is there under that name gets the name `before` first. Written
// under the lock of `output`. By all ranks that share out the line integrals; rank 0 writes. Throws Error(disk), there
// alone.
void save_state(const std::filesystem::path& file, const std::filesystem::path& before,
                const std::filesystem::path& output, const StateHeader& header, Method& method);
// Throws DamagedState.
StateHeader read_state_header(const std::filesystem::path& file);
// Into the method's vectors and numbers; its iteration becomes that of the state. Throws DamagedState, too, where the
// method has other vectors; the method can then only be loaded again. By rank 0, while the others receive it.
StateHeader load_state(const std::filesystem::path& file, Method& method, KeptPieces& pieces);
StateHeader receive_state(Method& method, KeptPieces& pieces);
StateHeader load_state(const std::filesystem::path& file, Method& method);  // by one process

}  // namespace lepus
