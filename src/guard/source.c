/* Checks for source code: lines that hardly any sentence looks like. */
#include "guard/rules.h"

/* Signs of programs. */
static bool is_sign(char c)
{
    static const bool signs[256] = {
        ['('] = true, [')'] = true, ['{'] = true, ['}'] = true,  [';'] = true, ['='] = true,
        ['<'] = true, ['>'] = true, ['"'] = true, ['\''] = true, [':'] = true
    };
    return signs[(unsigned char)c];
}

static bool no_sign(char c)
{
    return !is_sign(c);
}

/* Only white space stands before it on its line, and it goes on. */
bool mishap_leak_source_line(mishap_leak_place *place)
{
    const char *at = place->at;
    if (*at == '\n')
        at++;
    const char *before = leak_skip_back(place, at, leak_blank, 80);
    char c = leak_char(place, before - 1);
    if (c != '\n' && !leak_digit(c) && c != '|' && c != '>' && c != ';' && c != '{')
        return false;
    const char *end = leak_line_end(place, place->behind);
    if (end - place->behind < 2)
        return false;
    const char *sign = leak_skip(place, place->behind, no_sign, (size_t)(end - place->behind));
    if (sign == end)
        return false;
    place->from = at;
    place->to = end - at > 160 ? at + 160 : end;
    return true;
}

/* A call, or the beginning of one: it goes on with something. */
bool mishap_leak_source_call(mishap_leak_place *place)
{
    if (leak_word(leak_char(place, place->at - 1)) && leak_word(*place->at))
        return false;
    const char *end = leak_line_end(place, place->behind);
    if (!leak_find(place, place->behind - 1, end, "(") &&
        !leak_find(place, place->behind - 1, end, "{"))
        return false;
    place->to = end - place->at > 160 ? place->at + 160 : end;
    return true;
}

/* A keyword at the start of a line that ends as lines of programs do. */
bool mishap_leak_source_keyword(mishap_leak_place *place)
{
    const char *at = leak_word(*place->at) || *place->at == '@' ? place->at : place->at + 1;
    const char *before = leak_skip_back(place, at, leak_blank, 80);
    char c = leak_char(place, before - 1);
    if (c != '\n' && c != '|' && c != '>')
        return false;
    const char *end = leak_line_end(place, place->behind), *last = end;
    while (last > place->behind && leak_space(last[-1]))
        last--;
    if ((last - place->behind < 2 && last[-1] != '{') || last - place->behind > 200)
        return false;
    bool call = leak_find(place, place->behind, last, "(") != NULL;
    bool handler = leak_is(place, at, "except ") || leak_is(place, at, "elif ");
    if (last[-1] != '{' && last[-1] != ';' && !(last[-1] == ':' && (call || handler)) &&
        !(last[-1] == ',' && call) && !leak_ends(place, last, " do") &&
        !leak_ends(place, last, " where") && !(last[-1] == '}' && call))
        return false;
    place->from = at;
    place->to = last;
    return true;
}

/* The same for words that sentences begin with as well: the line ends with {, or is a call. */
bool mishap_leak_source_statement(mishap_leak_place *place)
{
    if (!mishap_leak_source_keyword(place))
        return false;
    const char *open = memchr(place->from, '(', (size_t)(place->to - place->from));
    return place->to[-1] == '{' || (place->to[-1] == ';' && open && leak_word(open[-1])) ||
           (place->to[-1] == ';' && memchr(place->from, '=', (size_t)(place->to - place->from)));
}

static bool in_method(char c)
{
    return leak_word(c) || c == '.' || c == '?' || c == '!';
}

/* `def total` of Ruby, with an `end` below it. */
bool mishap_leak_ruby_method(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, in_method, 60);
    if (end == place->behind || (leak_char(place, end) != '\n' && leak_char(place, end) != '('))
        return false;
    const char *most = place->end - end > 300 ? end + 300 : place->end;
    const char *close = leak_find(place, end, most, "\n");
    while (close) { /* a line of its own */
        const char *word = leak_skip(place, close + 1, leak_blank, 40);
        if (leak_is(place, word, "end") && !leak_word(leak_char(place, word + 3)))
            break;
        close = leak_find(place, close + 1, most, "\n");
    }
    place->to = end;
    return close != NULL;
}

