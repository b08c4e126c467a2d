// Records of the log and of snapshots as JSON. Field names are a contract with scripts: add, never rename. Pure.
//
// Keys and names as mooncake-admin's --json shows them: "key" is the key itself when it is UTF-8; otherwise it is the escaped text
// and "key_base64" has the bytes. Versions are decimal strings (64 bits), times are milliseconds since 1970.
#pragma once

#include "master/core/persist/record.h"
#include "master/ha/state_store.h"
#include "tools/admin/json_view.h"

namespace mooncake::inspect {

using admin::Json;

// Adds "record" (its kind) and the fields of that kind.
void SetRecord(Json& object, const core::Record& record);

// "id", "usable", "trouble" when it is not, and what its footer says.
void SetSnapshot(Json& object, const SnapshotInfo& info);

}  // namespace mooncake::inspect
