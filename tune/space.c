#include "tune/space.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/format.h"
#include "report/text/memory.h"

#define SPACES " \t\r\n"
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

static bool is_whole(const char *text)
{
    return *text && strlen(text) < 10 && text[strspn(text, "0123456789")] == '\0';
}

static bool is_threads(const char *text)
{
    return is_whole(text) && atoi(text) >= 1 && atoi(text) <= 65536;
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static bool is_schedule(const char *text)
{
    const char *comma = strchr(text, ','), *colon = strchr(text, ':');
    char *word = memory_text("%.*s", (int)(strcspn(colon ? colon + 1 : text, ",")), colon ? colon + 1 : text);
    bool good = is_one_of(word, (const char *const[]){"static", "dynamic", "guided", "auto", NULL}) &&
                (!colon || strncmp(text, "monotonic:", 10) == 0 || strncmp(text, "nonmonotonic:", 13) == 0) && (!comma || is_threads(comma + 1));
    free(word);
    return good;
}

static bool is_wait(const char *text)
{
    return is_whole(text) || is_one_of(text, (const char *const[]){"active", "passive", NULL});
}

static bool is_bind(const char *text)
{
    return is_one_of(text, (const char *const[]){"close", "spread", "primary", "true", "false", NULL});
}

static bool is_truth(const char *text)
{
    return is_one_of(text, (const char *const[]){"true", "false", NULL});
}

static bool is_stack(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits && digits < 10 && (!text[digits] || (strchr("BKMGbkmg", text[digits]) && !text[digits + 1]));
}

static bool is_anything(const char *text)
{
    return *text != '\0';
}

static const struct kind {
    const char *word, *variable;
    bool ordered, named;
    bool (*is)(const char *text);
    const char *accepted;
} kinds[] = {
    [SPACE_THREADS] = {"threads", "OMP_NUM_THREADS", true, false, is_threads, "whole numbers from 1 to 65536"},
    [SPACE_SCHEDULE] = {"schedule", "OMP_SCHEDULE", false, false, is_schedule, "static, dynamic, guided or auto, with a chunk as in dynamic,16"},
    [SPACE_WAIT] = {"wait", "OMP_WAIT_POLICY", false, false, is_wait, "active, passive, or milliseconds of KMP_BLOCKTIME"},
    [SPACE_BIND] = {"bind", "OMP_PROC_BIND", false, false, is_bind, "close, spread, primary, true, false"},
    [SPACE_PLACES] = {"places", "OMP_PLACES", false, false, is_anything, "what OMP_PLACES takes"},
    [SPACE_DYNAMIC] = {"dynamic", "OMP_DYNAMIC", false, false, is_truth, "true, false"},
    [SPACE_LEVELS] = {"levels", "OMP_MAX_ACTIVE_LEVELS", true, false, is_threads, "whole numbers from 1 to 65536"},
    [SPACE_STACK] = {"stack", "OMP_STACKSIZE", true, false, is_stack, "sizes as 512k or 16M"},
    [SPACE_VARIABLE] = {"env", NULL, false, true, is_anything, "any words"},
    [SPACE_PARAMETER] = {"param", NULL, false, true, is_anything, "any words"},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static struct space_dimension *add(struct space *space, enum space_kind kind, const char *name)
{
    struct space_dimension *to = &space->dimension[space->count++];
    *to = (struct space_dimension){.kind = kind, .name = memory_text("%s", name), .ordered = kinds[kind].ordered};
    if (kind != SPACE_PARAMETER)
        to->value[to->values++] = memory_text("default");
    return to;
}

static bool put(struct space_dimension *to, const char *value)
{
    if (to->values == SEARCH_VALUES)
        return false;
    to->value[to->values++] = memory_text("%s", value);
    return true;
}

void space_make(struct space *space, unsigned cores)
{
    static const char *const schedules[] = {"static", "dynamic,1", "dynamic,4", "dynamic,16", "dynamic,64", "guided", NULL};
    *space = (struct space){0};
    struct space_dimension *threads = add(space, SPACE_THREADS, "threads"), *wait, *bind, *schedule;
    for (unsigned count = 1; count < cores && threads->values < SEARCH_VALUES - 1; count *= 2) {
        char *value = memory_text("%u", count);
        put(threads, value);
        free(value);
        if (count > 1 && count / 2 * 3 < cores) {
            value = memory_text("%u", count / 2 * 3);
            put(threads, value);
            free(value);
        }
    }
    wait = add(space, SPACE_WAIT, "wait");
    put(wait, "active");
    put(wait, "passive");
    bind = add(space, SPACE_BIND, "bind");
    put(bind, "close");
    put(bind, "spread");
    schedule = add(space, SPACE_SCHEDULE, "schedule");
    for (size_t i = 0; schedules[i]; i++)
        put(schedule, schedules[i]);
}

static bool is_name(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_')
            return false;
    return true;
}

static const char *find_twice(const struct space *space, const struct space_dimension *dimension)
{
    for (size_t i = 0; i + 1 < space->count; i++)
        if (strcmp(space->dimension[i].name, dimension->name) == 0)
            return dimension->name;
    return NULL;
}

static bool read_values(struct space_dimension *to, char *text, char *why, size_t why_bytes)
{
    const struct kind *kind = &kinds[to->kind];
    char *rest = NULL;
    for (char *word = strtok_r(text, SPACES, &rest); word; word = strtok_r(NULL, SPACES, &rest)) {
        if (kind->named && strcmp(word, "ordered") == 0 && !to->ordered && !strtok_r(NULL, SPACES, &rest)) {
            to->ordered = true;
            break;
        }
        if (strcmp(word, "default") == 0 && to->kind != SPACE_PARAMETER)
            continue;
        if (!kind->is(word)) {
            snprintf(why, why_bytes, "%s: %s: accepted are %s", to->name, word, kind->accepted);
            return false;
        }
        if (!put(to, word)) {
            snprintf(why, why_bytes, "%s: there are more than %d values", to->name, SEARCH_VALUES - 1);
            return false;
        }
    }
    if (to->values < 2)
        snprintf(why, why_bytes, "%s: there is nothing to choose: give at least %d", to->name, to->kind == SPACE_PARAMETER ? 2 : 1);
    return to->values >= 2;
}

/* "threads: 1 2 4", "param size: 1 2 4 ordered", "build: make ..." */
static bool read_line(struct space *space, char *line, char *why, size_t why_bytes)
{
    char *colon = strchr(line, ':'), *rest = NULL;
    if (!colon) {
        snprintf(why, why_bytes, "%.60s: accepted is NAME: VALUE VALUE ..., with NAME threads, schedule, wait, bind, places, dynamic, levels, stack, env VARIABLE, "
                 "param NAME, or build", line);
        return false;
    }
    *colon = '\0';
    const char *word = strtok_r(line, SPACES, &rest), *name = strtok_r(NULL, SPACES, &rest);
    if (word && strcmp(word, "build") == 0 && !name) {
        free(space->build);
        space->build = memory_text("%s", colon + 1 + strspn(colon + 1, SPACES));
        return true;
    }
    size_t kind = 0;
    while (kind < KINDS && (!word || strcmp(word, kinds[kind].word) != 0))
        kind++;
    if (kind == KINDS || kinds[kind].named != (name != NULL) || (name && !is_name(name))) {
        snprintf(why, why_bytes, "%s%s%s: accepted are threads, schedule, wait, bind, places, dynamic, levels, stack, env VARIABLE, param NAME, build",
                 word ? word : "", name ? " " : "", name ? name : "");
        return false;
    }
    if (space->count == SEARCH_DIMENSIONS) {
        snprintf(why, why_bytes, "there are more than %d dimensions", SEARCH_DIMENSIONS);
        return false;
    }
    struct space_dimension *to = add(space, (enum space_kind)kind, name ? name : word);
    if (find_twice(space, to)) {
        snprintf(why, why_bytes, "%s: it is there twice", to->name);
        return false;
    }
    return read_values(to, colon + 1, why, why_bytes);
}

/* At the begin of a line or of a word. */
static void cut_comment(char *line)
{
    for (char *at = line; *at; at++)
        if (*at == '\n' || (*at == '#' && (at == line || strchr(SPACES, at[-1])))) {
            *at = '\0';
            return;
        }
}

bool space_read(struct space *space, FILE *file, const char *name, char *why, size_t why_bytes)
{
    char *line = NULL, said[400];
    size_t room = 0, number = 0;
    bool good = true;
    *space = (struct space){.given = true};
    while (good && getline(&line, &room, file) >= 0) {
        number++;
        if (number == 1 && strncmp(line, BYTE_ORDER_MARK, 3) == 0)
            memset(line, ' ', 3);
        cut_comment(line);
        if (line[strspn(line, SPACES)] && !(good = read_line(space, line, said, sizeof said))) {
            char *clean = format_clean(said, true);
            snprintf(why, why_bytes, "%s:%zu: %s", name, number, clean);
            free(clean);
        }
    }
    if (good && !space->count) {
        snprintf(why, why_bytes, "%s: it has no dimension; accepted are lines as threads: 1 2 4", name);
        good = false;
    }
    free(line);
    return good;
}

void space_free(struct space *space)
{
    for (size_t i = 0; i < space->count; i++) {
        for (size_t v = 0; v < space->dimension[i].values; v++)
            free(space->dimension[i].value[v]);
        free(space->dimension[i].name);
    }
    free(space->build);
    *space = (struct space){0};
}

char *space_variables(const struct space *space, const struct search_setting *setting)
{
    char *text;
    FILE *out = memory_stream(&text);
    for (size_t i = 0; i < space->count; i++) {
        const struct space_dimension *of = &space->dimension[i];
        const char *value = of->value[setting->value[i]];
        if (of->kind == SPACE_PARAMETER || !setting->value[i])
            continue;
        if (of->kind == SPACE_WAIT && is_whole(value))
            fprintf(out, "KMP_BLOCKTIME=%s\n", value);
        else
            fprintf(out, "%s=%s\n", of->kind == SPACE_VARIABLE ? of->name : kinds[of->kind].variable, value);
    }
    memory_stream_close(out);
    return text;
}

static const struct space_dimension *find_parameter(const struct space *space, const char *name, size_t bytes, size_t *number)
{
    for (*number = 0; *number < space->count; ++*number) {
        const struct space_dimension *of = &space->dimension[*number];
        if (of->kind == SPACE_PARAMETER && strlen(of->name) == bytes && strncmp(of->name, name, bytes) == 0)
            return of;
    }
    return NULL;
}

char *space_expand(const struct space *space, const struct search_setting *setting, const char *text, char *why, size_t why_bytes)
{
    char *result;
    FILE *out = memory_stream(&result);
    for (const char *open; (open = strstr(text, "@{")); text = strchr(open, '}') + 1) {
        size_t number, bytes = strcspn(open + 2, "}");
        const struct space_dimension *of = open[2 + bytes] ? find_parameter(space, open + 2, bytes, &number) : NULL;
        if (!of) {
            snprintf(why, why_bytes, "%.*s: no such parameter; accepted are those that the space has as param NAME", (int)(bytes + 3), open);
            memory_stream_close(out);
            free(result);
            return NULL;
        }
        fprintf(out, "%.*s%s", (int)(open - text), text, of->value[setting->value[number]]);
    }
    fputs(text, out);
    memory_stream_close(out);
    return result;
}

bool space_mentions(const struct space *space, size_t dimension, const char *text)
{
    char *mark = memory_text("@{%s}", space->dimension[dimension].name);
    bool found = space->dimension[dimension].kind == SPACE_PARAMETER && strstr(text, mark);
    free(mark);
    return found;
}
