/* x86-64 machine code, as far as calls and jumps need it: the length of each instruction, where control goes,
 * which addresses of code are loaded into registers, and which registers may have changed since. Code that is
 * not understood ends the reading: whoever asks then knows less, but nothing wrong. */
#include <string.h>

#include "report/symbols/internal.h"

#define MODRM   1u
#define IMM8    2u
#define IMM32   4u /* 16 bits with the prefix 66 */
#define IMM16   8u
#define BAD     16u
#define NO_DEST 32u /* writes no general register that its ModRM byte names */

#define MAX_BYTES 15u

enum map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

struct reader {
    const uint8_t *code;
    size_t room, at;
    uint64_t vaddr;
    bool wide, short_operand, vector; /* REX.W; 66; VEX or EVEX */
    uint8_t rex_r, rex_b;
    enum map map;
    uint8_t opcode;
    bool has_modrm;
    uint8_t mod, reg, rm;
    bool rip_relative;
    int32_t displacement;
    uint64_t immediate;
    size_t immediate_bytes;
};

static uint64_t value_at(const uint8_t *code, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, code, bytes);
    return value;
}

static uint64_t extend(uint64_t value, size_t bytes)
{
    unsigned shift = bytes < 8 ? 64 - 8 * (unsigned)bytes : 0;
    return bytes ? (uint64_t)((int64_t)(value << shift) >> shift) : 0;
}

static unsigned flags_one(uint8_t opcode)
{
    static const uint8_t invalid[] = {0x60, 0x61, 0x82, 0x9a, 0xce, 0xd4, 0xd5, 0xd6, 0xea};
    if (memchr(invalid, opcode, sizeof invalid)) {
        return BAD;
    }
    if (opcode < 0x40) {
        static const uint8_t form[8] = {MODRM, MODRM, MODRM, MODRM, IMM8, IMM32, BAD, BAD};
        return form[opcode & 7];
    }
    switch (opcode) {
    case 0x63:
    case 0x84 ... 0x8f:
    case 0xd0 ... 0xd3:
    case 0xd8 ... 0xdf:
    case 0xf6: /* the immediate of TEST is added later */
    case 0xf7:
    case 0xfe:
    case 0xff:
        return MODRM;
    case 0x69:
    case 0x81:
    case 0xc7:
        return MODRM | IMM32;
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6:
        return MODRM | IMM8;
    case 0x68:
    case 0xa9:
    case 0xe8:
    case 0xe9:
        return IMM32;
    case 0x6a:
    case 0x70 ... 0x7f:
    case 0xa8:
    case 0xb0 ... 0xb7:
    case 0xcd:
    case 0xe0 ... 0xe7:
    case 0xeb:
        return IMM8;
    case 0xc2:
    case 0xca:
        return IMM16;
    case 0xc8:
        return IMM16 | IMM8;
    default: /* 0xa0 ... 0xa3 and 0xb8 ... 0xbf have their own sizes */
        return 0;
    }
}

static unsigned flags_0f(uint8_t opcode)
{
    switch (opcode) {
    case 0x04:
    case 0x0a:
    case 0x0c:
    case 0x0f:
    case 0x24 ... 0x27:
    case 0x36:
    case 0x39:
    case 0x3b ... 0x3f:
    case 0x7a:
    case 0x7b:
        return BAD;
    case 0x05 ... 0x09:
    case 0x0b:
    case 0x0e:
    case 0x30 ... 0x35:
    case 0x37:
    case 0x77:
    case 0xa0 ... 0xa2:
    case 0xa8 ... 0xaa:
    case 0xc8 ... 0xcf:
        return 0;
    case 0x80 ... 0x8f:
        return IMM32;
    case 0x70:
    case 0xc2:
    case 0xc6:
        return MODRM | IMM8 | NO_DEST;
    case 0x71 ... 0x73:
        return MODRM | IMM8 | NO_DEST;
    case 0xa4:
    case 0xac:
    case 0xba:
    case 0xc4:
    case 0xc5:
        return MODRM | IMM8;
    case 0x0d:
    case 0x10 ... 0x1f:
    case 0x28 ... 0x2b:
    case 0x2e:
    case 0x2f:
    case 0x51 ... 0x6f:
    case 0x74 ... 0x76:
    case 0x7f:
    case 0xd0 ... 0xd6:
    case 0xd8 ... 0xff:
        return MODRM | NO_DEST;
    default:
        return MODRM;
    }
}

static unsigned flags_of(const struct reader *reader)
{
    unsigned flags = reader->map == MAP_ONE    ? flags_one(reader->opcode)
                     : reader->map == MAP_0F   ? flags_0f(reader->opcode)
                     : reader->map == MAP_0F38 ? MODRM
                                               : MODRM | IMM8;
    /* Some gaps in the map 0f are vector instructions. */
    return reader->vector && flags & BAD ? MODRM | NO_DEST : flags;
}

static bool take(struct reader *reader, size_t bytes, const uint8_t **from)
{
    if (bytes > reader->room - reader->at) {
        return false;
    }
    *from = reader->code + reader->at;
    reader->at += bytes;
    return true;
}

