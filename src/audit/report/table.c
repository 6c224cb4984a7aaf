/*
 * The results for a person at a terminal: the verdict, what failed, advice, what could not be
 * decided and why, and what passed. Texts of the target are printable and short; the other forms
 * have them whole.
 */
#include "audit/report/report.h"
#include "base/utf8.h"

/* How words are emphasized; all are "" in a table without styles. */
struct styles {
    const char *bold, *dim, *red, *green, *yellow, *end;
};
static const struct styles plain = { "", "", "", "", "", "" };
static const struct styles colours = { "\033[1m",    "\033[2m",    "\033[1;31m",
                                       "\033[1;32m", "\033[1;33m", "\033[0m" };

enum {
    MOST_LINES = 6, /* of what was sent or came */
    MOST_BYTES = 160,
    MOST_PLACES = 8, /* of a check; the others are counted */
    USUAL = 100,     /* columns of lists where no terminal has a width */
    LEAST = 20,      /* columns of text, however narrow the terminal is */
};

/* What a table is written for. */
struct look {
    struct styles s;
    size_t columns;  /* 0: lines are not broken */
    const char *run; /* "sent", of a command "run" */
};

/* A printable text, broken between words; a word that is longer than a line is broken inside. The
 * first line begins at the column `at`, all others at `indent`. */
static void put_wrapped(mishap_buffer *b, const struct look *look, size_t at, size_t indent,
                        mishap_text text)
{
    while (look->columns) {
        size_t room = look->columns > at + LEAST ? look->columns - at : LEAST;
        size_t end = mishap_utf8_bytes(text, room), space = end;
        if (end == text.length)
            break;
        while (space && text.data[space] != ' ')
            space--;
        end = space ? space : end;
        mishap_buffer_put(b, text.data, end);
        mishap_audit_print(b, "\n%*s", (int)indent, "");
        while (end < text.length && text.data[end] == ' ')
            end++;
        text.data += end;
        text.length -= end;
        at = indent;
    }
    mishap_buffer_put_text(b, text);
    MISHAP_PUT(b, "\n");
}

/* A text of the target as one line, made printable and cut, and words of ours behind it. */
static void put_cut_line(mishap_buffer *b, const struct look *look, size_t indent, mishap_text line,
                         const char *behind)
{
    mishap_buffer shown = { 0 };
    bool cut = line.length > MOST_BYTES;
    if (cut)
        line.length = mishap_utf8_cut(line, MOST_BYTES);
    mishap_put_printable_line(&shown, line);
    mishap_audit_print(&shown, "%s%s", cut ? "\xe2\x80\xa6" : "", behind);
    put_wrapped(b, look, indent, indent, mishap_buffer_text(&shown));
    b->failed = b->failed || shown.failed;
    mishap_buffer_release(&shown);
}

/* Up to some lines, each behind the same indent; the first one has a label. */
static void put_quoted(mishap_buffer *b, const struct look *look, const char *label,
                       mishap_text text)
{
    const struct styles *s = &look->s;
    size_t lines = 0;
    while (text.length &&
           (text.data[text.length - 1] == '\n' || text.data[text.length - 1] == '\r'))
        text.length--;
    while (text.length && lines < MOST_LINES) {
        const char *feed = memchr(text.data, '\n', text.length);
        size_t length = feed ? (size_t)(feed - text.data) : text.length;
        size_t shown = length && text.data[length - 1] == '\r' ? length - 1 : length;
        mishap_audit_print(b, "             %s%-5s%s ", s->dim, lines++ ? "" : label, s->end);
        put_cut_line(b, look, 19, (mishap_text){ text.data, shown }, "");
        length += feed != NULL;
        text.data += length;
        text.length -= length;
    }
    if (text.length)
        mishap_audit_print(b, "                   \xe2\x80\xa6\n");
}

/* The findings are in the order of their places. */
static bool has_same_place(const mishap_audit_result *result, size_t i)
{
    const mishap_audit_finding *f = &result->findings[i];
    return (i && mishap_text_equal(f[-1].place, f->place)) ||
           (i + 1 < result->count && mishap_text_equal(f[1].place, f->place));
}

/* The first place of a check is shown with what was sent and what came; of the others the sentence
 * is enough. The key tells findings at one place apart. */
