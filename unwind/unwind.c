#include "unwind/unwind.h"

#include <string.h>

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/os.h"
#include "base/registers.h"
#include "unwind/decode.h"
#include "unwind/machine.h"
#include "unwind/recipe.h"
#include "unwind/remote.h"

#define CACHE_BITS 9 /* the cache has 2^CACHE_BITS sets */
#define CACHE_WAYS 2u
#define CACHE_SETS ((size_t)1 << CACHE_BITS)
/* maximum number of unknown modules that one walk adds to the load map, which takes about 0.3 ms for all of
 * them */
#define MAX_LEARNT 12u
/* flag in unwind_entry.recipe.cfa: another module may have been loaded at the address */
#define UNSURE 0x80u
/* flag in unwind_entry.recipe.cfa: the recipe was found by decoding the function's code */
#define DECODED 0x40u
/* size assumed for the main thread's stack, in bytes, if that stack has no limit */
#define MAX_STACK_BYTES ((uintptr_t)8 << 30)

/* An entry of a thread's cache: what is known about one code address. */
struct unwind_entry {
    uintptr_t ip; /* the address, as in unwind_frame.ip; 0: the entry is unused */
    struct recipe recipe;
    const struct loadmap_range *range;
    const struct loadmap_module *module;
};

_Static_assert(sizeof(struct unwind_entry) * CACHE_WAYS == 64, "a set of entries fills a cache line");

static uintptr_t signal_trampoline;

/* Finds the bounds of the stack that the kernel made for the first thread and that contains `on_it`. Returns
 * true if `here` is on that stack. */
static bool unwinder_is_first_stack(struct unwinder *unwinder, uintptr_t on_it, uintptr_t here)
{
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < MAX_STACK_BYTES;
    unwinder->own_stack_high = loadmap_mapping_end(on_it);
    unwinder->own_stack_low = unwinder->own_stack_high - (limited ? limit.rlim_cur : MAX_STACK_BYTES);
    return here >= unwinder->own_stack_low && here < unwinder->own_stack_high;
}

static void unwinder_find_stack(struct unwinder *unwinder, uintptr_t here)
{
    pthread_attr_t attributes;
    void *base = NULL;
    size_t bytes = 0;
    /* For the main thread, pthread_getattr_np() reads /proc/self/maps through stdio. We need it only if this
     * thread now runs on a fiber's stack, or was not the main thread before it called fork(). */
    if (os_tid() == getpid() && unwinder_is_first_stack(unwinder, getauxval(AT_EXECFN), here))
        return;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &base, &bytes);
        pthread_attr_destroy(&attributes);
    }
    unwinder->own_stack_low = (uintptr_t)base;
    unwinder->own_stack_high = (uintptr_t)base + bytes;
    if (!bytes)
        unwinder_is_first_stack(unwinder, here, here);
}

void unwind_note_trampoline(int signal)
{
    signal_trampoline = machine_trampoline(signal);
}

bool unwinder_init(struct unwinder *unwinder)
{
    memset(unwinder, 0, sizeof(*unwinder));
    unwinder->cache = os_map(CACHE_SETS * CACHE_WAYS * sizeof(struct unwind_entry));
    if (unwinder->cache && remote_init(unwinder))
        return true;
    if (unwinder->cache)
        os_unmap(unwinder->cache, CACHE_SETS * CACHE_WAYS * sizeof(struct unwind_entry));
    unwinder->cache = NULL;
    return false;
}

void unwinder_attach(struct unwinder *unwinder, uintptr_t here)
{
    static uint32_t warm;
    struct unwind_frame frame;
    unwinder_find_stack(unwinder, here);
    /* The first walks in a process initialise data, mainly in libunwind. Samples have no time for this. */
    for (int round = 0; round < 2 && !load_relaxed(&warm); round++) {
        unwinder->libunwind_only = round == 0;
        unwinder_start_here(unwinder);
        while (unwinder_next(unwinder, &frame) == UNWIND_FRAME)
            ;
    }
    store_relaxed(&warm, 1);
    unwinder->frames = unwinder->recipes_read = unwinder->steps_again = unwinder->slow_reads = 0;
    unwinder->decoded_steps = 0;
    memset(unwinder->slow_steps, 0, sizeof(unwinder->slow_steps));
}

