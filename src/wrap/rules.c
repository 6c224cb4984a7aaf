/* Reads rules. The texts of a rule lie in the text that was read. */
#include "wrap/rules.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/trim.h"
#include "mishap/bind.h"

enum { MOST_MISTAKES = 100 };

struct mishap_wrap_rules {
    mishap_arena arena;
    const mishap_wrap_rule *first;
};

struct reading {
    mishap_wrap_rules *rules;
    const char *name;
    unsigned line;
    mishap_text programs;           /* of the section; no data: there was none yet */
    mishap_wrap_rule *last, *first; /* of this file */
    mishap *mistakes;
    size_t mistake_count;
};

__attribute__((format(printf, 3, 4))) static void add_mistake(struct reading *r, const char *error,
                                                              const char *format, ...)
{
    char place[300], words[300];
    va_list values;
    if (++r->mistake_count > MOST_MISTAKES)
        return;
    va_start(values, format);
    vsnprintf(words, sizeof words, format, values);
    va_end(values);
    snprintf(place, sizeof place, "%s:%u", r->name, r->line);
    if (!r->mistakes)
        r->mistakes = mishap_suggest(
            mishap_raise(VALIDATION_ERROR, "The rules in %s have mistakes.", r->name),
            "Correct the lines that are named. `mishap wrap --help` has an "
            "example of a rule.");
    r->mistakes = mishap_field_put(r->mistakes, mishap_text_of(place), mishap_text_of(error),
                                   mishap_text_of(words));
}

/* -- words of a line --------------------------------------------------------------------------- */

static mishap_text take_word(mishap_text *line)
{
    mishap_text word = { line->data, 0 };
    while (word.length < line->length && !mishap_wrap_is_space(line->data[word.length]))
        word.length++;
    *line = mishap_trim((mishap_text){ line->data + word.length, line->length - word.length },
                        MISHAP_WRAP_BLANKS);
    return word;
}

static bool is_word(mishap_text word, const char *known)
{
    return mishap_text_equal(word, mishap_text_of(known));
}

/* "1", "1,2", "*" */
static bool is_exits(mishap_text word)
{
    size_t digits = 0;
    unsigned number = 0;
    if (is_word(word, "*") || is_word(word, "else"))
        return true;
    for (size_t i = 0; i <= word.length; i++) {
        bool end = i == word.length || word.data[i] == ',';
        if (end && (!digits || number > 255))
            return false;
        if (!end && (!isdigit((unsigned char)word.data[i]) || ++digits > 3))
            return false;
        number = end ? 0 : number * 10 + (unsigned)(word.data[i] - '0');
        digits = end ? 0 : digits;
    }
    return true;
}

/* -- lines ------------------------------------------------------------------------------------- */

static void read_section(struct reading *r, mishap_text line)
{
    if (line.data[line.length - 1] != ']') {
        add_mistake(r, "malformed", "The line begins a section, but it does not end with ].");
        return;
    }
    mishap_text names = mishap_trim((mishap_text){ line.data + 1, line.length - 2 },
                                    MISHAP_WRAP_BLANKS);
    if (names.length)
        r->programs = names;
    else
        add_mistake(r, "missing_argument", "The section names no program. Write [NAME], or [*].");
}

static void read_code(struct reading *r, mishap_wrap_rule *rule, mishap_text name)
{
    rule->code = mishap_code_find(name);
    if (rule->code || is_word(name, "ANSWER"))
        return;
    mishap_text near = mishap_code_nearest(name);
    if (near.data)
        add_mistake(r, "unknown_code", "There is no code %.*s. Did you mean %.*s?",
                    (int)name.length, name.data, (int)near.length, near.data);
    else
        add_mistake(r, "unknown_code",
                    "There is no code %.*s. `mishap catalog` lists all of them; ANSWER is for an "
                    "exit code that is no failure.",
                    (int)name.length, name.data);
}

