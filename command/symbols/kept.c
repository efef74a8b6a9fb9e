/* Stores the answers of symbol lookups in the file of names, beside the measurement file. Names thus remain
 * known when a binary changes or disappears. */
#include "command/symbols/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/image_path.h"
#include "cct/profile_format.h"
#include "cct/profile_tree.h"
#include "command/symbols/answers.h"
#include "command/symbols/state.h"
#include "command/symbols/symbols.h"
#include "command/text/strings.h"
#include "command/text/unfinished.h"

/* ---- encoding and decoding the file of names ---- */

/* command/symbols/README.md describes the file of names. Numbers are encoded as LEB128. Keys are sorted, and only their
 * differences are stored. Each text is stored once. */

#ifndef BLAME_VERSION
#define BLAME_VERSION "0.1.0"
#endif

#define MAGIC   "BLAMESYM"
#define VERSION 1u

/* module number of keys whose module is unknown; larger than any real module number */
#define NO_MODULE 0xffffu

struct file_header {
    char magic[8];
    uint32_t version, byte_order;
    /* start of the measurement in ns since the epoch; it identifies the measurement together with `pid` */
    int64_t start_realtime_ns;
    int64_t pid;
    uint64_t hash; /* hash of all bytes that follow the header */
};

enum frame_flag { /* Flags of a frame. The two lowest bits of the flags contain an enum symbol_construct. */
                  FRAME_INLINED = 4,
                  FRAME_MERGED = 8,
                  FRAME_UNCERTAIN = 16,
                  FRAME_SAME_FILE = 32, /* at_file is the same text as file, and is not stored */
                  FRAME_WAITS = 64,
};
enum call_flag { CALL_LAUNCHES = 1, CALL_TAIL = 2, CALL_TARGET = 4, CALL_BODY = 8 };
enum tail_flag { TAIL_AT_JUMP = 1, TAIL_CANDIDATES = 2 };

/* ---- writing ---- */

struct writer {
    FILE *out;
    struct strings *strings;
    uint32_t string_count;
    const struct symbols_answers *answers;
};

static void symbols_kept_put(struct writer *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        putc((int)(value & 0x7f) | 0x80, to->out);
    putc((int)value, to->out);
}

static void symbols_kept_put_near(struct writer *to, uint64_t value, uint64_t base)
{
    int64_t difference = (int64_t)(value - base);
    symbols_kept_put(to, (uint64_t)difference << 1 ^ (uint64_t)(difference >> 63));
}

static void symbols_kept_put_text(struct writer *to, const char *text)
{
    uint32_t id = strings_intern(to->strings, text);
    to->string_count = id >= to->string_count ? id + 1 : to->string_count;
    symbols_kept_put(to, id);
}

static void symbols_kept_put_frames(struct writer *to, const struct symbols_answer *answer)
{
    symbols_kept_put(to, answer->count);
    for (size_t i = 0; i < answer->count; i++) {
        const struct symbol_frame *frame = &answer->frames[i];
        bool same = strcmp(frame->at_file, frame->file) == 0;
        symbols_kept_put(to, (unsigned)frame->construct | (frame->inlined ? FRAME_INLINED : 0) |
                                 (frame->merge_into_caller ? FRAME_MERGED : 0) |
                                 (frame->construct_uncertain ? FRAME_UNCERTAIN : 0) | (frame->waits ? FRAME_WAITS : 0) |
                                 (same ? FRAME_SAME_FILE : 0));
        symbols_kept_put_text(to, frame->name);
        symbols_kept_put_text(to, frame->file);
        symbols_kept_put(to, (uint32_t)frame->line);
        symbols_kept_put(to, (uint32_t)frame->at_line);
        if (!same)
            symbols_kept_put_text(to, frame->at_file);
        if (frame->construct != SYMBOL_PROCEDURE) {
            symbols_kept_put_text(to, frame->host_name);
            symbols_kept_put_text(to, frame->task_name);
        }
    }
}

static void symbols_kept_put_call(struct writer *to, uint64_t key, const struct symbol_call *call)
{
    symbols_kept_put(to, (call->launches ? CALL_LAUNCHES : 0) | (call->tail ? CALL_TAIL : 0) |
                             (call->target ? CALL_TARGET : 0) | (call->body ? CALL_BODY : 0));
    symbols_kept_put_text(to, call->name);
    if (call->target)
        symbols_kept_put_near(to, call->target, key);
    if (call->body)
        symbols_kept_put_near(to, call->body, key);
}

