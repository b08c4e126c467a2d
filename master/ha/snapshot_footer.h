// Bytes of a snapshot's footer: FORMAT.md.
#pragma once

#include <string>
#include <string_view>

#include "master/ha/state_store.h"

namespace mooncake {

std::string EncodeFooter(const SnapshotFooter& footer);
// kPersistentFail when the bytes are damaged.
Result<SnapshotFooter> DecodeFooter(std::string_view bytes);

}  // namespace mooncake
