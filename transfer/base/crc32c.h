// CRC-32C (Castagnoli, RFC 3720 appendix B.4), computed by isa-l.
#pragma once

#include <cstdint>

#include "transfer/base/byte_span.h"

namespace mooncake {

// `crc` continues an earlier result; 0 starts. Crc32c("123456789") == 0xe3069283.
uint32_t Crc32c(ByteSpan bytes, uint32_t crc = 0);

}  // namespace mooncake
