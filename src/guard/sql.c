/*
 * Checks for SQL: statements, and messages of database drivers. Words of SQL in capital letters, or
 * names in quotation marks, tell a statement from a sentence such as "select a plan from the list".
 */
#include "guard/rules.h"

static bool equal_letters(const char *at, const char *small, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((at[i] | 32) != (small[i] | 32))
            return false;
    return true;
}

/* Does this word stand here, in any letters, as a word of its own? */
static bool word_at(const mishap_leak_place *place, const char *at, const char *word)
{
    if (at < place->start || at >= place->end || (*at | 32) != (*word | 32))
        return false;
    size_t length = strlen(word);
    return (size_t)(place->end - at) >= length && equal_letters(at, word, length) &&
           !leak_word(leak_char(place, at + length)) && !leak_word(leak_char(place, at - 1));
}

/* The word between two places, in any letters; NULL if it is not there. */
static const char *find_word(mishap_leak_place *place, const char *from, const char *to,
                             const char *word)
{
    for (const char *at = from; at < to; at++)
        if ((*at | 32) == *word && word_at(place, at, word)) {
            place->steps += (size_t)(at - from);
            return at;
        }
    place->steps += (size_t)(to > from ? to - from : 0);
    return NULL;
}

/* Something that sentences do not have: a name in quotation marks, a star, a parameter, a
 * comparison. */
static bool has_sign_of_sql(const char *from, const char *to)
{
    for (const char *at = from; at < to; at++) {
        char next = at + 1 < to ? at[1] : ' ';
        if (*at == '*' || *at == '=' || *at == '`' || (*at == '$' && leak_digit(next)) ||
            (*at == '?' && at > from && at[-1] == ' ') || (*at == '(' && leak_word(next)) ||
            (*at == '.' && leak_lower(next) && at > from && leak_word(at[-1])))
            return true;
    }
    return false;
}

static bool in_statement(char c)
{
    return c != ';';
}

/* The end of a statement: a semicolon, a blank line, a quotation mark that closes, or far away. */
static const char *statement_end(mishap_leak_place *place, const char *at)
{
    const char *most = place->end - at > 300 ? at + 300 : place->end;
    const char *begin = at;
    mishap_leak_run *run = leak_run_of(place, in_statement);
    bool inside = at >= run->from && at < run->to;
    if (inside)
        at = run->to < most ? run->to : most;
    for (; at < most && in_statement(*at); at++)
        if (*at == '\n' && at + 1 < most && (at[1] == '\n' || at[1] == '\r'))
            break;
    /* The last character may be a line feed whose next is too far away now. */
    const char *known = at == most && at > begin ? at - 1 : at;
    if (!inside)
        *run = (mishap_leak_run){ in_statement, begin, known };
    else if (known > run->to)
        run->to = known;
    place->steps += (size_t)(at - begin);
    return at;
}

static bool all_upper(const char *from, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (leak_lower(from[i]))
            return false;
    return true;
}

/* A name of a table or a column, or a list of them, begins here. */
static bool begins_name(const mishap_leak_place *place, const char *at)
{
    for (int i = 0; i < 40 && at < place->end && leak_space(*at); i++)
        at++;
    char c = leak_char(place, at);
    return leak_letter(c) || leak_quote(c) || c == '*' || c == '[' || c == '_' || c == '(' ||
           c == '$' || leak_digit(c);
}

static bool in_name(char c)
{
    return leak_word(c) || c == '.' || c == '"' || c == '`' || c == '[' || c == ']';
}

static bool is_space(char c)
{
    return leak_space(c);
}

/* May this word stand beside another one in a list of columns? */
static bool joins_words(const mishap_leak_place *place, const char *at)
{
    static const char *const words[] = { "as",  "distinct", "all",  "top",  "and",
                                         "or",  "case",     "when", "then", "else",
                                         "end", "is",       "null", "not",  NULL };
    for (size_t i = 0; words[i]; i++)
        if ((*at | 32) == *words[i] && word_at(place, at, words[i]))
            return true;
    return false;
}

/* The word `from` behind a list of columns: names with commas between. A sentence has two words
 * beside each other, which ends it soon. NULL: it is none. */
