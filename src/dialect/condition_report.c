/*
 * condition-report: the text in which an evaluator reports a condition (seed 000).
 *
 *     [stdout]
 *     {captured output}
 *
 *     [ERROR] TYPE-ERROR
 *     The value "hello" is not of type NUMBER.
 *
 *     [Backtrace]
 *     0: (+ 1 "hello")
 *
 * Readers find the sections by plain search, so no content may look like a marker: after the
 * bracket of each marker inside content, escaped or not, one backslash is added, and reading takes
 * one away.
 */
#include <stdio.h>

#include "base/trim.h"
#include "dialect/dialect.h"
#include "dialect/parts.h"

enum {
    MESSAGE_LIMIT = MISHAP_REPORT_TEXT_LIMIT,
    FRAME_LIMIT = 1000, /* bytes of one frame */
    FRAMES = MISHAP_REPORT_FRAME_LIMIT,
};

static const mishap_text cut_mark = MISHAP_TEXT("... (cut)");
static const mishap_text frame_cut_mark = MISHAP_TEXT("...");
static const mishap_text more_frames = MISHAP_TEXT("...");
#define NO_FRAME "(#<no backtrace available>)"
static const mishap_text no_frames = MISHAP_TEXT("0: " NO_FRAME);
const mishap_text mishap_report_no_frame = MISHAP_TEXT(NO_FRAME);

enum marker { STDOUT, ERROR, WARNINGS, BACKTRACE, MARKERS };
static const mishap_text markers[MARKERS] = {
    [STDOUT] = MISHAP_TEXT("[stdout]"),
    [ERROR] = MISHAP_TEXT("[ERROR]"),
    [WARNINGS] = MISHAP_TEXT("[warnings]"),
    [BACKTRACE] = MISHAP_TEXT("[Backtrace]"),
};

/* -- markers in content ------------------------------------------------------------------------ */

/* True if a marker stands at `at`, with any number of backslashes after its bracket. */
static bool marker_at(const char *at, const char *end, size_t *backslashes)
{
    const char *word = at + 1;
    while (word < end && *word == '\\')
        word++;
    *backslashes = (size_t)(word - at - 1);
    for (int i = 0; i < MARKERS; i++) {
        size_t length = markers[i].length - 1;
        if ((size_t)(end - word) >= length && memcmp(word, markers[i].data + 1, length) == 0)
            return true;
    }
    return false;
}

static void put_escaped(mishap_buffer *b, mishap_text text)
{
    if (text.length == 0)
        return;
    const char *done = text.data, *end = text.data + text.length, *at = text.data;
    while (at < end && (at = memchr(at, '[', (size_t)(end - at)))) {
        size_t backslashes;
        bool marker = marker_at(at, end, &backslashes);
        at += 1;
        if (marker) {
            mishap_buffer_put(b, done, (size_t)(at - done));
            mishap_buffer_put_char(b, '\\');
            done = at;
        }
        at += backslashes;
    }
    mishap_buffer_put(b, done, (size_t)(end - done));
}

static void put_unescaped(mishap_buffer *b, mishap_text text)
{
    if (text.length == 0)
        return;
    const char *done = text.data, *end = text.data + text.length, *at = text.data;
    while (at < end && (at = memchr(at, '[', (size_t)(end - at)))) {
        size_t backslashes;
        bool marker = marker_at(at, end, &backslashes);
        at += 1;
        if (marker && backslashes) {
            mishap_buffer_put(b, done, (size_t)(at - done));
            done = at + 1;
        }
        at += backslashes;
    }
    mishap_buffer_put(b, done, (size_t)(end - done));
}

/* -- rendering --------------------------------------------------------------------------------- */

/* Text up to a limit, on a character boundary, with a mark where it was cut; mark and all it keeps
 * to the limit. */
static void put_limited(mishap_buffer *b, mishap_text text, size_t limit, mishap_text mark)
{
    if (text.length <= limit) {
        put_escaped(b, text);
        return;
    }
    put_escaped(b, (mishap_text){ text.data, mishap_utf8_cut(text, limit - mark.length) });
    mishap_buffer_put_text(b, mark);
}