static void symbols_kept_put_answer(struct writer *to, enum symbols_question question, uint64_t key,
                                    const struct symbols_answer *answer)
{
    if (question == SYMBOLS_ASK_FRAMES) {
        symbols_kept_put_frames(to, answer);
        return;
    }
    symbols_kept_put(to, answer->count);
    if (answer->count && question == SYMBOLS_ASK_ENTRY)
        symbols_kept_put_near(to, answer->entry, key);
    else if (answer->count && question == SYMBOLS_ASK_CALL)
        symbols_kept_put_call(to, key, answer->call);
    else if (answer->count)
        symbols_kept_put_text(to, answer->text);
}

static bool symbols_kept_is_key_named(const struct symbols_answers *answers, uint64_t key)
{
    uint32_t id = PROFILE_KEY_MODULE(key);
    /* module 0 is code that belongs to no file */
    return id == 0 || (id <= answers->module_count && answers->sources[id - 1].named);
}

static int symbols_kept_key_order(const void *left, const void *right)
{
    const struct symbols_mapped *a = left, *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

static bool symbols_kept_put_answers(struct writer *to, enum symbols_question question)
{
    const struct symbols_map *map = &to->answers->map[question];
    struct symbols_mapped *asked = malloc((map->count + 1) * sizeof *asked);
    size_t count = 0;
    for (size_t i = 0; asked && i < map->count; i++) {
        const struct symbols_answer *answer = map->entries[i].value;
        if (answer->asked && symbols_kept_is_key_named(to->answers, map->entries[i].key))
            asked[count++] = map->entries[i];
    }
    if (asked)
        qsort(asked, count, sizeof *asked, symbols_kept_key_order);
    symbols_kept_put(to, count);
    for (size_t i = 0; i < count; i++) {
        symbols_kept_put(to, asked[i].key - (i ? asked[i - 1].key : 0));
        symbols_kept_put_answer(to, question, asked[i].key, asked[i].value);
    }
    free(asked);
    return asked != NULL;
}

static int symbols_kept_gap_order(const void *left, const void *right)
{
    const struct symbols_gap *a = left, *b = right;
    return a->caller != b->caller ? (a->caller > b->caller) - (a->caller < b->caller)
                                  : (a->goal > b->goal) - (a->goal < b->goal);
}

static void symbols_kept_put_gap(struct writer *to, const struct symbols_gap *gap, uint64_t before)
{
    symbols_kept_put(to, gap->caller - before);
    symbols_kept_put_near(to, gap->goal, gap->caller);
    symbols_kept_put(to, gap->count);
    for (size_t i = 0; i < gap->count; i++) {
        const struct tail_frame *frame = &gap->frames[i];
        symbols_kept_put(to, (frame->at_jump ? TAIL_AT_JUMP : 0) | (frame->candidates ? TAIL_CANDIDATES : 0));
        symbols_kept_put_near(to, frame->key, gap->caller);
        if (frame->candidates)
            symbols_kept_put_text(to, frame->candidates);
    }
}

static bool symbols_kept_put_gaps(struct writer *to)
{
    const struct symbols_answers *answers = to->answers;
    struct symbols_gap *gaps = malloc((answers->gap_count + 1) * sizeof *gaps);
    size_t count = 0;
    for (size_t i = 0; gaps && i < answers->gap_count; i++)
        if (symbols_kept_is_key_named(answers, answers->gaps[i].caller) &&
            symbols_kept_is_key_named(answers, answers->gaps[i].goal))
            gaps[count++] = answers->gaps[i];
    if (gaps)
        qsort(gaps, count, sizeof *gaps, symbols_kept_gap_order);
    symbols_kept_put(to, count);
    for (size_t i = 0; gaps && i < count; i++)
        symbols_kept_put_gap(to, &gaps[i], i ? gaps[i - 1].caller : 0);
    free(gaps);
    return gaps != NULL;
}

static void symbols_kept_put_sources(struct writer *to)
{
    const struct symbols_answers *answers = to->answers;
    symbols_kept_put_text(to, BLAME_VERSION);
    for (size_t i = 0; i < answers->module_count; i++) {
        const struct symbols_source *source = &answers->sources[i];
        if (source->named) {
            symbols_kept_put(to, i + 1);
            symbols_kept_put(to, source->level);
            symbols_kept_put(to, source->size);
            symbols_kept_put(to, (uint64_t)source->mtime_ns);
        }
    }
    symbols_kept_put(to, 0);
}

/* Joins the parts of the file. The texts stand before the body, but they are complete only when the body has
 * been encoded. */
static bool symbols_kept_join_file(struct writer *to, const char *body, size_t body_bytes,
                                   const struct profile_header *header, char **file, size_t *file_bytes)
{
    struct file_header start = {.version = VERSION,
                                .byte_order = PROFILE_BYTE_ORDER,
                                .start_realtime_ns = header->start_realtime_ns,
                                .pid = header->pid};
    memcpy(start.magic, MAGIC, sizeof start.magic); /* without the 0 at its end */
    to->out = open_memstream(file, file_bytes);
    if (!to->out)
        return false;
    fwrite(&start, sizeof start, 1, to->out);
    symbols_kept_put(to, to->string_count);
    for (uint32_t i = 0; i < to->string_count; i++) {
        const char *text = strings_text(to->strings, i);
        fwrite(text, strlen(text) + 1, 1, to->out);
    }
    fwrite(body, body_bytes, 1, to->out);
    if (fclose(to->out) != 0)
        return false;
    start.hash = hash_bytes(*file + sizeof start, *file_bytes - sizeof start);
    memcpy(*file, &start, sizeof start);
    return true;
}

uint8_t *symbols_file_encode(const struct symbols_answers *answers, const struct profile_header *header, size_t *bytes)
{
    char *body = NULL, *file = NULL;
    size_t body_bytes = 0;
    struct writer to = {.answers = answers, .strings = strings_new()};
    to.out = to.strings ? open_memstream(&body, &body_bytes) : NULL;
    bool good = to.out != NULL;
    if (good) {
        symbols_kept_put_sources(&to);
        for (int question = 0; good && question < SYMBOLS_QUESTIONS; question++)
            good = symbols_kept_put_answers(&to, (enum symbols_question)question);
        good = good && symbols_kept_put_gaps(&to);
        good = fclose(to.out) == 0 && good && symbols_kept_join_file(&to, body, body_bytes, header, &file, bytes);
    }
    if (!good) {
        free(file);
        file = NULL;
    }
    free(body);
    strings_free(to.strings);
    return (uint8_t *)file;
}

/* ---- reading ---- */

struct reader {
    const uint8_t *at, *end;
    bool bad;
    const char **texts;
    uint64_t text_count;
    struct symbols_answers *answers;
    const struct symbols_numbers *numbers;
    struct pool *pool;
};

static uint64_t symbols_kept_get(struct reader *from)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && from->at < from->end; shift += 7) {
        uint8_t byte = *from->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    from->bad = true;
    return 0;
}

