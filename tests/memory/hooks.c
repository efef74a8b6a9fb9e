/* What gcc calls of -fsanitize=thread: a step each. The calls of plain accesses come before the access. */
#include <string.h>

#include "tests/memory/model.h"

extern char __start_ghosts[], __stop_ghosts[];

/* Nobody else's: a stack, or what a scenario knows. */
static bool is_own(const volatile void *pointer)
{
    uintptr_t address = (uintptr_t)pointer;
    return threads_is_stack(address) || (address >= (uintptr_t)__start_ghosts && address < (uintptr_t)__stop_ghosts);
}

#define SITE ((uintptr_t)__builtin_return_address(0))

/* A struct is copied behind two calls, for what is written and then for what is read: the second one is no step. */
static void plain_read(const void *address, size_t bytes, uintptr_t site)
{
    if (is_own(address) || model_serial)
        return;
    memory_plain_read((uintptr_t)address, bytes);
    if (model_traces)
        trace(site, "reads", (uintptr_t)address, bytes <= 8 ? 0 : bytes);
}

static void plain_write(void *address, size_t bytes, uintptr_t site)
{
    if (is_own(address))
        return;
    if (model_serial) {
        undo_note((uintptr_t)address, bytes);
        return;
    }
    memory_plain_write((uintptr_t)address, bytes);
    if (model_traces)
        trace(site, "writes", (uintptr_t)address, bytes);
}

#define PLAIN(bytes)                                                                                                   \
    void __tsan_read##bytes(void *address)                                                                             \
    {                                                                                                                  \
        plain_read(address, bytes, SITE);                                                                              \
    }                                                                                                                  \
    void __tsan_write##bytes(void *address)                                                                            \
    {                                                                                                                  \
        plain_write(address, bytes, SITE);                                                                             \
    }                                                                                                                  \
    void __tsan_unaligned_read##bytes(void *address)                                                                   \
    {                                                                                                                  \
        plain_read(address, bytes, SITE);                                                                              \
    }                                                                                                                  \
    void __tsan_unaligned_write##bytes(void *address)                                                                  \
    {                                                                                                                  \
        plain_write(address, bytes, SITE);                                                                             \
    }

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *address, size_t bytes)
{
    plain_read(address, bytes, SITE);
}

void __tsan_write_range(void *address, size_t bytes)
{
    plain_write(address, bytes, SITE);
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void)
{
}

static void step(void)
{
    memory_settle();
    threads_step();
}

static uint64_t add(uint64_t old, uint64_t operand)
{
    return old + operand;
}

static uint64_t subtract(uint64_t old, uint64_t operand)
{
    return old - operand;
}

static uint64_t and (uint64_t old, uint64_t operand)
{
    return old & operand;
}

static uint64_t or (uint64_t old, uint64_t operand)
{
    return old | operand;
}

static uint64_t put(uint64_t old, uint64_t operand)
{
    (void)old;
    return operand;
}

static uint64_t load(const volatile void *address, unsigned bytes, int order, uintptr_t site)
{
    uint64_t value = 0;
    if (model_serial || is_own(address)) {
        memcpy(&value, (const void *)address, bytes);
        return value;
    }
    memory_settle();
    if (cells_are_written((uintptr_t)address, bytes))
        threads_step(); /* else it is the same whenever it is read: tables of nothing but zeros cost no steps */
    value = memory_load((uintptr_t)address, bytes, site_order(site, 'l', (enum order)order));
    if (model_traces)
        trace(site, "loads", (uintptr_t)address, value);
    return value;
}

static void store(volatile void *address, unsigned bytes, uint64_t value, int order, uintptr_t site)
{
    if (model_serial || is_own(address)) {
        if (!is_own(address))
            undo_note((uintptr_t)address, bytes);
        memcpy((void *)address, &value, bytes);
        return;
    }
    step();
    if (model_traces)
        trace(site, "stores", (uintptr_t)address, value);
    memory_store((uintptr_t)address, bytes, value, site_order(site, 's', (enum order)order));
}

