/*
 * The filters of a call. Names of codes, categories and operations are checked against those that
 * the program has: a misspelled name would find nothing, which looks like good news.
 */
#include <stdio.h>
#include <time.h>

#include "operation/call.h"
#include "operator/inside.h"

/* -- times ------------------------------------------------------------------------------------- */

static bool read_number(const char **at, const char *end, size_t digits, int *out)
{
    int number = 0;
    if ((size_t)(end - *at) < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        char c = (*at)[i];
        if (c < '0' || c > '9')
            return false;
        number = number * 10 + (c - '0');
    }
    *at += digits;
    *out = number;
    return true;
}

static bool read_char(const char **at, const char *end, char wanted)
{
    if (*at == end || **at != wanted)
        return false;
    ++*at;
    return true;
}

/* "90s", "15m", "6h", "7d". */
static bool read_age(mishap_text text, int64_t *ms)
{
    static const char letters[] = "smhd";
    static const int64_t units[] = { 1000, 60000, 3600000, 86400000 };
    int64_t number = 0;
    size_t i = 0;
    for (; i < text.length && i < 6 && text.data[i] >= '0' && text.data[i] <= '9'; i++)
        number = number * 10 + (text.data[i] - '0');
    if (i == 0 || i + 1 != text.length)
        return false;
    const char *unit = strchr(letters, text.data[i]);
    if (!unit || !*unit)
        return false;
    *ms = number * units[unit - letters];
    return true;
}

/* "Z", "+02:00", or nothing, which is UTC, too. */
static bool read_zone(const char **at, const char *end, int *minutes)
{
    int hour, minute;
    *minutes = 0;
    if (*at == end || read_char(at, end, 'Z'))
        return true;
    int sign = **at == '-' ? -1 : 1;
    if (!read_char(at, end, '+') && !read_char(at, end, '-') && !read_char(at, end, ' '))
        return false; /* a plus that a query has turned into a blank is meant, too */
    if (!read_number(at, end, 2, &hour) || !read_char(at, end, ':') ||
        !read_number(at, end, 2, &minute) || hour > 23 || minute > 59)
        return false;
    *minutes = sign * (hour * 60 + minute);
    return true;
}

static bool read_clock(const char **at, const char *end, struct tm *parts, int *milliseconds)
{
    if (!read_number(at, end, 2, &parts->tm_hour) || !read_char(at, end, ':') ||
        !read_number(at, end, 2, &parts->tm_min))
        return false;
    if (read_char(at, end, ':') && !read_number(at, end, 2, &parts->tm_sec))
        return false;
    if (read_char(at, end, '.')) {
        int digit, weight = 100;
        for (size_t i = 0; i < 9 && read_number(at, end, 1, &digit); i++, weight /= 10)
            *milliseconds += digit * weight;
    }
    return parts->tm_hour < 24 && parts->tm_min < 60 && parts->tm_sec < 61;
}

bool mishap_operator_read_time(mishap_text text, int64_t now_ms, int64_t *ms)
{
    struct tm parts = { 0 };
    int milliseconds = 0, zone = 0;
    if (!text.length) /* there need not be data */
        return false;
    const char *at = text.data, *end = at + text.length;
    int64_t age;
    if (read_age(text, &age)) {
        *ms = now_ms - age;
        return true;
    }
    if (!read_number(&at, end, 4, &parts.tm_year) || !read_char(&at, end, '-') ||
        !read_number(&at, end, 2, &parts.tm_mon) || !read_char(&at, end, '-') ||
        !read_number(&at, end, 2, &parts.tm_mday))
        return false;
    if ((read_char(&at, end, 'T') || read_char(&at, end, ' ')) &&
        (!read_clock(&at, end, &parts, &milliseconds) || !read_zone(&at, end, &zone)))
        return false;
    if (at != end || parts.tm_mon < 1 || parts.tm_mon > 12 || parts.tm_mday < 1 ||
        parts.tm_mday > 31 || parts.tm_year < 1970)
        return false;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    int day = parts.tm_mday;
    time_t seconds = timegm(&parts);
    *ms = ((int64_t)seconds - zone * 60) * 1000 + milliseconds;
    return parts.tm_mday == day; /* there is no 31 February */
}

/* -- names ------------------------------------------------------------------------------------- */

/* A name that is looked for among all there are. */
struct name_search {
    mishap_guess guess;
    bool known;
};

static void weigh_name(struct name_search *search, mishap_text name)
{
    search->known = search->known || mishap_text_equal(search->guess.word, name);
    mishap_guess_weigh(&search->guess, name);
}

static void weigh_codes(struct name_search *search, const mishap_app *app)
{
    (void)app;
    for (const mishap_catalog *c = mishap_catalog_first(); c; c = c->next)
        for (size_t i = 0; i < c->count; i++)
            weigh_name(search, c->codes[i]->name);
}

static void weigh_categories(struct name_search *search, const mishap_app *app)
{
    const char *name;
    (void)app;
    for (int i = 0; (name = mishap_category_name((mishap_category)i)); i++)
        weigh_name(search, mishap_text_of(name));
}

static void weigh_operations(struct name_search *search, const mishap_app *app)
{
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        weigh_name(search, mishap_text_of(o->name));
}

