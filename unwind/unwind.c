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

#define CACHE_BITS      9 /* of the number of sets */
#define CACHE_WAYS      2u
#define CACHE_SETS      ((size_t)1 << CACHE_BITS)
#define MAX_LEARNT      12u                  /* modules a walk: some 0.3 ms */
#define UNSURE          0x80u                /* of an entry's recipe.cfa: another module may be at its address by now */
#define DECODED         0x40u                /* of an entry's recipe.cfa: from the code itself */
#define SPIN_BYTES      32                   /* of a loop that waits, before and behind where it is */
#define MAX_STACK_BYTES ((uintptr_t)8 << 30) /* of the main thread, when it has no limit */

/* What is known of a code address. */
struct unwind_entry {
    uintptr_t ip; /* as in unwind_frame; 0: nothing */
    struct recipe recipe;
    const struct loadmap_range *range;
    const struct loadmap_module *module;
};

_Static_assert(sizeof(struct unwind_entry) * CACHE_WAYS == 64, "a set is a cache line");

static uintptr_t signal_trampoline;

/* The stack whose end the kernel made: that of the first thread, if it is here. */
static bool is_first_stack(struct unwinder *unwinder, uintptr_t on_it, uintptr_t here)
{
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < MAX_STACK_BYTES;
    unwinder->own_stack_high = loadmap_mapping_end(on_it);
    unwinder->own_stack_low = unwinder->own_stack_high - (limited ? limit.rlim_cur : MAX_STACK_BYTES);
    return here >= unwinder->own_stack_low && here < unwinder->own_stack_high;
}

static void find_stack(struct unwinder *unwinder)
{
    pthread_attr_t attributes;
    void *base = NULL;
    size_t bytes = 0;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    /* For the main thread pthread_getattr_np() would read the maps too, through stdio: only if it is on a fiber now, or is no main
     * thread, but one that forked. */
    if (os_tid() == getpid() && is_first_stack(unwinder, getauxval(AT_EXECFN), here))
        return;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &base, &bytes);
        pthread_attr_destroy(&attributes);
    }
    unwinder->own_stack_low = (uintptr_t)base;
    unwinder->own_stack_high = (uintptr_t)base + bytes;
    if (!bytes)
        is_first_stack(unwinder, here, here);
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

void unwinder_attach(struct unwinder *unwinder)
{
    static uint32_t warm;
    struct unwind_frame frame;
    find_stack(unwinder);
    /* The process's first steps set things up, libunwind's above all: better here than in a handler. */
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

static void forget(struct unwinder *unwinder)
{
    if (unwinder->generation) /* else it is empty, and its pages need not exist */
        memset(unwinder->cache, 0, CACHE_SETS * CACHE_WAYS * sizeof(struct unwind_entry));
    unwinder->generation = loadmap_generation();
    remote_flush(unwinder);
    if (unwinder->decoder)
        decoder_forget(unwinder->decoder);
}

/* Between the walk's first frame and the stack's end all is mapped, if that frame is on the thread's own stack. A fiber's
 * or a signal stack is read the slow, safe way, and so is whatever a strange stack pointer points to. */
static MACHINE_START void start(struct unwinder *unwinder, bool exact)
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
        forget(unwinder); /* another library may be where recipes belong to */
}

void unwinder_start_at(struct unwinder *unwinder, const ucontext_t *context)
{
    machine_load(unwinder, context);
    start(unwinder, true);
}

__attribute__((noinline)) void unwinder_start_here(struct unwinder *unwinder)
{
    memset(unwinder->registers, 0, sizeof(unwinder->registers));
    machine_load_here(unwinder->registers);
    start(unwinder, false);
    struct unwind_frame own;
    if (MACHINE_HAS_LINK && unwinder_next(unwinder, &own) == UNWIND_FRAME)
        unwinder->stack_begin = unwinder->at.stack;
}

void unwinder_start_above(struct unwinder *unwinder, const uintptr_t *frame)
{
    memset(unwinder->registers, 0, sizeof(unwinder->registers)); /* what others held then is not known */
    machine_load_above(unwinder->registers, frame);
    start(unwinder, false);
}

/* The executable range of a frame's address; a miss may mean that a library was loaded since, or that code was
 * compiled. */
static const struct loadmap_range *range_of(struct unwinder *unwinder, uintptr_t ip)
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

