#include "command/rows/mpi_names.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mpi_calls.h"

static const char *const calls[MPI_CALL_COUNT] = {
#define NAME(name, ...) "MPI_" #name,
    MPI_CALLS(NAME, NAME)
#undef NAME
};

const char *row_mpi_call_name(uint64_t number)
{
    return number < MPI_CALL_COUNT ? calls[number] : "<unknown call of MPI>";
}

/* Returns whether a module belongs to Open MPI, MPICH or an MPI derived from them: libmpi.so.40,
 * libmpi_mpifh.so.40, libmpich.so.12, libmpifort.so.12. */
static bool rows_module_is_mpi(const char *module)
{
    return strncmp(module, "libmpi", 6) == 0;
}

const char *row_mpi_function_name(const char *module, const char *name, char text[MPI_NAME_BYTES])
{
    static const char *const ends[] = {"_f08ts_", "_f08_", "__", "_"};
    if (!rows_module_is_mpi(module))
        return name;
    const char *plain = strncmp(name, "PMPI_", 5) == 0 || strncmp(name, "pmpi_", 5) == 0 ? name + 1 : name;
    size_t length = strlen(plain);
    if (strncmp(plain, "mpi_", 4) != 0 || length < 5 || length >= MPI_NAME_BYTES)
        return plain;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (length > 4 + end && strcmp(plain + length - end, ends[i]) == 0) {
            length -= end;
            break;
        }
    }
    snprintf(text, MPI_NAME_BYTES, "MPI_%c%.*s", toupper((unsigned char)plain[4]), (int)length - 5, plain + 5);
    return text;
}

bool row_mpi_wait_is_unreported(const struct row *row)
{
    if (row->kind != ROW_PROCEDURE || !rows_module_is_mpi(row->label->module))
        return false;
    for (size_t i = 0; i < MPI_CALL_COUNT; i++)
        if (strcmp(row->label->name, calls[i]) == 0)
            return true;
    return false;
}
