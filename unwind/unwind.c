#include "unwind/unwind.h"

#include <string.h>

#include <libunwind-x86_64.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/os.h"

/* Exported by libunwind and used so by perf too, though no header of its own declares it. */
extern int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t, unw_word_t ip, unw_dyn_info_t *,
                                              unw_proc_info_t *, int need_unwind_info, void *argument);

_Static_assert(UNW_X86_64_RIP == UNWIND_REGISTERS - 1, "register numbers are libunwind's");

#define CACHE_ENTRIES    512
#define MAX_KEPT         8192
#define TRAMPOLINE_BYTES 9                    /* mov $15,%rax; syscall */
#define MAX_STACK_BYTES  ((uintptr_t)8 << 30) /* of the main thread, when it has no limit */

static uintptr_t signal_trampoline;

/* A word of a module's unwind tables, from its view. */
static bool read_view(uintptr_t address, unw_word_t *value)
{
    /* Tables lie beside code but in no executable range: ask the modules. Few, and only when the cache
     * misses. */
    for (uint32_t id = 1; id <= loadmap_module_count(); id++) {
        const struct loadmap_module *module = loadmap_module(id);
        uintptr_t offset = address - load_relaxed(&module->load_bias) - module->view_vaddr;
        if (!module->view || offset >= module->view_bytes)
            continue;
        size_t left = module->view_bytes - offset, bytes = left < sizeof(*value) ? left : sizeof(*value);
        *value = 0;
        memcpy(value, module->view + offset, bytes);
        return true;
    }
    return false;
}

/* The stack of a program built with AddressSanitizer has red zones that a walk may cross. */
__attribute__((no_sanitize_address)) static int access_memory(unw_addr_space_t space, unw_word_t address,
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
    if (read_view(address, value))
        return 0;
    unwinder->slow_reads++;
    return os_copy_memory(value, address, sizeof(*value)) ? 0 : -UNW_EINVAL;
}

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write,
                           void *argument)
{
    struct unwinder *unwinder = argument;
    (void)space;
    if (write || number < 0 || number >= UNWIND_REGISTERS)
        return -UNW_EBADREG;
    *value = unwinder->registers[number];
    return 0;
}

static int access_float(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write,
                        void *argument)
{
    (void)space, (void)number, (void)value, (void)write, (void)argument;
    return -UNW_EBADREG;
}

/* The header of .eh_frame_hdr as every linker writes it: version 1, pcrel sdata4, udata4, datarel sdata4. */
static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info, int need,
                          void *argument)
{
    const struct loadmap_range *range = loadmap_find(ip);
    const struct loadmap_module *module = range ? loadmap_module(range->module_id) : NULL;
    if (!module || !module->view || !module->eh_frame_header)
        return -UNW_ENOINFO;
    uintptr_t offset = module->eh_frame_header - module->view_vaddr;
    if (offset + 12 > module->view_bytes)
        return -UNW_ENOINFO;
    const unsigned char *header = (const unsigned char *)module->view + offset;
    if (header[0] != 1 || header[2] != 0x03 || header[3] != 0x3b)
        return -UNW_ENOINFO;
    uint32_t count;
    memcpy(&count, header + 8, sizeof(count));
    if (count > (module->view_bytes - offset - 12) / 8)
        return -UNW_ENOINFO;
    uintptr_t address = module->eh_frame_header + range->load_bias;
    unw_dyn_info_t table;
    memset(&table, 0, sizeof(table));
    table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    table.start_ip = range->start;
    table.end_ip = range->end;
    table.u.rti.segbase = address;
    table.u.rti.table_data = address + 12;
    table.u.rti.table_len = (unw_word_t)count * 8 / sizeof(unw_word_t);
    return _Ux86_64_dwarf_search_unwind_table(space, ip, &table, info, need, argument);
}

/* What libunwind takes from its pool for a remote table it gives back itself. */
static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *argument)
{
    (void)space, (void)info, (void)argument;
}

static int no_list(unw_addr_space_t space, unw_word_t *address, void *argument)
{
    (void)space, (void)address, (void)argument;
    return -UNW_ENOINFO;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *argument)
{
    (void)space, (void)cursor, (void)argument;
    return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t bytes, unw_word_t *offset,
                   void *argument)
{
    (void)space, (void)ip, (void)name, (void)bytes, (void)offset, (void)argument;
    return -UNW_ENOINFO;
}

static void find_stack(struct unwinder *unwinder)
{
    pthread_attr_t attributes;
    struct rlimit limit;
    void *base = NULL;
    size_t bytes = 0;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    /* For the main thread pthread_getattr_np() would read the maps too, through stdio. */
    if (os_tid() != getpid() && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &base, &bytes);
        pthread_attr_destroy(&attributes);
    }
    unwinder->own_stack_low = (uintptr_t)base;
    unwinder->own_stack_high = (uintptr_t)base + bytes;
    if (here >= unwinder->own_stack_low && here < unwinder->own_stack_high)
        return;
    bool limited = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < MAX_STACK_BYTES;
    unwinder->own_stack_high = loadmap_mapping_end(here);
    unwinder->own_stack_low = unwinder->own_stack_high - (limited ? limit.rlim_cur : MAX_STACK_BYTES);
}

void unwind_note_trampoline(int signal)
{
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } action = {0};
    syscall(SYS_rt_sigaction, signal, NULL, &action, sizeof(action.mask));
    signal_trampoline = (uintptr_t)action.restorer;
}

/* LeakSanitizer looks for pointers in globals, not in mappings: without this it would end a program that it
 * watches with an error of ours. Threads initialise their unwinders one at a time. */
