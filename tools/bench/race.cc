#include "tools/bench/race.h"

namespace mooncake::bench {
namespace {

Status RunOnce(Contender& contender, uint64_t& next, bool counts, const Clock& clock) {
  const uint64_t first = next;
  next += contender.batch;
  const TimePoint start = clock.Now();
  for (uint64_t i = first; i < next; ++i) {
    if (Status status = contender.run(i); !status.ok()) return Annotate(status, contender.name);
  }
  const Duration time = clock.Now() - start;
  if (counts) contender.samples.Add(time / static_cast<int64_t>(contender.batch));
  for (uint64_t i = first; contender.after && i < next; ++i) contender.after(i);
  return Status::Ok();
}

}  // namespace

Status Race(std::vector<Contender>& contenders, const RaceOptions& options, const Clock& clock) {
  std::vector<uint64_t> next(contenders.size(), 0);
  TimePoint start = clock.Now();
  for (uint32_t round = 0; round < options.warm_up + options.max_rounds; ++round) {
    const bool counts = round >= options.warm_up;
    if (round == options.warm_up) start = clock.Now();
    const bool enough = round >= options.warm_up + options.min_rounds;
    if (enough && clock.Now() - start >= options.time) break;
    // Another one begins each round, so that nobody always follows the same one.
    for (size_t k = 0; k < contenders.size(); ++k) {
      const size_t which = (k + round) % contenders.size();
      RETURN_IF_ERROR(RunOnce(contenders[which], next[which], counts, clock));
    }
  }
  return Status::Ok();
}

}  // namespace mooncake::bench