static void put_finding(mishap_buffer *b, const struct look *look,
                        const mishap_audit_result *result, size_t i, bool whole)
{
    const mishap_audit_finding *finding = &result->findings[i];
    mishap_buffer key = { 0 };
    if (finding->key.length && has_same_place(result, i)) {
        MISHAP_PUT(&key, " (");
        mishap_put_printable_line(&key, finding->key);
        MISHAP_PUT(&key, ")");
    }
    mishap_buffer_put_char(&key, '\0');
    mishap_audit_print(b, "       %sat%s    ", look->s.dim, look->s.end);
    put_cut_line(b, look, 13, finding->place, key.failed ? "" : key.data);
    b->failed = b->failed || key.failed;
    mishap_buffer_release(&key);
    if (finding->known)
        MISHAP_PUT(b, "             known: the baseline has it\n");
    if (finding->detail.length) {
        MISHAP_PUT(b, "             ");
        put_cut_line(b, look, 13, finding->detail, "");
    }
    if (whole) {
        put_quoted(b, look, look->run, finding->sent);
        put_quoted(b, look, "got", finding->got);
    }
}

static void put_text_of_check(mishap_buffer *b, const struct look *look, const char *label,
                              const char *text)
{
    mishap_audit_print(b, "       %s%-3s%s   ", look->s.dim, label, look->s.end);
    put_wrapped(b, look, 13, 13, mishap_text_of(text));
}

static void put_check(mishap_buffer *b, const struct look *look, const mishap_audit_result *result)
{
    size_t shown = 0, others = 0;
    const struct styles *s = &look->s;
    bool known = mishap_audit_is_known(result), failed = result->outcome == MISHAP_AUDIT_FAILED;
    mishap_audit_print(b, "\n%s%s%s  %s%s%s\n       ", failed && !known ? s->red : s->yellow,
                       known    ? "KNOWN"
                       : failed ? "FAILED"
                                : "advice",
                       s->end, s->bold, result->check->id, s->end);
    put_wrapped(b, look, 7, 7, mishap_text_of(result->check->sentence));
    put_text_of_check(b, look, "why", result->check->evidence);
    put_text_of_check(b, look, "fix", result->check->fix);
    for (size_t i = 0; i < result->count; i++) {
        if (result->findings[i].outcome != result->outcome)
            continue;
        if (shown++ < MOST_PLACES)
            put_finding(b, look, result, i, shown == 1);
        else
            others++;
    }
    if (others)
        mishap_audit_print(b, "       …     and at %zu further %s (--format json lists all)\n",
                           others, others == 1 ? "place" : "places");
}

static void put_heading(mishap_buffer *b, const struct look *look, mishap_audit_outcome outcome)
{
    mishap_audit_print(b, "\n%s%s%s\n",
                       outcome == MISHAP_AUDIT_PASSED ? look->s.green : look->s.bold,
                       mishap_audit_outcome_names[outcome], look->s.end);
}

/* The names of checks that passed, several on a line. */
static void put_passed(mishap_buffer *b, const struct look *look,
                       const mishap_audit_results *results)
{
    size_t column = 0, most = look->columns ? look->columns : USUAL;
    if (results->outcomes[MISHAP_AUDIT_PASSED])
        put_heading(b, look, MISHAP_AUDIT_PASSED);
    for (size_t i = 0; i < results->check_count; i++) {
        const mishap_audit_result *result = &results->checks[i];
        size_t length = strlen(result->check->id);
        if (result->outcome != MISHAP_AUDIT_PASSED)
            continue;
        if (column && column + length + 2 > most) {
            MISHAP_PUT(b, "\n");
            column = 0;
        }
        mishap_audit_print(b, "%s%s", column ? "  " : "       ", result->check->id);
        column += length + (column ? 2 : 7);
    }
    if (column)
        MISHAP_PUT(b, "\n");
}

