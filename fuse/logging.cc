#include "fuse/logging.h"

#include <fcntl.h>
#include <syslog.h>
#include <unistd.h>

#include <cstring>

#include <glog/logging.h>

namespace mooncake::fs {
namespace {

constexpr char kProgram[] = "mount.mooncake";

int PriorityOf(google::LogSeverity severity) {
  switch (severity) {
    case google::GLOG_INFO:
      return LOG_INFO;
    case google::GLOG_WARNING:
      return LOG_WARNING;
    case google::GLOG_ERROR:
      return LOG_ERR;
    default:
      return LOG_CRIT;
  }
}

}  // namespace

// glog's own files are named and rotated its way; a mount's log is one file that logrotate(8) knows.
class Logging::Sink final : public google::LogSink {
 public:
  explicit Sink(int fd) : fd_(fd) {
    if (fd_ < 0) openlog(kProgram, LOG_PID, LOG_DAEMON);
    google::AddLogSink(this);
  }
  ~Sink() override {
    google::RemoveLogSink(this);
    if (fd_ >= 0) close(fd_);
  }
  void send(google::LogSeverity severity, const char*, const char* base_filename, int line,
            const google::LogMessageTime& time, const char* message, size_t length) override {
    if (fd_ < 0) {
      syslog(PriorityOf(severity), "%.*s", static_cast<int>(length), message);
      return;
    }
    const std::string text = ToString(severity, base_filename, line, time, message, length) + "\n";
    const ssize_t written = write(fd_, text.data(), text.size());
    (void)written;  // a full disk must not stop the mount
  }

 private:
  const int fd_;
};

Logging::Logging(bool foreground, const std::string& file) {
  google::InitGoogleLogging(kProgram);
  // Nothing goes to glog's default files in /tmp.
  for (int severity = 0; severity < google::NUM_SEVERITIES; ++severity)
    google::SetLogDestination(severity, "");
  FLAGS_logtostderr = foreground && file.empty();
  FLAGS_stderrthreshold = foreground ? google::GLOG_INFO : google::NUM_SEVERITIES;
  if (foreground && file.empty()) return;
  int fd = -1;
  if (!file.empty()) {
    fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) {
      status_ = Status(ErrorCode::kInvalidParams, "log_file " + file + ": " + std::strerror(errno));
      return;
    }
  }
  sink_ = std::make_unique<Sink>(fd);
}

Logging::~Logging() {
  sink_.reset();
  google::ShutdownGoogleLogging();
}

}  // namespace mooncake::fs