static void *kept_spaces[MAX_KEPT] __attribute__((used));
static size_t kept_count;

bool unwinder_init(struct unwinder *unwinder)
{
    static const unw_accessors_t accessors = {
        .find_proc_info = find_proc_info,
        .put_unwind_info = put_unwind_info,
        .get_dyn_info_list_addr = no_list,
        .access_mem = access_memory,
        .access_reg = access_register,
        .access_fpreg = access_float,
        .resume = no_resume,
        .get_proc_name = no_name,
    };
    memset(unwinder, 0, sizeof(*unwinder));
    unwinder->cursor = os_map(sizeof(unw_cursor_t));
    unwinder->space = unw_create_addr_space((unw_accessors_t *)&accessors, 0);
    if (!unwinder->cursor || !unwinder->space)
        return false;
    if (kept_count < MAX_KEPT)
        kept_spaces[kept_count++] = unwinder->space;
    unw_set_caching_policy(unwinder->space, UNW_CACHE_PER_THREAD);
    unw_set_cache_size(unwinder->space, CACHE_ENTRIES, 0);
    return true;
}

void unwinder_attach(struct unwinder *unwinder)
{
    struct unwind_frame frame;
    find_stack(unwinder);
    /* libunwind's first steps set things up: better here than in a handler. */
    unwinder_start_here(unwinder);
    while (unwinder_next(unwinder, &frame) == UNWIND_FRAME)
        ;
}

/* Between this frame and the stack's end all is mapped, if this frame is on the thread's own stack. A fiber's
 * or a signal stack is read the slow, safe way, and so is whatever a strange stack pointer points to. */
static void start(struct unwinder *unwinder, bool exact)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), stack = unwinder->registers[UNW_X86_64_RSP];
    bool own = here >= unwinder->own_stack_low && stack >= here && stack < unwinder->own_stack_high;
    unwinder->stack_begin = stack;
    unwinder->stack_low = own ? here : 0;
    unwinder->stack_high = own ? unwinder->own_stack_high : 0;
    unwinder->exact = exact;
    unwinder->broken = false;
    unwinder->refreshed = false;
    loadmap_refresh_by_time();
    if (unwinder->generation != loadmap_generation()) {
        unwinder->generation = loadmap_generation();
        unw_flush_cache(unwinder->space, 0, 0); /* another library may be where its recipes belong to */
    }
    unwinder->done = unw_init_remote(unwinder->cursor, unwinder->space, unwinder) < 0;
}

void unwinder_start_at(struct unwinder *unwinder, const ucontext_t *context)
{
    static const int from[UNWIND_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                               REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                               REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (int i = 0; i < UNWIND_REGISTERS; i++)
        unwinder->registers[i] = (uintptr_t)context->uc_mcontext.gregs[from[i]];
    start(unwinder, true);
}

__attribute__((noinline)) void unwinder_start_here(struct unwinder *unwinder)
{
    /* The caller's frame, as it will be when this function has returned. */
    uintptr_t *frame = __builtin_frame_address(0);
    uintptr_t *r = unwinder->registers;
    memset(r, 0, sizeof(unwinder->registers));
    __asm__("movq %%rbx, %0\n\tmovq %%r12, %1\n\tmovq %%r13, %2\n\tmovq %%r14, %3\n\tmovq %%r15, %4"
            : "=m"(r[UNW_X86_64_RBX]), "=m"(r[UNW_X86_64_R12]), "=m"(r[UNW_X86_64_R13]),
              "=m"(r[UNW_X86_64_R14]), "=m"(r[UNW_X86_64_R15]));
    r[UNW_X86_64_RBP] = frame[0];
    r[UNW_X86_64_RIP] = frame[1];
    r[UNW_X86_64_RSP] = (uintptr_t)(frame + 2);
    start(unwinder, false);
}

/* The executable range of a frame's address; a miss may mean that a library was loaded since. */
static const struct loadmap_range *range_of(struct unwinder *unwinder, uintptr_t ip)
{
    const struct loadmap_range *range = loadmap_find(ip);
    if (range || unwinder->refreshed)
        return range;
    unwinder->refreshed = true;
    loadmap_refresh_sometimes();
    return loadmap_find(ip);
}

enum unwind_result unwinder_next(struct unwinder *unwinder, struct unwind_frame *frame)
{
    unw_word_t ip = 0, stack = 0, cfa = 0;
    if (unwinder->broken)
        return UNWIND_BROKEN;
    if (unwinder->done)
        return UNWIND_END;
    unw_get_reg(unwinder->cursor, UNW_REG_IP, &ip);
    unw_get_reg(unwinder->cursor, UNW_REG_SP, &stack);
    if (ip == 0)
        return UNWIND_END;
    /* A return address lies behind its call, perhaps in the next function; not so where a signal interrupted:
     * at the leaf, and below the trampoline of a handler of the program's. */
    bool trampoline = ip - signal_trampoline < TRAMPOLINE_BYTES;
    frame->ip = unwinder->exact || trampoline ? ip : ip - 1;
    unwinder->exact = trampoline;
    frame->stack = stack;
    frame->range = range_of(unwinder, frame->ip);
    unwinder->frames++;
    if (!frame->range)
        return UNWIND_BROKEN;
    int step = unw_step(unwinder->cursor);
    if (step > 0)
        unw_get_reg(unwinder->cursor, UNW_REG_SP, &cfa);
    frame->cfa = step > 0 ? cfa : 0;
    unwinder->done = step == 0;
    /* Only from a handler back to whom it interrupted may the walk change to another stack. */
    unwinder->broken = step < 0 || (step > 0 && cfa <= stack && !trampoline);
    return UNWIND_FRAME;
}