static bool read_vector_prefix(struct reader *reader, uint8_t first)
{
    const uint8_t *payload;
    size_t bytes = first == 0xc5 ? 1 : first == 0xc4 ? 2 : 3;
    if (!take(reader, bytes, &payload)) {
        return false;
    }
    unsigned map = first == 0xc5 ? 1 : first == 0xc4 ? payload[0] & 31u : payload[0] & 7u;
    /* Maps 5 and 6 of EVEX are 1 and 2 once more, with half-precision numbers. */
    map = first == 0x62 && map >= 5 ? map - 4 : map;
    reader->vector = true;
    reader->map = (enum map)map;
    return map >= MAP_0F && map <= MAP_0F3A;
}

static bool read_opcode(struct reader *reader)
{
    static const uint8_t prefixes[] = {0x66, 0xf0, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x67};
    const uint8_t *byte;
    do {
        if (!take(reader, 1, &byte)) {
            return false;
        }
        reader->short_operand |= *byte == 0x66;
    } while (memchr(prefixes, *byte, sizeof prefixes));
    if ((*byte & 0xf0) == 0x40) {
        reader->wide = *byte & 8;
        reader->rex_r = (uint8_t)((*byte & 4) << 1);
        reader->rex_b = (uint8_t)((*byte & 1) << 3);
        if (!take(reader, 1, &byte)) {
            return false;
        }
    }
    if (*byte == 0xc4 || *byte == 0xc5 || *byte == 0x62) {
        if (!read_vector_prefix(reader, *byte) || !take(reader, 1, &byte)) {
            return false;
        }
    } else if (*byte == 0x0f) {
        reader->map = MAP_0F;
        if (!take(reader, 1, &byte)) {
            return false;
        }
        if (*byte == 0x38 || *byte == 0x3a) {
            reader->map = *byte == 0x38 ? MAP_0F38 : MAP_0F3A;
            if (!take(reader, 1, &byte)) {
                return false;
            }
        }
    }
    reader->opcode = *byte;
    return true;
}

static bool read_modrm(struct reader *reader)
{
    const uint8_t *byte;
    if (!take(reader, 1, &byte)) {
        return false;
    }
    reader->has_modrm = true;
    reader->mod = *byte >> 6;
    reader->reg = (*byte >> 3) & 7;
    reader->rm = *byte & 7;
    size_t bytes = reader->mod == 1 ? 1 : reader->mod == 2 ? 4 : 0;
    if (reader->mod != 3 && reader->rm == 4) {
        if (!take(reader, 1, &byte)) {
            return false;
        }
        bytes = reader->mod == 0 && (*byte & 7) == 5 ? 4 : bytes;
    } else if (reader->mod == 0 && reader->rm == 5) {
        reader->rip_relative = true;
        bytes = 4;
    }
    if (!take(reader, bytes, &byte)) {
        return false;
    }
    reader->displacement = (int32_t)extend(value_at(byte, bytes), bytes);
    return true;
}

static bool read_immediate(struct reader *reader, unsigned flags)
{
    const uint8_t *bytes;
    size_t count = (flags & IMM8 ? 1u : 0u) + (flags & IMM16 ? 2u : 0u);
    if (flags & IMM32) {
        bool branch = reader->map == MAP_ONE ? reader->opcode == 0xe8 || reader->opcode == 0xe9
                                             : (reader->opcode & 0xf0) == 0x80;
        count = reader->short_operand && !reader->wide && !branch ? 2 : 4;
    }
    if (reader->map == MAP_ONE && !reader->vector) {
        if ((reader->opcode & 0xfe) == 0xf6 && reader->reg < 2) {
            count = reader->opcode == 0xf6 ? 1 : reader->short_operand && !reader->wide ? 2 : 4;
        } else if ((reader->opcode & 0xfc) == 0xa0) {
            count = 8;
        } else if ((reader->opcode & 0xf8) == 0xb8) {
            count = reader->wide ? 8 : reader->short_operand ? 2 : 4;
        }
    }
    if (!take(reader, count, &bytes)) {
        return false;
    }
    reader->immediate = count <= 8 ? extend(value_at(bytes, count), count) : 0;
    reader->immediate_bytes = count;
    return true;
}