/* The stack of a program built with AddressSanitizer has red zones that a walk may cross. */
__attribute__((no_sanitize_address)) static inline uintptr_t load_word(uintptr_t address)
{
    uintptr_t value;
    __builtin_memcpy(&value, (const void *)address, sizeof(value));
    return value;
}

/* What the caller's registers are read from lies in [stack_low, stack_high). */
static inline bool is_readable(const struct unwinder *unwinder, uintptr_t address)
{
    return address >= unwinder->stack_low && address < unwinder->stack_high &&
           unwinder->stack_high - address >= sizeof(uintptr_t);
}

static bool read_word(struct unwinder *unwinder, uintptr_t address, uintptr_t *value)
{
    if (is_readable(unwinder, address)) {
        *value = load_word(address);
        return true;
    }
    unwinder->slow_reads++;
    return os_copy_memory(value, address, sizeof(*value));
}

static inline struct unwind_entry *cache_set(const struct unwinder *unwinder, uintptr_t ip)
{
    return &unwinder->cache[((ip ^ ip >> CACHE_BITS) & (CACHE_SETS - 1)) * CACHE_WAYS];
}

static void note_sure(struct unwinder *unwinder, const struct loadmap_range *range)
{
    unwinder->sure[unwinder->sure_count++ % UNWIND_SURE] = range;
}

/* True if the range is what it was when its entries were made. */
static bool is_sure(struct unwinder *unwinder, const struct loadmap_range *range)
{
    unsigned count = unwinder->sure_count < UNWIND_SURE ? unwinder->sure_count : UNWIND_SURE;
    for (unsigned i = 0; i < count; i++)
        if (unwinder->sure[i] == range)
            return true;
    if (!(unwinder->calling ? loadmap_is_callers(range) : loadmap_is_true(range)))
        return false;
    note_sure(unwinder, range);
    return true;
}

/* True if the address is behind a call, or where a handler returns to. */
static bool is_return_address(struct unwinder *unwinder, uintptr_t ip)
{
    return ip - signal_trampoline < MACHINE_TRAMPOLINE_BYTES ||
           (range_of(unwinder, ip - 1) && decoder_is_behind_call(ip));
}

/* True if the recipe leads to a word that lies on the stack further out and is the address behind a call. */
static bool leads_to_call(const struct recipe *recipe, void *argument)
{
    struct unwinder *unwinder = argument;
    uintptr_t base = recipe->cfa == RECIPE_CFA_RBP ? unwinder->at.rbp : unwinder->at.stack;
    uintptr_t cfa = base + (uintptr_t)recipe->cfa_offset, ip = unwinder->link;
    if (MACHINE_HAS_LINK && recipe->rbp == RECIPE_RBP_IN_LINK)
        return unwinder->exact && cfa >= unwinder->at.stack && is_return_address(unwinder, machine_strip(ip));
    if (cfa <= unwinder->at.stack || !read_word(unwinder, recipe_return_slot(*recipe, cfa), &ip) || ip <= 1)
        return false;
    return is_return_address(unwinder, machine_strip(ip));
}

/* Where nothing says how to leave a frame, its code does. */
static void decode(struct unwinder *unwinder, struct recipe *recipe)
{
    struct recipe found;
    if (!unwinder->decoder)
        unwinder->decoder = decoder_make();
    if (!unwinder->decoder || !decoder_find(unwinder->decoder, unwinder->at.ip, leads_to_call, unwinder, &found))
        return;
    *recipe = found;
    recipe->cfa |= DECODED;
}

static bool has_no_row(struct recipe recipe)
{
    return recipe.cfa == RECIPE_SLOW && (recipe.cfa_offset == RECIPE_NO_TABLE || recipe.cfa_offset == RECIPE_NO_ENTRY);
}

/* A function that has called another has saved its return address, whatever its row says: libomp's __kmp_invoke_microtask has one that
 * says nothing. */
static bool is_false(const struct unwinder *unwinder, struct recipe recipe)
{
    return MACHINE_HAS_LINK && !unwinder->exact && recipe.cfa <= RECIPE_CFA_RBP && recipe.rbp == RECIPE_RBP_IN_LINK;
}

