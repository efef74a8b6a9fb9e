/* Decodes aarch64 machine code, as command/symbols/decode.c does for x86-64. Every instruction has four
 * bytes. An instruction that is not understood can change only the register in its lowest bits. */
#include <string.h>

#include "base/a64.h"
#include "command/symbols/decode.h"

/* register number of the stack pointer, or, in some instructions, of the zero register; no constant is
 * tracked in it */
#define STACK_POINTER 31

static int8_t symbols_a64_register(unsigned number)
{
    return number == STACK_POINTER ? -1 : (int8_t)number;
}

static uint64_t symbols_a64_page_of(uint32_t adrp, uint64_t vaddr)
{
    int64_t pages = a64_signed(adrp, 5, 19) * 4 + a64_field(adrp, 29, 2);
    return (vaddr & ~(uint64_t)4095) + (uint64_t)pages * 4096;
}

static bool symbols_a64_find_jump(uint32_t code, uint64_t vaddr, struct symbols_instruction *result)
{
    int64_t offset = 0;
    if (a64_is(code, 0x7c000000, 0x14000000)) { /* b, bl */
        result->flow = code >> 31 ? SYMBOLS_CALL : SYMBOLS_JUMP;
        offset = a64_signed(code, 0, 26) * 4;
    } else if (a64_is(code, 0xff000000, 0x54000000) || a64_is(code, 0x7e000000, 0x34000000)) { /* b.c, cb*z */
        result->flow = SYMBOLS_BRANCH;
        offset = a64_signed(code, 5, 19) * 4;
    } else if (a64_is(code, 0x7e000000, 0x36000000)) { /* tb*z */
        result->flow = SYMBOLS_BRANCH;
        offset = a64_signed(code, 5, 14) * 4;
    } else if (a64_is(code, 0xfe000000, 0xd6000000)) { /* br*, blr*, ret*, eret */
        unsigned kind = a64_field(code, 21, 2);
        result->flow = kind == 0 && !a64_field(code, 23, 1) ? SYMBOLS_JUMP : kind == 1 ? SYMBOLS_CALL : SYMBOLS_END;
        result->indirect = result->flow != SYMBOLS_END;
        return true;
    } else {
        return false;
    }
    result->target = vaddr + (uint64_t)offset;
    return true;
}

/* Finds code addresses that are loaded into a register, as a page and an offset that is added to it. Also
 * finds copies from one register to another. */
static void symbols_a64_find_value(uint32_t code, uint64_t vaddr, struct symbols_instruction *result)
{
    int8_t to = symbols_a64_register(a64_field(code, 0, 5)), from = symbols_a64_register(a64_field(code, 5, 5));
    if (a64_is(code, 0x9f000000, 0x90000000)) { /* adrp */
        result->value = symbols_a64_page_of(code, vaddr);
    } else if (a64_is(code, 0x9f000000, 0x10000000)) { /* adr */
        result->value = vaddr + (uint64_t)(a64_signed(code, 5, 19) * 4 + a64_field(code, 29, 2));
    } else if (a64_is(code, 0xff800000, 0x91000000) && from >= 0) { /* add of a constant */
        result->from = from;
        result->value = (uint64_t)a64_field(code, 10, 12) << (a64_field(code, 22, 1) ? 12 : 0);
    } else if (a64_is(code, 0xffe0ffe0, 0xaa0003e0)) { /* mov, encoded as orr with the zero register */
        result->from = symbols_a64_register(a64_field(code, 16, 5));
        to = result->from < 0 ? -1 : to;
    } else {
        return;
    }
    result->to = to;
}

/* Returns all registers that an instruction may write. The result may contain others too. A load of a pair
 * writes two registers. Loads and stores may also change their base register. */
static uint32_t symbols_a64_registers_written(uint32_t code)
{
    uint32_t written = 1u << a64_field(code, 0, 5);
    if (a64_is(code, 0x0a000000, 0x08000000)) { /* loads and stores */
        bool pair = a64_is(code, 0x3a000000, 0x28000000), exclusive = a64_is(code, 0x3f000000, 0x08000000);
        written |= pair ? 1u << a64_field(code, 10, 5) : 0;
        written |=
            /* atomic loads and stores */
            exclusive || a64_is(code, 0x3b200c00, 0x38200000) ? 1u << a64_field(code, 16, 5) : 0;
        written |= 1u << a64_field(code, 5, 5);
    }
    return written & ~(1u << STACK_POINTER);
}

bool symbols_decode_a64(const uint8_t *bytes, size_t room, uint64_t vaddr, struct symbols_instruction *result)
{
    uint32_t code;
    *result = (struct symbols_instruction){.bytes = sizeof code, .to = -1, .from = -1};
    if (room < sizeof code)
        return false;
    memcpy(&code, bytes, sizeof code);
    if (symbols_a64_find_jump(code, vaddr, result))
        return true;
    if (a64_is(code, 0xffe0001f, 0xd4200000) || a64_is(code, 0xffff0000, 0)) { /* brk, udf */
        result->flow = SYMBOLS_END;
        return true;
    }
    result->fills = code == 0xd503201f; /* nop */
    result->written = symbols_a64_registers_written(code);
    symbols_a64_find_value(code, vaddr, result);
    return true;
}

/* Recognises the code [bti c;] adrp x16, page; ldr x17, [x16, offset]; add; br x17. */
uint64_t symbols_decode_a64_slot(const uint8_t *bytes, size_t room, uint64_t vaddr)
{
    enum { BTI = 0xd503245f, WORDS = 3 };
    uint32_t code[WORDS];
    if (room < sizeof code)
        return 0;
    memcpy(code, bytes, sizeof code);
    size_t first = code[0] == (uint32_t)BTI;
    if (!a64_is(code[first], 0x9f00001f, 0x90000010) || !a64_is(code[first + 1], 0xffc003ff, 0xf9400211))
        return 0;
    return symbols_a64_page_of(code[first], vaddr + 4 * first) + (uint64_t)a64_field(code[first + 1], 10, 12) * 8;
}