/* General registers that the instruction may have written, as a set of bits; too many rather than too few. */
static uint32_t written(const struct reader *reader, unsigned flags)
{
    uint32_t reg = 1u << (reader->reg | reader->rex_r);
    uint32_t rm = reader->has_modrm && reader->mod == 3 ? 1u << (reader->rm | reader->rex_b) : 0;
    uint8_t opcode = reader->opcode;
    if (reader->vector || reader->map != MAP_ONE) {
        uint32_t named = reader->has_modrm && !(flags & NO_DEST) ? reg | rm : 0;
        bool many =
            reader->map == MAP_0F && !reader->vector && (opcode == 0xa2 || opcode == 0x31); /* CPUID, RDTSC */
        return many ? named | 0xf : named;
    }
    if (opcode < 0x40) {
        static const uint8_t to_rm[8] = {1, 1, 0, 0, 2, 2, 0, 0};
        uint32_t result = to_rm[opcode & 7] == 2 ? 1u : to_rm[opcode & 7] ? rm : reg;
        return opcode >= 0x38 ? 0 : result;
    }
    switch (opcode) {
    case 0x58 ... 0x5f:
    case 0xb0 ... 0xbf:
        return 1u << ((opcode & 7) | reader->rex_b);
    case 0x90 ... 0x97:
        return 1u | 1u << ((opcode & 7) | reader->rex_b);
    case 0x84:
    case 0x85:
        return 0;
    case 0x88:
    case 0x89:
        return rm;
    case 0x8a:
    case 0x8b:
    case 0x8d:
    case 0x63:
    case 0x69:
    case 0x6b:
        return reg;
    case 0x80 ... 0x83:
        return reader->reg == 7 ? 0 : rm;
    case 0xf6:
    case 0xf7:
        return reader->reg < 2 ? 0 : reader->reg < 4 ? rm : 5u;
    case 0x98 ... 0x9f:
        return 5u;
    case 0xa4 ... 0xa7:
    case 0xaa ... 0xaf:
        return 0xc7u; /* strings: rdi, rsi, rcx, rax, rdx */
    default:
        return reader->has_modrm ? reg | rm : 0;
    }
}

static void find_flow(const struct reader *reader, uint64_t next, struct symbols_instruction *result)
{
    uint8_t opcode = reader->opcode;
    if (reader->vector) {
        return;
    }
    if (reader->map == MAP_0F && (opcode & 0xf0) == 0x80) {
        result->flow = SYMBOLS_BRANCH;
    } else if (reader->map == MAP_0F && opcode == 0x0b) {
        result->flow = SYMBOLS_END;
    } else if (reader->map != MAP_ONE) {
        return;
    } else if (opcode == 0xe8 || opcode == 0xe9 || opcode == 0xeb) {
        result->flow = opcode == 0xe8 ? SYMBOLS_CALL : SYMBOLS_JUMP;
    } else if ((opcode & 0xf0) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3)) {
        result->flow = SYMBOLS_BRANCH;
    } else if (opcode == 0xc2 || opcode == 0xc3 || opcode == 0xf4) {
        result->flow = SYMBOLS_END;
    } else if (opcode == 0xff && (reader->reg == 2 || reader->reg == 4)) {
        result->flow = reader->reg == 2 ? SYMBOLS_CALL : SYMBOLS_JUMP;
        result->indirect = true;
        result->target = reader->rip_relative ? next + (uint64_t)(int64_t)reader->displacement : 0;
        return;
    } else {
        return;
    }
    result->target = next + reader->immediate;
}

/* Addresses that are loaded as constants, and copies from register to register. */
static void find_value(const struct reader *reader, uint64_t next, struct symbols_instruction *result)
{
    uint8_t opcode = reader->opcode;
    if (reader->vector || reader->map != MAP_ONE) {
        return;
    }
    if (opcode == 0x8d && reader->rip_relative && reader->wide) {
        result->to = (int8_t)(reader->reg | reader->rex_r);
        result->value = next + (uint64_t)(int64_t)reader->displacement;
    } else if ((opcode & 0xf8) == 0xb8 && reader->immediate_bytes >= 4) {
        result->to = (int8_t)((opcode & 7) | reader->rex_b);
        result->value = reader->wide ? reader->immediate : (uint32_t)reader->immediate;
    } else if (opcode == 0xc7 && reader->mod == 3 && reader->wide && reader->reg == 0) {
        result->to = (int8_t)(reader->rm | reader->rex_b);
        result->value = reader->immediate;
    } else if ((opcode == 0x89 || opcode == 0x8b) && reader->wide && reader->mod == 3) {
        int8_t reg = (int8_t)(reader->reg | reader->rex_r), rm = (int8_t)(reader->rm | reader->rex_b);
        result->to = opcode == 0x89 ? rm : reg;
        result->from = opcode == 0x89 ? reg : rm;
    }
}

bool symbols_decode(const uint8_t *code, size_t room, uint64_t vaddr, struct symbols_instruction *result)
{
    struct reader reader = {.code = code, .room = room < MAX_BYTES ? room : MAX_BYTES, .vaddr = vaddr};
    *result = (struct symbols_instruction){.to = -1, .from = -1};
    if (!read_opcode(&reader)) {
        return false;
    }
    unsigned flags = flags_of(&reader);
    if (reader.vector && reader.map == MAP_0F && reader.opcode == 0x77) {
        flags = 0;
    }
    if (flags & BAD || (flags & MODRM && !read_modrm(&reader)) || !read_immediate(&reader, flags)) {
        return false;
    }
    result->bytes = reader.at;
    result->written = written(&reader, flags);
    find_flow(&reader, vaddr + reader.at, result);
    find_value(&reader, vaddr + reader.at, result);
    return true;
}
