/* Checks for traces of languages with a virtual machine: Java and its relatives, C#, Elixir,
 * Erlang, Dart; and for names of classes of errors. */
#include "guard/rules.h"

static bool in_java_name(char c)
{
    return leak_word(c) || c == '.' || c == '$' || c == '<' || c == '>' || c == '/' || c == '@' ||
           c == '-' || (c & 0x80);
}

static bool in_java_file(char c)
{
    return leak_word(c) || c == '/';
}

/* `at a.b.C.m(C.java:12)`; the literal is `.java:1` or `(Native Method)`. */
bool mishap_leak_java_frame(mishap_leak_place *place)
{
    const char *open = place->at, *close = place->behind;
    if (leak_char(place, open) == '(' && leak_digit(close[-1])) { /* (SourceFile:12) */
        close = leak_skip(place, close, leak_digit, 9);
        if (leak_char(place, close) != ')')
            return false;
        close++;
    } else if (leak_char(place, open) != '(') {
        open = leak_skip_back(place, open, in_java_file, 120);
        if (open == place->start || open[-1] != '(')
            return false;
        open--;
        if (close[-1] != ')') {
            close = leak_skip(place, close, leak_digit, 9);
            if (leak_char(place, close) != ')')
                return false;
            close++;
        }
    }
    const char *name = leak_skip_back(place, open, in_java_name, LEAK_FAR);
    if (!memchr(name, '.', (size_t)(open - name)))
        return leak_is_far(name, open) && leak_gave_up(place);
    place->from = leak_ends(place, name, "at ") ? name - 3 : name;
    place->to = close;
    return true;
}

static bool in_class_path(char c)
{
    return leak_word(c) || c == '.' || c == '$';
}

/* `Caused by: a.b.CException: …`. */
bool mishap_leak_java_cause(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, in_class_path, 200);
    if (!memchr(place->behind, '.', (size_t)(end - place->behind)) || end[-1] == '.')
        return false;
    place->to = end;
    return true;
}

/* `Exception in thread "main" java.lang.Error`: the class stands behind the name of the thread. The
 * other literals are enough. */
bool mishap_leak_java_thread(mishap_leak_place *place)
{
    if (!leak_is(place, place->at, "Exception in thread"))
        return true;
    const char *end = leak_line_end(place, place->behind);
    const char *quote = memchr(place->behind, '"', (size_t)(end - place->behind));
    if (!quote)
        return place->end - place->behind < 100; /* it was cut */
    const char *name = leak_char(place, quote + 1) == ' ' ? quote + 2 : quote + 1;
    return leak_space(leak_char(place, name)) ||
           leak_skip(place, name, in_class_path, 8) - name >= 4;
}

/* -- C# ---------------------------------------------------------------------------------------- */

static bool in_sharp_name(char c)
{
    return leak_word(c) || c == '.' || c == '`' || c == '$' || c == '<' || c == '>' || c == '+' ||
           c == '[' || c == ']' || c == ',' || c == '@';
}

static bool in_parameters(char c)
{
    return c != ')' && c != '(' && c != '\n' && c != '"' && c != ';' && c != '{';
}

/* `   at A.B.C(String name)`, alone on its line or with ` in FILE:line 12` behind it. */
bool mishap_leak_sharp_frame(mishap_leak_place *place)
{
    const char *name = place->behind - 1;
    if (!leak_upper(*name) && *name != '<' && *name != 'l' && !leak_letter(*name))
        return false;
    const char *open = leak_skip(place, name, in_sharp_name, 300);
    if (leak_char(place, open) != '(' || !memchr(name, '.', (size_t)(open - name)))
        return false;
    const char *close = leak_skip(place, open + 1, in_parameters, LEAK_FAR);
    if (leak_char(place, close) != ')')
        return leak_is_far(open + 1, close) && leak_gave_up(place);
    const char *end = close + 1;
    if (leak_is(place, end, " in ")) {
        const char *line = leak_find(place, end, leak_line_end(place, end), ":line ");
        if (!line)
            return false;
        end = leak_skip(place, line + 6, leak_digit, 9);
    } else {
        const char *before = leak_skip_back(place, place->behind - 4, leak_blank, 64);
        const char *after = leak_skip(place, end, leak_blank, 8);
        char c = leak_char(place, after);
        /* Alone on its line, with a name that begins with a capital letter. */
        if (!leak_upper(*name) || leak_char(place, before - 1) != '\n' ||
            place->behind - 4 - before < 1 || (c != '\n' && c != '\r' && c != '"' && c != '<') ||
            memchr(open, ':', (size_t)(close - open)))
            return false;
    }
    place->from = name - 3;
    place->to = end;
    return true;
}

/* -- Elixir, Erlang ---------------------------------------------------------------------------- */

static bool in_source_path(char c)
{
    return leak_word(c) || c == '.' || c == '/' || c == '-' || c == '\\' || c == ':' || c == '~';
}

/* `lib/a.ex:12: A.f/1`; the literal is `.ex:1`. */
bool mishap_leak_elixir_frame(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, leak_digit, 9);
    if (!leak_is(place, end, ": ") && leak_char(place, end) != ')')
        return false;
    place->from = leak_skip_back(place, place->at, in_source_path, 300);
    place->to = end;
    return true;
}

static bool in_class_name(char c)
{
    return leak_word(c) || c == '.';
}

/* `** (RuntimeError) …`; the literal is `** (R`. */
bool mishap_leak_elixir_exception(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, in_class_name, 120);
    if (leak_char(place, end) != ')')
        return false;
    if (!leak_ends(place, end, "Error") && !leak_ends(place, end, "Exception") &&
        !leak_ends(place, end, "EXIT") && !leak_ends(place, end, "Exit"))
        return false;
    place->to = end + 1;
    return true;
}

