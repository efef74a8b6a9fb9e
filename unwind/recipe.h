/* A recipe is a row of call frame information in eight bytes. It computes the registers of a frame's caller
 * from only three registers of the frame: rsp, rbp and rip.
 *
 *     RECIPE_CFA_RSP      CFA = rsp + k
 *     RECIPE_CFA_RBP      CFA = rbp + k
 *     RECIPE_CFA_AT_RBP   CFA = *(rbp + k)                               GCC, in functions that realign the
 *     stack
 *     RECIPE_CFA_PLT      CFA = rsp + 8 + ((rip & 15) >= k ? 8 : 0)      linkage tables: 16-byte entries, one
 *     push in each
 *
 *     RECIPE_RBP_SAME     caller's rbp = rbp
 *     RECIPE_RBP_AT_CFA   caller's rbp = *(CFA + r)
 *     RECIPE_RBP_AT_RBP   caller's rbp = *(rbp + r)                      with RECIPE_CFA_AT_RBP
 *
 *     always              caller's rip = *(CFA - 8),  caller's rsp = CFA
 *
 * On aarch64, rsp means sp and rbp means x29. The place of the return address depends on what was saved:
 *
 *     RECIPE_RBP_SAME     caller's x29 = x29,         its pc = *(CFA + r)
 *     RECIPE_RBP_AT_CFA   caller's x29 = *(CFA + r),  its pc = *(CFA + r + 8): a frame record
 *     RECIPE_RBP_IN_LINK  caller's x29 = x29,         its pc = x30: nothing saved; in interrupted frames only
 *
 * RECIPE_OUTERMOST: there is no caller. RECIPE_SLOW: libunwind must take the step; cfa_offset is the cause
 * (base/recipe_cause.h). */
#ifndef BLAME_UNWIND_RECIPE_H
#define BLAME_UNWIND_RECIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/recipe_cause.h"
#include "unwind/cfi.h"

enum recipe_cfa {
    RECIPE_CFA_RSP,
    RECIPE_CFA_RBP,
    RECIPE_CFA_AT_RBP,
    RECIPE_CFA_PLT,
    RECIPE_OUTERMOST,
    RECIPE_SLOW,
};

enum recipe_rbp {
    RECIPE_RBP_SAME,
    RECIPE_RBP_AT_CFA,
    RECIPE_RBP_AT_RBP,
    RECIPE_RBP_IN_LINK,
};

/* Unit of rbp_offset in bytes. On aarch64, frame records are aligned, but in GCC's frames they may be far
 * from the CFA. */
#if defined(__x86_64__)
#define RECIPE_R_UNIT 1
#else
#define RECIPE_R_UNIT 8
#endif

struct recipe {
    uint8_t cfa; /* enum recipe_cfa */
    uint8_t rbp; /* enum recipe_rbp */
    /* r / RECIPE_R_UNIT; on x86-64 it is -8 for RECIPE_RBP_SAME, so that the same load can be done in both
     * cases */
    int16_t rbp_offset;
    int32_t cfa_offset; /* k; for RECIPE_SLOW, an enum recipe_cause */
};

_Static_assert(sizeof(struct recipe) == 8, "a recipe is a word");

static inline struct recipe recipe_slow(enum recipe_cause cause) /* [handler] */
{
    return (struct recipe){.cfa = RECIPE_SLOW, .cfa_offset = (int32_t)cause};
}

static inline uintptr_t recipe_r(struct recipe recipe) /* [handler] */
{
    return (uintptr_t)((intptr_t)recipe.rbp_offset * RECIPE_R_UNIT);
}

/* Sets r. Returns false if it does not fit into rbp_offset. [handler] */
static inline bool recipe_set_r(struct recipe *recipe, int64_t r)
{
    recipe->rbp_offset = (int16_t)(r / RECIPE_R_UNIT);
    return (int64_t)recipe->rbp_offset * RECIPE_R_UNIT == r;
}

/* Returns the address at which the frame's return address is stored. [handler] */
static inline uintptr_t recipe_return_slot(struct recipe recipe, uintptr_t cfa)
{
#if defined(__x86_64__)
    (void)recipe;
    return cfa - 8;
#else
    return cfa + recipe_r(recipe) + (recipe.rbp == RECIPE_RBP_AT_CFA ? 8 : 0);
#endif
}

/* Returns the recipe for a row of call frame information. recipe_MACHINE.c defines it. [handler] */
struct recipe recipe_of_row(const struct cfi_row *row);

/* Returns the recipe for a link-time address of the module; `module` is NULL if the address belongs to no
 * module. [handler] */
struct recipe recipe_read(const struct loadmap_module *module, uintptr_t address);

#endif
