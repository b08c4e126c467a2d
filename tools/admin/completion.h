// What may stand where the cursor is on a command line, read off the parser itself, so that every command and option there is
// can be completed. Pure.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace mooncake::admin {

struct Candidate {
  std::string word;
  std::string help;  // "" for values
};

// The word of the only candidate where the name of a file is wanted: the shell knows those.
inline constexpr char kFileWanted[] = "FILE";

// `words`: the line without the program, up to the cursor; the last one is what is to be completed, "" if not begun. Words may
// be cut before and behind '=' and ':', as bash does. The candidates begin with what is there, behind the '=' of --name=value.
std::vector<Candidate> Complete(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace mooncake::admin
