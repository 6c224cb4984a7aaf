/*
 * Suggestions for failures of the engine that say more than the catalog: which functions the code
 * has, where the rules for code are, how to continue.
 *
 * The lines of the code are only scanned, not parsed: this is a hint, and Python has many ways to
 * define a name.
 */
#include <stdio.h>
#include <string.h>

#include "symbolic/symbolic.h"

enum {
    MOST_NAMES = 8,   /* names that are listed */
    MOST_LENGTH = 60, /* characters of a name that are shown */
};

/* -- names in the code ------------------------------------------------------------------------- */

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t name_length(const char *at)
{
    size_t length = 0;
    while (is_of_name(at[length]))
        length++;
    return length;
}

/* The next name after a word ("def ") at the beginning of a line. NULL: there is none. */
static const char *next_name(const char *code, const char *word)
{
    while (code && strncmp(code, word, strlen(word)) != 0) {
        code = strchr(code, '\n');
        code = code ? code + 1 : NULL;
    }
    return code ? code + strlen(word) + strspn(code + strlen(word), " ") : NULL;
}

static bool defines(const char *code, const char *name)
{
    for (const char *at = code; (at = next_name(at, "def "));)
        if (name_length(at) == strlen(name) && strncmp(at, name, strlen(name)) == 0)
            return true;
    return false;
}

/* "average, discount", in the memory of the call. NULL: there are none. */
static const char *list_names(mishap_call *call, const char *code, const char *word)
{
    const char *list = NULL, *at = code;
    size_t count = 0;
    while ((at = next_name(at, word))) {
        size_t length = name_length(at);
        if (!length || length > MOST_LENGTH)
            continue;
        if (count++ == MOST_NAMES)
            return mishap_call_print(call, "%s and more", list);
        list = mishap_call_print(call, "%s%s%.*s", list ? list : "", list ? ", " : "", (int)length,
                                 at);
    }
    return list;
}

/* -- suggestions ------------------------------------------------------------------------------- */

/* "f.py": the name of a file, instead of its content. */
static bool is_file_name(const char *code)
{
    size_t length = strcspn(code, " \t\r\n");
    return code[length] == 0 && length > 3 && length <= MOST_LENGTH &&
           strcmp(code + length - 3, ".py") == 0;
}

static const char *about_function(mishap_call *call, const char *code, const char *name)
{
    if (is_file_name(code))
        return mishap_call_print(call,
                                 "The code is `%s`, which looks like the name of a file. On a "
                                 "command line, `@%s` stands for the content of the file.",
                                 code, code);
    const char *names = list_names(call, code, "def ");
    if (!names)
        return "The code must define the function with `def` at the beginning of a line.";
    return mishap_call_print(call, "The code has these functions: %s.%s", names,
                             strchr(name, '.') ? " Methods of a class cannot be named." : "");
}

static const char *about_exception(mishap_call *call, const char *code)
{
    const char *classes = list_names(call, code, "class ");
    return mishap_call_print(call,
                             "Name an exception of Python, such as ValueError, or a class of the "
                             "code%s%s. Upper and lower case matter.",
                             classes ? ": " : "", classes ? classes : "");
}

static const char *about_argument(mishap_call *call)
{
    static const struct {
        const char *operation, *functions[3];
    } named[] = {
        { "symbolic.check", { "function_name" } },
        { "symbolic.find", { "function_name" } },
        { "symbolic.compare", { "function_a", "function_b" } },
        { "symbolic.branches", { "function_name" } },
    };
    const char *operation = mishap_operation_name(call), *code = mishap_string(call, "code");
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        for (const char *const *f = named[i].functions;
             strcmp(named[i].operation, operation) == 0 && *f; f++)
            if (!defines(code, mishap_string(call, *f)))
                return about_function(call, code, mishap_string(call, *f));
    return strcmp(operation, "symbolic.find") == 0 ? about_exception(call, code) : NULL;
}

/* The line may be far from the function that was asked about. */
static const char *about_rules(mishap_call *call, const mishap *failure)
{
    const char *app = mishap_app_of(call)->name;
    const mishap_member *m = mishap_public_member(mishap_told(failure), "line");
    if (!m || (m->value.kind != MISHAP_KIND_INT && m->value.kind != MISHAP_KIND_UINT))
        return mishap_call_print(call,
                                 "The rules for code are in config://security; `%s symbolic "
                                 "security` prints them.",
                                 app);
    return mishap_call_print(
        call,
        "Change or remove line %lld: all of the code is checked. The rules are "
        "in config://security; `%s symbolic security` prints them.",
        (long long)m->value.integer, app);
}

mishap *symbolic_suggest(mishap_call *call, mishap *failure)
{
    const char *suggestion = NULL;
    if (!failure || mishap_told(failure)->suggestion.length || mishap_told(failure)->fields)
        return failure;
    if (mishap_is(failure, INVALID_ARGUMENT))
        suggestion = about_argument(call);
    else if (mishap_is(failure, VALIDATION_ERROR))
        suggestion = about_rules(call, failure);
    else if (mishap_is(failure, TIMEOUT))
        suggestion = "Narrow the inputs with `pre:` lines, analyse a smaller function, or allow "
                     "more time with timeout_seconds.";
    return suggestion ? mishap_suggest(failure, suggestion) : failure;
}
