#include "master/tenants/policy_text.h"

#include <cstdint>
#include <map>
#include <optional>
#include <sstream>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "master/api/types.h"
#include "master/tenants/policy_scalars.h"
#include "transfer/base/base64.h"
#include "transfer/base/units.h"

namespace mooncake {
namespace {

constexpr std::string_view kBinaryTag = "tag:yaml.org,2002:binary";
constexpr std::string_view kForm =
    "the form is `version: 1` and `tenants:` with a list of `name:` and `quota:`, [] for none";

std::string LineOf(const YAML::Mark& mark) { return "line " + std::to_string(mark.line + 1); }

struct Scalar {
  YAML::Mark mark;
  std::string tag;
  std::string text;
};

// The events of the parser, so that nothing is built of what the form does not have: a fourth level of nesting, an alias, a list as
// a key end the reading where they stand.
class PolicyReader final : public YAML::EventHandler {
 public:
  const Status& refusal() const { return refusal_; }
  bool finished() const { return place_ == Place::kAfter; }
  QuotaPolicies TakePolicies() { return std::move(policies_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (place_ == Place::kAfter) Refuse(mark, "a second document begins; remove it and its ---");
  }
  void OnDocumentEnd() override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Refuse(mark, "an alias (*name) stands here; write the value itself");
  }
  // The parser notices at the next word, maybe lines later, that there is none.
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    if (key_.empty()) Refuse(mark, "nothing stands where something is due; " + std::string(kForm));
    Refuse(key_mark_, OfTenant() + "`" + key_ + ":` has no value; " + std::string(Cure()));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override;
  void OnSequenceEnd() override { place_ = Place::kRoot; }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override;
  void OnMapEnd() override;

 private:
  //   kBefore ──map──▶ kRoot ──list of `tenants`──▶ kTenants ──map──▶ kTenant
  //                      │ ▲───────────end────────────┘   ▲────end──────┘
  //                      └──end──▶ kAfter
  enum class Place { kBefore, kRoot, kTenants, kTenant, kAfter };

  // Ends the parsing: the library knows no other way out of an event than its own exception.
  [[noreturn]] void Refuse(const YAML::Mark& mark, const std::string& why) {
    refusal_ = Status(ErrorCode::kInvalidParams, LineOf(mark) + ": " + why);
    throw YAML::ParserException(mark, why);
  }
  std::string_view Cure() const;
  std::string OfTenant() const {
    return name_ ? "tenant " + Shown(name_->text) + ": " : std::string();
  }
  void TakeKey(const YAML::Mark& mark, const std::string& key);
  void TakeVersion(const Scalar& scalar);
  std::string NameOf(const Scalar& scalar);
  void FinishTenant();

  Place place_ = Place::kBefore;
  std::string key_;  // whose value comes next; "" between entries
  YAML::Mark key_mark_;
  std::optional<YAML::Mark> version_;
  std::optional<YAML::Mark> tenants_;
  YAML::Mark tenant_;  // the entry that is being read, with what it has so far
  std::optional<Scalar> name_;
  std::optional<Scalar> quota_;
  QuotaPolicies policies_;
  std::map<std::string, int, std::less<>> lines_;
  YAML::Mark root_;
  Status refusal_;
};

std::string_view PolicyReader::Cure() const {
  if (key_ == "version") return "write `version: 1`";
  if (key_ == "tenants") return "write `tenants: []` for none";
  if (key_ == "name") return "write the tenant's name, in quotes if it is a word like null";
  return "write it as in `quota: 10GB`";
}

void PolicyReader::TakeKey(const YAML::Mark& mark, const std::string& key) {
  const bool root = place_ == Place::kRoot;
  const auto take = [&](auto& place_of_it) {
    if (place_of_it) Refuse(mark, OfTenant() + "`" + key + ":` is there twice; remove one");
    key_ = key;
    key_mark_ = mark;
  };
  if (root && key == "version") return take(version_);
  if (root && key == "tenants") return take(tenants_);
  if (!root && key == "name") return take(name_);
  if (!root && key == "quota") return take(quota_);
  Refuse(mark,
         OfTenant() + "the field " + Shown(key) + " is unknown; " +
             (root ? "there are `version:` and `tenants:`" : "a tenant has `name:` and `quota:`"));
}

void PolicyReader::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                            const std::string& value) {
  if (place_ != Place::kRoot && place_ != Place::kTenant) {
    Refuse(mark, Shown(value) + " stands where a " +
                     (place_ == Place::kTenants ? "tenant" : "map") + " is due; " +
                     std::string(kForm));
  }
  if (key_.empty()) return TakeKey(mark, value);
  const Scalar scalar{mark, tag, value};
  if (key_ == "version") {
    TakeVersion(scalar);
  } else if (key_ == "name") {
    name_ = scalar;
  } else if (key_ == "quota") {
    quota_ = scalar;
  } else {
    Refuse(mark, "`tenants: " + Shown(value) + "` is no list; " + std::string(Cure()));
  }
  key_.clear();
}

void PolicyReader::TakeVersion(const Scalar& scalar) {
  if (scalar.text != "1")
    Refuse(scalar.mark,
           "version " + Shown(scalar.text) + " is not known here; " + std::string(Cure()));
  version_ = scalar.mark;
}

void PolicyReader::OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                                   YAML::EmitterStyle::value) {
  if (place_ != Place::kRoot || key_ != "tenants") {
    Refuse(mark, "a list stands where none is due; " +
                     (key_.empty() ? std::string(kForm) : std::string(Cure())));
  }
  tenants_ = mark;
  key_.clear();
  place_ = Place::kTenants;
}

