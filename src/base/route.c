#include "base/route.h"

/* Take `...` off the end of a name. */
static bool take_dots(mishap_text *name)
{
    static const char dots[] = "...";
    const size_t length = sizeof dots - 1;
    if (name->length < length || memcmp(name->data + name->length - length, dots, length) != 0)
        return false;
    name->length -= length;
    return true;
}

bool mishap_route_next(const char **at, mishap_route_part *part)
{
    if (**at != '/')
        return false;
    const char *start = *at + 1;
    size_t length = strcspn(start, "/");
    mishap_text inside = { start + 1, length > 1 ? length - 2 : 0 };
    *at = start + length;
    *part = (mishap_route_part){ .text = { start, length } };
    if (length && start[0] == ':') {
        part->param = true;
        part->text = (mishap_text){ start + 1, length - 1 };
        part->tail = take_dots(&part->text);
    } else if (length > 1 && start[0] == '{' && start[length - 1] == '}' && take_dots(&inside)) {
        part->param = part->tail = true;
        part->text = inside;
    }
    return true;
}

bool mishap_route_same(const char *a, const char *b)
{
    mishap_route_part one, other;
    const char *path_a = strchr(a, '/'), *path_b = strchr(b, '/');
    if (!path_a || !path_b || path_a - a != path_b - b || strncmp(a, b, (size_t)(path_a - a)) != 0)
        return false;
    while (mishap_route_next(&path_a, &one)) {
        if (!mishap_route_next(&path_b, &other) || one.param != other.param ||
            (!one.param && !mishap_text_equal(one.text, other.text)))
            return false;
    }
    return !*path_b;
}
