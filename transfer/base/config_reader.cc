#include "transfer/base/config_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include "transfer/base/check.h"
#include "transfer/base/units.h"

namespace mooncake {
namespace {

constexpr size_t kHelpWidth = 100;
constexpr size_t kHelpIndent = 6;

std::string Quoted(std::string_view text) { return "'" + EscapeForDisplay(text) + "'"; }

Status Bad(std::string_view value, const std::string& wanted) {
  return Status(ErrorCode::kInvalidParams, Quoted(value) + " is not " + wanted);
}

template <typename T>
Status ParseNumber(std::string_view text, const std::string& wanted, T* target) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return Bad(text, wanted);
  *target = value;
  return Status::Ok();
}

Status ParseBool(std::string_view text, bool* target) {
  for (const std::string_view yes : {"true", "1", "yes", "on"}) {
    if (text == yes) return *target = true, Status::Ok();
  }
  for (const std::string_view no : {"false", "0", "no", "off"}) {
    if (text == no) return *target = false, Status::Ok();
  }
  return Bad(text, "true or false");
}

std::string Normalized(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

// Levenshtein's distance.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string ShownNumber(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text += '0';
  return text;
}

std::string UnitName(Duration unit) {
  if (unit == Millis(1)) return "ms";
  if (unit == Seconds(1)) return "s";
  return unit == Seconds(60) ? "m" : "h";
}

// `text` in lines of at most kHelpWidth, each indented.
std::string Wrapped(const std::string& text, size_t indent) {
  std::string out;
  std::string line(indent, ' ');
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find(' ', start), text.size());
    const std::string word = text.substr(start, end - start);
    if (line.size() > indent && line.size() + 1 + word.size() > kHelpWidth) {
      out += line + "\n";
      line.assign(indent, ' ');
    }
    if (line.size() > indent) line += ' ';
    line += word;
    start = end + 1;
  }
  return out + line + "\n";
}

}  // namespace

ConfigReader::ConfigReader(std::string program, std::string summary)
    : program_(std::move(program)), summary_(std::move(summary)) {
  Add("config_path", &config_path_,
      "A .json, .yaml or .yml file with one flat map of these names to values. What the command "
      "line says wins.");
}

void ConfigReader::Section(std::string title) { section_ = std::move(title); }
void ConfigReader::Epilogue(std::string text) { epilogue_ = std::move(text); }

void ConfigReader::AddOption(std::string name, std::string value_name, std::string default_text,
                             std::string help, std::function<Status(std::string_view)> set) {
  MC_CHECK(Find(name) == nullptr) << "option " << name << " is added twice";
  options_.push_back({section_, std::move(name), std::move(value_name), std::move(default_text),
                      std::move(help), std::move(set)});
}

void ConfigReader::Add(std::string name, std::string* target, std::string help) {
  AddOption(std::move(name), "TEXT", target->empty() ? "none" : *target, std::move(help),
            [target](std::string_view v) {
              *target = std::string(v);
              return Status::Ok();
            });
}

void ConfigReader::Add(std::string name, bool* target, std::string help) {
  AddOption(std::move(name), "", *target ? "true" : "false", std::move(help),
            [target](std::string_view v) { return ParseBool(v, target); });
}

void ConfigReader::Add(std::string name, uint16_t* port, std::string help) {
  AddOption(std::move(name), "PORT", std::to_string(*port), std::move(help),
            [port](std::string_view v) { return ParseNumber(v, "a port (0 to 65535)", port); });
}

void ConfigReader::Add(std::string name, uint32_t* target, std::string help) {
  AddOption(std::move(name), "NUMBER", std::to_string(*target), std::move(help),
            [target](std::string_view v) {
              return ParseNumber(v, "a whole number from 0 to 4294967295", target);
            });
}

void ConfigReader::Add(std::string name, double* target, std::string help) {
  AddOption(std::move(name), "NUMBER", ShownNumber(*target), std::move(help),
            [target](std::string_view v) {
              double value = 0;
              RETURN_IF_ERROR(ParseNumber(v, "a number", &value));
              if (!std::isfinite(value)) return Bad(v, "a number");
              *target = value;
              return Status::Ok();
            });
}

