/*
 * Blocks and streams. A block is judged with the bytes before and behind it that a check may want
 * to read: the window. What was found in a block is collected, so that a finding that is part of
 * another, or was made in two views, is reported once.
 */
#include "guard/leak.h"

#include <assert.h>

#include "base/memory.h"
#include "guard/echo.h"
#include "guard/excerpt.h"
#include "guard/filter.h"
#include "guard/findings.h"
#include "guard/lines.h"
#include "guard/undo.h"

enum {
    BLOCK = 10 * 1024,
    BACK = 2048,  /* so much of the text before a block is known to its checks */
    AHEAD = 2048, /* and so much behind it */
    WINDOW = BACK + BLOCK + AHEAD,
    NEAR = 256, /* this much around an escape is undone with it */
    /* A step is about ten instructions of a processor. */
    STEPS = 14,               /* that all may take for each byte of a block … */
    FIRST_STEPS = 48 * 1024,  /* … and so many more, however short it is */
    SURE_STEPS = 5,           /* those of rules that are sure, for each byte … */
    FIRST_SURE = 24 * 1024,   /* … and so many more */
    UNSURE_STEPS = 6,         /* those of the others, and to undo escapes, … */
    FIRST_UNSURE = 24 * 1024, /* … and so many more */
    TEXT_STEPS = 1,           /* that it costs to look for literals in a byte, … */
    UNDONE_STEPS = 2,         /* … and to undo its escapes before, … */
    VISIT_STEPS = 3,          /* … to compare a literal, … */
    HIT_STEPS = 8,            /* … to find one, … */
    CALL_STEPS = 12,          /* … to call a check, … */
    FOUND_STEPS = 24,         /* … to note what it has found, twice for each escape undone, … */
    REPORT_STEPS = 280,       /* … and to report it */
    FEW_STEPS = 1024,         /* a rule that has taken so few in a block is not off */
    LONGEST_MATCH = 1024,     /* that is compared */
    LONGEST_FOUND = 4096,     /* that is reported */
};

/* How a text is read: one escape undone, or one after the other. */
typedef enum reading { TEXT, JSON, JSON_TWICE, HTML, JSON_HTML, HTML_JSON } reading;

static const struct {
    const char *name;
    int count;
    mishap_leak_escape undone[2];
} views[] = {
    { "text", 0, { 0 } },
    { "json", 1, { MISHAP_LEAK_JSON } },
    { "json-twice", 2, { MISHAP_LEAK_JSON, MISHAP_LEAK_JSON } },
    { "html", 1, { MISHAP_LEAK_HTML } },
    { "json-html", 2, { MISHAP_LEAK_JSON, MISHAP_LEAK_HTML } },
    { "html-json", 2, { MISHAP_LEAK_HTML, MISHAP_LEAK_JSON } },
};

/* A text with an escape undone. */
struct undone {
    size_t length;
    mishap_leak_mark last; /* the end of the last way back */
    mishap_leak_mark marks[WINDOW / MISHAP_LEAK_MARK + 2];
    char text[WINDOW];
};

/* Room that is used only while a block is judged. */
struct room {
    struct undone once, twice;
};

/* Line feeds up to a byte of the input, and where the line begins that it is on. */
struct lines {
    size_t to, count, start;
};

typedef struct scan {
    mishap_leak_echo echo;
    mishap_leak_found *found;
    void *state;
    const char *window, *window_end; /* the text that can be read */
    size_t base;                     /* where the window begins in the input */
    size_t from, to;                 /* the block, as bytes of the input */
    size_t sure;                     /* where the last finding of high confidence ended */
    struct lines counted;            /* not further than the window's first byte */
    struct room *room;
    /* The view that is judged now: a piece of the window. */
    reading view;
    const char *piece, *piece_end, *read,
        *read_end;               /* the piece of the window, and the text as it is read */
    const char *both, *both_end; /* the piece that was judged as JSON_HTML last */
    bool stopped, limited;       /* no view is judged any more; a rule that is sure is off */
    size_t steps, taken;         /* that all that is done with this block may take, and has taken */
    struct steps {
        size_t most, taken;
    } of[2];                           /* of checks of rules that are not sure, and that are */
    bool reported, matching, counting; /* the lists below are in use: each is set only then */
    mishap_leak_findings list; /* its counts stand beside the above: a page less is touched */
    size_t ends[MISHAP_LEAK_MOST_RULES];   /* of a rule: where its last reported finding ended */
    uint16_t done[MISHAP_LEAK_MOST_RULES]; /* of a rule: its last match in this view ended here */
    uint32_t used[MISHAP_LEAK_MOST_RULES]; /* of a rule: the steps of its checks in this block */
    mishap_leak_rules_off off;             /* those that are not applied to its rest */
} scan;

