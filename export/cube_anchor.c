/* anchor.xml: what metrics, contexts and locations are called. */
#include "export/cube.h"

#include <stdlib.h>
#include <string.h>

#include "export/frames.h"
#include "report/text/format.h"
#include "report/text/memory.h"

/* Characters that XML 1.0 cannot have, not even as references, become U+FFFD. */
static void put_text(FILE *out, const char *text)
{
    char *clean = format_clean(text, true);
    for (char *c = clean; *c; c++) {
        const char *escaped = *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '"' ? "&quot;" : NULL;
        if (strncmp(c, "\xef\xbf\xbe", 3) == 0 || strncmp(c, "\xef\xbf\xbf", 3) == 0)
            c[2] = '\xbd';
        if (escaped)
            fputs(escaped, out);
        else
            putc(*c, out);
    }
    free(clean);
}

static void put_element(FILE *out, const char *name, const char *text)
{
    fprintf(out, "<%s>", name);
    put_text(out, text);
    fprintf(out, "</%s>\n", name);
}

static void put_metric(FILE *out, const struct measure *measure, size_t index)
{
    fprintf(out, "<metric id=\"%zu\" type=\"EXCLUSIVE\">\n", index);
    put_element(out, "disp_name", measure->title);
    put_element(out, "uniq_name", measure->word);
    put_element(out, "dtype", measure->whole ? "UINT64" : "DOUBLE");
    put_element(out, "uom", measure->in_seconds ? "sec" : "occ");
    fputs("<url></url>\n", out);
    put_element(out, "descr", measure->about);
}

static void put_metrics(FILE *out, const struct cube *cube)
{
    size_t open = 0;
    fputs("<metrics>\n", out);
    for (size_t i = 0; i < cube->columns; i++) {
        for (; open > cube->measures.measure[i].level; open--)
            fputs("</metric>\n", out);
        put_metric(out, &cube->measures.measure[i], i);
        open++;
    }
    for (; open; open--)
        fputs("</metric>\n", out);
    fputs("</metrics>\n", out);
}

static void put_region(FILE *out, size_t id, const struct row *row)
{
    const struct row_label *label = row->label;
    const char *role = row->kind == ROW_PARALLEL ? "parallel" : row->kind == ROW_TASK ? "task" : row->kind == ROW_PSEUDO ? "artificial" : "function";
    fprintf(out, "<region id=\"%zu\" mod=\"", id);
    put_text(out, label->file);
    fprintf(out, "\" begin=\"%d\" end=\"-1\">\n", label->line > 0 ? label->line : -1);
    put_element(out, "name", label->name);
    put_element(out, "mangled_name", label->name);
    put_element(out, "paradigm", row_is_probe(row) ? "user" : "sampling");
    put_element(out, "role", role);
    fputs("<url></url>\n", out);
    put_element(out, "descr", label->module);
    fputs("</region>\n", out);
}

/* Contexts are numbered in preorder: the order in which indices of exclusive metrics count them. */
static void put_contexts(FILE *out, const struct rows *rows, const struct frames *frames)
{
    size_t open = 0, id = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        if (row->kind == ROW_STATEMENT)
            continue;
        for (; open > row->depth; open--)
            fputs("</cnode>\n", out);
        fprintf(out, "<cnode id=\"%zu\" ", id++);
        if (row->call_line > 0)
            fprintf(out, "line=\"%d\" ", row->call_line);
        fprintf(out, "calleeId=\"%u\">\n", frames->of_row[i]);
        open++;
    }
    for (; open; open--)
        fputs("</cnode>\n", out);
}

static void put_program(FILE *out, const struct rows *rows)
{
    struct frames frames;
    size_t listed = 0;
    frames_gather(&frames, rows);
    fputs("<program>\n", out);
    for (uint32_t i = 0; i < rows->count; i++)
        if (frames.of_row[i] == listed)
            put_region(out, listed++, &rows->row[i]);
    put_contexts(out, rows, &frames);
    fputs("</program>\n", out);
    frames_free(&frames);
}

static void put_process(FILE *out, const struct cube *cube, const struct location *location)
{
    const struct profile *profile = cube->locations->profile;
    char *name = location->kind == LOCATION_ALL && profile->rank_count ? memory_text("%zu ranks, summed", profile->rank_count)
                 : location->of_rank                                    ? memory_text("rank %u.%u", location->rank, location->of_rank)
                 : location->ranked                                     ? memory_text("rank %u", location->rank)
                 : location->pid                                        ? memory_text("process %d", (int)location->pid)
                                                                        : memory_text("process");
    fprintf(out, "<locationgroup Id=\"%zu\">\n", location->process);
    put_element(out, "name", name);
    fprintf(out, "<rank>%zu</rank>\n<type>process</type>\n", location->ranked ? location->rank : location->process);
    free(name);
}

static void put_location(FILE *out, const struct location *location, uint32_t id)
{
    fprintf(out, "<location Id=\"%u\">\n<name>", id);
    if (location->thread == LOCATION_NO_THREAD)
        fputs("all threads, summed", out);
    else
        fprintf(out, "thread %zu", location->thread);
    fprintf(out, "</name>\n<rank>%u</rank>\n<type>thread</type>\n</location>\n", location->number);
}

/* Nodes are the hosts; locations are numbered as they stand here, which values are in the order of. */
static void put_system(FILE *out, const struct cube *cube)
{
    const struct locations *locations = cube->locations;
    const struct location *before = NULL;
    fputs("<system>\n<systemtreenode Id=\"0\">\n<name>machine</name>\n<class>machine</class>\n", out);
    for (uint32_t i = 0; i < locations->count; i++) {
        const struct location *location = &locations->location[cube->order[i]];
        bool new_node = !before || before->node != location->node;
        if (before && (new_node || before->process != location->process))
            fputs("</locationgroup>\n", out);
        if (new_node) {
            fprintf(out, "%s<systemtreenode Id=\"%u\">\n", before ? "</systemtreenode>\n" : "", 1 + location->node);
            put_element(out, "name", *location->host ? location->host : location->kind == LOCATION_ALL && cube->locations->profile->rank_count ? "all nodes" : "node");
            fputs("<class>node</class>\n", out);
        }
        if (new_node || before->process != location->process)
            put_process(out, cube, location);
        put_location(out, location, i);
        before = location;
    }
    fputs("</locationgroup>\n</systemtreenode>\n</systemtreenode>\n</system>\n", out);
}

void cube_put_anchor(FILE *out, const struct cube *cube)
{
    const char *command = profile_text(cube->locations->profile, "command");
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"4.4\">\n"
          "<attr key=\"Creator\" value=\"blame " BLAME_VERSION "\"/>\n<attr key=\"command\" value=\"", out);
    put_text(out, command ? command : "");
    fputs("\"/>\n", out);
    put_metrics(out, cube);
    put_program(out, cube->locations->rows);
    put_system(out, cube);
    fputs("</cube>\n", out);
}
