"""`blame tune --specialise`: writes what earlier searches found as code that chooses settings: a C header, and functions of a POSIX shell."""

import os
import re

from scipy.special import btdtri

from . import __version__
from .cases import SHARES, Cases, machine_facts, share_facts
from .command import Refused, say, write_whole
from .database import opened
from .text import clean, decimal, plural

NOTHING_BETTER = 3  # exit status
MARK, MARK_ROOM = "made by blame tune --specialise", 2000  # the second: bytes at the beginning of a file in which the mark is searched
TAIL = 0.025
HARMLESS = re.compile(r"[A-Za-z0-9 _.,:;=+\-()<>@%/]")
VARIABLES = {"threads": "OMP_NUM_THREADS", "schedule": "OMP_SCHEDULE", "wait": "OMP_WAIT_POLICY", "bind": "OMP_PROC_BIND", "places": "OMP_PLACES",
             "dynamic": "OMP_DYNAMIC", "levels": "OMP_MAX_ACTIVE_LEVELS", "stack": "OMP_STACKSIZE"}
RESERVED = set("auto break case char const continue default do double else enum extern float for goto if inline int long register restrict return short signed sizeof "
               "static struct switch typedef union unsigned void volatile while bool true false class new delete this template typename namespace operator public "
               "private protected virtual friend using try catch throw and or not xor asm export explicit mutable wchar_t begin end function getline in next print "
               "printf number exit index length match split substr system tolower toupper rand srand value strcmp".split())


def model_of(cases, early=False):
    try:
        from .model import Model
    except ImportError as error:
        raise Refused("--specialise needs scikit-learn, which this Python lacks; install python3-sklearn") from error
    return Model(cases, early)


def shown(text):
    """Returns the text for a comment or a string of C and of awk. Characters that could end it are written in octal."""
    found = "".join(character if HARMLESS.fullmatch(character) else "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape")) for character in text)
    return found.replace("//", "/\\057")


# ---- the tree as text ----

def choices(node, i):
    """Returns the values of a dimension that the leaves below a node have."""
    return {node.setting[i]} if node.feature is None else choices(node.below, i) | choices(node.above, i)


def condition(node, above):
    name = shown(node.feature.name)
    if node.word is not None:
        return f"{name} {'=' if above else 'is not'} {shown(node.word)}"
    return f"{name} {'>' if above else '<='} {node.threshold:.6g}"


def tree_text(model, node, i, depth, before):
    if len(choices(node, i)) == 1:
        value, leaf = choices(node, i).pop(), node
        wrong = leaf.wrong.get(i, 0) if leaf.feature is None or leaf.setting[i] == value else leaf.count - leaf.wrong.get(i, 0)
        return f"{shown(model.of.values[i][value])} ({node.count}{f', of these wrong {wrong}' if wrong else ''})"
    return "".join(f"\n{before}{'  ' * depth}{condition(node, above)}: {tree_text(model, below, i, depth + 1, before)}"
                   for above, below in ((False, node.below), (True, node.above)))


def trees_text(model, before=""):
    if not model.cases:
        return ""
    return "".join(f"{before}{shown(name)}: {tree_text(model, model.tree.root, i, 1, before)}\n" for i, name in enumerate(model.of.dimensions))


def part_text(wrong, count):
    low = btdtri(wrong, count - wrong + 1, TAIL) if wrong else 0.0
    high = btdtri(wrong + 1, count - wrong, 1 - TAIL) if wrong < count else 1.0
    return f"{wrong} of {count} ({decimal(100 * low, 0)} to {decimal(100 * high, 0)} %)"


def error_text(model, before=""):
    group, count = "application" if model.by_application else "input", len(model.cases)
    text = f"{before}learned from {count} searches with {model.group_count} {group}s"
    if model.group_count < 2:
        return text + "; there are not enough searches to validate it\n"
    text += f"; validated on {group}s left out, in {model.folds} parts\n"
    for name, wrong, usual in zip(model.of.dimensions, model.wrong, model.usual_wrong):
        text += f"{before}{shown(name)}: wrong for {part_text(wrong, count)}; always the default: {part_text(usual, count)}\n"
    text += (f"{before}time lost against the best setting: {decimal(model.lost, 1)} %; always the default: {decimal(model.usual_lost, 1)} %; gained"
             f" {decimal(model.gain, 1)} %, 95 % interval from the variation of the runs: {decimal(model.low, 1)} to {decimal(model.high, 1)}\n")
    if model.untried:
        text += f"{before}{model.untried} of the predicted settings were not tried in their search; each counts as slow as the slowest of the most similar settings\n"
    return text


