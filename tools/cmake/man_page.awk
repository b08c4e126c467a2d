# A man page from a hand-written frame and what the program says of itself, so that the two cannot disagree.
#
#   awk -v program=build/bin/NAME -v name=NAME -v section=8 -v version=1.2 -v date=2026-01-31 -f man_page.awk NAME.8.in
#
# The frame is a page in the language of man(7) without its .TH. Of its lines these are replaced by parts of --help:
#   @SYNOPSIS@     the lines after "Usage:"
#   @DESCRIPTION@  text before the options
#   @OPTIONS@      options and arguments, group by group
#   @COMMANDS@     each subcommand with all of its own --help, and so on down
#   @NOTES@        text behind the options
#   @EXIT_STATUS@  "Exit status: 0 this, 1 that" as a list

function escaped(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  gsub(/'/, "\\(aq", text)
  gsub(/`/, "\\(ga", text)
  gsub(/\^/, "\\(ha", text)
  gsub(/~/, "\\(ti", text)
  return text ~ /^\./ ? "\\&" text : text
}

# What is typed as it stands is bold, what stands for something else (in capitals) italic.
function marked(text, only_dashed,    out, word) {
  gsub(/,-/, ", -", text)
  while (match(text, /[A-Za-z0-9_-][A-Za-z0-9_.-]*/)) {
    word = substr(text, RSTART, RLENGTH)
    out = out escaped(substr(text, 1, RSTART - 1))
    if (word ~ /^[A-Z][A-Z0-9]*$/) out = out "\\fI" escaped(word) "\\fP"
    else if (word ~ /^-/ || (!only_dashed && word ~ /[a-z]/)) out = out "\\fB" escaped(word) "\\fP"
    else out = out escaped(word)
    text = substr(text, RSTART + RLENGTH)
  }
  return out escaped(text)
}

# One line of --help below "Options:" and its like: "  NAME  (default: X)", "  NAME   text", or only the name.
function item(line,    tag, rest) {
  line = substr(line, 3)
  tag = line
  if (match(line, /   */)) {
    tag = substr(line, 1, RSTART - 1)
    rest = substr(line, RSTART + RLENGTH)
  }
  sub(/ REQUIRED$/, "", tag)  # the synopsis says so
  tag = marked(tag, tag ~ /^-/)
  if (rest ~ /^\(default: .*\)$/) {
    tag = tag "  " escaped(rest)
    rest = ""
  }
  return ".TP\n" tag "\n" (rest == "" ? "" : escaped(rest) "\n")
}

function heading(line,    title, note) {
  sub(/:$/, "", line)
  title = line
  if (match(line, / \(.*\)$/)) {
    title = substr(line, 1, RSTART - 1)
    note = escaped(toupper(substr(line, RSTART + 2, 1)) substr(line, RSTART + 3, RLENGTH - 4)) ".\n"
  }
  return ".SS " escaped(title) "\n" note
}

function literal(line) {
  sub(/^ */, "", line)
  return ".PP\n.RS\n.nf\n.B " escaped(line) "\n.fi\n.RE\n"
}

# `text` with one more line of plain --help.
function prose(text, line,    paragraph) {
  paragraph = text == "" ? "" : ".PP\n"
  if (line ~ /^  /) return text literal(line)
  if (line ~ /^Example: /) return text paragraph "Example:\n" literal(substr(line, 10))
  return text (after_blank || line ~ /^Example/ ? paragraph : "") escaped(line) "\n"
}

# Reads the --help of `words`, a program and subcommands, into the variables below.
function read_help(words,    command, line, mode, front) {
  usage = description = options = notes = exit_status = commands = ""
  mode = "text"
  front = after_blank = 1
  command = words " --help"
  while ((command | getline line) > 0) {
    if (line == "") {
      after_blank = 1
      if (mode == "status") mode = "text"
      continue
    }
    if (sub(/^(Usage:|  or:) +/, "", line)) {
      usage = usage line "\n"
    } else if (after_blank && line ~ /^[A-Z].*:$/ && line !~ /^Example/) {
      front = 0
      mode = line == "Subcommands:" ? "commands" : "options"
      if (line !~ /^(Options|Positionals|Subcommands):/) options = options heading(line)
    } else if (line ~ /^  / && mode == "commands") {
      if (line ~ /^  [^ ]/ && split(line, word) > 0) commands = commands " " word[1]
    } else if (line ~ /^  / && mode == "options") {
      options = options (line ~ /^  [^ ]/ ? item(line) : escaped(substr(line, match(line, /[^ ]/))) "\n")
    } else if (mode == "status") {
      exit_status = exit_status " " line
    } else {
      mode = "text"
      if (match(line, /Exit status: /)) {
        mode = "status"
        exit_status = substr(line, RSTART + RLENGTH)
        line = substr(line, 1, RSTART - 1)
        sub(/ +$/, "", line)
      }
      if (line != "" && front) description = prose(description, line)
      else if (line != "") notes = prose(notes, line)
    }
    after_blank = 0
  }
  if (close(command) != 0 || usage == "") fail(command " failed, or says no usage")
}

function fail(why) {
  print "man_page.awk: " why > "/dev/stderr"
  failed = 1
  exit 1
}

# Subcommands that say the same at their end as what is above them do so because they inherit it.
function describe(path, names, inherited,    count, list, i, own, title, notes_here) {
  count = split(names, list)
  for (i = 1; i <= count; ++i) {
    read_help(program " " path list[i])
    title = usage
    sub(/\n.*/, "", title)
    sub("^[^ ]*" name " ", "", title)
    gsub(/ (\[OPTIONS\]|SUBCOMMAND)/, "", title)
    print ".SS \"" escaped(title) "\""
    own = options
    sub(/\.TP\n[^\n]*help[^\n]*\n[^\n]*\n/, "", own)  # the same everywhere
    printf "%s", description own (notes == inherited ? "" : ".PP\n" notes)
    describe(path list[i] " ", commands, notes)
  }
}

function synopsis(usage,    count, list, i) {
  count = split(usage, list, "\n")
  for (i = 1; i < count; ++i) print (i > 1 ? ".br\n" : "") marked(list[i])
}

function status_list(text) {
  sub(/\.$/, "", text)
  while (match(text, /[;,] [0-9]+ /)) {
    status_item(substr(text, 1, RSTART - 1))
    text = substr(text, RSTART + 2)
  }
  status_item(text)
}

function status_item(text) {
  print ".TP\n.B " substr(text, 1, index(text, " ") - 1) "\n" escaped(substr(text, index(text, " ") + 1))
}

BEGIN {
  read_help(program)
  main_usage = usage
  main_description = description
  main_options = options
  main_commands = commands
  main_notes = notes
  main_status = exit_status
  print ".\\\" Generated from " name "." section ".in and " name " --help."
  print ".TH " toupper(name) " " section " " date " \"Mooncake Store " version "\""
}
/^@SYNOPSIS@$/ { synopsis(main_usage); next }
/^@DESCRIPTION@$/ { printf "%s", main_description; next }
/^@OPTIONS@$/ { printf "%s", main_options; next }
/^@COMMANDS@$/ { describe("", main_commands, main_notes); next }
/^@NOTES@$/ { printf "%s", main_notes; next }
/^@EXIT_STATUS@$/ { status_list(main_status); next }
/^@/ { fail("unknown placeholder: " $0) }
{ print }
END { exit failed }
