#include "fuse/fs/key_path.h"

namespace mooncake::fs {
namespace {

constexpr std::string_view kReserved = "%mc";
constexpr size_t kTagBytes = 4;  // "%mc" and one of ':', '=', '+'
constexpr size_t kTextBytes = kMaxNameBytes - kTagBytes;
constexpr size_t kLongestUnit = 3;  // "%25"

bool NeedsEscape(std::string_view component) {
  return component.empty() || component == "." || component == ".." ||
         component.size() > kMaxNameBytes || component.starts_with(kReserved) ||
         component.find('\0') != std::string_view::npos;
}

std::string EscapeByte(char c) {
  if (c == '\0') return "%00";
  if (c == '%') return "%25";
  return std::string(1, c);
}

// nullopt unless the text is what EscapeByte makes of some bytes.
std::optional<std::string> Unescape(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    if (text.front() != '%') {
      bytes += text.front();
      text.remove_prefix(1);
      continue;
    }
    const std::string_view unit = text.substr(0, kLongestUnit);
    if (unit != "%00" && unit != "%25") return std::nullopt;
    bytes += unit == "%00" ? '\0' : '%';
    text.remove_prefix(kLongestUnit);
  }
  return bytes;
}

// The unfinished last component of a prefix; "" after '/'.
std::string_view AfterLastSlash(std::string_view key) {
  const size_t slash = key.rfind('/');
  return slash == std::string_view::npos ? key : key.substr(slash + 1);
}

}  // namespace

std::vector<std::string> EncodeComponent(std::string_view component, bool beside_directory) {
  if (!beside_directory && !NeedsEscape(component)) return {std::string(component)};
  std::vector<std::string> texts(1);
  for (const char c : component) {
    const std::string unit = EscapeByte(c);
    if (texts.back().size() + unit.size() > kTextBytes) texts.emplace_back();
    texts.back() += unit;
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    const char tag = i + 1 < texts.size() ? '+' : beside_directory ? '=' : ':';
    texts[i].insert(0, std::string(kReserved) + tag);
  }
  return texts;
}

std::optional<DecodedName> DecodeName(const DirectoryPoint& directory, std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes || name.find('\0') != std::string_view::npos)
    return std::nullopt;
  DecodedName decoded;
  if (!name.starts_with(kReserved)) {
    if (directory.is_part() || NeedsEscape(name)) return std::nullopt;
    decoded.key = directory.prefix + std::string(name);
    return decoded;
  }
  if (name.size() < kTagBytes) return std::nullopt;
  const char tag = name[kReserved.size()];
  const auto bytes = Unescape(name.substr(kTagBytes));
  if (!bytes) return std::nullopt;
  if (tag == '+') {
    // Whether this part is cut where it has to be shows only with the byte that follows; the next part checks it.
    if (name.size() + kLongestUnit <= kMaxNameBytes) return std::nullopt;
    const auto forced = EncodeComponent(directory.partial + *bytes, true);
    if (forced.size() != directory.parts + 1 ||
        forced.back().substr(kTagBytes) != name.substr(kTagBytes)) {
      return std::nullopt;
    }
    decoded.kind = NameKind::kPart;
    decoded.part = {directory.prefix + *bytes, directory.partial + *bytes, directory.parts + 1};
    return decoded;
  }
  if (tag != ':' && tag != '=') return std::nullopt;
  decoded.kind = tag == '=' ? NameKind::kBesideDirectory : NameKind::kPlain;
  const auto canonical = EncodeComponent(directory.partial + *bytes, tag == '=');
  if (canonical.size() != directory.parts + 1 || canonical.back() != name) return std::nullopt;
  decoded.key = directory.prefix + *bytes;
  return decoded;
}

std::optional<ListedName> NameInDirectory(const DirectoryPoint& directory, std::string_view rest,
                                          bool beside_directory) {
  const std::string component = directory.partial + std::string(rest);
  auto parts = EncodeComponent(component, beside_directory);
  if (parts.size() <= directory.parts) return std::nullopt;
  if (directory.is_part()) {
    // A component that shares the first bytes but was cut elsewhere lives under other part directories.
    size_t spent = 0;
    for (size_t i = 0; i < directory.parts; ++i) {
      const auto bytes = Unescape(std::string_view(parts[i]).substr(kTagBytes));
      if (!bytes) return std::nullopt;
      spent += bytes->size();
    }
    if (spent != directory.partial.size()) return std::nullopt;
  }
  return ListedName{std::move(parts[directory.parts]), directory.parts + 1 < parts.size()};
}

DirectoryPoint RootPoint() { return {}; }

DirectoryPoint PointOfDirectory(std::string_view key) {
  return DirectoryPoint{.prefix = std::string(key) + "/"};
}

std::string KeyToPath(std::string_view key, bool beside_directory) {
  std::string path;
  const auto append = [&path](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (!path.empty()) path += '/';
      path += name;
    }
  };
  const std::string_view last = AfterLastSlash(key);
  std::string_view directories = key.substr(0, key.size() - last.size());
  while (!directories.empty()) {
    const size_t slash = directories.find('/');
    append(EncodeComponent(directories.substr(0, slash)));
    directories.remove_prefix(slash + 1);
  }
  append(EncodeComponent(last, beside_directory));
  return path;
}

std::optional<DecodedName> PathToKey(std::string_view path) {
  DirectoryPoint directory = RootPoint();
  for (;;) {
    const size_t slash = path.find('/');
    auto decoded = DecodeName(directory, path.substr(0, slash));
    if (!decoded || slash == std::string_view::npos) return decoded;
    if (decoded->kind == NameKind::kBesideDirectory)
      return std::nullopt;  // an object, not a directory
    directory = decoded->kind == NameKind::kPart ? decoded->part : PointOfDirectory(decoded->key);
    path.remove_prefix(slash + 1);
  }
}

}  // namespace mooncake::fs
