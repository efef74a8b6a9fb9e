#include "unwind/remote.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <libunwind.h>
#ifndef UNW_VERSION_MAJOR
#error "libunwind.h is LLVM's (libunwind-19-dev), but blame needs that of libunwind: install libunwind-dev"
#endif

#include "base/atomics.h"
#include "base/os.h"
#include "unwind/linked.h"
#include "unwind/machine.h"

/* libunwind exports this function, but no header declares it. perf uses it in the same way. */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t ip, unw_dyn_info_t *, unw_proc_info_t *,
                                              int need_unwind_info, void *argument);

#define CACHE_ENTRIES 512
#define MAX_KEPT      8192

/* Reads a word of the unwind tables that libunwind is using, from the module's second mapping. Returns false
 * if the address is not in that mapping. */
static bool remote_read_view(const struct unwinder *unwinder, uintptr_t address, unw_word_t *value)
{
    const struct loadmap_module *module = unwinder->tables;
    uintptr_t offset = module ? address - unwinder->tables_bias - module->view_vaddr : 0;
    if (!module || offset >= module->view_bytes)
        return false;
    size_t left = module->view_bytes - offset, bytes = left < sizeof(*value) ? left : sizeof(*value);
    *value = 0;
    memcpy(value, module->view + offset, bytes);
    return true;
}

/* not instrumented by AddressSanitizer, because a walk may read the red zones that AddressSanitizer puts on the
 * stack */
__attribute__((no_sanitize_address)) static int libunwind_access_memory(unw_addr_space_t space, unw_word_t address,
                                                                        unw_word_t *value, int write, void *argument)
{
    struct unwinder *unwinder = argument;
    (void)space;
    if (write)
        return -UNW_EINVAL;
    if (address >= unwinder->stack_low && address < unwinder->stack_high &&
        unwinder->stack_high - address >= sizeof(*value)) {
        if (address & 7)
            memcpy(value, (const void *)address, sizeof(*value));
        else
            *value = *(const unw_word_t *)address;
        return 0;
    }
    if (remote_read_view(unwinder, address, value))
        return 0;
    unwinder->slow_reads++;
    return os_copy_memory(value, address, sizeof(*value)) ? 0 : -UNW_EINVAL;
}

static int libunwind_access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write,
                                     void *argument)
{
    struct unwinder *unwinder = argument;
    (void)space;
    if (write || number < 0 || number >= UNWIND_REGISTERS)
        return -UNW_EBADREG;
    *value = unwinder->registers[number];
    return 0;
}

static int libunwind_access_float(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write,
                                  void *argument)
{
    (void)space, (void)number, (void)value, (void)write, (void)argument;
    return -UNW_EBADREG;
}

static int libunwind_find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info, int need,
                                    void *argument)
{
    const struct loadmap_range *range = loadmap_find(ip);
    const struct loadmap_module *module = range ? loadmap_module(range->module_id) : NULL;
    const unsigned char *entries;
    size_t count;
    if (!module || cfi_find_table(module, &entries, &count) != CFI_ROW)
        return -UNW_ENOINFO;
    struct unwinder *unwinder = argument;
    unwinder->tables = module;
    unwinder->tables_bias = range->load_bias;
    uintptr_t address = module->eh_frame_header + range->load_bias;
    unw_dyn_info_t table;
    memset(&table, 0, sizeof(table));
    table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    table.start_ip = range->start;
    table.end_ip = range->end;
    table.u.rti.segbase = address;
    table.u.rti.table_data = address + CFI_HEADER_BYTES;
    table.u.rti.table_len = (unw_word_t)count * 8 / sizeof(unw_word_t);
    return UNW_OBJ(dwarf_search_unwind_table)(space, ip, &table, info, need, argument);
}

/* Does nothing: for a remote table, libunwind itself frees what it has allocated from its pool. */
static void libunwind_put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *argument)
{
    (void)space, (void)info, (void)argument;
}

static int no_libunwind_list(unw_addr_space_t space, unw_word_t *address, void *argument)
{
    (void)space, (void)address, (void)argument;
    return -UNW_ENOINFO;
}

static int no_libunwind_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *argument)
{
    (void)space, (void)cursor, (void)argument;
    return -UNW_EINVAL;
}

static int no_libunwind_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t bytes, unw_word_t *offset,
                             void *argument)
{
    (void)space, (void)ip, (void)name, (void)bytes, (void)offset, (void)argument;
    return -UNW_ENOINFO;
}

static const unw_accessors_t accessors = {
    .find_proc_info = libunwind_find_proc_info,
    .put_unwind_info = libunwind_put_unwind_info,
    .get_dyn_info_list_addr = no_libunwind_list,
    .access_mem = libunwind_access_memory,
    .access_reg = libunwind_access_register,
    .access_fpreg = libunwind_access_float,
    .resume = no_libunwind_resume,
    .get_proc_name = no_libunwind_name,
};

/* An unused address space of libunwind, of which threads get copies. `bytes` is 0 if it cannot be copied. */
static struct {
    pthread_once_t once;
    void *space;
    size_t bytes;
} fresh = {.once = PTHREAD_ONCE_INIT};

static unw_addr_space_t create_libunwind_space(void)
{
    unw_addr_space_t space = unw_create_addr_space((unw_accessors_t *)&accessors, 0);
    if (space)
        unw_set_caching_policy(space, UNW_CACHE_PER_THREAD); /* initialises libunwind */
    return space;
}

/* Returns the size of a block that malloc() returned; 0 if the size is unknown. If the program brings its own
 * malloc(), malloc_usable_size() may belong to another library. */
