/* Stores questions about symbols and their answers. */
#include "command/symbols/answers.h"

#include <stdlib.h>

#include "cct/profile_tree.h"
#include "command/text/grow.h"

struct symbols_answer *symbols_answers_add(struct symbols_answers *answers, struct pool *pool,
                                           enum symbols_question question, uint64_t key)
{
    struct symbols_answer *answer = pool_alloc(pool, sizeof *answer);
    return answer && symbols_map_put(&answers->map[question], key, answer) ? answer : NULL;
}

bool symbols_answers_add_gap(struct symbols_answers *answers, const struct symbols_gap *gap)
{
    uint32_t *slot = pair_map_slot(&answers->gap_map, gap->caller, gap->goal);
    if (!slot || !grow_list(&answers->gaps, &answers->gap_room, answers->gap_count, sizeof *answers->gaps))
        return false;
    *slot = (uint32_t)answers->gap_count;
    answers->gaps[answers->gap_count++] = *gap;
    return true;
}

bool symbols_answers_are_named(const struct symbols_answers *answers, uint64_t key)
{
    uint32_t id = PROFILE_KEY_MODULE(key);
    /* module 0 is code that belongs to no file */
    return id == 0 || (id <= answers->module_count && answers->sources[id - 1].named);
}

void symbols_answers_free(struct symbols_answers *answers)
{
    for (size_t i = 0; i < SYMBOLS_QUESTIONS; i++)
        symbols_map_free(&answers->map[i]);
    pair_map_free(&answers->gap_map);
    free(answers->gaps);
    free(answers->sources);
}
