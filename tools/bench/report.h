// The one table that each subcommand prints: every figure beside its limit.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "tools/bench/samples.h"

namespace mooncake::bench {

// Bytes a second, or operations a second where `bytes` is 0.
struct Figure {
  uint64_t bytes = 0;       // an operation moves
  uint64_t operations = 1;  // a sample stands for
  Samples samples;
  double PerSecond() const;  // at the median
};

struct Row {
  std::string what;  // "get"
  std::string path;  // "shm"
  Figure figure;
  std::string limit_name;  // "memcpy"
  Figure limit;
  Samples latencies;     // of single operations; empty: not shown
  double Share() const;  // of the limit; 0 if there is none
};

// Single calls, while something disturbs the one who answers and while nothing does.
struct TailRow {
  std::string what;    // "get"
  std::string path;    // "rpc"
  std::string during;  // "puts evict"
  Samples quiet;
  Samples disturbed;
  Duration goal{};  // of 99.9 % while disturbed
};

// What is no rate; printed below the table.
struct Fact {
  std::string name;   // a key of the JSON
  std::string label;  // for people, with its unit
  double value = 0;
};

struct BenchReport {
  std::vector<Row> rows;
  std::vector<Fact> facts;
  std::vector<TailRow> tails;  // none: no table of them
};

void PrintTable(const BenchReport& report, int width, std::ostream& out);
// {"rows": [...], "tails": [...] if there are any, and each fact}: bytes, operations per second, seconds; names are a contract with scripts.
void PrintJson(const BenchReport& report, std::ostream& out);

// "12.3 GB/s", "850 MB/s", "1.23 M/s", "45.6 k/s". Powers of 1000.
std::string FormatRate(double per_second, bool bytes);
// "1.23 us", "45.6 ms".
std::string FormatTime(Duration time);

}  // namespace mooncake::bench