/* -- findings ---------------------------------------------------------------------------------- */

/* The byte of the window that this byte of the view came from. */
static size_t byte_of_window(const scan *s, size_t at, bool end)
{
    for (int i = views[s->view].count - 1; i >= 0; i--) {
        struct undone *once = &s->room->once, *now = i ? &s->room->twice : once;
        const char *from = i ? once->text : s->piece;
        const char *to = i ? once->text + once->length : s->piece_end;
        at = mishap_leak_way_back(views[s->view].undone[i], from, to, now->marks, &now->last, at,
                                  end);
    }
    return (size_t)(s->piece - s->window) + at;
}

/* The same rule has matched these bytes in another view, or in the block before. */
static bool is_double(scan *s, const mishap_leak_finding *finding)
{
    if (s->view != TEXT && mishap_leak_findings_repeat(&s->list, finding))
        return true;
    return !finding->limit && s->reported && s->base + finding->start < s->ends[finding->rule];
}

/* A finding belongs to the block that its literal begins in. */
static bool stands_in_block(const scan *s, const mishap_leak_place *place, size_t start,
                            size_t stop)
{
    size_t from = s->from - s->base, to = s->to - s->base;
    if (place->from <= place->at && place->at < place->to && start >= from && stop <= to)
        return true; /* as most do: no need to look for the literal itself */
    size_t at = byte_of_window(s, (size_t)(place->at - s->read), false);
    return at >= from && at < to;
}

/* False: it belongs to the block before or behind. */
static bool add_finding(scan *s, const mishap_leak_place *place)
{
    const char *end = place->to - place->from > LONGEST_FOUND ? place->from + LONGEST_FOUND
                                                              : place->to;
    size_t start = byte_of_window(s, (size_t)(place->from - s->read), false);
    size_t stop = byte_of_window(s, (size_t)(end - s->read), true);
    if (!stands_in_block(s, place, start, stop))
        return false;
    mishap_leak_finding finding = {
        .start = (uint16_t)start,
        .end = (uint16_t)stop,
        .rule = (uint16_t)(place->rule - mishap_leak_rules),
        .secret = place->secret ? (uint16_t)(place->secret - place->from) : 0,
        .secret_end = place->secret ? (uint16_t)(place->secret_end - place->from) : 0,
        .view = (uint8_t)s->view,
        .confidence = (uint8_t)place->confidence,
        .limit = place->limit,
    };
    if (is_double(s, &finding))
        return true;
    size_t most = s->view == TEXT ? MISHAP_LEAK_MOST_FOUND : MISHAP_LEAK_MOST_UNDONE;
    s->stopped = !mishap_leak_findings_add(&s->list, &finding, most);
    return true;
}

/* A rule that has taken too many steps makes a finding of its own; without one no rule gives up. */
static bool give_up(scan *s, mishap_leak_place *place, mishap_leak_confidence confidence)
{
    place->limit = true;
    place->from = place->at;
    place->to = place->behind;
    place->secret = NULL;
    place->confidence = confidence;
    bool noted = add_finding(s, place);
    place->limit = false;
    return noted;
}

/* What the filter did counts as well. False: there were far too many steps, and the rest of the
 * block is not judged. */
static bool count_all_steps(scan *s, mishap_leak_place *place, size_t taken)
{
    s->taken += taken + VISIT_STEPS * place->visits + HIT_STEPS;
    place->visits = 0;
    if (s->taken > s->steps && give_up(s, place, MISHAP_LEAK_HIGH))
        s->stopped = true;
    return !s->stopped;
}

/* Steps are counted for each rule. When the rules of a kind have used up theirs, those that have
 * taken many are off for the rest of the block: what makes one rule give up must not silence the
 * others. Rules that find what stays in a response, such as lines of a program, take nothing from
 * those that are sure. */