/* Looks an address up and keeps what there is to know of it; NULL when it is no code. */
static const struct unwind_entry *learn(struct unwinder *unwinder, uintptr_t where)
{
    static const struct recipe trampoline = {.cfa = RECIPE_SLOW, .cfa_offset = RECIPE_TRAMPOLINE};
    bool returns_from_handler = unwinder->at.ip - signal_trampoline < MACHINE_TRAMPOLINE_BYTES;
    /* There may be nothing before it. */
    const struct loadmap_range *range =
        range_of(unwinder, MACHINE_HAS_LINK && returns_from_handler ? unwinder->at.ip : where);
    if (!range)
        return NULL;
    if (unlikely(unwinder->generation != loadmap_generation()))
        forget(unwinder); /* what was at this address has gone */
    struct unwind_entry *entry = cache_set(unwinder, where);
    memmove(entry + 1, entry, (CACHE_WAYS - 1) * sizeof(*entry)); /* the oldest goes */
    entry->ip = where;
    entry->range = range;
    entry->module = loadmap_module(range->module_id);
    entry->recipe = returns_from_handler
                        ? trampoline
                        : recipe_read(unwinder->code_only ? NULL : entry->module, where - range->load_bias);
    if (unlikely(has_no_row(entry->recipe) || is_false(unwinder, entry->recipe)))
        decode(unwinder, &entry->recipe);
    if (!range->permanent && range->module_id) {
        entry->recipe.cfa |= UNSURE;
        note_sure(unwinder, range);
    }
    unwinder->recipes_read++;
    return entry;
}

/* The equations of recipe.h. Above 0, 0, below 0: as remote_step(). */
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
        if (!read_word(unwinder, at->rbp + k, &cfa))
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
    if (!read_word(unwinder, recipe_return_slot(recipe, cfa), &caller->ip))
        return -1;
    caller->ip = machine_strip(caller->ip);
    if (recipe.rbp != RECIPE_RBP_SAME &&
        !read_word(unwinder, (recipe.rbp == RECIPE_RBP_AT_CFA ? cfa : at->rbp) + r, &caller->rbp))
        caller->rbp = 0; /* unknown: an address that nothing can be read from, should it be needed */
    return 1;
}

/* False if no code is known at the frame's address any more. What a thread has learnt of a library that has
 * gone is of no use to it; others learn of it at their next walk. */
static bool make_sure(struct unwinder *unwinder, struct unwind_frame *frame, struct recipe *recipe)
{
    recipe->cfa &= (uint8_t)~UNSURE;
    if (is_sure(unwinder, frame->range))
        return true;
    forget(unwinder);
    const struct unwind_entry *entry = learn(unwinder, frame->ip);
    frame->range = entry ? entry->range : NULL;
    if (!entry)
        return false;
    frame->module = entry->module;
    *recipe = entry->recipe;
    recipe->cfa &= (uint8_t)~UNSURE;
    return true;
}

/* True of a frame that is no frame: its function has not saved anything. */
static inline bool keeps_stack(struct recipe recipe, const struct unwind_frame *frame,
                               const struct unwind_registers *caller)
{
    return MACHINE_HAS_LINK && recipe.cfa == RECIPE_CFA_RSP && recipe.rbp == RECIPE_RBP_IN_LINK &&
           caller->stack == frame->stack;
}

/* The frames that take more than two loads. */
static __attribute__((noinline)) enum unwind_result next_slowly(struct unwinder *unwinder, struct recipe recipe,
                                                                struct unwind_frame *frame)
{
    struct unwind_registers caller;
    int step;
    if (unlikely(recipe.cfa & UNSURE) && !make_sure(unwinder, frame, &recipe))
        return unwinder->end = UNWIND_BROKEN;
    unwinder->decoded_steps += (recipe.cfa & DECODED) != 0;
    recipe.cfa &= (uint8_t)~DECODED;
    frame->recipe = recipe;
    bool slow = recipe.cfa == RECIPE_SLOW, trampoline = slow && recipe.cfa_offset == RECIPE_TRAMPOLINE;
    /* A return address lies behind its call, perhaps in the next function; not so where a signal interrupted:
     * at the leaf, and below the trampoline of a handler of the program's. */
    if (trampoline)
        frame->ip = unwinder->at.ip;
    if (slow) {
        unwinder->slow_steps[recipe.cfa_offset]++;
        step = trampoline && machine_leave_handler(unwinder, &caller) ? 1
               : unwinder->code_only                                  ? -1
                                     : remote_step(unwinder, unwinder->frames - unwinder->frames_before - 1, &caller);
        if (step > 0 && has_no_row(recipe) && caller.ip > 1 && !is_return_address(unwinder, caller.ip))
            step = -1; /* libunwind follows rbp there, whatever it is */
    } else {
        step = recipe_step(unwinder, recipe, &caller);
    }
    unwinder->exact = trampoline;
    frame->cfa = step > 0 ? caller.stack : 0;
    if (step == 0)
        unwinder->end = UNWIND_END;
    /* Only from a handler back to whom it interrupted may the walk change to another stack. */
    else if (step < 0 || (caller.stack <= frame->stack && !trampoline && !keeps_stack(recipe, frame, &caller)))
        unwinder->end = UNWIND_BROKEN;
    else
        unwinder->at = caller;
    return UNWIND_FRAME;
}

