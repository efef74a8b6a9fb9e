"""Writes make rules for test programs from what their sources say of themselves, in comments at the top:

    /* needs: tests/unit/fake_clock.c */    what takes the place of the product's own, or is not in its archive
    /* libs: -rdynamic */                   flags of the linker
    /* programs: names */                   a make target whose products they read

    python3 tests/rules.py FOLDER VARIABLE SOURCE ...      FOLDER below $(BUILD), VARIABLE takes the programs' names"""

import os
import re
import sys

FIELD = re.compile(r"/\*\s*(needs|libs|programs):(.*?)\*/", re.DOTALL)


def fields_of(path):
    with open(path, encoding="utf-8") as file:
        head = file.read(4096)
    fields = {"needs": [], "libs": [], "programs": []}
    for name, text in FIELD.findall(head):
        fields[name] += [word for word in text.split() if word != "*"]
    for i, word in enumerate(fields["programs"]):
        if word.startswith("("):  # a remark
            fields["programs"] = fields["programs"][:i]
            break
    return fields


def rule_of(folder, source):
    fields = fields_of(source)
    program = f"$(BUILD)/{folder}/{os.path.splitext(os.path.basename(source))[0]}"
    objects = [f"$(BUILD)/{os.path.splitext(name)[0]}.o" for name in [source] + fields["needs"]]
    programs = " | " + " ".join(fields["programs"]) if fields["programs"] else ""
    rule = f"{program}: {' '.join(objects)} $(UNITS) {source}{programs}\n"
    rule += "\t@mkdir -p $(@D)\n"
    rule += f"\t$(CC) $(SAN_FLAGS) -o $@ $(filter %.o,$^) $(UNITS) {' '.join(fields['libs'])} $(UNIT_LIBS) -lcmocka -lpthread -ldl -lm\n"
    return program, rule


def main():
    folder, variable = sys.argv[1:3]
    rules = [rule_of(folder, source) for source in sys.argv[3:]]
    print(f"{variable} := {' '.join(program for program, _ in rules)}\n")
    print("\n".join(rule for _, rule in rules))


if __name__ == "__main__":
    main()
