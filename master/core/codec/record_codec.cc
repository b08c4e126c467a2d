#include "master/core/codec/record_codec.h"

#include <type_traits>
#include <utility>

#include "transfer/base/byte_span.h"
#include "transfer/base/crc32c.h"

namespace mooncake::core {
namespace {

constexpr uint8_t kFormatVersion = 1;
constexpr size_t kCrcBytes = 4;

enum class Kind : uint8_t {
  kVersion = 1,
  kNameGone = 2,
  kPrefixRenamed = 3,
  kSegment = 4,
  kSegmentGone = 5,
};
constexpr Kind KindOf(const VersionRecord&) { return Kind::kVersion; }
constexpr Kind KindOf(const NameGoneRecord&) { return Kind::kNameGone; }
constexpr Kind KindOf(const PrefixRenamedRecord&) { return Kind::kPrefixRenamed; }
constexpr Kind KindOf(const SegmentRecord&) { return Kind::kSegment; }
constexpr Kind KindOf(const SegmentGoneRecord&) { return Kind::kSegmentGone; }

// Both ends visit the fields of a record through one function for each type (Fields), so that they cannot differ.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  template <typename Int, std::enable_if_t<std::is_integral_v<Int>, int> = 0>
  void operator()(const Int& value) {
    auto bits = static_cast<std::make_unsigned_t<Int>>(value);
    for (size_t i = 0; i < sizeof(Int); ++i) {
      out_ += static_cast<char>(bits & 0xff);
      bits = static_cast<decltype(bits)>(uint64_t{bits} >> 8);
    }
  }
  void operator()(const bool& value) { out_ += value ? '\1' : '\0'; }
  void operator()(const std::string& text) {
    (*this)(static_cast<uint32_t>(text.size()));
    out_ += text;
  }
  template <typename T>
  void operator()(const std::vector<T>& list) {
    (*this)(static_cast<uint32_t>(list.size()));
    for (const T& item : list) Fields(item, *this);
  }
  template <typename T>
  void operator()(const std::optional<T>& value) {
    (*this)(value.has_value());
    if (value.has_value()) Fields(*value, *this);
  }
  template <typename Tag, typename Rep>
  void operator()(const StrongId<Tag, Rep>& id) {
    (*this)(id.value);
  }
  template <typename Tag>
  void operator()(const Uuid<Tag>& id) {
    (*this)(id.high);
    (*this)(id.low);
  }

 private:
  std::string& out_;
};

// After the first field that does not fit everything else stays as it is.
class Reader {
 public:
  explicit Reader(std::string_view in) : in_(in) {}
  bool done() const { return ok_ && in_.empty(); }

  template <typename Int, std::enable_if_t<std::is_integral_v<Int>, int> = 0>
  void operator()(Int& value) {
    const std::string_view bytes = Take(sizeof(Int));
    uint64_t bits = 0;
    for (size_t i = bytes.size(); i > 0; --i)
      bits = bits << 8 | static_cast<unsigned char>(bytes[i - 1]);
    value = static_cast<Int>(bits);
  }
  void operator()(bool& value) {
    uint8_t byte = 0;
    (*this)(byte);
    ok_ = ok_ && byte <= 1;
    value = byte == 1;
  }
  void operator()(std::string& text) {
    uint32_t size = 0;
    (*this)(size);
    text = Take(size);
  }
  template <typename T>
  void operator()(std::vector<T>& list) {
    uint32_t size = 0;
    (*this)(size);
    // An element has a byte at least: nothing is allocated for what is only claimed.
    for (; ok_ && size > 0; --size) Fields(list.emplace_back(), *this);
  }
  template <typename T>
  void operator()(std::optional<T>& value) {
    bool there = false;
    (*this)(there);
    if (there) Fields(value.emplace(), *this);
  }
  template <typename Tag, typename Rep>
  void operator()(StrongId<Tag, Rep>& id) {
    (*this)(id.value);
  }
  template <typename Tag>
  void operator()(Uuid<Tag>& id) {
    (*this)(id.high);
    (*this)(id.low);
  }

