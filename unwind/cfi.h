/* Call frame information: the one row that says how to leave the frame of a code address. Read from a
 * module's second mapping (guarantee L2), in the handler: no memory is allocated, no lock taken, every read
 * is checked against the mapping's bounds and the work for one row is bounded, whatever the bytes say
 * (guarantee C1).
 *
 * What is understood: .eh_frame_hdr as every linker writes it (version 1; pcrel sdata4, udata4, datarel
 * sdata4), and the forms of .eh_frame that compilers emit for x86-64. A header of another form, or without a
 * table to search, is none, for libunwind too; other forms of an entry are told apart from damage, and left to
 * libunwind. What .eh_frame does not cover is looked up in .debug_frame (unwind/debug_frame.h). */
#ifndef BLAME_UNWIND_CFI_H
#define BLAME_UNWIND_CFI_H

#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi_row.h"
#include "unwind/loadmap.h"

#define CFI_HEADER_BYTES 12 /* of .eh_frame_hdr, before its table */

/* The module's search table: `count` entries of two words, for libunwind too. CFI_ROW: it is there. [handler] */
enum cfi_status cfi_find_table(const struct loadmap_module *module, const unsigned char **table, size_t *count);

/* The row for a link-time address of the module. [handler] */
enum cfi_status cfi_read_row(const struct loadmap_module *module, uintptr_t address, struct cfi_row *row);

#endif
