#include "command/symbols/atomic.h"

#include <string.h>

#include "command/symbols/calls.h"
#include "command/symbols/machine.h"
#include "command/symbols/unwind.h"

#define LOCK_PREFIX  0xf0
#define MOST_BACK    16 /* more bytes than an instruction has */
#define MOST_SWEPT   (1u << 18)
#define MOST_RETRIES 12 /* instructions of a loop that repeats an update */

static bool symbols_atomic_decode(struct symbols_module *module, uint64_t vaddr, struct symbols_instruction *to)
{
    const struct symbols_machine *machine = symbols_machine_of(module->main.elf);
    size_t room;
    const uint8_t *code = symbols_elf_bytes(module->main.elf, vaddr, &room);
    return code && machine->decode(code, room, vaddr, to);
}

/* Returns whether a locked instruction, or an exchange with memory, may end at vaddr. */
static bool symbols_atomic_may_end_at(struct symbols_module *module, uint64_t low, uint64_t vaddr)
{
    uint64_t from = vaddr - low > MOST_BACK ? vaddr - MOST_BACK : low;
    size_t room;
    const uint8_t *code = symbols_elf_bytes(module->main.elf, from, &room);
    for (size_t i = 0; code && i < vaddr - from && i < room; i++)
        if (code[i] == LOCK_PREFIX || (code[i] & 0xfe) == 0x86) /* xchg */
            return true;
    return false;
}

/* Returns whether the instruction before vaddr is atomic. Where instructions begin is known from the function's entry. */
static bool symbols_atomic_ends_at(struct symbols_module *module, uint64_t vaddr)
{
    struct symbols_instruction instruction = {.atomic = false};
    uint64_t low, high;
    if (!symbols_unwind_extent(module, vaddr, &low, &high) || vaddr - low > MOST_SWEPT ||
        !symbols_atomic_may_end_at(module, low, vaddr))
        return false;
    while (low < vaddr && symbols_atomic_decode(module, low, &instruction))
        low += instruction.bytes;
    return low == vaddr && instruction.atomic;
}

/* Returns whether vaddr is in a loop that computes a value and tries to store it by a locked instruction. */
static bool symbols_atomic_retries_at(struct symbols_module *module, uint64_t vaddr)
{
    struct symbols_instruction instruction;
    uint64_t at = vaddr;
    bool tried = false;
    for (size_t i = 0; i < MOST_RETRIES && symbols_atomic_decode(module, at, &instruction); i++) {
        if (instruction.flow == SYMBOLS_BRANCH)
            return tried && !instruction.indirect && instruction.target <= vaddr;
        if (instruction.flow != SYMBOLS_NEXT)
            return false;
        tried |= instruction.atomic && instruction.exchanged;
        at += instruction.bytes;
    }
    return false;
}

bool symbols_updates_at(struct symbols_module *module, uint64_t vaddr)
{
    struct symbols_instruction here;
    const struct symbols_machine *machine;
    if (!symbols_module_open(module))
        return false;
    machine = symbols_machine_of(module->main.elf);
    if (!machine || machine->elf != EM_X86_64 || !symbols_atomic_decode(module, vaddr, &here))
        return false;
    return here.atomic || symbols_atomic_ends_at(module, vaddr) || symbols_atomic_retries_at(module, vaddr);
}

bool symbols_combines_at(struct symbols_module *module, uint64_t vaddr)
{
    uint64_t entry = symbols_calls_entry(module, vaddr);
    const struct symbols_call_list *calls = entry ? symbols_calls_of(module, entry) : NULL;
    for (size_t i = 0; calls && i < calls->count; i++)
        if (strncmp(calls->list[i].name, "__kmpc_reduce", 13) == 0 ||
            strcmp(calls->list[i].name, "GOMP_atomic_start") == 0)
            return true;
    return false;
}
