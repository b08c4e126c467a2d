#include "master/server/thrift_server.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <glog/logging.h>
#include <thrift/TApplicationException.h>
#include <thrift/Thrift.h>

#include "master/api/wire_limits.h"
#include "master/api/wire_protocol.h"
#include "master/server/call_names.h"
#include "master/server/thrift_handler.h"

namespace mooncake {
namespace {

using apache::thrift::TApplicationException;

// What a connection keeps between two calls; the names have at most 4 KiB each.
constexpr size_t kKeptReplyBytes = size_t{1} << 20;
constexpr size_t kKeptNames = 256;

// Thrift's way to say that there is no reply, and why.
void WriteRefusal(wire::OutFrame& out, const std::string& why) {
  out.Clear();
  const TApplicationException refusal(TApplicationException::PROTOCOL_ERROR, why);
  out.protocol()->writeMessageBegin("", apache::thrift::protocol::T_EXCEPTION, 0);
  refusal.write(out.protocol().get());
  out.protocol()->writeMessageEnd();
}

class ThriftSession final : public FrameSession {
 public:
  ThriftSession(std::shared_ptr<ThriftHandler> handler,
                std::shared_ptr<thriftgen::MasterRpcProcessor> processor, CallLatencies* latencies,
                const Clock& clock)
      : handler_(std::move(handler)),
        processor_(std::move(processor)),
        latencies_(latencies),
        clock_(clock),
        out_(std::make_unique<wire::OutFrame>()) {}

  Reply Handle(ByteSpan request) override {
    // One large listing must not keep its memory for the life of the connection.
    if (out_->payload_bytes() > kKeptReplyBytes) out_ = std::make_unique<wire::OutFrame>();
    out_->Clear();
    try {
      // False: not a call at all.
      if (!Process(request)) return {{}, false};
    } catch (const std::exception& e) {
      // What follows a malformed request cannot be trusted either.
      WriteRefusal(*out_, std::string("malformed request: ") + e.what());
      return {out_->bytes(), false};
    }
    if (out_->payload_bytes() > wire::kMaxFrameBytes) {
      WriteRefusal(*out_, "the answer has " + std::to_string(out_->payload_bytes()) +
                              " bytes, the limit is " + std::to_string(wire::kMaxFrameBytes) +
                              ": ask for less");
    }
    return {out_->bytes(), true};
  }

 private:
  bool Process(ByteSpan request) {
    const TimePoint begun = clock_.Now();
    if (!wire::ReadLookup(request, lookup_)) {
      wire::InFrame in(request);
      const bool done = processor_->process(in.protocol(), out_->protocol(), nullptr);
      CountLatency(CallOfRpc(wire::CallIn(request)), begun);
      return done;
    }
    handler_->Lookup(lookup_, *out_);
    CountLatency(MasterCall::kGetReplicaList, begun);
    if (lookup_.names.size() > kKeptNames) lookup_.names.resize(kKeptNames);
    return true;
  }

  void CountLatency(std::optional<MasterCall> call, TimePoint begun) {
    if (latencies_ != nullptr && call.has_value())
      (*latencies_)[static_cast<size_t>(*call)].Count(clock_.Now() - begun);
  }

  const std::shared_ptr<ThriftHandler> handler_;
  const std::shared_ptr<thriftgen::MasterRpcProcessor> processor_;
  CallLatencies* const latencies_;
  const Clock& clock_;
  wire::LookupRequest lookup_;  // its memory serves the next one too
  std::unique_ptr<wire::OutFrame> out_;
};

}  // namespace

ThriftServer::ThriftServer(std::unique_ptr<FrameServer> frames) : frames_(std::move(frames)) {}
ThriftServer::~ThriftServer() = default;

Result<std::unique_ptr<ThriftServer>> ThriftServer::Start(const ThriftServerOptions& options,
                                                          MasterApi& master,
                                                          std::function<Term()> term,
                                                          const Clock& clock) {
  // Thrift writes to stderr whatever a peer sends it wrong; that is the peer's to know.
  apache::thrift::GlobalOutput.setOutputFunction(
      [](const char* message) { VLOG(1) << "thrift: " << message; });

  auto handler = std::make_shared<ThriftHandler>(master, std::move(term), clock);
  auto processor = std::make_shared<thriftgen::MasterRpcProcessor>(handler);
  wire::OutFrame refusal;
  WriteRefusal(refusal,
               "the master has all of its " + std::to_string(options.max_connections) +
                   " connections in use; close some, or start it with a larger --max_connections");
  const MutableByteSpan bytes = refusal.bytes();

  FrameServerOptions frame_options;
  frame_options.address = options.address;
  frame_options.max_connections = options.max_connections;
  frame_options.max_frame_bytes = wire::kMaxRequestBytes;
  frame_options.idle_timeout = options.idle_timeout;
  frame_options.refusal.assign(bytes.begin(), bytes.end());
  ASSIGN_OR_RETURN(auto frames, FrameServer::Start(
                                    std::move(frame_options),
                                    [handler, processor, latencies = options.latencies, &clock] {
                                      return std::make_unique<ThriftSession>(handler, processor,
                                                                             latencies, clock);
                                    },
                                    clock));
  return std::unique_ptr<ThriftServer>(new ThriftServer(std::move(frames)));
}

}  // namespace mooncake
