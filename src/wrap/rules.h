/*
 * The rules as they are kept in memory.
 *
 *     # a comment
 *     [git]                                programs: names, in which a * stands for any characters
 *     128  NOT_FOUND   not a git repository
 *          suggest     Run it inside of a repository, or create one with `git init`.
 *     1    ANSWER      diff * --exit-code | diff * --quiet
 *     [*]                                  texts of any program, and exit codes that many share
 *     *    CONNECTION_REFUSED   connection refused
 *          retry       yes
 *
 * A rule is an exit code (or several, with commas; * is any but 0), a code of the catalog and a
 * pattern, which may be absent. A pattern is a part of one line of the output that begins at the
 * beginning of a word; capitals do not matter, a * stands for any characters, ^ for the beginning
 * of the line, and " | " separates alternatives. `else` in place of an exit code: with a pattern,
 * the rule is tried after all other texts of the program, for lines that sum up what an earlier one
 * says; without a pattern, it decides if no other rule does. For ANSWER, which says that the exit
 * code is no failure, the pattern is words of the arguments, in which capitals matter. `-e+nr` is
 * the flag -e, alone or in one word with some of the flags -n and -r, as in `-re`.
 */
#ifndef MISHAP_WRAP_RULES_H
#define MISHAP_WRAP_RULES_H

#include "wrap/wrap.h"

typedef enum mishap_wrap_retry {
    MISHAP_WRAP_RETRY_AS_CODE,
    MISHAP_WRAP_RETRY_YES,
    MISHAP_WRAP_RETRY_NO,
} mishap_wrap_retry;

typedef struct mishap_wrap_rule {
    const struct mishap_wrap_rule *next;
    mishap_text programs;    /* of its section, as they are written */
    mishap_text exits;       /* as they are written */
    const mishap_code *code; /* NULL: ANSWER */
    mishap_text pattern;     /* may be empty */
    mishap_text suggestion;  /* may be empty */
    mishap_wrap_retry retry;
    const char *file; /* the name of the rules */
    unsigned line;
} mishap_wrap_rule;

/* The first rule; of several files that which was read last comes first. */
const mishap_wrap_rule *mishap_wrap_rules_first(const mishap_wrap_rules *rules);

/* True if the exit code is one of those. */
bool mishap_wrap_rule_has_exit(const mishap_wrap_rule *rule, int exit_code);

/* True if the section is for this program, which may also be two words: "python3 -m pip". */
bool mishap_wrap_rule_is_for(const mishap_wrap_rule *rule, const char *const *argv);
bool mishap_wrap_rule_is_general(const mishap_wrap_rule *rule);

bool mishap_wrap_rule_is_last(const mishap_wrap_rule *rule); /* `else` */

/* A blank, a tab or a carriage return. */
#define MISHAP_WRAP_BLANKS " \t\r"
bool mishap_wrap_is_space(char c);

/* True if the pattern is a part of this line that begins a word. */
bool mishap_wrap_matches(mishap_text pattern, mishap_text line);

/* True if the pattern is whole words of these arguments, which have a space before and behind
 * each. An empty pattern always is. */
bool mishap_wrap_matches_words(mishap_text pattern, mishap_text words);

#endif
