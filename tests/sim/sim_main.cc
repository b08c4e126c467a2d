// mooncake-sim: runs seeds of the simulator and prints what they covered. A failing seed prints the command that repeats it.
#include <iostream>

#include "CLI/CLI.hpp"

#include "tests/sim/simulation.h"
#include "transfer/base/clock.h"

namespace {

using mooncake::sim::Canary;
using mooncake::sim::RunSimulation;
using mooncake::sim::SimOptions;
using mooncake::sim::SimReport;

struct Arguments {
  uint64_t seeds = 200;
  uint64_t first = 1;
  uint64_t minutes = 0;
  std::string canary = "none";
  bool trace = false;
};

void Print(const SimReport& sum, uint64_t seeds) {
  const double hours = static_cast<double>(sum.simulated.count()) / 3.6e12;
  std::cout << seeds << " seeds, " << hours << " simulated hours, " << sum.events << " events\n"
            << "operations " << sum.clients.operations << ": puts ok " << sum.clients.puts_ok
            << ", failed " << sum.clients.puts_failed << "; gets ok " << sum.clients.gets_ok
            << ", not found " << sum.clients.not_found << ", failed " << sum.clients.gets_failed
            << ", lease ended first " << sum.clients.leases_lost << "; leases renewed "
            << sum.clients.renewals << "; removed " << sum.clients.removed << ", renamed "
            << sum.clients.renamed << " and " << sum.clients.directories_renamed
            << " directories, replicas cleared " << sum.clients.cleared << ", failures reported "
            << sum.clients.reported << "\n"
            << "faults: messages dropped " << sum.dropped << ", repeated " << sum.repeated
            << "; processes frozen " << sum.frozen << ", crashed " << sum.crashed << "; links cut "
            << sum.cut << "; masters ousted " << sum.takeovers << "; nodes left " << sum.nodes_left
            << "\n"
            << "masters restored from a log " << sum.restores << ", of them with a snapshot "
            << sum.from_snapshots << ", fail-overs " << sum.successions << ", versions restored "
            << sum.versions_restored << "\n"
            << "reads checked byte for byte: " << sum.reads_checked << std::endl;
}

// The first seed that fails, if any, is told; 0 on success.
int Run(const Arguments& arguments, Canary canary) {
  const mooncake::TimePoint start = mooncake::SystemClock().Now();
  SimReport sum;
  uint64_t done = 0;
  for (uint64_t seed = arguments.first;; ++seed, ++done) {
    const mooncake::Duration elapsed = mooncake::SystemClock().Now() - start;
    const bool enough = arguments.minutes > 0 ? elapsed > std::chrono::minutes(arguments.minutes)
                                              : done >= arguments.seeds;
    if (enough) break;
    SimOptions options{seed, canary, nullptr};
    if (arguments.trace)
      options.tracer = [](const std::string& line) { std::cout << line << "\n"; };
    const SimReport report = RunSimulation(options);
    Add(sum, report);
    if (report.violation) {
      Print(sum, done + 1);
      std::cout << "seed " << seed << " failed " << *report.violation
                << "\nrepeat it with: mooncake-sim --first=" << seed
                << " --seeds=1 --trace --canary=" << arguments.canary << std::endl;
      return 1;
    }
    if (seed % 20 == 0 && RunSimulation(options).digest != report.digest) {
      std::cout << "seed " << seed
                << " ended differently the second time: something is not deterministic"
                << std::endl;
      return 1;
    }
  }
  Print(sum, done);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Runs the deterministic simulator of Mooncake Store."};
  app.add_option("--seeds", arguments.seeds, "how many seeds to run")->capture_default_str();
  app.add_option("--first", arguments.first, "the first seed")->capture_default_str();
  app.add_option("--minutes", arguments.minutes, "run seeds for so long instead (minutes; 0 = off)")
      ->capture_default_str();
  app.add_option("--canary", arguments.canary,
                 "plant a bug that must be found: none, no-epoch-check, no-write-deadline, "
                 "no-lease-check, short-lease, "
                 "end-without-put-id, revoke-unsettled, reuse-before-durable, no-lease-on-restore, "
                 "keep-old-epoch, answer-before-durable, no-quiet-time, "
                 "answers-when-deposed")
      ->capture_default_str();
  app.add_flag("--trace", arguments.trace, "print what happens, a line an event");
  CLI11_PARSE(app, argc, argv);
  const auto canary = mooncake::sim::ParseCanary(arguments.canary);
  if (!canary) {
    std::cerr << "mooncake-sim: unknown canary '" << arguments.canary << "'; see --help"
              << std::endl;
    return 2;
  }
  return Run(arguments, *canary);
}
