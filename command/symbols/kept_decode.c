/* Decodes the file of names. */
#include "command/symbols/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "cct/profile_format.h"
#include "cct/profile_tree.h"
#include "command/symbols/answers.h"
#include "command/symbols/kept_layout.h"

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
    return own || !id ? PROFILE_KEY(own, PROFILE_KEY_VADDR(key)) : PROFILE_KEY(KEPT_NO_MODULE, PROFILE_KEY_VADDR(key));
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
                                       .updates = flags & FRAME_UPDATES,
                                       .combines = flags & FRAME_COMBINES,
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
        if (!from->bad && symbols_answers_are_named(from->answers, symbols_kept_own_key(from, key))) {
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
        if (!from->bad && symbols_answers_are_named(from->answers, gap.caller) &&
            symbols_answers_are_named(from->answers, gap.goal))
            from->bad |= !symbols_answers_add_gap(from->answers, &gap);
    }
}

const char *symbols_file_decode(struct symbols_answers *answers, struct pool *pool, const struct symbols_file *file)
{
    struct kept_header start;
    struct reader from = {.at = file->bytes + sizeof start,
                          .end = file->bytes + file->count,
                          .answers = answers,
                          .numbers = file->numbers,
                          .pool = pool};
    if (file->count < sizeof start || memcmp(file->bytes, KEPT_MAGIC, sizeof start.magic) != 0)
        return "it is not a file of names";
    memcpy(&start, file->bytes, sizeof start);
    if (start.version < KEPT_VERSION_READ || start.version > KEPT_VERSION || start.byte_order != PROFILE_BYTE_ORDER)
        return "it was written by another version of blame";
    if (start.start_realtime_ns != file->header->start_realtime_ns || start.pid != file->header->pid)
        return "belongs to another measurement";
    if (start.hash != hash_bytes(from.at, (size_t)(from.end - from.at)))
        return "damaged";
    symbols_kept_get_texts(&from);
    bool same_tool = strcmp(symbols_kept_get_text(&from), BLAME_VERSION) == 0 && start.version == KEPT_VERSION;
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