# ---- names in code ----

def identifier(text):
    name = re.sub(r"[^A-Za-z0-9_]", "_", text) or "_"
    return "_" + name if name[0].isdigit() or name in RESERVED else name


def different(texts, taken=()):
    """Returns a different identifier for each text."""
    names, used = [], set(taken)
    for text in texts:
        name, number = identifier(text), 2
        while name in used:
            name, number = f"{identifier(text)}_{number}", number + 1
        used.add(name)
        names.append(name)
    return names


class Writer:
    def __init__(self, model, application):
        self.model, self.application, self.name = model, application, identifier(application)
        self.dimensions = different(model.of.dimensions, ["apply"])
        argument = different([re.sub(r"^(input|parameter)\.", "", feature.name) for feature in model.features])
        asked = asked_of(model.tree.root)
        wanted = [(feature, name) for feature, name in zip(model.features, argument) if not feature.name.startswith("machine.") or feature.name in asked]
        self.features = [feature for feature, _ in wanted]
        self.arguments = {feature.name: name for feature, name in wanted}

    def provenance(self, before):
        return (f"{before}Settings of {shown(self.application)} by its input, {MARK} (blame {__version__}); generated, so do not edit.\n{before}\n"
                + error_text(self.model, before) + f"{before}\n" + trees_text(self.model, before))

    def node(self, node, i, depth, language):
        """Returns the statements of a node. An unknown value fulfils no condition, and the node's own setting is then used."""
        indent, values = "    " * depth, self.model.of.values[i]

        def result(value, note):
            text = shown(values[value])
            note += plural(node.count, "case")
            return f'{indent}return "{text}"; /* {note} */\n' if language == "c" else f'{indent}print "{text}"; exit # {note}\n'

        if len(choices(node, i)) == 1:
            return result(choices(node, i).pop(), "")
        argument = self.arguments[node.feature.name]
        if node.word is None:
            known = "" if language == "c" else f"number({argument}) && "
            above, below = f"{known}{argument} > {node.threshold:.17g}", f"{known}{argument} <= {node.threshold:.17g}"
        else:
            above = f'strcmp({argument}, "{shown(node.word)}") == 0' if language == "c" else f'{argument} == "{shown(node.word)}"'
            below = f"*{argument}" if language == "c" else f'{argument} != ""'
        return (f"{indent}if ({above}) {{\n{self.node(node.above, i, depth + 1, language)}{indent}}} else if ({below}) {{\n"
                f"{self.node(node.below, i, depth + 1, language)}{indent}}}\n" + result(node.setting[i], "unknown; all "))

    def parameters(self, types):
        texts = [f"{('double ' if feature.words is None else 'const char *') if types else ''}{self.arguments[feature.name]}" for feature in self.features]
        return ", ".join(texts) or ("void" if types else "")


def asked_of(node):
    return set() if node.feature is None else {node.feature.name} | asked_of(node.below) | asked_of(node.above)


# ---- the header ----

def call_of(dimension, value):
    """Returns the OpenMP call that sets the value, or None if there is none."""
    if dimension == "threads" and re.fullmatch("[0-9]{1,9}", value):
        return f"omp_set_num_threads({value});"
    found = re.fullmatch("(static|dynamic|guided|auto)(?:,([0-9]{1,9}))?", value) if dimension == "schedule" else None
    return f"omp_set_schedule(omp_sched_{found[1]}, {found[2] or 0});" if found else None


def header(writer):
    model, name = writer.model, writer.name
    text = "/*\n" + writer.provenance(" * ")
    text += (f" *\n * Pass NAN for an unknown number, and for an unknown word: \"\".\n */\n#ifndef BLAME_SETTINGS_OF_{name}\n#define BLAME_SETTINGS_OF_{name}\n\n#include <string.h>\n"
             "#ifdef _OPENMP\n#include <omp.h>\n#endif\n")
    for i, dimension in enumerate(writer.dimensions):
        text += f"\nstatic inline const char *{name}_{dimension}({writer.parameters(True)})\n{{\n"
        for feature in writer.features:
            argument = writer.arguments[feature.name]
            text += f"    (void){argument};\n" if feature.words is None else f"    {argument} = {argument} ? {argument} : \"\";\n"
        text += writer.node(model.tree.root, i, 1, "c") + "}\n"
    text += ("\n/* Sets what OpenMP has calls for: the number of threads of later parallel regions, and the schedule of their loops with schedule(runtime).\n" " * The shell functions set everything else in the environment, before the program starts. Settings whose default is best stay unchanged. */\n"
             f"static inline void {name}_apply({writer.parameters(True)})\n{{\n    const char *value;\n    (void)value;\n")
    for i, dimension in enumerate(writer.dimensions):
        text += f"    value = {name}_{dimension}({writer.parameters(False)});\n#ifdef _OPENMP\n"
        for value in model.of.values[i][1:]:
            call = call_of(model.of.dimensions[i], value)
            text += f'    if (strcmp(value, "{shown(value)}") == 0)\n        {call}\n' if call else ""
        text += "#endif\n"
    return text + "}\n\n#endif\n"


