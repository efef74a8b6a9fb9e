/* Adds one record of a node to another of the same type. The plugin and the `blame` command share these
 * rules. */
#ifndef BLAME_CCT_SUMS_H
#define BLAME_CCT_SUMS_H

struct profile_cores;
struct profile_counters;
struct profile_metric;
struct profile_probe;
struct profile_ranks;
struct profile_woken;

void sums_add(struct profile_metric *to, const struct profile_metric *from);              /* [handler] */
void sums_add_counters(struct profile_counters *to, const struct profile_counters *from); /* [handler] */
void sums_add_probe(struct profile_probe *to, const struct profile_probe *from);          /* [handler] */
void sums_add_ranks(struct profile_ranks *to, const struct profile_ranks *from);          /* [handler] */
void sums_add_cores(struct profile_cores *to, const struct profile_cores *from);          /* [handler] */
void sums_add_woken(struct profile_woken *to, const struct profile_woken *from);          /* [handler] */

#endif
