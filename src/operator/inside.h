/* What the files of this folder share. */
#ifndef MISHAP_OPERATOR_INSIDE_H
#define MISHAP_OPERATOR_INSIDE_H

#include "index/index.h"
#include "operation/operation.h"
#include "operator/operator.h"

/* -- the service (service.c) ------------------------------------------------------------------- */

extern const mishap_service mishap_operator_service;

/* The index, with all that the journal has so far. */
mishap *mishap_operator_index(mishap_call *call, mishap_index **out);

/* The path of the journal of the program; NULL: it has none. It lives as long as the call. */
const char *mishap_operator_journal(mishap_call *call);

/* A buffer that lives as long as the call. */
mishap_buffer *mishap_operator_buffer(mishap_call *call);

/* Answer with the JSON of a buffer. */
mishap *mishap_operator_answer(mishap_call *call, mishap_buffer *json);

/* -- filters (filters.c) ----------------------------------------------------------------------- */

/* Read the filters of a call, of which it declares some. VALIDATION_ERROR names every one that is
 * not known, with the nearest name. */
mishap *mishap_operator_read_filter(mishap_call *call, mishap_index_filter *filter);

/* A moment: 2026-11-17T16:00:00Z, 2026-11-17, or how long ago: 90s, 15m, 6h, 7d. False: neither. */
bool mishap_operator_read_time(mishap_text text, int64_t now_ms, int64_t *ms);

/* -- ids (ids.c) ------------------------------------------------------------------------------- */

/* The next id in a text, which is shortened: a UUID in either case, with hyphens or without, also
 * if a mail program has broken its line (`=` at the end of a line). False: there is no further
 * one. */
bool mishap_operator_next_id(mishap_text *text, char id[MISHAP_ID_LENGTH + 1]);

/* -- handlers ---------------------------------------------------------------------------------- */

mishap *mishap_operator_list(mishap_call *call);
mishap *mishap_operator_groups(mishap_call *call);
mishap *mishap_operator_group(mishap_call *call);
mishap *mishap_operator_resolve(mishap_call *call);
mishap *mishap_operator_mute(mishap_call *call);
mishap *mishap_operator_stats(mishap_call *call);
mishap *mishap_operator_show(mishap_call *call);
mishap *mishap_operator_export(mishap_call *call);
mishap *mishap_operator_tail(mishap_call *call);

/* -- source lines (source.c) ------------------------------------------------------------------- */

/* Add [{"file","line","changed","lines":[{"line","text"}]}]: the lines around the place of a record
 * and of its causes, from files that are at hand. `time_ms`: a file that was changed later says
 * so. */
void mishap_operator_put_source(mishap_buffer *json, yyjson_val *record, int64_t time_ms);

/* -- the program's own code (frames.c) ----------------------------------------------------------
 */

typedef enum mishap_who_raised {
    MISHAP_RAISED_BY_CODE,    /* of the program, at the place of the record; or that is not known */
    MISHAP_RAISED_BY_CHECKS,  /* of the library: the handler did not run */
    MISHAP_RAISED_BY_LIBRARY, /* which has found that the handler crashed, exited or hung */
} mishap_who_raised;
mishap_who_raised mishap_operator_who_raised(yyjson_val *record);

/* How many frames at the top of a stack are not below the handler; all, if it is not in it. */
size_t mishap_operator_handler_frames(yyjson_val *stack);

/* The frame of the program's own code that was reached last; none: it is not known. */
mishap_text mishap_operator_handler_frame(yyjson_val *stack);

/* -- for a person (page.c, table.c) --------------------------------------------------- */

/* Columns of the terminal that a command answers on; SIZE_MAX: it is none. */
size_t mishap_operator_width(const mishap_call *call);

/* The page of one incident, from the JSON of `show`. */
void mishap_operator_put_page(mishap_buffer *text, yyjson_val *shown, const mishap_call *call);

/* That of one group. */
void mishap_operator_put_group_page(mishap_buffer *text, yyjson_val *group,
                                    const mishap_call *call);

/* Lists as lines. */
void mishap_operator_put_rows(mishap_buffer *text, yyjson_val *rows, const char *indent,
                              size_t width);
void mishap_operator_put_groups(mishap_buffer *text, yyjson_val *groups, size_t width);
void mishap_operator_put_stats(mishap_buffer *text, yyjson_val *stats);

/* 24 counts as a line of bars. */
void mishap_operator_put_trend(mishap_buffer *text, yyjson_val *counts);

/* A member as text; none if it is absent or no string. */
static inline mishap_text mishap_operator_text(yyjson_val *object, const char *name)
{
    return mishap_json_text(yyjson_obj_get(object, name));
}

/* Text on one line, cut to so many columns and filled up with blanks to them if `fill`. */
void mishap_operator_put_cell(mishap_buffer *text, mishap_text words, size_t columns, bool fill);

#endif
