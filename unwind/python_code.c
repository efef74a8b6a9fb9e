#include "unwind/python_code.h"

#include <string.h>

#include "base/hash.h"
#include "base/os.h"
#include "unwind/modules.h"
#include "unwind/python_layout.h"

#define PAGE         4096u
#define WAYS         4u
#define SETS         256u
#define LINES        1024u
#define MAX_TEXT     1024u       /* maximum number of bytes of a name or path; a longer one is truncated */
#define MAX_COMPARED 4096u       /* maximum number of bytes of a line table that are compared */
#define MAX_TABLE    (64u << 10) /* maximum number of bytes of a line table that are searched */
#define MAX_LINE     0x7fffffffu

/* The part of a string or a line table in Python's memory that we compare. */
struct span {
    uintptr_t object;
    uint64_t size;          /* size stored in the object, in characters or bytes */
    uint32_t offset, bytes; /* where in the object the compared bytes begin, and how many there are */
    uint32_t kind;          /* only for strings: bytes per character */
};

struct known_code {
    uintptr_t address;
    uint32_t module_id;
    uint32_t walk; /* number of the last walk in which the object was checked */
    uint64_t digest;
    uint32_t first_line;
    struct span name, file, lines;
};

struct known_line {
    uint32_t module_id, line;
    uint64_t unit;
};

/* The bytes that identify a code object: its header, the strings to which it refers, and its line table, each
 * from its type field on. */
struct content {
    unsigned char code[PYTHON_CODE_BYTES];
    unsigned char name[PYTHON_TEXT_BYTES + MAX_TEXT], file[PYTHON_TEXT_BYTES + MAX_TEXT];
    unsigned char lines[PYTHON_BYTES_BYTES + MAX_COMPARED];
};

struct python_codes {
    uint32_t walk, oldest;
    uintptr_t page; /* address of the page whose copy is in `bytes`, if this walk has read one; 0: none */
    struct known_code known[SETS][WAYS];
    struct known_line line[LINES];
    unsigned char bytes[PAGE];
    unsigned char across[PYTHON_FRAME_BYTES];
    struct content content;
    unsigned char table[MAX_TABLE];
    char name[4 * MAX_TEXT + 1], file[4 * MAX_TEXT + 1];
};

static struct python_code_types types;

void python_code_init(const struct python_code_types *known)
{
    types = *known;
}

struct python_codes *python_codes_make(void)
{
    return os_map(sizeof(struct python_codes));
}

void python_codes_begin(struct python_codes *codes)
{
    codes->walk++;
    codes->page = 0;
}

const unsigned char *python_codes_read(struct python_codes *codes, uintptr_t address, size_t bytes)
{
    uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
    if (bytes > sizeof(codes->across) || address % sizeof(uintptr_t) != 0)
        return NULL;
    if (address - page > PAGE - bytes)
        return os_copy_memory(codes->across, address, bytes) ? codes->across : NULL;
    if (codes->page != page) {
        codes->page = 0;
        if (!os_copy_memory(codes->bytes, page, PAGE))
            return NULL;
        codes->page = page;
    }
    return codes->bytes + (address - page);
}

static uintptr_t python_code_word(const unsigned char *from, size_t offset)
{
    uintptr_t word;
    memcpy(&word, from + offset, sizeof(word));
    return word;
}

static uint32_t python_number_at(const unsigned char *from, size_t offset)
{
    uint32_t number;
    memcpy(&number, from + offset, sizeof(number));
    return number;
}

/* Adds bytes to a hash. It takes eight at a time, because each sample hashes its code objects. */
static uint64_t python_digest_more_code(uint64_t digest, const unsigned char *from, size_t bytes)
{
    for (; bytes > 0; from += 8) {
        uint64_t word = 0;
        size_t part = bytes < 8 ? bytes : 8;
        memcpy(&word, from, part);
        digest = hash_number(digest ^ word);
        digest ^= digest >> 29;
        bytes -= part;
    }
    return digest;
}