/* A type is one word: what is neither printable nor part of a longer character becomes a hyphen. */
static void put_type(mishap_buffer *b, const mishap_public *told)
{
    mishap_text type = told->type.length ? told->type : told->code->condition;
    size_t start = b->length;
    put_limited(b, type, FRAME_LIMIT, frame_cut_mark);
    for (size_t i = start; i < b->length; i++)
        if ((unsigned char)b->data[i] <= ' ' || b->data[i] == 127)
            b->data[i] = '-';
}

/* A frame is one line with a form in parentheses. */
static void put_frame(mishap_buffer *b, mishap_text text)
{
    /* What is cut away does not count: the parenthesis must be in what is left. */
    size_t shown = text.length <= FRAME_LIMIT ? text.length : FRAME_LIMIT - frame_cut_mark.length;
    bool form = memchr(text.data, '(', shown) != NULL;
    size_t limit = form ? FRAME_LIMIT : FRAME_LIMIT - 2;
    if (mishap_blank(text)) {
        MISHAP_PUT(b, "(...)");
        return;
    }
    if (!form)
        MISHAP_PUT(b, "(");
    size_t start = b->length;
    put_limited(b, text, limit, frame_cut_mark);
    for (size_t i = start; i < b->length; i++)
        if (b->data[i] == '\n' || b->data[i] == '\r')
            b->data[i] = ' ';
    if (!form)
        MISHAP_PUT(b, ")");
}

static void put_backtrace(mishap_buffer *b, const mishap_public *told)
{
    size_t number = 0;
    const mishap_frame *frame = told->frames;
    for (; frame && number < FRAMES; frame = frame->next, number++) {
        if (!frame->next && number && mishap_text_equal(frame->text, more_frames))
            break; /* it was cut before: the mark is written below, without a number */
        mishap_buffer_put_uint(b, number);
        MISHAP_PUT(b, ": ");
        put_frame(b, frame->text);
        MISHAP_PUT(b, "\n");
    }
    if (number == 0) {
        mishap_buffer_put_text(b, no_frames);
        MISHAP_PUT(b, "\n");
    }
    if (frame) {
        mishap_buffer_put_text(b, more_frames);
        MISHAP_PUT(b, "\n");
    }
}

/* A report has no section for fields, so the sentence on each of them follows the message. All of
 * it is one line of text. */
static void put_message(mishap_buffer *b, const mishap_public *told)
{
    mishap_text message = mishap_blank(told->message) ? told->code->message : told->message;
    mishap_buffer whole = { 0 };
    if (!told->fields || !mishap_text_equal(message, told->code->message)) {
        put_limited(b, message, MESSAGE_LIMIT, cut_mark);
        return;
    }
    mishap_buffer_put_text(&whole, message);
    for (const mishap_field *field = told->fields; field; field = field->next) {
        mishap_buffer_put_char(&whole, ' ');
        mishap_put_field_sentence(&whole, field);
    }
    if (whole.failed)
        mishap_buffer_reserve(b, SIZE_MAX); /* fails: half a message is none */
    put_limited(b, mishap_buffer_text(&whole), MESSAGE_LIMIT, cut_mark);
    mishap_buffer_release(&whole);
}

static void render_condition_report(const mishap_public *told, mishap_buffer *b)
{
    if (told->output.length) {
        MISHAP_PUT(b, "[stdout]\n");
        put_limited(b, told->output, MESSAGE_LIMIT, cut_mark);
        MISHAP_PUT(b, "\n\n");
    }
    MISHAP_PUT(b, "[ERROR] ");
    put_type(b, told);
    MISHAP_PUT(b, "\n");
    put_message(b, told);
    MISHAP_PUT(b, "\n\n[Backtrace]\n");
    put_backtrace(b, told);
}

/* -- finding sections -------------------------------------------------------------------------- */

/* The sections as a plain search finds them. */
struct sections {
    const char *at[MARKERS]; /* where each marker first stands, NULL if it does not */
    mishap_text output, type, message, backtrace;
};

static const char *find_piece(mishap_text text, mishap_text piece, const char *from)
{
    const char *end = text.data + text.length;
    return from > end ? NULL : memmem(from, (size_t)(end - from), piece.data, piece.length);
}

