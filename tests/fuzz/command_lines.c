#include "tests/fuzz/command_lines.h"

#include <stdio.h>
#include <string.h>

#include "command/cli/cli.h"

#define MOST_WORDS 16

const struct command_line command_lines[] = {
#define REPORT(view)                                                                                                   \
    {.text = "report in --view " view, .run = cli_report},                                                             \
    {                                                                                                                  \
        .text = "report in --format csv --view " view, .run = cli_report                                               \
    }
    REPORT("top-down"),
    REPORT("bottom-up"),
    REPORT("flat"),
    REPORT("threads"),
    REPORT("locks"),
    REPORT("waits"),
    REPORT("findings"),
    REPORT("phases"),
    REPORT("timeline"),
    REPORT("culprits"),
    REPORT("ranks --all"),
    REPORT("spread"),
    REPORT("balance --all"),
    {.text = "report in --format folded --sort lock-wait", .run = cli_report},
    {.text = "report in --error --source --percent relative --min 0 --thread 1", .run = cli_report},
    {.text = "report in --view flat --by construct --focus a --hide 1 --depth 3 --environment shared",
     .run = cli_report},
    {.text = "html in --output made", .run = cli_html},
    {.text = "export in --format folded", .run = cli_export},
    {.text = "export in --format speedscope", .run = cli_export},
    {.text = "export in --format pprof --output made", .run = cli_export},
    {.text = "export in --format hatchet", .run = cli_export},
    {.text = "export in --format cube --output made", .run = cli_export},
    {.text = "export in --format stacks", .run = cli_export},
    {.text = "export in --format perfetto --output made", .run = cli_export},
    {.text = "export in --format firefox --output made", .run = cli_export},
    {.text = "export in --format hpctoolkit --output made", .run = cli_export},
    {.text = "export in --format tau --output made", .run = cli_export},
    {.text = "diff base in", .run = cli_diff},
    {.text = "diff in base --format csv", .run = cli_diff},
    {.text = "stat in base", .run = cli_stat},
    {.text = "export in base more --format trial --output made", .run = cli_export},
    {.text = "export in more --format trial --common top-down", .run = cli_export},
    {.text = "export more in --format trial --common flat --output made", .run = cli_export},
    {.text = "finish in", .run = cli_finish},
    {.text = "merge job --output made.blame -j 1", .run = cli_merge},
    {.text = "report job --view findings", .run = cli_report},
    {.text = "export job --format hpctoolkit --output made", .run = cli_export},
    {.text = "export job --format trial --output made", .run = cli_export},
    {.text = "report in --view timeline --all --thread 0", .run = cli_report},
};
_Static_assert(sizeof command_lines / sizeof *command_lines == COMMAND_LINES, "each is counted");

int command_line_run(const struct command_line *line)
{
    char text[256], *words[MOST_WORDS], *rest = text, *word;
    int count = 0;
    snprintf(text, sizeof text, "%s", line->text);
    while ((word = strsep(&rest, " ")) && count < MOST_WORDS - 1)
        words[count++] = word;
    words[count] = NULL;
    return line->run(count, words);
}