static const char *from_behind_columns(mishap_leak_place *place, const char *at)
{
    const char *most = place->end - at > 200 ? at + 200 : place->end;
    bool after_name = false;
    while (at < most) {
        place->steps++;
        if (leak_space(*at)) {
            at++;
        } else if (leak_word(*at) || *at == '"' || *at == '`' || *at == '[') {
            bool joins = joins_words(place, at);
            place->steps += 16; /* for the words it is compared with */
            if ((*at | 32) == 'f' && word_at(place, at, "from"))
                return at;
            if (after_name && !joins)
                return NULL;
            after_name = !joins;
            at = leak_skip(place, at, in_name, 80);
        } else if (strchr("*,().:=+-/?$<>|'%", *at)) {
            after_name = false;
            at++;
        } else {
            return NULL;
        }
    }
    return NULL;
}

/* The word behind one name: `update NAME set`. */
static const char *word_behind_name(mishap_leak_place *place, const char *at, const char *word)
{
    at = leak_skip(place, at, is_space, 8);
    at = leak_skip(place, at, in_name, 120);
    at = leak_skip(place, at, is_space, 8);
    if (!leak_letter(*word))
        return leak_char(place, at) == *word ? at : NULL;
    return word_at(place, at, word) ? at : NULL;
}

/* What must follow the first word of a statement. */
static const struct statement {
    const char *first, *then;
} statements[] = {
    { "select", "from" },        { "insert into", "values" }, { "insert into", "select" },
    { "insert into", "(" },      { "update", "set" },         { "delete from", "where" },
    { "create table", "(" },     { "alter table", "add" },    { "alter table", "drop" },
    { "alter table", "alter" },  { "drop table", "" },        { "create table if", "(" },
    { "delete from", "" },       { "alter table", "rename" }, { "alter table", "modify" },
    { "alter table", "change" },
};

/* `DELETE FROM was refused`: no table has such a name. */
static bool says_a_sentence(const mishap_leak_place *place)
{
    static const char *const words[] = { "is",  "was",  "are", "were",      "and",        "or",
                                         "not", "with", "can", "statement", "statements", NULL };
    for (size_t i = 0; words[i]; i++)
        if (word_at(place, place->behind, words[i]))
            return true;
    return false;
}

/* `insert into a(b, c) values(…)`: the word behind the list of columns. */
static bool goes_on_with_values(mishap_leak_place *place, const char *open)
{
    const char *most = place->end - open > 160 ? open + 160 : place->end;
    const char *close = memchr(open, ')', (size_t)(most - open));
    if (!close)
        return false;
    const char *word = leak_skip(place, close + 1, is_space, 8);
    return word_at(place, word, "values") || word_at(place, word, "select");
}

/* Where the statement goes on as it must; NULL if it does not. In small letters it has to look like
 * SQL in every part. */
static const char *statement_goes_on(mishap_leak_place *place, const struct statement *s,
                                     bool upper, const char *end)
{
    if (!*s->then)
        return upper && !says_a_sentence(place) ? place->behind : NULL;
    const char *then;
    if (upper)
        then = leak_letter(*s->then) ? find_word(place, place->behind, end, s->then)
                                     : leak_find(place, place->behind, end, s->then);
    else if (strcmp(s->first, "select") == 0)
        then = from_behind_columns(place, place->behind);
    else
        then = word_behind_name(place, place->behind, s->then);
    if (then && !upper && *s->then == '(' && *s->first == 'i')
        return goes_on_with_values(place, then) ? then : NULL;
    if (!then || (leak_letter(*s->then) && !begins_name(place, then + strlen(s->then))) ||
        (*s->first == 's' && leak_ends(place, then, "DELETE ")))
        return NULL;
    if (upper || has_sign_of_sql(place->behind, then) ||
        memchr(place->behind, ',', (size_t)(then - place->behind)) ||
        memchr(place->behind, '"', (size_t)(then - place->behind)))
        return then;
    /* Otherwise what follows the next word tells: `from "users"`, `from users where a = 1`. */
    const char *name = leak_skip(place, then + strlen(s->then), is_space, 8);
    const char *after = leak_skip(place, leak_skip(place, name, in_name, 80), is_space, 8);
    const char *most = leak_line_end(place, after);
    const char *alias = leak_skip(place, leak_skip(place, after, leak_word, 20), is_space, 8);
    if (alias - after < 4 && word_at(place, alias, "where"))
        after = alias; /* from Order o where */
    return (leak_char(place, name) == '"' && leak_word(leak_char(place, name + 1)) &&
            after - name > 2 && after[-1] != '"') ||
                   leak_char(place, after) == '=' || leak_char(place, after) == ';' ||
                   ((word_at(place, after, "where") || word_at(place, after, "limit") ||
                     word_at(place, after, "order") || word_at(place, after, "join") ||
                     word_at(place, after, "as")) &&
                    has_sign_of_sql(after, most - after > 80 ? after + 80 : most))
               ? then
               : NULL;
}

