/* One row of call frame information, as it is read and as it is used. */
#ifndef BLAME_UNWIND_CFI_ROW_H
#define BLAME_UNWIND_CFI_ROW_H

#include <stdbool.h>
#include <stdint.h>

/* DWARF's register numbers. */
#if defined(__x86_64__)
#define CFI_RBP 6u
#define CFI_RSP 7u
#define CFI_RIP 16u /* as a column: the return address */
#else
#define CFI_RBP 29u /* x29 */
#define CFI_RSP 31u /* sp */
#define CFI_RIP 30u /* x30 */
#endif

enum cfi_status {
    CFI_ROW, /* *row is valid */
    CFI_NO_TABLE, /* no .eh_frame_hdr with a table that is understood, or no mapping of it; nor is the address in .debug_frame */
    CFI_NO_ENTRY, /* the table does not cover the address, nor does .debug_frame */
    CFI_FOREIGN,  /* an entry of a form that is not understood: other encodings, other versions */
    CFI_DAMAGED,  /* the table leads out of its bounds or contradicts itself */
};

enum cfi_where {
    CFI_SAME,          /* unchanged; what no rule is said of, too */
    CFI_UNDEFINED,     /* cannot be had; of the return address: there is no caller */
    CFI_AT_CFA,        /* in memory at CFA + offset */
    CFI_IS_CFA,        /* CFA + offset itself */
    CFI_REGISTER,      /* in register `number`; of the CFA: register `number` + offset */
    CFI_AT_EXPRESSION, /* in memory at the expression's value */
    CFI_EXPRESSION,    /* the expression's value */
};

struct cfi_rule {
    uint32_t where;  /* enum cfi_where */
    uint32_t number; /* register; bytes of the expression */
    union {
        int64_t offset;
        const unsigned char *expression;
    };
};

struct cfi_row {
    uintptr_t start, end; /* link-time addresses of the code that the row is for: [start, end) */
    struct cfi_rule cfa, rbp, return_address;
    bool stack_rule;    /* the caller's stack pointer is said to be something else than the CFA */
    bool signal_frame;  /* returns to an interrupted instruction, not behind a call */
    bool for_debuggers; /* from .debug_frame, which libunwind is not given */
};

#endif