void PolicyReader::OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                              YAML::EmitterStyle::value) {
  if (place_ == Place::kBefore) {
    root_ = mark;
    place_ = Place::kRoot;
  } else if (place_ == Place::kTenants) {
    tenant_ = mark;
    place_ = Place::kTenant;
  } else {
    Refuse(mark, "a map stands where none is due; " +
                     (key_.empty() ? std::string(kForm) : std::string(Cure())));
  }
}

void PolicyReader::OnMapEnd() {
  if (place_ == Place::kTenant) {
    FinishTenant();
    name_.reset();
    quota_.reset();
    place_ = Place::kTenants;
    return;
  }
  if (!version_) Refuse(root_, "there is no `version:`; write `version: 1` at the top");
  if (!tenants_) Refuse(root_, "there are no `tenants:`; write `tenants: []` for none");
  place_ = Place::kAfter;
}

std::string PolicyReader::NameOf(const Scalar& scalar) {
  std::string name = scalar.text;
  if (scalar.tag == kBinaryTag) {
    std::erase_if(name, [](char c) { return c == ' ' || c == '\n'; });  // other writers fold it
    auto bytes = DecodeBase64(name);
    if (!bytes)
      Refuse(scalar.mark,
             "the name " + Shown(name) + " is no base64; correct it, or write it without !!binary");
    name = std::move(*bytes);
  }
  if (name.empty())
    Refuse(scalar.mark, "a tenant's name is empty; the tenant of those who name none is `default`");
  if (name.size() > kMaxTenantBytes) {
    Refuse(scalar.mark, "the name " + Shown(name) + " has " + std::to_string(name.size()) +
                            " bytes; at most " + std::to_string(kMaxTenantBytes) + " are allowed");
  }
  return name;
}

void PolicyReader::FinishTenant() {
  if (!name_) Refuse(tenant_, "a tenant has no name; add `name:`");
  const std::string name = NameOf(*name_);
  const std::string tenant = "tenant " + Shown(name) + ": ";
  if (!quota_) Refuse(tenant_, tenant + "there is no quota; add one as in `quota: 10GB`");
  const auto quota = ParseQuota(quota_->text);
  if (!quota.ok()) Refuse(quota_->mark, tenant + "quota " + quota.message());
  const auto [earlier, is_new] = lines_.emplace(name, name_->mark.line + 1);
  if (!is_new)
    Refuse(name_->mark,
           tenant + "it is in line " + std::to_string(earlier->second) + " already; remove one");
  policies_.emplace(name, *quota);
}

// The parser would take other bytes for something else in silence.
Status CheckBytes(std::string_view text) {
  if (text.size() > kMaxPolicyTextBytes) {
    return {ErrorCode::kInvalidParams, "the text has " + std::to_string(text.size()) +
                                           " bytes; at most " +
                                           std::to_string(kMaxPolicyTextBytes) + " are read"};
  }
  size_t line = 1;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\n') ++line;
    const size_t length =
        c == '\n' || c == '\r' || c == '\t' ? 1 : PrintableLength(text.substr(i, 4));
    if (length == 0) {
      return {
          ErrorCode::kInvalidParams,
          "line " + std::to_string(line) + ": the byte " + EscapeForDisplay(text.substr(i, 1)) +
              " is no printable UTF-8; in a name write it as \"\\x07\" in double quotes if it is "
              "a control character, or the whole name as !!binary and its base64"};
    }
    i += length;
  }
  return Status::Ok();
}

}  // namespace

Result<QuotaPolicies> ParsePolicyText(std::string_view text) {
  RETURN_IF_ERROR(CheckBytes(text));
  PolicyReader reader;
  try {
    // The comment makes the parser notice a quote that is open at the end of a line which is the last.
    std::istringstream stream(std::string(text) + "\n#");
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(reader)) continue;
  } catch (const YAML::Exception& error) {
    if (!reader.refusal().ok()) return reader.refusal();
    return Status(ErrorCode::kInvalidParams,
                  LineOf(error.mark) + ": no YAML: " + error.msg + "; " + std::string(kForm));
  }
  if (!reader.finished())
    return Status(ErrorCode::kInvalidParams, "the text is empty; " + std::string(kForm));
  return reader.TakePolicies();
}

Result<std::string> WritePolicyText(const QuotaPolicies& policies) {
  RETURN_IF_ERROR(CheckQuotaPolicies(policies));
  std::string text = "version: 1\ntenants:";
  if (policies.empty()) text += " []";
  text += '\n';
  for (const auto& [name, quota] : policies)
    text += "  - name: " + YamlOfName(name) + "\n    quota: " + FormatQuota(quota) + "\n";
  if (text.size() > kMaxPolicyTextBytes) {
    return Status(ErrorCode::kInvalidParams, std::to_string(policies.size()) + " policies take " +
                                                 std::to_string(text.size()) + " bytes; at most " +
                                                 std::to_string(kMaxPolicyTextBytes) + " are kept");
  }
  return text;
}

}  // namespace mooncake
