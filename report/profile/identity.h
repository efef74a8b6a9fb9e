/* Which run a measurement is of, whoever copied it where. */
#ifndef BLAME_REPORT_PROFILE_IDENTITY_H
#define BLAME_REPORT_PROFILE_IDENTITY_H

#include "report/profile/profile.h"

#define PROFILE_IDENTITY_BYTES 17

/* 16 hexadecimal digits that no other run has: made of the process's host, number, start and seed, of a job of its identity and its first
 * rank. The same while the run goes on and after it. */
void profile_identity(const struct profile *profile, char text[PROFILE_IDENTITY_BYTES]);

#endif