static void count_steps(scan *s, mishap_leak_place *place, size_t rule, size_t taken)
{
    bool sure = leak_may_be_sure(&mishap_leak_rules[rule]);
    struct steps *steps = &s->of[sure];
    s->used[rule] += (uint32_t)taken;
    steps->taken += taken;
    if (!count_all_steps(s, place, taken) || steps->taken <= steps->most ||
        s->used[rule] <= FEW_STEPS ||
        !give_up(s, place, sure ? MISHAP_LEAK_HIGH : MISHAP_LEAK_MEDIUM))
        return;
    leak_switch_off(&s->off, rule);
    s->limited = s->limited || sure;
}

/* Most short texts have no literal: the lists of rules are set at the first one of a view. */
static inline void prepare_lists(scan *s)
{
    if (!s->matching)
        memset(s->done, 0, mishap_leak_rule_count * sizeof *s->done);
    if (!s->counting)
        memset(s->used, 0, mishap_leak_rule_count * sizeof *s->used);
    s->matching = s->counting = true;
}

static bool judge_place(void *state, mishap_leak_place *place)
{
    scan *s = state;
    size_t rule = (size_t)(place->rule - mishap_leak_rules), before = place->steps;
    prepare_lists(s);
    const char *done = s->read + s->done[rule];
    if (place->at < done || (s->view == TEXT && place->at >= s->window + (s->to - s->base)))
        return count_all_steps(s, place, 0);
    if (mishap_leak_judge(place) && place->from >= done) {
        if (!mishap_leak_is_echo(&s->echo, place)) {
            s->done[rule] = (uint16_t)(place->to - s->read);
            place->steps += FOUND_STEPS << views[s->view].count;
            size_t count = s->list.count;
            add_finding(s, place);
            size_t *steps = leak_may_be_sure(place->rule) ? &s->taken : &s->of[false].taken;
            *steps += s->list.count > count ? REPORT_STEPS : 0;
        }
    }
    count_steps(s, place, rule, place->steps - before + CALL_STEPS);
    return !s->stopped;
}

/* -- views ------------------------------------------------------------------------------------- */

/* Judge a text; `from` and `to` are the part of it where literals are looked for. */
static void judge_view(scan *s, reading view, const char *text, const char *end, const char *from,
                       const char *to)
{
    mishap_leak_place place;
    mishap_leak_begin(&place, text, end);
    place.off = &s->off;
    size_t base = (view == TEXT ? TEXT_STEPS : UNDONE_STEPS) * (size_t)(end - text);
    s->taken += base;
    s->of[false].taken += view == TEXT ? 0 : base;
    if (s->limited && s->taken > s->steps / 2) /* which has been told */
        s->stopped = true;
    if (s->stopped)
        return;
    s->view = view;
    s->read = text;
    s->read_end = end;
    s->matching = false;
    mishap_leak_filter(&place, from, to, MISHAP_LEAK_ALL_KINDS, judge_place, s);
    s->taken += VISIT_STEPS * place.visits;
}

static void judge_undone(scan *s, reading view, struct undone *undone)
{
    undone->last = (mishap_leak_mark){ 0 };
    const char *end = undone->text + undone->length;
    judge_view(s, view, undone->text, end, undone->text, end);
}

/* Undo the escapes of a text. False: there was nothing to undo after all, such as a < that begins
 * no tag, so the text has been judged already. */
static bool undo_text(struct undone *undone, mishap_leak_escape escape, const char *from,
                      const char *to)
{
    undone->length = mishap_leak_undo(escape, from, to, undone->text, undone->marks);
    return undone->length != (size_t)(to - from) || memcmp(undone->text, from, undone->length) != 0;
}

/* JSON in HTML is mostly the same text as HTML in JSON, which was judged before. */
static bool is_the_same_text(scan *s, const char *from, const char *to)
{
    struct undone *once = &s->room->once, *twice = &s->room->twice;
    if (from < s->both || to > s->both_end)
        return false;
    undo_text(once, MISHAP_LEAK_JSON, from, to);
    if (mishap_leak_undoes_to(MISHAP_LEAK_HTML, once->text, once->text + once->length, twice->text,
                              twice->length))
        return true;
    undo_text(once, MISHAP_LEAK_HTML, from, to);
    return false;
}