bool mishap_leak_sql_statement(mishap_leak_place *place)
{
    const char *from = place->at;
    if (leak_word(leak_char(place, from - 1)) || !begins_name(place, place->behind))
        return false;
    bool upper = all_upper(from, (size_t)(place->behind - from));
    const char *end = upper ? statement_end(place, place->behind) : place->behind;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        if (!word_at(place, from, statements[i].first))
            continue;
        const char *then = statement_goes_on(place, &statements[i], upper, end);
        if (!then)
            continue;
        const char *line = leak_line_end(place, then);
        place->from = from;
        place->to = line - from > 300 ? from + 300 : line;
        return true;
    }
    return false;
}

/* `ORA-00942`, `SQLSTATE[42S02]`, `ERROR 1064 (42000)`: the literal is all but the end. */
bool mishap_leak_sql_code(mishap_leak_place *place)
{
    if (leak_word(leak_char(place, place->at - 1)) && leak_word(*place->at))
        return false;
    place->to = leak_skip(place, place->behind, leak_word, 12);
    return true;
}

bool mishap_leak_always(mishap_leak_place *place)
{
    (void)place;
    return true;
}

/* A word of its own: no part of a longer name. */
bool mishap_leak_word_alone(mishap_leak_place *place)
{
    return !leak_word(leak_char(place, place->at - 1)) &&
           !leak_word(leak_char(place, place->behind));
}

static bool not_quote(char c)
{
    return !leak_quote(c);
}

/* A message that goes on with a name in quotation marks. */
bool mishap_leak_quoted_name(mishap_leak_place *place)
{
    const char *end = leak_line_end(place, place->behind);
    const char *quote = leak_skip(place, place->behind, not_quote, (size_t)(end - place->behind));
    if (quote == end || quote - place->behind > 60)
        return false;
    return true;
}

/* A sentence about something else goes on: `does not exist in this restaurant`. A name with a point
 * in it is one of a database. */
static bool is_told_of_another_thing(mishap_leak_place *place, const char *thing)
{
    return leak_char(place, place->behind) == ' ' &&
           leak_lower(leak_char(place, place->behind + 1)) &&
           !leak_is(place, place->behind, " at character") &&
           !memchr(thing, '.', (size_t)(place->at - thing));
}

/* `o.total`, `shop.settle`: names with a point and nothing else. */
static bool is_dotted(const char *from, const char *to)
{
    bool point = false;
    for (; from < to; from++) {
        if (!leak_word(*from) && *from != '.')
            return false;
        point = point || *from == '.';
    }
    return point;
}

/* `relation "orders" already exists`, and `table orders already exists` as all of a line. */
static bool exists_already(mishap_leak_place *place, const char *line)
{
    static const char *const things[] = { "relation \"", "schema \"", "database \"", "type \"",
                                          NULL };
    const char *near = place->at - line > 90 ? place->at - 90 : line;
    for (size_t i = 0; things[i]; i++) {
        place->from = leak_find(place, near, place->at, things[i]);
        if (place->from && leak_quote(place->at[-1]))
            return true;
    }
    const char *name = leak_skip_back(place, place->at, leak_word, 80);
    place->from = name - 6;
    return leak_ends(place, name, "table ") && name < place->at &&
           (place->from == place->start || strchr("\n\": ", place->from[-1])) &&
           !leak_blank(leak_char(place, place->behind));
}

