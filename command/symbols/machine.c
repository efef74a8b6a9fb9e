#include "command/symbols/machine.h"

#include <string.h>

static uint64_t symbols_stub_slot_x86_64(const uint8_t *code, size_t room, uint64_t vaddr)
{
    static const uint8_t end_branch[] = {0xf3, 0x0f, 0x1e, 0xfa};
    struct symbols_instruction jump;
    if (room < sizeof end_branch)
        return 0;
    size_t skip = memcmp(code, end_branch, sizeof end_branch) == 0 ? sizeof end_branch : 0;
    bool jumps =
        symbols_decode(code + skip, room - skip, vaddr + skip, &jump) && jump.flow == SYMBOLS_JUMP && jump.indirect;
    return jumps ? jump.target : 0;
}

static int32_t symbols_code_int32(const uint8_t *code)
{
    int32_t value;
    memcpy(&value, code, sizeof value);
    return value;
}

static size_t symbols_next_call_site_x86_64(const struct symbols_code *code, size_t from, uint64_t *target)
{
    for (size_t i = from; i + 5 <= code->size; i++) {
        const uint8_t *at = code->bytes + i;
        if ((at[0] & 0xfe) == 0xe8) /* call, jmp */
            *target = code->vaddr + i + 5 + (uint64_t)(int64_t)symbols_code_int32(at + 1);
        /* call, jmp through a slot */
        else if (i + 6 <= code->size && at[0] == 0xff && (at[1] == 0x15 || at[1] == 0x25))
            *target = code->vaddr + i + 6 + (uint64_t)(int64_t)symbols_code_int32(at + 2);
        else
            continue;
        if (*target >= code->low && *target <= code->high)
            return i;
    }
    return code->size;
}

static size_t symbols_next_call_site_aarch64(const struct symbols_code *code, size_t from, uint64_t *target)
{
    for (size_t i = from; i + 4 <= code->size; i += 4) {
        uint32_t word = (uint32_t)symbols_code_int32(code->bytes + i);
        if ((word & 0x7c000000) != 0x14000000) /* b, bl */
            continue;
        *target = code->vaddr + i + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
        if (*target >= code->low && *target <= code->high)
            return i;
    }
    return code->size;
}

static const struct symbols_machine machines[] = {
    {.elf = EM_X86_64,
     .decode = symbols_decode,
     .stub_slot = symbols_stub_slot_x86_64,
     .next_site = symbols_next_call_site_x86_64,
     .registers = 16,
     .preserved = 0xf028u,           /* rbx, rbp, r12 ... r15 */
     .argument = {7, 6, 2, 1, 8, 9}, /* rdi, rsi, rdx, rcx, r8, r9 */
     .call_bytes = {5, 6},           /* call rel32, call *slot(%rip) */
     .slot_types = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT}},
    {.elf = EM_AARCH64,
     .decode = symbols_decode_a64,
     .stub_slot = symbols_decode_a64_slot,
     .next_site = symbols_next_call_site_aarch64,
     .registers = 31,
     .preserved = 0x3ff80000u, /* x19 ... x29 */
     .argument = {0, 1, 2, 3, 4, 5},
     .call_bytes = {4, 0},
     .slot_types = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT}},
};

const struct symbols_machine *symbols_machine_of(Elf *elf)
{
    GElf_Ehdr header;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (gelf_getehdr(elf, &header) && header.e_machine == machines[i].elf)
            return &machines[i];
    return NULL;
}
