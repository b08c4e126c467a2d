// What --json shows. Field names are a contract with scripts: add, never rename. Pure.
//
// Keys: "key" is the key itself when it is UTF-8; otherwise it is the escaped text and "key_base64" has the bytes.
// Sizes are bytes, durations and times milliseconds (times since 1970, UTC), versions decimal strings (64 bits).
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "master/api/durability_types.h"
#include "master/api/quota_types.h"
#include "master/api/types.h"
#include "transfer/base/config_value.h"
#include "transfer/base/status.h"

namespace mooncake::admin {

using Json = nlohmann::ordered_json;

// Sets object[name], and object[name + "_base64"] if the bytes are not UTF-8.
void SetText(Json& object, const std::string& name, std::string_view bytes);

Json ToJson(const Status& error);  // {code, number, message, cure}
Json ToJson(const ClusterStatus& status);
Json ToJson(const SegmentInfo& segment);
Json ToJson(const ClientInfo& client);
Json ToJson(std::string_view key, const ObjectStat& stat);
Json ToJson(const ReplicaDescriptor& replica);
Json ToJson(const ListEntry& entry);
Json ToJson(const RemoveByRegexReply& reply);
Json ToJson(const SnapshotDescriptor& snapshot);
Json ToJson(const DurabilityStatus& status);
Json ToJson(const TenantQuota& quota);
Json ToJson(const ConfigValue& value);

std::string_view NameOf(SegmentStatus status);
std::string_view NameOf(ReplicaStatus status);
std::string_view NameOf(ObjectKind kind);

// One line, never throws.
std::string Dump(const Json& value);

}  // namespace mooncake::admin
