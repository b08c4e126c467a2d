// Where this process logs: stderr in the foreground, else a file, else the system log.
#pragma once

#include <memory>
#include <string>

#include "transfer/base/result.h"

namespace mooncake::fs {

// One per process. From construction to destruction everything logged goes there.
class Logging {
 public:
  Logging(bool foreground, const std::string& file);
  ~Logging();
  Logging(const Logging&) = delete;
  Logging& operator=(const Logging&) = delete;

  // Not OK if the file cannot be written: names it.
  const Status& status() const { return status_; }

 private:
  class Sink;
  std::unique_ptr<Sink> sink_;
  Status status_;
};

}  // namespace mooncake::fs
