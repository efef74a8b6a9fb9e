/* Memory that is given back all at once. */
#ifndef BLAME_REPORT_TEXT_POOL_H
#define BLAME_REPORT_TEXT_POOL_H

#include <stddef.h>

struct pool_block;
struct pool {
    struct pool_block *blocks; /* the last first */
};

/* Zeroed. */
void *pool_alloc(struct pool *pool, size_t bytes);
/* printf into the pool. */
const char *pool_text(struct pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pool_free(struct pool *pool);

#endif