static size_t libunwind_heap_block_bytes(void *block)
{
    struct linked_object takes, tells;
    bool same = block && linked_find((uintptr_t)malloc, &takes) && linked_find((uintptr_t)malloc_usable_size, &tells) &&
                takes.start == tells.start;
    return same ? malloc_usable_size(block) : 0;
}

/* Makes two address spaces and compares them. If they are equal byte for byte, they contain no pointers into
 * themselves, so a copy at another address also works. */
static void libunwind_make_fresh_space(void)
{
    struct os_low_fds low;
    /* When libunwind starts, it opens a pipe, which only walks without our accessors use. The pipe must not
     * get a low descriptor number, because the program may expect such a number for a file of its own. */
    os_take_low(&low);
    unw_addr_space_t one = create_libunwind_space(), other = create_libunwind_space();
    size_t bytes = libunwind_heap_block_bytes(one);
    if (bytes && libunwind_heap_block_bytes(other) == bytes && memcmp(one, other, bytes) == 0)
        fresh.space = os_map(bytes);
    if (fresh.space) {
        memcpy(fresh.space, one, bytes);
        fresh.bytes = bytes;
    }
    if (one)
        unw_destroy_addr_space(one);
    if (other)
        unw_destroy_addr_space(other);
    os_give_low(&low);
}

/* LeakSanitizer searches for pointers in globals, but not in mappings. Without this array it would report our
 * address spaces as leaks and end the program with an error. */
static void *kept_spaces[MAX_KEPT] __attribute__((used));
static size_t kept_count;

/* Returns a copy of the unused address space, in a mapping of its own; NULL if there is no memory or the
 * space cannot be copied. Without copies, libunwind would take 26 KB from the program's heap for good. A
 * block at the end of the heap keeps all free memory below it from being returned to the system. */
static unw_addr_space_t copy_libunwind_space(void)
{
    unw_addr_space_t space = fresh.bytes ? os_map(fresh.bytes) : NULL;
    if (space) {
        memcpy(space, fresh.space, fresh.bytes);
        /* the cache cannot be copied with the address space, because it is a mapping that the space points to */
        unw_set_cache_size(space, CACHE_ENTRIES, 0);
    }
    return space;
}

/* Few threads meet a frame without a recipe, so a thread's copy is made when it meets its first such frame. */
bool remote_init(struct unwinder *unwinder)
{
    pthread_once(&fresh.once, libunwind_make_fresh_space);
    if (fresh.bytes)
        return true;
    unwinder->space = create_libunwind_space();
    if (!unwinder->space)
        return false;
    size_t kept = fetch_add_relaxed(&kept_count, 1u);
    if (kept < MAX_KEPT)
        kept_spaces[kept] = unwinder->space;
    unw_set_cache_size(unwinder->space, CACHE_ENTRIES, 0);
    return true;
}

static bool have_libunwind_cursor(struct unwinder *unwinder)
{
    if (!unwinder->space)
        unwinder->space = copy_libunwind_space();
    if (unwinder->space && !unwinder->cursor)
        unwinder->cursor = os_map(sizeof(unw_cursor_t));
    return unwinder->cursor != NULL;
}

void remote_flush(struct unwinder *unwinder)
{
    if (unwinder->space)
        unw_flush_cache(unwinder->space, 0, 0);
}

/* Moves libunwind's cursor to the frame that the walk has reached by recipes. The cursor continues from its
 * last frame in this walk, or from the start of the walk. Returns true if it arrives at the same frame. */
static bool libunwind_catch_up(struct unwinder *unwinder, uint64_t frame_number)
{
    unw_word_t ip = 0, stack = 0;
    if (!unwinder->cursor_valid) {
        if (!have_libunwind_cursor(unwinder) || unw_init_remote(unwinder->cursor, unwinder->space, unwinder) < 0)
            return false;
        unwinder->cursor_valid = true;
        unwinder->cursor_frame = 0;
    }
    if (unwinder->cursor_frame == frame_number)
        return true;
    for (; unwinder->cursor_frame < frame_number; unwinder->cursor_frame++) {
        unwinder->steps_again++;
        if (unw_step(unwinder->cursor) <= 0)
            return false;
    }
    unw_get_reg(unwinder->cursor, MACHINE_IP, &ip);
    unw_get_reg(unwinder->cursor, UNW_REG_SP, &stack);
    return ip == unwinder->at.ip && stack == unwinder->at.stack;
}

/* Like libunwind_catch_up(), but if that fails, tries again with an empty cache. libunwind's cache does not
 * distinguish return addresses from interrupted instructions. So after a call that never returns, it may use
 * the row of the next function. */
static bool libunwind_catch_up_surely(struct unwinder *unwinder, uint64_t frame_number)
{
    if (libunwind_catch_up(unwinder, frame_number))
        return true;
    unwinder->cursor_valid = false;
    unwinder->restarts++;
    remote_flush(unwinder);
    if (libunwind_catch_up(unwinder, frame_number))
        return true;
    unwinder->disagreements++;
    return false;
}

int remote_step(struct unwinder *unwinder, uint64_t frame_number, struct unwind_registers *caller)
{
    unw_word_t ip = 0, stack = 0, rbp = 0;
    if (!libunwind_catch_up_surely(unwinder, frame_number))
        return -1;
    int step = unw_step(unwinder->cursor);
    unwinder->cursor_frame++;
    if (step <= 0)
        return step;
    unw_get_reg(unwinder->cursor, MACHINE_IP, &ip);
    unw_get_reg(unwinder->cursor, UNW_REG_SP, &stack);
    if (unw_get_reg(unwinder->cursor, MACHINE_FP, &rbp) < 0)
        rbp = 0;
    *caller = (struct unwind_registers){ip, stack, rbp};
    return step;
}
