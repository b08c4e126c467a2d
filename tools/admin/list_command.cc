// ls: pages stream through, so memory stays bounded however many keys there are.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <ostream>

#include "tools/admin/commands.h"
#include "tools/admin/human.h"
#include "tools/admin/json_view.h"
#include "tools/admin/key_text.h"
#include "tools/admin/report.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

constexpr uint64_t kPage = 1000;

struct ListRequest {
  std::string prefix;
  bool recursive = false;
  bool details = false;
  uint64_t limit = std::numeric_limits<uint64_t>::max();
};

std::string Padded(std::string text, size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

// One entry as a line: size, replicas, time, key.
std::string DetailLine(const ListEntry& entry) {
  const std::string key = EscapeForDisplay(entry.key);
  if (entry.is_prefix)
    return Padded("-", 10) + Padded("-", 5) + "  " + Padded("-", 19) + "  " + key;
  return Padded(FormatSize(entry.stat.size), 10) +
         Padded(std::to_string(entry.stat.replica_count), 5) + "  " +
         Padded(FormatTime(entry.stat.created_ms), 19) + "  " + key;
}

// Writes entries as they come. The JSON document is closed by End, whatever happened in between.
class EntryWriter {
 public:
  EntryWriter(Session& session, bool details) : session_(session), details_(details) {}

  void Write(const ListEntry& entry) {
    std::ostream& out = session_.console().out;
    if (session_.config().json) {
      out << (count_ == 0 ? "{\"entries\":[\n" : ",\n") << Dump(ToJson(entry));
    } else if (details_) {
      out << DetailLine(entry) << "\n";
    } else {
      out << EscapeForDisplay(entry.key) << "\n";
    }
    ++count_;
  }
  void End(bool truncated, const Status& status) {
    if (!session_.config().json) return;
    std::ostream& out = session_.console().out;
    out << (count_ == 0 ? "{\"entries\":[" : "\n")
        << "],\"truncated\":" << (truncated ? "true" : "false");
    if (!status.ok()) out << ",\"error\":" << Dump(ToJson(status));
    out << "}\n";
  }
  uint64_t count() const { return count_; }

 private:
  Session& session_;
  const bool details_;
  uint64_t count_ = 0;
};

ExitStatus RunList(Session& session, const ListRequest& request) {
  const auto prefix = TextFromArgument(session, request.prefix);
  if (!prefix.ok()) return Fail(session, "ls", prefix.status());
  auto client = session.client();
  if (!client.ok()) return Fail(session, "ls", client.status());
  EntryWriter writer(session, request.details);
  ListArgs args;
  args.prefix = *prefix;
  args.delimiter = request.recursive ? "" : "/";
  bool truncated = true;
  Status status;
  while (truncated && writer.count() < request.limit && session.console().out.good()) {
    args.limit = static_cast<uint32_t>(std::min(kPage, request.limit - writer.count()));
    const auto page = (*client)->List(args);
    status = page.status();
    if (!status.ok()) break;
    for (const ListEntry& entry : page->entries) writer.Write(entry);
    truncated = page->truncated && !page->entries.empty();
    if (truncated) args.start_after = page->entries.back().key;
  }
  writer.End(truncated, status);
  if (!status.ok()) {
    Complain(session, "ls " + Quoted(*prefix), status);
    return ExitStatusOf(status.code());
  }
  // Not to somebody who stopped reading.
  if (truncated && !session.config().json && session.console().out.flush().good()) {
    session.console().err << "mooncake-admin: there are more; raise --limit to see them"
                          << std::endl;
  }
  return ExitStatus::kOk;
}

}  // namespace

void AddListCommand(CLI::App& app, Invocation& invocation) {
  auto typed = std::make_shared<ListRequest>();
  CLI::App* ls = app.add_subcommand("ls",
                                    "keys that begin with PREFIX, up to and with the next '/'; all "
                                    "keys below it with --recursive");
  AddText(ls, "PREFIX", typed->prefix, "what the keys begin with; all keys if not given");
  ls->add_flag("-r,--recursive", typed->recursive, "do not stop at '/'");
  ls->add_flag("-l,--long", typed->details, "size, readable replicas, time of writing (UTC)");
  ls->add_option("--limit", typed->limit, "at most so many entries; all if not given")
      ->type_name("N")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""));
  ls->footer("Example: mooncake-admin ls -l models/");
  ls->callback([&invocation, typed] {
    invocation.run = [typed](Session& session) { return RunList(session, *typed); };
  });
}

}  // namespace mooncake::admin