 private:
  std::string_view Take(size_t bytes) {
    if (!ok_ || bytes > in_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = in_.substr(0, bytes);
    in_.remove_prefix(bytes);
    return taken;
  }

  std::string_view in_;
  bool ok_ = true;
};

// A value or a const one.
template <typename T, typename Of>
constexpr bool kIs = std::is_same_v<std::remove_const_t<T>, Of>;

template <typename T, typename F>
void Fields(T& value, F& field) {
  if constexpr (kIs<T, PlacedExtent>) {
    field(value.segment), field(value.offset), field(value.length), field(value.replica);
  } else if constexpr (kIs<T, ObjectAttributes>) {
    auto kind = static_cast<uint8_t>(value.kind);
    field(kind);
    if constexpr (!std::is_const_v<T>) value.kind = static_cast<ObjectKind>(kind);
    field(value.mode), field(value.uid), field(value.gid), field(value.mtime_ns);
  } else if constexpr (kIs<T, VersionRecord>) {
    field(value.tenant), field(value.key), field(value.put_id), field(value.size);
    field(value.created_ms), field(value.extents), field(value.replicas_wanted);
    field(value.hard_pin), field(value.group), field(value.attributes);
  } else if constexpr (kIs<T, NameGoneRecord>) {
    field(value.tenant), field(value.key), field(value.put_id);
  } else if constexpr (kIs<T, PrefixRenamedRecord>) {
    field(value.tenant), field(value.from), field(value.to);
  } else if constexpr (kIs<T, SegmentRecord>) {
    auto& segment = value.descriptor;
    field(segment.id), field(segment.name), field(segment.size), field(segment.epoch);
    field(segment.owner), field(segment.host_id), field(segment.protocol);
    field(segment.endpoint), field(segment.local_socket);
  } else {
    static_assert(kIs<T, SegmentGoneRecord>);
    field(value.id);
  }
}

Status Damaged(const char* what) {
  return {ErrorCode::kPersistentFail, std::string("a record is damaged: ") + what};
}

template <typename T>
Result<Record> Decode(std::string_view fields) {
  T record;
  Reader reader(fields);
  Fields(record, reader);
  if (!reader.done()) return Damaged("its length does not fit its fields");
  return Record(std::move(record));
}

uint32_t CrcOf(std::string_view bytes) { return Crc32c(AsBytes(bytes)); }

}  // namespace

std::string EncodeRecord(const Record& record) {
  std::string bytes;
  Writer writer(bytes);
  writer(kFormatVersion);
  std::visit(
      [&](const auto& value) {
        writer(static_cast<uint8_t>(KindOf(value)));
        Fields(value, writer);
      },
      record);
  writer(CrcOf(bytes));
  return bytes;
}

Result<Record> DecodeRecord(std::string_view bytes) {
  if (bytes.size() < 2 + kCrcBytes) return Damaged("it is too short");
  const std::string_view body = bytes.substr(0, bytes.size() - kCrcBytes);
  uint32_t crc = 0;
  Reader(bytes.substr(body.size()))(crc);
  if (crc != CrcOf(body)) return Damaged("its checksum is wrong");
  if (body[0] != kFormatVersion) {
    return {ErrorCode::kPersistentFail, "a record has format " + std::to_string(body[0]) +
                                            ", this program knows format " +
                                            std::to_string(kFormatVersion)};
  }
  const std::string_view fields = body.substr(2);
  switch (static_cast<Kind>(body[1])) {
    case Kind::kVersion:
      return Decode<VersionRecord>(fields);
    case Kind::kNameGone:
      return Decode<NameGoneRecord>(fields);
    case Kind::kPrefixRenamed:
      return Decode<PrefixRenamedRecord>(fields);
    case Kind::kSegment:
      return Decode<SegmentRecord>(fields);
    case Kind::kSegmentGone:
      return Decode<SegmentGoneRecord>(fields);
  }
  return Damaged("its kind is not known");
}

}  // namespace mooncake::core