/* What stands between two places, without the line feeds that separate sections: at most one
 * before, two after. */
static mishap_text between(const char *from, const char *to)
{
    if (from < to && *from == '\n')
        from++;
    for (int i = 0; i < 2 && to > from && to[-1] == '\n'; i++)
        to--;
    return (mishap_text){ from, (size_t)(to - from) };
}

/* False if there is no [ERROR] with a [Backtrace] after it. */
static bool split(mishap_text document, struct sections *found)
{
    const char *end = document.data + document.length;
    *found = (struct sections){ 0 };
    for (int i = 0; i < MARKERS; i++)
        found->at[i] = find_piece(document, markers[i], document.data);
    const char *error = found->at[ERROR], *backtrace = found->at[BACKTRACE],
               *output = found->at[STDOUT];
    if (!error || !backtrace || backtrace < error)
        return false;
    if (output && output < error)
        found->output = between(output + markers[STDOUT].length, error);
    const char *type = error + markers[ERROR].length,
               *line_end = memchr(type, '\n', (size_t)(end - type));
    if (!line_end || line_end > backtrace)
        line_end = backtrace;
    found->type = mishap_trim((mishap_text){ type, (size_t)(line_end - type) }, " \t\r");
    found->message = between(line_end, backtrace);
    found->backtrace = (mishap_text){ backtrace + markers[BACKTRACE].length, 0 };
    found->backtrace.length = (size_t)(end - found->backtrace.data);
    return true;
}

/* The next line of the text, which is shortened by it; false at its end. */
static bool next_line(mishap_text *text, mishap_text *line)
{
    if (text->length == 0)
        return false;
    const char *feed = memchr(text->data, '\n', text->length);
    size_t length = feed ? (size_t)(feed - text->data) : text->length;
    *line = (mishap_text){ text->data, length };
    text->data += length + (feed != NULL);
    text->length -= length + (feed != NULL);
    return true;
}

/* The number before the colon of a frame; false if there is none. `form` is what follows. */
static bool split_frame(mishap_text line, size_t *number, mishap_text *form)
{
    size_t i = 0;
    *number = 0;
    for (; i < line.length && i < 9 && line.data[i] >= '0' && line.data[i] <= '9'; i++)
        *number = *number * 10 + (size_t)(line.data[i] - '0');
    if (i == 0 || i + 1 >= line.length || line.data[i] != ':' || line.data[i + 1] != ' ')
        return false;
    *form = (mishap_text){ line.data + i + 2, line.length - i - 2 };
    return true;
}

/* -- reading ----------------------------------------------------------------------------------- */

static void read_part(mishap *m, mishap_part part, mishap_text text, mishap_buffer *scratch)
{
    mishap_buffer_reset(scratch);
    put_unescaped(scratch, text);
    if (scratch->failed)
        mishap_restore_failed(m);
    else
        mishap_restore_part(m, part, mishap_buffer_text(scratch));
}

static void read_frames(mishap *m, mishap_text backtrace, mishap_buffer *scratch)
{
    mishap_text line, form;
    size_t number;
    while (next_line(&backtrace, &line)) {
        /* The placeholder is one only where nothing follows. */
        if (mishap_blank(line) || (mishap_text_equal(line, no_frames) && mishap_blank(backtrace)))
            continue;
        mishap_buffer_reset(scratch);
        put_unescaped(scratch, split_frame(line, &number, &form) ? form : line);
        if (scratch->failed)
            mishap_restore_failed(m);
        else
            mishap_frame_add(m, mishap_buffer_text(scratch));
    }
}

static mishap *refuse_report(const char *sentence)
{
    mishap *m = mishap_raise(MALFORMED_INPUT, "At line 1, column 1: %s", sentence);
    return mishap_tell(mishap_tell(m, "line", 1), "column", 1);
}

