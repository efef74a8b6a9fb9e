/* A row of call frame information: the rules by which a frame's caller is found, for a range of code. */
#ifndef BLAME_UNWIND_CFI_ROW_H
#define BLAME_UNWIND_CFI_ROW_H

#include <stdbool.h>
#include <stdint.h>

/* register numbers of DWARF */
#if defined(__x86_64__)
#define CFI_RBP 6u
#define CFI_RSP 7u
#define CFI_RIP 16u /* the number under which rules for the return address are written */
#else
#define CFI_RBP 29u /* x29 */
#define CFI_RSP 31u /* sp */
#define CFI_RIP 30u /* x30 */
#endif

enum cfi_status {
    CFI_ROW, /* *row is valid */
    /* no mapped .eh_frame_hdr with a usable search table, and .debug_frame does not cover the address */
    CFI_NO_TABLE,
    CFI_NO_ENTRY, /* neither the table nor .debug_frame covers the address */
    CFI_FOREIGN,  /* an entry of an unknown version or encoding */
    CFI_DAMAGED,  /* the data exceeds its bounds or contradicts itself */
};

enum cfi_where {
    CFI_SAME,          /* unchanged; also if there is no rule */
    CFI_UNDEFINED,     /* not available; for the return address: there is no caller */
    CFI_AT_CFA,        /* in memory at CFA + offset */
    CFI_IS_CFA,        /* CFA + offset itself */
    CFI_REGISTER,      /* in register `number`; for the CFA: value of register `number`, plus offset */
    CFI_AT_EXPRESSION, /* in memory at the expression's value */
    CFI_EXPRESSION,    /* the value of the expression */
};

struct cfi_rule {
    uint32_t where;  /* enum cfi_where */
    uint32_t number; /* a register, or the length of the expression in bytes */
    union {
        int64_t offset;
        const unsigned char *expression;
    };
};

struct cfi_row {
    uintptr_t start, end; /* link-time addresses of the row's code: [start, end) */
    struct cfi_rule cfa, rbp, return_address;
    bool stack_rule;    /* true if the caller's stack pointer has a rule of its own and is not the CFA */
    bool signal_frame;  /* true if the caller was interrupted by a signal, rather than having made a call */
    bool for_debuggers; /* true if the row is from .debug_frame, which libunwind does not read */
};

#endif
