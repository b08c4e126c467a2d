// Transport to a node of this very process: memcpy through the same gate as every other access.
#pragma once

#include <memory>

#include "transfer/base/clock.h"
#include "transfer/transport/in_process_directory.h"
#include "transfer/transport/transport.h"

namespace mooncake {

// `clock` must outlive the transport and its connections. Name "memcpy".
std::unique_ptr<Transport> MakeMemcpyTransport(std::shared_ptr<const InProcessDirectory> directory,
                                               const Clock& clock);

}  // namespace mooncake
