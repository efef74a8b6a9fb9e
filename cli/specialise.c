#include "cli/specialise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/open_profile.h"
#include "learn/read.h"
#include "learn/show.h"
#include "learn/write.h"
#include "report/text/format.h"
#include "report/text/memory.h"

#define COMMAND   "tune"
#define MARK      "made by blame tune --specialise"
#define MARK_ROOM 2000 /* of the file's beginning */

typedef void writer_function(FILE *out, const struct model *model, const char *application);

/* A file that is there is replaced only if it is one of ours: FILE.h may be a header of the program's. */
static bool may_be_written(const char *path)
{
    char begin[MARK_ROOM + 1];
    FILE *file = fopen(path, "re");
    if (!file)
        return true;
    size_t bytes = fread(begin, 1, MARK_ROOM, file);
    fclose(file);
    begin[bytes] = '\0';
    if (strstr(begin, MARK))
        return true;
    fprintf(stderr, "blame " COMMAND ": %s: exists already, and was not made by --specialise: give another file, or remove it\n", path);
    return false;
}

static int write_file(const char *path, writer_function *write, const struct model *model, const char *application)
{
    struct out_file out;
    if (!out_file_open(&out, COMMAND, path))
        return CLI_BAD_INPUT;
    write(out.stream, model, application);
    return out_file_close(&out, true);
}

static int write_files(const struct specialise_request *request, const struct model *model, const char *application)
{
    size_t length = strlen(request->file);
    int less = length > 2 && strcmp(request->file + length - 2, ".h") == 0 ? 2 : 0;
    char *header = memory_text("%.*s.h", (int)length - less, request->file), *shell = memory_text("%.*s.sh", (int)length - less, request->file);
    int status = may_be_written(header) && may_be_written(shell) ? CLI_DONE : CLI_BAD_INPUT;
    if (status == CLI_DONE)
        status = write_file(header, write_header, model, application);
    if (status == CLI_DONE)
        status = write_file(shell, write_shell, model, application);
    if (status == CLI_DONE)
        printf("wrote %s and %s\n", header, shell);
    free(header);
    free(shell);
    return status;
}

/* Whose searches these are; NULL after a message. */
static const char *find_application(const struct learn_cases *cases, const struct specialise_request *request)
{
    if (!cases->count) {
        fprintf(stderr, "blame " COMMAND ": %s: has no search%s%s; blame tune makes them, with what describes the input\n", request->database,
                request->application ? " of the application " : "", request->application ? request->application : "");
        return NULL;
    }
    for (size_t i = 1; i < cases->count; i++)
        if (strcmp(cases->item[i].application, cases->item[0].application) != 0) {
            fprintf(stderr, "blame " COMMAND ": %s: has searches of several applications, as %s and %s; choose by --application NAME\n", request->database,
                    cases->item[0].application, cases->item[i].application);
            return NULL;
        }
    return cases->item[0].application;
}

static int specialise(const struct specialise_request *request, const struct learn_cases *cases, const char *application)
{
    struct model *model = model_learn(cases, MODEL_BEFORE);
    const char *refusal = show_refusal(model);
    int status = CLI_WORSE;
    show_trees(stdout, model, "");
    show_error(stdout, model, "");
    if (refusal)
        fprintf(stderr, "blame " COMMAND ": nothing was written: %s\n", refusal);
    else
        status = write_files(request, model, application);
    model_free(model);
    return status;
}

int cli_specialise(const struct specialise_request *request)
{
    struct database database;
    struct learn_cases cases;
    if (!database_open(&database, request->database, DATABASE_READ, request->wait_s)) {
        fprintf(stderr, "blame " COMMAND ": %s\n", database.why);
        return CLI_BAD_INPUT;
    }
    if (!learn_read(&cases, &database, request->application)) {
        fprintf(stderr, "blame " COMMAND ": %s\n", database.why);
        database_close(&database);
        return CLI_BAD_INPUT;
    }
    database_close(&database);
    const char *application = find_application(&cases, request);
    int status = application ? specialise(request, &cases, application) : CLI_BAD_INPUT;
    cases_free(&cases);
    return status;
}
