#include "learn/show.h"

#include <string.h>

#include "learn/chance.h"
#include "report/text/format.h"

#define TAIL 0.025
#define HARMLESS " _.,:;=+-()<>@%/" /* and letters and digits */

void show_text(FILE *out, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') || strchr(HARMLESS, *at);
        bool comment = *at == '/' && at[1] == '/';
        if (plain && !comment)
            putc(*at, out);
        else
            fprintf(out, "\\%03o", *at);
    }
}

static const char *word_of(const struct decision *tree, int label)
{
    return tree->table->classes.word[label];
}

static void show_node(FILE *out, const struct decision *tree, size_t at, const char *before, int depth)
{
    const struct decision_node *node = &tree->node[at];
    if (node->feature == DECISION_LEAF) {
        show_text(out, word_of(tree, node->label));
        fprintf(out, " (%s", DECIMAL(node->weight, node->weight == (double)(long)node->weight ? 0 : 1));
        if (node->errors > 0)
            fprintf(out, ", of these wrong %s", DECIMAL(node->errors, node->errors == (double)(long)node->errors ? 0 : 1));
        fputs(")", out);
        return;
    }
    const struct learn_feature *feature = &tree->table->feature[node->feature];
    for (size_t i = 0; i < node->branches; i++) {
        if (tree->node[node->child + i].weight <= 0)
            continue;
        fprintf(out, "\n%s%*s", before, 2 * depth, "");
        show_text(out, feature->name);
        if (feature->numeric)
            fprintf(out, " %s %.6g: ", i ? ">" : "<=", node->threshold);
        else {
            fputs(" = ", out);
            show_text(out, feature->words.word[i]);
            fputs(": ", out);
        }
        show_node(out, tree, node->child + i, before, depth + 1);
    }
}

void show_trees(FILE *out, const struct model *model, const char *before)
{
    for (size_t i = 0; i < model->cases->dimensions; i++) {
        fputs(before, out);
        show_text(out, model->cases->dimension[i].name);
        fputs(": ", out);
        show_node(out, model->tree[i], 0, before, 1);
        putc('\n', out);
    }
}

static void show_part(FILE *out, size_t wrong, size_t count)
{
    double low = 100 * chance_lower((double)wrong, (double)count, TAIL), high = 100 * chance_upper((double)wrong, (double)count, TAIL);
    fprintf(out, "%zu of %zu (%s to %s %%)", wrong, count, DECIMAL(low, 0), DECIMAL(high, 0));
}

void show_error(FILE *out, const struct model *model, const char *before)
{
    const struct model_error *error = &model->error;
    const char *group = error->by_application ? "application" : "input";
    fprintf(out, "%slearned from %zu searches with %zu %ss", before, error->cases, error->groups, group);
    if (error->groups < 2) {
        fputs("; there is nothing to validate it by\n", out);
        return;
    }
    fprintf(out, "; validated on %s left out, in %zu parts\n", error->by_application ? "applications" : "inputs", error->folds);
    for (size_t i = 0; i < model->cases->dimensions; i++) {
        fputs(before, out);
        show_text(out, model->cases->dimension[i].name);
        fputs(": wrong for ", out);
        show_part(out, error->wrong[i], error->cases);
        fputs("; always the default: ", out);
        show_part(out, error->usual_wrong[i], error->cases);
        putc('\n', out);
    }
    fprintf(out, "%stime lost against the best setting: %s %%; always the default: %s %%; gained %s %%, 95 %% interval %s to %s\n", before, DECIMAL(error->lost, 1),
            DECIMAL(error->usual_lost, 1), DECIMAL(error->gain, 1), DECIMAL(error->low, 1), DECIMAL(error->high, 1));
    if (error->untried)
        fprintf(out, "%s%zu of the settings foretold were not tried in their search; they count as the slowest of those most like them\n", before, error->untried);
}

const char *show_refusal(const struct model *model)
{
    if (!model->count)
        return "there is no search in which the default was tried";
    if (model->error.groups < 3)
        return "searches with at least 3 different inputs are needed to tell whether it would do better than the default";
    return model->error.better ? NULL : "on inputs left out it does not do better than always the default, beyond chance";
}
