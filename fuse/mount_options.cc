#include "fuse/mount_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

namespace mooncake::fs {
namespace {

// Options of fstab that are for mount(8), systemd or a network file system, and mean nothing here.
constexpr std::array kIgnored = {"_netdev",     "nofail",     "defaults",
                                 "auto",        "noauto",     "user",
                                 "nouser",      "users",      "owner",
                                 "group",       "rw",         "async",
                                 "sync",        "dirsync",    "relatime",
                                 "strictatime", "norelatime", "nostrictatime",
                                 "lazytime",    "nolazytime", "default_permissions",
                                 "loud",        "silent"};
constexpr std::array kIgnoredPrefixes = {"x-", "X-", "comment=", "fsname=", "subtype="};
constexpr std::array kForKernel = {"suid", "nosuid", "dev",   "nodev",
                                   "exec", "noexec", "atime", "noatime"};

Status Bad(const std::string& option, const std::string& allowed) {
  return Status(ErrorCode::kInvalidParams, "-o " + option + ": " + allowed);
}

using Setter = std::function<Status(MountOptions&, const std::string& value)>;

Setter SizeInto(uint64_t MountOptions::*field, uint64_t least) {
  return [field, least](MountOptions& options, const std::string& value) {
    const auto size = ParseSize(value);
    if (!size.ok()) return size.status();
    if (*size < least) {
      return Status(ErrorCode::kInvalidParams,
                    "a size of at least " + FormatSize(least) + ", as 512MiB or 4GiB");
    }
    options.*field = *size;
    return Status::Ok();
  };
}

Setter DurationInto(Duration MountOptions::*field, Duration least, Duration most) {
  return [=](MountOptions& options, const std::string& value) {
    const auto duration = ParseDuration(value, Seconds(1));
    if (!duration.ok() || *duration < least || *duration > most) {
      return Status(ErrorCode::kInvalidParams, "a duration from " + FormatDuration(least) + " to " +
                                                   FormatDuration(most) + ", as 500ms or 30s");
    }
    options.*field = *duration;
    return Status::Ok();
  };
}

Setter TextInto(std::string MountOptions::*field) {
  return [field](MountOptions& options, const std::string& value) {
    if (value.empty()) return Status(ErrorCode::kInvalidParams, "a value is needed");
    options.*field = value;
    return Status::Ok();
  };
}

template <typename Number>
Setter NumberInto(Number MountOptions::*field, uint32_t least, uint32_t most) {
  return [=](MountOptions& options, const std::string& value) {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < least ||
        number > most) {
      return Status(ErrorCode::kInvalidParams,
                    "a number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    options.*field = static_cast<Number>(number);
    return Status::Ok();
  };
}

Status SetPassthrough(MountOptions& options, const std::string& value) {
  if (value == "auto") {
    options.passthrough = PassthroughMode::kAuto;
  } else if (value == "off") {
    options.passthrough = PassthroughMode::kOff;
  } else if (value == "require") {
    options.passthrough = PassthroughMode::kRequire;
  } else {
    return Status(ErrorCode::kInvalidParams, "auto, off or require");
  }
  return Status::Ok();
}

Status SetSource(MountOptions& options, const std::string& value) {
  if (value != "embedded" && !ParseHostPort(value).ok()) {
    return Status(ErrorCode::kInvalidParams,
                  "'embedded' or the HOST:PORT of a master, as 10.0.0.1:50051");
  }
  options.source = value;
  return Status::Ok();
}

Setter FlagInto(bool MountOptions::*field, bool wanted) {
  return [=](MountOptions& options, const std::string&) {
    options.*field = wanted;
    return Status::Ok();
  };
}

struct Option {
  const char* name;
  bool has_value;
  Setter set;
};

const std::vector<Option>& Options() {
  static const std::vector<Option> options = {
      {"master", true, SetSource},
      {"size", true, SizeInto(&MountOptions::size, 64 * kKiB)},
      {"rpc_port", true, NumberInto(&MountOptions::rpc_port, 0, 65535)},
      {"tenant", true, TextInto(&MountOptions::tenant)},
      {"ro", false, FlagInto(&MountOptions::read_only, true)},
      {"allow_other", false, FlagInto(&MountOptions::allow_other, true)},
      {"nonempty", false, FlagInto(&MountOptions::nonempty, true)},
      {"auto_unmount", false, FlagInto(&MountOptions::auto_unmount, true)},
      {"no_auto_unmount", false, FlagInto(&MountOptions::auto_unmount, false)},
      {"huge", false, FlagInto(&MountOptions::huge_pages, true)},
      {"nohuge", false, FlagInto(&MountOptions::huge_pages, false)},
      {"foreground", false, FlagInto(&MountOptions::foreground, true)},
      {"debug", false, FlagInto(&MountOptions::debug, true)},
      {"timeout", true, DurationInto(&MountOptions::timeout, Millis(100), Seconds(3600))},
      {"entry_timeout", true,
       DurationInto(&MountOptions::entry_timeout, Duration::zero(), Seconds(3600))},
      {"attr_timeout", true,
       DurationInto(&MountOptions::attr_timeout, Duration::zero(), Seconds(3600))},
      {"write_space", true, SizeInto(&MountOptions::write_space, kMiB)},
      {"cache_size", true, SizeInto(&MountOptions::cache_size, kMiB)},
      {"spill_dir", true, TextInto(&MountOptions::spill_dir)},
      {"log_file", true, TextInto(&MountOptions::log_file)},
      {"passthrough", true, SetPassthrough},
      {"threads", true, NumberInto(&MountOptions::threads, 2, 1024)},
  };
  return options;
}

bool IsIgnored(const std::string& text) {
  return std::find(kIgnored.begin(), kIgnored.end(), text) != kIgnored.end() ||
         std::any_of(kIgnoredPrefixes.begin(), kIgnoredPrefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

Status ApplyOption(const std::string& text, MountOptions& options) {
  if (text.empty() || IsIgnored(text)) return Status::Ok();
  if (std::find(kForKernel.begin(), kForKernel.end(), text) != kForKernel.end()) {
    options.kernel_options.push_back(text);
    return Status::Ok();
  }
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  for (const Option& option : Options()) {
    if (name != option.name) continue;
    if (option.has_value != (equals != std::string::npos)) {
      return Bad(text, option.has_value ? "a value is needed" : "takes no value");
    }
    const Status set = option.set(options, option.has_value ? text.substr(equals + 1) : "");
    return set.ok() ? set : Bad(text, set.message());
  }
  return Bad(text, "unknown option; mount.mooncake --help lists all");
}

Status ApplyOptions(std::string_view list, MountOptions& options) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    RETURN_IF_ERROR(ApplyOption(std::string(list.substr(0, comma)), options));
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return Status::Ok();
}

// Letters of the command line: flags that count, options that take the next argument.
struct Letters {
  bool f = false;
  bool d = false;
  bool n_or_s = false;
  bool v = false;
};

Status ApplyLetters(const std::string& argument, Letters& letters) {
  for (const char c : argument.substr(1)) {
    switch (c) {
      case 'f':
        letters.f = true;
        break;
      case 'd':
        letters.d = true;
        break;
      case 'v':
        letters.v = true;
        break;
      case 's':  // "sloppy": unknown options are refused all the same, early and loudly
      case 'n':
        letters.n_or_s = true;
        break;
      default:
        return Status(ErrorCode::kInvalidParams,
                      argument + ": unknown option; mount.mooncake --help lists all");
    }
  }
  return Status::Ok();
}

Status TakePositional(const std::vector<std::string>& positional, MountOptions& options) {
  if (positional.empty())
    return Status(ErrorCode::kInvalidParams, "no directory is named; see mount.mooncake --help");
  if (positional.size() > 2) {
    return Status(ErrorCode::kInvalidParams,
                  "'" + positional[2] + "' is one argument too many: [SOURCE] DIR");
  }
  if (positional.size() == 2) {
    const Status source = SetSource(options, positional[0]);
    if (!source.ok())
      return Status(source.code(), "SOURCE '" + positional[0] + "': " + source.message());
  }
  options.mount_point = positional.back();
  return Status::Ok();
}

// Options that each are right may make no sense together.
Status CheckTogether(const MountOptions& options) {
  if (options.embedded() || (options.size == 0 && options.rpc_port == 0)) return Status::Ok();
  return Bad(options.size != 0 ? "size" : "rpc_port", "is for an embedded store, but the master " +
                                                          options.source +
                                                          " is named; drop one of the two");
}

}  // namespace

Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments) {
  CommandLine line;
  Letters letters;
  std::vector<std::string> positional;
  std::string option_lists;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      line.action = CommandLine::Action::kHelp;
      return line;
    }
    if (argument == "--version" || argument == "-V") {
      line.action = CommandLine::Action::kVersion;
      return line;
    }
    if (argument == "-o" || argument == "-t" || argument == "-N") {
      if (++i == arguments.size())
        return Status(ErrorCode::kInvalidParams, argument + " needs a value");
      if (argument == "-o") option_lists += "," + arguments[i];
    } else if (argument.starts_with("--")) {
      // --master=X is -o master=X: what the other programs of the store are used to.
      option_lists += "," + argument.substr(2);
    } else if (argument.starts_with("-o") && argument.size() > 2) {
      option_lists += "," + argument.substr(2);
    } else if (argument.starts_with("-") && argument.size() > 1) {
      RETURN_IF_ERROR(ApplyLetters(argument, letters));
    } else {
      positional.push_back(argument);
    }
  }
  // SOURCE first, so that -o master= can override it.
  RETURN_IF_ERROR(TakePositional(positional, line.options));
  RETURN_IF_ERROR(ApplyOptions(option_lists, line.options));
  RETURN_IF_ERROR(CheckTogether(line.options));
  // mount(8) calls its helpers with two names, and means "fake" by -f.
  const bool helper = positional.size() == 2;
  if (letters.f) (helper ? line.options.fake : line.options.foreground) = true;
  if (letters.d) line.options.debug = line.options.foreground = true;
  line.options.verbose = letters.v;
  return line;
}

