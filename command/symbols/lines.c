/* Finds source positions in the line tables of compilation units. libdw decodes a table when it is first
 * used. */
#include "command/symbols/lines.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint64_t vaddr;
    int line;
    bool end; /* whether the row marks the address after the last instruction of a sequence */
};

static struct row symbols_line_row_at(Dwarf_Lines *lines, size_t i)
{
    struct row row = {0};
    Dwarf_Line *line = dwarf_onesrcline(lines, i);
    Dwarf_Addr vaddr = 0;
    if (dwarf_lineaddr(line, &vaddr) != 0 || dwarf_lineno(line, &row.line) != 0 ||
        dwarf_lineendsequence(line, &row.end) != 0)
        return (struct row){.end = true};
    row.vaddr = vaddr;
    return row;
}

/* Returns the index of the first row at vaddr or above, or, if `past` is set, of the first row above vaddr. */
static size_t symbols_line_first_row(Dwarf_Lines *lines, size_t count, uint64_t vaddr, bool past)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t at = symbols_line_row_at(lines, middle).vaddr;
        if (at < vaddr || (past && at == vaddr))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const char *symbols_line_row_file(Dwarf_Lines *lines, size_t i)
{
    const char *file = dwarf_linesrc(dwarf_onesrcline(lines, i), NULL, NULL);
    return file ? file : "";
}

struct symbols_position symbols_lines_at(struct symbols_unit *unit, uint64_t vaddr, uint64_t low)
{
    Dwarf_Lines *lines;
    size_t count;
    if (dwarf_getsrclines(&unit->die, &lines, &count) != 0)
        return (struct symbols_position){.file = ""};
    for (size_t i = symbols_line_first_row(lines, count, vaddr, true); i > 0; i--) {
        struct row row = symbols_line_row_at(lines, i - 1);
        if (row.end)
            break;
        if (row.line > 0)
            return (struct symbols_position){.file = symbols_line_row_file(lines, i - 1), .line = row.line};
        if (row.vaddr <= low)
            break;
    }
    return (struct symbols_position){.file = ""};
}

struct symbols_position symbols_lines_entry(struct symbols_unit *unit, uint64_t low)
{
    Dwarf_Lines *lines;
    size_t count;
    if (dwarf_getsrclines(&unit->die, &lines, &count) == 0) {
        for (size_t i = symbols_line_first_row(lines, count, low, false); i < count; i++) {
            struct row row = symbols_line_row_at(lines, i);
            bool begins = false;
            if (row.vaddr != low)
                break;
            /* The function before may end with a call that does not return. GCC then writes a row for the
             * address after that call, which is the entry of this function. */
            if (!row.end && row.line > 0 && dwarf_linebeginstatement(dwarf_onesrcline(lines, i), &begins) == 0 &&
                begins)
                return (struct symbols_position){.file = symbols_line_row_file(lines, i), .line = row.line};
        }
    }
    return (struct symbols_position){.file = ""};
}

const char *symbols_lines_file(Dwarf_Die *unit, uint64_t file_number)
{
    Dwarf_Files *files;
    size_t count;
    const char *file = NULL;
    if (dwarf_getsrcfiles(unit, &files, &count) == 0 && file_number < count)
        file = dwarf_filesrc(files, (size_t)file_number, NULL, NULL);
    return file && strcmp(file, "???") != 0 ? file : "";
}

size_t symbols_lines_find(struct symbols_unit *unit, const char *file, int line, uint64_t *vaddrs, size_t room)
{
    Dwarf_Lines *lines;
    size_t count, found = 0;
    if (dwarf_getsrclines(&unit->die, &lines, &count) != 0)
        return 0;
    for (size_t i = 0; i < count && found < room; i++) {
        struct row row = symbols_line_row_at(lines, i);
        if (!row.end && row.line == line && strcmp(symbols_line_row_file(lines, i), file) == 0)
            vaddrs[found++] = row.vaddr;
    }
    return found;
}

int symbols_lines_least(struct symbols_unit *unit, uint64_t low, uint64_t high, int least)
{
    Dwarf_Lines *lines;
    size_t count;
    int result = 0;
    if (dwarf_getsrclines(&unit->die, &lines, &count) != 0)
        return 0;
    for (size_t i = symbols_line_first_row(lines, count, low, false); i < count; i++) {
        struct row row = symbols_line_row_at(lines, i);
        if (row.vaddr >= high)
            break;
        if (!row.end && row.line >= least && (!result || row.line < result))
            result = row.line;
    }
    return result;
}