static enum unwind_result next_by_libunwind(struct unwinder *unwinder, struct unwind_frame *frame)
{
    bool trampoline = unwinder->at.ip - signal_trampoline < MACHINE_TRAMPOLINE_BYTES;
    if (trampoline)
        frame->ip = unwinder->at.ip;
    frame->range = range_of(unwinder, frame->ip);
    unwinder->frames++;
    if (!frame->range)
        return unwinder->end = UNWIND_BROKEN;
    frame->module = loadmap_module(frame->range->module_id);
    struct recipe recipe = {.cfa = RECIPE_SLOW, .cfa_offset = trampoline ? RECIPE_TRAMPOLINE : RECIPE_WANTED};
    return next_slowly(unwinder, recipe, frame);
}

/* The step for a frame that is looked up. */
static inline enum unwind_result next_by_entry(struct unwinder *unwinder, const struct unwind_entry *entry,
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
                 !is_readable(unwinder, return_slot) || !is_readable(unwinder, rbp_slot)))
        return next_slowly(unwinder, recipe, frame);
    uintptr_t rbp = load_word(rbp_slot);
    frame->cfa = cfa;
    frame->recipe = recipe;
    unwinder->at.ip = machine_strip(load_word(return_slot));
    signal_fence(); /* GCC would make one vector of the two, and the next step wait for it */
    unwinder->at.stack = cfa;
    signal_fence();
    unwinder->at.rbp = recipe.rbp == RECIPE_RBP_SAME ? at.rbp : rbp;
    unwinder->exact = false;
    return UNWIND_FRAME;
}

/* For an address that is not the first of its set. */
static __attribute__((noinline)) enum unwind_result next_by_search(struct unwinder *unwinder,
                                                                   struct unwind_frame *frame)
{
    const struct unwind_entry *set = cache_set(unwinder, frame->ip), *entry = NULL;
    for (unsigned way = 1; way < CACHE_WAYS; way++)
        if (set[way].ip == frame->ip)
            entry = &set[way];
    if (!entry)
        entry = learn(unwinder, frame->ip);
    if (entry)
        return next_by_entry(unwinder, entry, frame);
    frame->range = NULL;
    return unwinder->end = UNWIND_BROKEN;
}

/* The outermost frame was delivered, the path is broken, or there are to be no recipes. */
static __attribute__((noinline)) enum unwind_result next_unusual(struct unwinder *unwinder, struct unwind_frame *frame)
{
    if (unwinder->end == UNWIND_FRAME &&
        unwinder->at.ip <= 1) /* 1: it would be looked up at 0, where there is no code */
        unwinder->end = unwinder->at.ip == 0 ? UNWIND_END : UNWIND_BROKEN;
    return unwinder->end == UNWIND_FRAME ? next_by_libunwind(unwinder, frame) : unwinder->end;
}

enum unwind_result unwinder_next(struct unwinder *unwinder, struct unwind_frame *frame)
{
    uintptr_t ip = unwinder->at.ip, where = ip - !unwinder->exact;
    frame->ip = where;
    frame->stack = unwinder->at.stack;
    if (unlikely(unwinder->end != UNWIND_FRAME || ip <= 1 || unwinder->libunwind_only))
        return next_unusual(unwinder, frame);
    unwinder->frames++;
    const struct unwind_entry *entry = cache_set(unwinder, where);
    return likely(entry->ip == where) ? next_by_entry(unwinder, entry, frame) : next_by_search(unwinder, frame);
}

bool unwind_is_spinning(const ucontext_t *context)
{
    uintptr_t ip = registers_pc(context);
    const struct loadmap_range *range = loadmap_find(ip);
    if (!range)
        return false;
    uintptr_t low = ip - range->start > SPIN_BYTES ? ip - SPIN_BYTES : range->start;
    uintptr_t high = range->end - ip > SPIN_BYTES ? ip + SPIN_BYTES : range->end;
    return machine_is_spinning((const unsigned char *)low, (const unsigned char *)ip, (const unsigned char *)high);
}