/* `{file,"a.erl"},{line,12}`; the literal is `{line,1`. */
bool mishap_leak_erlang_frame(mishap_leak_place *place)
{
    const char *from = leak_line_start(place, place->at);
    const char *near = place->at - from > 200 ? place->at - 200 : from;
    const char *file = leak_find(place, near, place->at, "{file,");
    if (!file && place->at - place->start > 200) /* the line may be broken between the two */
        file = leak_find(place, place->at - 200, place->at, "{file,");
    if (!file)
        return false;
    place->from = file;
    place->to = leak_skip(place, place->behind, leak_digit, 9);
    return true;
}

/* -- Dart -------------------------------------------------------------------------------------- */

static bool not_open(char c)
{
    return c != '(' && c != ')' && !leak_space(c) && !leak_quote(c);
}

/* `#0  main (file:///srv/a.dart:3:5)`, `package:a/b.dart 3:5  f`; the literal is `.dart:1` or
 * `.dart 1`. */
bool mishap_leak_dart_frame(mishap_leak_place *place)
{
    const char *from = leak_skip_back(place, place->at, not_open, 300);
    if (!leak_is(place, from, "package:") && !leak_is(place, from, "file:") &&
        !leak_is(place, from, "dart:") && !leak_is(place, from, "org-dartlang") &&
        leak_char(place, place->behind - 2) != ':')
        return false;
    const char *end = leak_skip(place, place->behind, leak_digit, 9);
    if (leak_char(place, end) != ':' || !leak_digit(leak_char(place, end + 1)))
        return false;
    place->from = from;
    place->to = leak_skip(place, end + 1, leak_digit, 9);
    return true;
}

/* `"file": "/srv/a.php", "line": 21`: a frame as JSON; the literal is `"line": 2`. */
bool mishap_leak_json_frame(mishap_leak_place *place)
{
    const char *from = place->at - place->start > 300 ? place->at - 300 : place->start;
    static const char *const names[] = { "\"file\"",      "\"fileName\"", "\"filename\"",
                                         "\"file_name\"", "\"filePath\"", NULL };
    const char *file = NULL, *line = leak_line_end(place, place->behind);
    for (size_t i = 0; names[i] && !file; i++) {
        file = leak_find(place, from, place->at, names[i]);
        for (const char *next; file && (next = leak_find(place, file + 1, place->at, names[i]));)
            file = next;
    }
    if (!file && leak_find(place, place->behind,
                           line - place->behind > 60 ? place->behind + 60 : line, "\"source\"")) {
        const char *source = leak_find(place, place->behind, line, "\"source\"");
        const char *close = leak_find(place, source, line, "}");
        const char *dot = leak_find(place, source, close ? close : line, ".go\"");
        place->to = source;
        return dot != NULL;
    }
    if (!file)
        return false;
    const char *slash = memchr(file, '/', (size_t)(place->at - file));
    const char *point = memchr(file, '.', (size_t)(place->at - file));
    if ((!slash && !point) || memchr(file, '}', (size_t)(place->at - file)))
        return false;
    place->from = file;
    place->to = leak_skip(place, place->behind, leak_digit, 9);
    return true;
}

/* -- names of classes -------------------------------------------------------------------------- */

static bool in_dotted_name(char c)
{
    return leak_word(c) || c == '.';
}

static bool in_qualified_name(char c)
{
    return leak_word(c) || c == '\\' || c == ':';
}

/*
 * `java.lang.NullPointerException`, `sqlalchemy.exc.OperationalError`: packages in small letters,
 * then a class. Two points, or a well-known first word, keep names of codes out.
 */
bool mishap_leak_class_name(mishap_leak_place *place)
{
    const char *end = place->behind;
    if (leak_word(leak_char(place, end)) || leak_char(place, end) == '.')
        return false;
    const char *class = leak_skip_back(place, place->at, leak_word, 80);
    /* Illuminate\Database\QueryException, Faraday::TimeoutError */
    if (class - place->start > 2 && leak_upper(*class) && class < place->at &&
        ((class[-1] == '\\' && leak_word(class[-2])) || leak_ends(place, class, "::"))) {
        place->from = leak_skip_back(place, class, in_qualified_name, 200);
        return leak_letter(*place->from) && leak_upper(*place->from);
    }
    if (class == place->at || !leak_upper(*class) || class == place->start || class[-1] != '.')
        return false;
    const char *from = leak_skip_back(place, class, in_dotted_name, 200);
    char before = leak_char(place, from - 1);
    if (before == '/' || before == '-' || before == '@' || before == '#' || !leak_letter(*from))
        return false;
    static const char *const roots[] = { "System.",   "java.",      "javax.",   "kotlin.",
                                         "scala.",    "Microsoft.", "asyncio.", "json.decoder.",
                                         "requests.", "werkzeug.",  "jinja2.",  "django.",
                                         "sqlite3.",  "psycopg2.",  "psycopg.", "pymysql.",
                                         "redis.",    "botocore.",  "socket.",  "pydantic.",
                                         NULL };
    size_t points = 0;
    for (const char *c = from; c < class; c++)
        points += *c == '.';
    for (size_t i = 0; points < 2 && roots[i]; i++)
        if (leak_is(place, from, roots[i]))
            points = 2;
    if (points < 2 || (leak_upper(*from) && !leak_is(place, from, "System.") &&
                       !leak_is(place, from, "Microsoft.")))
        return false;
    place->from = from;
    return true;
}
