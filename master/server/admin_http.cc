#include "master/server/admin_http.h"

#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <civetweb.h>
#include <glog/logging.h>
#include <nlohmann/json.hpp>

#include "master/api/wire_socket.h"
#include "master/server/quota_http.h"

namespace mooncake {
namespace {

// A connection that says nothing holds a thread for this long (milliseconds), so there are more threads than anyone who looks
// after the master opens connections.
constexpr const char* kThreads = "32";
constexpr const char* kSilentFor = "2000";

struct Page {
  int status = 200;
  const char* type = "text/plain; charset=utf-8";
  std::string body;
};

const char* Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    default:
      return "Internal Server Error";
  }
}

// Names come from nodes: any bytes. JSON wants UTF-8.
std::string Dump(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

const char* StatusName(SegmentStatus status) {
  switch (status) {
    case SegmentStatus::kUndefined:
      return "UNDEFINED";
    case SegmentStatus::kOk:
      return "OK";
    case SegmentStatus::kDraining:
      return "DRAINING";
    case SegmentStatus::kDrained:
      return "DRAINED";
    case SegmentStatus::kGracefullyUnmounting:
      return "GRACEFULLY_UNMOUNTING";
    case SegmentStatus::kUnmounting:
      return "UNMOUNTING";
  }
  return "UNDEFINED";
}

std::vector<SegmentInfo> Segments(MasterService& service) {
  auto segments = service.GetSegments({}, kNever);
  return segments.ok() ? std::move(segments).value() : std::vector<SegmentInfo>();
}

Page SegmentNames(MasterService& service) {
  Page page;
  for (const SegmentInfo& segment : Segments(service)) page.body += segment.descriptor.name + "\n";
  return page;
}

Page SegmentDetail(MasterService& service) {
  auto list = nlohmann::ordered_json::array();
  for (const SegmentInfo& s : Segments(service)) {
    const uint64_t size = s.descriptor.size;
    list.push_back(
        {{"segment_name", s.descriptor.name},
         {"segment_id", s.descriptor.id.ToString()},
         {"client_id", s.descriptor.owner.ToString()},
         {"host_id", s.descriptor.host_id},
         {"size_bytes", size},
         {"size_human", FormatSize(size)},
         {"te_endpoint", s.descriptor.endpoint},
         {"protocol", s.descriptor.protocol},
         {"status", StatusName(s.status)},
         {"object_count", s.object_count},
         {"allocator_used_bytes", s.used},
         {"allocator_capacity_bytes", size},
         {"allocator_usage_percent",
          size == 0 ? 0.0 : 100.0 * static_cast<double>(s.used) / static_cast<double>(size)}});
  }
  const size_t total = list.size();
  return {200, "application/json", Dump({{"total", total}, {"segments", std::move(list)}})};
}

// With trouble of the storage the service goes on, and a restart would not help: so the code stays 200, for probes that restart
// what answers anything else, and the body tells.
Page Health(MasterService& service) {
  nlohmann::ordered_json json = {
      {"status", "ok"}, {"role", "leader"}, {"ha_state", "standalone"}, {"service_ready", true}};
  if (const auto durability = service.durability()) {
    const LogNumbers& log = durability->log;
    const SnapshotNumbers& snapshots = durability->snapshots;
    if (!log.trouble.empty() || !snapshots.trouble.empty()) json["status"] = "degraded";
    json["log"] = {{"durable_sequence", log.durable}, {"waiting_records", log.waiting}};
    if (!log.trouble.empty()) json["log"]["trouble"] = log.trouble;
    json["snapshots"] = {{"taken", snapshots.taken}, {"failed", snapshots.failed}};
    if (!snapshots.trouble.empty()) json["snapshots"]["trouble"] = snapshots.trouble;
  }
  return {200, "application/json", Dump(json)};
}

}  // namespace

class AdminHttp::Impl {
 public:
  Impl(MasterService& service, std::function<ConnectionNumbers()> connections)
      : service_(service), connections_(std::move(connections)) {}

  ~Impl() {
    if (context_ != nullptr) {
      mg_stop(context_);
      mg_exit_library();
    }
  }

