// Options of a program: from the command line, a JSON or YAML file, and defaults, in this order of strength. Fills plain structs;
// there are no global flags. Also writes the --help text, so that what it says cannot differ from what is true.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/base/config_value.h"
#include "transfer/base/result.h"
#include "transfer/base/time.h"

namespace mooncake {

enum class ConfigOutcome : uint8_t { kRun, kHelp, kVersion };

// Built in: --help (-h), --version, --config_path=FILE (.json, .yaml, .yml).
//
// Command line: --name=value, --name value, and for switches --name, --noname, --name=true|false. One dash is as good as two,
// "-" as good as "_" inside a name; the last of several wins. File: one flat map of the same names. Names that
// do not exist are errors wherever they stand, with the nearest one that does.
//
// Each Add takes the default from *target, which must outlive Read. Not thread-safe.
class ConfigReader {
 public:
  // `summary`: one or more sentences at the top of the help.
  ConfigReader(std::string program, std::string summary);

  // Heading above the options that follow.
  void Section(std::string title);

  void Add(std::string name, std::string* target, std::string help);
  void Add(std::string name, bool* target, std::string help);
  void Add(std::string name, uint16_t* port, std::string help);
  void Add(std::string name, uint32_t* target, std::string help);
  void Add(std::string name, double* target, std::string help);
  // "64KiB", "1.5GiB"; a bare number is in bytes.
  void AddSize(std::string name, uint64_t* target, std::string help);
  // "500ms", "10s"; a bare number is in `bare_unit` (one of 1 ms, 1 s, 1 min, 1 h).
  void AddDuration(std::string name, Duration* target, Duration bare_unit, std::string help);
  // One of a few words.
  void AddChoice(std::string name, std::string* target, std::vector<std::string> choices,
                 std::string help);
  // Another name for an option added before.
  void AddAlias(std::string alias, const std::string& name);
  // A name from elsewhere that is accepted and has no effect here; `why` is for the warning.
  void AddIgnored(std::string name, std::string why);
  // Lines at the end of the help: exit codes, examples.
  void Epilogue(std::string text);

  // kInvalidParams: an unknown name or a bad value; kRpcFail never. The message is one line for the user. With kHelp or kVersion
  // the targets are left alone.
  Result<ConfigOutcome> Read(int argc, const char* const* argv);

  std::string Help() const;
  // Whether the option was given by command line or file.
  bool IsSet(std::string_view name) const;
  // After Read: every option that has an effect.
  std::vector<ConfigValue> Values() const;
  // About names that had no effect, one line each.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Option {
    std::string section;
    std::string name;
    std::string value_name;  // in the help; "" for a switch
    std::string default_text;
    std::string help;
    std::function<Status(std::string_view)> set;  // none: ignored, `help` says why
    bool given = false;
    std::string value;  // as given
  };
  struct Setting {
    std::string name;
    std::string value;
  };

  void AddOption(std::string name, std::string value_name, std::string default_text,
                 std::string help, std::function<Status(std::string_view)> set);
  Option* Find(std::string_view name);
  const Option* Find(std::string_view name) const;
  Result<std::vector<Setting>> ParseCommandLine(int argc, const char* const* argv,
                                                ConfigOutcome& outcome);
  Status Apply(const Setting& setting, const std::string& where);
  Status Unknown(std::string_view name, const std::string& where) const;

  std::string program_;
  std::string summary_;
  std::string epilogue_;
  std::string section_;
  std::string config_path_;
  std::vector<Option> options_;
  std::vector<std::pair<std::string, std::string>> aliases_;
  std::vector<std::string> warnings_;
};

// The scalars of a flat map in a .json, .yaml or .yml file, in its order. kInvalidParams: unreadable, of another kind, malformed
// (with the parser's words), nested, or larger than 1 MiB.
Result<std::vector<std::pair<std::string, std::string>>> ReadConfigFile(const std::string& path);

}  // namespace mooncake
