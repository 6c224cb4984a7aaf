/* Patterns of rules: parts of lines, exit codes and names of programs. Each takes time that is
 * linear in the text for each alternative. */
#include <ctype.h>
#include <stdio.h>

#include "base/trim.h"
#include "wrap/rules.h"

static char lower(char c)
{
    return (char)tolower((unsigned char)c);
}

static bool begins_with(mishap_text text, mishap_text start)
{
    if (text.length < start.length)
        return false;
    for (size_t i = 0; i < start.length; i++)
        if (lower(text.data[i]) != lower(start.data[i]))
            return false;
    return true;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Where a part begins in the text; text.length if it does not have it. */
static size_t find_part(mishap_text text, mishap_text part)
{
    for (size_t at = 0; at + part.length <= text.length; at++)
        if (begins_with((mishap_text){ text.data + at, text.length - at }, part))
            return at;
    return text.length;
}

/* The same at the beginning of a word, if the part begins with one: "lock" is not in "block". */
static size_t find_word(mishap_text text, mishap_text part)
{
    bool word = part.length && is_word(part.data[0]);
    for (size_t at = 0; at + part.length <= text.length; at++)
        if (begins_with((mishap_text){ text.data + at, text.length - at }, part) &&
            !(word && at && is_word(text.data[at - 1])))
            return at;
    return text.length;
}

bool mishap_wrap_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The text up to a separator, which is taken from the rest together with it. */
static mishap_text take_until(mishap_text *rest, mishap_text separator)
{
    size_t at = find_part(*rest, separator);
    mishap_text taken = { rest->data, at };
    size_t used = at < rest->length ? at + separator.length : at;
    rest->data += used;
    rest->length -= used;
    return taken;
}

/* The parts between stars follow each other in the text. It begins with the first part if
 * `from_start`, and ends with the last if `to_end`. */
static bool has_parts(mishap_text pattern, mishap_text text, bool from_start, bool to_end)
{
    for (bool first = true; pattern.length || first; first = false) {
        bool last = find_part(pattern, (mishap_text)MISHAP_TEXT("*")) == pattern.length;
        mishap_text part = take_until(&pattern, (mishap_text)MISHAP_TEXT("*"));
        if (last && to_end) {
            size_t spare = text.length - (part.length < text.length ? part.length : text.length);
            if (part.length > text.length || (first && from_start && spare))
                return false;
            return begins_with((mishap_text){ text.data + spare, part.length }, part);
        }
        size_t at = !first ? find_part(text, part) : from_start ? 0 : find_word(text, part);
        if (at + part.length > text.length ||
            !begins_with((mishap_text){ text.data + at, text.length - at }, part))
            return false;
        text.data += at + part.length;
        text.length -= at + part.length;
    }
    return true;
}

/* The same with capitals that matter. */
static bool has_words(mishap_text pattern, mishap_text words, bool from_start)
{
    for (bool first = true; pattern.length; first = false) {
        mishap_text part = take_until(&pattern, (mishap_text)MISHAP_TEXT("*"));
        const char *at = part.length ? memmem(words.data, words.length, part.data, part.length)
                                     : words.data;
        if (!at || (first && from_start && at != words.data))
            return false;
        words.length -= (size_t)(at - words.data) + part.length;
        words.data = at + part.length;
    }
    return true;
}

bool mishap_wrap_matches(mishap_text pattern, mishap_text line)
{
    do {
        mishap_text one = mishap_trim(take_until(&pattern, (mishap_text)MISHAP_TEXT(" | ")),
                                      MISHAP_WRAP_BLANKS);
        bool start = one.length && one.data[0] == '^';
        if (has_parts((mishap_text){ one.data + start, one.length - start }, line, start, false))
            return true;
    } while (pattern.length);
    return false;
}

/* `-e+nr`: the flag -e, alone or in one word with some of the flags -n and -r. */
static bool is_flag(mishap_text one)
{
    return one.length > 3 && one.data[0] == '-' && is_word(one.data[1]) && one.data[2] == '+' &&
           !memchr(one.data, ' ', one.length);
}

static bool has_flag(mishap_text one, mishap_text words)
{
    while (words.length) {
        mishap_text word = take_until(&words, (mishap_text)MISHAP_TEXT(" "));
        bool same = word.length > 1 && word.data[0] == '-' &&
                    memchr(word.data + 1, one.data[1], word.length - 1);
        for (size_t i = 1; same && i < word.length; i++)
            same = word.data[i] == one.data[1] ||
                   memchr(one.data + 3, word.data[i], one.length - 3);
        if (same)
            return true;
    }
    return false;
}

bool mishap_wrap_matches_words(mishap_text pattern, mishap_text words)
{
    char padded[200];
    do {
        mishap_text one = mishap_trim(take_until(&pattern, (mishap_text)MISHAP_TEXT(" | ")),
                                      MISHAP_WRAP_BLANKS);
        bool start = one.length && one.data[0] == '^';
        int length = snprintf(padded, sizeof padded, " %.*s ", (int)one.length - start,
                              one.data + start);
        mishap_text part = { padded, (size_t)length };
        if (!one.length)
            return true;
        if (is_flag(one) ? has_flag(one, words)
                         : part.length < sizeof padded && has_words(part, words, start))
            return true;
    } while (pattern.length);
    return false;
}

/* The next word; a word in quotes may have spaces. */
static mishap_text next_word(mishap_text *rest)
{
    *rest = mishap_trim(*rest, MISHAP_WRAP_BLANKS);
    bool quoted = rest->length && rest->data[0] == '"';
    rest->data += quoted;
    rest->length -= quoted;
    return take_until(rest,
                      quoted ? (mishap_text)MISHAP_TEXT("\"") : (mishap_text)MISHAP_TEXT(" "));
}

bool mishap_wrap_rule_is_last(const mishap_wrap_rule *rule)
{
    return mishap_text_equal(rule->exits, (mishap_text)MISHAP_TEXT("else"));
}

bool mishap_wrap_rule_has_exit(const mishap_wrap_rule *rule, int exit_code)
{
    if (mishap_wrap_rule_is_last(rule))
        return false;
    mishap_text rest = rule->exits;
    while (rest.length) {
        mishap_text one = take_until(&rest, (mishap_text)MISHAP_TEXT(","));
        int number = 0;
        if (one.length == 1 && one.data[0] == '*')
            return exit_code != 0;
        for (size_t i = 0; i < one.length; i++)
            number = number * 10 + (one.data[i] - '0');
        if (number == exit_code)
            return true;
    }
    return false;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

bool mishap_wrap_rule_is_for(const mishap_wrap_rule *rule, const char *const *argv)
{
    mishap_text rest = rule->programs;
    while ((rest = mishap_trim(rest, MISHAP_WRAP_BLANKS)).length) {
        mishap_text name = next_word(&rest);
        bool same = true;
        for (size_t i = 0; same && name.length; i++) {
            mishap_text word = take_until(&name, (mishap_text)MISHAP_TEXT(" "));
            same = argv[i] &&
                   has_parts(word, mishap_text_of(i ? argv[i] : base_of(argv[0])), true, true);
        }
        if (same && !mishap_wrap_rule_is_general(rule))
            return true;
    }
    return false;
}

bool mishap_wrap_rule_is_general(const mishap_wrap_rule *rule)
{
    return rule->programs.length == 1 && rule->programs.data[0] == '*';
}