/* The line that a place is on, without the blanks around it. */
static mishap_leak_line line_of(mishap_leak_place *place, const char *at)
{
    const char *start = leak_line_start(place, at);
    mishap_leak_line line = { .from = start, .to = leak_line_end(place, at), .start = start };
    place->steps += 16; /* also for a short line */
    while (line.from < line.to && leak_space(*line.from))
        line.from++;
    while (line.to > line.from && leak_space(line.to[-1]))
        line.to--;
    return line;
}

/* The line before the one that begins here; empty if there is none. */
static mishap_leak_line line_before(mishap_leak_place *place, const char *at)
{
    const char *start = leak_line_start(place, at);
    return start > place->start ? line_of(place, start - 1)
                                : (mishap_leak_line){ .from = start, .to = start, .start = start };
}

/* Does it have a sign that sentences do not have? */
static bool has_sign_of_code(mishap_leak_line line)
{
    static const bool signs[256] = {
        ['('] = true, ['='] = true, [';'] = true, ['['] = true, ['{'] = true
    };
    for (const char *c = line.from; c < line.to; c++)
        if (signs[(unsigned char)*c])
            return true;
    return false;
}

/* `from shop.models import Order`, `import { db } from './db.js'`, `import org.a.B;`. */
bool mishap_leak_source_import(mishap_leak_place *place)
{
    const char *at = place->at + !leak_word(*place->at);
    mishap_leak_line line = line_of(place, at);
    if (line.from != at)
        return false;
    const char *module = leak_skip(place, place->behind - 1, in_method, 80);
    if (leak_is(place, at, "from ")) {
        if (!leak_is(place, module, " import ") || line.to < module + 8 ||
            memchr(module + 8, '.', (size_t)(line.to - module - 8)))
            return false;
    } else if (!(line.to[-1] == ';' && module == line.to - 1 &&
                 memchr(line.from, '.', (size_t)(module - line.from)))) {
        return false;
    }
    place->from = line.from;
    place->to = line.to;
    return true;
}

/* Does a line begin a block that the word end closes: `def x`, `if x`, `x do`, `x do |y|`? */
static bool begins_block(mishap_leak_line line)
{
    static const char *const words[] = {
        "def ",      "class ",   "module ",         "if ",   "unless ", "while ",
        "for ",      "function", "local function ", "begin", "case ",   "do ",
        "describe ", "program ", "procedure ",      NULL
    };
    size_t length = (size_t)(line.to - line.from);
    for (size_t i = 0; words[i]; i++) {
        if (*words[i] != *line.from)
            continue;
        size_t word = strlen(words[i]);
        if (length >= word && memcmp(line.from, words[i], word) == 0)
            return true;
    }
    return (length > 3 && memcmp(line.to - 3, " do", 3) == 0) ||
           (length > 6 && line.to[-1] == '|' && memmem(line.from, length, " do |", 5)) ||
           (length > 5 && memcmp(line.to - 5, " then", 5) == 0);
}

/* Where the line of a byte is remembered. `below` is the line below it, NULL at first. The lines
 * above one `end` are those above the next: each is read once. */
static size_t remember_line(mishap_leak_place *place, const char *at, mishap_leak_line *below)
{
    if (below && below->above < MISHAP_LEAK_LINES && place->lines[below->above].asked == at)
        return below->above;
    size_t number = place->lowest;
    if (!place->line_count || place->lines[number].asked != at) {
        number = place->line_count++ % MISHAP_LEAK_LINES;
        size_t before = place->steps;
        mishap_leak_line *line = &place->lines[number];
        *line = line_of(place, at);
        line->asked = at;
        line->above = MISHAP_LEAK_LINES;
        line->begins = line->to > line->from && begins_block(*line);
        line->steps = place->steps - before;
        place->steps = before; /* they are counted when it is asked for */
    }
    if (below)
        below->above = number;
    return number;
}

/* The line that begins the block, above a line that begins here and whose first word stands `depth`
 * further to the right; NULL if there is none, or no line between that is further to the right. */
