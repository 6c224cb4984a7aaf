/*
 * Inside of the leak detector: a rule, the place where one of its literals stands, and how a check
 * looks around there. Every function that looks is bounded, and counts the bytes it has read.
 */
#ifndef MISHAP_GUARD_RULES_H
#define MISHAP_GUARD_RULES_H

#include <endian.h>
#include <string.h>

#include "guard/leak.h"

typedef struct mishap_leak_rule mishap_leak_rule;

/* A piece of text that was read before: all of it is of one kind, or all of it is on one line. */
typedef struct mishap_leak_run {
    bool (*kind)(char);
    const char *from, *to;
} mishap_leak_run;

/* A line that was read before, without the blanks around it. */
typedef struct mishap_leak_line {
    const char *from, *to;
    const char *start; /* with the blanks */
    const char *asked; /* the byte whose line it is */
    size_t steps;      /* that it takes to read it */
    size_t above;      /* where the line above is remembered; MISHAP_LEAK_LINES: nowhere */
    bool begins;       /* a block that the word `end` closes */
} mishap_leak_line;

/* A text that begins nowhere in a piece that was searched before. */
typedef struct mishap_leak_absence {
    const char *text, *from, *to;
} mishap_leak_absence;

/* Rules that are not applied any more: a bit for each. */
enum { MISHAP_LEAK_MOST_RULES = 256 };

typedef struct mishap_leak_rules_off {
    uint64_t bits[MISHAP_LEAK_MOST_RULES / 64];
} mishap_leak_rules_off;

static inline void leak_switch_off(mishap_leak_rules_off *off, size_t rule)
{
    off->bits[rule / 64] |= UINT64_C(1) << (rule % 64);
}

static inline bool leak_is_off(const mishap_leak_rules_off *off, size_t rule)
{
    return off && off->bits[rule / 64] >> (rule % 64) & 1;
}

enum { MISHAP_LEAK_RUNS = 8, MISHAP_LEAK_LINES = 32, MISHAP_LEAK_ABSENCES = 16 };

/* Where a literal of a rule stands, and what the check says about it. */
typedef struct mishap_leak_place {
    const char *start, *end; /* the text that a check may read */
    const char *at, *behind; /* the literal */
    const mishap_leak_rule *rule;
    const mishap_leak_rules_off *off;  /* rules whose literals are passed over; NULL: none */
    size_t steps;                      /* bytes that checks have read */
    size_t visits;                     /* literals that the filter has compared */
    const char *from, *to;             /* what is reported; the literal if the check does not say */
    const char *secret, *secret_end;   /* the part of it that is never shown; NULL: none */
    mishap_leak_confidence confidence; /* the rule's if the check does not say */
    bool limit;                        /* the check gave up: a finding of its own */
    mishap_leak_run line; /* what was read of the text before, for other literals: … */
    mishap_leak_run runs[MISHAP_LEAK_RUNS]; /* … so a byte is not read again for each of them */
    mishap_leak_absence absences[MISHAP_LEAK_ABSENCES];
    size_t lowest, line_count; /* the line above the last `end`, and how many were read */
    mishap_leak_line lines[MISHAP_LEAK_LINES];
} mishap_leak_place;

/* Begin with a text. What a place remembers of it is not set: it is written before it is read. */
static inline void mishap_leak_begin(mishap_leak_place *place, const char *start, const char *end)
{
    place->start = start;
    place->end = end;
    place->off = NULL;
    place->steps = place->visits = 0;
    place->line = (mishap_leak_run){ 0 };
    for (size_t i = 0; i < MISHAP_LEAK_RUNS; i++)
        place->runs[i].kind = NULL;
    for (size_t i = 0; i < MISHAP_LEAK_ABSENCES; i++)
        place->absences[i].text = NULL;
    place->lowest = place->line_count = 0;
}

/* True if this is a leak. */
typedef bool mishap_leak_check(mishap_leak_place *place);

enum { MISHAP_LEAK_LITERALS = 40 };

