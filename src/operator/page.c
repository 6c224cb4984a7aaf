/*
 * The page of one incident, for a person who has pasted an id: first what the caller saw, then what
 * happened, then what is near it.
 */
#include <stdio.h>

#include "operator/inside.h"

static void put_heading(mishap_buffer *text, const char *words)
{
    MISHAP_PUT(text, "\n");
    mishap_buffer_put_text(text, mishap_text_of(words));
    MISHAP_PUT(text, "\n");
}

/* Text with each of its lines indented. */
static void put_block(mishap_buffer *text, const char *indent, mishap_text words)
{
    const char *at = words.data, *end = at + words.length;
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed ? feed : end;
        mishap_buffer_put_text(text, mishap_text_of(indent));
        mishap_put_printable_line(text, (mishap_text){ at, (size_t)(stop - at) });
        MISHAP_PUT(text, "\n");
        at = stop + 1;
    }
}

/* "    message    No todo has this id." */
static void put_fact(mishap_buffer *text, const char *name, mishap_text words)
{
    char label[32];
    if (!words.length)
        return;
    snprintf(label, sizeof label, "    %-12s", name);
    mishap_buffer_put_text(text, mishap_text_of(label));
    mishap_put_printable_line(text, words);
    MISHAP_PUT(text, "\n");
}

/* A value as text: strings without quotes, anything else as JSON. */
static void put_value_fact(mishap_buffer *text, const char *name, yyjson_val *value)
{
    mishap_buffer json = { 0 };
    if (!value)
        return;
    if (!yyjson_is_str(value))
        mishap_json_copy(&json, value);
    put_fact(text, name,
             yyjson_is_str(value) ? mishap_json_text(value) : mishap_buffer_text(&json));
    text->failed = text->failed || json.failed;
    mishap_buffer_release(&json);
}

/* Members of an object, one a line: "    noted       file: /srv/x". */
static void put_members(mishap_buffer *text, const char *name, yyjson_val *object)
{
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        mishap_buffer line = { 0 };
        mishap_buffer_put_text(&line, mishap_json_text(key));
        MISHAP_PUT(&line, ": ");
        if (yyjson_is_str(value)) {
            mishap_buffer_put_text(&line, mishap_json_text(value));
        } else {
            mishap_buffer json = { 0 }; /* a comma would be due before it in the line */
            mishap_json_copy(&json, value);
            mishap_buffer_put_text(&line, mishap_buffer_text(&json));
            line.failed = line.failed || json.failed;
            mishap_buffer_release(&json);
        }
        put_fact(text, index ? "" : name, mishap_buffer_text(&line));
        text->failed = text->failed || line.failed;
        mishap_buffer_release(&line);
    }
}

static void put_strings(mishap_buffer *text, const char *name, yyjson_val *list)
{
    size_t index, count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (list, index, count, item)
        put_fact(text, index ? "" : name, mishap_json_text(item));
}

/* -- the head ---------------------------------------------------------------------------------- */

static void put_duration(mishap_buffer *text, yyjson_val *record)
{
    yyjson_val *us = yyjson_obj_get(record, "duration_us");
    char words[48];
    if (!us)
        return;
    double number = yyjson_get_num(us);
    if (number < 1000)
        snprintf(words, sizeof words, ", after %.0f µs", number);
    else
        snprintf(words, sizeof words, ", after %.1f ms", number / 1000);
    mishap_buffer_put_text(text, mishap_text_of(words));
}

static void put_word(mishap_buffer *text, const char *before, mishap_text word)
{
    if (!word.length)
        return;
    mishap_buffer_put_text(text, mishap_text_of(before));
    mishap_put_printable_line(text, word);
}

static void put_age(mishap_buffer *text, mishap_text time, int64_t now_ms)
{
    int64_t then;
    char words[64];
    if (!time.length || !mishap_operator_read_time(time, now_ms, &then) || then > now_ms)
        return;
    long long seconds = (now_ms - then) / 1000;
    long long number = seconds < 120      ? seconds
                       : seconds < 7200   ? seconds / 60
                       : seconds < 172800 ? seconds / 3600
                                          : seconds / 86400;
    const char *unit = seconds < 120      ? "seconds"
                       : seconds < 7200   ? "minutes"
                       : seconds < 172800 ? "hours"
                                          : "days";
    snprintf(words, sizeof words, " (%lld %s ago)", number, unit);
    mishap_buffer_put_text(text, mishap_text_of(words));
}