static const char *block_above(mishap_leak_place *place, const char *at, size_t depth)
{
    enum { MOST_LINES = 12 };
    const char *found = NULL;
    mishap_leak_line *line = NULL;
    bool inside = false;
    size_t lowest = place->lowest;
    for (int i = 0; i < MOST_LINES && at > place->start; i++) {
        size_t number = remember_line(place, at - 1, line);
        lowest = line ? lowest : number;
        line = &place->lines[number];
        place->steps += line->steps;
        at = line->start;
        if (line->to == line->from)
            continue;
        size_t blanks = (size_t)(line->from - line->start);
        if (blanks == depth && line->begins)
            found = inside ? line->from : NULL;
        if (blanks < depth || (blanks == depth && line->begins))
            break;
        inside = inside || blanks > depth;
    }
    place->lowest = lowest;
    return found;
}

/* `end` on a line of its own, and a line before it that begins the block, with one between that is
 * further to the right. */
bool mishap_leak_source_end(mishap_leak_place *place)
{
    const char *word = place->at + (*place->at == '\n');
    while (word < place->behind && leak_blank(*word))
        word++;
    mishap_leak_line end = line_of(place, word);
    if (end.from != word || end.to - end.from > 5)
        return false;
    const char *at = leak_line_start(place, word);
    const char *from = block_above(place, at, (size_t)(word - at));
    if (!from)
        return false;
    place->from = from;
    place->to = end.to;
    return true;
}

static bool in_mark(char c)
{
    return leak_blank(c) || c == '^' || c == '~' || c == '|' || c == '-';
}

/* A line of nothing but ^ and ~, and a line of a program before it. */
bool mishap_leak_source_caret(mishap_leak_place *place)
{
    const char *start = leak_line_start(place, place->at);
    const char *end = leak_skip(place, start, in_mark, 200);
    char next = leak_char(place, end);
    bool marked = memchr(start, '|', (size_t)(end - start)) || leak_space(next) ||
                  end == place->end;
    mishap_leak_line code = line_before(place, place->at);
    const char *code_start = leak_line_start(place, code.from);
    if (!marked || code.from - code_start < 2 || end < place->behind - 1 ||
        code.to - code.from < 4 || !has_sign_of_code(code) || leak_quote(*code.from) ||
        *code.from == '{' || *code.from == '[')
        return false;
    place->from = code.from;
    place->to = end;
    return true;
}

/* A name and ( beside it. */
static bool has_call(mishap_leak_line line)
{
    for (const char *c = line.from + 1; c < line.to; c++)
        if (*c == '(' && leak_word(c[-1]))
            return true;
    return false;
}

/* It ends as lines of programs do, and is more than words. */
static bool is_statement(mishap_leak_line line)
{
    return line.to - line.from > 1 && strchr(";{}", line.to[-1]) &&
           (has_call(line) || memchr(line.from, '=', (size_t)(line.to - line.from)) ||
            line.to[-1] == '{');
}

/* A line that ends with `);`, beside another one that ends as lines of programs do. */
bool mishap_leak_source_statements(mishap_leak_place *place)
{
    mishap_leak_line line = line_of(place, place->at), before = line_before(place, place->at);
    mishap_leak_line after = line_of(place, place->behind);
    if (!has_call(line))
        return false;
    const char *open = memchr(line.from, '(', (size_t)(line.to - line.from));
    if (!is_statement(before) &&
        !(after.from > line.to && (is_statement(after) || leak_char(place, after.from) == '}')) &&
        !memchr(line.from, '=', (size_t)(open - line.from)))
        return false;
    place->from = line.from;
    place->to = line.to;
    return true;
}

/* `[o.total for o in orders]`: a bracket before it on the same line. */
bool mishap_leak_source_loop(mishap_leak_place *place)
{
    const char *start = leak_line_start(place, place->at);
    const char *open = start < place->at ? memrchr(start, '[', (size_t)(place->at - start)) : NULL;
    if (!open)
        open = start < place->at ? memrchr(start, '(', (size_t)(place->at - start)) : NULL;
    if (!open || memchr(open, ' ', (size_t)(place->at - open)) || open + 1 == place->at)
        return false;
    place->from = open;
    return true;
}
