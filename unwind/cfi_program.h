/* The program of call frame instructions that an entry consists of; for unwind/cfi.c alone. */
#ifndef BLAME_UNWIND_CFI_PROGRAM_H
#define BLAME_UNWIND_CFI_PROGRAM_H

#include "unwind/cfi_bytes.h"
#include "unwind/cfi_row.h"

/* A common information entry, as far as rows need it. */
struct cfi_common {
    uint64_t code_factor;
    int64_t data_factor;
    unsigned encoding; /* of code addresses */
    bool sized;        /* augmentation data has its length before it */
    bool signal_frame;
    struct cfi_bytes program; /* the instructions that all its entries begin with */
};

/* Runs both programs as far as the address, which is in the entry's range row->start to row->end. On return
 * that range is the row's. [handler] */
enum cfi_status cfi_run_program(const struct cfi_common *common, const struct cfi_bytes *program,
                                uintptr_t address, struct cfi_row *row);

#endif