static void weigh_boundaries(struct name_search *search, const mishap_app *app)
{
    static const char *const names[] = { "cli", "http", "mcp", "c", NULL };
    (void)app;
    for (const char *const *name = names; *name; name++)
        weigh_name(search, mishap_text_of(*name));
}

static void weigh_services(struct name_search *search, const mishap_app *app)
{
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        if (o->service)
            weigh_name(search, mishap_text_of(o->service->name));
}

/* The names of a filter, and what they are called. */
static const struct {
    const char *param, *what;
    void (*weigh)(struct name_search *search, const mishap_app *app);
} named[] = {
    { "code", "code", weigh_codes },
    { "category", "category", weigh_categories },
    { "operation", "operation", weigh_operations },
    { "boundary", "boundary", weigh_boundaries },
    { "service", "service", weigh_services },
};

static mishap *find_unknown_value(mishap *failure, const char *param, mishap_value nearest,
                                  mishap_text given)
{
    if (!failure)
        failure = mishap_raise(VALIDATION_ERROR, NULL);
    given.length = mishap_utf8_cut(given, 80);
    return mishap_field_add(failure, &(mishap_field){ .field = mishap_text_of(param),
                                                      .error = MISHAP_TEXT("pattern_mismatch"),
                                                      .expected = nearest,
                                                      .actual = mishap_value_of_text(given) });
}

static bool declares(const mishap_call *call, const char *param)
{
    return mishap_param_find(call->operation->params, mishap_text_of(param));
}

static mishap_text given_text(mishap_call *call, const char *param)
{
    if (!declares(call, param) || !mishap_given(call, param))
        return (mishap_text){ NULL, 0 };
    return (mishap_text){ mishap_string(call, param), mishap_string_length(call, param) };
}

static mishap *check_name(mishap_call *call, size_t which, mishap *failure)
{
    mishap_text given = given_text(call, named[which].param);
    if (!given.length)
        return failure;
    struct name_search search = { .guess = { .word = given } };
    named[which].weigh(&search, mishap_app_of(call));
    if (search.known)
        return failure;
    mishap_text near = search.guess.name;
    failure = find_unknown_value(failure, named[which].param,
                                 near.data ? mishap_value_of_text(near) : mishap_value_none(),
                                 given);
    failure = mishap_field_says(failure, "There is no %s of this name.", named[which].what);
    return near.data
               ? mishap_suggest(failure,
                                mishap_call_print(call, "Did you mean the %s `%.*s`?",
                                                  named[which].what, (int)near.length, near.data))
               : failure;
}

static mishap *check_time(mishap_call *call, const char *param, int64_t now_ms, int64_t *ms,
                          mishap *failure)
{
    mishap_text given = given_text(call, param);
    if (!given.length || mishap_operator_read_time(given, now_ms, ms))
        return failure;
    failure = find_unknown_value(
        failure, param,
        mishap_value_of_string("2026-11-17T16:00:00Z, 2026-11-17, or an age such as 15m, 6h, 7d"),
        given);
    failure = mishap_field_says(
        failure, "It is neither a time, such as 2026-11-17, nor an age, such as 6h.");
    if (strcmp(param, "to") == 0 && call->operation->answers_type &&
        mishap_boundary(call) == MISHAP_BY_COMMAND)
        failure = mishap_suggest(failure,
                                 "To write into a file, redirect the output: `… export > FILE`.");
    return failure;
}

/* The operator's own failures, such as a misspelled filter, would stand on top of what it looks
 * for. They are shown if they are asked for. */
static bool is_own_wanted(const mishap_call *call, const mishap_index_filter *filter)
{
    return mishap_boolean(call, "own") || filter->operation.length || filter->service.length ||
           filter->group.length || filter->trace.length;
}

mishap *mishap_operator_read_filter(mishap_call *call, mishap_index_filter *filter)
{
    mishap *failure = NULL;
    int64_t now_ms = mishap_clock_now_ms();
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        failure = check_name(call, i, failure);
    *filter = (mishap_index_filter){
        .code = given_text(call, "code"),
        .category = given_text(call, "category"),
        .operation = given_text(call, "operation"),
        .caller = given_text(call, "caller"),
        .boundary = given_text(call, "boundary"),
        .service = given_text(call, "service"),
        .group = given_text(call, "group"),
        .trace = given_text(call, "trace"),
        .text = given_text(call, "text"),
        .cursor = given_text(call, "cursor"),
    };
    if (declares(call, "status") && mishap_given(call, "status"))
        filter->status = mishap_integer(call, "status");
    if (declares(call, "own") && !is_own_wanted(call, filter))
        filter->not_operation = (mishap_text)MISHAP_TEXT("incidents.");
    if (declares(call, "limit"))
        filter->limit = (size_t)mishap_integer(call, "limit");
    failure = check_time(call, "from", now_ms, &filter->from_ms, failure);
    failure = check_time(call, "to", now_ms, &filter->to_ms, failure);
    if (!failure && filter->from_ms && filter->to_ms && filter->from_ms >= filter->to_ms) {
        failure = find_unknown_value(NULL, "from", mishap_value_of_string("a time before `to`"),
                                     given_text(call, "from"));
        failure = mishap_field_says(failure, "It is not before `to`.");
    }
    return failure;
}