static const unsigned char *python_data_of_span(const struct span *span, const unsigned char *read)
{
    return read + (span->offset - python_layout.type);
}

static uint64_t python_digest_of_code(const struct known_code *code, const struct content *content)
{
    uint64_t digest = hash_number(code->first_line + 1);
    digest = python_digest_more_code(digest ^ code->name.size, python_data_of_span(&code->name, content->name),
                                     code->name.bytes);
    digest = python_digest_more_code(digest ^ code->file.size, python_data_of_span(&code->file, content->file),
                                     code->file.bytes);
    return python_digest_more_code(digest ^ code->lines.size, python_data_of_span(&code->lines, content->lines),
                                   code->lines.bytes);
}

static bool is_same_python_object(const struct span *span, const unsigned char *read, uintptr_t type, uint32_t size)
{
    return python_code_word(read, 0) == type && python_code_word(read, size - python_layout.type) == span->size;
}

/* Reads the bytes that code->name, code->file and code->lines describe. Returns false if these objects have
 * changed. */
static bool python_read_code_content(const struct known_code *code, struct content *content)
{
    const struct span *name = &code->name, *file = &code->file, *lines = &code->lines;
    const struct os_part parts[] = {
        {content->code, code->address, sizeof(content->code)},
        {content->name, name->object + python_layout.type, name->offset - python_layout.type + name->bytes},
        {content->file, file->object + python_layout.type, file->offset - python_layout.type + file->bytes},
        {content->lines, lines->object + python_layout.type, lines->offset - python_layout.type + lines->bytes},
    };
    _Static_assert(sizeof(parts) / sizeof(parts[0]) <= OS_MAX_PARTS, "all parts can be copied by one system call");
    return os_copy_parts(parts, sizeof(parts) / sizeof(parts[0])) &&
           python_code_word(content->code, python_layout.type) == types.code &&
           python_number_at(content->code, python_layout.code_line) == code->first_line &&
           python_code_word(content->code, python_layout.code_name) == name->object &&
           python_code_word(content->code, python_layout.code_file) == file->object &&
           python_code_word(content->code, python_layout.code_lines) == lines->object &&
           is_same_python_object(name, content->name, types.text, python_layout.text_size) &&
           is_same_python_object(file, content->file, types.text, python_layout.text_size) &&
           is_same_python_object(lines, content->lines, types.bytes, python_layout.bytes_size);
}

static bool python_read_string_span(const unsigned char *header, struct span *span)
{
    uint64_t size = span->size = python_code_word(header, python_layout.text_size);
    uint32_t state = python_number_at(header, python_layout.text_state) >> (python_layout.text_kind & 31);
    bool compact = state >> 3 & 1, ascii = state >> 4 & 1, ready = !python_layout.text_ready || (state >> 5 & 1);
    span->kind = state & 7;
    if (python_code_word(header, python_layout.type) != types.text || !compact || !ready ||
        (span->kind != 1 && span->kind != 2 && span->kind != 4))
        return false;
    span->offset = python_layout.text_ascii + (ascii ? 0 : python_layout.text_more);
    span->bytes = size < MAX_TEXT / span->kind ? (uint32_t)size * span->kind : MAX_TEXT;
    return true;
}

static bool python_read_bytes_span(const unsigned char *header, struct span *span)
{
    span->size = python_code_word(header, python_layout.bytes_size);
    if (python_code_word(header, python_layout.type) != types.bytes || span->size > INT64_MAX)
        return false;
    span->offset = python_layout.bytes_data;
    span->bytes = span->size < MAX_COMPARED ? (uint32_t)span->size : MAX_COMPARED;
    return true;
}

/* Finds the strings and the line table of a code object. code->address may point to anything, so all that is
 * read is checked. */
