// mooncake-bench: the command line.
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>
#include <glog/logging.h>

#include "master/server/keep_freed_memory.h"
#include "tools/bench/master_bench.h"
#include "tools/bench/mount_bench.h"
#include "tools/bench/replay_bench.h"
#include "tools/bench/restart_bench.h"
#include "tools/bench/transfer_bench.h"
#include "transfer/base/clock.h"

namespace mooncake::bench {
namespace {

constexpr char kProgram[] = "mooncake-bench";
constexpr char kFooter[] =
    "Every figure stands beside what the machine can do at most, measured in the same run and by "
    "turns; figures are medians.\n"
    "Close other programs, and compare runs on the same machine only.\n"
    "Exit status: 0 done, 1 something failed, 2 the command line is wrong.";

int WidthOf(int fd) {
  winsize size{};
  return isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

struct Options {
  bool json = false;
  std::string time = "2s";
  std::vector<std::string> sizes;
  MasterBenchOptions master;
  TransferBenchOptions transfer;
  MountBenchOptions mount;
  RestartBenchOptions restart;
  ReplayOptions replay;
};

Status Apply(Options& options) {
  ASSIGN_OR_RETURN(const Duration time, ParseDuration(options.time, Seconds(1)));
  if (time <= Duration::zero())
    return Status(ErrorCode::kInvalidParams, "--time: must be more than nothing");
  options.master.time = options.transfer.time = options.mount.time = options.restart.time = time;
  if (options.sizes.empty()) return Status::Ok();
  std::vector<uint64_t> sizes;
  for (const std::string& text : options.sizes) {
    ASSIGN_OR_RETURN(const uint64_t size, ParseSize(text));
    if (size == 0 || size > 4 * kGiB)
      return Status(ErrorCode::kInvalidParams, "--sizes: " + text + "; from 1 byte to 4 GiB");
    sizes.push_back(size);
  }
  options.transfer.sizes = options.mount.sizes = sizes;
  return Status::Ok();
}

void DescribeReplay(CLI::App& app, ReplayOptions& options) {
  CLI::App* replay = app.add_subcommand(
      "replay", "block hit ratio of eviction policies on a trace, beside FIFO, LRU and Belady");
  replay
      ->add_option("--trace", options.trace,
                   "JSON lines, plain or gzipped; each request names its blocks as hash_ids")
      ->type_name("FILE")
      ->required();
  replay
      ->add_option("--policy", options.policies,
                   "of fifo, lru, hit_density, and master:lru, master:hit_density for the "
                   "evictor of a whole master; hit_density if not given")
      ->type_name("NAME,...")
      ->delimiter(',');
  replay
      ->add_option(
          "--capacity", options.capacities,
          "in blocks, or as a share of the distinct ones; 1%,2%,5%,10%,20%,40% if not given")
      ->type_name("N|N%,...")
      ->delimiter(',');
  replay->footer(
      "CLOSED is how much of the way from LRU to Belady the policy goes. Belady knows the future; "
      "nothing does better.");
}

void Describe(CLI::App& app, Options& options) {
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(kFooter);
  app.set_version_flag("--version", std::string(kProgram) + " " + MC_VERSION);
  app.add_flag("--json", options.json, "print JSON instead of a table");
  app.add_option("--time", options.time, "for each comparison, as 500ms or 5s; 2s if not given")
      ->type_name("TIME");
  CLI::App* master = app.add_subcommand(
      "master",
      "operations of the master, in process and as RPC, beside a table look-up and a bare echo");
  master->add_option("--objects", options.master.objects, "in the table meanwhile")
      ->type_name("N")
      ->check(CLI::Range(1, 100000000));
  master->add_option("--threads", options.master.threads, "of RPC callers, as 1,4")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(CLI::Range(1, 256));
  master
      ->add_option("--tail-keys", options.master.tail_keys,
                   "that are removed, put, evicted while latencies are measured; 0: no such table")
      ->type_name("N")
      ->check(CLI::Range(0, 100000000));
  CLI::App* restart = app.add_subcommand(
      "restart", "a durable master: waits during snapshots, and the time until all is back");
  restart->add_option("--objects", options.restart.objects, "1000000 if not given")
      ->type_name("N")
      ->check(CLI::Range(1, 100000000));
  restart
      ->add_option("--dir", options.restart.dir, "folder on the disk to be used; /tmp if not given")
      ->type_name("DIR");
  CLI::App* transfer = app.add_subcommand(
      "transfer",
      "Put and Get over memcpy, shared memory and TCP, beside memcpy and a bare TCP stream");
  CLI::App* mount = app.add_subcommand(
      "mount", "files written to and read from a mount, beside the same on tmpfs");
  mount->add_option("--dir", options.mount.dir, "folder of the mount")
      ->type_name("DIR")
      ->required();
  mount->add_option("--beside", options.mount.beside, "folder on tmpfs; /dev/shm if not given")
      ->type_name("DIR");
  DescribeReplay(app, options.replay);
  for (CLI::App* command : {transfer, mount}) {
    command->add_option("--sizes", options.sizes, "as 4KiB,1MiB")
        ->type_name("SIZE,...")
        ->delimiter(',');
  }
}

int Failed(const Status& status) {
  std::cerr << kProgram << ": " << status << std::endl;
  return 1;
}

// Of the command line, before anything was measured.
int Refused(const Status& status) {
  std::cerr << kProgram << ": " << status.message() << std::endl;
  return 2;
}

int RunReplay(const Options& options) {
  if (const Status status = ValidateReplay(options.replay); !status.ok()) return Refused(status);
  const auto report = BenchReplay(options.replay);
  if (!report.ok()) return Failed(report.status());
  if (options.json) {
    PrintReplayJson(*report, std::cout);
  } else {
    PrintReplay(*report, WidthOf(STDOUT_FILENO), std::cout);
  }
  return std::cout.flush() ? 0 : 1;
}

int Run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_WARNING;  // the store in here need not tell of its life
  google::InitGoogleLogging(kProgram);
  Options options;
  CLI::App app("Measures a Mooncake Store on this machine.", kProgram);
  Describe(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::Error& error) {
    std::cerr << kProgram << ": " << error.what() << "; see " << kProgram << " --help" << std::endl;
    return 2;
  }
  if (const Status status = Apply(options); !status.ok()) return Refused(status);
  if (app.got_subcommand("replay")) return RunReplay(options);
  const Clock& clock = SystemClock();
  BenchReport report;
  if (app.got_subcommand("master")) {
    if (const Status status = BenchMaster(options.master, clock, report); !status.ok())
      return Failed(status);
  } else if (app.got_subcommand("restart")) {
    auto facts = BenchRestart(options.restart, clock);
    if (!facts.ok()) return Failed(facts.status());
    report.facts = std::move(facts).value();
  } else {
    auto rows = app.got_subcommand("transfer") ? BenchTransfer(options.transfer, clock)
                                               : BenchMount(options.mount, clock);
    if (!rows.ok()) return Failed(rows.status());
    report.rows = std::move(rows).value();
  }
  if (options.json) {
    PrintJson(report, std::cout);
  } else {
    PrintTable(report, WidthOf(STDOUT_FILENO), std::cout);
  }
  return std::cout.flush() ? 0 : 1;
}

}  // namespace
}  // namespace mooncake::bench

int main(int argc, char** argv) {
  mooncake::KeepFreedMemory();  // as the master's own program does
  return mooncake::bench::Run(argc, argv);
}
