// Tables for terminals. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mooncake::admin {

struct Column {
  std::string title;
  bool right = false;  // numbers
  // May be cut, with an ellipsis, when the table does not fit; at least this many columns stay. 0 = never cut.
  size_t least = 0;
  // Left out, the last one first, when cutting is not enough.
  bool optional = false;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // As many cells as columns; printable text (escape names first).
  void Add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // `width` 0: as wide as it gets. Lines end with a newline and have no trailing blanks.
  std::string Render(size_t width = 0) const;

 private:
  std::vector<size_t> Widths(size_t width) const;  // 0: left out

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Terminal columns of UTF-8 text: code points without combining marks count one, East Asian wide ones two.
size_t DisplayWidth(std::string_view text);
// At most `width` columns; what is cut becomes an ellipsis.
std::string Cut(std::string_view text, size_t width);

}  // namespace mooncake::admin
