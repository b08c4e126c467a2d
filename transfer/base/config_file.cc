// Reads the configuration file of a program. See config_reader.h.
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include "transfer/base/config_reader.h"

namespace mooncake {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

constexpr size_t kMaxFileBytes = size_t{1} << 20;

Result<std::string> ReadAll(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return Status(ErrorCode::kInvalidParams, "cannot read " + path + ": " + std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) return Status(ErrorCode::kInvalidParams, path + " is not a file");
  if (static_cast<uint64_t>(info.st_size) > kMaxFileBytes) {
    return Status(ErrorCode::kInvalidParams,
                  path + " is larger than 1 MiB: not a configuration file");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.good() && !file.eof()) {
    return Status(ErrorCode::kInvalidParams, "cannot read " + path + ": " + std::strerror(errno));
  }
  return text;
}

Status Nested(const std::string& path, const std::string& key) {
  return Status(ErrorCode::kInvalidParams,
                path + ": '" + key + "' must be a number, a word or true/false");
}

Result<Entries> ParseJson(const std::string& path, const std::string& text) {
  Entries entries;
  try {
    // Comments are allowed: the samples that people copy have them.
    const auto root = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/true,
                                                    /*ignore_comments=*/true);
    if (!root.is_object())
      return Status(ErrorCode::kInvalidParams, path + ": the file must hold one JSON object");
    for (const auto& [key, value] : root.items()) {
      if (!value.is_primitive() || value.is_null()) return Nested(path, key);
      entries.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  } catch (const nlohmann::json::exception& e) {
    return Status(ErrorCode::kInvalidParams, path + ": " + e.what());
  }
  return entries;
}

Result<Entries> ParseYaml(const std::string& path, const std::string& text) {
  Entries entries;
  try {
    const YAML::Node root = YAML::Load(text);
    if (root.IsNull()) return entries;  // an empty file, or comments only
    if (!root.IsMap())
      return Status(ErrorCode::kInvalidParams,
                    path + ": the file must hold one map of names to values");
    for (const auto& entry : root) {
      const auto key = entry.first.as<std::string>();
      if (!entry.second.IsScalar()) return Nested(path, key);
      entries.emplace_back(key, entry.second.as<std::string>());
    }
  } catch (const YAML::Exception& e) {
    return Status(ErrorCode::kInvalidParams, path + ": " + e.what());
  }
  return entries;
}

}  // namespace

Result<Entries> ReadConfigFile(const std::string& path) {
  const auto ends_with = [&](std::string_view suffix) { return path.ends_with(suffix); };
  const bool json = ends_with(".json");
  if (!json && !ends_with(".yaml") && !ends_with(".yml")) {
    return Status(ErrorCode::kInvalidParams, path + ": the name must end in .json, .yaml or .yml");
  }
  ASSIGN_OR_RETURN(const std::string text, ReadAll(path));
  return json ? ParseJson(path, text) : ParseYaml(path, text);
}

}  // namespace mooncake
