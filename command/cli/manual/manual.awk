# Fills in the template of a manual page or a completion: all options, from `blame --describe`, replace its line @OPTIONS@.
#   awk -v form=FORM -v version=VERSION -f manual.awk DESCRIPTION TEMPLATE     FORM: commands, variables (manual pages), bash, zsh, fish
#
# DESCRIPTION has lines KIND<TAB>TEXT. A command has a synopsis, lines about it, options and examples. An option has lines of help, and words with lines of
# meaning; a group is the heading above the next option.
BEGIN { FS = "\t" }

NR == FNR { read_line(); next }
/^@OPTIONS@$/ { write(); next }
{ gsub(/@VERSION@/, version); print }

function read_line()
{
    if ($1 == "command") {
        command[++commands] = $2
        purpose[commands] = $3
    } else if ($1 == "synopsis") {
        synopsis[commands] = $2
    } else if ($1 == "about") {
        about[commands, ++abouts[commands]] = $2
    } else if ($1 == "example") {
        example[commands, ++examples[commands]] = $2
    } else if ($1 == "option") {
        of[++options] = commands
        option[options] = $2
        value[options] = $3
        alone[options] = $4 == "alone" # the value may be missing
        letter[options] = $5
        heading[options] = next_heading
        next_heading = ""
    } else if ($1 == "group") {
        next_heading = $2
    } else if ($1 == "help") {
        help[options, ++helps[options]] = $2
    } else if ($1 == "word") {
        word[options, ++words[options]] = $2
    } else if ($1 == "meaning") {
        meaning[options, words[options], ++meanings[options, words[options]]] = $2
    }
}

function write(    c)
{
    if (form == "variables")
        write_variables()
    else if (form == "zsh" || form == "bash")
        for (c = 1; c <= commands; c++)
            names = names (c > 1 ? " " : "") (form == "zsh" ? quoted(command[c] ":" purpose[c]) : command[c])
    if (form == "zsh")
        print "_blame_commands=(" names ")"
    if (form == "bash")
        write_bash()
    for (c = 1; c <= commands; c++) {
        if (form == "commands")
            write_section(c)
        else if (form == "zsh")
            write_zsh(c)
        else if (form == "fish")
            write_fish(c)
    }
}

# ---- manual pages ----