/* Reads the number of elements that follow. It is an error if it exceeds the number of remaining bytes,
 * because each element takes at least one byte. */
static uint64_t symbols_kept_get_count(struct reader *from)
{
    uint64_t count = symbols_kept_get(from);
    from->bad |= count > (uint64_t)(from->end - from->at);
    return from->bad ? 0 : count;
}

static uint64_t symbols_kept_get_near(struct reader *from, uint64_t base)
{
    uint64_t value = symbols_kept_get(from);
    return base + (value >> 1 ^ (0 - (value & 1)));
}

static const char *symbols_kept_get_text(struct reader *from)
{
    uint64_t id = symbols_kept_get(from);
    from->bad |= id >= from->text_count;
    return from->bad ? "" : from->texts[id];
}

static void symbols_kept_get_texts(struct reader *from)
{
    from->text_count = symbols_kept_get_count(from);
    from->texts = pool_alloc(from->pool, (from->text_count + 1) * sizeof *from->texts);
    from->bad |= !from->texts;
    for (uint64_t i = 0; i < from->text_count && !from->bad; i++) {
        const uint8_t *end = memchr(from->at, 0, (size_t)(from->end - from->at));
        from->texts[i] = (const char *)from->at;
        from->bad |= !end;
        from->at = end ? end + 1 : from->end;
    }
}

