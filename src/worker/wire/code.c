/*
 * Messages of a foreign program in which code of a caller may run: see code.h. Used by loops and by
 * commands.
 */
#include "worker/wire/code.h"

#include <stdio.h>

#include "dialect/parts.h"
#include "mishap/restore.h"

enum { SLACK_MS = 25 }; /* the two processes read their clocks at different times */

/* -- is a claim of the code true? -------------------------------------------------------------- */

/* The time limit of the call: its own argument, or the usual limit, or the time that it was given
 * if that is shorter; 0: none. */
static int64_t limit_of(const mishap_foreign_known *known, const mishap_call *call)
{
    enum { TO_SAY_SO_MS = 1000 }; /* as in mishap_foreign_shorten() */
    const mishap_foreign *foreign = known->foreign;
    int64_t limit_ms = foreign->usual_limit_ms > TO_SAY_SO_MS
                           ? foreign->usual_limit_ms - TO_SAY_SO_MS
                           : 0;
    for (size_t i = 0; foreign->limit_param && i < call->param_count; i++)
        if (call->values[i] && yyjson_is_num(call->values[i]) &&
            strcmp(call->operation->params[i].name, foreign->limit_param) == 0)
            limit_ms = (int64_t)(yyjson_get_num(call->values[i]) * 1000);
    return known->limit_ms > 0 && (!limit_ms || known->limit_ms < limit_ms) ? known->limit_ms
                                                                            : limit_ms;
}

/* The time limit that has passed according to the process. Only sessions may name one, since they
 * keep limits of their own. */
static int64_t limit_said(const mishap_foreign_message *message, const mishap_foreign_known *known,
                          const mishap_call *call)
{
    bool says = known->foreign->sessions && message->limit_ms > 0;
    return says ? message->limit_ms : limit_of(known, call);
}

static bool is_over(const mishap_foreign_message *message, const mishap_foreign_known *known,
                    const mishap_call *call)
{
    int64_t limit_ms = limit_said(message, known, call);
    return limit_ms > 0 && known->ran_ms + SLACK_MS >= limit_ms;
}

static bool may_raise(const mishap_foreign_code *code, const mishap_code *named)
{
    const mishap_code *const *each = code->raises;
    while (*each && *each != named)
        each++;
    return named && *each;
}

static const mishap_code *code_of(const mishap_foreign_message *message,
                                  const mishap_foreign_known *known, const mishap_call *call)
{
    const mishap_foreign_code *code = known->foreign->code;
    mishap_text name = mishap_json_text(yyjson_obj_get(message->failure, "code"));
    const mishap_code *named = mishap_catalog_find(MISHAP_SPELLING_NAME, name);
    bool is_true = may_raise(code, named);
    if (named == MISHAP_CODE_TIMEOUT)
        is_true = is_over(message, known, call);
    else if (named == MISHAP_CODE_CANCELLED)
        is_true = is_true || known->interrupted;
    return is_true ? named : code->raises[0];
}

/* -- parts of the failure ---------------------------------------------------------------------- */

/* The service's own message for this code, used where the server knows what happened; NULL:
 * none. */
static const char *words_for(const mishap_foreign_code *code, const mishap_code *raised)
{
    return raised == MISHAP_CODE_TIMEOUT     ? code->timed_out
           : raised == MISHAP_CODE_CANCELLED ? code->cancelled
                                             : NULL;
}

/* Tell these words; the time limit replaces %s in them. */
static void tell_words(mishap *m, const char *words, int64_t limit_ms)
{
    char time[48], whole[200];
    const char *place = strstr(words, "%s");
    bool even = limit_ms % 1000 == 0;
    snprintf(time, sizeof time, "%.*f second%s", even ? 0 : 3, (double)limit_ms / 1000,
             limit_ms == 1000 ? "" : "s");
    if (place)
        snprintf(whole, sizeof whole, "%.*s%s%s", (int)(place - words), words, time, place + 2);
    mishap_restore_part(m, MISHAP_PART_MESSAGE, mishap_text_of(place ? whole : words));
}