std::string HelpText() {
  return R"(Usage: mount.mooncake DIR [-f] [-d] [-o OPTION,...]
  or:  mount.mooncake SOURCE DIR [-sfnv] [-o OPTION,...]
  or:  mount -t mooncake SOURCE DIR [-o OPTION,...]

Shows the keys of a Mooncake Store as files. The form with SOURCE is how mount(8) and fstab call it.
SOURCE is the HOST:PORT of a master, or 'embedded': a whole store inside this process, which ends with the mount.
Goes to the background once the mount answers. 'umount DIR' ends it.

Options:
  -f            stay in the foreground (with SOURCE, as for mount(8): check everything, mount nothing)
  -d            log every request to stderr, and stay in the foreground
  -v            say more
  -s, -n        accepted, without effect
  -h, --help    this text
  -V, --version

Mount options (behind -o, with commas; sizes take KiB, MiB, GiB, TiB; durations ms, s, m, h; --NAME=VALUE means -o NAME=VALUE):
  master=HOST:PORT    the master, instead of SOURCE; default: embedded
  tenant=NAME         whose keys; default: default
  size=SIZE           memory of an embedded store; default: a quarter of this machine's
  rpc_port=N          loopback port on which an embedded store answers clients and mooncake-admin; default: 0, any free one,
                      which the mount table shows as the source (findmnt)
  ro                  read only
  allow_other         other users may look in; file modes decide what they may do
  nonempty            mount over a directory that has entries
  timeout=DURATION    longest wait of one operation, longer for many bytes; then ETIMEDOUT; default: 30s
  entry_timeout=DURATION  how long a name may be used without asking the master again; default: 1s
  attr_timeout=DURATION   the same for attributes; default: 1s
  write_space=SIZE    memory for files that are being written; more goes to spill_dir; default: an eighth of the memory
  cache_size=SIZE     memory for files that the kernel reads without this process; default: an eighth of the memory
  spill_dir=DIR       where files go that do not fit in write_space; default: /var/tmp
  passthrough=auto|off|require  let the kernel read cached files by itself; require: fail where it cannot; default: auto
  huge, nohuge        huge pages for large files in memory, where the kernel has them; default: huge
  threads=N           most requests handled at once, 2 to 1024; default: 8 times the processors, at least 32
  auto_unmount, no_auto_unmount  unmount by itself if this process is killed (needs fusermount3); default: auto_unmount
  log_file=PATH       default: the system log; stderr in the foreground
  foreground          as -f in the form without SOURCE
  debug               as -d

nosuid, nodev, noexec, noatime and their opposites are passed on; what fstab needs for others (_netdev, nofail, x-*,
defaults, auto, user, ...) is accepted and ignored.

Exit status: 0 mounted, 1 wrong command line, 32 could not mount: one line says why and what to do.
)";
}

}  // namespace mooncake::fs