/* Returns the reader's number for a module of the file of names, or 0 if the reader does not have the module. */
static uint32_t symbols_kept_own_module(const struct reader *from, uint64_t id)
{
    if (!from->numbers)
        return id <= from->answers->module_count ? (uint32_t)id : 0;
    return id <= from->numbers->count ? from->numbers->own[id] : 0;
}

static uint64_t symbols_kept_own_key(const struct reader *from, uint64_t key)
{
    uint32_t id = PROFILE_KEY_MODULE(key), own = symbols_kept_own_module(from, id);
    return own || !id ? PROFILE_KEY(own, PROFILE_KEY_VADDR(key)) : PROFILE_KEY(NO_MODULE, PROFILE_KEY_VADDR(key));
}

static void symbols_kept_get_sources(struct reader *from)
{
    for (uint64_t id; !from->bad && (id = symbols_kept_get(from)) != 0;) {
        struct symbols_source source = {.named = true};
        source.level = (uint8_t)symbols_kept_get(from);
        source.size = symbols_kept_get(from);
        source.mtime_ns = (int64_t)symbols_kept_get(from);
        uint32_t own = symbols_kept_own_module(from, id);
        from->bad |= !own && (!from->numbers || id > from->numbers->count);
        if (!from->bad && own)
            from->answers->sources[own - 1] = source;
    }
}

static uint64_t symbols_kept_get_key(struct reader *from, uint64_t base)
{
    return symbols_kept_own_key(from, symbols_kept_get_near(from, base));
}

static const struct symbol_frame *symbols_kept_get_frames(struct reader *from, uint64_t count)
{
    struct symbol_frame *frames = from->bad ? NULL : pool_alloc(from->pool, (count + 1) * sizeof *frames);
    from->bad |= !frames || count == 0;
    for (uint64_t i = 0; i < count && !from->bad; i++) {
        struct symbol_frame *frame = &frames[i];
        uint64_t flags = symbols_kept_get(from);
        *frame = (struct symbol_frame){.construct = (enum symbol_construct)(flags & 3),
                                       .inlined = flags & FRAME_INLINED,
                                       .merge_into_caller = flags & FRAME_MERGED,
                                       .construct_uncertain = flags & FRAME_UNCERTAIN,
                                       .waits = flags & FRAME_WAITS,
                                       .host_name = "",
                                       .task_name = ""};
        frame->name = symbols_kept_get_text(from);
        frame->file = symbols_kept_get_text(from);
        frame->line = (int)(uint32_t)symbols_kept_get(from);
        frame->at_line = (int)(uint32_t)symbols_kept_get(from);
        frame->at_file = flags & FRAME_SAME_FILE ? frame->file : symbols_kept_get_text(from);
        if (frame->construct != SYMBOL_PROCEDURE) {
            frame->host_name = symbols_kept_get_text(from);
            frame->task_name = symbols_kept_get_text(from);
        }
        from->bad |= frame->construct > SYMBOL_TASK;
    }
    return frames;
}

static const struct symbol_call *symbols_kept_get_call(struct reader *from, uint64_t key)
{
    struct symbol_call *call = from->bad ? NULL : pool_alloc(from->pool, sizeof *call);
    from->bad |= !call;
    if (from->bad)
        return NULL;
    uint64_t flags = symbols_kept_get(from);
    *call = (struct symbol_call){.key = symbols_kept_own_key(from, key),
                                 .launches = flags & CALL_LAUNCHES,
                                 .tail = flags & CALL_TAIL,
                                 .name = symbols_kept_get_text(from)};
    call->target = flags & CALL_TARGET ? symbols_kept_get_key(from, key) : 0;
    call->body = flags & CALL_BODY ? symbols_kept_get_key(from, key) : 0;
    return call;
}

static void symbols_kept_get_answers(struct reader *from, enum symbols_question question)
{
    uint64_t count = symbols_kept_get_count(from), key = 0;
    for (uint64_t i = 0; i < count && !from->bad; i++) {
        key += symbols_kept_get(from);
        struct symbols_answer answer = {.asked = true, .count = symbols_kept_get_count(from)};
        if (question == SYMBOLS_ASK_FRAMES)
            answer.frames = symbols_kept_get_frames(from, answer.count);
        else if (answer.count && question == SYMBOLS_ASK_ENTRY)
            answer.entry = symbols_kept_get_key(from, key);
        else if (answer.count && question == SYMBOLS_ASK_CALL)
            answer.call = symbols_kept_get_call(from, key);
        else if (answer.count)
            answer.text = symbols_kept_get_text(from);
        if (!from->bad && symbols_kept_is_key_named(from->answers, symbols_kept_own_key(from, key))) {
            struct symbols_answer *added =
                symbols_answers_add(from->answers, from->pool, question, symbols_kept_own_key(from, key));
            from->bad |= !added;
            if (added)
                *added = answer;
        }
    }
}

