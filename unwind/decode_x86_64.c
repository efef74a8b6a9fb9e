#include "unwind/decode_way.h"

#include <Zydis/Zydis.h>

#include "base/os.h"

struct scratch {
    ZydisDecoder zydis;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

const size_t decode_scratch_bytes = sizeof(struct scratch);
const size_t decode_most_bytes = ZYDIS_MAX_INSTRUCTION_LENGTH;

static bool decode_operand_is_register(const ZydisDecodedOperand *operand, ZydisRegister name)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == name;
}

/* Returns the address of a memory operand if that is rsp or rbp plus a constant, otherwise NOWHERE. */
static struct value decode_operand_address(const struct way *way, const ZydisDecodedOperand *operand)
{
    const struct value nowhere = {.base = NOWHERE};
    if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.index != ZYDIS_REGISTER_NONE)
        return nowhere;
    if (operand->mem.base == ZYDIS_REGISTER_RSP)
        return decode_plus(way->rsp, operand->mem.disp.value);
    if (operand->mem.base == ZYDIS_REGISTER_RBP)
        return decode_plus(way->rbp, operand->mem.disp.value);
    return nowhere;
}

/* Returns true if the instruction loads rsp from a slot whose address is relative to rsp. A function that
 * does this has a frame of fixed size, so it loads the value that rsp already has. flang does this after
 * calls whose arguments may have needed stack space. */
static bool decode_rsp_is_taken_back(const struct scratch *scratch)
{
    return decode_operand_is_register(&scratch->operands[0], ZYDIS_REGISTER_RSP) &&
           scratch->operands[1].mem.base == ZYDIS_REGISTER_RSP;
}

/* Returns the value that a mov, lea, add or sub writes to rsp or rbp. */
static struct value decode_source_value(const struct way *way, const struct scratch *scratch, struct value target)
{
    const ZydisDecodedOperand *source = &scratch->operands[1];
    bool is_number = source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    switch (scratch->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        if (source->type == ZYDIS_OPERAND_TYPE_MEMORY)
            return decode_rsp_is_taken_back(scratch) ? target : decode_load(way, decode_operand_address(way, source));
        return decode_operand_is_register(source, ZYDIS_REGISTER_RSP)   ? way->rsp
               : decode_operand_is_register(source, ZYDIS_REGISTER_RBP) ? way->rbp
                                                                        : (struct value){.base = NOWHERE};
    case ZYDIS_MNEMONIC_LEA:
        return decode_operand_address(way, source);
    case ZYDIS_MNEMONIC_ADD:
        return is_number ? decode_plus(target, source->imm.value.s) : (struct value){.base = NOWHERE};
    case ZYDIS_MNEMONIC_SUB:
        return is_number ? decode_plus(target, -source->imm.value.s) : (struct value){.base = NOWHERE};
    default:
        return (struct value){.base = NOWHERE};
    }
}

static void decode_push_value(struct way *way, struct value value, unsigned bytes)
{
    way->rsp = decode_plus(way->rsp, -(int64_t)bytes);
    decode_store(way, way->rsp, value);
}

static void decode_pop_rbp(struct way *way)
{
    way->rbp = decode_load(way, way->rsp);
    way->rsp = decode_plus(way->rsp, 8);
}

static bool decode_instruction_writes(const struct scratch *scratch, ZydisRegister name)
{
    for (uint8_t i = 0; i < scratch->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &scratch->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
            ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) == name)
            return true;
    }
    return false;
}

/* Applies the effects that an instruction, unless it is a jump, has on rsp and rbp. */
static void decode_apply_instruction(struct way *way, const struct scratch *scratch)
{
    const ZydisDecodedInstruction *instruction = &scratch->instruction;
    const ZydisDecodedOperand *target = &scratch->operands[0];
    const struct value nowhere = {.base = NOWHERE};
    unsigned bytes = instruction->operand_width / 8;
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_CALL:
        return; /* a called function returns with rsp and rbp unchanged */
    case ZYDIS_MNEMONIC_PUSH:
        decode_push_value(way, decode_operand_is_register(target, ZYDIS_REGISTER_RBP) ? way->rbp : nowhere, bytes);
        return;
    case ZYDIS_MNEMONIC_POP:
        if (decode_operand_is_register(target, ZYDIS_REGISTER_RBP))
            decode_pop_rbp(way);
        else
            way->rsp = decode_operand_is_register(target, ZYDIS_REGISTER_RSP) ? nowhere : decode_plus(way->rsp, bytes);
        return;
    case ZYDIS_MNEMONIC_PUSHFQ:
    case ZYDIS_MNEMONIC_POPFQ:
        way->rsp = decode_plus(way->rsp, instruction->mnemonic == ZYDIS_MNEMONIC_POPFQ ? 8 : -8);
        return;
    case ZYDIS_MNEMONIC_LEAVE:
        way->rsp = way->rbp;
        decode_pop_rbp(way);
        return;
    default:
        break;
    }
    if (instruction->mnemonic == ZYDIS_MNEMONIC_MOV &&
        decode_operand_is_register(&scratch->operands[1], ZYDIS_REGISTER_RBP))
        decode_store(way, decode_operand_address(way, target), way->rbp);
    if (decode_instruction_writes(scratch, ZYDIS_REGISTER_RSP))
        way->rsp = decode_operand_is_register(target, ZYDIS_REGISTER_RSP) ? decode_source_value(way, scratch, way->rsp)
                                                                          : nowhere;
    if (decode_instruction_writes(scratch, ZYDIS_REGISTER_RBP))
        way->rbp = decode_operand_is_register(target, ZYDIS_REGISTER_RBP) ? decode_source_value(way, scratch, way->rbp)
                                                                          : nowhere;
}

