/* Lookup in declarations: an operation or a parameter by its name, and the codes of an
 * operation. */
#include "operation/operation.h"

const mishap_operation *mishap_operation_find(const mishap_app *app, mishap_text name)
{
    for (const mishap_operation *operation = app->operations; operation && operation->name;
         operation++)
        if (mishap_text_equal(mishap_text_of(operation->name), name))
            return operation;
    return NULL;
}

/* -- parameters -------------------------------------------------------------------------------- */

size_t mishap_param_count(const mishap_param *params)
{
    size_t count = 0;
    while (params && params[count].name)
        count++;
    return count;
}

const mishap_param *mishap_param_find(const mishap_param *params, mishap_text name)
{
    for (; params && params->name; params++)
        if (mishap_param_is_named(params, name))
            return params;
    return NULL;
}

/* -- codes ------------------------------------------------------------------------------------- */

enum { LISTS = 3 };

/* The code at this index, counted over all lists; NULL: beyond the end. */
static const mishap_code *code_at(const mishap_code *const *const *lists, size_t place)
{
    for (size_t i = 0; i < LISTS; i++)
        for (const mishap_code *const *code = lists[i]; code && *code; code++)
            if (place-- == 0)
                return *code;
    return NULL;
}

const mishap_code *mishap_operation_code(const mishap_app *app, const mishap_operation *operation,
                                         size_t *at)
{
    const mishap_service *service = operation->service;
    const mishap_code *const *const lists[LISTS] = { operation->raises,
                                                     service ? service->raises : NULL,
                                                     app ? app->raises : NULL };
    for (const mishap_code *code; (code = code_at(lists, (*at)++));) {
        size_t first = 0;
        while (code_at(lists, first) != code)
            first++;
        if (first + 1 == *at)
            return code;
    }
    return NULL;
}

bool mishap_operation_declares(const mishap_app *app, const mishap_operation *operation,
                               const mishap_code *code)
{
    const mishap_code *declared;
    size_t at = 0;
    while ((declared = mishap_operation_code(app, operation, &at)) && declared != code)
        continue;
    return declared;
}