static mishap *read_text(mishap_text document, mishap **out)
{
    char storage[1024];
    struct sections found;
    mishap_buffer scratch;
    if (!split(document, &found))
        return refuse_report(
            "The report has no [ERROR] section with a [Backtrace] section after it.");
    if (found.type.length == 0)
        return refuse_report("The report has no condition type after [ERROR].");
    mishap_buffer_init(&scratch, storage, sizeof storage);
    put_unescaped(&scratch, found.type);
    mishap *m = mishap_restore(MISHAP_SPELLING_CONDITION, mishap_buffer_text(&scratch),
                               MISHAP_EXECUTION, 0, MISHAP_CODE_RUNTIME_ERROR);
    read_part(m, MISHAP_PART_TYPE, found.type, &scratch);
    read_part(m, MISHAP_PART_MESSAGE, found.message, &scratch);
    read_part(m, MISHAP_PART_OUTPUT, found.output, &scratch);
    read_frames(m, found.backtrace, &scratch);
    mishap_buffer_release(&scratch);
    return mishap_finish(m, out);
}

/* -- checking ---------------------------------------------------------------------------------- */

/* "line 3", for the place of a finding. */
struct place {
    char words[32];
};

static struct place place_of_line(size_t line)
{
    struct place place;
    snprintf(place.words, sizeof place.words, "line %zu", line);
    return place;
}

static size_t line_number(mishap_text document, const char *at)
{
    size_t line = 1;
    for (const char *c = document.data; c < at; c++)
        line += *c == '\n';
    return line;
}

#define SAY(check, document, at, rule, ...)                                                        \
    mishap_check_say_at((check), place_of_line(line_number((document), (at))).words, (rule),       \
                        __VA_ARGS__)
#define SAY_LINE(check, line, rule, ...)                                                           \
    mishap_check_say_at((check), place_of_line(line).words, (rule), __VA_ARGS__)

/* Each marker stands alone at the start of a line ([ERROR]: with its type), and a blank line comes
 * before it. */
static void check_layout(mishap_check *c, mishap_text document, const struct sections *found)
{
    static const enum marker own[] = { STDOUT, ERROR, BACKTRACE };
    for (size_t i = 0; i < 3; i++) {
        const char *at = found->at[own[i]], *end = document.data + document.length;
        if (!at)
            continue;
        size_t before = (size_t)(at - document.data);
        const char *after = at + markers[own[i]].length;
        if (before && (before < 2 || at[-1] != '\n' || at[-2] != '\n'))
            SAY(c, document, at, MISHAP_RULE_SECTION_LAYOUT,
                "%s must start a line, with a blank line before it.", markers[own[i]].data);
        else if (after < end && *after != (own[i] == ERROR ? ' ' : '\n') &&
                 !(own[i] == ERROR && *after == '\n'))
            SAY(c, document, at, MISHAP_RULE_SECTION_LAYOUT, "%s must be followed by %s.",
                markers[own[i]].data, own[i] == ERROR ? "a space and the type" : "a line feed");
    }
}

/* A marker that stands twice, or a [warnings] section in an error, can be mistaken for the real
 * one. */
static void check_forged(mishap_check *c, mishap_text document, const struct sections *found)
{
    if (found->at[WARNINGS])
        SAY(c, document, found->at[WARNINGS], MISHAP_RULE_SECTION_FORGED,
            "A report of an error must not have a [warnings] section.");
    for (int i = 0; i < MARKERS; i++) {
        const char *again = found->at[i] ? find_piece(document, markers[i], found->at[i] + 1)
                                         : NULL;
        if (again && i != WARNINGS)
            SAY(c, document, again, MISHAP_RULE_SECTION_FORGED, "%s occurs a second time.",
                markers[i].data);
    }
}

static void check_type(mishap_check *c, mishap_text document, const struct sections *found)
{
    if (found->type.length == 0) {
        SAY(c, document, found->at[ERROR], MISHAP_RULE_TYPE_MISSING,
            "The condition type after [ERROR] is missing.");
        return;
    }
    for (size_t i = 0; i < found->type.length; i++) {
        char letter = found->type.data[i];
        /* Types are in capitals, but a program may name one otherwise: |like this|. */
        if ((unsigned char)letter <= ' ' || (c->strict && letter >= 'a' && letter <= 'z')) {
            SAY(c, document, found->at[ERROR], MISHAP_RULE_TYPE_SPELLING,
                "The condition type must be one word%s.", c->strict ? " in capitals" : "");
            return;
        }
    }
}