/* "NOT_FOUND in todos.show, over http, for alice, after 1.2 ms" and the time. */
static void put_head(mishap_buffer *text, yyjson_val *record, int64_t now_ms)
{
    mishap_text time = mishap_operator_text(record, "time");
    put_word(text, "incident ", mishap_operator_text(record, "id"));
    MISHAP_PUT(text, "\n");
    put_word(text, "", mishap_operator_text(record, "code"));
    put_word(text, " in ", mishap_operator_text(record, "operation"));
    put_word(text, ", over ", mishap_operator_text(record, "boundary"));
    put_word(text, ", for ", mishap_operator_text(record, "caller"));
    put_duration(text, record);
    MISHAP_PUT(text, "\n");
    put_word(text, "", time);
    put_age(text, time, now_ms);
    MISHAP_PUT(text, "\n");
}

/* -- what the caller saw ----------------------------------------------------------------------- */

/* The response as it was sent. What a format leaves out of it is not among what the caller saw. */
static void put_seen(mishap_buffer *text, yyjson_val *side)
{
    mishap_text response = mishap_operator_text(side, "response");
    put_heading(text, "What the caller saw");
    put_value_fact(text, "status", yyjson_obj_get(side, "status"));
    if (response.length) {
        put_fact(text, "response", mishap_operator_text(side, "response_type"));
        put_block(text, "        ", response);
    }
}

static void put_public(mishap_buffer *text, yyjson_val *side)
{
    put_seen(text, side);
    if (mishap_operator_text(side, "response").length)
        put_heading(text, "The public side, of which each format shows a part");
    put_fact(text, "message", mishap_operator_text(side, "message"));
    put_fact(text, "suggestion", mishap_operator_text(side, "suggestion"));
    put_fact(text, "cause", mishap_operator_text(side, "cause"));
    put_members(text, "told", yyjson_obj_get(side, "told"));
    put_value_fact(text, "fields", yyjson_obj_get(side, "fields"));
}

/* -- what happened ----------------------------------------------------------------------------- */

static void put_place(mishap_buffer *text, const char *name, yyjson_val *place)
{
    mishap_buffer words = { 0 };
    mishap_text function = mishap_operator_text(place, "function");
    if (!mishap_operator_text(place, "file").length)
        return;
    if (function.length) {
        mishap_buffer_put_text(&words, function);
        MISHAP_PUT(&words, "() in ");
    }
    mishap_buffer_put_text(&words, mishap_operator_text(place, "file"));
    MISHAP_PUT(&words, ":");
    mishap_buffer_put_uint(&words, yyjson_get_uint(yyjson_obj_get(place, "line")));
    put_fact(text, name, mishap_buffer_text(&words));
    text->failed = text->failed || words.failed;
    mishap_buffer_release(&words);
}

static void put_source(mishap_buffer *text, yyjson_val *sources)
{
    size_t i, count, at, lines;
    yyjson_val *source, *line;
    MISHAP_JSON_ITEMS (sources, i, count, source) {
        uint64_t wanted = yyjson_get_uint(yyjson_obj_get(source, "line"));
        char label[64];
        put_fact(text, i ? "" : "source", mishap_operator_text(source, "file"));
        if (yyjson_get_bool(yyjson_obj_get(source, "changed")))
            put_fact(text, "",
                     (mishap_text)MISHAP_TEXT("The file was changed after this incident."));
        MISHAP_JSON_ITEMS (yyjson_obj_get(source, "lines"), at, lines, line) {
            uint64_t number = yyjson_get_uint(yyjson_obj_get(line, "line"));
            snprintf(label, sizeof label, "      %s %5llu  ", number == wanted ? ">" : " ",
                     (unsigned long long)number);
            mishap_buffer_put_text(text, mishap_text_of(label));
            mishap_put_printable(text, mishap_operator_text(line, "text"));
            MISHAP_PUT(text, "\n");
        }
    }
}

