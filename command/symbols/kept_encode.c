/* Encodes the file of names. */
#include "command/symbols/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "cct/profile_format.h"
#include "cct/profile_tree.h"
#include "command/symbols/answers.h"
#include "command/symbols/kept_layout.h"
#include "command/text/strings.h"

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
                                 (frame->updates ? FRAME_UPDATES : 0) | (frame->combines ? FRAME_COMBINES : 0) |
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
        if (answer->asked && symbols_answers_are_named(to->answers, map->entries[i].key))
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
        if (symbols_answers_are_named(answers, answers->gaps[i].caller) &&
            symbols_answers_are_named(answers, answers->gaps[i].goal))
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
    struct kept_header start = {.version = KEPT_VERSION,
                                .byte_order = PROFILE_BYTE_ORDER,
                                .start_realtime_ns = header->start_realtime_ns,
                                .pid = header->pid};
    memcpy(start.magic, KEPT_MAGIC, sizeof start.magic); /* without the 0 at its end */
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