static void check_message(mishap_check *c, mishap_text document, const struct sections *found)
{
    if (mishap_blank(found->message))
        SAY(c, document, found->at[ERROR], MISHAP_RULE_MESSAGE_MISSING,
            "The message below the condition type is missing.");
    /* Escapes do not count; there are few of them, and each is one byte. */
    if (found->message.length > MESSAGE_LIMIT) {
        mishap_buffer plain;
        mishap_buffer_init(&plain, NULL, 0);
        put_unescaped(&plain, found->message);
        c->no_memory = c->no_memory || plain.failed;
        if (plain.length > MESSAGE_LIMIT)
            SAY(c, document, found->message.data, MISHAP_RULE_MESSAGE_TOO_LONG,
                "The message has %zu bytes; the limit is %d bytes.", plain.length, MESSAGE_LIMIT);
        mishap_buffer_release(&plain);
    }
}

static void check_frames(mishap_check *c, mishap_text document, const struct sections *found)
{
    mishap_text rest = found->backtrace, line, form;
    size_t expected = 0, number;
    bool ended = false;
    /* There may be very many lines with something wrong in them: they are counted on the way. */
    size_t at = line_number(document, rest.data) - 1;
    while (next_line(&rest, &line)) {
        at++;
        if (mishap_blank(line))
            continue;
        if (mishap_text_equal(line, more_frames)) {
            ended = true;
            continue;
        }
        if (!split_frame(line, &number, &form) || !memchr(form.data, '(', form.length)) {
            SAY_LINE(c, at, MISHAP_RULE_FRAME_FORM,
                     "A frame must be a number, a colon, a space and a form in parentheses.");
            expected++;
            continue;
        }
        if (number != expected || ended)
            SAY_LINE(c, at, MISHAP_RULE_FRAME_ORDER, "This must be frame %zu, not %zu.", expected,
                     number);
        expected = number + 1;
        if (expected == FRAMES + 1)
            SAY_LINE(c, at, MISHAP_RULE_FRAME_LIMIT, "There are more than %d frames.", FRAMES);
    }
    if (expected == 0)
        SAY(c, document, found->at[BACKTRACE], MISHAP_RULE_FRAME_MISSING,
            "The backtrace has no frame 0.");
}

static void check_text(mishap_check *c, mishap_text document)
{
    struct sections found;
    size_t valid = mishap_utf8_valid_length(document);
    if (valid < document.length || document.length == 0) {
        SAY(c, document, document.data + valid, MISHAP_RULE_NOT_TEXT,
            document.length ? "This is not UTF-8." : "The document is empty.");
        return;
    }
    bool whole = split(document, &found);
    const char *error = found.at[ERROR], *backtrace = found.at[BACKTRACE],
               *output = found.at[STDOUT];
    if (!error)
        SAY(c, document, document.data, MISHAP_RULE_SECTION_MISSING,
            "The [ERROR] section is missing.");
    if (!backtrace)
        SAY(c, document, document.data, MISHAP_RULE_SECTION_MISSING,
            "The [Backtrace] section is missing.");
    if (error && backtrace && backtrace < error)
        SAY(c, document, backtrace, MISHAP_RULE_SECTION_ORDER,
            "The [Backtrace] section must come after [ERROR].");
    if (!whole)
        return;
    if (output && output > error) {
        SAY(c, document, output, MISHAP_RULE_SECTION_ORDER,
            "The [stdout] section must come before [ERROR].");
        return; /* what follows would be taken for frames */
    }
    check_layout(c, document, &found);
    check_forged(c, document, &found);
    check_type(c, document, &found);
    check_message(c, document, &found);
    check_frames(c, document, &found);
}

const mishap_dialect mishap_condition_report = {
    .name = "condition-report",
    .media_type = "text/plain",
    .last_words = MISHAP_TEXT("[ERROR] INTERNAL-ERROR\nAn internal error occurred.\n\n[Backtrace]\n"
                              "0: (#<no backtrace available>)\n"),
    .render = render_condition_report,
    .read_text = read_text,
    .check_text = check_text,
};