static void take_message(mishap *m, yyjson_val *value)
{
    mishap_text words = mishap_json_text(value);
    mishap_restore_part(m, MISHAP_PART_MESSAGE,
                        yyjson_is_str(value) && !mishap_blank(words)
                            ? words
                            : mishap_text_of("The code says nothing of its failure."));
}

/* Take the failure's type from the message. A type that a condition report would spell like a code
 * of the catalog is refused: the code could pass its own failure off as one of the server. */
static void take_type(mishap *m, const mishap_foreign_code *code, yyjson_val *value)
{
    mishap_restore_part(m, MISHAP_PART_TYPE, mishap_json_text(value));
    mishap_text type = mishap_told(m)->type; /* empty: the type is that of the failure's code */
    const mishap_code *same = mishap_catalog_find(MISHAP_SPELLING_CONDITION, type);
    bool own = yyjson_is_str(value) && yyjson_get_len(value) > 0;
    if (code->conditions)
        own = own && (!same || same->category == MISHAP_EXECUTION);
    else
        own = own && type.length && !same;
    if (!own && code->type)
        mishap_restore_part(m, MISHAP_PART_TYPE, mishap_text_of(code->type));
}

static void take_shape(mishap *m, const mishap_foreign_code *code, yyjson_val *failure)
{
    size_t index, count;
    yyjson_val *frame, *output = yyjson_obj_get(failure, "stdout");
    yyjson_val *context = yyjson_obj_get(failure, "context");
    if (yyjson_is_str(output))
        mishap_restore_part(m, MISHAP_PART_OUTPUT, mishap_json_text(output));
    MISHAP_JSON_ITEMS (yyjson_obj_get(failure, "backtrace"), index, count, frame)
        if (yyjson_is_str(frame))
            mishap_frame_add(m, mishap_json_text(frame));
    for (const char *const *name = code->context; name && *name; name++) {
        yyjson_val *value = yyjson_obj_get(context, *name);
        if (value)
            mishap_read_member(m, mishap_text_of(*name), value);
    }
}

mishap *mishap_code_take_failure(const mishap_foreign_message *message,
                                 const mishap_foreign_known *known, const mishap_call *call)
{
    const mishap_foreign_code *code = known->foreign->code;
    const mishap_code *raised = code_of(message, known, call);
    const char *words = words_for(code, raised);
    mishap *m = mishap_restore_code(raised), *whole;
    if (words) {
        tell_words(m, words, limit_said(message, known, call));
    } else {
        take_message(m, yyjson_obj_get(message->failure, "message"));
        take_type(m, code, yyjson_obj_get(message->failure, "type"));
    }
    take_shape(m, code, message->failure);
    return mishap_restore_end(m, &whole) ? whole : mishap_out_of_memory();
}

/* -- failures without a message of the program ------------------------------------------------- */

mishap *mishap_code_broke_answer(const mishap_foreign_code *code, mishap *cause)
{
    mishap *m = mishap_raise_at(code->raises[0], MISHAP_HERE,
                                "The code sent an answer of its own that is none.");
    return mishap_because(code->type ? mishap_type(m, code->type) : m, cause);
}

mishap *mishap_foreign_code_ended(const mishap_foreign *foreign, const mishap_foreign_end *end)
{
    if (!foreign->code || !end->code_began || end->timed_out || end->cancelled)
        return NULL;
    return mishap_raise_at(foreign->code->raises[0], MISHAP_HERE, "The code ended its process.");
}

/* -- text -------------------------------------------------------------------------------------- */

/* A program escapes the markers of reports in what it quotes, so an honest answer contains none of
 * these. */
void mishap_code_put_text(mishap_buffer *out, mishap_text text)
{
    static const char *const markers[] = { "[ERROR]", "[Backtrace]" };
    size_t from = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] != '[')
            continue;
        for (size_t k = 0; k < sizeof markers / sizeof *markers; k++) {
            size_t length = strlen(markers[k]);
            if (text.length - i < length || memcmp(text.data + i, markers[k], length) != 0)
                continue;
            mishap_buffer_put(out, text.data + from, i + 1 - from);
            mishap_buffer_put_char(out, '\\');
            from = i + 1;
        }
    }
    if (from < text.length) /* an empty text may have no address */
        mishap_buffer_put(out, text.data + from, text.length - from);
}
