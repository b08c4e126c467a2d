#include "tools/admin/completion.h"

#include <algorithm>

namespace mooncake::admin {
namespace {

bool AllOf(const std::string& word, const char* characters) {
  return !word.empty() && word.find_first_not_of(characters) == std::string::npos;
}

// Takes back the cuts of bash: "--master" "=" "a" ":" "1" is one word.
std::vector<std::string> Joined(const std::vector<std::string>& words) {
  std::vector<std::string> joined;
  bool glue = false;
  for (const std::string& word : words) {
    const bool cut = AllOf(word, "=:");
    if ((cut || glue) && !joined.empty()) {
      joined.back() += word;
    } else {
      joined.push_back(word);
    }
    glue = cut;
  }
  return joined;
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// A validator of members is shown as "{a,b}" behind the name of the type.
std::vector<std::string> ValuesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type == kFileWanted || option.get_name(true) == kFileWanted) return {kFileWanted};
  const size_t open = type.find('{');
  const size_t close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

// A line as far as it is read.
class Reader {
 public:
  explicit Reader(const CLI::App& app) : command_(&app) {}

  void Read(const std::string& word) {
    if (wants_value_ != nullptr) {
      wants_value_ = nullptr;
    } else if (word == "--" && !only_arguments_) {
      only_arguments_ = true;
    } else if (IsOption(word)) {
      ReadOption(word);
    } else if (const CLI::App* next = only_arguments_ ? nullptr : Subcommand(word)) {
      command_ = next;
    } else {
      ++arguments_;
    }
  }

  std::vector<Candidate> Candidates(const std::string& begun) const {
    std::vector<Candidate> found;
    const size_t equals = begun.find('=');
    if (wants_value_ != nullptr) {
      AddValues(*wants_value_, begun, found);
    } else if (IsOption(begun) && equals != std::string::npos) {
      const CLI::Option* option = Find(begun.substr(0, equals));
      if (option != nullptr) AddValues(*option, begun.substr(equals + 1), found);
    } else if (!only_arguments_ && begun.starts_with('-')) {
      AddOptions(begun, found);
    } else {
      AddCommands(begun, found);
      if (const CLI::Option* argument = Argument()) AddValues(*argument, begun, found);
    }
    return found;
  }

 private:
  bool IsOption(const std::string& word) const {
    return !only_arguments_ && word.size() > 1 && word.front() == '-';
  }
  // "--name", "--name=value", "-n", or "-abn", of which only the last may take a value.
  void ReadOption(const std::string& word) {
    if (word.find('=') != std::string::npos) return;
    const CLI::Option* option = Find(word.starts_with("--") ? word : std::string{'-', word.back()});
    if (option != nullptr && TakesValue(*option)) wants_value_ = option;
  }

  // Options of a command may be followed by those of the commands above it.
  std::vector<const CLI::Option*> Options() const {
    std::vector<const CLI::Option*> options;
    for (const CLI::App* app = command_; app != nullptr; app = app->get_parent()) {
      for (const CLI::Option* option : app->get_options()) {
        if (!option->get_positional() && !option->get_group().empty()) options.push_back(option);
      }
    }
    return options;
  }
  const CLI::Option* Find(const std::string& name) const {
    for (const CLI::Option* option : Options()) {
      if (option->check_name(name)) return option;
    }
    return nullptr;
  }
  std::vector<const CLI::App*> Subcommands() const {
    return command_->get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); });
  }
  const CLI::App* Subcommand(const std::string& name) const {
    for (const CLI::App* app : Subcommands()) {
      if (app->check_name(name)) return app;
    }
    return nullptr;
  }
  // The positional argument at the cursor. The last one may be a list.
  const CLI::Option* Argument() const {
    size_t left = arguments_;
    for (const CLI::Option* option : command_->get_options()) {
      if (option->get_positional() && (left-- == 0 || option->get_items_expected_max() > 1))
        return option;
    }
    return nullptr;
  }

  void AddValues(const CLI::Option& option, const std::string& begun,
                 std::vector<Candidate>& found) const {
    for (const std::string& value : ValuesOf(option)) {
      if (value.starts_with(begun) || value == kFileWanted) found.push_back({value, ""});
    }
  }
  void AddOptions(const std::string& begun, std::vector<Candidate>& found) const {
    for (const CLI::Option* option : Options()) {
      for (const std::string& name : option->get_snames()) Add("-" + name, *option, begun, found);
      for (const std::string& name : option->get_lnames()) Add("--" + name, *option, begun, found);
    }
  }
  static void Add(const std::string& name, const CLI::Option& option, const std::string& begun,
                  std::vector<Candidate>& found) {
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const Candidate& other) { return other.word == name; });
    if (!known && name.starts_with(begun)) found.push_back({name, option.get_description()});
  }
  void AddCommands(const std::string& begun, std::vector<Candidate>& found) const {
    if (only_arguments_) return;
    for (const CLI::App* app : Subcommands()) {
      if (app->get_name().starts_with(begun))
        found.push_back({app->get_name(), app->get_description()});
    }
  }

  const CLI::App* command_;
  const CLI::Option* wants_value_ = nullptr;
  size_t arguments_ = 0;
  bool only_arguments_ = false;
};

}  // namespace

std::vector<Candidate> Complete(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> line = Joined(words);
  if (line.empty()) return {};
  const std::string begun = std::move(line.back());
  line.pop_back();
  Reader reader(app);
  for (const std::string& word : line) reader.Read(word);
  return reader.Candidates(begun);
}

}  // namespace mooncake::admin
