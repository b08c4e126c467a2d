// What arguments must look like; each refusal names the operand and the limit.
#pragma once

#include <string>
#include <string_view>

#include "master/api/types.h"
#include "master/core/walks.h"
#include "transfer/base/result.h"

namespace mooncake::core {

// An empty tenant means the default one.
std::string_view TenantOf(const std::string& tenant);
// For messages: the key, shortened, unprintable bytes as \xNN.
std::string Quote(std::string_view key);

Status CheckTenant(const std::string& tenant);
Status CheckName(const ObjectName& name);
Status CheckPutStart(const PutStartArgs& args, Duration max_soft_pin_ttl);
Status CheckSetPin(const SetPinArgs& args, Duration max_soft_pin_ttl);
Status CheckAttributes(const ObjectAttributes& attributes);
Status CheckList(const ListArgs& args);
// More than kMaxBatch of something in one request.
Status CheckBatch(const char* what, size_t count);
Status CheckSegment(const ClientId& client, const SegmentDescriptor& segment);

// A pattern that runs in linear time and bounded memory. A "." is any byte: keys need not be UTF-8.
Result<Pattern> Compile(const std::string& pattern);
bool Matches(const Pattern& pattern, std::string_view key);

}  // namespace mooncake::core
