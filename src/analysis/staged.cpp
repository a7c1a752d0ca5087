// SPDX-License-Identifier: Apache-2.0
#include "analysis/staged.h"

#include "core/format.h"
#include "core/input_file.h"
#include "core/output_file.h"

namespace lepus::analysis {
namespace fs = std::filesystem;

namespace {

std::int64_t slice_bytes(const BitVolume& bits) { return bits.slice_words() * static_cast<std::int64_t>(sizeof(Word)); }

}  // namespace

void save_bits(const BitVolume& bits, const fs::path& path) {
  PartialFile file(path, true, slice_bytes(bits) * bits.size().nz);
  Buffer<Word> buffer(bits.slice_words());
  for (std::int64_t z = 0; z < bits.size().nz; ++z) file.append(bits.slice(z, buffer.data()), slice_bytes(bits));
  file.commit();
}

void load_bits(const fs::path& path, BitVolume& bits) {
  const InputFile file(path);
  Buffer<Word> buffer(bits.slice_words());
  for (std::int64_t z = 0; z < bits.size().nz; ++z) {
    file.read(z * slice_bytes(bits), buffer.data(), slice_bytes(bits));
    bits.write(z, buffer.data());
  }
}

fs::path Staged::bits_file(const std::string& stage, std::size_t number) const {
  return kept_->scratch(format("{}.bits-{}", stage, number));
}

// A run that was killed may have written a file and not said so.
void Staged::remove_left(const StageParts& parts) const {
  for (const fs::path& file : parts.files)
    if (!file.empty()) fs::remove(file);
}

void Staged::finish(const std::string& name, const StageParts& parts, const nlohmann::json& result) {
  std::vector<fs::path> files;
  for (const fs::path& file : parts.files)
    if (!file.empty()) files.push_back(file);
  for (std::size_t i = 0; i < parts.bits.size(); ++i) {
    files.push_back(bits_file(name, i));
    save_bits(*parts.bits[i], files.back());
  }
  kept_->finish(name, cbor_bytes(result), files);
}

}  // namespace lepus::analysis