static void unwinder_forget_recipes(struct unwinder *unwinder)
{
    /* if the generation is 0, the cache is empty, and clearing it would only allocate its pages */
    if (unwinder->generation)
        memset(unwinder->cache, 0, CACHE_SETS * CACHE_WAYS * sizeof(struct unwind_entry));
    unwinder->generation = loadmap_generation();
    remote_flush(unwinder);
    if (unwinder->decoder)
        decoder_forget(unwinder->decoder);
}

/* Starts a walk from the registers. If the first frame is on the thread's own stack, everything from there to
 * the end of the stack is mapped and can be read directly. Other memory is read by a system call, which
 * cannot fault: the stacks of fibers and signal handlers, and whatever a meaningless stack pointer points to. */
static MACHINE_START void unwinder_start_walk(struct unwinder *unwinder, bool exact)
{
    const uintptr_t *r = unwinder->registers;
    uintptr_t stack = r[MACHINE_SP];
    bool own = stack >= unwinder->own_stack_low && stack < unwinder->own_stack_high;
    unwinder->at = (struct unwind_registers){r[MACHINE_IP], stack, r[MACHINE_FP]};
    unwinder->stack_begin = stack;
    unwinder->stack_low = own ? stack : 0;
    unwinder->stack_high = own ? unwinder->own_stack_high : 0;
    unwinder->exact = exact;
    unwinder->calling = !exact;
    unwinder->end = UNWIND_FRAME;
    unwinder->refreshed = false;
    unwinder->learnt = unwinder->sure_count = 0;
    unwinder->cursor_valid = false;
    unwinder->frames_before = unwinder->frames;
    if (unlikely(unwinder->decoder))
        decoder_begin_walk(unwinder->decoder);
    loadmap_refresh_by_time();
    if (unwinder->generation != loadmap_generation())
        /* another library may have been loaded at the addresses for which recipes are known */
        unwinder_forget_recipes(unwinder);
}

void unwinder_start_at(struct unwinder *unwinder, const ucontext_t *context)
{
    machine_load(unwinder, context);
    unwinder_start_walk(unwinder, true);
}

__attribute__((noinline)) void unwinder_start_here(struct unwinder *unwinder)
{
    memset(unwinder->registers, 0, sizeof(unwinder->registers));
    machine_load_here(unwinder->registers);
    unwinder_start_walk(unwinder, false);
    struct unwind_frame own;
    if (MACHINE_HAS_LINK && unwinder_next(unwinder, &own) == UNWIND_FRAME)
        unwinder->stack_begin = unwinder->at.stack;
}

void unwinder_start_above(struct unwinder *unwinder, const uintptr_t *frame)
{
    memset(unwinder->registers, 0, sizeof(unwinder->registers)); /* the other registers are unknown */
    machine_load_above(unwinder->registers, frame);
    unwinder_start_walk(unwinder, false);
}

/* Returns the executable range that contains the address; NULL if there is none. If the address is not in the
 * load map, the map is read again, because a library may have been loaded or code compiled since the last
 * reading. */
static const struct loadmap_range *unwinder_code_range(struct unwinder *unwinder, uintptr_t ip)
{
    const struct loadmap_range *range = loadmap_find(ip);
    if (!range && unwinder->learnt < MAX_LEARNT) {
        unwinder->learnt++;
        range = loadmap_learn(ip);
    }
    if (range || unwinder->refreshed)
        return range;
    unwinder->refreshed = true;
    loadmap_refresh_sometimes();
    return loadmap_find(ip);
}

/* not instrumented by AddressSanitizer, because a walk may read the red zones that AddressSanitizer puts on
 * the stack */
__attribute__((no_sanitize_address)) static inline uintptr_t load_word(uintptr_t address)
{
    uintptr_t value;
    __builtin_memcpy(&value, (const void *)address, sizeof(value));
    return value;
}