static uint64_t update(volatile void *address, unsigned bytes, uint64_t (*how)(uint64_t, uint64_t), uint64_t operand,
                       int order, uintptr_t site)
{
    uint64_t value = 0;
    if (model_serial || is_own(address)) {
        if (!is_own(address))
            undo_note((uintptr_t)address, bytes);
        memcpy(&value, (const void *)address, bytes);
        uint64_t new = how(value, operand);
        memcpy((void *)address, &new, bytes);
        return value;
    }
    step();
    value = memory_update((uintptr_t)address, bytes, site_order(site, 'u', (enum order)order), how, operand);
    if (model_traces)
        trace(site, "updates", (uintptr_t)address, value);
    return value;
}

static bool compare_exchange(volatile void *address, void *expected, unsigned bytes, uint64_t desired, int success,
                             int failure, uintptr_t site)
{
    uint64_t value = 0, wanted = 0;
    memcpy(&wanted, expected, bytes);
    if (model_serial || is_own(address)) {
        memcpy(&value, (const void *)address, bytes);
        if (!is_own(address))
            undo_note((uintptr_t)address, bytes);
        if (value == wanted)
            memcpy((void *)address, &desired, bytes);
        memcpy(expected, &value, bytes);
        return value == wanted;
    }
    step();
    enum order order = site_order(site, 'c', (enum order)success);
    bool weaker = order != (enum order)success; /* a failure is never ordered more than a success */
    if (weaker && order != ACQUIRE && order != ACQ_REL)
        failure = RELAXED;
    bool done = memory_compare_exchange((uintptr_t)address, bytes, &wanted, desired, order, (enum order)failure);
    if (model_traces)
        trace(site, done ? "exchanges" : "compares", (uintptr_t)address, wanted);
    memcpy(expected, &wanted, bytes);
    return done;
}

#define ATOMIC(bits, type)                                                                                             \
    type __tsan_atomic##bits##_load(const volatile type *a, int order)                                                 \
    {                                                                                                                  \
        return (type)load(a, sizeof(type), order, SITE);                                                               \
    }                                                                                                                  \
    void __tsan_atomic##bits##_store(volatile type *a, type value, int order)                                          \
    {                                                                                                                  \
        store(a, sizeof(type), value, order, SITE);                                                                    \
    }                                                                                                                  \
    type __tsan_atomic##bits##_exchange(volatile type *a, type value, int order)                                       \
    {                                                                                                                  \
        return (type)update(a, sizeof(type), put, value, order, SITE);                                                 \
    }                                                                                                                  \
    type __tsan_atomic##bits##_fetch_add(volatile type *a, type value, int order)                                      \
    {                                                                                                                  \
        return (type)update(a, sizeof(type), add, value, order, SITE);                                                 \
    }                                                                                                                  \
    type __tsan_atomic##bits##_fetch_sub(volatile type *a, type value, int order)                                      \
    {                                                                                                                  \
        return (type)update(a, sizeof(type), subtract, value, order, SITE);                                            \
    }                                                                                                                  \
    type __tsan_atomic##bits##_fetch_and(volatile type *a, type value, int order)                                      \
    {                                                                                                                  \
        return (type)update(a, sizeof(type), and, value, order, SITE);                                                 \
    }                                                                                                                  \
    type __tsan_atomic##bits##_fetch_or(volatile type *a, type value, int order)                                       \
    {                                                                                                                  \
        return (type)update(a, sizeof(type), or, value, order, SITE);                                                  \
    }                                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *a, type *expected, type value, int success,       \
                                                      int failure)                                                     \
    {                                                                                                                  \
        return compare_exchange(a, expected, sizeof(type), value, success, failure, SITE);                             \
    }

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order)
{
    if (model_serial)
        return;
    step();
    memory_fence(site_order(SITE, 'f', (enum order)order));
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

/* What units call by these names (seams.h): memory, not functions of the C library, which nobody sees at work. */
void *model_memset(void *into, int value, size_t bytes)
{
    plain_write(into, bytes, SITE);
    memset(into, value, bytes);
    return into;
}

void *model_memcpy(void *into, const void *from, size_t bytes)
{
    plain_write(into, bytes, SITE);
    plain_read(from, bytes, SITE);
    memcpy(into, from, bytes);
    return into;
}
