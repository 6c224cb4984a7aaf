/* A program with some of its services only: see chosen.h. */
#include "operation/chosen.h"

#include "base/nearest.h"
#include "operation/settings.h"

/* The next name of a list; false at its end. *at is 0 at first. */
static bool next_name(const char *names, size_t *at, mishap_text *name)
{
    size_t length = strlen(names);
    if (*at > length)
        return false;
    const char *begin = names + *at, *comma = strchr(begin, ',');
    *name = (mishap_text){ begin, comma ? (size_t)(comma - begin) : length - *at };
    *at += name->length + 1;
    return true;
}

static bool names_service(const char *names, const mishap_service *service)
{
    size_t at = 0;
    mishap_text name;
    while (service && next_name(names, &at, &name))
        if (mishap_text_equal(name, mishap_text_of(service->name)))
            return true;
    return false;
}

/* The service of an operation that can be chosen; NULL: none. */
static const mishap_service *served_by(const mishap_operation *operation)
{
    bool apart = operation->local || operation->resident || operation->operator_only;
    return apart ? NULL : operation->service;
}

static bool is_first_of_service(const mishap_app *app, const mishap_operation *operation)
{
    const mishap_operation *o = app->operations;
    while (served_by(o) != served_by(operation))
        o++;
    return o == operation;
}

/* What to do about an unknown name: the nearest one, and all of them. */
static mishap *suggest_services(mishap *m, const mishap_app *app, mishap_text name)
{
    mishap_guess guess = { .word = name };
    mishap_buffer words = { 0 };
    bool any = false;
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        if (served_by(o))
            mishap_guess_weigh(&guess, mishap_text_of(served_by(o)->name));
    if (guess.name.data) {
        MISHAP_PUT(&words, "Did you mean `");
        mishap_buffer_put_text(&words, guess.name);
        MISHAP_PUT(&words, "`? ");
    }
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        if (served_by(o) && is_first_of_service(app, o)) {
            mishap_buffer_put_text(&words, mishap_text_of(any ? ", " : "The services are: "));
            mishap_buffer_put_text(&words, mishap_text_of(served_by(o)->name));
            any = true;
        }
    if (!any)
        MISHAP_PUT(&words, "The program has no services.");
    mishap_buffer_put_char(&words, '\0');
    m = words.failed ? m : mishap_suggest(m, words.data);
    mishap_buffer_release(&words);
    return m;
}

static mishap *check_name(const mishap_app *app, mishap_text name)
{
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        if (served_by(o) && mishap_text_equal(name, mishap_text_of(served_by(o)->name)))
            return NULL;
    mishap *m = name.length ? mishap_raise(ARG_ERROR, "No service is named `%.*s`.",
                                           (int)name.length, name.data)
                            : mishap_raise(ARG_ERROR, "A name of a service is empty.");
    return suggest_services(mishap_tell(m, "service", name), app, name);
}

/* Operations of the operator and those for drills belong to the server, and those for the command
 * line alone are not served. */
static bool is_chosen(const mishap_operation *operation, const char *names)
{
    return names_service(names, operation->service) || operation->local || operation->resident ||
           operation->operator_only || (operation->chaos && !operation->service);
}

static const mishap_operation *choose_operations(const mishap_app *app, const char *names,
                                                 mishap_arena *arena)
{
    size_t count = 0, i = 0;
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        count += is_chosen(o, names);
    mishap_operation *chosen = mishap_arena_take(arena, (count + 1) * sizeof *chosen);
    for (const mishap_operation *o = app->operations; chosen && o && o->name; o++)
        if (is_chosen(o, names))
            chosen[i++] = *o;
    if (chosen)
        chosen[i] = (mishap_operation){ 0 };
    return chosen;
}

static const mishap_service *const *choose_services(const mishap_app *app, const char *names,
                                                    mishap_arena *arena)
{
    const mishap_service *all[MISHAP_MOST_SERVICES];
    size_t count = mishap_services_of(app, all), i = 0;
    const mishap_service **chosen = mishap_arena_take(arena, (count + 1) * sizeof *chosen);
    for (size_t at = 0; chosen && at < count; at++)
        if (names_service(names, all[at]))
            chosen[i++] = all[at];
    if (chosen)
        chosen[i] = NULL;
    return chosen;
}

mishap *mishap_app_choose(const mishap_app *app, const char *names, mishap_arena *arena,
                          mishap_app *out)
{
    size_t at = 0;
    mishap_text name;
    mishap *failure = NULL;
    *out = *app;
    if (!names)
        return NULL;
    while (!failure && next_name(names, &at, &name))
        failure = check_name(app, name);
    if (failure)
        return failure;
    out->operations = choose_operations(app, names, arena);
    out->services = choose_services(app, names, arena);
    return out->operations && out->services ? NULL : mishap_out_of_memory();
}
