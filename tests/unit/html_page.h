/* The page of a profile made by hand, and its data. */
#ifndef BLAME_TESTS_UNIT_HTML_PAGE_H
#define BLAME_TESTS_UNIT_HTML_PAGE_H

#include <jansson.h>

#include "command/html/html.h"
#include "tests/unit/made_profile.h"

static struct {
    json_t *data;
    struct html_result result;
    const struct lock_table *locks; /* shown instead of those of the profile */
} page;

static void make_page(struct html_options options)
{
    static const char begin[] = "<script type=\"application/json\" id=\"blame-data\">";
    json_error_t error;
    made_tables();
    struct phase_table *phases = phases_any(&made.profile) ? phases_gather(&made.profile, made.tables.rows) : NULL;
    struct html_input input = {.profile = &made.profile,
                               .rows = made.tables.rows,
                               .locks = page.locks ? page.locks : made.tables.locks,
                               .waits = made.tables.waits,
                               .wakes = made.tables.wakes,
                               .phases = phases};
    FILE *out = made_out();
    assert_true(html_write(out, &input, &options, &page.result));
    assert_int_equal(fclose(out), 0);
    phases_free(phases);
    char *data = strstr(made_text, begin);
    assert_non_null(data);
    data += strlen(begin);
    char *end = strstr(data, "</script>");
    assert_non_null(end);
    assert_null(memchr(data, '<', (size_t)(end - data)));
    page.data = json_loadb(data, (size_t)(end - data), 0, &error);
    if (!page.data)
        fail_msg("%s at %d", error.text, error.position);
}

static int forget_page(void **state)
{
    json_decref(page.data);
    memset(&page, 0, sizeof page);
    return made_finish(state);
}

/* By a path of keys; numbers are places. */
static json_t *at(json_t *json, const char *path)
{
    char *copy = strdup(path), *rest = copy;
    for (char *key; (key = strsep(&rest, "/"));)
        json = json_is_array(json) ? json_array_get(json, strtoul(key, NULL, 10)) : json_object_get(json, key);
    free(copy);
    return json;
}

static int64_t number(const char *path)
{
    json_t *value = at(page.data, path);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static const char *text(const char *path)
{
    return json_string_value(at(page.data, path));
}

static size_t count(const char *path)
{
    return json_array_size(at(page.data, path));
}

static const char *text_at(int64_t string)
{
    return json_string_value(json_array_get(at(page.data, "strings"), (size_t)string));
}

/* Of a row, what a column has: a number, or the text that it stands for. */
static int64_t row_number(const char *column, int64_t row)
{
    return json_integer_value(json_array_get(at(at(page.data, "rows"), column), (size_t)row));
}

static inline const char *row_name(int64_t row)
{
    return text_at(row_number("name", row));
}

#endif
