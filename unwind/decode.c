#include "unwind/decode.h"

#include <string.h>

#include <Zydis/Zydis.h>

#include "base/atomics.h"
#include "base/os.h"

#define MAX_INSTRUCTIONS 8000u  /* of one search */
#define WALK_ALLOWANCE   2000u  /* of all searches, for each walk ... */
#define MAX_ALLOWANCE    10000u /* ... and what can be saved up */
#define MAX_WAYS         512u   /* branches of one search */
#define MAX_CANDIDATES   8u    /* ways out that one search yields */
#define MAX_SAVED        4u
#define WINDOW           256u /* bytes of code read at once */
#define RUNS             256u /* of code whose recipe is known */

enum base { NOWHERE, AT_RSP, AT_RBP, IN_MEMORY }; /* rsp and rbp are the frame's, where the search begins */

/* An address: base + offset; IN_MEMORY: what lies at rsp + offset, AT_RBP's kin has `by_rbp`. */
struct value {
    uint8_t base;   /* enum base */
    uint8_t by_rbp; /* IN_MEMORY: at rbp + offset */
    int32_t offset;
};

struct saved {
    struct value at, value;
};

/* One way through the code, and what it has done so far. */
struct way {
    uintptr_t ip;
    struct value rsp, rbp;
    struct saved saved[MAX_SAVED];
    uint32_t saved_count;
};

struct run {
    uintptr_t start, end;
    struct recipe recipe;
};

struct decoder {
    ZydisDecoder zydis;
    struct run runs[RUNS];
    uint32_t run_count; /* ever; the oldest go */
    /* The search that is under way. */
    struct way ways[MAX_WAYS];
    uint32_t way_count, next_way;
    uint32_t instructions; /* so far, in the search */
    uint32_t allowance;    /* that may be followed yet */
    struct run passed[RUNS]; /* with rsp and rbp as at the begin */
    uint32_t passed_count;
    uintptr_t window_start;
    size_t window_bytes;
    uint8_t window[WINDOW];
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

struct decoder *decoder_make(void)
{
    struct decoder *decoder = os_map(sizeof(*decoder));
    if (!decoder)
        return NULL;
    decoder->allowance = MAX_ALLOWANCE;
    ZydisDecoderInit(&decoder->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return decoder;
}

void decoder_begin_walk(struct decoder *decoder)
{
    uint32_t saved = decoder->allowance + WALK_ALLOWANCE;
    decoder->allowance = saved < MAX_ALLOWANCE ? saved : MAX_ALLOWANCE;
}

void decoder_forget(struct decoder *decoder)
{
    decoder->run_count = 0;
    memset(decoder->runs, 0, sizeof(decoder->runs));
}

/* The largest part of a window that can be read: code may end where memory does. */
static bool read_window(struct decoder *decoder, uintptr_t ip)
{
    size_t to_page = 4096 - ip % 4096;
    decoder->window_start = ip;
    decoder->window_bytes = WINDOW;
    if (os_copy_memory(decoder->window, ip, WINDOW))
        return true;
    decoder->window_bytes = to_page < WINDOW && os_copy_memory(decoder->window, ip, to_page) ? to_page : 0;
    return decoder->window_bytes > 0;
}

static bool decode(struct decoder *decoder, uintptr_t ip)
{
    uintptr_t offset = ip - decoder->window_start;
    if ((offset >= decoder->window_bytes || decoder->window_bytes - offset < ZYDIS_MAX_INSTRUCTION_LENGTH) &&
        !read_window(decoder, ip))
        return false;
    offset = ip - decoder->window_start;
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder->zydis, decoder->window + offset,
                                               decoder->window_bytes - offset, &decoder->instruction,
                                               decoder->operands));
}

static bool is_equal(struct value a, struct value b)
{
    return a.base == b.base && a.offset == b.offset && a.by_rbp == b.by_rbp;
}

static struct value plus(struct value value, int64_t offset)
{
    if (value.base == AT_RSP || value.base == AT_RBP)
        value.offset += (int32_t)offset;
    else
        value = (struct value){.base = NOWHERE};
    return value;
}

static struct value load(const struct way *way, struct value at)
{
    for (uint32_t i = 0; i < way->saved_count; i++)
        if (is_equal(way->saved[i].at, at))
            return way->saved[i].value;
    if (at.base != AT_RSP && at.base != AT_RBP)
        return (struct value){.base = NOWHERE};
    return (struct value){.base = IN_MEMORY, .by_rbp = at.base == AT_RBP, .offset = at.offset};
}

static void store(struct way *way, struct value at, struct value value)
{
    uint32_t i = 0;
    while (i < way->saved_count && !is_equal(way->saved[i].at, at))
        i++;
    if (at.base == NOWHERE || i == MAX_SAVED)
        return;
    way->saved[i] = (struct saved){at, value};
    way->saved_count += i == way->saved_count;
}

static bool is_register(const ZydisDecodedOperand *operand, ZydisRegister name)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == name;
}