/* A piece of the window that has escapes, undone once and, if some are left, once more. */
static void judge_piece(scan *s, mishap_leak_escape escape, const char *from, const char *to)
{
    struct undone *once = &s->room->once, *twice = &s->room->twice;
    s->piece = from;
    s->piece_end = to;
    if (!undo_text(once, escape, from, to))
        return;
    judge_undone(s, escape == MISHAP_LEAK_JSON ? JSON : HTML, once);
    const char *end = once->text + once->length;
    if (mishap_leak_escaped(MISHAP_LEAK_JSON, once->text, end) != end &&
        undo_text(twice, MISHAP_LEAK_JSON, once->text, end) &&
        (escape == MISHAP_LEAK_JSON || !is_the_same_text(s, from, to)))
        judge_undone(s, escape == MISHAP_LEAK_JSON ? JSON_TWICE : HTML_JSON, twice);
    if (escape == MISHAP_LEAK_JSON &&
        mishap_leak_escaped(MISHAP_LEAK_HTML, once->text, end) != end &&
        undo_text(twice, MISHAP_LEAK_HTML, once->text, end)) {
        judge_undone(s, JSON_HTML, twice);
        s->both = from;
        s->both_end = to;
    }
}

/* A piece must not begin inside of an escape. Near `least`, where escapes are looked for, it begins
 * there, so that pieces with escapes of JSON and of HTML are the same. */
static const char *begin_of_piece(const scan *s, const char *escape, const char *least)
{
    const char *begin = escape - least > 2 * NEAR  ? escape - NEAR
                        : least - s->window > NEAR ? least - NEAR
                                                   : s->window;
    for (int i = 0; i < NEAR && begin > s->window && begin[-1] == '\\'; i++)
        begin--;
    return begin;
}

/* Where the piece ends whose first escape is this one: behind it are none so near that they belong
 * to it. Where there are many, few of them are looked at. */
static const char *last_of_piece(mishap_leak_escape escape, const char *first, const char *most)
{
    const char *last = first, *found;
    for (;;) {
        const char *near = most - last > NEAR ? last + NEAR : most;
        const char *far = most - last > 2 * NEAR ? last + 2 * NEAR : most;
        if ((found = mishap_leak_escaped(escape, near, far)) == far) {
            const char *next = last + (escape == MISHAP_LEAK_JSON ? 2 : 1);
            if (next >= far || (found = mishap_leak_escaped(escape, next, far)) == far)
                return last;
        }
        last = found;
    }
}

/* All pieces of the block that have such escapes in them. */
static void judge_pieces(scan *s, mishap_leak_escape escape)
{
    const char *from = s->window + (s->from - s->base), *to = s->window + (s->to - s->base);
    const char *least = from - s->window > 2 * NEAR ? from - 2 * NEAR : s->window;
    const char *most = s->window_end - to > 2 * NEAR ? to + 2 * NEAR : s->window_end;
    const char *at = mishap_leak_escaped(escape, least, most);
    while (at < most && !s->stopped) {
        const char *begin = begin_of_piece(s, at, least), *end = at;
        end = last_of_piece(escape, at, most);
        const char *next = end + (escape == MISHAP_LEAK_JSON ? 2 : 1);
        at = next < most ? mishap_leak_escaped(escape, next, most) : most;
        if (most - end < 2 * NEAR)
            end = most;
        end = s->window_end - end > 2 * NEAR ? end + 2 * NEAR : s->window_end;
        judge_piece(s, escape, begin, end);
    }
}

/* -- reporting --------------------------------------------------------------------------------- */

/* Count on, up to this byte of the input. All from what was counted is still in memory. */
static void count_to(const scan *s, struct lines *lines, size_t to)
{
    const char *last = NULL, *begin = s->window - (ptrdiff_t)s->base + (ptrdiff_t)lines->to;
    if (lines->to >= to)
        return;
    lines->count += mishap_leak_count_lines(begin, begin + (to - lines->to), &last);
    if (last)
        lines->start = lines->to + (size_t)(last - begin) + 1;
    lines->to = to;
}