static void put_causes(mishap_buffer *text, yyjson_val *causes)
{
    size_t index, count;
    yyjson_val *cause;
    MISHAP_JSON_ITEMS (causes, index, count, cause) {
        mishap_buffer words = { 0 };
        mishap_buffer_put_text(&words, mishap_operator_text(cause, "code"));
        MISHAP_PUT(&words, ": ");
        mishap_text said = mishap_operator_text(cause, "private_message");
        mishap_buffer_put_text(&words, said.length ? said : mishap_operator_text(cause, "message"));
        put_fact(text, "because", mishap_buffer_text(&words));
        text->failed = text->failed || words.failed;
        mishap_buffer_release(&words);
        put_members(text, "", yyjson_obj_get(cause, "told"));
        put_members(text, "noted", yyjson_obj_get(cause, "noted"));
        put_place(text, "at", yyjson_obj_get(cause, "place"));
    }
}

/* What is of another failure is not to be taken for something of this one. */
static void put_private_heading(mishap_buffer *text, yyjson_val *shown)
{
    bool whole = yyjson_get_bool(yyjson_obj_get(shown, "whole"));
    yyjson_val *like = yyjson_obj_get(shown, "like");
    if (whole || !like) {
        put_heading(text, "What happened");
        if (!whole)
            MISHAP_PUT(text, "    Nothing more than the above was recorded.\n");
        return;
    }
    MISHAP_PUT(text, "\nWhat happened to a similar failure");
    put_word(text, ", ", mishap_operator_text(like, "id"));
    MISHAP_PUT(text, "\n    There were too many of this group to write each in full. Its request, "
                     "arguments\n    and headers are not those of this failure.\n");
}

/* The frames of the handler, and how many of the library lie below them. */
static void put_stack(mishap_buffer *text, yyjson_val *stack)
{
    size_t index, count, shown = mishap_operator_handler_frames(stack);
    char words[100];
    yyjson_val *frame;
    MISHAP_JSON_ITEMS (stack, index, count, frame)
        if (index < shown)
            put_fact(text, index ? "" : "stack", mishap_json_text(frame));
    count = yyjson_arr_size(stack);
    if (shown == count)
        return;
    snprintf(words, sizeof words, "… %zu more of the library: --output json has them",
             count - shown);
    put_fact(text, shown ? "" : "stack", mishap_text_of(words));
}

/* "loop 7291" */
static void put_process(mishap_buffer *text, yyjson_val *process)
{
    yyjson_val *pid = yyjson_obj_get(process, "pid");
    mishap_buffer words = { 0 };
    mishap_buffer_put_text(&words, mishap_operator_text(process, "role"));
    if (pid) {
        MISHAP_PUT(&words, " ");
        mishap_buffer_put_uint(&words, yyjson_get_uint(pid));
    }
    put_fact(text, "process", mishap_buffer_text(&words));
    text->failed = text->failed || words.failed;
    mishap_buffer_release(&words);
}

static void put_private(mishap_buffer *text, yyjson_val *shown, yyjson_val *side)
{
    put_private_heading(text, shown);
    put_fact(text, "message", mishap_operator_text(side, "private_message"));
    put_members(text, "noted", yyjson_obj_get(side, "noted"));
    mishap_text frame = mishap_operator_text(side, "handler_frame");
    put_fact(text, "at", frame);
    if (mishap_operator_text(side, "raised_by").length)
        put_fact(text, frame.length ? "found by" : "at", mishap_operator_text(side, "raised_by"));
    else
        put_place(text, "at", yyjson_obj_get(side, "place"));
    put_causes(text, yyjson_obj_get(side, "causes"));
    put_source(text, yyjson_obj_get(side, "source"));
    put_stack(text, yyjson_obj_get(side, "stack"));
    put_strings(text, "backtrace", yyjson_obj_get(side, "backtrace"));
    put_strings(text, "said", yyjson_obj_get(side, "lines"));
    put_fact(text, "request", mishap_operator_text(side, "request"));
    put_value_fact(text, "arguments", yyjson_obj_get(side, "arguments"));
    put_members(text, "headers", yyjson_obj_get(side, "headers"));
    mishap_text output = mishap_operator_text(side, "stdout");
    if (output.length) {
        put_fact(text, "printed", (mishap_text)MISHAP_TEXT("by the handler:"));
        put_block(text, "        ", output);
    }
    put_process(text, yyjson_obj_get(side, "process"));
    put_fact(text, "version", mishap_operator_text(side, "version"));
}

