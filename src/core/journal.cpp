// SPDX-License-Identifier: Apache-2.0
#include "core/journal.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "core/crc32.h"
#include "core/format.h"
#include "core/input_file.h"
#include "core/output_lock.h"
#include "core/text.h"
#include <lepus/error.h>
#include <lepus/version.h>

namespace lepus {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view magic = "lepus journal ", format_number = "1";
constexpr std::int64_t largest_journal = std::int64_t{1} << 30;
// The records of the header, in this order; facts as often as there are any.
constexpr std::string_view version_kind = "lepus", command_kind = "command", fact_kind = "fact", begin_kind = "begin";

std::string escaped(std::string_view text) {
  std::string line;
  for (const char c : text) switch (c) {
      case '\\':
        line += "\\\\";
        break;
      case '\n':
        line += "\\n";
        break;
      default:
        line += c;
    }
  return line;
}

std::string unescaped(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool escape = line[i] == '\\' && i + 1 < line.size();
    if (escape) ++i;
    text += escape && line[i] == 'n' ? '\n' : line[i];
  }
  return text;
}

std::string checksum_of(const std::string& first_line, std::string_view record) {
  const std::uint32_t start = crc32(0, first_line.data(), std::ssize(first_line));
  return format("{:08x}", crc32(start, record.data(), std::ssize(record)));
}

struct NumberedRecord {
  std::int64_t number = 0;
  JournalRecord record;
};

// Nothing where the line is not as it was written.
std::optional<NumberedRecord> intact_record(const std::string& first_line, std::string_view line) {
  if (line.size() < 9 || line[8] != ' ' || checksum_of(first_line, line.substr(9)) != line.substr(0, 8))
    return std::nullopt;
  line.remove_prefix(9);
  NumberedRecord found;
  const auto [end, failure] = std::from_chars(line.data(), line.data() + line.size(), found.number);
  if (failure != std::errc() || end == line.data() + line.size() || *end != ' ') return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  found.record = {std::string(line.substr(0, space)), unescaped(line.substr(space + 1))};
  return found;
}

// Lines of a text one after the other; what has no line end is none.
class Lines {
public:
  explicit Lines(std::string_view text) : text_(text) {}
  std::optional<std::string_view> next() {
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }
  std::int64_t at() const { return static_cast<std::int64_t>(at_); }

private:
  std::string_view text_;
  std::size_t at_ = 0;
};

[[noreturn]] void refuse_journal(const fs::path& file, std::string what, std::string why, std::string hint) {
  throw Error(ErrorKind::input,
              {.what = std::move(what), .where = file.string(), .why = std::move(why), .hint = std::move(hint)});
}

[[noreturn]] void refuse_damaged(const fs::path& file, std::string why) {
  refuse_journal(file, "the journal of an unfinished run is damaged", std::move(why), "begin anew with --restart");
}

// Takes the header's records out of the list.
void take_header(JournalContents& contents, const fs::path& file) {
  auto& records = contents.records;
  auto at = records.begin();
  const auto is = [&](std::string_view kind) { return at != records.end() && at->kind == kind; };
  const auto take = [&](std::string_view kind) {
    if (!is(kind)) refuse_damaged(file, format("its record '{}' is missing", kind));
    return std::move((at++)->text);
  };
  contents.lepus = take(version_kind);
  contents.header.command = take(command_kind);
  while (is(fact_kind)) {
    const std::string fact = take(fact_kind);
    const std::size_t tab = fact.find('\t');
    if (tab == std::string::npos) refuse_damaged(file, "it has a fact without a value");
    contents.header.facts.push_back({fact.substr(0, tab), fact.substr(tab + 1)});
  }
  take(begin_kind);
  records.erase(records.begin(), at);
}

void sync_folder_of(const fs::path& file) {
  const fs::path folder = file.parent_path().empty() ? fs::path(".") : file.parent_path();
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);  // file systems that cannot have nothing to be flushed
  ::close(descriptor);
}

[[noreturn]] void throw_errno(const fs::path& file, int code) {
  throw Error(ErrorKind::disk, {.what = "cannot write the journal of the run",
                                .where = file.string(),
                                .why = std::strerror(code),
                                .hint = hint_for_errno(code, "check the disk or the network")});
}

// Whether it may be replaced: only a journal, whatever its state.
void require_journal(const fs::path& file) {
  std::error_code failure;
  if (!fs::exists(fs::symlink_status(file, failure))) return;
  if (fs::is_regular_file(file, failure) && InputFile(file).head(std::ssize(magic)) == magic) return;
  throw Error(ErrorKind::disk, {.what = "a file of this name is in the way of the run's journal",
                                .where = file.string(),
                                .why = "it is no journal of lepus",
                                .hint = "move it away, or give the output another name"});
}

}  // namespace

fs::path journal_name(const fs::path& output) {
  fs::path name = output.has_filename() ? output : output.parent_path();  // "slices/"
  return name += ".journal";
}

