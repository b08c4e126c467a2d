#include "tools/inspect/inspect_command.h"

#include <ostream>

#include <CLI/CLI.hpp>

#include "master/api/durability_types.h"
#include "tools/admin/human.h"
#include "tools/inspect/inspect.h"
#include "transfer/base/units.h"

namespace mooncake::inspect {
namespace {

constexpr char kProgram[] = "mooncake-inspect";
constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr char kSummary[] =
    "Prints what a mooncake-master keeps in its --state_dir, as JSON lines. Changes nothing "
    "there.\n"
    "Example: mooncake-inspect /var/lib/mooncake --log --after=1000 | grep '\"key\":\"models/a\"'";

constexpr char kFooter[] =
    "Without --snapshots, --snapshot and --log, all snapshots are listed and the log follows.\n"
    "While a master runs in DIR only its snapshots can be read: --snapshots, --snapshot. "
    "mooncake-admin asks the master itself.\n"
    "\n"
    "Keys are any bytes: \"key\" is the key itself, unless it is not UTF-8: then it is the printed "
    "form, with \\xNN,\n"
    "and \"key_base64\" has the bytes.\n"
    "\n"
    "Exit status: 0 done; 1 something is damaged (it is counted on stderr) or cannot be read; 2 "
    "the "
    "command line is wrong.";

void Describe(CLI::App& app, InspectOptions& options) {
  app.set_version_flag("--version", std::string(kProgram) + " " + MC_VERSION);
  app.footer(kFooter);
  app.get_formatter()->column_width(28);
  app.add_option("DIR", options.folder, "the master's --state_dir, or a copy of it")
      ->required()
      ->type_name("");
  app.add_flag("--snapshots", options.snapshots,
               "a line for each snapshot, newest first, after reading all of it");
  app.add_option("--snapshot", options.snapshot, "the records of one snapshot")->type_name("ID");
  app.add_flag("--log", options.log, "the log: the master's term, then a line for each record");
  app.add_option("--after", options.after, "of the log, what comes after record N only")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  app.add_option("--limit", options.limit, "N records at most, of the snapshot and of the log")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
}

// What a mistake is called; "": none.
std::string Mistake(const InspectOptions& options, bool snapshot_given) {
  if (snapshot_given && !IsSnapshotId(options.snapshot))
    return "--snapshot: '" + EscapeForDisplay(options.snapshot) +
           "' is no id; --snapshots lists those there are";
  if (options.after > 0 && !options.log) return "--after belongs to --log";
  return "";
}

int Finish(const Damage& damage, std::ostream& out, std::ostream& err) {
  out.flush();
  if (!out) {
    err << kProgram << ": stdout could not be written to its end\n";
    return kFailed;
  }
  if (!damage.any()) return kDone;
  err << kProgram << ": damaged: " << admin::Plural(damage.records, "record") << ", "
      << admin::Plural(damage.snapshots, "snapshot") << " that cannot be used, "
      << admin::Plural(damage.holes, "hole") << " in the log\n";
  return kFailed;
}

}  // namespace

int RunLine(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  InspectOptions options;
  CLI::App app(kSummary, kProgram);
  Describe(app, options);
  const auto usage = [&](const std::string& what) {
    err << kProgram << ": " << what << "; see " << kProgram << " --help\n";
    return kUsage;
  };
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    out << app.help() << std::flush;
    return kDone;
  } catch (const CLI::CallForVersion& version) {
    out << version.what() << std::endl;
    return kDone;
  } catch (const CLI::Error& error) {
    return usage(error.what());
  }
  const bool snapshot_given = app.count("--snapshot") > 0;
  if (!options.snapshots && !options.log && !snapshot_given) options.snapshots = options.log = true;
  if (const std::string mistake = Mistake(options, snapshot_given); !mistake.empty())
    return usage(mistake);

  const auto state = OpenStateReader(options.folder);
  auto done = state.ok() ? Inspect(**state, options, out) : Result<Damage>(state.status());
  if (done.ok()) return Finish(*done, out, err);
  out.flush();
  err << kProgram << ": " << EscapeForDisplay(done.message());
  if (done.code() == ErrorCode::kUnavailableInCurrentStatus)
    err << "; its snapshots can be read all the same (--snapshots, --snapshot=ID), the log only "
           "when it is stopped";
  err << std::endl;
  return kFailed;
}

}  // namespace mooncake::inspect
