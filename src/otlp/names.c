/* What the operations of a program are called outside. */
#include <ctype.h>

#include "mishap/operation.h"
#include "otlp/records.h"

enum { LONGEST_TOOL = 200 };

mishap_otlp_name mishap_otlp_find_name(const void *state, mishap_text name)
{
    static char tool[LONGEST_TOOL];
    const mishap_app *app = state;
    for (const mishap_operation *o = app->operations; o && o->name; o++) {
        if (!mishap_text_equal(mishap_text_of(o->name), name))
            continue;
        size_t i = 0;
        for (; o->name[i] && i + 1 < sizeof tool; i++)
            tool[i] = isalnum((unsigned char)o->name[i]) ? o->name[i] : '_';
        tool[i] = '\0';
        return (mishap_otlp_name){ o->route, o->tool ? o->tool : tool };
    }
    return (mishap_otlp_name){ NULL, NULL };
}
