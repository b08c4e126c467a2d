// get: streams an object of any size through one buffer.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <ostream>
#include <vector>

#include "tools/admin/commands.h"
#include "tools/admin/key_text.h"
#include "tools/admin/progress.h"
#include "tools/admin/report.h"
#include "tools/admin/value_sink.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

constexpr uint64_t kBuffer = 8 * kMiB;

struct GetRequest {
  std::string key;
  std::string output = "-";
};

// The version that was opened stays readable to the end, whatever happens to its key meanwhile.
Result<uint64_t> Copy(Session& session, const std::string& key, ObjectReader& reader,
                      ValueSink& sink) {
  const uint64_t size = reader.info().size;
  Progress progress(session.console().err, session.console().progress, "get " + Quoted(key), size,
                    session.clock());
  std::vector<std::byte> buffer(std::min(size, kBuffer));
  uint64_t done = 0;
  while (done < size) {
    ASSIGN_OR_RETURN(const uint64_t n, reader.Read(done, buffer));
    if (n == 0) {
      return Status(ErrorCode::kInternal, "it ended after " + std::to_string(done) + " of " +
                                              std::to_string(size) + " bytes");
    }
    RETURN_IF_ERROR(sink.Write(ByteSpan(buffer).first(n)));
    done += n;
    progress.Add(n);
  }
  RETURN_IF_ERROR(sink.Commit());
  return done;
}

ExitStatus RunGet(Session& session, const GetRequest& request) {
  const auto key = KeyFromArgument(session, request.key);
  if (!key.ok()) return Fail(session, "get", key.status());
  const bool to_stdout = request.output == "-";
  if (to_stdout && session.config().json) {
    session.console().err
        << "mooncake-admin: get --json needs -o FILE: the value itself would go to stdout"
        << std::endl;
    return ExitStatus::kUsage;
  }
  const std::string what = "get " + Quoted(*key);
  auto client = session.client();
  if (!client.ok()) return Fail(session, what, client.status());
  const auto reader = (*client)->Open(*key);
  if (!reader.ok()) return Fail(session, what, reader.status());
  auto sink = OpenSink(request.output, STDOUT_FILENO);
  if (!sink.ok()) return Fail(session, what, sink.status());
  errno = 0;
  const auto copied = Copy(session, *key, **reader, **sink);
  if (!copied.ok()) {
    // The reader of a pipe went away: it has what it wanted, there is nothing to tell.
    if (to_stdout && copied.code() == ErrorCode::kWriteFail && errno == EPIPE)
      return ExitStatus::kFailed;
    return Fail(session, what, copied.status());
  }
  if (session.config().json) {
    Json json;
    SetText(json, "key", *key);
    json["size"] = *copied;
    json["version"] = std::to_string((*reader)->info().put_id.value);
    SetText(json, "file", request.output);
    Print(session, json);
  }
  return ExitStatus::kOk;
}

}  // namespace

void AddGetCommand(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<GetRequest>();
  CLI::App* get = app.add_subcommand("get", "write the value of a key to stdout or a file");
  AddText(get, "KEY", request->key, "the key")->required();
  AddText(get, "-o,--output", request->output,
          "file; it appears when the value is complete. '-', stdout, if not given", "FILE");
  get->footer("Example: mooncake-admin get greeting -o hello.txt");
  get->callback([&invocation, request] {
    invocation.run = [request](Session& session) { return RunGet(session, *request); };
  });
}

}  // namespace mooncake::admin
