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

/* -- the nearest name -------------------------------------------------------------------------- */

/* The exceptions of Python that code meets. */
static const char *const exceptions[] = {
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "EOFError",
    "Exception",
    "FloatingPointError",
    "ImportError",
    "IndexError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "RecursionError",
    "RuntimeError",
    "StopIteration",
    "SyntaxError",
    "SystemExit",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
    "ValueError",
    "ZeroDivisionError",
};

typedef struct similar {
    const char *word, *name; /* the nearest so far; NULL: none is near */
    size_t length;           /* … of the name */
    size_t far;              /* how many letters are to be changed */
} similar;

static char small_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters to add, drop or change, without regard to case. */
static size_t letters_between(const char *a, size_t of_a, const char *b, size_t of_b)
{
    size_t row[MOST_LENGTH + 1];
    for (size_t j = 0; j <= of_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= of_a; i++) {
        size_t above = row[0];
        row[0] = i;
        for (size_t j = 1; j <= of_b; j++) {
            size_t same = above + (small_letter(a[i - 1]) != small_letter(b[j - 1]));
            above = row[j];
            row[j] = least_of(same, least_of(row[j], row[j - 1]) + 1);
        }
    }
    return row[of_b];
}

static void weigh_name(similar *s, const char *name, size_t length)
{
    size_t given = strlen(s->word);
    if (!length || length > MOST_LENGTH || given > MOST_LENGTH)
        return;
    size_t far = letters_between(s->word, given, name, length);
    size_t allowed = given < 3 ? 0 : given < 6 ? 1 : given < 10 ? 2 : 3;
    if (far <= allowed && (!s->name || far < s->far)) {
        s->name = name;
        s->length = length;
        s->far = far;
    }
}

static void weigh_names(similar *s, const char *code, const char *word)
{
    for (const char *at = code; (at = next_name(at, word));)
        weigh_name(s, at, name_length(at));
}

/* "Did you mean `KeyError`? ", or nothing. */
static const char *ask_meant(mishap_call *call, const similar *s)
{
    return s->name ? mishap_call_print(call, "Did you mean `%.*s`? ", (int)s->length, s->name) : "";
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
    similar meant = { .word = name };
    weigh_names(&meant, code, "def ");
    return mishap_call_print(call, "%sThe code has these functions: %s.%s", ask_meant(call, &meant),
                             names,
                             strchr(name, '.') ? " Methods of a class cannot be named." : "");
}

static const char *about_exception(mishap_call *call, const char *code)
{
    const char *classes = list_names(call, code, "class ");
    similar meant = { .word = mishap_string(call, "exception_type") };
    weigh_names(&meant, code, "class ");
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        weigh_name(&meant, exceptions[i], strlen(exceptions[i]));
    return mishap_call_print(call,
                             "%sName an exception of Python, such as ValueError, or a class of the "
                             "code%s%s. Upper and lower case matter.",
                             ask_meant(call, &meant), classes ? ": " : "", classes ? classes : "");
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