void ConfigReader::AddSize(std::string name, uint64_t* target, std::string help) {
  AddOption(std::move(name), "SIZE", FormatSize(*target),
            std::move(help) + " Unit: bytes, or KiB, MiB, GiB, TiB.",
            [target](std::string_view v) -> Status {
              ASSIGN_OR_RETURN(*target, ParseSize(v));
              return Status::Ok();
            });
}

void ConfigReader::AddDuration(std::string name, Duration* target, Duration bare_unit,
                               std::string help) {
  AddOption(
      std::move(name), "DURATION", FormatDuration(*target),
      std::move(help) + " Unit: ms, s, m or h; a bare number is in " + UnitName(bare_unit) + ".",
      [target, bare_unit](std::string_view v) -> Status {
        ASSIGN_OR_RETURN(*target, ParseDuration(v, bare_unit));
        return Status::Ok();
      });
}

void ConfigReader::AddChoice(std::string name, std::string* target,
                             std::vector<std::string> choices, std::string help) {
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  AddOption(std::move(name), "WORD", *target, std::move(help) + " One of: " + list + ".",
            [target, list, choices = std::move(choices)](std::string_view v) {
              if (std::find(choices.begin(), choices.end(), v) == choices.end())
                return Bad(v, "one of " + list);
              *target = std::string(v);
              return Status::Ok();
            });
}

void ConfigReader::AddAlias(std::string alias, const std::string& name) {
  MC_CHECK(Find(alias) == nullptr && Find(name) != nullptr) << alias << " for " << name;
  aliases_.emplace_back(std::move(alias), name);
}

void ConfigReader::AddIgnored(std::string name, std::string why) {
  AddOption(std::move(name), "TEXT", "", std::move(why), nullptr);
}

ConfigReader::Option* ConfigReader::Find(std::string_view name) {
  return const_cast<Option*>(std::as_const(*this).Find(name));
}

const ConfigReader::Option* ConfigReader::Find(std::string_view name) const {
  for (const auto& [alias, real] : aliases_) {
    if (alias == name) name = real;
  }
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Option& o) { return o.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

bool ConfigReader::IsSet(std::string_view name) const {
  const Option* option = Find(name);
  return option != nullptr && option->given;
}

std::vector<ConfigValue> ConfigReader::Values() const {
  std::vector<ConfigValue> values;
  for (const Option& option : options_) {
    if (option.set == nullptr) continue;
    values.push_back(
        {option.name, option.given ? option.value : option.default_text, !option.given});
  }
  return values;
}

Status ConfigReader::Unknown(std::string_view name, const std::string& where) const {
  const Option* nearest = nullptr;
  size_t best = std::max<size_t>(2, name.size() / 3) + 1;
  for (const Option& option : options_) {
    const size_t distance = Distance(name, option.name);
    if (distance < best) {
      best = distance;
      nearest = &option;
    }
  }
  std::string message = where + ": there is no option " + Quoted(name);
  message += nearest != nullptr ? "; did you mean '" + nearest->name + "'?" : "; --help lists all";
  return Status(ErrorCode::kInvalidParams, message);
}

Result<std::vector<ConfigReader::Setting>> ConfigReader::ParseCommandLine(int argc,
                                                                          const char* const* argv,
                                                                          ConfigOutcome& outcome) {
  static const std::string kWhere = "command line";
  std::vector<Setting> settings;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "-h" || argument == "--help" || argument == "-help")
      return outcome = ConfigOutcome::kHelp, settings;
    if (argument == "--version" || argument == "-version")
      return outcome = ConfigOutcome::kVersion, settings;
    if (argument.size() < 2 || argument[0] != '-') {
      return Status(ErrorCode::kInvalidParams,
                    kWhere + ": " + Quoted(argument) + " is not an option; --help lists all");
    }
    argument.remove_prefix(argument[1] == '-' ? 2 : 1);
    const size_t equals = argument.find('=');
    const std::string name = Normalized(argument.substr(0, equals));
    const Option* option = Find(name);
    const bool negated = option == nullptr && name.starts_with("no");
    if (negated) option = Find(std::string_view(name).substr(2));
    const bool is_switch =
        option != nullptr && option->set != nullptr && option->value_name.empty();
    if (option == nullptr || (negated && !is_switch)) return Unknown(name, kWhere);
    if (equals != std::string_view::npos && !negated) {
      settings.push_back({option->name, std::string(argument.substr(equals + 1))});
    } else if (is_switch && equals == std::string_view::npos) {
      settings.push_back({option->name, negated ? "false" : "true"});
    } else if (!is_switch && i + 1 < argc) {
      settings.push_back({option->name, argv[++i]});
    } else {
      return Status(ErrorCode::kInvalidParams,
                    kWhere + ": --" + name + (negated ? " takes no value" : " needs a value"));
    }
  }
  return settings;
}

