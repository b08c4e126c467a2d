// put: stores a file, or what comes from a pipe.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "tools/admin/commands.h"
#include "tools/admin/key_text.h"
#include "tools/admin/report.h"
#include "tools/admin/value_source.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

constexpr uint64_t kWorthAWord = 256 * kMiB;

struct PutRequest {
  std::string key;
  std::string file;
  bool replace = false;
  bool checksum = false;
  bool hard_pin = false;
  bool soft_pin = false;
  uint32_t replicas = 1;
};

// Half of what is free: the store may be on this machine too.
uint64_t MemoryForStreams() {
  const auto pages = ::sysconf(_SC_AVPHYS_PAGES);
  const auto page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return kGiB;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) / 2;
}

// A value does not fail for its size alone: time for its bytes over a slow link comes on top of --timeout.
Duration TimeoutFor(const Session& session, uint64_t bytes) {
  return std::min(session.config().timeout + TimeToMove(bytes), kMaxCallTimeout);
}

PutOptions OptionsOf(const PutRequest& request) {
  PutOptions options;
  options.mode = request.replace ? WriteMode::kReplace : WriteMode::kCreate;
  options.checksum = request.checksum;
  options.config.replica_num = request.replicas;
  options.config.hard_pin = request.hard_pin;
  if (request.soft_pin) options.config.soft_pin = SoftPinAction::kEnable;
  return options;
}

ExitStatus RunPut(Session& session, const PutRequest& request) {
  const auto key = KeyFromArgument(session, request.key);
  if (!key.ok()) return Fail(session, "put", key.status());
  const std::string what = "put " + Quoted(*key);
  const auto source = OpenSource(request.file, STDIN_FILENO, MemoryForStreams());
  if (!source.ok()) return Fail(session, what, source.status());
  auto client = session.client();
  if (!client.ok()) return Fail(session, what, client.status());
  if (session.console().progress && (*source)->size() >= kWorthAWord) {
    session.console().err << what << "  " << FormatSize((*source)->size()) << " on their way\n"
                          << std::flush;
  }
  const auto parts = (*source)->parts();
  PutOptions options = OptionsOf(request);
  options.timeout = TimeoutFor(session, (*source)->size());
  const auto put = (*client)->PutParts(*key, parts, options);
  if (!put.ok()) return Fail(session, what, put.status());
  if (const Status unchanged = (*source)->CheckUnchanged(); !unchanged.ok()) {
    return Fail(
        session, what,
        Status(unchanged.code(), unchanged.message() + ": the stored value may be a mix of old and "
                                                       "new bytes; put it again with --replace"));
  }
  if (put->replicas < request.replicas && (*source)->size() > 0) {
    session.console().err << "mooncake-admin: " << what << ": stored, but with " << put->replicas
                          << " of " << request.replicas
                          << " replicas: there was no room for more on other segments" << std::endl;
  }
  if (session.config().json) {
    Json json;
    SetText(json, "key", *key);
    json["size"] = (*source)->size();
    json["version"] = std::to_string(put->version.value);
    json["replicas"] = put->replicas;
    Print(session, json);
  }
  return ExitStatus::kOk;
}

}  // namespace

void AddPutCommand(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<PutRequest>();
  CLI::App* put = app.add_subcommand("put", "store a file under a key; fails if the key exists");
  AddText(put, "KEY", request->key, "the key")->required();
  AddText(put, "FILE", request->file, "the file; '-' is stdin, which is taken into memory whole")
      ->required();
  put->add_flag("--replace", request->replace,
                "replace an object of this key; readers see the old value or the new one");
  put->add_option("--replicas", request->replicas,
                  "copies, on different segments: 1 if not given, at most 16")
      ->type_name("N")
      ->check(CLI::Range(uint32_t{1}, kMaxReplicas).description(""));
  put->add_flag("--checksum", request->checksum, "store a CRC-32C, checked by every whole read");
  put->add_flag("--soft-pin", request->soft_pin,
                "evict it late, for as long as the master's soft pins last");
  put->add_flag("--hard-pin", request->hard_pin, "never evict it");
  put->footer("Example: mooncake-admin put --checksum greeting hello.txt");
  put->callback([&invocation, request] {
    invocation.run = [request](Session& session) { return RunPut(session, *request); };
  });
}

}  // namespace mooncake::admin