/* The address of a memory operand that is rsp or rbp plus a number. */
static struct value address_of(const struct way *way, const ZydisDecodedOperand *operand)
{
    const struct value nowhere = {.base = NOWHERE};
    if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.index != ZYDIS_REGISTER_NONE)
        return nowhere;
    if (operand->mem.base == ZYDIS_REGISTER_RSP)
        return plus(way->rsp, operand->mem.disp.value);
    if (operand->mem.base == ZYDIS_REGISTER_RBP)
        return plus(way->rbp, operand->mem.disp.value);
    return nowhere;
}

/* A function that finds its slots by rsp has a frame of fixed size: where it takes rsp back from a slot, as flang does
 * behind calls whose arguments may have needed room, it is what it was. */
static bool is_taken_back(const struct decoder *decoder)
{
    return is_register(&decoder->operands[0], ZYDIS_REGISTER_RSP) &&
           decoder->operands[1].mem.base == ZYDIS_REGISTER_RSP;
}

/* The value of the source of a mov, lea, add or sub into rsp or rbp. */
static struct value source_value(const struct way *way, const struct decoder *decoder, struct value target)
{
    const ZydisDecodedOperand *source = &decoder->operands[1];
    bool is_number = source->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    switch (decoder->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        if (source->type == ZYDIS_OPERAND_TYPE_MEMORY)
            return is_taken_back(decoder) ? target : load(way, address_of(way, source));
        return is_register(source, ZYDIS_REGISTER_RSP)   ? way->rsp
               : is_register(source, ZYDIS_REGISTER_RBP) ? way->rbp
                                                         : (struct value){.base = NOWHERE};
    case ZYDIS_MNEMONIC_LEA:
        return address_of(way, source);
    case ZYDIS_MNEMONIC_ADD:
        return is_number ? plus(target, source->imm.value.s) : (struct value){.base = NOWHERE};
    case ZYDIS_MNEMONIC_SUB:
        return is_number ? plus(target, -source->imm.value.s) : (struct value){.base = NOWHERE};
    default:
        return (struct value){.base = NOWHERE};
    }
}

static void push(struct way *way, struct value value, unsigned bytes)
{
    way->rsp = plus(way->rsp, -(int64_t)bytes);
    store(way, way->rsp, value);
}

static void pop_rbp(struct way *way)
{
    way->rbp = load(way, way->rsp);
    way->rsp = plus(way->rsp, 8);
}

static bool writes(const struct decoder *decoder, ZydisRegister name)
{
    for (uint8_t i = 0; i < decoder->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &decoder->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
            ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) == name)
            return true;
    }
    return false;
}

/* What an instruction that is no jump does to rsp and rbp. */
static void execute(struct way *way, const struct decoder *decoder)
{
    const ZydisDecodedInstruction *instruction = &decoder->instruction;
    const ZydisDecodedOperand *target = &decoder->operands[0];
    const struct value nowhere = {.base = NOWHERE};
    unsigned bytes = instruction->operand_width / 8;
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_CALL:
        return; /* it returns with both as they were */
    case ZYDIS_MNEMONIC_PUSH:
        push(way, is_register(target, ZYDIS_REGISTER_RBP) ? way->rbp : nowhere, bytes);
        return;
    case ZYDIS_MNEMONIC_POP:
        if (is_register(target, ZYDIS_REGISTER_RBP))
            pop_rbp(way);
        else
            way->rsp = is_register(target, ZYDIS_REGISTER_RSP) ? nowhere : plus(way->rsp, bytes);
        return;
    case ZYDIS_MNEMONIC_PUSHFQ:
    case ZYDIS_MNEMONIC_POPFQ:
        way->rsp = plus(way->rsp, instruction->mnemonic == ZYDIS_MNEMONIC_POPFQ ? 8 : -8);
        return;
    case ZYDIS_MNEMONIC_LEAVE:
        way->rsp = way->rbp;
        pop_rbp(way);
        return;
    default:
        break;
    }
    if (instruction->mnemonic == ZYDIS_MNEMONIC_MOV && is_register(&decoder->operands[1], ZYDIS_REGISTER_RBP))
        store(way, address_of(way, target), way->rbp);
    if (writes(decoder, ZYDIS_REGISTER_RSP))
        way->rsp = is_register(target, ZYDIS_REGISTER_RSP) ? source_value(way, decoder, way->rsp) : nowhere;
    if (writes(decoder, ZYDIS_REGISTER_RBP))
        way->rbp = is_register(target, ZYDIS_REGISTER_RBP) ? source_value(way, decoder, way->rbp) : nowhere;
}

/* At a return: the return address lies at rsp. */
static bool recipe_of(const struct way *way, struct recipe *recipe)
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

/* Another way, unless one went there already: the first one counts. */
static void add_way(struct decoder *decoder, const struct way *from, uintptr_t ip)
{
    for (uint32_t i = 0; i < decoder->way_count; i++)
        if (decoder->ways[i].ip == ip)
            return;
    if (decoder->way_count == MAX_WAYS)
        return;
    struct way *way = &decoder->ways[decoder->way_count++];
    *way = *from;
    way->ip = ip;
}

