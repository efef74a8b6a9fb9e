/* A row of call frame information: for a range of code, the rules by which a frame's caller is found. */
#ifndef BLAME_UNWIND_CFI_ROW_H
#define BLAME_UNWIND_CFI_ROW_H

#include <stdbool.h>
#include <stdint.h>

/* DWARF's register numbers */
#if defined(__x86_64__)
#define CFI_RBP 6u
#define CFI_RSP 7u
#define CFI_RIP 16u /* the register number used in rules for the return address */
#else
#define CFI_RBP 29u /* x29 */
#define CFI_RSP 31u /* sp */
#define CFI_RIP 30u /* x30 */
#endif

enum cfi_status {
    CFI_ROW, /* *row is valid */
    /* there is no mapped .eh_frame_hdr with a usable search table, and .debug_frame does not cover the
     * address */
    CFI_NO_TABLE,
    CFI_NO_ENTRY, /* neither the table nor .debug_frame covers the address */
    CFI_FOREIGN,  /* the entry has an unknown version or encoding */
    CFI_DAMAGED,  /* the data exceeds its bounds or contradicts itself */
};

enum cfi_where {
    CFI_SAME,      /* the register is unchanged; also used if there is no rule */
    CFI_UNDEFINED, /* the register is not available; for the return address: there is no caller */
    CFI_AT_CFA,    /* the value is in memory at CFA + offset */
    CFI_IS_CFA,    /* the value is CFA + offset */
    /* the value is in register `number`; for the CFA: value of register `number` + offset */
    CFI_REGISTER,
    CFI_AT_EXPRESSION, /* the value is in memory at the address that the expression computes */
    CFI_EXPRESSION,    /* the value is what the expression computes */
};

struct cfi_rule {
    uint32_t where;  /* enum cfi_where */
    uint32_t number; /* register number, or length of the expression in bytes */
    union {
        int64_t offset;
        const unsigned char *expression;
    };
};

struct cfi_row {
    uintptr_t start, end; /* link-time addresses of the code for which the row holds: [start, end) */
    struct cfi_rule cfa, rbp, return_address;
    bool stack_rule;    /* true if the caller's stack pointer has a rule of its own and is not the CFA */
    bool signal_frame;  /* true if a signal interrupted the caller; false if the caller made a call */
    bool for_debuggers; /* true if the row comes from .debug_frame, which libunwind does not read */
};

#endif
