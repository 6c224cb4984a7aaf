/* Arguments of a call, and calls: the runner of the code makes them. */
#include "machine/machine.h"

value *keyword_argument(arguments *given, const char *name)
{
    for (size_t i = 0; i < given->names.count; i++)
        if (given->keywords.at[i] && value_says(given->names.at[i], name)) {
            value *v = given->keywords.at[i];
            given->keywords.at[i] = NULL;
            return v;
        }
    return NULL;
}

bool arguments_fit(machine *m, const arguments *given, size_t least, size_t most, int line)
{
    bool rest = false;
    for (size_t i = 0; i < given->names.count; i++)
        rest = rest || given->keywords.at[i];
    if (!rest && given->places.count >= least && given->places.count <= most)
        return true;
    throw(m, "TypeError", line);
    return false;
}

value *call_with(machine *m, value *callee, value *argument, int line)
{
    arguments given = { 0 };
    values_add(m, &given.places, argument);
    return call(m, callee, &given, line);
}

value *call_member(machine *m, value *self, value *member, arguments *given, int line)
{
    arguments with_self = { .names = given->names, .keywords = given->keywords };
    values_add(m, &with_self.places, self);
    for (size_t i = 0; i < given->places.count; i++)
        values_add(m, &with_self.places, given->places.at[i]);
    return call(m, member, &with_self, line);
}