JournalContents read_journal(const fs::path& file) {
  const std::string text = read_text_file(file, largest_journal);
  Lines lines(text);
  const std::string_view first = lines.next().value_or("");
  if (!first.starts_with(magic))
    refuse_journal(file, "this is no journal of lepus", "it does not begin as one",
                   "move it away, or give the output another name");
  const std::string_view kind = first.substr(magic.size(), first.find(' ', magic.size()) - magic.size());
  if (kind != format_number)
    refuse_journal(file, "the journal has another format",
                   format("it is of format {}, this lepus knows format {}", shown(kind), format_number),
                   "go on with the lepus that began the run, or begin anew with --restart");
  JournalContents contents;
  contents.first_line = first;
  contents.intact_bytes = lines.at();
  bool torn = false;
  while (const auto line = lines.next()) {
    auto found = intact_record(contents.first_line, *line);
    if (!found || found->number != contents.next_number) {
      if (found) refuse_damaged(file, format("record {} stands where {} should", found->number, contents.next_number));
      torn = true;
      continue;
    }
    if (torn) refuse_damaged(file, format("what is before record {} is not as it was written", found->number));
    contents.records.push_back(std::move(found->record));
    ++contents.next_number;
    contents.intact_bytes = lines.at();
  }
  take_header(contents, file);
  return contents;
}

void require_same_run(const JournalContents& begun, const JournalHeader& now, const fs::path& output) {
  const auto refuse = [&](const std::string& what, const std::string& before, const std::string& after) {
    throw Error(ErrorKind::usage,
                {.what = "an unfinished run of this output cannot be gone on with",
                 .where = output.string(),
                 .why = format("{} was {}, now it is {}", what, shown(before), shown(after)),
                 .hint = "repeat the command as it was, or begin anew with --restart: what was finished is lost then"});
  };
  if (begun.header.command != now.command) refuse("the command", begun.header.command, now.command);
  if (begun.lepus != lepus::version) refuse("the version of lepus", begun.lepus, std::string(lepus::version));
  const auto value_in = [](const JournalHeader& header, const std::string& name) {
    const auto fact =
        std::find_if(header.facts.begin(), header.facts.end(), [&](const JournalFact& f) { return f.name == name; });
    return fact == header.facts.end() ? std::string("not given") : fact->value;
  };
  for (const JournalHeader* header : {&now, &begun.header})
    for (const auto& [name, value] : header->facts) {
      const std::string before = value_in(begun.header, name), after = value_in(now, name);
      if (before != after) refuse(name, before, after);
    }
}

Journal::Journal(const fs::path& file, const JournalHeader& header) : file_(file) {
  require_journal(file);
  std::random_device random;
  first_line_ = format("{}{} {:08x}{:08x}", magic, format_number, random(), random());
  std::string lines = first_line_ + "\n";
  lines += line_of({std::string(version_kind), std::string(lepus::version)});
  lines += line_of({std::string(command_kind), header.command});
  for (const auto& [name, value] : header.facts) lines += line_of({std::string(fact_kind), name + "\t" + value});
  lines += line_of({std::string(begin_kind), ""});
  // Under another name first: a journal whose header is torn does not exist.
  const fs::path begun = name_of_this_run(file, "new");
  descriptor_ = ::open(begun.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw_errno(file, errno);
  try {
    put(lines);
    flush();
    if (::rename(begun.c_str(), file.c_str()) != 0) throw_errno(file, errno);
  } catch (...) {
    ::close(descriptor_);
    ::unlink(begun.c_str());
    throw;
  }
  sync_folder_of(file);
}

Journal::Journal(const fs::path& file, const JournalContents& begun)
    : file_(file), first_line_(begun.first_line), next_number_(begun.next_number), end_(begun.intact_bytes) {
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor_ < 0) throw_errno(file, errno);
  if (::ftruncate(descriptor_, end_) != 0) {
    const int code = errno;
    ::close(descriptor_);
    throw_errno(file, code);
  }
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string Journal::line_of(const JournalRecord& record) {
  const std::string text = format("{} {} {}", next_number_++, record.kind, escaped(record.text));
  return format("{} {}\n", checksum_of(first_line_, text), text);
}

void Journal::append(const JournalRecord& record) {
  const std::scoped_lock lock(mutex_);
  const std::string line = line_of(record);
  try {
    put(line);
  } catch (...) {
    --next_number_;  // the next record takes its place
    throw;
  }
}

void Journal::put(const std::string& lines) {
  const std::int64_t bytes = std::ssize(lines);
  for (std::int64_t done = 0; done < bytes;) {
    const ssize_t put = ::pwrite(descriptor_, lines.data() + done, static_cast<std::size_t>(bytes - done), end_ + done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) throw_errno(file_, put < 0 ? errno : ENOSPC);
    done += put;
  }
  end_ += bytes;
}

void Journal::flush() {
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) throw_errno(file_, errno);
}

void Journal::remove() { ::unlink(file_.c_str()); }

}  // namespace lepus