static bool is_as_at_begin(const struct way *way)
{
    return way->rsp.base == AT_RSP && way->rsp.offset == 0 && way->rbp.base == AT_RBP && way->rbp.offset == 0 &&
           way->saved_count == 0;
}

enum outcome { GOES_ON, ENDS, RETURNS };

/* Where control goes behind the instruction at ip. */
static enum outcome follow(struct decoder *decoder, struct way *way, uintptr_t ip)
{
    const ZydisDecodedInstruction *instruction = &decoder->instruction;
    const ZydisDecodedOperand *target = &decoder->operands[0];
    bool direct = target->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && target->imm.is_relative;
    uintptr_t next = ip + instruction->length;
    ZyanU64 address = 0;
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        if (direct && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(instruction, target, ip, &address)))
            add_way(decoder, way, address);
        add_way(decoder, way, next);
        return ENDS;
    case ZYDIS_CATEGORY_UNCOND_BR: /* to another function, too: it returns for this one */
        if (direct && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(instruction, target, ip, &address)))
            add_way(decoder, way, address);
        if (target->type == ZYDIS_OPERAND_TYPE_MEMORY && target->mem.base == ZYDIS_REGISTER_RIP)
            return RETURNS; /* through the linkage table, never to a case of a switch */
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
    execute(way, decoder);
    return GOES_ON;
}

static void note_passed(struct decoder *decoder, uintptr_t start, uintptr_t end)
{
    if (end > start && decoder->passed_count < RUNS)
        decoder->passed[decoder->passed_count++] = (struct run){.start = start, .end = end};
}

/* One way to its end, which may be the begin of others. True if it returns. */
static bool go(struct decoder *decoder, struct way way)
{
    uintptr_t start = way.ip;
    bool as_at_begin = is_as_at_begin(&way);
    enum outcome outcome = GOES_ON;
    while (outcome == GOES_ON && decoder->instructions < MAX_INSTRUCTIONS && decoder->allowance > 0 &&
           decode(decoder, way.ip)) {
        uintptr_t ip = way.ip;
        decoder->instructions++;
        decoder->allowance--;
        outcome = follow(decoder, &way, ip);
        way.ip = ip + decoder->instruction.length;
        if (as_at_begin && (outcome != GOES_ON || !is_as_at_begin(&way))) {
            as_at_begin = false;
            note_passed(decoder, start, way.ip);
        }
        if (outcome == RETURNS)
            decoder->ways[decoder->next_way - 1] = way;
    }
    return outcome == RETURNS;
}

static void keep(struct decoder *decoder, const struct recipe *recipe)
{
    for (uint32_t i = 0; i < decoder->passed_count; i++) {
        struct run *run = &decoder->runs[decoder->run_count++ % RUNS];
        *run = decoder->passed[i];
        run->recipe = *recipe;
    }
}

bool decoder_find(struct decoder *decoder, uintptr_t ip, bool (*accept)(const struct recipe *recipe, void *argument),
                  void *argument, struct recipe *recipe)
{
    unsigned candidates = 0;
    for (uint32_t i = 0; i < RUNS; i++)
        if (ip >= decoder->runs[i].start && ip < decoder->runs[i].end) {
            *recipe = decoder->runs[i].recipe;
            if (recipe->cfa == RECIPE_SLOW)
                return false; /* it was of no use some instructions before, or behind */
            if (accept(recipe, argument))
                return true;
        }
    decoder->way_count = decoder->next_way = decoder->instructions = decoder->passed_count = 0;
    decoder->window_bytes = 0;
    const struct way begin = {.rsp = {.base = AT_RSP}, .rbp = {.base = AT_RBP}};
    add_way(decoder, &begin, ip);
    while (decoder->next_way < decoder->way_count && candidates < MAX_CANDIDATES &&
           decoder->instructions < MAX_INSTRUCTIONS && decoder->allowance > 0) {
        uint32_t number = decoder->next_way++;
        if (!go(decoder, decoder->ways[number]) || !recipe_of(&decoder->ways[number], recipe))
            continue;
        candidates++;
        if (accept(recipe, argument)) {
            keep(decoder, recipe);
            return true;
        }
    }
    if (decoder->allowance > 0)
        keep(decoder, &(struct recipe){.cfa = RECIPE_SLOW});
    return false;
}

bool decoder_is_behind_call(uintptr_t ip)
{
    enum { BEFORE = 7 };
    uint8_t code[BEFORE];
    if (!os_copy_memory(code, ip - BEFORE, BEFORE))
        return false;
    if (code[BEFORE - 5] == 0xe8)
        return true;
    for (int bytes = 2; bytes <= BEFORE; bytes++) /* ff /2: by register or memory */
        if (bytes != 5 && code[BEFORE - bytes] == 0xff && (code[BEFORE - bytes + 1] & 0x38) == 0x10)
            return true;
    return false;
}
