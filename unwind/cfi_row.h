/* One row of call frame information, as it is read and used. */
#ifndef BLAME_UNWIND_CFI_ROW_H
#define BLAME_UNWIND_CFI_ROW_H

#include <stdbool.h>
#include <stdint.h>

/* DWARF's register numbers. */
#if defined(__x86_64__)
#define CFI_RBP 6u
#define CFI_RSP 7u
#define CFI_RIP 16u /* the return address, as a column */
#else
#define CFI_RBP 29u /* x29 */
#define CFI_RSP 31u /* sp */
#define CFI_RIP 30u /* x30 */
#endif

enum cfi_status {
    CFI_ROW, /* *row is valid */
    /* no .eh_frame_hdr with a known form of table, or no mapping of it; .debug_frame does not cover the
     * address either */
    CFI_NO_TABLE,
    CFI_NO_ENTRY, /* neither the table nor .debug_frame covers the address */
    CFI_FOREIGN,  /* an entry in an unknown form: another encoding or version */
    CFI_DAMAGED,  /* the table exceeds its bounds or contradicts itself */
};

enum cfi_where {
    CFI_SAME,          /* unchanged; also without any rule */
    CFI_UNDEFINED,     /* unavailable; for the return address: there is no caller */
    CFI_AT_CFA,        /* in memory at CFA + offset */
    CFI_IS_CFA,        /* CFA + offset itself */
    CFI_REGISTER,      /* in register `number`; for the CFA: register `number` + offset */
    CFI_AT_EXPRESSION, /* in memory at the expression's value */
    CFI_EXPRESSION,    /* the expression's value */
};

struct cfi_rule {
    uint32_t where;  /* enum cfi_where */
    uint32_t number; /* a register, or the bytes of the expression */
    union {
        int64_t offset;
        const unsigned char *expression;
    };
};

struct cfi_row {
    uintptr_t start, end; /* link-time addresses of the row's code: [start, end) */
    struct cfi_rule cfa, rbp, return_address;
    bool stack_rule;    /* the caller's stack pointer has a rule and is not the CFA */
    bool signal_frame;  /* returns to an interrupted instruction, not to the instruction after a call */
    bool for_debuggers; /* from .debug_frame, which libunwind does not get */
};

#endif
