#include "base/run_options.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

bool run_option_throttle(const char *text, void *to)
{
    struct run_throttle *throttle = to;
    char *at, *end;
    if (strcmp(text, "0") == 0) {
        *throttle = (struct run_throttle){UINT64_MAX, 0};
        return true;
    }
    unsigned long long calls = strtoull(text, &at, 10);
    if (*text < '0' || *text > '9' || *at != '@' || at[1] < '0' || at[1] > '9')
        return false;
    unsigned long long ns = strtoull(at + 1, &end, 10);
    if (*end || ns == 0 || calls == 0 || ns == ULLONG_MAX || calls == ULLONG_MAX)
        return false;
    *throttle = (struct run_throttle){calls, ns};
    return true;
}

bool run_option_job(const char *text, void *to)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t length = strlen(text);
    if (length == 0 || length > 63 || !strchr(letters, text[0]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!strchr(letters, text[i]) && !strchr("._+-", text[i]))
            return false;
    *(const char **)to = text;
    return true;
}

/* Reads a number of seconds. The decimal separator is a point in all locales. */
static bool read_option_seconds(const char **text, uint64_t *ns)
{
    const char *at = *text;
    double digits = 0, parts = 0;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && at > *text && !parts); at++)
        if (*at == '.') {
            parts = 1;
        } else {
            digits = 10 * digits + (*at - '0');
            parts *= 10;
        }
    double seconds = parts ? digits / parts : digits;
    if (at == *text || seconds > 1e9)
        return false;
    *ns = (uint64_t)(seconds * 1e9);
    *text = at;
    return true;
}

bool run_option_trace_read(const char *text, struct run_window *window)
{
    *window = (struct run_window){.never = strcmp(text, "0") == 0, .to_ns = UINT64_MAX};
    if (window->never || strcmp(text, "1") == 0)
        return true;
    if (!read_option_seconds(&text, &window->from_ns) || *text++ != ':' || !read_option_seconds(&text, &window->to_ns))
        return false;
    return !*text && window->from_ns < window->to_ns;
}

bool run_option_trace(const char *text, void *kept)
{
    struct run_window window;
    if (!run_option_trace_read(text, &window))
        return false;
    *(const char **)kept = text;
    return true;
}

uint64_t run_option_size_read(const char *text)
{
    static const char units[] = "KMG";
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (*text < '0' || *text > '9' || !unit || end[1] || number > 3 << 20)
        return 0;
    uint64_t bytes = number << 10 * (unit - units + 1);
    return bytes >= 64 << 10 && bytes <= 3ull << 30 ? bytes : 0;
}

bool run_option_size(const char *text, void *kept)
{
    if (!run_option_size_read(text))
        return false;
    *(const char **)kept = text;
    return true;
}

/* Accepts the forms 50, rt16, RTMIN+16 and RTMAX-14. The signal must be a real-time signal, or another one
 * that programs seldom use. */
bool run_option_signal(const char *text, void *to)
{
    static const struct {
        const char *name;
        int base, sign;
    } forms[] = {{"SIGRTMIN+", 0, 1}, {"SIGRTMAX-", 1, -1}, {"RTMIN+", 0, 1}, {"RTMAX-", 1, -1}, {"rt", 0, 1}};
    static const int others[] = {SIGUSR1, SIGUSR2, SIGSTKFLT, SIGURG, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO, SIGPWR};
    int base = 0, sign = 1;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (strncasecmp(text, forms[i].name, strlen(forms[i].name)) == 0) {
            text += strlen(forms[i].name);
            base = forms[i].base ? SIGRTMAX : SIGRTMIN;
            sign = forms[i].sign;
            break;
        }
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || *text < '0' || *text > '9' || value > SIGRTMAX)
        return false;
    int number = base + sign * (int)value;
    bool accepted = number >= SIGRTMIN && number <= SIGRTMAX;
    for (size_t i = 0; !base && i < sizeof(others) / sizeof(others[0]); i++)
        accepted |= number == others[i];
    if (accepted)
        *(int *)to = number;
    return accepted;
}

/* Returns the length of the pair KEY=VALUE with which the text begins; 0 if it begins otherwise. */
static size_t option_meta_bytes(const char *text)
{
    size_t key = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");
    return key && key <= 63 && text[key] == '=' ? strcspn(text, "\n") : 0;
}

bool run_option_meta(const char *text, void *kept)
{
    size_t bytes = strlen(text);
    for (const char *at = text; *at || at == text;) {
        size_t line = option_meta_bytes(at);
        if (!line || bytes > RUN_OPTION_META_BYTES)
            return false;
        at += line + (at[line] == '\n');
    }
    *(const char **)kept = text;
    return true;
}