static void symbols_kept_get_gaps(struct reader *from)
{
    uint64_t count = symbols_kept_get_count(from), caller = 0;
    for (uint64_t i = 0; i < count && !from->bad; i++) {
        caller += symbols_kept_get(from);
        struct symbols_gap gap = {.caller = symbols_kept_own_key(from, caller)};
        gap.goal = symbols_kept_get_key(from, caller);
        gap.count = symbols_kept_get_count(from);
        struct tail_frame *frames = from->bad ? NULL : pool_alloc(from->pool, (gap.count + 1) * sizeof *frames);
        from->bad |= !frames;
        for (uint64_t j = 0; j < gap.count && !from->bad; j++) {
            uint64_t flags = symbols_kept_get(from);
            frames[j] = (struct tail_frame){.at_jump = flags & TAIL_AT_JUMP, .key = symbols_kept_get_key(from, caller)};
            frames[j].candidates = flags & TAIL_CANDIDATES ? symbols_kept_get_text(from) : NULL;
        }
        gap.frames = frames;
        if (!from->bad && symbols_kept_is_key_named(from->answers, gap.caller) &&
            symbols_kept_is_key_named(from->answers, gap.goal))
            from->bad |= !symbols_answers_add_gap(from->answers, &gap);
    }
}

const char *symbols_file_decode(struct symbols_answers *answers, struct pool *pool, const struct symbols_file *file)
{
    struct file_header start;
    struct reader from = {.at = file->bytes + sizeof start,
                          .end = file->bytes + file->count,
                          .answers = answers,
                          .numbers = file->numbers,
                          .pool = pool};
    if (file->count < sizeof start || memcmp(file->bytes, MAGIC, sizeof start.magic) != 0)
        return "it is not a file of names";
    memcpy(&start, file->bytes, sizeof start);
    if (start.version != VERSION || start.byte_order != PROFILE_BYTE_ORDER)
        return "it was written by another version of blame";
    if (start.start_realtime_ns != file->header->start_realtime_ns || start.pid != file->header->pid)
        return "belongs to another measurement";
    if (start.hash != hash_bytes(from.at, (size_t)(from.end - from.at)))
        return "damaged";
    symbols_kept_get_texts(&from);
    bool same_tool = strcmp(symbols_kept_get_text(&from), BLAME_VERSION) == 0;
    symbols_kept_get_sources(&from);
    for (uint32_t id = 1; id <= answers->module_count && !from.bad; id++) {
        struct symbols_source *source = &answers->sources[id - 1];
        source->named = source->named && file->wanted(file->context, id, same_tool);
    }
    for (int question = 0; question < SYMBOLS_QUESTIONS && !from.bad; question++)
        symbols_kept_get_answers(&from, (enum symbols_question)question);
    symbols_kept_get_gaps(&from);
    return from.bad ? "damaged" : NULL;
}

/* ---- files ---- */

#define MEASUREMENT ".blame"
#define ID_DIGITS   8 /* number of digits of a build id that messages show */

/* Returns the path of the file of names, or, if `whole` is false, of the temporary file from which it is
 * renamed. The caller frees the path. */
static char *symbols_kept_file_path(const char *measurement, bool whole)
{
    char part[32] = "";
    const char *slash = strrchr(measurement, '/'), *name = slash ? slash + 1 : measurement;
    size_t length = strlen(name), ending = sizeof MEASUREMENT - 1;
    char *path = NULL;
    if (!whole)
        snprintf(part, sizeof part, ".%ld.part", (long)getpid());
    if (length > ending && strcmp(name + length - ending, MEASUREMENT) == 0)
        length -= ending;
    return asprintf(&path, "%.*s%s%.*s.symbols%s", (int)(name - measurement), measurement, whole ? "" : ".",
                    (int)length, name, part) < 0
               ? NULL
               : path;
}