static void report(scan *s, const mishap_leak_finding *finding, struct lines *lines)
{
    char first[LONGEST_MATCH * 2], second[LONGEST_MATCH * 2], excerpt[MISHAP_LEAK_EXCERPT];
    char *rooms[] = { first, second };
    const mishap_leak_rule *rule = &mishap_leak_rules[finding->rule];
    mishap_text text = { s->window + finding->start, (size_t)(finding->end - finding->start) };
    if (text.length > sizeof first)
        text.length = sizeof first;
    for (int i = 0; i < views[finding->view].count; i++)
        text = (mishap_text){ rooms[i], mishap_leak_undo(views[finding->view].undone[i], text.data,
                                                         text.data + text.length, rooms[i], NULL) };
    mishap_leak_kind kind = finding->limit ? MISHAP_LEAK_LIMIT : rule->kind;
    size_t length = mishap_leak_excerpt(excerpt, rule, text, finding->secret, finding->secret_end);
    size_t start = s->base + finding->start;
    bool as_it_is = finding->view == TEXT && finding->secret_end > finding->secret;
    count_to(s, lines, start);
    s->found(s->state,
             &(mishap_leak){
                 .kind = kind,
                 .confidence = (mishap_leak_confidence)finding->confidence,
                 .rule = finding->limit ? "limit" : rule->name,
                 .language = finding->limit ? NULL : rule->language,
                 .start = start,
                 .length = (size_t)(finding->end - finding->start),
                 .secret = as_it_is ? start + finding->secret : start,
                 .secret_length = as_it_is ? (size_t)(finding->secret_end - finding->secret) : 0,
                 .line = lines->count + 1,
                 .column = start - lines->start + 1,
                 .view = views[finding->view].name,
                 .excerpt = { excerpt, length },
             });
    if (!finding->limit)
        s->ends[finding->rule] = s->base + finding->end;
    if (!finding->limit && finding->confidence == MISHAP_LEAK_HIGH &&
        s->sure < s->base + finding->end)
        s->sure = s->base + finding->end;
}

/* Is it part of a finding that says more: of a surer one, or of a longer one of the same kind? What
 * it is part of stands before it in the sorted list, and not far away. */
static bool is_part(const scan *s, const mishap_leak_finding *list, size_t at)
{
    enum { NEAREST = 32 };
    const mishap_leak_finding *part = &list[at];
    if (part->confidence == MISHAP_LEAK_MEDIUM && s->base + part->end <= s->sure)
        return true; /* of the block before */
    for (size_t i = at > NEAREST ? at - NEAREST : 0; i < at; i++) {
        const mishap_leak_finding *whole = &list[i];
        if (whole->limit || whole->confidence < part->confidence || whole->end < part->end)
            continue;
        if (whole->confidence > part->confidence ||
            mishap_leak_rules[whole->rule].kind == mishap_leak_rules[part->rule].kind)
            return true;
    }
    return false;
}

static __attribute__((noinline)) void report_all(scan *s)
{
    count_to(s, &s->counted, s->base);
    struct lines lines = s->counted;
    if (!s->reported)
        memset(s->ends, 0, mishap_leak_rule_count * sizeof *s->ends);
    s->reported = true;
    mishap_leak_finding list[MISHAP_LEAK_MOST_FOUND];
    size_t furthest = 0; /* the end of those before */
    size_t count = mishap_leak_findings_sort(&s->list, list);
    for (size_t i = 0; i < count; i++) {
        const mishap_leak_finding *finding = &list[i];
        bool inside = finding->end <= furthest || s->base + finding->end <= s->sure;
        if (finding->limit || !inside || !is_part(s, list, i))
            report(s, finding, &lines);
        furthest = finding->end > furthest ? finding->end : furthest;
    }
}

/* -- blocks ------------------------------------------------------------------------------------ */

/* Views with something undone need room, which most texts do not. */
static __attribute__((noinline)) void judge_escapes(scan *s, bool json, bool html)
{
    struct room room;
    s->room = &room;
    if (json)
        judge_pieces(s, MISHAP_LEAK_JSON);
    if (html)
        judge_pieces(s, MISHAP_LEAK_HTML);
    s->room = NULL;
}

/* What may be done with a block. */
static void begin_steps(scan *s)
{
    size_t length = s->to - s->from;
    s->steps = FIRST_STEPS + STEPS * length;
    s->of[false] = (struct steps){ FIRST_UNSURE + UNSURE_STEPS * length, 0 };
    s->of[true] = (struct steps){ FIRST_SURE + SURE_STEPS * length, 0 };
    s->off = (mishap_leak_rules_off){ 0 };
    s->taken = 0;
}

