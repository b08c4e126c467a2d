#include "tools/inspect/record_view.h"

#include <utility>
#include <variant>

#include "transfer/base/units.h"

namespace mooncake::inspect {
namespace {

using admin::SetText;

// Replicas as lists of extents.
Json Replicas(const std::vector<core::PlacedExtent>& extents) {
  Json replicas = Json::array();
  for (size_t i = 0; i < extents.size(); ++i) {
    if (i == 0 || extents[i].replica != extents[i - 1].replica) replicas.push_back(Json::array());
    Json extent;
    extent["segment"] = extents[i].segment.ToString();
    extent["offset"] = extents[i].offset;
    extent["length"] = extents[i].length;
    replicas.back().push_back(std::move(extent));
  }
  return replicas;
}

Json Attributes(const ObjectAttributes& attributes) {
  Json json;
  json["kind"] = std::string(admin::NameOf(attributes.kind));
  json["mode"] = attributes.mode;
  json["uid"] = attributes.uid;
  json["gid"] = attributes.gid;
  json["mtime_ms"] = attributes.mtime_ns / 1'000'000;
  return json;
}

struct Setter {
  Json& json;

  void operator()(const core::VersionRecord& r) {
    json["record"] = "version";
    SetText(json, "tenant", r.tenant);
    SetText(json, "key", r.key);
    json["version"] = std::to_string(r.put_id.value);
    json["size"] = r.size;
    json["created_ms"] = r.created_ms;
    json["replicas_wanted"] = r.replicas_wanted;
    json["hard_pin"] = r.hard_pin;
    if (!r.group.empty()) SetText(json, "group", r.group);
    if (r.attributes) json["attributes"] = Attributes(*r.attributes);
    json["replicas"] = Replicas(r.extents);
  }
  void operator()(const core::NameGoneRecord& r) {
    json["record"] = "name_gone";
    SetText(json, "tenant", r.tenant);
    SetText(json, "key", r.key);
    json["version"] = std::to_string(r.put_id.value);
  }
  void operator()(const core::PrefixRenamedRecord& r) {
    json["record"] = "prefix_renamed";
    SetText(json, "tenant", r.tenant);
    SetText(json, "from", r.from);
    SetText(json, "to", r.to);
  }
  void operator()(const core::SegmentRecord& r) {
    const SegmentDescriptor& d = r.descriptor;
    json["record"] = "segment";
    json["id"] = d.id.ToString();
    SetText(json, "name", d.name);
    json["size"] = d.size;
    json["epoch"] = d.epoch.value;
    json["owner"] = d.owner.ToString();
    SetText(json, "host_id", d.host_id);
    SetText(json, "protocol", d.protocol);
    SetText(json, "endpoint", d.endpoint);
    SetText(json, "local_socket", d.local_socket);
  }
  void operator()(const core::SegmentGoneRecord& r) {
    json["record"] = "segment_gone";
    json["id"] = r.id.ToString();
  }
};

}  // namespace

void SetRecord(Json& object, const core::Record& record) { std::visit(Setter{object}, record); }

void SetSnapshot(Json& object, const SnapshotInfo& info) {
  SetText(object, "id", info.id);
  object["usable"] = info.health.ok();
  if (!info.health.ok()) object["trouble"] = EscapeForDisplay(info.health.message());
  object["bytes"] = info.bytes;
  if (!info.health.ok()) return;
  object["records"] = info.footer.records;
  object["begun_ms"] = info.footer.wall_ms;
  object["term"] = info.footer.term.value;
  object["log_from"] = info.footer.from;
  object["log_until"] = info.footer.until;
}

}  // namespace mooncake::inspect