/* Returns true if the word is within [stack_low, stack_high), so that it can be read directly. */
static inline bool unwinder_can_read_directly(const struct unwinder *unwinder, uintptr_t address)
{
    return address >= unwinder->stack_low && address < unwinder->stack_high &&
           unwinder->stack_high - address >= sizeof(uintptr_t);
}

static bool unwinder_read_stack_word(struct unwinder *unwinder, uintptr_t address, uintptr_t *value)
{
    if (unwinder_can_read_directly(unwinder, address)) {
        *value = load_word(address);
        return true;
    }
    unwinder->slow_reads++;
    return os_copy_memory(value, address, sizeof(*value));
}

static inline struct unwind_entry *recipe_cache_set(const struct unwinder *unwinder, uintptr_t ip)
{
    return &unwinder->cache[((ip ^ ip >> CACHE_BITS) & (CACHE_SETS - 1)) * CACHE_WAYS];
}

static void unwinder_note_unchanged_range(struct unwinder *unwinder, const struct loadmap_range *range)
{
    unwinder->sure[unwinder->sure_count++ % UNWIND_SURE] = range;
}

/* Returns true if the range has not changed since entries for its addresses were put into the cache. */
static bool unwinder_range_is_unchanged(struct unwinder *unwinder, const struct loadmap_range *range)
{
    unsigned count = unwinder->sure_count < UNWIND_SURE ? unwinder->sure_count : UNWIND_SURE;
    for (unsigned i = 0; i < count; i++)
        if (unwinder->sure[i] == range)
            return true;
    if (!(unwinder->calling ? loadmap_is_callers(range) : loadmap_is_true(range)))
        return false;
    unwinder_note_unchanged_range(unwinder, range);
    return true;
}

/* Returns true if the address follows a call instruction, or is the address to which signal handlers return. */
static bool unwinder_is_return_address(struct unwinder *unwinder, uintptr_t ip)
{
    return ip - signal_trampoline < MACHINE_TRAMPOLINE_BYTES ||
           (unwinder_code_range(unwinder, ip - 1) && decoder_is_behind_call(ip));
}

/* Returns true if the recipe finds a return address, and finds it further outward on the stack. */
static bool unwinder_leads_to_call(const struct recipe *recipe, void *argument)
{
    struct unwinder *unwinder = argument;
    uintptr_t base = recipe->cfa == RECIPE_CFA_RBP ? unwinder->at.rbp : unwinder->at.stack;
    uintptr_t cfa = base + (uintptr_t)recipe->cfa_offset, ip = unwinder->link;
    if (MACHINE_HAS_LINK && recipe->rbp == RECIPE_RBP_IN_LINK)
        return unwinder->exact && cfa >= unwinder->at.stack && unwinder_is_return_address(unwinder, machine_strip(ip));
    if (cfa <= unwinder->at.stack || !unwinder_read_stack_word(unwinder, recipe_return_slot(*recipe, cfa), &ip) ||
        ip <= 1)
        return false;
    return unwinder_is_return_address(unwinder, machine_strip(ip));
}

/* Replaces the recipe by one found by decoding the function's code, if the decoder finds one. */
static void unwinder_decode_frame(struct unwinder *unwinder, struct recipe *recipe)
{
    struct recipe found;
    if (!unwinder->decoder)
        unwinder->decoder = decoder_make();
    if (!unwinder->decoder ||
        !decoder_find(unwinder->decoder, unwinder->at.ip, unwinder_leads_to_call, unwinder, &found))
        return;
    *recipe = found;
    recipe->cfa |= DECODED;
}

static bool recipe_has_no_row(struct recipe recipe)
{
    return recipe.cfa == RECIPE_SLOW && (recipe.cfa_offset == RECIPE_NO_TABLE || recipe.cfa_offset == RECIPE_NO_ENTRY);
}

/* Returns true if the recipe cannot be right: it says that the return address is still in the link register,
 * although this function has called another one and so must have saved it. libomp's __kmp_invoke_microtask
 * has such call frame information. */
static bool recipe_is_false(const struct unwinder *unwinder, struct recipe recipe)
{
    return MACHINE_HAS_LINK && !unwinder->exact && recipe.cfa <= RECIPE_CFA_RBP && recipe.rbp == RECIPE_RBP_IN_LINK;
}

