/* Call frame information: finds the one row that says how to leave the frame of a code address. It reads a
 * module's second mapping (guarantee L2) and works in the handler. It allocates no memory and takes no lock,
 * it checks every read against the mapping's bounds, and the work for one row is bounded, whatever the bytes
 * are (guarantee C1).
 *
 * It understands .eh_frame_hdr as every linker writes it (version 1; pcrel sdata4, udata4, datarel sdata4),
 * and the forms of .eh_frame that compilers emit for x86-64. A header in another form, or without a search
 * table, counts as missing, also for libunwind. Entries in other forms are distinguished from damaged ones
 * and left to libunwind. Addresses that .eh_frame does not cover are looked up in .debug_frame
 * (unwind/debug_frame.h). */
#ifndef BLAME_UNWIND_CFI_H
#define BLAME_UNWIND_CFI_H

#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi_row.h"
#include "unwind/loadmap.h"

#define CFI_HEADER_BYTES 12 /* bytes of .eh_frame_hdr before its table */

/* Finds the module's search table, with `count` entries of two words; libunwind gets it, too. Returns CFI_ROW
 * if there is one. [handler] */
enum cfi_status cfi_find_table(const struct loadmap_module *module, const unsigned char **table, size_t *count);

/* Reads the row for a link-time address of the module. [handler] */
enum cfi_status cfi_read_row(const struct loadmap_module *module, uintptr_t address, struct cfi_row *row);

#endif
