#include "tools/admin/exit_status.h"

namespace mooncake::admin {
namespace {

int Badness(ExitStatus status) {
  switch (status) {
    case ExitStatus::kOk:
      return 0;
    case ExitStatus::kFailed:
      return 1;
    case ExitStatus::kUsage:
      return 2;
    case ExitStatus::kUnreachable:
      return 3;
  }
  return 0;
}

}  // namespace

ExitStatus ExitStatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk:
      return ExitStatus::kOk;
    case ErrorCode::kRpcFail:
    case ErrorCode::kRpcTimeout:
      return ExitStatus::kUnreachable;
    case ErrorCode::kInvalidKey:
    case ErrorCode::kInvalidParams:
      return ExitStatus::kUsage;
    default:
      return ExitStatus::kFailed;
  }
}

ExitStatus Worse(ExitStatus a, ExitStatus b) { return Badness(a) >= Badness(b) ? a : b; }

std::string_view CureOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kRpcFail:
      return "check that mooncake-master runs there, and --master or MOONCAKE_MASTER";
    case ErrorCode::kRpcTimeout:
      return "if it was a change, it may or may not have happened: look, then repeat it, with a "
             "longer --timeout if need be";
    case ErrorCode::kObjectNotFound:
      return "mooncake-admin ls shows the keys of this tenant";
    case ErrorCode::kObjectAlreadyExists:
      return "--replace puts the new value in its place";
    case ErrorCode::kObjectHasLease:
      return "somebody reads it: wait until the lease ends, or use --force";
    case ErrorCode::kObjectReplicaBusy:
    case ErrorCode::kReplicaIsNotReady:
      return "a write is in progress: try again when it has ended";
    case ErrorCode::kNoAvailableHandle:
      return "remove objects, add a store node, or wait until leases end; mooncake-admin segments "
             "shows the room";
    case ErrorCode::kTenantQuotaExceeded:
      return "remove objects of the tenant, wait until leases end, or give it more: mooncake-admin "
             "quota set";
    case ErrorCode::kTransferFail:
      return "check that the store nodes run and their endpoints (mooncake-admin segments) can be "
             "reached from here";
    case ErrorCode::kReplicaIsGone:
    case ErrorCode::kLeaseExpired:
      return "its node went away or was too slow: try again";
    default:
      return "";
  }
}

std::string Explain(const Status& status) {
  std::string text =
      status.message().empty() ? std::string(ErrorCodeName(status.code())) : status.message();
  if (const std::string_view cure = CureOf(status.code()); !cure.empty()) {
    text += "; ";
    text += cure;
  }
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

}  // namespace mooncake::admin