/* Each undecided check with its reason: that of the area, else that of its table. */
static void put_undecided(mishap_buffer *b, const struct look *look,
                          const mishap_audit_results *results)
{
    if (results->outcomes[MISHAP_AUDIT_UNDECIDED])
        put_heading(b, look, MISHAP_AUDIT_UNDECIDED);
    for (size_t i = 0; i < results->check_count; i++) {
        const mishap_audit_result *result = &results->checks[i];
        mishap_buffer line = { 0 };
        if (result->outcome != MISHAP_AUDIT_UNDECIDED)
            continue;
        mishap_audit_print(&line, "%s: ", result->check->id);
        mishap_put_printable_line(&line, mishap_audit_reason(result));
        MISHAP_PUT(b, "       ");
        put_wrapped(b, look, 7, 11, mishap_buffer_text(&line));
        b->failed = b->failed || line.failed;
        mishap_buffer_release(&line);
    }
}

static void put_remark(mishap_buffer *b, mishap_text remark)
{
    MISHAP_PUT(b, "note   ");
    mishap_put_printable_line(b, remark);
    MISHAP_PUT(b, "\n");
}

static void put_planned(mishap_buffer *b, const mishap_audit_results *results)
{
    for (size_t i = 0; i < results->planned_count; i++) {
        mishap_audit_print(b, "\n# %zu: ", i + 1);
        mishap_put_printable_line(b, results->planned[i].place);
        MISHAP_PUT(b, "\n");
        mishap_text text = results->planned[i].text;
        for (size_t at = 0; at < text.length; at++) /* CR LF is a line end, too */
            if (text.data[at] == '\r' && at + 1 < text.length && text.data[at + 1] == '\n') {
                mishap_put_printable(b, (mishap_text){ text.data, at });
                text.data += at + 1;
                text.length -= at + 1;
                at = (size_t)-1;
            }
        mishap_put_printable(b, text);
        MISHAP_PUT(b, "\n");
    }
}

/* The notes, each broken to the width. */
static void wrap_notes(mishap_buffer *b, const struct look *look,
                       const mishap_audit_results *results)
{
    mishap_buffer notes = { 0 };
    mishap_audit_each_remark(results, put_remark, &notes);
    mishap_text rest = mishap_buffer_text(&notes);
    while (rest.length) {
        const char *feed = memchr(rest.data, '\n', rest.length);
        size_t length = feed ? (size_t)(feed - rest.data) : rest.length;
        put_wrapped(b, look, 0, 7, (mishap_text){ rest.data, length });
        length += feed != NULL;
        rest.data += length;
        rest.length -= length;
    }
    b->failed = b->failed || notes.failed;
    mishap_buffer_release(&notes);
}

static void put_head(mishap_buffer *b, const struct look *look, const mishap_audit_results *results)
{
    const struct styles *s = &look->s;
    mishap_buffer verdict = { 0 };
    bool known = results->compared && !results->new_findings && results->findings;
    mishap_audit_print(b, "mishap audit %s ", mishap_audit_area_names[results->settings->area]);
    mishap_put_printable_line(b, mishap_text_of(results->settings->target));
    mishap_audit_print(b, "\n%s",
                       results->score == 100 ? s->green
                       : results->score < 0  ? s->bold
                       : known               ? s->yellow
                                             : s->red);
    mishap_audit_put_verdict(&verdict, results);
    put_wrapped(b, look, 0, 0, mishap_buffer_text(&verdict));
    mishap_buffer_put_text(b, mishap_text_of(s->end));
    b->failed = b->failed || verdict.failed;
    mishap_buffer_release(&verdict);
    wrap_notes(b, look, results);
}

void mishap_audit_put_table_for(mishap_buffer *b, const mishap_audit_results *results, bool styled,
                                size_t columns)
{
    static const mishap_audit_outcome told[] = { MISHAP_AUDIT_FAILED, MISHAP_AUDIT_ADVICE };
    bool command = results->settings->area == MISHAP_AUDIT_CLI;
    const struct look look = { styled ? colours : plain, columns, command ? "run" : "sent" };
    put_head(b, &look, results);
    if (results->settings->dry_run) {
        put_planned(b, results);
        return;
    }
    for (size_t t = 0; t < sizeof told / sizeof *told; t++)
        for (size_t i = 0; i < results->check_count; i++)
            if (results->checks[i].outcome == told[t])
                put_check(b, &look, &results->checks[i]);
    put_undecided(b, &look, results);
    put_passed(b, &look, results);
}

void mishap_audit_put_table(mishap_buffer *b, const mishap_audit_results *results)
{
    mishap_audit_put_table_for(b, results, false, 0);
}
