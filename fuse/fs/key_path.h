// Any key is exactly one path below the mount, and a path is at most one key. Pure.
//
// A key is cut at '/'. Each piece is a path component as it is, unless the kernel could not carry it or it looks
// like an escape; then it is written with the reserved prefix "%mc" (rules and examples: fuse/SEMANTICS.md):
//   %mc:TEXT   the escaped component. TEXT has NUL as %00 and '%' as %25, all else as it is.
//   %mc=TEXT   the object whose key is also the name of a directory ("a" beside "a/b").
//   %mc+TEXT   one more part of an escaped component too long for one name; a directory that holds the rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mooncake::fs {

inline constexpr size_t kMaxNameBytes = 255;

// The path components of one key component: one, or several if it is long. `beside_directory` selects %mc=.
std::vector<std::string> EncodeComponent(std::string_view component, bool beside_directory = false);

// A directory as the mount sees it. `prefix` is what every key below it starts with: "", "a/b/", or, in a part
// directory (%mc+), a prefix that ends inside a component; then `partial` is that unfinished component and
// `parts` the number of path components spent on it.
struct DirectoryPoint {
  std::string prefix;
  std::string partial;
  size_t parts = 0;
  bool is_part() const { return parts > 0; }
  friend bool operator==(const DirectoryPoint&, const DirectoryPoint&) = default;
};

enum class NameKind {
  kPlain,            // a file, or a directory if keys start with key + "/"
  kBesideDirectory,  // %mc=: the object beside a directory of the same key
  kPart,             // %mc+: always a directory
};

struct DecodedName {
  NameKind kind = NameKind::kPlain;
  std::string key;      // kPlain, kBesideDirectory; may be "" (component "" at the root)
  DirectoryPoint part;  // kPart
};

// The meaning of a name in a directory. nullopt: no key has this path (not canonical); NUL or '/' never occurs.
std::optional<DecodedName> DecodeName(const DirectoryPoint& directory, std::string_view name);

// The name under which a listing of `directory` shows a key or common prefix. `rest` is what follows
// directory.prefix, without the '/' of a common prefix. nullopt: it is not shown in this directory.
struct ListedName {
  std::string name;
  bool is_part = false;  // a %mc+ directory stands for it and for its neighbours
};
std::optional<ListedName> NameInDirectory(const DirectoryPoint& directory, std::string_view rest,
                                          bool beside_directory = false);

DirectoryPoint RootPoint();
// The directory of all keys that start with `key` + "/".
DirectoryPoint PointOfDirectory(std::string_view key);

// Whole paths, without a leading '/': for messages and tests.
std::string KeyToPath(std::string_view key, bool beside_directory = false);
std::optional<DecodedName> PathToKey(std::string_view path);

}  // namespace mooncake::fs
