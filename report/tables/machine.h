/* What the machine did besides, from the kernel's counts at both ends of the measurement (ompt_tool/machine.c). */
#ifndef BLAME_REPORT_TABLES_MACHINE_H
#define BLAME_REPORT_TABLES_MACHINE_H

#include <stdbool.h>

#include "report/tables/conservation.h"

struct machine {
    bool told;           /* the file has both ends, and the kernel counted processors' time; else all is 0 */
    double ready_own;    /* the program's threads that ran or were ready to, on average */
    double others_cores; /* cores that other processes had, on average */
    double
        others_ready; /* other processes that ran or were ready to, if they got as much as each own thread */
    bool others_weigh_more; /* that are more than the kernel ever counted: they do not share fairly (nice, a group) */
    double free_s;    /* processors' time that nobody had; 0 unless the program may run on all of them */
    double stolen_s;  /* of all processors' time, by a hypervisor */
    double throttled_s; /* the process's cgroup was kept from running: its quota was used up */
};

void machine_read(const struct profile *profile, const struct ledger *ledger, struct machine *machine);

#endif
