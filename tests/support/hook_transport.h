// Decorates a Transport: a hook runs around each batch.
#pragma once

#include <functional>
#include <memory>

#include "transfer/transport/transport.h"

namespace mooncake::testing {

using ExecuteHook = std::function<void(const std::function<void()>& execute)>;

std::unique_ptr<Transport> MakeHookTransport(std::unique_ptr<Transport> inner, ExecuteHook hook);

}  // namespace mooncake::testing
