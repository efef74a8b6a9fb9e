/* Reads numbers from call frame information, which may be damaged. All [handler]. */
#ifndef BLAME_UNWIND_CFI_BYTES_H
#define BLAME_UNWIND_CFI_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Encodings of pointers. The low bits give the format, the high bits the base to which the value is relative. */
enum {
    CFI_ENCODING_ABSOLUTE = 0x00,
    CFI_ENCODING_ULEB = 0x01,
    CFI_ENCODING_UDATA2 = 0x02,
    CFI_ENCODING_UDATA4 = 0x03,
    CFI_ENCODING_UDATA8 = 0x04,
    CFI_ENCODING_SLEB = 0x09,
    CFI_ENCODING_SDATA2 = 0x0a,
    CFI_ENCODING_SDATA4 = 0x0b,
    CFI_ENCODING_SDATA8 = 0x0c,
    CFI_ENCODING_FORMAT = 0x0f,
    CFI_ENCODING_BASE = 0x70,
    CFI_ENCODING_PCREL = 0x10,
    CFI_ENCODING_DATAREL = 0x30,
    CFI_ENCODING_ALIGNED = 0x50,
    CFI_ENCODING_OMIT = 0xff,
};

/* A reader: the bytes that are still to be read. A read beyond them sets `failed`; the values of that read
 * and of all later ones are meaningless. */
struct cfi_bytes {
    const unsigned char *at, *end;
    uintptr_t vaddr_of_zero; /* link-time address of `at`, minus the address `at`; constant while reading */
    bool failed;
};

/* A length normally has 32 bits. This value means that a length of 64 bits follows. */
#define CFI_WIDE_LENGTH 0xffffffffu

/* Returns the number in a CIE of .debug_frame that distinguishes it from other entries. */
static inline uint64_t cfi_common_id(bool wide)
{
    return wide ? UINT64_MAX : UINT32_MAX;
}

static inline size_t cfi_bytes_left(const struct cfi_bytes *reader)
{
    return (size_t)(reader->end - reader->at);
}

static inline uintptr_t cfi_bytes_vaddr(const struct cfi_bytes *reader)
{
    return (uintptr_t)reader->at + reader->vaddr_of_zero;
}

/* Reads a little-endian number of at most 8 bytes. */
static inline uint64_t cfi_read_unsigned(struct cfi_bytes *reader, size_t size)
{
    uint64_t value = 0;
    if (cfi_bytes_left(reader) < size) {
        reader->failed = true;
        return 0;
    }
    memcpy(&value, reader->at, size);
    reader->at += size;
    return value;
}

static inline uint64_t cfi_read_signed(struct cfi_bytes *reader, size_t size)
{
    unsigned unused_bits = 64 - 8 * (unsigned)size;
    return (uint64_t)((int64_t)(cfi_read_unsigned(reader, size) << unused_bits) >> unused_bits);
}

/* Reads a LEB128 number of at most ten bytes. Bits above the 64th are ignored. */
static inline uint64_t cfi_read_leb(struct cfi_bytes *reader, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (unsigned i = 0; i < 10 && reader->at < reader->end; i++) {
        unsigned char byte = *reader->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (byte & 0x80)
            continue;
        if (is_signed && (byte & 0x40) && shift < 64)
            value |= ~(uint64_t)0 << shift;
        return value;
    }
    reader->failed = true;
    return 0;
}

static inline uint64_t cfi_read_uleb(struct cfi_bytes *reader)
{
    return cfi_read_leb(reader, false);
}

static inline int64_t cfi_read_sleb(struct cfi_bytes *reader)
{
    return (int64_t)cfi_read_leb(reader, true);
}

/* Returns a reader for the next `bytes` bytes, which `reader` skips. */
static inline struct cfi_bytes cfi_take(struct cfi_bytes *reader, uint64_t bytes)
{
    struct cfi_bytes part = *reader;
    if (bytes > cfi_bytes_left(reader)) {
        reader->failed = true;
        bytes = 0;
    }
    part.end = part.at + bytes;
    reader->at += bytes;
    return part;
}

/* Reads a number in the encoding's format. The base to which it is relative is not added. */
static inline uint64_t cfi_read_format(struct cfi_bytes *reader, unsigned encoding)
{
    switch (encoding & CFI_ENCODING_FORMAT) {
    case CFI_ENCODING_ABSOLUTE:
    case CFI_ENCODING_UDATA8:
    case CFI_ENCODING_SDATA8:
        return cfi_read_unsigned(reader, 8);
    case CFI_ENCODING_UDATA2:
        return cfi_read_unsigned(reader, 2);
    case CFI_ENCODING_UDATA4:
        return cfi_read_unsigned(reader, 4);
    case CFI_ENCODING_SDATA2:
        return cfi_read_signed(reader, 2);
    case CFI_ENCODING_SDATA4:
        return cfi_read_signed(reader, 4);
    case CFI_ENCODING_ULEB:
        return cfi_read_uleb(reader);
    case CFI_ENCODING_SLEB:
        return (uint64_t)cfi_read_sleb(reader);
    default:
        reader->failed = true;
        return 0;
    }
}

/* Returns true if this encoding is possible for a code address: absolute, or relative to the number's own
 * position. */
static inline bool cfi_is_code_encoding(unsigned encoding)
{
    return encoding <= (CFI_ENCODING_PCREL | CFI_ENCODING_FORMAT);
}

static inline uintptr_t cfi_read_code_address(struct cfi_bytes *reader, unsigned encoding)
{
    uintptr_t base = (encoding & CFI_ENCODING_BASE) == CFI_ENCODING_PCREL ? cfi_bytes_vaddr(reader) : 0;
    return base + cfi_read_format(reader, encoding);
}

#endif
