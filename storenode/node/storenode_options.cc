#include "storenode/node/storenode_options.h"

#include "transfer/base/units.h"

namespace mooncake {
namespace {

void DescribeCluster(StoreNodeProgramOptions& options, ConfigReader& reader) {
  reader.Section("Cluster");
  reader.Add("master", &options.node.master_address, "HOST:PORT of the master's RPC service.");
  reader.AddAlias("master_server_address", "master");
  reader.AddDuration("master_wait", &options.node.master_wait, Seconds(1),
                     "At start, how long to go on trying to reach the master before giving up. "
                     "Once started, a node waits for a lost "
                     "master for ever and joins again by itself.");
  reader.AddDuration("unmount_grace", &options.unmount_grace, Seconds(1),
                     "When told to stop, go on serving reads for so long while the master puts "
                     "nothing new here; a second signal ends it at once.");
  reader.Add("name", &options.node.name,
             "Name of the segment, unique in the cluster; empty = host name and data port. A node "
             "that starts under the name of a "
             "dead one takes its place; the name of a living one is refused.");
  reader.Add("host_id", &options.node.host_id,
             "The machine: replicas are spread over machines, and clients with the same id share "
             "memory; empty = found out.");
}

void DescribeMemory(StoreNodeProgramOptions& options, ConfigReader& reader) {
  reader.Section("Memory");
  reader.AddSize("segment_size", &options.node.segment_size, "Memory to lend, 1 KiB to 64 TiB.");
  reader.AddAlias("global_segment_size", "segment_size");
  reader.Add("huge_pages", &options.node.huge_pages,
             "Take 2 MiB pages from the kernel's pool (sysctl vm.nr_hugepages), and do not start "
             "if there are too few. Without, the "
             "kernel is asked for transparent ones where it can.");
  reader.Add("prefault", &options.node.prefault,
             "Touch all memory before joining: a slow start instead of page faults later, and no "
             "surprise when memory is short.");
}

void DescribeNetwork(StoreNodeProgramOptions& options, ConfigReader& reader) {
  reader.Section("Network");
  reader.AddChoice(
      "protocol", &options.node.protocol, {"tcp", "rdma"},
      "How other hosts reach the memory. rdma: one-sided, and over TCP at the same port "
      "by clients without it; all memory is locked (ulimit -l).");
  reader.Add("listen", &options.node.listen,
             "HOST:PORT of the data service; port 0 takes any free one, the log tells which.");
  reader.Add("advertise", &options.advertise,
             "Host name or address that others connect to; empty = the host of --listen, or if "
             "that is a wildcard the address of the "
             "interface towards the master.");
  reader.Add("local_socket", &options.node.local_socket,
             "Also serve clients of this host over a Unix socket and let them map the memory (same "
             "user or root only).");
}

}  // namespace

void DescribeStoreNodeOptions(StoreNodeProgramOptions& options, ConfigReader& reader) {
  DescribeCluster(options, reader);
  DescribeMemory(options, reader);
  DescribeNetwork(options, reader);
  reader.Section("Other");
  reader.Add("log_dir", &options.log_dir,
             "Folder for log files; without it the log goes to stderr.");
  reader.Add("v", &options.verbosity, "Detail of the log.");
  reader.Epilogue(
      "SIGTERM or SIGINT unmounts the segment and stops the node. Exit status: 0 stopped by a "
      "signal, 1 could not start (the\n"
      "last line says why and what to do), 2 an option is wrong.\n");
}

Status FinishStoreNodeOptions(StoreNodeProgramOptions& options) {
  if (const auto master = ParseHostPort(options.node.master_address); !master.ok()) {
    return Annotate(master.status(), "master '" + options.node.master_address + "'");
  }
  if (options.unmount_grace < Duration::zero())
    return Status(ErrorCode::kInvalidParams, "unmount_grace must not be negative");
  options.node.advertised_host = options.advertise;
  if (const auto with_port = ParseHostPort(options.advertise); with_port.ok()) {
    return Status(
        ErrorCode::kInvalidParams,
        "advertise '" + options.advertise + "': give the host only; the port is that of --listen");
  }
  return options.node.Validate();
}

}  // namespace mooncake