/* Finds the recipe for a code address and stores it in the cache. Returns NULL if the address is not code. */
static const struct unwind_entry *unwinder_learn_address(struct unwinder *unwinder, uintptr_t where)
{
    static const struct recipe trampoline = {.cfa = RECIPE_SLOW, .cfa_offset = RECIPE_TRAMPOLINE};
    bool returns_from_handler = unwinder->at.ip - signal_trampoline < MACHINE_TRAMPOLINE_BYTES;
    /* The address to which handlers return may be the first byte of its range, so the byte before it cannot
     * be looked up. */
    const struct loadmap_range *range =
        unwinder_code_range(unwinder, MACHINE_HAS_LINK && returns_from_handler ? unwinder->at.ip : where);
    if (!range)
        return NULL;
    if (unlikely(unwinder->generation != loadmap_generation()))
        /* the load map has changed, so the code at known addresses may have been replaced */
        unwinder_forget_recipes(unwinder);
    struct unwind_entry *entry = recipe_cache_set(unwinder, where);
    memmove(entry + 1, entry, (CACHE_WAYS - 1) * sizeof(*entry)); /* this drops the oldest entry of the set */
    entry->ip = where;
    entry->range = range;
    entry->module = loadmap_module(range->module_id);
    entry->recipe = returns_from_handler
                        ? trampoline
                        : recipe_read(unwinder->code_only ? NULL : entry->module, where - range->load_bias);
    if (unlikely(recipe_has_no_row(entry->recipe) || recipe_is_false(unwinder, entry->recipe)))
        unwinder_decode_frame(unwinder, &entry->recipe);
    if (!range->permanent && range->module_id) {
        entry->recipe.cfa |= UNSURE;
        unwinder_note_unchanged_range(unwinder, range);
    }
    unwinder->recipes_read++;
    return entry;
}

/* Computes the caller's registers by the equations in recipe.h. Returns the same kinds of values as
 * remote_step(). */
static int recipe_step(struct unwinder *unwinder, struct recipe recipe, struct unwind_registers *caller)
{
    const struct unwind_registers *at = &unwinder->at;
    uintptr_t cfa = 0, k = (uintptr_t)recipe.cfa_offset, r = recipe_r(recipe);
    switch (recipe.cfa) {
    case RECIPE_CFA_RSP:
        cfa = at->stack + k;
        break;
    case RECIPE_CFA_RBP:
        cfa = at->rbp + k;
        break;
    case RECIPE_CFA_AT_RBP:
        if (!unwinder_read_stack_word(unwinder, at->rbp + k, &cfa))
            return -1;
        break;
    case RECIPE_CFA_PLT:
        cfa = at->stack + 8 + ((at->ip & 15) >= k ? 8 : 0);
        break;
    case RECIPE_OUTERMOST:
        return 0;
    }
    caller->stack = cfa;
    caller->rbp = at->rbp;
    if (MACHINE_HAS_LINK && recipe.rbp == RECIPE_RBP_IN_LINK) {
        caller->ip = machine_strip(unwinder->link);
        return unwinder->exact ? 1 : -1;
    }
    if (!unwinder_read_stack_word(unwinder, recipe_return_slot(recipe, cfa), &caller->ip))
        return -1;
    caller->ip = machine_strip(caller->ip);
    if (recipe.rbp != RECIPE_RBP_SAME &&
        !unwinder_read_stack_word(unwinder, (recipe.rbp == RECIPE_RBP_AT_CFA ? cfa : at->rbp) + r, &caller->rbp))
        caller->rbp = 0; /* the value is unknown; if a later step needs it, reading at address 0 fails */
    return 1;
}

/* Checks that the frame's range has not changed; if it has, finds the recipe again. Returns false if there is
 * no longer code at the address. In that case a library was unloaded, so the whole cache of the thread is
 * cleared; other threads notice this at their next walk. */
