/* Identifies the job by the environment variables that launchers set for each rank. */
#include "ompt_tool/session/job.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/launcher.h"
#include "base/os.h"
#include "ompt_tool/session/session.h"

#define ANCESTORS 16 /* most processes between a rank and its launcher (shells, blame run) */

static const char *job_variable(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value && *value ? value : NULL;
}

static pid_t job_parent_process(pid_t pid)
{
    char path[64], text[1024];
    int parent = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    os_read_text(path, text, sizeof(text));
    const char *behind_name = strrchr(text, ')');
    if (behind_name)
        sscanf(behind_name, ") %*c %d", &parent);
    return parent;
}

/* Returns the command-line argument that follows `name`; NULL if there is none. */
static const char *job_argument_after(const char *arguments, size_t bytes, const char *name)
{
    const char *end = arguments + bytes;
    for (const char *at = arguments; at < end; at += strlen(at) + 1)
        if (strcmp(at, name) == 0)
            return at + strlen(at) + 1 < end ? at + strlen(at) + 1 : NULL;
    return NULL;
}

/* Identifies a job of MPICH, whose launcher gives the ranks no job name. On each node, the launcher runs a
 * proxy process (hydra_pmi_proxy). The proxy's arguments contain the address of the launcher that the user
 * started, and the number of the process group (MPI_Comm_spawn creates another group). */
static bool job_ask_hydra(char *identity, size_t bytes, char *name, size_t name_bytes)
{
    pid_t pid = getppid();
    for (int i = 0; i < ANCESTORS && pid > 1; i++, pid = job_parent_process(pid)) {
        char path[64], text[4096];
        snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
        os_read_text(path, text, sizeof(text));
        if (strncmp(text, "hydra_pmi_proxy", strlen("hydra_pmi_proxy")) != 0)
            continue;
        snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
        size_t got = os_read_text(path, text, sizeof(text));
        const char *port = job_argument_after(text, got, "--control-port"),
                   *group = job_argument_after(text, got, "--pgid");
        if (!port)
            return false;
        snprintf(identity, bytes, "hydra %.200s %.20s", port, group ? group : "0");
        snprintf(name, name_bytes, "%.40s", port);
        return true;
    }
    return false;
}

/* Fills in the job's identity and a name for it, from the launcher's variables. Returns false if no launcher
 * has set any. */
static bool job_ask_launcher(char *identity, size_t bytes, char *name, size_t name_bytes)
{
    const char *space = job_variable("PMIX_NAMESPACE"), *key = job_variable("OMPI_MCA_orte_precondition_transports");
    const char *open_mpi = job_variable("OMPI_MCA_ess_base_jobid"), *pmi = job_variable("PMI_JOBID");
    const char *slurm = job_variable("SLURM_JOB_ID"), *step = job_variable("SLURM_STEP_ID");
    const char *again = job_variable("SLURM_RESTART_COUNT");
    if (space || open_mpi) {
        snprintf(identity, bytes, "pmix %.200s %.60s", space ? space : open_mpi, key ? key : "");
        snprintf(name, name_bytes, "%.60s", space ? space : open_mpi);
    } else if (job_variable("PMI_RANK") && job_ask_hydra(identity, bytes, name, name_bytes)) {
        return true;
    } else if (pmi) {
        snprintf(identity, bytes, "pmi %.200s", pmi);
        snprintf(name, name_bytes, "%.60s", pmi);
    } else if (slurm && step) {
        snprintf(identity, bytes, "slurm %.60s %.60s %.20s", slurm, step, again ? again : "0");
        snprintf(name, name_bytes, "%.30s", slurm);
    } else {
        return false;
    }
    return true;
}

/* Changes the name to the number of the batch job, which users know. Several jobs in one batch job get the
 * same name, but have different identities. */
static void job_name_by_batch_job(char *name, size_t bytes)
{
    static const char *const variables[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        if (job_variable(variables[i])) {
            snprintf(name, bytes, "%.40s", job_variable(variables[i]));
            return;
        }
}

bool job_find(struct job *job)
{
    char own[JOB_IDENTITY_BYTES - JOB_NAME_BYTES - 8] = "";
    const char *given = session.options.job;
    *job = (struct job){.ranked = launcher_starts_many() && isdigit((unsigned char)*launcher_rank()),
                        .speaks = launcher_speaks()};
    if (job->ranked) {
        job->rank = (uint32_t)strtoul(launcher_rank(), NULL, 10);
        job->ranks = launcher_ranks() ? (uint32_t)strtoul(launcher_ranks(), NULL, 10) : 0;
    }
    if (job->ranked && job_ask_launcher(own, sizeof(own), job->name, sizeof(job->name)))
        job_name_by_batch_job(job->name, sizeof(job->name));
    else if (!given)
        return false;
    if (given)
        snprintf(job->name, sizeof(job->name), "%.*s", JOB_NAME_BYTES - 1, given);
    for (char *at = job->name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("._+-", *at))
            *at = '-';
    snprintf(job->identity, sizeof(job->identity), "%s%s%s%s\n", given ? "job " : "", given ? job->name : "",
             given && *own ? " " : "", own);
    return true;
}