function roff(text,    out, i, at)
{
    for (i = 1; i <= length(text); i++) {
        at = substr(text, i, 1)
        out = out (at == "\\" ? "\\e" : at == "-" ? "\\-" : at == "'" ? "\\(aq" : at == "`" ? "\\(ga" : at == "^" ? "\\(ha" : at)
    }
    return (text ~ /^[.']/ ? "\\&" : "") out
}

function write_section(c,    i, o, listed, text)
{
    print ".SS blame " command[c] " " roff(synopsis[c])
    for (i = 1; i <= abouts[c]; i++) {
        text = about[c, i]
        if (!!listed != is_item(text)) {
            print listed ? ".RE" : ".RS"
            listed = !listed
        }
        if (listed)
            print ".IP \\fB" roff(item_word(text)) "\\fR\n" roff(item_text(text))
        else
            print text == "" ? ".PP" : roff(text)
    }
    for (o = 1; o <= options; o++)
        if (of[o] == c) {
            write_heading(o)
            write_option((letter[o] == "" ? "" : "-" letter[o] ", ") option[o], " ", o)
        }
    if (examples[c]) {
        print ".PP\nExamples:\n.PP\n.RS 4\n.nf"
        for (i = 1; i <= examples[c]; i++)
            print roff(substr(example[c, i], 3))
        print ".fi\n.RE"
    }
}

# A line of the form `word   what it means`.
function is_item(text) { return text ~ /^[a-z0-9][a-z-]*  +[^ ]/ }
function item_word(text) { return substr(text, 1, index(text, " ") - 1) }
function item_text(text) { sub(/^[^ ]* +/, "", text); return text }

function write_heading(o)
{
    if (heading[o] != "")
        print ".PP\n.I " roff(heading[o])
}

function write_option(name, between, o,    i, j, list)
{
    print ".IP \"\\fB" roff(name) "\\fR" (value[o] == "" ? "" : between "\\fI" roff(value[o]) "\\fR") "\""
    for (i = 1; i <= helps[o]; i++)
        print roff(help[o, i])
    if (!words[o])
        return
    if (!meanings[o, 1]) {
        for (i = 1; i <= words[o]; i++)
            list = list (i > 1 ? ", " : "") word[o, i]
        print roff(list)
        return
    }
    print ".RS"
    for (i = 1; i <= words[o]; i++) {
        print ".IP \\fB" roff(word[o, i]) "\\fR"
        for (j = 1; j <= meanings[o, i]; j++)
            print roff(meaning[o, i, j])
    }
    print ".RE"
}

# The options of `blame run`, which are variables of the environment; those of --stacks are the command's alone.
function write_variables(    o, name)
{
    for (o = 1; o <= options; o++)
        if (command[of[o]] == "run" && value[o] != "" && option[o] !~ /^--stacks/) {
            name = "BLAME" toupper(substr(option[o], 2))
            gsub(/-/, "_", name)
            write_heading(o)
            write_option(name, "=", o)
        }
}

# ---- completions ----

# What stands behind the options: a program and its arguments, an action and profiles, a process, profiles, or nothing.
function operand(c)
{
    return tolower(synopsis[c]) ~ /program/ ? "program" : command[c] == "db" ? "action" : synopsis[c] ~ /^PID/ ? "process" : synopsis[c] ~ /^\[?(DIR|BASE)/ ? "profile" : "none"
}

# What a value is: words, a file, a folder, a profile, or what only the user knows.
function kind(o)
{
    return words[o] ? "words" : option[o] == "--base" ? "profile" : value[o] == "FILE" ? "file" : value[o] == "DIR" ? "folder" : "any"
}

function word_list(o,    i, list)
{
    for (i = 1; i <= words[o]; i++)
        list = list (i > 1 ? " " : "") word[o, i]
    return list
}

# The first words of a text: a menu has a line for each.
function brief(text)
{
    if (text ~ /^\([a-z]+\)/)
        text = substr(text, 2, index(text, ")") - 2)
    sub(/([;(]|:$).*/, "", text)
    sub(/ +$/, "", text)
    gsub(/[\\\]["`$]/, "", text)
    return text
}

function brief_help(o,    i, text)
{
    for (i = 1; i <= helps[o]; i++)
        text = text (i > 1 ? " " : "") help[o, i]
    text = brief(text)
    return text == "" ? value[o] : text
}

function brief_meaning(o, at,    i, text)
{
    for (i = 1; i <= meanings[o, at]; i++)
        text = text (i > 1 ? " " : "") meaning[o, at, i]
    return brief(text)
}

# Shells' own form: a ' in '...' is '\''.
function quoted(text) { gsub(/'/, "'\\''", text); return "'" text "'" }

function write_bash(    c, o, list)
{
    for (c = 1; c <= commands; c++)
        if (operand(c) == "action")
            print "_blame_actions='" actions(c) "'"
    print "_blame_commands='" names "'\n_blame_options()\n{\n    case $1 in"
    for (c = 1; c <= commands; c++) {
        list = ""
        for (o = 1; o <= options; o++)
            if (of[o] == c)
                list = list (list == "" ? "" : " ") option[o]
        print "    " command[c] ") echo '" list "' ;;"
    }
    print "    esac\n}\n_blame_operand()\n{\n    case $1 in"
    for (c = 1; c <= commands; c++)
        print "    " command[c] ") echo " operand(c) " ;;"
    print "    esac\n}\n# What kind of value there is behind COMMAND OPTION, and its words; alone: only behind an equals sign.\n_blame_values()\n{\n    case $1$2 in"
    for (o = 1; o <= options; o++)
        if (value[o] != "")
            print "    " command[of[o]] option[o] ") echo '" (alone[o] ? "alone " : "") kind(o) (words[o] ? " " word_list(o) : "") "' ;;"
    print "    esac\n}"
}

function zsh_value(o,    i, list)
{
    if (kind(o) != "words")
        return kind(o) == "file" ? "_files" : kind(o) == "folder" ? "_files -/" : kind(o) == "profile" ? "_blame_profiles" : ""
    if (!meanings[o, 1])
        return "(" word_list(o) ")"
    for (i = 1; i <= words[o]; i++)
        list = list (i > 1 ? " " : "") word[o, i] "\\:\"" colons(brief_meaning(o, i)) "\""
    return "((" list "))"
}

function write_zsh(c,    o, spec, name)
{
    print "_blame_" command[c] "()\n{\n    _arguments -S" (operand(c) == "program" ? " -A '-*'" : "") " \\"
    for (o = 1; o <= options; o++) {
        if (of[o] != c)
            continue
        name = option[o] (value[o] == "" ? "" : alone[o] ? "=-" : "=")
        spec = "[" brief_help(o) "]" (value[o] == "" ? "" : (alone[o] ? "::" : ":") colons(value[o]) ":" zsh_value(o))
        print "        " (letter[o] == "" ? quoted(name spec) : "'(-" letter[o] " " option[o] ")'{-" letter[o] "," name "}" quoted(spec)) " \\"
    }
    print "        " (operand(c) == "program" ? "'(-)1:program:_command_names -e' '*::argument:_normal'" : operand(c) == "action" ? \
        "'1:action:(" actions(c) ")' '*:profile:_blame_profiles'" : operand(c) == "process" ? "'1:process:_pids'" : operand(c) == "profile" ? \
        "'*:profile:_blame_profiles'" : "") "\n}"
}

function colons(text) { gsub(/:/, "\\:", text); return text }

function actions(c,    i, list)
{
    for (i = 1; i <= abouts[c]; i++)
        if (is_item(about[c, i]))
            list = list (list == "" ? "" : " ") item_word(about[c, i])
    return list
}

function fish_value(o,    i, list)
{
    if (kind(o) != "words")
        return kind(o) == "file" ? "-rF" : kind(o) == "folder" ? "-xa '(__fish_complete_directories)'" : kind(o) == "profile" ? "-xa '(__fish_blame_profiles)'" : \
            alone[o] ? "-f" : "-x"
    for (i = 1; i <= words[o]; i++)
        list = list (i > 1 ? " " : "") word[o, i] (meanings[o, i] ? "\\t\"" brief_meaning(o, i) "\"" : "")
    return (alone[o] ? "-fa " : "-xa ") fish_quoted(list)
}

function fish_quoted(text) { gsub(/'/, "\\'", text); return "'" text "'" }

function write_fish(c,    o, here, list)
{
    for (o = 1; o <= options; o++)
        if (of[o] == c && (value[o] == "" || alone[o]))
            list = list " " option[o]
    if (operand(c) == "program")
        print "set -g __fish_blame_bare_" command[c] list
    here = "complete -c blame -n '__fish_blame_is " command[c] "' "
    print "complete -c blame -n __fish_blame_first -a " command[c] " -d " fish_quoted(purpose[c])
    for (o = 1; o <= options; o++)
        if (of[o] == c)
            print here (letter[o] == "" ? "" : "-s " letter[o] " ") "-l " substr(option[o], 3) (value[o] == "" ? "" : " " fish_value(o)) \
                " -d " fish_quoted(brief_help(o))
    if (operand(c) == "action")
        print "complete -c blame -n '__fish_blame_is " command[c] "; and __fish_blame_first 2' -a '" actions(c) "'\n" \
            "complete -c blame -n '__fish_blame_is " command[c] "; and not __fish_blame_first 2' -a '(__fish_blame_profiles)'"
    else if (operand(c) != "none")
        print here "-a '(" (operand(c) == "program" ? "__fish_blame_program" : operand(c) == "process" ? "__fish_complete_pids" : "__fish_blame_profiles") ")'"
}