static uint8_t *symbols_kept_read_file(const char *path, size_t *bytes)
{
    struct stat status;
    uint8_t *data = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (data = malloc((size_t)status.st_size + 1))) {
        ssize_t got;
        for (*bytes = 0; *bytes < (size_t)status.st_size; *bytes += (size_t)got) {
            got = read(fd, data + *bytes, (size_t)status.st_size - *bytes);
            if (got <= 0)
                break;
        }
    }
    close(fd);
    return data;
}

/* Returns whether to use the stored answers about a module. Usually they are used, because the module's file
 * may have lost its debug information since. They are not used if the file now has more detailed names, or if
 * another version of blame stored them. */
static bool symbols_kept_is_answer_wanted(void *context, uint32_t module_id, bool same_tool)
{
    struct symbols *symbols = context;
    struct symbols_module *module = symbols_module_of(symbols, module_id);
    module->source = &symbols->answers.sources[module_id - 1];
    return !symbols_module_open(module) ||
           (same_tool && symbols_module_level(module) <= (enum symbols_level)module->source->level);
}

const char *symbols_recall(struct symbols *symbols, const struct profile_header *header, const char *measurement,
                           const struct symbols_numbers *numbers)
{
    size_t bytes = 0;
    char *path = symbols_kept_file_path(measurement, true);
    if (!numbers)
        symbols_beside(symbols, measurement);
    symbols->file = path ? symbols_kept_read_file(path, &bytes) : NULL;
    const struct symbols_file file = {symbols->file, bytes, header, numbers, symbols_kept_is_answer_wanted, symbols};
    const char *why = symbols->file ? symbols_file_decode(&symbols->answers, &symbols->pool, &file) : NULL;
    const char *text =
        why ? pool_text(&symbols->pool, "%s: %s; names are taken from the binaries alone", path, why) : NULL;
    if (why) {
        struct symbols_source *sources = symbols->answers.sources;
        memset(sources, 0, symbols->module_count * sizeof *sources);
        symbols->answers.sources = NULL;
        symbols_answers_free(&symbols->answers);
        for (size_t i = 0; i < symbols->module_count; i++)
            symbols->modules[i].source = NULL;
        symbols->answers = (struct symbols_answers){.sources = sources, .module_count = symbols->module_count};
    }
    free(path);
    return text;
}

bool symbols_are_kept(const struct symbols *symbols)
{
    return symbols->file != NULL;
}

bool symbols_have_news(const struct symbols *symbols)
{
    return symbols->news;
}

static int symbols_kept_write_file(const char *measurement, const uint8_t *data, size_t bytes)
{
    char *path = symbols_kept_file_path(measurement, true), *temporary = symbols_kept_file_path(measurement, false);
    FILE *out = path && temporary ? unfinished_file(temporary) : NULL;
    struct stat status; /* The file of names gets the same permissions as the measurement file. */
    if (out && stat(measurement, &status) == 0)
        fchmod(fileno(out), status.st_mode & 0666);
    int wrong = out ? 0 : path && temporary ? errno : ENOMEM;
    if (out) {
        errno = 0;
        fwrite(data, 1, bytes, out);
        wrong = ferror(out) ? (errno ? errno : EIO) : 0;
        if (fclose(out) != 0 && !wrong)
            wrong = errno ? errno : EIO;
        if (!wrong && rename(temporary, path) != 0)
            wrong = errno;
        unfinished_remove(temporary); /* does nothing if the rename succeeded */
    }
    free(path);
    free(temporary);
    return wrong;
}

/* Removes the copies of module files that were deleted during the run. When the answers are stored, the
 * copies are no longer needed. */
static void symbols_kept_remove_image_copies(const struct symbols *symbols, const char *measurement)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < symbols->module_count; i++)
        if (!(symbols->modules[i].record->flags & PROFILE_MODULE_PYTHON) &&
            image_path(path, sizeof path, measurement, symbols->modules[i].id))
            unlink(path);
}

