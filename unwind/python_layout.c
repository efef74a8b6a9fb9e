#include "unwind/python_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/os.h"
#include "unwind/python_layouts.h"

#define TABLE_WORDS 128u       /* number of words of _Py_DebugOffsets that are read */
#define MAX_OFFSET  (1u << 20) /* a greater offset is not believed */
#define FIELDS      (sizeof(struct python_layout) / sizeof(uint32_t))

struct python_layout python_layout;
uint32_t python_frame_bytes;

static uint32_t *python_layout_fields(struct python_layout *layout)
{
    return (uint32_t *)layout; /* all its members have this type */
}

/* Takes the fields that the interpreter's own table has. */
static const char *python_layout_read_table(const struct python_row *row, const unsigned char *runtime)
{
    uint64_t table[TABLE_WORDS];
    struct python_layout at = row->at;
    if (!os_copy_memory(table, (uintptr_t)runtime, sizeof(table)))
        return "neither process_vm_readv nor /proc/self/mem is allowed here";
    if (memcmp(table, "xdebugpy", 8) != 0 || table[1] >> 16 != row->version)
        return "its _Py_DebugOffsets are those of no Python of this version";
    if (table[row->at_free_threaded])
        return "it is a free-threaded build, whose objects are others";
    for (size_t i = 0; i < FIELDS; i++) {
        uint32_t word = python_layout_fields(&at)[i];
        if (word && table[word % TABLE_WORDS] >= MAX_OFFSET)
            return "its _Py_DebugOffsets are not plausible";
        if (word)
            python_layout_fields(&python_layout)[i] = (uint32_t)table[word % TABLE_WORDS];
    }
    python_layout.lock_holder = python_layout.own_holder - python_layout.own_lock;
    python_layout.lock_locked = python_layout.own_locked - python_layout.own_lock;
    return NULL;
}

static uint32_t python_layout_greatest(const uint32_t *fields, size_t count)
{
    uint32_t greatest = 0;
    for (size_t i = 0; i < count; i++)
        greatest = fields[i] > greatest ? fields[i] : greatest;
    return greatest;
}

/* Returns true if all that is read together fits into our buffers. */
static bool python_layout_fits(const struct python_layout *layout)
{
    const uint32_t frame[] = {layout->frame_code, layout->frame_previous, layout->frame_instruction,
                              layout->frame_entry, layout->frame_owner};
    const uint32_t code[] = {layout->type, layout->code_line, layout->code_file, layout->code_name, layout->code_lines};
    const uint32_t text[] = {layout->type, layout->text_size, layout->text_state, layout->text_ascii};
    const uint32_t lock[] = {layout->lock_holder, layout->lock_locked};
    python_frame_bytes = (python_layout_greatest(frame, 5) & ~7u) + 8;
    return python_frame_bytes <= PYTHON_FRAME_BYTES && python_layout_greatest(code, 5) <= PYTHON_CODE_BYTES - 8 &&
           python_layout_greatest(text, 4) <= PYTHON_TEXT_BYTES - 32 && layout->text_more <= 24 &&
           layout->type < layout->text_size && layout->type < layout->bytes_size &&
           layout->text_size < layout->text_ascii && layout->text_state < layout->text_ascii &&
           layout->bytes_size < layout->bytes_data && layout->bytes_data <= PYTHON_BYTES_BYTES &&
           layout->lock_condition >= 8 && layout->lock_condition <= PYTHON_LOCK_BYTES &&
           python_layout_greatest(lock, 2) <= layout->lock_condition - 8;
}

const char *python_layout_init(uint32_t version, const unsigned char *runtime)
{
    for (size_t i = 0; i < sizeof(python_rows) / sizeof(python_rows[0]); i++) {
        const struct python_row *row = &python_rows[i];
        if (row->version != version)
            continue;
        python_layout = row->is;
        const char *why_not = row->at_free_threaded ? python_layout_read_table(row, runtime) : NULL;
        if (!why_not && !python_layout_fits(&python_layout))
            why_not = "its _Py_DebugOffsets are not plausible";
        return why_not;
    }
    return "only the objects of Python 3.9 to 3.15 are known";
}