  Status Begin(const HostPort& address) {
    // civetweb does not say why it cannot listen; a probe does, and chooses the port.
    ASSIGN_OR_RETURN(const wire::ListenSocket probe, wire::Listen(address));
    close(probe.fd);
    address_ = probe.bound;
    if (address_.host.empty()) address_.host = "0.0.0.0";
    const std::string ports = address_.ToString();
    const std::array<const char*, 11> options = {"listening_ports",
                                                 ports.c_str(),
                                                 "num_threads",
                                                 kThreads,
                                                 "request_timeout_ms",
                                                 kSilentFor,
                                                 "enable_keep_alive",
                                                 "no",
                                                 "max_request_size",
                                                 "8192",
                                                 nullptr};
    mg_callbacks callbacks{};
    callbacks.log_message = [](const mg_connection*, const char* message) {
      LOG(WARNING) << "http: " << message;
      return 1;
    };
    mg_init_library(0);
    context_ = mg_start(&callbacks, this, const_cast<const char**>(options.data()));
    if (context_ == nullptr) {
      mg_exit_library();
      return Status(ErrorCode::kRpcFail, "cannot serve HTTP on " + ports +
                                             "; choose another --metrics_port, or 0 for none");
    }
    mg_set_request_handler(context_, "/", &Impl::OnRequest, this);
    return Status::Ok();
  }

  const HostPort& address() const { return address_; }

 private:
  Page Answer(std::string_view path) {
    if (path == "/health") return Health(service_);
    if (path == "/ready") return {.body = "ready\n"};
    if (path == "/role") return {.body = "leader\n"};
    if (path == "/metrics") {
      return {.type = "text/plain; version=0.0.4; charset=utf-8",
              .body = MetricsText(service_, connections_())};
    }
    if (path == "/metrics/summary")
      return {.body = MetricsSummary(service_, connections_()) + "\n"};
    if (path == "/get_all_segments") return SegmentNames(service_);
    if (path == "/get_segments_detail") return SegmentDetail(service_);
    return {.status = 404,
            .body =
                "There is /health, /ready, /role, /metrics, /metrics/summary, /get_all_segments, "
                "/get_segments_detail and /api/v1/tenant_quotas.\n"};
  }

  // The part of the request behind its head, as far as a quota can need it.
  static std::string Body(mg_connection* connection) {
    std::string body(kMaxQuotaBody + 1, '\0');
    size_t length = 0;
    while (length < body.size()) {
      const int got = mg_read(connection, body.data() + length, body.size() - length);
      if (got <= 0) break;
      length += static_cast<size_t>(got);
    }
    body.resize(length);
    return body;
  }

  static int OnRequest(mg_connection* connection, void* self) {
    const mg_request_info* info = mg_get_request_info(connection);
    const std::string_view method = info->request_method;
    const bool head = method == "HEAD";
    Page page;
    if (std::string_view(info->local_uri) == kQuotaPath) {
      const QuotaAnswer answer =
          AnswerQuotas(static_cast<Impl*>(self)->service_, method,
                       info->query_string == nullptr ? "" : info->query_string,
                       method == "PUT" ? Body(connection) : "");
      page = {answer.status, "application/json", answer.body};
    } else if (head || method == "GET") {
      page = static_cast<Impl*>(self)->Answer(info->local_uri);
    } else {
      page = {.status = 405, .body = "Only GET.\n"};
    }
    mg_printf(
        connection,
        "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
        page.status, Reason(page.status), page.type, page.body.size());
    if (!head) mg_write(connection, page.body.data(), page.body.size());
    return page.status;
  }

  MasterService& service_;
  const std::function<ConnectionNumbers()> connections_;
  mg_context* context_ = nullptr;
  HostPort address_;
};

AdminHttp::AdminHttp(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AdminHttp::~AdminHttp() = default;

Result<std::unique_ptr<AdminHttp>> AdminHttp::Start(
    const HostPort& address, MasterService& service,
    std::function<ConnectionNumbers()> connections) {
  auto impl = std::make_unique<Impl>(service, std::move(connections));
  RETURN_IF_ERROR(impl->Begin(address));
  return std::unique_ptr<AdminHttp>(new AdminHttp(std::move(impl)));
}

const HostPort& AdminHttp::address() const { return impl_->address(); }

}  // namespace mooncake
