// SPDX-License-Identifier: Apache-2.0
// The option table of a command: each option is described once, where the variable it fills is named; parsing, --help,
// the man page and the shell completions are all made from this table.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lepus::app {

enum class Operand { text, file, folder };  // what a shell should offer where a value is expected

struct Option {
  std::string short_name;    // "-o", or "" where there is none
  std::string name;          // "--output"; for a positional argument its name: "VOLUME"
  std::string value;         // "FILE"; "" for a flag
  std::string help;          // one sentence
  std::string group;         // heading in --help
  std::string default_text;  // what happens when it is not given; "" where that is plain
  std::vector<std::string> choices;
  Operand operand = Operand::text;
  bool positional = false, required = false, repeated = false;
  std::function<void(const std::vector<std::string>&)> assign;  // throws Error(usage)

  // For tables: table.value(...).must().file()
  Option& must();                                 // it has to be given
  Option& file();                                 // its value is the name of a file ...
  Option& folder();                               // ... or of a folder
  Option& one_of(std::vector<std::string> list);  // its value is one of these
  Option& otherwise(std::string text);            // what --help gives as its default
  Option& noted(std::set<std::string>& given);    // where it is given its name is put there
};

// Error(usage) about a value that was given for "--name".
[[noreturn]] void refuse_option(const std::string& name, const std::string& what, const std::string& hint);

class OptionTable {
public:
  // Options added from here on stand under this heading.
  void group(std::string heading) { group_ = std::move(heading); }

  // A flag: "-n,--name" or "--name".
  Option& flag(const std::string& names, bool& target, const std::string& help);

  // An option with a value, or a positional argument where `names` has no dash. Target: std::string, int,
  // std::int64_t, double, optional of the last two, std::vector<double> (comma separated), std::vector<std::string>
  // (the option may be repeated).
  template <class T>
  Option& value(const std::string& names, const std::string& placeholder, T& target, const std::string& help) {
    Option& option = add(names, placeholder, help);
    option.default_text = default_of(target);
    option.repeated = std::is_same_v<T, std::vector<std::string>>;
    option.assign = [&option, &target](const std::vector<std::string>& texts) { read(option, texts, target); };
    return option;
  }
  template <class T>
  Option& positional(const std::string& name, T& target, const std::string& help) {
    return value(name, name, target, help);
  }

  void noted(std::set<std::string>& given);                       // all options so far
  const std::deque<Option>& options() const { return options_; }  // a deque: references to its elements stay valid
  std::vector<std::string> names() const;                         // "--output", "-o", ... without the positionals

private:
  Option& add(const std::string& names, const std::string& placeholder, const std::string& help);

  static void read(const Option&, const std::vector<std::string>&, std::string&);
  static void read(const Option&, const std::vector<std::string>&, int&);
  static void read(const Option&, const std::vector<std::string>&, std::int64_t&);
  static void read(const Option&, const std::vector<std::string>&, double&);
  static void read(const Option&, const std::vector<std::string>&, std::optional<std::int64_t>&);
  static void read(const Option&, const std::vector<std::string>&, std::optional<double>&);
  static void read(const Option&, const std::vector<std::string>&, std::vector<double>&);
  static void read(const Option&, const std::vector<std::string>&, std::vector<std::string>&);

  static std::string default_of(const std::string& target) { return target; }
  static std::string default_of(int target);
  static std::string default_of(std::int64_t target);
  static std::string default_of(double target);
  template <class T>
  static std::string default_of(const std::optional<T>&) {
    return {};
  }
  template <class T>
  static std::string default_of(const std::vector<T>&) {
    return {};
  }

  std::deque<Option> options_;
  std::string group_ = "Options";
};

}  // namespace lepus::app
