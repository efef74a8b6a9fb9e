/* Call frame information that is damaged at random: no fault, no row that is none, no reading without an end.
 */
#include "tests/unit/unit.h"

#include "base/clock.h"
#include "tests/unit/cfi_edge.h"
#include "unwind/cfi.h"

static const struct loadmap_module *table_of_libc(void)
{
    assert_true(loadmap_init());
    const struct loadmap_range *range = loadmap_find((uintptr_t)qsort);
    const struct loadmap_module *module = range ? loadmap_module(range->module_id) : NULL;
    assert_true(module && module->view && module->eh_frame_header);
    return module;
}

static void check_bounds(const struct loadmap_module *module, const struct cfi_rule *rule)
{
    if (rule->where != CFI_EXPRESSION && rule->where != CFI_AT_EXPRESSION)
        return;
    size_t offset = (size_t)(rule->expression - (const unsigned char *)module->view);
    assert_true(offset <= module->view_bytes && rule->number <= module->view_bytes - offset);
}

/* Rows of a table with some bytes changed, and cut off somewhere: whatever they say, nothing beyond the table
 * is touched (there is nothing), and a row that is found is one. */
static void read_damaged(const struct loadmap_module *whole, uint64_t *random_state, uint64_t *statuses)
{
    static unsigned char copy[EDGE_BYTES];
    size_t header = whole->eh_frame_header - whole->view_vaddr, all = whole->view_bytes - header;
    size_t bytes = all < EDGE_BYTES ? all : EDGE_BYTES;
    memcpy(copy, whole->view + header, bytes);
    for (uint64_t n = unit_random(random_state) % 3000; n > 0; n--)
        copy[unit_random(random_state) % bytes] = (unsigned char)unit_random(random_state);
    for (uint64_t n = unit_random(random_state) % 4; n > 0; n--)
        copy[16 + unit_random(random_state) % (bytes - 16)] ^= (unsigned char)(1u << unit_random(random_state) % 8);
    copy[0] = 1, copy[1] = 0x1b, copy[2] = 0x03, copy[3] = 0x3b; /* get past the header */
    if (unit_random(random_state) % 2)
        memcpy(copy + 8, whole->view + header + 8, 4);
    if (unit_random(random_state) % 4 == 0)
        bytes -= unit_random(random_state) % bytes;
    struct loadmap_module module = *whole;
    module.view = (const char *)at_the_edge(copy, bytes);
    module.view_vaddr = whole->eh_frame_header;
    module.view_bytes = bytes;
    for (int i = 0; i < 2000; i++) {
        uintptr_t address = unit_random(random_state) % (whole->vaddr_high + 4096);
        struct cfi_row row;
        enum cfi_status status = cfi_read_row(&module, address, &row);
        statuses[status]++;
        if (status != CFI_ROW)
            continue;
        assert_true(row.start <= address && address < row.end);
        check_bounds(&module, &row.cfa);
        check_bounds(&module, &row.rbp);
        check_bounds(&module, &row.return_address);
    }
}

UNIT_TEST(a_damaged_table_does_no_harm)
{
    const struct loadmap_module *libc = table_of_libc();
    uint64_t random_state = 88172645463325252ull, statuses[5] = {0};
    uint64_t end_ns = clock_now_ns() + 2 * NS_PER_S;
    int rounds = 0;
    while (rounds < 200 || (rounds < 2000 && clock_now_ns() < end_ns)) {
        read_damaged(libc, &random_state, statuses);
        rounds++;
    }
    printf("%d damaged tables: %lu rows, %lu no table, %lu no entry, %lu foreign, %lu damaged\n", rounds, statuses[0],
           statuses[1], statuses[2], statuses[3], statuses[4]);
    assert_true(statuses[CFI_ROW] > 0 && statuses[CFI_NO_ENTRY] > 0);
    assert_true(statuses[CFI_FOREIGN] > 0 && statuses[CFI_DAMAGED] > 0);
}

UNIT_MAIN(NULL, NULL)
