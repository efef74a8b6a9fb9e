#include "command/symbols/waiting_loop.h"

#include <string.h>

#include "command/symbols/calls.h"
#include "command/symbols/machine.h"

#define MOST_INSTRUCTIONS 24
#define MOST_BYTES        128u /* of the loop */

struct waiting_loop {
    struct symbols_module *module;
    const struct symbols_machine *machine;
    uint64_t low, high; /* address of the first instruction, and address after the last one */
};

static bool symbols_waiting_decode(const struct waiting_loop *loop, uint64_t vaddr, struct symbols_instruction *to)
{
    size_t room;
    const uint8_t *code = symbols_elf_bytes(loop->module->main.elf, vaddr, &room);
    return code && loop->machine->decode(code, room, vaddr, to);
}

static bool symbols_waiting_call(struct symbols_module *module, uint64_t last_byte)
{
    static const char *const names[] = {"sched_yield", "pthread_yield", "thrd_yield", "__kmpc_flush"};
    const struct symbol_call *call = symbols_calls_at(module, last_byte);
    for (size_t i = 0; call && call->name && i < sizeof names / sizeof *names; i++)
        if (strcmp(call->name, names[i]) == 0)
            return true;
    return false;
}

/* Returns whether all passes through the loop are equal as long as memory is. A register whose value one pass leaves to
 * the next is a counter or a position, so the loop does something. A loop that takes a lock exchanges constants: if it
 * exchanged what it computes from memory, it would be an update that tries again. */
static bool symbols_waiting_passes_are_equal(const struct waiting_loop *loop)
{
    struct symbols_instruction instruction;
    uint32_t written = 0, kept = 0; /* registers that were written, and registers that were read before that */
    uint32_t loaded = 0;            /* registers whose values may come from memory */
    bool loads = false;
    for (uint64_t at = loop->low; at < loop->high; at += instruction.bytes) {
        if (!symbols_waiting_decode(loop, at, &instruction))
            return false;
        bool calls = instruction.flow == SYMBOLS_CALL;
        if (calls ? !symbols_waiting_call(loop->module, at + instruction.bytes - 1)
                  : !instruction.compares && !instruction.exchanged)
            return false;
        if (calls) {
            written |= ~loop->machine->preserved;
            loaded |= ~loop->machine->preserved;
            continue;
        }
        if (instruction.exchanged & loaded)
            return false;
        loads |= instruction.loads;
        kept |= instruction.read & ~written;
        written |= instruction.written;
        if (instruction.loads || instruction.read & loaded)
            loaded |= instruction.written;
    }
    return loads && (kept & written) == 0;
}

static bool symbols_waiting_has_instruction(const struct waiting_loop *loop, uint64_t vaddr)
{
    struct symbols_instruction instruction;
    uint64_t at = loop->low;
    while (at < vaddr && symbols_waiting_decode(loop, at, &instruction))
        at += instruction.bytes;
    return at == vaddr;
}

/* Follows the code from `vaddr`. Each jump back, to this instruction or before it, may end the loop. Other jumps back
 * leave the loop, for the next pass of one around it. */
static bool symbols_waiting_from(struct waiting_loop *loop, uint64_t vaddr)
{
    struct symbols_instruction instruction;
    uint64_t at = vaddr;
    for (size_t i = 0; i < MOST_INSTRUCTIONS && symbols_waiting_decode(loop, at, &instruction); i++) {
        at += instruction.bytes;
        bool jumps = (instruction.flow == SYMBOLS_JUMP || instruction.flow == SYMBOLS_BRANCH) && !instruction.indirect;
        if (jumps && instruction.target <= vaddr && at - instruction.target <= MOST_BYTES) {
            loop->low = instruction.target;
            loop->high = at;
            if (symbols_waiting_has_instruction(loop, vaddr) && symbols_waiting_passes_are_equal(loop))
                return true;
        }
        if (instruction.flow == SYMBOLS_JUMP || instruction.flow == SYMBOLS_END)
            return false;
    }
    return false;
}

bool symbols_waits_at(struct symbols_module *module, uint64_t vaddr)
{
    if (!symbols_module_open(module))
        return false;
    struct waiting_loop loop = {.module = module, .machine = symbols_machine_of(module->main.elf)};
    for (uint64_t at = vaddr; loop.machine && loop.machine->elf == EM_X86_64 && at <= vaddr + 1; at++)
        if (symbols_waiting_from(&loop, at))
            return true;
    return false;
}
