// Bytes of one record of the log or of a snapshot. FORMAT.md has the format; tests/unit/master/core/record_codec_test.cc its golden bytes.
#pragma once

#include <string>
#include <string_view>

#include "master/core/persist/record.h"
#include "transfer/base/result.h"

namespace mooncake::core {

// Version, kind, fields, CRC-32C of all before it.
std::string EncodeRecord(const Record& record);

// kPersistentFail when the bytes are damaged or of a version that is not known. Whether the record makes sense is the restorer's
// to say.
Result<Record> DecodeRecord(std::string_view bytes);

}  // namespace mooncake::core
