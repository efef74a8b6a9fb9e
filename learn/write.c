#include "learn/write.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "learn/show.h"
#include "report/text/memory.h"

enum language { IN_C, IN_AWK };

/* Variables of the environment by which OpenMP takes a dimension; as blame tune names it. */
static const struct {
    const char *dimension, *variable;
} variables[] = {{"threads", "OMP_NUM_THREADS"}, {"schedule", "OMP_SCHEDULE"}, {"wait", "OMP_WAIT_POLICY"},         {"bind", "OMP_PROC_BIND"},
                 {"places", "OMP_PLACES"},       {"dynamic", "OMP_DYNAMIC"},   {"levels", "OMP_MAX_ACTIVE_LEVELS"}, {"stack", "OMP_STACKSIZE"}};
#define MILLISECONDS "KMP_BLOCKTIME" /* of waiting, where it is a number */

/* Names in the code: each differs from the others. */
struct writer {
    FILE *out;
    const struct model *model;
    char *name;                         /* of the application */
    struct words arguments, dimensions; /* of features, the same numbers; of dimensions */
    enum language language;
};

static char *identifier(const char *text)
{
    char *name = memory_text("%s%s", isdigit((unsigned char)*text) || !*text ? "app" : "", text);
    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) || (unsigned char)*at > 127)
            *at = '_';
    return name;
}

static void put_different(struct words *words, const char *text)
{
    char *first = identifier(text), *name = memory_text("%s", first);
    for (int i = 2; words_find(words, name) != LEARN_NONE; i++) {
        free(name);
        name = memory_text("%s_%d", first, i);
    }
    words_put(words, name);
    free(first);
    free(name);
}

static bool uses(const struct decision *tree, size_t at, size_t feature)
{
    const struct decision_node *node = &tree->node[at];
    if (node->feature == (int)feature)
        return true;
    for (size_t i = 0; i < node->branches; i++)
        if (uses(tree, node->child + i, feature))
            return true;
    return false;
}

/* What is known of inputs is always an argument, so that what is learned anew later has the same ones; of the machine only what is asked for. */
static bool is_argument(const struct writer *writer, size_t feature)
{
    const struct model *model = writer->model;
    if (strncmp(model->table->feature[feature].name, "machine.", 8) != 0)
        return true;
    for (size_t i = 0; i < model->cases->dimensions; i++)
        if (uses(model->tree[i], 0, feature))
            return true;
    return false;
}

static struct writer begin(FILE *out, const struct model *model, const char *application, enum language language)
{
    struct writer writer = {.out = out, .model = model, .name = identifier(application), .language = language};
    words_put(&writer.dimensions, "apply"); /* no dimension's: its function has that name */
    for (size_t i = 0; i < model->cases->dimensions; i++)
        put_different(&writer.dimensions, model->cases->dimension[i].name);
    for (size_t i = 0; model->cases->dimensions && i < model->table->feature_count; i++)
        put_different(&writer.arguments, model->table->feature[i].name);
    return writer;
}

static void end(struct writer *writer)
{
    free(writer->name);
    words_free(&writer->arguments);
    words_free(&writer->dimensions);
}

static const char *dimension_name(const struct writer *writer, size_t dimension)
{
    return writer->dimensions.word[dimension + 1];
}

/* ---- trees ---- */

static void put_result(const struct writer *writer, const struct decision *tree, const struct decision_node *node, int depth, const char *note)
{
    fprintf(writer->out, "%*s%s\"", 4 * depth, "", writer->language == IN_C ? "return " : "print ");
    show_text(writer->out, tree->table->classes.word[node->label]);
    fprintf(writer->out, writer->language == IN_C ? "\"; /* %s%.4g cases */\n" : "\"; exit # %s%.4g cases\n", note, node->weight);
}

static void put_condition(const struct writer *writer, const struct decision *tree, const struct decision_node *node, size_t branch)
{
    const struct learn_feature *feature = &tree->table->feature[node->feature];
    const char *argument = writer->arguments.word[node->feature];
    bool in_c = writer->language == IN_C;
    if (feature->numeric) {
        if (!in_c)
            fprintf(writer->out, "number(%s) && ", argument);
        fprintf(writer->out, "%s %s %.17g", argument, branch ? ">" : "<=", node->threshold);
        return;
    }
    fprintf(writer->out, in_c ? "strcmp(%s, \"" : "%s == \"", argument);
    show_text(writer->out, feature->words.word[branch]);
    fputs(in_c ? "\") == 0" : "\"", writer->out);
}