static bool unwinder_check_frame_range(struct unwinder *unwinder, struct unwind_frame *frame, struct recipe *recipe)
{
    recipe->cfa &= (uint8_t)~UNSURE;
    if (unwinder_range_is_unchanged(unwinder, frame->range))
        return true;
    unwinder_forget_recipes(unwinder);
    const struct unwind_entry *entry = unwinder_learn_address(unwinder, frame->ip);
    frame->range = entry ? entry->range : NULL;
    if (!entry)
        return false;
    frame->module = entry->module;
    *recipe = entry->recipe;
    recipe->cfa &= (uint8_t)~UNSURE;
    return true;
}

/* Returns true if the frame has saved nothing on the stack, so that its caller has the same stack pointer. */
static inline bool unwinder_frame_keeps_stack(struct recipe recipe, const struct unwind_frame *frame,
                                              const struct unwind_registers *caller)
{
    return MACHINE_HAS_LINK && recipe.cfa == RECIPE_CFA_RSP && recipe.rbp == RECIPE_RBP_IN_LINK &&
           caller->stack == frame->stack;
}

/* Takes a step for which it is not enough to read two words from the thread's own stack. */
static __attribute__((noinline)) enum unwind_result
unwinder_next_slowly(struct unwinder *unwinder, struct recipe recipe, struct unwind_frame *frame)
{
    struct unwind_registers caller;
    int step;
    if (unlikely(recipe.cfa & UNSURE) && !unwinder_check_frame_range(unwinder, frame, &recipe))
        return unwinder->end = UNWIND_BROKEN;
    unwinder->decoded_steps += (recipe.cfa & DECODED) != 0;
    recipe.cfa &= (uint8_t)~DECODED;
    frame->recipe = recipe;
    bool slow = recipe.cfa == RECIPE_SLOW, trampoline = slow && recipe.cfa_offset == RECIPE_TRAMPOLINE;
    /* A return address follows the call and may already belong to the next function, so ip is normally one
     * less. This does not hold for interrupted instructions: in the innermost frame, and in the frame to
     * which a handler's trampoline returns. */
    if (trampoline)
        frame->ip = unwinder->at.ip;
    if (slow) {
        unwinder->slow_steps[recipe.cfa_offset]++;
        step = trampoline && machine_leave_handler(unwinder, &caller) ? 1
               : unwinder->code_only                                  ? -1
                                     : remote_step(unwinder, unwinder->frames - unwinder->frames_before - 1, &caller);
        if (step > 0 && recipe_has_no_row(recipe) && caller.ip > 1 && !unwinder_is_return_address(unwinder, caller.ip))
            /* without call frame information, libunwind would follow rbp even if it is not a frame pointer */
            step = -1;
    } else {
        step = recipe_step(unwinder, recipe, &caller);
    }
    unwinder->exact = trampoline;
    frame->cfa = step > 0 ? caller.stack : 0;
    if (step == 0)
        unwinder->end = UNWIND_END;
    /* The stack pointer must grow, except in the step from a handler to the interrupted code, which may lead
     * to another stack. */
    else if (step < 0 ||
             (caller.stack <= frame->stack && !trampoline && !unwinder_frame_keeps_stack(recipe, frame, &caller)))
        unwinder->end = UNWIND_BROKEN;
    else
        unwinder->at = caller;
    return UNWIND_FRAME;
}

static enum unwind_result unwinder_next_by_libunwind(struct unwinder *unwinder, struct unwind_frame *frame)
{
    bool trampoline = unwinder->at.ip - signal_trampoline < MACHINE_TRAMPOLINE_BYTES;
    if (trampoline)
        frame->ip = unwinder->at.ip;
    frame->range = unwinder_code_range(unwinder, frame->ip);
    unwinder->frames++;
    if (!frame->range)
        return unwinder->end = UNWIND_BROKEN;
    frame->module = loadmap_module(frame->range->module_id);
    struct recipe recipe = {.cfa = RECIPE_SLOW, .cfa_offset = trampoline ? RECIPE_TRAMPOLINE : RECIPE_WANTED};
    return unwinder_next_slowly(unwinder, recipe, frame);
}

