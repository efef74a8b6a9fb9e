/* `blame db`, `history`, `scaling`, `tune`, `fold`, `lab`, and `diff --base-where`. */
#include "command/cli/lab.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/cli/cli.h"
#include "command/rows/metric.h"
#include "command/text/memory.h"

#define SYSTEM_PYTHON "/usr/bin/python3"
#define NEEDS         "it needs Python 3.9 or newer with NumPy and SciPy (Debian: python3-scipy)"

/* Environment variables that are unset for the Python interpreter. lab/blame_lab/runs.py sets them again for
 * the programs that `blame tune` starts. */
static const char *const kept[] = {"OMP_TOOL_LIBRARIES", "LD_PRELOAD", "LD_AUDIT", "OPENBLAS_NUM_THREADS"};

static void keep_program_variables(void)
{
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const char *value = getenv(kept[i]);
        char *name = memory_text("BLAME_LAB_KEPT_%s", kept[i]);
        if (value)
            setenv(name, value, 1);
        else
            unsetenv(name);
        unsetenv(kept[i]);
        free(name);
    }
    /* NumPy's computations are small here: more threads would only add start-up time. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
}

static void put_metric_words(FILE *out, const char *key, const enum metric *metric, size_t count)
{
    fprintf(out, ",\"%s\":", key);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%c\"%s\"", i ? ',' : '[', metric_word[metric[i]]);
    putc(']', out);
}

/* Passes the table of metrics to lab/blame_lab/runs.py as JSON, in an environment variable. */
static void pass_metrics_to_python(void)
{
    static const char *const rows =
#define METRIC(name, column, value, word, title, unit, summary, light, dark, ...)                                      \
    ",\"" word "\":{\"unit\":\"" unit "\",\"light\":\"" light "\",\"dark\":\"" dark "\"}"
        METRIC_TABLE(METRIC);
#undef METRIC
    char *text;
    FILE *out = memory_stream(&text);
    fprintf(out, "{\"always\":%d,\"metrics\":{%s}", METRIC_ALWAYS_PARTS, rows + 1);
    put_metric_words(out, "columns", metric_columns, METRIC_COLUMNS);
    put_metric_words(out, "parts", metric_parts, METRIC_PARTS);
    putc('}', out);
    memory_stream_close(out);
    setenv("BLAME_LAB_METRICS", text, 1);
    free(text);
}

/* Finds the Python script share/blame/lab/start.py in the installation. Returns false after a message. */
static bool find_script(const char *command, char script[PATH_MAX])
{
    char self[PATH_MAX], *folder;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    if (length <= 0) {
        fprintf(stderr, "blame %s: cannot find its Python scripts, because /proc/self/exe cannot be read (%s)\n",
                command, strerror(errno));
        return false;
    }
    setenv("BLAME_LAB_BLAME", self, 1);
    folder = dirname(self);
    int bytes = snprintf(script, PATH_MAX, "%s/../share/blame/lab/start.py", folder);
    if (bytes < PATH_MAX && access(script, R_OK) == 0)
        return true;
    fprintf(stderr, "blame %s: its Python scripts are not in %s/../share/blame/lab; install all parts of blame\n",
            command, folder);
    return false;
}

/* Returns the Python interpreter: the one in BLAME_PYTHON, that of the virtual environment, or the first in
 * PATH. If the last one lacks NumPy, the script starts `instead`. */
static const char *choose_python(const char **instead)
{
    const char *named = getenv("BLAME_PYTHON"), *environment = getenv("VIRTUAL_ENV");
    *instead = "";
    if (named && *named)
        return named;
    if (environment && *environment)
        return memory_text("%s/bin/python3", environment);
    *instead = SYSTEM_PYTHON;
    return "python3";
}

int lab_start(int argc, char **argv)
{
    char script[PATH_MAX];
    const char *instead, *python = choose_python(&instead);
    if (!find_script(argv[0], script))
        return CLI_BAD_INPUT;
    char **arguments = memory_array((size_t)argc + 3, sizeof *arguments);
    arguments[0] = (char *)python;
    arguments[1] = script;
    memcpy(arguments + 2, argv, (size_t)argc * sizeof *argv);
    keep_program_variables();
    pass_metrics_to_python();
    setenv("BLAME_LAB_INSTEAD", instead, 1);
    execvp(python, arguments);
    int why = errno;
    if (*instead) {
        arguments[0] = (char *)instead;
        setenv("BLAME_LAB_INSTEAD", "", 1);
        execv(instead, arguments);
    }
    fprintf(stderr, "blame %s: %s: %s; " NEEDS ", or BLAME_PYTHON names another\n", argv[0], python, strerror(why));
    free(arguments);
    return CLI_BAD_INPUT;
}
