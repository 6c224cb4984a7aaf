#include "dialect/parts.h"

static void render(const mishap_public *told, mishap_buffer *b)
{
    (void)told, (void)b;
}
static mishap *read(const mishap_source *source, mishap **out)
{
    (void)out;
    return mishap_refuse(source, source->root, "placeholder");
}
static void check(mishap_check *c, yyjson_val *root)
{
    (void)c, (void)root;
}
const mishap_dialect mishap_problem = { .name = "problem", .render = render, .read = read, .check = check };
