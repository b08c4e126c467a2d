#include "tools/admin/table.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "transfer/base/check.h"

namespace mooncake::admin {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::string_view kEllipsis = "\u2026";

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 1;
};

// The text was escaped before, so it is valid UTF-8; anything else counts byte by byte.
CodePoint First(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  if (bytes == 1 || text.size() < bytes) return {first, 1};
  char32_t value = first & (0xff >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i)
    value = value << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  return {value, bytes};
}

size_t WidthOf(char32_t c) {
  if ((c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f) || (c >= 0xfe00 && c <= 0xfe0f))
    return 0;
  const bool wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
                    (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
                    (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
                    (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
  return wide ? 2 : 1;
}

void AppendLine(std::string& out, const std::vector<Column>& columns,
                const std::vector<size_t>& widths, const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] == 0) continue;
    if (i > 0) line += kGap;
    const std::string cell = Cut(cells[i], widths[i]);
    const std::string blanks(widths[i] - DisplayWidth(cell), ' ');
    line += columns[i].right ? blanks + cell : cell + blanks;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = First(text);
    width += WidthOf(point.value);
    text.remove_prefix(point.bytes);
  }
  return width;
}

std::string Cut(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::string out;
  size_t used = 1;  // of the ellipsis
  while (!text.empty()) {
    const CodePoint point = First(text);
    used += WidthOf(point.value);
    if (used > width) break;
    out += text.substr(0, point.bytes);
    text.remove_prefix(point.bytes);
  }
  out += kEllipsis;
  return out;
}

void Table::Add(std::vector<std::string> cells) {
  MC_CHECK(cells.size() == columns_.size())
      << cells.size() << " cells, " << columns_.size() << " columns";
  rows_.push_back(std::move(cells));
}

std::vector<size_t> Table::Widths(size_t width) const {
  std::vector<size_t> widths;
  size_t total = kGap.size() * (columns_.size() - 1);
  size_t least = total;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t widest = DisplayWidth(columns_[i].title);
    for (const auto& row : rows_) widest = std::max(widest, DisplayWidth(row[i]));
    widths.push_back(widest);
    total += widest;
    least += columns_[i].least > 0 ? std::min(widest, columns_[i].least) : widest;
  }
  for (size_t i = columns_.size(); width > 0 && least > width && i-- > 0;) {
    if (!columns_[i].optional) continue;
    const size_t widest = std::exchange(widths[i], 0);
    total -= kGap.size() + widest;
    least -= kGap.size() + (columns_[i].least > 0 ? std::min(widest, columns_[i].least) : widest);
  }
  // Take from the widest of those that may be cut, one at a time: equal shares without arithmetic.
  while (width > 0 && total > width) {
    size_t victim = columns_.size();
    for (size_t i = 0; i < columns_.size(); ++i) {
      const bool may = columns_[i].least > 0 && widths[i] > columns_[i].least;
      if (may && (victim == columns_.size() || widths[i] > widths[victim])) victim = i;
    }
    if (victim == columns_.size()) break;
    --widths[victim];
    --total;
  }
  return widths;
}

std::string Table::Render(size_t width) const {
  const std::vector<size_t> widths = Widths(width);
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string out;
  AppendLine(out, columns_, widths, titles);
  for (const auto& row : rows_) AppendLine(out, columns_, widths, row);
  return out;
}

}  // namespace mooncake::admin
