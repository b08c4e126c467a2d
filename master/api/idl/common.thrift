// What every service of the store shares on the wire. Field ids are never reused; a field that goes is listed as reserved.
namespace cpp mooncake.thriftgen

// The outcome of a call or of one entry of a batch. Numbers: ErrorCode in transfer/base/status.h. 0 = OK.
struct Status {
  1: i32 code = 0
  2: optional string message
}

struct Uuid {
  1: i64 high
  2: i64 low
}

// (tenant, key). No tenant = the default tenant.
struct ObjectName {
  1: binary key
  2: optional string tenant
}
