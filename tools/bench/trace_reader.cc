#include "tools/bench/trace_reader.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include <absl/container/flat_hash_map.h>
#include <nlohmann/json.hpp>

namespace mooncake::bench {
namespace {

constexpr size_t kMaxLineBytes = size_t{16} << 20;
constexpr size_t kMaxUses = UINT32_MAX;

struct CloseFile {
  void operator()(gzFile file) const { gzclose(file); }
};
using File = std::unique_ptr<gzFile_s, CloseFile>;

Status Bad(const std::string& path, size_t line, const std::string& what) {
  return {ErrorCode::kInvalidParams, path + ":" + std::to_string(line) + ": " + what};
}

// Lines of a file; zlib reads what is not compressed as it is.
class Lines {
 public:
  static Result<Lines> Open(const std::string& path) {
    File file(gzopen(path.c_str(), "rb"));
    if (file == nullptr)
      return Status(ErrorCode::kInvalidParams, path + ": " + std::strerror(errno));
    gzbuffer(file.get(), 1 << 18);
    return Lines(path, std::move(file));
  }

  // Without its newline; nullopt at the end.
  Result<std::optional<std::string_view>> Next() {
    line_.clear();
    ++number_;
    while (line_.empty() || line_.back() != '\n') {
      if (gzgets(file_.get(), buffer_.data(), static_cast<int>(buffer_.size())) == nullptr) {
        RETURN_IF_ERROR(Failure());
        if (line_.empty()) return std::optional<std::string_view>();
        return std::optional<std::string_view>(line_);
      }
      line_ += buffer_.data();
      if (line_.size() > kMaxLineBytes)
        return Bad(path_, number_, "longer than " + std::to_string(kMaxLineBytes) + " bytes");
    }
    line_.pop_back();
    return std::optional<std::string_view>(line_);
  }
  size_t number() const { return number_; }

 private:
  Lines(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}

  // At the end, a stream that was cut or damaged still has to be told from a whole one.
  Status Failure() const {
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    if (code == Z_OK || code == Z_STREAM_END) return Status::Ok();
    return {ErrorCode::kInvalidRead,
            path_ + ":" + std::to_string(number_) + ": cannot be read on: " + text};
  }

  std::string path_;
  File file_;
  std::string line_;
  std::array<char, 1 << 16> buffer_{};
  size_t number_ = 0;
};

// The blocks of a line, or what is wrong with it.
Result<std::vector<uint64_t>> ChainOf(std::string_view line) {
  const auto wrong = [](const std::string& what) {
    return Status(ErrorCode::kInvalidParams, what);
  };
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return wrong("not JSON");
  if (!json.is_object()) return wrong("not a JSON object");
  const auto ids = json.find("hash_ids");
  if (ids == json.end()) return wrong("has no \"hash_ids\"");
  if (!ids->is_array()) return wrong("\"hash_ids\" is not an array");
  std::vector<uint64_t> chain;
  chain.reserve(ids->size());
  for (const auto& id : *ids) {
    if (!id.is_number_unsigned())
      return wrong("\"hash_ids\" has " + id.dump() + ", which is not a whole number from 0");
    chain.push_back(id.get<uint64_t>());
  }
  return chain;
}

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

void Trace::Add(const std::vector<uint32_t>& chain) {
  for (const uint32_t block : chain) blocks = std::max(blocks, block + 1);
  uses.insert(uses.end(), chain.begin(), chain.end());
  chain_ends.push_back(uses.size());
}

Result<Trace> ReadTrace(const std::string& path) {
  ASSIGN_OR_RETURN(Lines lines, Lines::Open(path));
  Trace trace;
  absl::flat_hash_map<uint64_t, uint32_t> numbers;
  while (true) {
    ASSIGN_OR_RETURN(const auto line, lines.Next());
    if (!line.has_value()) break;
    if (IsBlank(*line)) continue;
    const auto ids = ChainOf(*line);
    if (!ids.ok()) return Bad(path, lines.number(), std::string(ids.status().message()));
    if (ids->size() > kMaxUses - trace.uses.size())
      return Bad(path, lines.number(), "too many blocks in all");
    std::vector<uint32_t> chain;
    chain.reserve(ids->size());
    for (const uint64_t id : *ids) {
      const auto number = static_cast<uint32_t>(numbers.size());
      chain.push_back(numbers.try_emplace(id, number).first->second);
    }
    trace.Add(chain);
  }
  if (trace.uses.empty())
    return Status(ErrorCode::kInvalidParams, path + ": no request with blocks in it");
  return trace;
}

}  // namespace mooncake::bench
