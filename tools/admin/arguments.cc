#include "tools/admin/arguments.h"

#include "master/api/types.h"
#include "tools/admin/key_text.h"

namespace mooncake::admin {
namespace {

// No argument begins with it by accident, and if one does it gets another one.
constexpr char kMark = '\x1f';

std::string Unprotect(std::string text) {
  if (!text.empty() && text.front() == kMark) text.erase(0, 1);
  return text;
}

}  // namespace

std::string Protect(const std::string& argument) {
  if (!argument.empty() && (argument.front() == '[' || argument.front() == kMark))
    return kMark + argument;
  // --name=[…] too.
  const size_t equals = argument.find('=');
  if (argument.starts_with("--") && equals != std::string::npos && equals + 1 < argument.size() &&
      (argument[equals + 1] == '[' || argument[equals + 1] == kMark)) {
    return argument.substr(0, equals + 1) + kMark + argument.substr(equals + 1);
  }
  // --name= with nothing behind it: not with the next word.
  if (argument.starts_with("--") && equals != std::string::npos && equals + 1 == argument.size())
    return argument + kMark;
  return argument;
}

CLI::Option* AddText(CLI::App* app, const std::string& name, std::string& target,
                     const std::string& help, const std::string& value_name) {
  return app
      ->add_option_function<std::string>(
          name,
          [&target, name](const std::string& value) {
            target = Unprotect(value);
            // A script's variable that was not set must not mean "all" or "the default one".
            if (target.empty() && name.starts_with('-'))
              throw CLI::ValidationError(name, "must not be empty");
          },
          help)
      ->type_name(value_name);
}

CLI::Option* AddTexts(CLI::App* app, const std::string& name, std::vector<std::string>& target,
                      const std::string& help) {
  return app
      ->add_option_function<std::vector<std::string>>(
          name,
          [&target](const std::vector<std::string>& values) {
            target.clear();
            for (const std::string& value : values) target.push_back(Unprotect(value));
          },
          help)
      ->type_name("");
}

Result<std::string> TextFromArgument(const Session& session, const std::string& typed) {
  if (session.config().escaped) return UnescapeKey(typed);
  return typed;
}

Result<std::string> KeyFromArgument(const Session& session, const std::string& typed) {
  ASSIGN_OR_RETURN(std::string key, TextFromArgument(session, typed));
  if (key.empty() || key.size() > kMaxKeyBytes) {
    return Status(ErrorCode::kInvalidKey, "the key has " + std::to_string(key.size()) +
                                              " bytes; 1 to " + std::to_string(kMaxKeyBytes) +
                                              " are possible");
  }
  return key;
}

Result<std::vector<std::string>> KeysFromArguments(const Session& session,
                                                   const std::vector<std::string>& typed) {
  std::vector<std::string> keys;
  for (const std::string& text : typed) {
    ASSIGN_OR_RETURN(std::string key, KeyFromArgument(session, text));
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace mooncake::admin
