#include "layers/loader/binding.h"

#include <stddef.h>

#include "base/atomics.h"
#include "layers/loader/stubs.h"

#define SLOTS 256 /* a power of 2 */
_Static_assert(4 * STUB_COUNT <= SLOTS,
               "with the functions of two libraries, a search must be short and end at a free entry");

/* The functions that have a stub, by address. */
static struct {
    uintptr_t function; /* 0: the entry is free */
    uintptr_t stub;
} table[SLOTS];

static const char *const names[] = {
#define BINDING_NAME(type, name, ...) #name,
    PTHREADS_FUNCTIONS(BINDING_NAME)};

/* the layer's functions, or 0 */
static uintptr_t wrappers[STUB_COUNT];

/* Returns the number of the function's entry, or of the free entry where it belongs. */
static size_t binding_slot(uintptr_t function)
{
    size_t slot = (function >> 4) % SLOTS;
    while (table[slot].function && table[slot].function != function)
        slot = (slot + 1) % SLOTS;
    return slot;
}

void binding_add(const struct elf_view *library)
{
    for (size_t i = 0; i < STUB_COUNT; i++) {
        const ElfW(Sym) *symbol = elf_view_find_default(library, names[i]);
        if (!symbol || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
            continue;
        uintptr_t function = library->base + symbol->st_value;
        size_t slot = binding_slot(function);
        if (!stubs_to[i])
            stubs_to[i] = function;
        table[slot].function = function;
        table[slot].stub = (uintptr_t)stubs_code + STUB_BYTES * i;
    }
}

uintptr_t binding_of(uintptr_t function)
{
    size_t slot = binding_slot(function);
    return table[slot].function ? table[slot].stub : function;
}

static void binding_divert(size_t stub)
{
    if (wrappers[stub])
        store_release(&stubs_to[stub], wrappers[stub]);
}

void binding_divert_first(const struct elf_view *layer)
{
    for (size_t i = 0; i < STUB_COUNT; i++)
        wrappers[i] = stubs_to[i] ? elf_view_function(layer, names[i]) : 0;
    binding_divert(STUB_OF_pthread_create);
    binding_divert(STUB_OF_thrd_create);
    binding_divert(STUB_OF_prctl);
    binding_divert(STUB_OF_syscall);
}

void binding_divert_all(void)
{
    for (size_t i = 0; i < STUB_COUNT; i++)
        binding_divert(i);
}

/* ---- the first thread ---- */

#define FIRST_COUNT 2
static const size_t first_stubs[FIRST_COUNT] = {STUB_OF_pthread_create, STUB_OF_thrd_create};

static struct {
    void (*call)(void); /* NULL: nobody waits for the first thread */
    uintptr_t hook[FIRST_COUNT], libc[FIRST_COUNT];
} first;

/* A stub that no longer jumps to its hook stays: the layer may have been loaded meanwhile. */
void binding_leave_first_thread(void)
{
    for (size_t i = 0; first.call && i < FIRST_COUNT; i++)
        if (stubs_to[first_stubs[i]] == first.hook[i])
            stubs_to[first_stubs[i]] = first.libc[i];
    first.call = NULL;
}

/* Returns where the stub jumps to now. */
static uintptr_t binding_on_first(size_t stub)
{
    void (*call)(void) = first.call;
    binding_leave_first_thread();
    if (call)
        call();
    return stubs_to[stub];
}

static int binding_first_pthread_create(void *thread, const void *attributes, void *start, void *argument)
{
    uintptr_t create = binding_on_first(STUB_OF_pthread_create);
    return ((int (*)(void *, const void *, void *, void *))create)(thread, attributes, start, argument);
}

static int binding_first_thrd_create(void *thread, void *start, void *argument)
{
    uintptr_t create = binding_on_first(STUB_OF_thrd_create);
    return ((int (*)(void *, void *, void *))create)(thread, start, argument);
}

void binding_await_first_thread(void (*on_first)(void))
{
    first.call = on_first;
    first.hook[0] = (uintptr_t)binding_first_pthread_create;
    first.hook[1] = (uintptr_t)binding_first_thrd_create;
    for (size_t i = 0; i < FIRST_COUNT; i++) {
        first.libc[i] = stubs_to[first_stubs[i]];
        if (first.libc[i])
            stubs_to[first_stubs[i]] = first.hook[i];
    }
}
