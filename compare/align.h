/* Which of the places of one build are which of another's, when lines have moved. */
#ifndef BLAME_COMPARE_ALIGN_H
#define BLAME_COMPARE_ALIGN_H

#include <stddef.h>

#define ALIGN_NONE ((size_t)-1)

struct align_place {
    const char *file; /* without folders; "": not known */
    int line;
};

/* match[i] = the place of a that b[i] is, ALIGN_NONE: none. Both in order (align_order). Every place of the
 * shorter list gets one of the longer, order is kept, and the sum of the distances in lines is the least:
 * equally many places are matched in their order. */
void align_places(const struct align_place *a, size_t a_count, const struct align_place *b, size_t b_count,
                  size_t *match);

/* By file, then by line. */
int align_order(const struct align_place *left, const struct align_place *right);

#endif