/* -- what is near it --------------------------------------------------------------------------- */

static void put_group(mishap_buffer *text, yyjson_val *group, const char *program)
{
    size_t index, count;
    yyjson_val *entry;
    put_fact(text, "group", mishap_operator_text(group, "group"));
    put_fact(text, "state", mishap_operator_text(group, "state"));
    put_value_fact(text, "failures", yyjson_obj_get(group, "count"));
    put_fact(text, "first", mishap_operator_text(group, "first"));
    put_fact(text, "last", mishap_operator_text(group, "last"));
    if (yyjson_arr_size(yyjson_obj_get(group, "trend"))) {
        mishap_buffer trend = { 0 };
        mishap_operator_put_trend(&trend, yyjson_obj_get(group, "trend"));
        MISHAP_PUT(&trend, "  in the last 24 hours");
        put_fact(text, "by hour", mishap_buffer_text(&trend));
        text->failed = text->failed || trend.failed;
        mishap_buffer_release(&trend);
    }
    MISHAP_JSON_ITEMS (yyjson_obj_get(group, "history"), index, count, entry) {
        put_fact(text, index ? "" : "history", mishap_operator_text(entry, "time"));
        put_fact(text, "", mishap_operator_text(entry, "state"));
    }
    MISHAP_PUT(text, "\n");
    put_word(text, "All failures of this group: ", mishap_text_of(program));
    put_word(text, " incidents list --group ", mishap_operator_text(group, "group"));
    MISHAP_PUT(text, "\n");
}

static void put_near(mishap_buffer *text, const char *heading, yyjson_val *rows, size_t width)
{
    if (!yyjson_arr_size(rows))
        return;
    put_heading(text, heading);
    mishap_operator_put_rows(text, rows, "    ", width);
}

void mishap_operator_put_page(mishap_buffer *text, yyjson_val *shown, const mishap_call *call)
{
    yyjson_val *group = yyjson_obj_get(shown, "group");
    size_t width = mishap_operator_width(call);
    put_head(text, yyjson_obj_get(shown, "incident"), mishap_clock_now_ms());
    put_public(text, yyjson_obj_get(shown, "public"));
    put_private(text, shown, yyjson_obj_get(shown, "private"));
    put_near(text, "Other failures of the same trace", yyjson_obj_get(shown, "trace"), width);
    put_near(text, "Failures of the same caller within five minutes", yyjson_obj_get(shown, "near"),
             width);
    if (!yyjson_is_obj(group))
        return;
    put_heading(text, "Its group");
    put_group(text, group, mishap_app_of(call)->name);
}

void mishap_operator_put_group_page(mishap_buffer *text, yyjson_val *group, const mishap_call *call)
{
    size_t index, count;
    yyjson_val *day;
    put_word(text, "", mishap_operator_text(group, "code"));
    put_word(text, " in ", mishap_operator_text(group, "operation"));
    MISHAP_PUT(text, "\n");
    put_fact(text, "message", mishap_operator_text(group, "message"));
    put_fact(text, "at", mishap_operator_text(group, "place"));
    MISHAP_JSON_ITEMS (yyjson_obj_get(group, "days"), index, count, day) {
        mishap_buffer words = { 0 };
        mishap_buffer_put_text(&words, mishap_operator_text(day, "day"));
        MISHAP_PUT(&words, ": ");
        mishap_buffer_put_uint(&words, yyjson_get_uint(yyjson_obj_get(day, "count")));
        put_fact(text, index ? "" : "by day", mishap_buffer_text(&words));
        text->failed = text->failed || words.failed;
        mishap_buffer_release(&words);
    }
    put_group(text, group, mishap_app_of(call)->name);
}
