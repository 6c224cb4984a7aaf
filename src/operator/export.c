/*
 * export: all incidents that fit some filters, as JSON lines or CSV, page by page from the index:
 * no more than a page is in memory.
 *
 * A spreadsheet runs a cell that begins with =, +, -, @, a tab or a carriage return as a formula.
 * Texts of callers are in these cells, so such a cell begins with an apostrophe.
 */
#include "operation/call.h"
#include "operator/inside.h"

enum { PAGE = 500 };

static const char *const columns[] = {
    "id",       "time",   "service", "operation", "boundary",    "caller", "code",
    "category", "status", "message", "group",     "duration_us", "whole",  "like",
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* -- CSV (RFC 4180) ---------------------------------------------------------------------------- */

static void put_csv_text(mishap_buffer *csv, mishap_text text)
{
    if (text.length && memchr("=+-@\t\r", text.data[0], 6))
        MISHAP_PUT(csv, "\"'");
    else
        MISHAP_PUT(csv, "\"");
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '"')
            MISHAP_PUT(csv, "\"");
        mishap_buffer_put_char(csv, text.data[i]);
    }
    MISHAP_PUT(csv, "\"");
}

static void put_csv_value(mishap_buffer *csv, yyjson_val *value)
{
    if (yyjson_is_str(value)) {
        put_csv_text(csv, mishap_json_text(value));
    } else if (value && !yyjson_is_null(value)) {
        mishap_buffer json = { 0 };
        mishap_json_copy(&json, value);
        if (yyjson_is_num(value) || yyjson_is_bool(value))
            mishap_buffer_put_text(csv, mishap_buffer_text(&json));
        else
            put_csv_text(csv, mishap_buffer_text(&json));
        csv->failed = csv->failed || json.failed;
        mishap_buffer_release(&json);
    }
}

static void put_csv_heading(mishap_buffer *csv)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        if (i)
            MISHAP_PUT(csv, ",");
        mishap_buffer_put_text(csv, mishap_text_of(columns[i]));
    }
    MISHAP_PUT(csv, "\r\n");
}

static void put_csv_row(mishap_buffer *csv, yyjson_val *row)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        if (i)
            MISHAP_PUT(csv, ",");
        put_csv_value(csv, yyjson_obj_get(row, columns[i]));
    }
    MISHAP_PUT(csv, "\r\n");
}

/* -- pages ------------------------------------------------------------------------------------- */

struct export_run {
    mishap_index *index;
    mishap_index_filter filter;
    mishap_buffer *page, *piece, *cursor;
    bool csv;
    bool more;
};

static void put_rows(struct export_run *run, yyjson_val *rows)
{
    size_t index, count;
    yyjson_val *row;
    MISHAP_JSON_ITEMS (rows, index, count, row) {
        if (run->csv) {
            put_csv_row(run->piece, row);
        } else {
            mishap_json_copy(run->piece, row); /* a document begins after a line feed */
            MISHAP_PUT(run->piece, "\n");
        }
    }
}

/* Make a piece of the next page. */
static mishap *next_page(struct export_run *run)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer_reset(run->page);
    mishap_buffer_reset(run->piece);
    mishap *failure = mishap_index_list(run->index, &run->filter, run->page);
    if (failure)
        return failure;
    if (run->page->failed || !mishap_json_read(&reader, mishap_buffer_text(run->page))) {
        mishap_json_reader_release(&reader);
        return mishap_out_of_memory();
    }
    put_rows(run, yyjson_obj_get(reader.root, "incidents"));
    mishap_text next = mishap_operator_text(reader.root, "next");
    mishap_buffer_reset(run->cursor);
    mishap_buffer_put_text(run->cursor, next);
    run->filter.cursor = mishap_buffer_text(run->cursor);
    run->more = next.length;
    mishap_json_reader_release(&reader);
    return run->piece->failed || run->cursor->failed ? mishap_out_of_memory() : NULL;
}

/* The first page is read before the stream begins: a filter that is not valid is a normal
 * failure. */
mishap *mishap_operator_export(mishap_call *call)
{
    struct export_run run = {
        .page = mishap_operator_buffer(call),
        .piece = mishap_operator_buffer(call),
        .cursor = mishap_operator_buffer(call),
        .csv = strcmp(mishap_string(call, "format"), "csv") == 0,
    };
    mishap *failure = mishap_operator_read_filter(call, &run.filter);
    if (!failure)
        failure = mishap_operator_index(call, &run.index);
    run.filter.records = !run.csv;
    run.filter.limit = PAGE;
    if (!failure)
        failure = next_page(&run);
    if (failure)
        return failure;
    bool reads = mishap_stream(call, run.csv ? "text/csv; charset=utf-8; header=present"
                                             : "application/x-ndjson");
    if (run.csv && reads) {
        mishap_buffer *heading = mishap_operator_buffer(call);
        put_csv_heading(heading);
        reads = !heading->failed && mishap_stream_write(call, mishap_buffer_text(heading));
    }
    while (reads && !failure) {
        reads = mishap_stream_write(call, mishap_buffer_text(run.piece));
        if (!run.more || !reads)
            break;
        failure = next_page(&run);
    }
    return failure;
}
