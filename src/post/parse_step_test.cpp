// SPDX-License-Identifier: Apache-2.0
// Steps as they are typed, and what is said about wrong ones.
#include <fstream>
#include <sstream>

#include "io/test_support.h"
#include "post/post.h"
#include "scan/kinds/kinds.h"

namespace lepus {
namespace {

TEST(PostStep, IsReadWithItsDefaults) {
  const PostSpec spec = parse_post_step("  median   radius=4 border=mirror ");
  EXPECT_EQ(spec.step.kind, "median");
  EXPECT_EQ(std::get<std::int64_t>(spec.step.parameters.at("radius")), 4);
  EXPECT_EQ(std::get<std::int64_t>(spec.step.parameters.at("dimensions")), 3);
  EXPECT_EQ(std::get<std::string>(spec.step.parameters.at("border")), "mirror");
  const PostSpec crop = parse_post_step("crop z=2,5");
  EXPECT_EQ(std::get<std::vector<double>>(crop.step.parameters.at("z")), (std::vector<double>{2, 5}));
  EXPECT_FALSE(crop.step.parameters.contains("x"));
  EXPECT_EQ(std::get<double>(parse_post_step("air threshold=-1e-3").step.parameters.at("threshold")), -1e-3);
  EXPECT_TRUE(std::get<bool>(parse_post_step("bilateral separate=true").step.parameters.at("separate")));
}

TEST(PostStep, EveryKindCanBeMade) {
  for (const CorrectionKind& kind : post_kinds()) {
    std::string text(kind.name);
    for (const ScanKey& key : kind.parameters)
      if (key.default_words == "required") text += " " + std::string(key.name) + "=1";
    EXPECT_EQ(parse_post_step(text).step.kind, kind.name);
  }
}

TEST(PostStep, SaysWhatIsWrong) {
  const struct {
    const char *text, *part;
  } cases[] = {{"", "empty"},
               {"meadian radius=2", "did you mean 'median'?"},
               {"median raduis=2", "did you mean 'radius'?"},
               {"median radius", "radius=..."},
               {"median radius=two", "expected integer"},
               {"median radius=2.5", "expected integer"},
               {"median radius=0", "at least 1"},
               {"median radius=", "expected integer"},
               {"median border=miror", "did you mean border=mirror?"},
               {"gaussian sigma=nan", "expected number"},
               {"gaussian sigma=0", "above 0"},
               {"rescale low=-1", "at least 0 and at most 100"},
               {"crop x=1", "list of 2 integers"},
               {"crop x=1,2,3", "list of 2 integers"},
               {"crop x=-1,2", "at least 0"},
               {"bilateral separate=yes", "true or false"},
               {"hu", "water is missing"},
               {"air value=3", "threshold is missing"}};
  for (const auto& c : cases) EXPECT_LEPUS_ERROR(parse_post_step(c.text), ErrorKind::usage, c.part);
}

// docs/post.md names every kind with every parameter and its default.
TEST(PostPage, KnowsEveryParameter) {
  std::ifstream stream(LEPUS_SOURCE_DIR "/docs/post.md");
  std::stringstream text;
  text << stream.rdbuf();
  const std::string page = text.str();
  for (const CorrectionKind& kind : post_kinds()) {
    const auto heading = page.find("### " + std::string(kind.name) + "\n");
    ASSERT_NE(heading, std::string::npos) << kind.name;
    const std::string part = page.substr(heading, page.find("\n### ", heading + 1) - heading);
    for (const ScanKey& key : kind.parameters) {
      std::string standard(key.default_toml);
      std::erase(standard, '"');
      const std::string row = "| `" + std::string(key.name) + "` | " + (standard.empty() ? "" : standard + " |");
      EXPECT_NE(part.find(row), std::string::npos) << kind.name << ": " << row;
    }
  }
}

}  // namespace
}  // namespace lepus
