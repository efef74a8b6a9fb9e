/* Reads call frame information: finds the row that tells how to get from a code address to the caller. The
 * functions read a module's second mapping (guarantee L2) and are safe in the handler. They allocate no
 * memory and take no lock. Whatever the bytes are, all reads stay within the mapping, and the work for one
 * row is bounded (guarantee C1).
 *
 * They read .eh_frame_hdr in the form that all linkers write (version 1; pcrel sdata4, udata4, datarel
 * sdata4), and .eh_frame in the forms that compilers emit for x86-64 and aarch64. A header of another form or
 * without a search table counts as missing; libunwind does the same. Entries of other forms are left to
 * libunwind (CFI_FOREIGN). Addresses that .eh_frame does not cover are looked up in .debug_frame
 * (unwind/debug_frame.h). */
#ifndef BLAME_UNWIND_CFI_H
#define BLAME_UNWIND_CFI_H

#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi_row.h"
#include "unwind/loadmap.h"

#define CFI_HEADER_BYTES 12 /* number of bytes of .eh_frame_hdr before its search table */

/* Finds the module's search table, which has *count entries of two words each. libunwind uses the same table.
 * Returns CFI_ROW on success. [handler] */
enum cfi_status cfi_find_table(const struct loadmap_module *module, const unsigned char **table, size_t *count);

/* Finds the row for a link-time address of the module. [handler] */
enum cfi_status cfi_read_row(const struct loadmap_module *module, uintptr_t address, struct cfi_row *row);

/* Returns the link-time address at which the next function above this address begins; 0 if the table has none. [handler] */
uintptr_t cfi_next_function(const struct loadmap_module *module, uintptr_t address);

#endif