/* Computes the recipe from a way that has reached a return instruction. The return address is then at rsp. */
bool decode_recipe(const struct way *way, struct recipe *recipe)
{
    struct value rsp = way->rsp, rbp = way->rbp;
    int64_t k = (int64_t)rsp.offset + 8, r = (int64_t)rbp.offset - k;
    if ((rsp.base != AT_RSP && rsp.base != AT_RBP) || (rsp.base == AT_RSP && k < 8))
        return false;
    bool same = rbp.base == AT_RBP && rbp.offset == 0;
    bool saved = rbp.base == IN_MEMORY && rbp.by_rbp == (rsp.base == AT_RBP) && r == (int16_t)r;
    *recipe = (struct recipe){
        .cfa = rsp.base == AT_RSP ? RECIPE_CFA_RSP : RECIPE_CFA_RBP,
        .cfa_offset = (int32_t)k,
        .rbp = same ? RECIPE_RBP_SAME : RECIPE_RBP_AT_CFA,
        .rbp_offset = (int16_t)(same ? -8 : r),
    };
    return same || saved;
}

/* Applies the instruction at ip, and determines where control goes after it. */
static enum outcome decode_follow_instruction(const struct scratch *scratch, struct way *way, uintptr_t ip,
                                              struct followed *followed)
{
    const ZydisDecodedInstruction *instruction = &scratch->instruction;
    const ZydisDecodedOperand *target = &scratch->operands[0];
    bool direct = target->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && target->imm.is_relative;
    uintptr_t next = ip + instruction->length;
    ZyanU64 address = 0;
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        if (direct && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(instruction, target, ip, &address)))
            followed->branch[followed->branches++] = address;
        followed->branch[followed->branches++] = next;
        return ENDS;
    /* the jump may be a tail call; the called function then returns in place of this one */
    case ZYDIS_CATEGORY_UNCOND_BR:
        if (direct && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(instruction, target, ip, &address)))
            followed->branch[followed->branches++] = address;
        if (target->type == ZYDIS_OPERAND_TYPE_MEMORY && target->mem.base == ZYDIS_REGISTER_RIP)
            return RETURNS; /* a jump through the linkage table; switches are compiled to other jumps */
        return ENDS;
    case ZYDIS_CATEGORY_RET:
        return instruction->mnemonic == ZYDIS_MNEMONIC_RET ? RETURNS : ENDS;
    case ZYDIS_CATEGORY_INTERRUPT:
        return ENDS;
    default:
        break;
    }
    if (instruction->mnemonic == ZYDIS_MNEMONIC_UD2 || instruction->mnemonic == ZYDIS_MNEMONIC_HLT)
        return ENDS;
    decode_apply_instruction(way, scratch);
    return GOES_ON;
}

enum outcome decode_follow(void *memory, struct way *way, const uint8_t *code, size_t room, struct followed *followed)
{
    struct scratch *scratch = memory;
    ZydisDecoderInit(&scratch->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&scratch->zydis, code, room, &scratch->instruction, scratch->operands)))
        return ENDS;
    followed->bytes = scratch->instruction.length;
    return decode_follow_instruction(scratch, way, way->ip, followed);
}

bool decoder_is_behind_call(uintptr_t ip)
{
    enum { BEFORE = 7 };
    uint8_t code[BEFORE];
    if (!os_copy_memory(code, ip - BEFORE, BEFORE))
        return false;
    if (code[BEFORE - 5] == 0xe8)
        return true;
    for (int bytes = 2; bytes <= BEFORE; bytes++) /* ff /2 is a call through a register or memory */
        if (bytes != 5 && code[BEFORE - bytes] == 0xff && (code[BEFORE - bytes + 1] & 0x38) == 0x10)
            return true;
    return false;
}
