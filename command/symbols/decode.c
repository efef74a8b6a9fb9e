/* Decodes the x86-64 machine code around calls and jumps. It finds the length of instructions, the flow of
 * control, code addresses that are loaded into registers, and registers that may have changed. If it does not
 * understand an instruction, decoding ends there. Callers then know less, but nothing false. */
#include "command/symbols/decode.h"

#include <Zydis/Zydis.h>

#define STACK_POINTER 4 /* register number of the stack pointer, in which no constant is tracked */

static int8_t symbols_x86_register(const ZydisDecodedOperand *operand)
{
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return -1;
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value);
    return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? ZydisRegisterGetId(whole) : -1;
}

static bool symbols_x86_is_near_rip(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.base == ZYDIS_REGISTER_RIP;
}

static enum symbols_flow symbols_x86_flow_of(const ZydisDecodedInstruction *instruction)
{
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_CALL:
        return SYMBOLS_CALL;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return SYMBOLS_JUMP;
    case ZYDIS_CATEGORY_COND_BR:
        return SYMBOLS_BRANCH;
    case ZYDIS_CATEGORY_RET:
        return SYMBOLS_END;
    default:
        return instruction->mnemonic == ZYDIS_MNEMONIC_UD2 || instruction->mnemonic == ZYDIS_MNEMONIC_HLT
                   ? SYMBOLS_END
                   : SYMBOLS_NEXT;
    }
}

static void symbols_x86_find_target(const ZydisDecodedOperand *to, uint64_t next, struct symbols_instruction *result)
{
    if (to->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        result->target = next + to->imm.value.u;
        return;
    }
    result->indirect = true;
    result->target = symbols_x86_is_near_rip(to) ? next + (uint64_t)to->mem.disp.value : 0;
}

/* Finds constants that are loaded into a register, and copies from one register to another. */
static void symbols_x86_find_value(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *to,
                                   const ZydisDecodedOperand *from, uint64_t next, struct symbols_instruction *result)
{
    bool wide = to->size == 64;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_LEA && wide && symbols_x86_is_near_rip(from)) {
        result->to = symbols_x86_register(to);
        result->value = next + (uint64_t)from->mem.disp.value;
    } else if (instruction->mnemonic != ZYDIS_MNEMONIC_MOV || to->size < 32) {
        return;
    } else if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        result->to = symbols_x86_register(to);
        result->value = wide ? from->imm.value.u : (uint32_t)from->imm.value.u;
    } else if (wide && symbols_x86_register(to) >= 0 && symbols_x86_register(from) >= 0) {
        result->to = symbols_x86_register(to);
        result->from = symbols_x86_register(from);
    }
}

/* Returns whether the instruction is a fence. GCC makes fences of `lock or $0, (%rsp)`. */
static bool symbols_x86_is_fence(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operand)
{
    return instruction->mnemonic == ZYDIS_MNEMONIC_MFENCE || instruction->mnemonic == ZYDIS_MNEMONIC_LFENCE ||
           instruction->mnemonic == ZYDIS_MNEMONIC_PAUSE ||
           (instruction->mnemonic == ZYDIS_MNEMONIC_OR && instruction->attributes & ZYDIS_ATTRIB_HAS_LOCK &&
            operand[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand[1].imm.value.u == 0);
}

static bool symbols_x86_compares(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operand)
{
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_LEA:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
        return operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_NOP:
        return true;
    default:
        return instruction->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
               instruction->meta.category == ZYDIS_CATEGORY_COND_BR;
    }
}

static bool symbols_x86_exchanges(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operand)
{
    return operand[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
           (instruction->mnemonic == ZYDIS_MNEMONIC_XCHG || instruction->mnemonic == ZYDIS_MNEMONIC_CMPXCHG);
}

/* Returns whether the instruction is locked. An exchange with memory is always locked. */
static bool symbols_x86_is_atomic(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operand)
{
    bool exchange = instruction->mnemonic == ZYDIS_MNEMONIC_XCHG &&
                    (operand[0].type == ZYDIS_OPERAND_TYPE_MEMORY || operand[1].type == ZYDIS_OPERAND_TYPE_MEMORY);
    return exchange || (instruction->attributes & ZYDIS_ATTRIB_HAS_LOCK && !symbols_x86_is_fence(instruction, operand));
}

/* Returns whether the instruction sets a register to 0 by xor. It then does not read the register's old value. */
static bool symbols_x86_clears(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operand)
{
    return instruction->mnemonic == ZYDIS_MNEMONIC_XOR && symbols_x86_register(&operand[0]) >= 0 &&
           operand[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operand[0].reg.value == operand[1].reg.value;
}

/* Finds the registers and the memory that the instruction reads. */
static void symbols_x86_find_reads(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operand,
                                   struct symbols_instruction *result)
{
    bool exchanges = symbols_x86_exchanges(instruction, operand), clears = symbols_x86_clears(instruction, operand);
    for (size_t i = 0; i < instruction->operand_count; i++) {
        int8_t reg = symbols_x86_register(&operand[i]);
        bool reads = operand[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ;
        if (reg >= 0 && reads && !clears)
            result->read |= 1u << reg;
        if (reg >= 0 && reads && exchanges)
            result->exchanged |= 1u << reg;
        if (operand[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
            continue;
        const ZydisRegister parts[] = {operand[i].mem.base, operand[i].mem.index};
        for (size_t part = 0; part < 2; part++)
            if (ZydisRegisterGetClass(parts[part]) == ZYDIS_REGCLASS_GPR64)
                result->read |= 1u << ZydisRegisterGetId(parts[part]);
        result->loads |= reads && operand[i].visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
                         operand[i].mem.type == ZYDIS_MEMOP_TYPE_MEM;
    }
    result->loads &= !symbols_x86_is_fence(instruction, operand);
    result->compares = symbols_x86_is_fence(instruction, operand) || symbols_x86_compares(instruction, operand);
}

bool symbols_decode(const uint8_t *code, size_t room, uint64_t vaddr, struct symbols_instruction *result)
{
    ZydisDecoder decoder; /* initialising a decoder is cheap, because it only selects tables */
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
    *result = (struct symbols_instruction){.to = -1, .from = -1};
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, room, &instruction, operand)))
        return false;
    uint64_t next = vaddr + instruction.length;
    result->bytes = instruction.length;
    result->flow = symbols_x86_flow_of(&instruction);
    result->fills = instruction.mnemonic == ZYDIS_MNEMONIC_NOP;
    for (size_t i = 0; i < instruction.operand_count; i++) {
        int8_t reg = symbols_x86_register(&operand[i]);
        if (reg >= 0 && reg != STACK_POINTER && operand[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            result->written |= 1u << reg;
    }
    symbols_x86_find_reads(&instruction, operand, result);
    result->atomic = symbols_x86_is_atomic(&instruction, operand);
    if (result->flow == SYMBOLS_CALL || result->flow == SYMBOLS_JUMP || result->flow == SYMBOLS_BRANCH)
        symbols_x86_find_target(&operand[0], next, result);
    else if (instruction.operand_count >= 2)
        symbols_x86_find_value(&instruction, &operand[0], &operand[1], next, result);
    return true;
}