Status ConfigReader::Apply(const Setting& setting, const std::string& where) {
  Option* option = Find(Normalized(setting.name));
  if (option == nullptr) return Unknown(setting.name, where);
  option->given = true;
  option->value = setting.value;
  if (option->set == nullptr) {
    warnings_.push_back(where + ": '" + setting.name + "' has no effect: " + option->help);
    return Status::Ok();
  }
  return Annotate(option->set(setting.value), where + ": " + option->name);
}

Result<ConfigOutcome> ConfigReader::Read(int argc, const char* const* argv) {
  ConfigOutcome outcome = ConfigOutcome::kRun;
  ASSIGN_OR_RETURN(const std::vector<Setting> from_command_line,
                   ParseCommandLine(argc, argv, outcome));
  if (outcome != ConfigOutcome::kRun) return outcome;
  for (const Setting& setting : from_command_line) {
    if (setting.name == "config_path") config_path_ = setting.value;
  }
  if (!config_path_.empty()) {
    ASSIGN_OR_RETURN(const auto entries, ReadConfigFile(config_path_));
    for (const auto& [name, value] : entries) {
      if (Normalized(name) == "config_path") {
        return Status(ErrorCode::kInvalidParams,
                      config_path_ + ": a file cannot name another by config_path");
      }
      RETURN_IF_ERROR(Apply({name, value}, config_path_));
    }
  }
  for (const Setting& setting : from_command_line) RETURN_IF_ERROR(Apply(setting, "command line"));
  return outcome;
}

std::string ConfigReader::Help() const {
  std::string out = "Usage: " + program_ + " [--OPTION=VALUE ...]\n\n" + Wrapped(summary_, 0);
  const std::string* section = nullptr;
  for (const Option& option : options_) {
    if (option.set == nullptr) continue;
    if (section == nullptr || *section != option.section) {
      out += "\n" + (option.section.empty() ? "Options" : option.section) + ":\n";
      section = &option.section;
    }
    out += "  --" + option.name;
    if (!option.value_name.empty()) out += "=" + option.value_name;
    out += "  (default: " + option.default_text + ")\n";
    std::string help = option.help;
    for (const auto& [alias, name] : aliases_) {
      if (name == option.name) help += " Also: " + alias + ".";
    }
    out += Wrapped(help, kHelpIndent);
  }
  out += "  --version\n" + Wrapped("Prints the version and exits.", kHelpIndent);
  out += "  --help\n" + Wrapped("Prints this and exits.", kHelpIndent);
  std::string ignored;
  for (const Option& option : options_) {
    if (option.set == nullptr) ignored += (ignored.empty() ? "" : ", ") + option.name;
  }
  if (!ignored.empty()) out += "\n" + Wrapped("Accepted, but without effect: " + ignored + ".", 0);
  if (!epilogue_.empty()) out += "\n" + epilogue_;
  return out;
}

}  // namespace mooncake
