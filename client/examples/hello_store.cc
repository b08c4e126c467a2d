// Stores an object, reads it back in three ways, lists and removes it.
//
//   hello_store [HOST:PORT of the master]
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "client/store_client.h"

namespace {

// What to do with an error is the program's business; this one tells it and ends.
void Check(const mooncake::Status& status, const char* what) {
  if (status.ok()) return;
  std::cerr << what << ": " << status << '\n';
  std::exit(1);
}

template <typename T>
T Check(mooncake::Result<T> result, const char* what) {
  Check(result.status(), what);
  return std::move(*result);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string master = argc > 1 ? argv[1] : "127.0.0.1:50051";
  const auto client = Check(mooncake::Client::Connect({.master = master}), "connect");

  // Objects are immutable; kReplace swaps in a new version, so that the example can be run again.
  const std::string value = "Hello, store!";
  Check(client->Put("examples/hello", mooncake::AsBytes(value),
                    {.mode = mooncake::WriteMode::kReplace}),
        "put");

  std::string text;
  Check(client->Get("examples/hello", &text), "get");
  std::cout << "get: " << text << '\n';

  std::vector<std::byte> word(5);
  const uint64_t bytes = Check(client->GetRange("examples/hello", 7, word), "get a range");
  std::cout << "range: " << mooncake::AsText({word.data(), static_cast<size_t>(bytes)}) << '\n';

  // Where a replica lies in memory of this host it can be looked at in place, without a copy.
  const auto view = client->GetView("examples/hello");
  if (view.ok()) {
    std::cout << "view: " << mooncake::AsText((*view)->bytes()) << '\n';
    if (!(*view)->Valid())
      std::cout << "the lease was lost meanwhile, so do not trust the line above\n";
  } else {
    std::cout << "view: not on this host (" << view.status() << ")\n";
  }

  const mooncake::ListReply list = Check(client->List({.prefix = "examples/"}), "list");
  for (const mooncake::ListEntry& entry : list.entries) {
    std::cout << "list: " << entry.key << ' ' << entry.stat.size << " bytes\n";
  }

  // Readers hold leases for some seconds; force takes the name away all the same.
  Check(client->Remove("examples/hello", true), "remove");
  std::cout << "removed, so it exists: " << std::boolalpha
            << Check(client->ExistKey("examples/hello"), "exist") << '\n';
  return 0;
}