# ---- the shell ----

def variable_of(dimension):
    return VARIABLES.get(dimension) or (dimension if re.fullmatch("[A-Z_][A-Z_0-9]*", dimension) else None)


def shell(writer):
    model, name = writer.model, writer.name
    text = writer.provenance("# ")
    text += f"#\n# Pass \"\" for an unknown value. Load this file into a POSIX shell: . ./FILE\n# arguments of each function: {writer.parameters(False)}\n"
    for i, dimension in enumerate(writer.dimensions):
        text += f"\n{name}_{dimension}() {{\n    LC_ALL=C awk '\n"
        text += "function number(x) { return x ~ /^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$/ }\nBEGIN {\n"
        text += "".join(f"    {writer.arguments[feature.name]} = ARGV[{at}]\n" for at, feature in enumerate(writer.features, 1))
        text += writer.node(model.tree.root, i, 1, "awk") + "}' \"$@\"\n}\n"
    text += f"\n# Sets variables for programs that are started afterwards. Variables whose default is best stay unchanged.\n{name}_apply() {{\n"
    for i, dimension in enumerate(writer.dimensions):
        variable = variable_of(model.of.dimensions[i])
        if variable:
            text += f"    blame_value=$({name}_{dimension} \"$@\")\n    case $blame_value in\n    default) ;;\n"
            text += "    [0-9]*) export KMP_BLOCKTIME=\"$blame_value\" ;;\n" if variable == "OMP_WAIT_POLICY" else ""
            text += f"    *) export {variable}=\"$blame_value\" ;;\n    esac\n"
    return text + "    unset blame_value\n}\n"


# ---- the command ----

def check_ours(path):
    """Raises Refused if the file exists and is not one of ours: FILE.h may be one of the program's own headers."""
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            if MARK not in file.read(MARK_ROOM):
                raise Refused(f"{path}: already exists and was not written by --specialise; name another file, or remove this one")


def write(database, application, file):
    with opened("tune", database) as trials:
        cases = Cases(trials, application)
    if not cases.all:
        of = f" of the application {application}" if application else ""
        raise Refused(f"{database}: has no search{of}; run blame tune first, with --input for the features of the input")
    other = next((case.application for case in cases.all if case.application != cases.all[0].application), None)
    if other:
        raise Refused(f"{database}: has searches of several applications, such as {cases.all[0].application} and {other}; select one with --application NAME")
    model = model_of(cases)
    print(clean_lines(trees_text(model) + error_text(model)), end="")
    if model.refusal():
        say("tune", f"nothing was written: {model.refusal()}")
        return NOTHING_BETTER
    stem = file[:-2] if file.endswith(".h") and len(file) > 2 else file
    files = {stem + ".h": header, stem + ".sh": shell}
    for path in files:
        check_ours(path)
    writer = Writer(model, cases.all[0].application)
    for path, make in files.items():
        write_whole("tune", path, make(writer))
    print(f"wrote {stem}.h and {stem}.sh")
    return 0


def clean_lines(text):
    return "".join(clean(line) + "\n" for line in text.splitlines())


def first_guess(database, application, profile, inputs):
    """Returns (values by dimension, reason if there are none). The application's own searches are used first, and those of other applications only if
    they are not enough. ({}, None) means that nothing is better than the default."""
    head = profile.head
    facts = {f"input.{name}": number(value) for name, value in inputs}
    facts |= machine_facts(head["cores"], head["cpu_model"], head["threads"]) | share_facts([profile.seconds[name.replace("_", "-")] for name in SHARES])
    for own in (application, None):
        cases = Cases(database, own)
        if len(cases.cases) < 3:
            continue
        try:
            model = model_of(cases, early=True)
        except Refused:
            return {}, "scikit-learn is not installed (python3-sklearn)"
        if model.better:
            setting = model.tree.root.choose(facts)
            return {name: cases.values[i][setting[i]] for i, name in enumerate(cases.dimensions)}, None
    return {}, None


def number(text):
    try:
        return float(text)
    except ValueError:
        return text