/* A value that is unknown fulfils no condition: then the node's own most frequent class is what is known. */
static void put_node(const struct writer *writer, const struct decision *tree, size_t at, int depth)
{
    const struct decision_node *node = &tree->node[at];
    const char *before = "";
    if (node->feature == DECISION_LEAF) {
        put_result(writer, tree, node, depth, "");
        return;
    }
    fprintf(writer->out, "%*s", 4 * depth, "");
    for (size_t i = 0; i < node->branches; i++) {
        if (tree->node[node->child + i].weight <= 0)
            continue;
        fprintf(writer->out, "%sif (", before);
        put_condition(writer, tree, node, i);
        fputs(") {\n", writer->out);
        put_node(writer, tree, node->child + i, depth + 1);
        fprintf(writer->out, "%*s}", 4 * depth, "");
        before = " else ";
    }
    putc('\n', writer->out);
    put_result(writer, tree, node, depth, "unknown; all ");
}

/* ---- the header ---- */

static void put_arguments(const struct writer *writer, bool types)
{
    const struct learn_table *table = writer->model->table;
    const char *before = "";
    for (size_t i = 0; i < writer->arguments.count; i++)
        if (is_argument(writer, i)) {
            fprintf(writer->out, "%s%s%s", before, types ? table->feature[i].numeric ? "double " : "const char *" : "", writer->arguments.word[i]);
            before = ", ";
        }
    if (types && !*before)
        fputs("void", writer->out);
}

static void put_function(const struct writer *writer, size_t dimension)
{
    const struct learn_table *table = writer->model->table;
    fprintf(writer->out, "\nstatic inline const char *%s_%s(", writer->name, dimension_name(writer, dimension));
    put_arguments(writer, true);
    fputs(")\n{\n", writer->out);
    for (size_t i = 0; i < writer->arguments.count; i++)
        if (is_argument(writer, i) && table->feature[i].numeric)
            fprintf(writer->out, "    (void)%s;\n", writer->arguments.word[i]);
        else if (is_argument(writer, i))
            fprintf(writer->out, "    %1$s = %1$s ? %1$s : \"\";\n", writer->arguments.word[i]);
    put_node(writer, writer->model->tree[dimension], 0, 1);
    fputs("}\n", writer->out);
}

/* What OpenMP has a call for: its text, or false. */
static bool put_call(FILE *out, const char *dimension, const char *value)
{
    static const char *const kinds[] = {"static", "dynamic", "guided", "auto"};
    size_t kind = strcspn(value, ","), digits = value[kind] ? strspn(value + kind + 1, "0123456789") : 0;
    if (strcmp(dimension, "threads") == 0 && *value && strspn(value, "0123456789") == strlen(value) && strlen(value) < 10) {
        fprintf(out, "omp_set_num_threads(%s);", value);
        return true;
    }
    for (size_t i = 0; strcmp(dimension, "schedule") == 0 && i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(kinds[i], value, kind) == 0 && !kinds[i][kind] && (!value[kind] || (digits && digits < 10 && !value[kind + 1 + digits]))) {
            fprintf(out, "omp_set_schedule(omp_sched_%s, %s);", kinds[i], digits ? value + kind + 1 : "0");
            return true;
        }
    return false;
}

static void put_apply(const struct writer *writer)
{
    FILE *out = writer->out;
    fprintf(out, "\n/* Sets what OpenMP has calls for: threads, of parallel regions that follow, and the schedule of their loops with schedule(runtime). What it has\n"
                 " * none for is for the environment, before the program starts: the shell's functions. Where the default is best nothing is changed. */\n"
                 "static inline void %s_apply(", writer->name);
    put_arguments(writer, true);
    fputs(")\n{\n    const char *value;\n    (void)value;\n", out);
    for (size_t i = 0; i < writer->model->cases->dimensions; i++) {
        const struct learn_dimension *dimension = &writer->model->cases->dimension[i];
        fprintf(out, "    value = %s_%s(", writer->name, dimension_name(writer, i));
        put_arguments(writer, false);
        fputs(");\n#ifdef _OPENMP\n", out);
        for (size_t j = 1; j < dimension->values.count; j++) {
            char *call;
            FILE *text = memory_stream(&call);
            bool there = put_call(text, dimension->name, dimension->values.word[j]);
            memory_stream_close(text);
            if (there) {
                fputs("    if (strcmp(value, \"", out);
                show_text(out, dimension->values.word[j]);
                fprintf(out, "\") == 0)\n        %s\n", call);
            }
            free(call);
        }
        fputs("#endif\n", out);
    }
    fputs("}\n", out);
}