/*
 * In a literal, \1 stands for a digit, \2 for a character that ends a word (also the start of the
 * text), \3 for a capital letter or a digit, \4 for a small letter, a digit, - or _, \5 for a
 * hexadecimal digit, \6 for what a name begins with, \7 for
 * one of fsndFSND. A literal has five characters or more; with
 * four, it is found only where a character that ends a word stands behind it. The first four
 * characters, and the second to the fifth, must stand for few texts: each becomes an entry of the
 * filter.
 */
struct mishap_leak_rule {
    const char *name;
    mishap_leak_kind kind;
    mishap_leak_confidence confidence;
    mishap_leak_check *check;
    const char *about;    /* what it finds, for people */
    const char *language; /* of a trace */
    const char *literals[MISHAP_LEAK_LITERALS];
    unsigned least; /* of a token: so many characters of it follow the literal */
    bool raises;    /* the check may find what is surer than the rule's confidence */
};

/* The one table of rules. */
extern const mishap_leak_rule mishap_leak_rules[];
extern const size_t mishap_leak_rule_count;

/* May it find what is replaced at a boundary? */
static inline bool leak_may_be_sure(const mishap_leak_rule *rule)
{
    return rule->confidence == MISHAP_LEAK_HIGH || rule->raises;
}

/* -- characters -------------------------------------------------------------------------------- */

/* What a byte may be part of. */
enum {
    LEAK_DIGIT = 1 << 0,
    LEAK_UPPER = 1 << 1,
    LEAK_LOWER = 1 << 2,
    LEAK_WORD = 1 << 3, /* a letter, a digit or _ */
    LEAK_SPACE = 1 << 4,
    LEAK_QUOTE = 1 << 5,
    LEAK_TOKEN = 1 << 6,     /* a word, or - */
    LEAK_HOST = 1 << 7,      /* a token, or a point */
    LEAK_ADDRESS = 1 << 8,   /* an address up to its end */
    LEAK_AUTHORITY = 1 << 9, /* user, password, host and port of an address */
    LEAK_VALUE = 1 << 10,    /* a value of a header or a cookie */
    LEAK_BARE = 1 << 11,     /* a value behind a name, without quotation marks */
    LEAK_BASE64 = 1 << 12,
    LEAK_PATH = 1 << 13,
    LEAK_PAIRS = 1 << 14, /* pairs with semicolons */
};

extern const uint16_t mishap_leak_characters[256];

/* Which of the characters that may stand for several in a literal, \1 to \7, may be this byte: a
 * bit for each. */
extern const uint8_t mishap_leak_classes[256];

static inline unsigned leak_kinds(char c)
{
    return mishap_leak_characters[(unsigned char)c];
}

static inline bool leak_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool leak_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool leak_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool leak_letter(char c)
{
    return leak_lower((char)(c | 32));
}

