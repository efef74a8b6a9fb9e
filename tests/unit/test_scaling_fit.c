/* Growth by made values: forms are found again, what does not grow is told so, limits hold. */
#include "tests/unit/unit.h"

#include <math.h>

#include "compare/scaling_fit.h"

#define TRIALS 1000

static const double at[] = {1, 2, 4, 8, 16, 32};
#define COUNT (sizeof at / sizeof *at)

static double noise(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 33) / 2147483648.0;
    }
    return sum;
}

UNIT_TEST(values_on_a_curve_have_its_form)
{
    const struct {
        double power, logarithm;
        const char *text;
    } cases[] = {{0, 0, "2"}, {1, 0, "2 + 0.5 p"}, {0.5, 1, "2 + 0.5 p^(1/2) log p"}, {2, 0, "2 + 0.5 p^2"}, {0, 2, "2 + 0.5 log^2 p"}};
    struct scaling_design design;
    assert_true(scaling_design_begin(&design, at, COUNT));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value[COUNT], next = 2 + (i ? 0.5 : 0) * pow(64, cases[i].power) * pow(6, cases[i].logarithm);
        for (size_t v = 0; v < COUNT; v++)
            value[v] = 2 + (i ? 0.5 : 0) * pow(at[v], cases[i].power) * pow(log2(at[v]), cases[i].logarithm);
        struct scaling_fit fit = scaling_fit_of(&design, value, 64);
        char *text = scaling_fit_text(&fit, "p");
        assert_string_equal(text, cases[i].text);
        assert_true(fabs(fit.at - next) < 1e-6 * next && fit.low <= fit.at && fit.at <= fit.high);
        free(text);
    }
    scaling_design_end(&design);
}

UNIT_TEST(what_falls_has_a_minus)
{
    double value[COUNT];
    struct scaling_design design;
    assert_true(scaling_design_begin(&design, at, COUNT));
    for (size_t v = 0; v < COUNT; v++)
        value[v] = 40 - at[v];
    struct scaling_fit fit = scaling_fit_of(&design, value, 64);
    char *text = scaling_fit_text(&fit, "n");
    assert_string_equal(text, "40 - 1 n");
    free(text);
    scaling_design_end(&design);
}

/* 5 % are meant; of 1,000 trials more than 7.1 % is beyond three standard errors. */
UNIT_TEST(what_does_not_grow_grows_in_one_of_twenty)
{
    struct scaling_design design;
    uint64_t state = 7;
    size_t grows = 0;
    assert_true(scaling_design_begin(&design, at, COUNT));
    for (size_t trial = 0; trial < TRIALS; trial++) {
        double value[COUNT];
        for (size_t v = 0; v < COUNT; v++)
            value[v] = 10 + noise(&state);
        grows += scaling_fit_of(&design, value, 64).form != 0;
    }
    assert_in_range(grows, 29, 71);
    scaling_design_end(&design);
}

/* Which form it is the data need not tell; the limits must have it then. */
UNIT_TEST(limits_hold_what_comes)
{
    const double power[] = {0.5, 1, 1.5};
    struct scaling_design design;
    uint64_t state = 3;
    assert_true(scaling_design_begin(&design, at, COUNT));
    for (size_t i = 0; i < sizeof power / sizeof *power; i++) {
        size_t held = 0;
        for (size_t trial = 0; trial < TRIALS; trial++) {
            double value[COUNT];
            for (size_t v = 0; v < COUNT; v++)
                value[v] = (5 + pow(at[v], power[i])) * (1 + 0.02 * noise(&state));
            struct scaling_fit fit = scaling_fit_of(&design, value, 64);
            double next = 5 + pow(64, power[i]);
            held += fit.low <= next && next <= fit.high;
        }
        print_message("p^%g: %zu of %d within the limits\n", power[i], held, TRIALS);
        assert_true(held >= 0.93 * TRIALS);
    }
    scaling_design_end(&design);
}

UNIT_TEST(two_numbers_make_no_model)
{
    struct scaling_design design;
    assert_false(scaling_design_begin(&design, (double[]){1, 2, 2, 1}, 4));
    assert_int_equal(design.distinct, 2);
    scaling_design_end(&design);
    assert_true(scaling_design_begin(&design, (double[]){1, 2, 3}, 3));
    scaling_design_end(&design);
}

UNIT_MAIN(NULL, NULL)
