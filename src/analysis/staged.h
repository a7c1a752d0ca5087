// SPDX-License-Identifier: Apache-2.0
// The stages of an analysis: each is made, or taken as an earlier run of the same command left it (io/kept_stages.h),
// with the bits and files that belong to it and the warnings that it gave.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "analysis/bit_volume.h"
#include "core/forwarded_progress.h"
#include "core/json.h"
#include "io/kept_stages.h"

namespace lepus::analysis {

// What belongs to a stage beside its result.
struct StageParts {
  std::vector<BitVolume*> bits = {};
  std::vector<std::filesystem::path> files = {};  // that it writes; "": it does not
};

void save_bits(const BitVolume& bits, const std::filesystem::path& file);
void load_bits(const std::filesystem::path& file, BitVolume& bits);

class Staged {
public:
  // kept: null: every stage is made.
  Staged(KeptStages* kept, Context& context) : kept_(kept), context_(context) {}

  // make(Context&) gives the result, for which there is JSON.
  template <class Make>
  auto operator()(const std::string& name, const StageParts& parts, const Make& make)
      -> decltype(make(std::declval<Context&>())) {
    using Result = decltype(make(context_));
    if (!kept_) return make(context_);
    if (const auto found = kept_->find(name)) {
      const auto json = json_from_cbor(*found);
      for (std::size_t i = 0; i < parts.bits.size(); ++i) load_bits(bits_file(name, i), *parts.bits[i]);
      for (const auto& warning : json.at("warnings")) context_.progress.warning(text_of(warning));
      return json.at("result").template get<Result>();
    }
    remove_left(parts);
    HeardWarnings heard(context_.progress);
    Context heard_context{context_.threads, context_.cancel, heard};
    Result result = make(heard_context);
    finish(name, parts, nlohmann::json{{"warnings", heard.warnings}, {"result", result}});
    return result;
  }

private:
  class HeardWarnings final : public ForwardedProgress {
  public:
    using ForwardedProgress::ForwardedProgress;
    void warning(const std::string& message) override {
      warnings.push_back(nlohmann::json::binary({message.begin(), message.end()}));
      ForwardedProgress::warning(message);
    }
    nlohmann::json warnings = nlohmann::json::array();
  };
  static std::string text_of(const nlohmann::json& warning) {
    return {warning.get_binary().begin(), warning.get_binary().end()};
  }

  std::filesystem::path bits_file(const std::string& stage, std::size_t number) const;
  void remove_left(const StageParts& parts) const;
  void finish(const std::string& name, const StageParts& parts, const nlohmann::json& result);

  KeptStages* kept_;
  Context& context_;
};

}  // namespace lepus::analysis