static void put_provenance(const struct writer *writer, const char *application, const char *before)
{
    fprintf(writer->out, "%sSettings of ", before);
    show_text(writer->out, application);
    fprintf(writer->out, " by its input, made by blame tune --specialise (blame %s); to be made anew, not to be changed.\n%s\n", BLAME_VERSION, before);
    show_error(writer->out, writer->model, before);
    fprintf(writer->out, "%s\n", before);
    show_trees(writer->out, writer->model, before);
}

void write_header(FILE *out, const struct model *model, const char *application)
{
    struct writer writer = begin(out, model, application, IN_C);
    fputs("/*\n", out);
    put_provenance(&writer, application, " * ");
    fprintf(out, " *\n * A number that is not known: NAN; a word: \"\".\n */\n#ifndef BLAME_SETTINGS_OF_%1$s\n#define BLAME_SETTINGS_OF_%1$s\n\n#include <string.h>\n"
                 "#ifdef _OPENMP\n#include <omp.h>\n#endif\n", writer.name);
    for (size_t i = 0; i < model->cases->dimensions; i++)
        put_function(&writer, i);
    put_apply(&writer);
    fputs("\n#endif\n", out);
    end(&writer);
}

/* ---- the shell ---- */

/* NULL: none that is known. */
static const char *variable_of(const char *dimension)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (strcmp(variables[i].dimension, dimension) == 0)
            return variables[i].variable;
    size_t length = strspn(dimension, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return length && !dimension[length] && !isdigit((unsigned char)*dimension) ? dimension : NULL;
}

static void put_shell_function(const struct writer *writer, size_t dimension)
{
    int argument = 1;
    fprintf(writer->out, "\n%s_%s() {\n    LC_ALL=C awk '\n", writer->name, dimension_name(writer, dimension));
    fputs("function number(x) { return x ~ /^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$/ }\nBEGIN {\n", writer->out);
    for (size_t i = 0; i < writer->arguments.count; i++)
        if (is_argument(writer, i))
            fprintf(writer->out, "    %s = ARGV[%d]\n", writer->arguments.word[i], argument++);
    put_node(writer, writer->model->tree[dimension], 0, 1);
    fputs("}' \"$@\"\n}\n", writer->out);
}

void write_shell(FILE *out, const struct model *model, const char *application)
{
    struct writer writer = begin(out, model, application, IN_AWK);
    put_provenance(&writer, application, "# ");
    fprintf(out, "#\n# A value that is not known: \"\". To be read by a POSIX shell: . ./FILE\n# arguments of each function: ");
    put_arguments(&writer, false);
    putc('\n', out);
    for (size_t i = 0; i < model->cases->dimensions; i++)
        put_shell_function(&writer, i);
    fprintf(out, "\n# Sets variables for programs that are started then; where the default is best they stay as they are.\n%s_apply() {\n", writer.name);
    for (size_t i = 0; i < model->cases->dimensions; i++) {
        const char *variable = variable_of(model->cases->dimension[i].name);
        if (!variable)
            continue;
        fprintf(out, "    blame_value=$(%s_%s \"$@\")\n    case $blame_value in\n    default) ;;\n", writer.name, dimension_name(&writer, i));
        if (strcmp(variable, "OMP_WAIT_POLICY") == 0)
            fputs("    [0-9]*) export " MILLISECONDS "=\"$blame_value\" ;;\n", out);
        fprintf(out, "    *) export %s=\"$blame_value\" ;;\n    esac\n", variable);
    }
    fputs("    unset blame_value\n}\n", out);
    end(&writer);
}