/* `relation "users" does not exist`, `table 'a.b' doesn't exist`; the literal is the end of it. */
bool mishap_leak_sql_missing(mishap_leak_place *place)
{
    const char *from = leak_line_start(place, place->at);
    static const char *const things[] = {
        "relation \"", "column \"", "table '",   "Table '",     "function ",    "column ",
        "type \"",     "schema \"", "role \"",   "database \"", "Relation \"",  "portal \"",
        "Object '",    "/View '",   "FUNCTION ", "PROCEDURE ",  "savepoint \"", NULL
    };
    if (leak_is(place, place->at, " already"))
        return exists_already(place, from);
    for (size_t i = 0; things[i]; i++) {
        const char *near = place->at - from > 90 ? place->at - 90 : from;
        const char *thing = leak_find(place, near, place->at, things[i]);
        if (thing &&
            (leak_quote(place->at[-1]) || leak_ends(place, place->at, ")") ||
             is_dotted(thing + strlen(things[i]), place->at)) &&
            !is_told_of_another_thing(place, thing)) {
            place->from = thing;
            return true;
        }
    }
    return false;
}

static bool in_arguments(char c)
{
    return c != ')' && c != '\n';
}

/* `CALL refresh_totals(12)`: a name and its arguments; the literal ends with the name's first
 * letter. `CALL premium(European)` is none: the name has a sign of a program in it, or the
 * arguments have. */
bool mishap_leak_sql_call(mishap_leak_place *place)
{
    const char *name = place->behind - 1, *end = leak_skip(place, name, in_name, 80);
    if (leak_char(place, end) != '(' || end - name < 3)
        return false;
    const char *close = leak_skip(place, end + 1, in_arguments, 120);
    bool program = *place->at == '{' || close == end + 1 || leak_char(place, close + 1) == ';';
    for (const char *c = name; c < end; c++)
        program = program || *c == '_' || *c == '.' || *c == '`' || *c == '"';
    for (const char *c = end + 1; c < close; c++)
        program = program || strchr("?:@,'\"", *c ? *c : ' ');
    if (!program || leak_char(place, close) != ')')
        return false;
    place->to = close + 1;
    return true;
}

/* `Column 'name' cannot be null`; fields of a form say the same. */
bool mishap_leak_column_null(mishap_leak_place *place)
{
    const char *line = leak_line_start(place, place->at);
    const char *from = place->at - line > 80 ? place->at - 80 : line;
    const char *column = leak_find(place, from, place->at, "Column '");
    if (!column)
        return false;
    place->from = column;
    return true;
}

/* `Key (email)=(a@b.c) already exists.`; the literal is `Key (e`. */
bool mishap_leak_sql_key(mishap_leak_place *place)
{
    const char *line = leak_line_end(place, place->behind);
    const char *most = line - place->behind > 80 ? place->behind + 80 : line;
    const char *equal = leak_find(place, place->behind, most, ")=(");
    if (!equal)
        return false;
    place->to = line - place->at > 160 ? place->at + 160 : line;
    return true;
}

static bool in_quotes(char c)
{
    return !leak_quote(c) && c != '\n';
}

/* `Unknown column 'a.b' in 'field list'`; the literal ends before the name. */
bool mishap_leak_sql_column(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, in_quotes, 120);
    return leak_quote(leak_char(place, end)) &&
           (memchr(place->behind, '.', (size_t)(end - place->behind)) ||
            !leak_is(place, end + 1, " in ") || leak_quote(leak_char(place, end + 5)));
}

/* `ERROR: syntax error at or near "from"`: other parsers say the same. Words of a database stand
 * near, or what is quoted is a word of SQL, a sign or a value. */
bool mishap_leak_sql_syntax(mishap_leak_place *place)
{
    static const char *const words[] = {
        "ERROR",        "rror:",    "LINE ",   "SQL",      "sql",     "uery",
        "pq:",          "PG::",     "atabase", "ostgres",  "osition", "psycop",
        "at character", "tatement", "42601",   "rrorCode", "QL ",     NULL
    };
    const char *near = place->at - place->start > 100 ? place->at - 100 : place->start;
    const char *far = place->end - place->behind > 160 ? place->behind + 160 : place->end;
    const char *quoted = place->behind + leak_quote(leak_char(place, place->behind));
    if (!leak_lower(leak_char(place, quoted)))
        return true;
    for (size_t i = 0; words[i]; i++)
        if (leak_find(place, near, place->at, words[i]) ||
            leak_find(place, place->behind, far, words[i]))
            return true;
    static const char *const keywords[] = { "from",  "where", "select", "group", "order", "and",
                                            "limit", "set",   "values", "join",  "or",    NULL };
    for (size_t i = 0; keywords[i]; i++)
        if (word_at(place, quoted, keywords[i]))
            return true;
    return false;
}