/* Takes a step with the recipe of a cache entry. */
static inline enum unwind_result unwinder_next_by_entry(struct unwinder *unwinder, const struct unwind_entry *entry,
                                                        struct unwind_frame *frame)
{
    struct unwind_registers at = unwinder->at;
    struct recipe recipe = entry->recipe;
    frame->range = entry->range;
    frame->module = entry->module;
    uintptr_t cfa = (recipe.cfa == RECIPE_CFA_RBP ? at.rbp : at.stack) + (uintptr_t)recipe.cfa_offset;
    uintptr_t rbp_slot = cfa + recipe_r(recipe);
    uintptr_t return_slot = recipe_return_slot(recipe, cfa);
    if (unlikely(recipe.cfa > RECIPE_CFA_RBP || recipe.rbp > RECIPE_RBP_AT_CFA || cfa <= at.stack ||
                 !unwinder_can_read_directly(unwinder, return_slot) || !unwinder_can_read_directly(unwinder, rbp_slot)))
        return unwinder_next_slowly(unwinder, recipe, frame);
    uintptr_t rbp = load_word(rbp_slot);
    frame->cfa = cfa;
    frame->recipe = recipe;
    unwinder->at.ip = machine_strip(load_word(return_slot));
    /* stops GCC from joining both stores into one vector store, on which the next step would have to wait */
    signal_fence();
    unwinder->at.stack = cfa;
    signal_fence();
    unwinder->at.rbp = recipe.rbp == RECIPE_RBP_SAME ? at.rbp : rbp;
    unwinder->exact = false;
    return UNWIND_FRAME;
}

/* Takes a step if the first entry of the cache set is not for the frame's address. */
static __attribute__((noinline)) enum unwind_result unwinder_next_by_search(struct unwinder *unwinder,
                                                                            struct unwind_frame *frame)
{
    const struct unwind_entry *set = recipe_cache_set(unwinder, frame->ip), *entry = NULL;
    for (unsigned way = 1; way < CACHE_WAYS; way++)
        if (set[way].ip == frame->ip)
            entry = &set[way];
    if (!entry)
        entry = unwinder_learn_address(unwinder, frame->ip);
    if (entry)
        return unwinder_next_by_entry(unwinder, entry, frame);
    frame->range = NULL;
    return unwinder->end = UNWIND_BROKEN;
}

/* Handles the end of a walk, broken paths, and walks that use only libunwind. */
static __attribute__((noinline)) enum unwind_result unwinder_next_unusual(struct unwinder *unwinder,
                                                                          struct unwind_frame *frame)
{
    /* ip 1 would be looked up as address 0, where there is no code */
    if (unwinder->end == UNWIND_FRAME && unwinder->at.ip <= 1)
        unwinder->end = unwinder->at.ip == 0 ? UNWIND_END : UNWIND_BROKEN;
    return unwinder->end == UNWIND_FRAME ? unwinder_next_by_libunwind(unwinder, frame) : unwinder->end;
}

enum unwind_result unwinder_next(struct unwinder *unwinder, struct unwind_frame *frame)
{
    uintptr_t ip = unwinder->at.ip, where = ip - !unwinder->exact;
    frame->ip = where;
    frame->stack = unwinder->at.stack;
    if (unlikely(unwinder->end != UNWIND_FRAME || ip <= 1 || unwinder->libunwind_only))
        return unwinder_next_unusual(unwinder, frame);
    unwinder->frames++;
    const struct unwind_entry *entry = recipe_cache_set(unwinder, where);
    return likely(entry->ip == where) ? unwinder_next_by_entry(unwinder, entry, frame)
                                      : unwinder_next_by_search(unwinder, frame);
}

bool unwind_is_spinning(const ucontext_t *context)
{
    uintptr_t ip = registers_pc(context);
    unsigned char code[2 * MACHINE_SPIN_BYTES];
    const struct loadmap_range *range = loadmap_find(ip);
    if (likely(range && range->module_id && ip - range->start >= MACHINE_SPIN_BYTES &&
               range->end - ip >= MACHINE_SPIN_BYTES))
        return machine_is_spinning((const unsigned char *)ip);
    /* Code that is not from a file may be executable and not readable, or only be readable outside handlers. */
    return os_copy_memory(code, ip - MACHINE_SPIN_BYTES, sizeof(code)) &&
           machine_is_spinning(code + MACHINE_SPIN_BYTES);
}