static inline bool leak_hex(char c)
{
    return leak_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

static inline bool leak_word(char c)
{
    return leak_kinds(c) & LEAK_WORD;
}

static inline bool leak_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline bool leak_space(char c)
{
    return leak_kinds(c) & LEAK_SPACE;
}

static inline bool leak_quote(char c)
{
    return leak_kinds(c) & LEAK_QUOTE;
}

static inline bool leak_host(char c)
{
    return leak_kinds(c) & LEAK_HOST;
}

/* -- looking around ---------------------------------------------------------------------------- */

enum {
    LEAK_FAR = 512 /* no check looks further in one direction */
};

/* The character here, '\n' outside of the text. */
static inline char leak_char(const mishap_leak_place *place, const char *at)
{
    return at >= place->start && at < place->end ? *at : '\n';
}

/* Does this text stand here? */
static inline bool leak_is(const mishap_leak_place *place, const char *at, const char *text)
{
    if (at < place->start || at >= place->end || *at != *text)
        return false;
    size_t length = strlen(text);
    return (size_t)(place->end - at) >= length && memcmp(at, text, length) == 0;
}

/* Does this text stand before? */
static inline bool leak_ends(const mishap_leak_place *place, const char *behind, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(behind - place->start) >= length && memcmp(behind - length, text, length) == 0;
}

/* A shorter piece is read again, which costs less than to remember it. */
enum { LEAK_SHORT = 32 };

/* Where the piece of this kind is remembered that was read last. */
static inline mishap_leak_run *leak_run_of(mishap_leak_place *place, bool (*kind)(char))
{
    mishap_leak_run *run = &place->runs[((uintptr_t)kind >> 4) % MISHAP_LEAK_RUNS];
    if (run->kind != kind)
        *run = (mishap_leak_run){ kind, NULL, NULL };
    return run;
}

/* Behind the characters of a kind, not further than `far`, at most `most` of them; and the same
 * backwards. Many literals on
 * one long piece of such characters read it once; the steps are those of reading it each time, so
 * that a limit does not depend on what was read before. */
static inline const char *leak_run_end(mishap_leak_place *place, const char *at, bool (*kind)(char),
                                       const char *far)
{
    const char *begin = at;
    mishap_leak_run *run = far - at > LEAK_SHORT ? leak_run_of(place, kind) : NULL;
    bool inside = run && at >= run->from && at < run->to;
    if (inside)
        at = run->to < far ? run->to : far;
    while (at < far && kind(*at))
        at++;
    if (inside)
        run->to = at > run->to ? at : run->to;
    else if (run)
        *run = (mishap_leak_run){ kind, begin, at };
    return at;
}

static inline const char *leak_skip(mishap_leak_place *place, const char *at, bool (*kind)(char),
                                    size_t most)
{
    if (at >= place->end)
        return at;
    const char *end = leak_run_end(place, at, kind,
                                   (size_t)(place->end - at) > most ? at + most : place->end);
    place->steps += (size_t)(end - at);
    return end;
}

static inline const char *leak_skip_back(mishap_leak_place *place, const char *at,
                                         bool (*kind)(char), size_t most)
{
    if (at <= place->start)
        return at;
    const char *begin = at, *far = (size_t)(at - place->start) > most ? at - most : place->start;
    mishap_leak_run *run = most > LEAK_SHORT ? leak_run_of(place, kind) : NULL;
    const char *known = run && run->to > far && run->from < at ? run->to : far;
    while (at > known && kind(at[-1]))
        at--;
    bool joined = known > far && at <= known; /* all up to what is known is of this kind */
    if (joined) {
        at = run->from > far ? run->from : far;
        while (at > far && kind(at[-1]))
            at--;
        run->from = at < run->from ? at : run->from;
        run->to = begin > run->to ? begin : run->to;
    } else if (run) {
        *run = (mishap_leak_run){ kind, at, begin };
    }
    place->steps += (size_t)(begin - at);
    return at;
}

/* The first character of this line, or the one LEAK_FAR before. */
static inline const char *leak_line_start(mishap_leak_place *place, const char *at)
{
    const char *first = (size_t)(at - place->start) > LEAK_FAR ? at - LEAK_FAR : place->start;
    mishap_leak_run *line = &place->line;
    bool known = line->to > first && line->from < at;
    const char *low = !known ? first : line->to < at ? line->to : at;
    const char *feed = at > low ? memrchr(low, '\n', (size_t)(at - low)) : NULL;
    if (!feed && known) {
        low = line->from > first ? line->from : first;
        feed = low > first ? memrchr(first, '\n', (size_t)(low - first)) : NULL;
    }
    const char *start = feed ? feed + 1 : first;
    if (known && start <= line->to) {
        line->from = start < line->from ? start : line->from;
        line->to = at > line->to ? at : line->to;
    } else {
        line->from = start;
        line->to = at;
    }
    place->steps += 3 + (size_t)(at - (feed ? feed : first)) / 64;
    return start;
}

/* The end of this line, or LEAK_FAR behind. */
static inline const char *leak_line_end(mishap_leak_place *place, const char *at)
{
    const char *last = (size_t)(place->end - at) > LEAK_FAR ? at + LEAK_FAR : place->end;
    mishap_leak_run *line = &place->line;
    bool known = at >= line->from && at < line->to;
    const char *low = !known ? at : line->to < last ? line->to : last;
    const char *feed = low < last ? memchr(low, '\n', (size_t)(last - low)) : NULL;
    const char *end = feed ? feed : last;
    if (known)
        line->to = end > line->to ? end : line->to;
    else
        *line = (mishap_leak_run){ NULL, at, end };
    place->steps += 3 + (size_t)(end - at) / 64;
    return end;
}

/* A check gives up, since a name or a value goes on for longer than it reads: nothing says that it
 * is a leak, and nothing that it is none. This is a finding of its own, of medium confidence. */
static inline bool leak_gave_up(mishap_leak_place *place)
{
    place->limit = true;
    place->from = place->at;
    place->to = place->behind;
    place->secret = place->secret_end = NULL;
    place->confidence = MISHAP_LEAK_MEDIUM;
    return true;
}

/* Did such a piece reach the limit? */
static inline bool leak_is_far(const char *from, const char *to)
{
    return to - from >= LEAK_FAR;
}

/* A bit of each byte of eight. */
#define LEAK_LANES UINT64_C(0x0101010101010101)

/* Where a text of two bytes or more first stands. Sixteen places at a time are compared with three
 * bytes of it: memmem() takes ten times as long for such short texts. */
static inline const char *leak_search(const char *from, const char *to, const char *text,
                                      size_t length)
{
    typedef unsigned char lanes __attribute__((vector_size(16)));
    const size_t half = length / 2, last = length - 1;
    const char *at = from;
    while ((size_t)(to - at) >= length + 15) {
        lanes begin, middle, end;
        uint64_t halves[2];
        memcpy(&begin, at, sizeof begin);
        memcpy(&middle, at + half, sizeof middle);
        memcpy(&end, at + last, sizeof end);
        lanes same = (lanes)(begin == (unsigned char)text[0]) &
                     (lanes)(middle == (unsigned char)text[half]) &
                     (lanes)(end == (unsigned char)text[last]);
        memcpy(halves, &same, sizeof halves);
        for (size_t i = 0; i < 2; i++)
            for (uint64_t set = le64toh(halves[i]) & LEAK_LANES; set; set &= set - 1) {
                const char *found = at + 8 * i + (size_t)__builtin_ctzll(set) / 8;
                if (memcmp(found, text, length) == 0)
                    return found;
            }
        at += sizeof same;
    }
    for (; (size_t)(to - at) >= length; at++)
        if (*at == *text && memcmp(at, text, length) == 0)
            return at;
    return NULL;
}

/* The same, if the same text is looked for again and again: what was searched before is left out.
 */
static inline const char *leak_search_on(mishap_leak_place *place, const char *from, const char *to,
                                         const char *text, size_t length)
{
    uint32_t number = (uint32_t)(uintptr_t)text * 0x9E3779B1u >> 28;
    mishap_leak_absence *absence = &place->absences[number % MISHAP_LEAK_ABSENCES];
    bool known = absence->text == text && from >= absence->from && from <= absence->to;
    if (known && to - absence->to < (ptrdiff_t)length)
        return NULL;
    const char *found = leak_search(known ? absence->to : from, to, text, length);
    const char *end = found ? found : to - from >= (ptrdiff_t)length ? to - length + 1 : from;
    if (known)
        absence->to = end > absence->to ? end : absence->to;
    else
        *absence = (mishap_leak_absence){ text, from, end };
    return found;
}

/* Where the text first stands between two places; NULL if it does not. */
static inline const char *leak_find(mishap_leak_place *place, const char *from, const char *to,
                                    const char *text)
{
    if (from >= to)
        return NULL;
    size_t length = strlen(text);
    const char *found = length == 1              ? memchr(from, *text, (size_t)(to - from))
                        : to - from > LEAK_SHORT ? leak_search_on(place, from, to, text, length)
                                                 : leak_search(from, to, text, length);
    place->steps += 3 + (size_t)((found ? found : to) - from) / 16;
    return found;
}

/* -- checks ------------------------------------------------------------------------------------ */

/* Is this no password, but what stands in its place: ***, [redacted], <password>? */
bool mishap_leak_placeholder(const char *from, const char *to);

/* Is this the name of a file with data, which is no place of a program: orders.csv? */
bool mishap_leak_data_file(const char *from, const char *to);

/* The literal is enough; it has to be a word of its own; it goes on with a name in quotation
 * marks. */
mishap_leak_check mishap_leak_always, mishap_leak_word_alone, mishap_leak_quoted_name;

/* traces_script.c */
mishap_leak_check mishap_leak_r_error, mishap_leak_python_frame, mishap_leak_ocaml_frame,
    mishap_leak_v8_frame, mishap_leak_at_sign_frame, mishap_leak_ruby_frame, mishap_leak_php_frame,
    mishap_leak_php_main, mishap_leak_php_error, mishap_leak_perl_frame, mishap_leak_lua_frame;

/* traces_machine.c */
mishap_leak_check mishap_leak_java_frame, mishap_leak_java_cause, mishap_leak_java_thread,
    mishap_leak_sharp_frame, mishap_leak_elixir_frame, mishap_leak_elixir_exception,
    mishap_leak_erlang_frame, mishap_leak_dart_frame, mishap_leak_class_name,
    mishap_leak_json_frame;

/* traces_native.c */
mishap_leak_check mishap_leak_gdb_address, mishap_leak_gdb_frame, mishap_leak_glibc_frame,
    mishap_leak_valgrind_frame, mishap_leak_assertion, mishap_leak_go_frame, mishap_leak_goroutine,
    mishap_leak_rust_panic, mishap_leak_native_place, mishap_leak_haskell_frame, mishap_leak_sbcl,
    mishap_leak_lisp_frame, mishap_leak_assertion_failed;

/* sql.c */
mishap_leak_check mishap_leak_sql_statement, mishap_leak_sql_code, mishap_leak_sql_missing,
    mishap_leak_sql_column, mishap_leak_sql_syntax, mishap_leak_sql_call, mishap_leak_sql_key,
    mishap_leak_column_null;

/* addresses.c */
mishap_leak_check mishap_leak_password_in_address, mishap_leak_database_address,
    mishap_leak_connection_pairs, mishap_leak_private_address, mishap_leak_internal_host,
    mishap_leak_unreached_host, mishap_leak_local_port, mishap_leak_connection_password,
    mishap_leak_private_address_6, mishap_leak_short_host, mishap_leak_go_dsn, mishap_leak_pgpass,
    mishap_leak_option_password, mishap_leak_oracle_login, mishap_leak_service_port,
    mishap_leak_host_by_address;

/* places.c */
mishap_leak_check mishap_leak_unix_path, mishap_leak_library_path, mishap_leak_windows_path,
    mishap_leak_file_place, mishap_leak_share_path;

/* credentials.c */
mishap_leak_check mishap_leak_private_key, mishap_leak_bearer, mishap_leak_basic,
    mishap_leak_password_hash, mishap_leak_named_password, mishap_leak_named_key,
    mishap_leak_docker_auth, mishap_leak_cookie, mishap_leak_signature, mishap_leak_netrc,
    mishap_leak_told_token, mishap_leak_any_password;

/* told.c */
mishap_leak_check mishap_leak_told_password, mishap_leak_authorization, mishap_leak_set_password,
    mishap_leak_mail_login;

/* tokens.c */
mishap_leak_check mishap_leak_private_jwk, mishap_leak_token, mishap_leak_aws_key, mishap_leak_jwt,
    mishap_leak_telegram, mishap_leak_mailchimp, mishap_leak_long_token, mishap_leak_upper_key,
    mishap_leak_key_before, mishap_leak_azure_secret, mishap_leak_uuid_key, mishap_leak_dsn_key,
    mishap_leak_md5_password, mishap_leak_seed_phrase, mishap_leak_bot_token;

/* environment.c */
mishap_leak_check mishap_leak_search_path, mishap_leak_variables;

/* services.c */
mishap_leak_check mishap_leak_unreached_service, mishap_leak_unresolved_host,
    mishap_leak_windows_host, mishap_leak_pod_name, mishap_leak_server_at;

/* source.c */
mishap_leak_check mishap_leak_source_line, mishap_leak_source_call, mishap_leak_source_keyword,
    mishap_leak_ruby_method, mishap_leak_source_import, mishap_leak_source_end,
    mishap_leak_source_caret, mishap_leak_source_statements, mishap_leak_source_loop,
    mishap_leak_source_statement;

#endif