static bool python_read_code_parts(struct known_code *code)
{
    unsigned char object[PYTHON_CODE_BYTES], name[PYTHON_TEXT_BYTES], file[PYTHON_TEXT_BYTES],
        lines[PYTHON_BYTES_BYTES];
    if (code->address % sizeof(uintptr_t) != 0 || !os_copy_memory(object, code->address, sizeof(object)) ||
        python_code_word(object, python_layout.type) != types.code)
        return false;
    code->first_line = python_number_at(object, python_layout.code_line);
    code->name.object = python_code_word(object, python_layout.code_name);
    code->file.object = python_code_word(object, python_layout.code_file);
    code->lines.object = python_code_word(object, python_layout.code_lines);
    const struct os_part parts[] = {{name, code->name.object, python_layout.text_ascii},
                                    {file, code->file.object, python_layout.text_ascii},
                                    {lines, code->lines.object, python_layout.bytes_data}};
    return os_copy_parts(parts, 3) && python_read_string_span(name, &code->name) &&
           python_read_string_span(file, &code->file) && python_read_bytes_span(lines, &code->lines);
}

static char *python_put_utf8_character(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 63));
    } else {
        if (c < 0x10000) {
            *to++ = (char)(0xe0 | c >> 12);
        } else {
            *to++ = (char)(0xf0 | (c >> 18 & 7));
            *to++ = (char)(0x80 | (c >> 12 & 63));
        }
        *to++ = (char)(0x80 | (c >> 6 & 63));
        *to++ = (char)(0x80 | (c & 63));
    }
    return to;
}

/* Writes a string as UTF-8. Python stores undecodable bytes as U+DC80 to U+DCFF; these are turned back into
 * bytes. */
static void write_python_text(char *to, const unsigned char *from, const struct span *span)
{
    for (uint32_t at = 0; at + span->kind <= span->bytes; at += span->kind) {
        uint32_t c = 0;
        memcpy(&c, from + at, span->kind);
        if (c >= 0xdc80 && c <= 0xdcff)
            *to++ = (char)(c & 0xff);
        else if (c)
            to = python_put_utf8_character(to, c);
    }
    *to = '\0';
}

/* Reads a code object that is not in the cache, or has replaced another one at its address. */
static bool learn_python_code(struct python_codes *codes, struct known_code *code)
{
    if (!python_read_code_parts(code) || !python_read_code_content(code, &codes->content))
        return false;
    code->digest = python_digest_of_code(code, &codes->content);
    write_python_text(codes->name, python_data_of_span(&code->name, codes->content.name), &code->name);
    write_python_text(codes->file, python_data_of_span(&code->file, codes->content.file), &code->file);
    struct module_function function = {
        .digest = code->digest, .first_line = code->first_line, .path = codes->file, .name = codes->name};
    code->module_id = module_function(&function);
    return code->module_id != 0;
}

static struct known_code *python_known_code_place(struct python_codes *codes, uintptr_t address)
{
    struct known_code *set = codes->known[hash_number(address) >> 32 & (SETS - 1)];
    for (unsigned way = 0; way < WAYS; way++)
        if (set[way].address == address)
            return &set[way];
    return &set[codes->oldest++ % WAYS];
}

static struct known_code *find_known_python_code(struct python_codes *codes, uintptr_t address)
{
    struct known_code *code = python_known_code_place(codes, address);
    if (code->address == address && code->module_id) {
        if (code->walk == codes->walk)
            return code;
        if (python_read_code_content(code, &codes->content) &&
            python_digest_of_code(code, &codes->content) == code->digest) {
            code->walk = codes->walk;
            return code;
        }
    }
    *code = (struct known_code){.address = address, .walk = codes->walk};
    if (learn_python_code(codes, code))
        return code;
    code->address = 0;
    return NULL;
}

static const unsigned char *python_read_line_number(const unsigned char *at, const unsigned char *end, uint32_t *number)
{
    *number = 0;
    for (unsigned shift = 0; at < end && shift < 32; shift += 6) {
        *number |= (uint32_t)(*at & 63) << shift;
        if (!(*at++ & 64))
            return at;
    }
    return NULL;
}

