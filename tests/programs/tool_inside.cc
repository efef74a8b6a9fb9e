// A program with an OMPT tool of its own, which needs the program's constructors.
#include <cstdio>
#include <map>
#include <omp-tools.h>
#include <string>

static std::map<std::string, int> events;

static void on_parallel_begin(ompt_data_t *, const ompt_frame_t *, ompt_data_t *, unsigned, int, const void *)
{
    events["parallel_begin"]++;
}

static int initialize(ompt_function_lookup_t lookup, int, ompt_data_t *)
{
    auto set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
    events["initialize"]++;
    set_callback(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
    return 1;
}

static void finalize(ompt_data_t *)
{
}

extern "C" ompt_start_tool_result_t *ompt_start_tool(unsigned, const char *)
{
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};
    return &result;
}

int main()
{
    int threads = 0;
    for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2) reduction(+ : threads)
        threads++;
    }
    std::printf("%d threads, %d start, %d regions\n", threads, events["initialize"], events["parallel_begin"]);
}