static void read_rule(struct reading *r, mishap_text line)
{
    mishap_wrap_rule *rule = mishap_arena_take(&r->rules->arena, sizeof *rule);
    if (!rule) {
        mishap_free(r->mistakes);
        r->mistakes = mishap_out_of_memory();
        return;
    }
    *rule = (mishap_wrap_rule){ .programs = r->programs, .file = r->name, .line = r->line };
    rule->exits = take_word(&line);
    if (!is_exits(rule->exits)) {
        add_mistake(r, "invalid_type",
                    "%.*s is no exit code: 0 to 255, several with commas, *, or else.",
                    (int)rule->exits.length, rule->exits.data);
        rule->exits = (mishap_text){ "", 0 }; /* it decides nothing */
    }
    mishap_text code = take_word(&line);
    if (code.length)
        read_code(r, rule, code);
    else
        add_mistake(r, "missing_argument", "The rule has no code. Write EXIT CODE PATTERN.");
    rule->pattern = line;
    if (!r->programs.data)
        add_mistake(r, "missing_argument",
                    "The rule stands before the first section. Write a line "
                    "with the name of the program, such as [git].");
    if (!line.length && is_word(rule->exits, "*"))
        add_mistake(r, "missing_argument", "A rule for every exit code needs a pattern.");
    if (r->last)
        r->last->next = rule;
    else
        r->first = rule;
    r->last = rule;
}

/* The lines below a rule, which are indented. */
static void read_more(struct reading *r, mishap_text line)
{
    mishap_text word = take_word(&line);
    if (!r->last)
        add_mistake(r, "malformed", "The line is indented, but stands below no rule.");
    else if (is_word(word, "suggest") && line.length)
        r->last->suggestion = line;
    else if (is_word(word, "retry") && is_word(line, "yes"))
        r->last->retry = MISHAP_WRAP_RETRY_YES;
    else if (is_word(word, "retry") && is_word(line, "no"))
        r->last->retry = MISHAP_WRAP_RETRY_NO;
    else
        add_mistake(r, "malformed",
                    "The line is indented, but is neither `suggest WORDS` nor `retry yes` nor "
                    "`retry no`.");
}

static void read_line(struct reading *r, mishap_text line)
{
    bool indented = line.length && mishap_wrap_is_space(line.data[0]);
    line = mishap_trim(line, MISHAP_WRAP_BLANKS);
    if (!line.length || line.data[0] == '#')
        return;
    if (memchr(line.data, '\0', line.length))
        add_mistake(r, "malformed", "The line has a NUL character.");
    else if (indented)
        read_more(r, line);
    else if (line.data[0] == '[')
        read_section(r, line);
    else
        read_rule(r, line);
}

mishap *mishap_wrap_rules_read(mishap_wrap_rules **rules, const char *name, mishap_text text)
{
    if (!*rules) {
        *rules = mishap_allocate(sizeof **rules);
        if (!*rules)
            return mishap_out_of_memory();
        (*rules)->first = NULL;
        mishap_arena_init(&(*rules)->arena, NULL, 0);
    }
    struct reading r = { .rules = *rules, .name = name };
    while (text.length) {
        const char *end = memchr(text.data, '\n', text.length);
        size_t length = end ? (size_t)(end - text.data) : text.length;
        r.line++;
        read_line(&r, (mishap_text){ text.data, length });
        text.data += length + (end != NULL);
        text.length -= length + (end != NULL);
    }
    if (r.last) {
        r.last->next = (*rules)->first;
        (*rules)->first = r.first;
    }
    if (r.mistake_count > MOST_MISTAKES)
        r.mistakes = mishap_tell(r.mistakes, "mistakes", r.mistake_count);
    return r.mistakes;
}

/* Each file comes in front of those that were read before it. */
mishap *mishap_wrap_rules_read_builtin(mishap_wrap_rules **rules)
{
    mishap *failure = NULL;
    size_t count = 0;
    while (mishap_wrap_builtins[count].name)
        count++;
    while (count && !failure) {
        const mishap_wrap_builtin *file = &mishap_wrap_builtins[--count];
        failure = mishap_wrap_rules_read(rules, file->name, file->text);
    }
    return failure;
}

const mishap_wrap_rule *mishap_wrap_rules_first(const mishap_wrap_rules *rules)
{
    return rules ? rules->first : NULL;
}

void mishap_wrap_rules_free(mishap_wrap_rules *rules)
{
    if (rules)
        mishap_arena_release(&rules->arena);
    mishap_release(rules);
}