/* Objects/locations.md of CPython 3.11 describes the table. An entry begins with a byte that has bit 7 set
 * and contains a kind and a length. Bytes without bit 7 follow. */
static uint32_t python_line_by_locations(const unsigned char *table, size_t bytes, uint32_t first_line, uint32_t unit)
{
    const unsigned char *at = table, *end = table + bytes;
    uint64_t line = first_line, next = 0;
    while (at < end && *at & 0x80) {
        unsigned kind = *at >> 3 & 15;
        next += (*at++ & 7u) + 1;
        uint32_t step = 0;
        if (kind == 13 || kind == 14) {
            if (!python_read_line_number(at, end, &step))
                return 0;
            line += step & 1 ? 0 - (uint64_t)(step >> 1) : step >> 1;
        } else if (kind >= 10 && kind <= 12) {
            line += kind - 10;
        }
        if (unit < next)
            return kind == 15 || line > MAX_LINE ? 0 : (uint32_t)line;
        while (at < end && !(*at & 0x80))
            at++;
    }
    return 0;
}

/* Objects/lnotab_notes.txt of CPython 3.9 and 3.10 describes both tables. They consist of pairs: a number of bytes of
 * code, and a signed number of lines. In 3.10 a pair's bytes begin after its step of lines, and -128 means that they have
 * no line. In 3.9 the step comes after the bytes, and the last line has no end. */
static uint32_t python_line_by_pairs(const unsigned char *table, size_t bytes, uint32_t first_line, uint32_t unit)
{
    bool line_first = python_layout.lines == PYTHON_LINES_PAIRS;
    uint64_t line = first_line, next = 0, code = 2 * (uint64_t)unit;
    for (size_t at = 0; at + 1 < bytes; at += 2) {
        bool has_line = !line_first || table[at + 1] != 0x80;
        uint64_t step = (uint64_t)(int64_t)(signed char)table[at + 1];
        next += table[at];
        if (line_first && has_line)
            line += step;
        if (code < next)
            return has_line && line <= MAX_LINE ? (uint32_t)line : 0;
        if (!line_first)
            line += step;
    }
    return line_first || line > MAX_LINE ? 0 : (uint32_t)line;
}

uint32_t python_code_line(const unsigned char *table, size_t bytes, uint32_t first_line, uint32_t unit)
{
    return python_layout.lines == PYTHON_LINES_LOCATIONS ? python_line_by_locations(table, bytes, first_line, unit)
                                                         : python_line_by_pairs(table, bytes, first_line, unit);
}

static uint32_t python_line_at_unit(struct python_codes *codes, const struct known_code *code, uint64_t unit)
{
    struct known_line *known = &codes->line[hash_number((uint64_t)code->module_id << 32 ^ unit) >> 32 & (LINES - 1)];
    if (known->module_id == code->module_id && known->unit == unit)
        return known->line;
    size_t bytes = code->lines.size < sizeof(codes->table) ? code->lines.size : sizeof(codes->table);
    if (!os_copy_memory(codes->table, code->lines.object + code->lines.offset, bytes))
        return 0;
    *known = (struct known_line){code->module_id,
                                 python_code_line(codes->table, bytes, code->first_line, (uint32_t)unit), unit};
    return known->line;
}

bool python_codes_find(struct python_codes *codes, uintptr_t address, uint64_t unit, struct python_place *place)
{
    const struct known_code *code = find_known_python_code(codes, address);
    if (!code)
        return false;
    place->module_id = code->module_id;
    place->line = unit < PYTHON_NO_UNIT ? python_line_at_unit(codes, code, unit) : 0;
    if (!place->line)
        place->line = code->first_line;
    /* The interpreter makes these objects itself, for frames that belong to no function: no tracebacks show them. */
    place->shim = code->name.object == code->file.object && code->first_line == 0;
    return true;
}
