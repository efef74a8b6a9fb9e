#include "ompt_tool/session/session.h"

#include <string.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/float_state.h"
#include "base/job_directory.h"
#include "cct/arena.h"
#include "unwind/loadmap.h"

#define FUNCTION_AT 640u /* offset limit of a function's name in the field for a module's path */

struct session session;

static struct {
    uint32_t busy;
    uint32_t count; /* number of modules that are already in the file */
} recorded;

bool session_is_wanted(void)
{
    const struct profile_header *header = arena_header();
    bool waits = header->wants_region || (session.wants_work && !header->regions);
    return !waits || (session.armed && clock_process_cpu_ns() - session.cpu_before_ns >= SESSION_LEAST_CPU_NS);
}

void session_discard(void)
{
    unlink(session.file);
    if (*session.target)
        unlink(session.target);
    if (rmdir(session.directory) != 0) /* Fails while other processes of the job use the directory. */
        job_directory_leave(session.directory);
}

void session_begin(uint64_t process_start_ns)
{
    session.start_ns = process_start_ns;
    session.teams = 0;
    session.paused = 0;
    session.paused_ticks = 0;
    recorded.count = 0;
    store_relaxed(&recorded.busy, 0); /* During the fork, a thread of the parent may have held this lock. */
}

static __attribute__((noinline)) bool session_change_pause(bool pause)
{
    uint32_t expected = !pause;
    struct clock_reading clocks = clock_read();
    struct profile_header *header = arena_header();
    if (!arena_is_open() || load_relaxed(&session.paused) == (uint32_t)pause)
        return false;
    if (pause)
        store_relaxed(&session.paused_since, clocks.ticks);
    if (!compare_exchange(&session.paused, &expected, (uint32_t)pause))
        return false;
    if (pause) {
        header->pauses++;
        return true;
    }
    uint64_t ticks = clocks.ticks - load_relaxed(&session.paused_since);
    store_relaxed(&session.paused_ticks, session.paused_ticks + ticks);
    header->paused_ns = (uint64_t)((double)session.paused_ticks * clocks.ns_per_tick);
    return true;
}

bool session_pause(bool pause)
{
    struct float_state floats = float_begin();
    bool changed = session_change_pause(pause);
    float_end(floats);
    return changed;
}

uint64_t session_paused_ticks(uint64_t now_ticks)
{
    uint64_t ticks = load_relaxed(&session.paused_ticks);
    if (unlikely(load_relaxed(&session.paused)))
        ticks += now_ticks - load_relaxed(&session.paused_since);
    return ticks;
}

/* Writes the path of a module. For a module that is a single function, appends the function's name. */
static void session_record_path(struct profile_module *record, const struct loadmap_module *module)
{
    size_t room = module->function ? FUNCTION_AT - 1 : sizeof(record->path) - 1, bytes = strlen(module->path);
    if (bytes > room) {
        bytes = room;
        record->flags |= PROFILE_MODULE_PATH_CUT;
    }
    memcpy(record->path, module->path, bytes);
    if (!module->function)
        return;
    room = sizeof(record->path) - bytes - 2;
    size_t name = strlen(module->function);
    memcpy(record->path + bytes + 1, module->function, name < room ? name : room);
}

void session_record_modules(void)
{
    uint32_t expected = 0;
    if (!arena_is_open() || load_relaxed(&recorded.count) == loadmap_module_count() ||
        !compare_exchange(&recorded.busy, &expected, 1))
        return;
    while (recorded.count < loadmap_module_count()) {
        const struct loadmap_module *module = loadmap_module(recorded.count + 1);
        uint32_t number;
        struct profile_module *record = arena_record(PROFILE_CHUNK_MODULE, &number);
        if (!record)
            break;
        record->load_bias = module->load_bias;
        record->vaddr_low = module->vaddr_low;
        record->vaddr_high = module->vaddr_high;
        record->flags = module->flags;
        record->build_id_bytes = module->build_id_bytes;
        memcpy(record->build_id, module->build_id, sizeof(record->build_id));
        session_record_path(record, module);
        store_relaxed(&recorded.count, recorded.count + 1);
    }
    store_release(&recorded.busy, 0);
}
