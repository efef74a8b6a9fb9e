#include "trials/schema.h"

#define PAIR(name) name "_i REAL NOT NULL, " name "_e REAL NOT NULL, "
#define PAIRS                                                                                                \
    PAIR("work") PAIR("idleness") PAIR("overhead") PAIR("lock_wait") PAIR("lock_wait_here") PAIR("core_idleness") PAIR("shared_idleness") \
        PAIR("no_core") PAIR("blocked") PAIR("mpi_wait") PAIR("rank_idleness") "samples_i INTEGER NOT NULL, samples_e INTEGER NOT NULL, "

static const char first[] =
    "CREATE TABLE application(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE experiment(id INTEGER PRIMARY KEY, application INTEGER NOT NULL REFERENCES application(id), name TEXT NOT NULL,"
    " UNIQUE(application, name));"
    "CREATE TABLE trial(id INTEGER PRIMARY KEY AUTOINCREMENT, experiment INTEGER NOT NULL REFERENCES experiment(id),"
    " run TEXT NOT NULL UNIQUE, state TEXT NOT NULL, source TEXT, added TEXT NOT NULL, started TEXT, ended TEXT NOT NULL,"
    " program TEXT, command TEXT, host TEXT, cpu_model TEXT, cores INTEGER, binding TEXT, threads INTEGER, ranks INTEGER, nodes INTEGER,"
    " rate INTEGER, clock TEXT, environment TEXT, unit TEXT NOT NULL, runtime TEXT, blame TEXT,"
    " wall_s REAL, work REAL, idleness REAL, overhead REAL, lock_wait REAL, lock_wait_here REAL, core_idleness REAL, shared_idleness REAL,"
    " no_core REAL, blocked REAL, mpi_wait REAL, rank_idleness REAL, samples INTEGER);"
    "CREATE INDEX trial_experiment ON trial(experiment);"
    "CREATE TABLE metadata(trial INTEGER NOT NULL REFERENCES trial(id), kind TEXT NOT NULL, name TEXT NOT NULL, value NOT NULL,"
    " PRIMARY KEY(trial, kind, name, value)) WITHOUT ROWID;"
    "CREATE INDEX metadata_name ON metadata(name, trial, kind, value);"
    "CREATE TABLE location(trial INTEGER NOT NULL REFERENCES trial(id), number INTEGER NOT NULL, kind TEXT NOT NULL, rank INTEGER,"
    " thread INTEGER, host TEXT, pid INTEGER, PRIMARY KEY(trial, number)) WITHOUT ROWID;"
    "CREATE TABLE context(id INTEGER PRIMARY KEY, identity INTEGER NOT NULL UNIQUE, path INTEGER NOT NULL, parent INTEGER REFERENCES context(id),"
    " depth INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, module TEXT, file TEXT, line INTEGER, call_line INTEGER);"
    "CREATE INDEX context_parent ON context(parent);"
    "CREATE INDEX context_name ON context(name);"
    "CREATE INDEX context_path ON context(path);"
    "CREATE TABLE metric(trial INTEGER NOT NULL REFERENCES trial(id), context INTEGER NOT NULL REFERENCES context(id), " PAIRS
    "PRIMARY KEY(trial, context)) WITHOUT ROWID;"
    "CREATE TABLE location_metric(trial INTEGER NOT NULL, location INTEGER NOT NULL, context INTEGER NOT NULL REFERENCES context(id), " PAIRS
    "PRIMARY KEY(trial, location, context), FOREIGN KEY(trial, location) REFERENCES location(trial, number)) WITHOUT ROWID;"
    "CREATE VIEW run AS SELECT trial.id AS id, application.name AS application, experiment.name AS experiment, trial.run AS run,"
    " started, ended, program, command, host, cpu_model, cores, binding, threads, ranks, nodes, rate, clock, environment, unit, runtime, blame,"
    " wall_s, work, idleness, overhead, lock_wait, lock_wait_here, core_idleness, shared_idleness, no_core, blocked, mpi_wait, rank_idleness,"
    " samples, source, added FROM trial JOIN experiment ON experiment.id = trial.experiment"
    " JOIN application ON application.id = experiment.application;";

const char *const schema_steps[] = {first};
const size_t schema_version = sizeof schema_steps / sizeof *schema_steps;