int symbols_keep(struct symbols *symbols, const struct profile_header *header, const char *measurement)
{
    size_t bytes = 0;
    if (!symbols->news)
        return 0;
    for (size_t i = 0; i < symbols->module_count; i++) {
        struct symbols_module *module = &symbols->modules[i];
        struct symbols_source *source = &symbols->answers.sources[i];
        if (module->main.elf && !source->named) {
            symbols_module_stat(module, source);
            source->level = (uint8_t)symbols_module_level(module);
        }
    }
    uint8_t *data = symbols_file_encode(&symbols->answers, header, &bytes);
    int wrong = data ? symbols_kept_write_file(measurement, data, bytes) : ENOMEM;
    free(data);
    symbols->news = symbols->news && wrong;
    if (!wrong)
        symbols_kept_remove_image_copies(symbols, measurement);
    return wrong;
}

/* Finds the modules that were asked about and whose file is not the measured one. If `named` is set, counts
 * only modules with stored names, otherwise only modules without. Returns the first of them, and sets *count
 * to their number. */
static const struct symbols_module *symbols_kept_changed_module(const struct symbols *symbols, bool named,
                                                                size_t *count)
{
    const struct symbols_module *first = NULL;
    *count = 0;
    for (size_t i = 0; i < symbols->module_count; i++) {
        const struct symbols_module *module = &symbols->modules[i];
        bool lost = !module->source && module->found != SYMBOLS_SAME_BUILD && module->unnamed;
        bool kept =
            module->source && module->found == SYMBOLS_OTHER_BUILD && !(module->record->flags & PROFILE_MODULE_VDSO);
        if (named ? kept : lost) {
            first = first ? first : module;
            ++*count;
        }
    }
    return first;
}

static void symbols_kept_put_change(FILE *out, struct symbols *symbols, const struct symbols_module *module,
                                    size_t count)
{
    size_t bytes = module->record->build_id_bytes;
    bool other = module->found == SYMBOLS_OTHER_BUILD;
    fprintf(out, "%s ", module->base_name);
    if (other && bytes && bytes <= sizeof module->record->build_id) {
        const char *then = symbols_hex(&symbols->pool, module->record->build_id, bytes);
        fprintf(out, "(build id was %.*s..., is now %.*s%s) ", ID_DIGITS, then, ID_DIGITS,
                *module->build_now ? module->build_now : "none", *module->build_now ? "..." : "");
    }
    if (count > 1)
        fprintf(out, "and %zu more files ", count - 1);
    fputs(other ? "changed since this run" : "can no longer be read", out);
    if (symbols->elsewhere)
        fputs(", or cannot be read from here: the program ran in another mount namespace (unshare, a container) or "
              "on another machine",
              out);
}

/* Appends a report on missing files with split debug information (-gsplit-dwarf). They are missing, for
 * example, if the program was built in a temporary directory. */
static bool symbols_kept_put_split(FILE *out, struct symbols *symbols, const char *before)
{
    for (size_t i = 0; i < symbols->module_count; i++) {
        const struct symbols_module *module = &symbols->modules[i];
        if (!module->split_lost)
            continue;
        const char *package = pool_text(&symbols->pool, "%s.dwp", module->main.path);
        fprintf(out, "%s%s: inlined functions are missing, because ", before, module->base_name);
        if (access(package, R_OK) == 0)
            fprintf(out, "its split debug information is in %s, a format that this libdw cannot read", package);
        else if (module->split_lost_count > 1)
            fprintf(out, "%s and %zu more .dwo files cannot be read", module->split_lost, module->split_lost_count - 1);
        else
            fprintf(out, "%s cannot be read", module->split_lost);
        fputs(" (build without -gsplit-dwarf, or keep the .dwo files where the compiler wrote them)", out);
        return true;
    }
    return false;
}

char *symbols_changes(struct symbols *symbols)
{
    size_t kept, lost, bytes;
    char *text = NULL;
    const struct symbols_module *of_kept = symbols_kept_changed_module(symbols, true, &kept);
    const struct symbols_module *of_lost = symbols_kept_changed_module(symbols, false, &lost);
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    if (of_kept) {
        symbols_kept_put_change(out, symbols, of_kept, kept);
        fputs("; names and lines are those of the run", out);
    }
    if (of_lost) {
        fputs(of_kept ? "; " : "", out);
        symbols_kept_put_change(out, symbols, of_lost, lost);
        fputs(", and the profile has kept no names: functions appear as addresses", out);
    }
    bool split = symbols_kept_put_split(out, symbols, of_kept || of_lost ? "; " : "");
    if (fclose(out) != 0 || !(of_kept || of_lost || split)) {
        free(text);
        return NULL;
    }
    return text;
}