static void judge_block(scan *s)
{
    const char *from = s->window + (s->from - s->base), *to = s->window + (s->to - s->base);
    s->list.count = s->list.doubled = 0;
    s->stopped = s->limited = s->counting = false;
    begin_steps(s);
    s->piece = s->window;
    s->both = s->both_end = s->window_end;
    /* The filter may find a literal that begins with the last byte at a place behind it. */
    size_t behind = (size_t)(s->window_end - to);
    judge_view(s, TEXT, s->window, s->window_end, from,
               to + (behind > MISHAP_LEAK_OFFSET ? MISHAP_LEAK_OFFSET + 1 : behind));
    bool json = memchr(s->window, '\\', (size_t)(s->window_end - s->window));
    bool html = mishap_leak_escaped(MISHAP_LEAK_HTML, s->window, s->window_end) != s->window_end;
    if (json || html)
        judge_escapes(s, json, html);
    if (s->list.count)
        report_all(s);
}

static void init_scan(scan *s, const mishap_leak_known *known, mishap_leak_found *found,
                      void *state)
{
    assert(mishap_leak_rule_count <= MISHAP_LEAK_MOST_RULES);
    memset(s, 0, offsetof(scan, list));
    s->list.count = s->list.doubled = 0;
    s->echo = (mishap_leak_echo){ .known = known, .left = MISHAP_LEAK_KNOWN_BYTES };
    s->found = found;
    s->state = state;
}

/* Judge the next block, given the end of the input that has been read. */
static void judge_next(scan *s, const char *input, size_t input_base, size_t input_end)
{
    s->to = input_end - s->from > BLOCK ? s->from + BLOCK : input_end;
    s->base = s->from > BACK ? s->from - BACK : 0;
    s->window = input + (s->base - input_base);
    s->window_end = s->window + ((input_end - s->to > AHEAD ? s->to + AHEAD : input_end) - s->base);
    judge_block(s);
    s->from = s->to;
}

void mishap_leak_scan(mishap_text text, const mishap_leak_known *known, mishap_leak_found *found,
                      void *state)
{
    scan s;
    init_scan(&s, known, found, state);
    while (s.from < text.length)
        judge_next(&s, text.data, 0, text.length);
}

/* -- streams ----------------------------------------------------------------------------------- */

struct mishap_leak_stream {
    scan scan;
    size_t base, length; /* of the bytes that are here */
    char bytes[WINDOW];
};

_Static_assert(sizeof(mishap_leak_stream) + sizeof(struct room) <= 64 * 1024,
               "A stream has at most 64 KB of state.");

mishap_leak_stream *mishap_leak_open(const mishap_leak_known *known, mishap_leak_found *found,
                                     void *state)
{
    mishap_leak_stream *stream = mishap_allocate(sizeof *stream);
    if (!stream)
        return NULL;
    init_scan(&stream->scan, known, found, state);
    stream->base = stream->length = 0;
    return stream;
}

/* A block is judged as soon as all that its checks may read is there. Then what the next one needs
 * is kept. */
static void judge_and_drop(mishap_leak_stream *stream)
{
    scan *s = &stream->scan;
    judge_next(s, stream->bytes, stream->base, stream->base + stream->length);
    size_t base = s->from > BACK ? s->from - BACK : 0, gone = base - stream->base;
    s->window = stream->bytes;
    s->base = stream->base;
    count_to(s, &s->counted, base);
    memmove(stream->bytes, stream->bytes + gone, stream->length - gone);
    stream->base = base;
    stream->length -= gone;
}

void mishap_leak_feed(mishap_leak_stream *stream, mishap_text piece)
{
    while (piece.length) {
        size_t wanted = stream->scan.from + BLOCK + AHEAD - stream->base - stream->length;
        size_t length = piece.length < wanted ? piece.length : wanted;
        memcpy(stream->bytes + stream->length, piece.data, length);
        stream->length += length;
        piece.data += length;
        piece.length -= length;
        if (length == wanted)
            judge_and_drop(stream);
    }
}

void mishap_leak_close(mishap_leak_stream *stream)
{
    if (!stream)
        return;
    while (stream->scan.from < stream->base + stream->length)
        judge_next(&stream->scan, stream->bytes, stream->base, stream->base + stream->length);
    mishap_release(stream);
}
