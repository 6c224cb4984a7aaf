/* The account of a mishap for the operator: the public and the private side, as plain text. */
#include "base/base.h"
#include "mishap/inside.h"

static void put_line(mishap_buffer *b, const char *label, mishap_text text)
{
    if (text.length) {
        MISHAP_PUT(b, "  ");
        mishap_buffer_put_text(b, mishap_text_of(label));
        mishap_buffer_put_text(b, text);
        MISHAP_PUT(b, "\n");
    }
}

static void put_members(mishap_buffer *b, const char *label, const mishap_member *member)
{
    for (; member; member = member->next) {
        MISHAP_PUT(b, "  ");
        mishap_buffer_put_text(b, mishap_text_of(label));
        mishap_buffer_put_text(b, member->key);
        MISHAP_PUT(b, " = ");
        mishap_json_bare(b, &member->value);
        MISHAP_PUT(b, "\n");
    }
}

static void put_value(mishap_buffer *b, const char *label, const mishap_value *value)
{
    if (value->kind == MISHAP_KIND_NONE)
        return;
    mishap_buffer_put_text(b, mishap_text_of(label));
    mishap_json_bare(b, value);
}

static void put_fields(mishap_buffer *b, const mishap_field *field)
{
    for (; field; field = field->next) {
        MISHAP_PUT(b, "  field ");
        mishap_buffer_put_text(b, field->field);
        MISHAP_PUT(b, ": ");
        mishap_buffer_put_text(b, field->error);
        put_value(b, " expected ", &field->expected);
        put_value(b, " min ", &field->min);
        put_value(b, " max ", &field->max);
        put_value(b, " actual ", &field->actual);
        if (field->message.length)
            put_value(b, " says ",
                      &(mishap_value){ .kind = MISHAP_KIND_TEXT, .text = field->message });
        MISHAP_PUT(b, "\n");
    }
}

static void put_retry(mishap_buffer *b, const mishap_public *told)
{
    if (told->retryable)
        MISHAP_PUT(b, "  retryable");
    if (told->retryable && told->retry_after_ms >= 0) {
        MISHAP_PUT(b, " after ");
        mishap_buffer_put_int(b, told->retry_after_ms);
        MISHAP_PUT(b, " ms");
    }
    if (told->retryable)
        MISHAP_PUT(b, "\n");
}

static void put_place(mishap_buffer *b, const mishap_place *place)
{
    if (!place->file)
        return;
    MISHAP_PUT(b, "  raised at ");
    mishap_buffer_put_text(b, mishap_text_of(place->file));
    MISHAP_PUT(b, ":");
    mishap_buffer_put_int(b, place->line);
    MISHAP_PUT(b, " in ");
    mishap_buffer_put_text(b, mishap_text_of(place->function));
    MISHAP_PUT(b, "\n");
}

static void put_frames(mishap_buffer *b, const mishap_frame *frame)
{
    for (size_t i = 0; frame; frame = frame->next, i++) {
        MISHAP_PUT(b, "  frame ");
        mishap_buffer_put_uint(b, i);
        MISHAP_PUT(b, ": ");
        mishap_buffer_put_text(b, frame->text);
        MISHAP_PUT(b, "\n");
    }
}

static void put_stack(mishap_buffer *b, const mishap_frame *frame)
{
    if (frame)
        MISHAP_PUT(b, "  stack:\n");
    for (; frame; frame = frame->next)
        put_line(b, "  ", frame->text);
}

void mishap_account_put_one(mishap_buffer *b, const mishap *m)
{
    const mishap_public *told = &m->told;
    mishap_buffer_put_text(b, told->code->name);
    MISHAP_PUT(b, ": ");
    mishap_buffer_put_text(b, mishap_public_message(told));
    MISHAP_PUT(b, "\n");
    put_line(b, "in detail: ", m->masked_message);
    put_line(b, "category ", mishap_text_of(mishap_category_name(told->category)));
    put_line(b, "incident ", told->incident);
    put_line(b, "cause as told: ", told->cause);
    put_line(b, "suggestion: ", mishap_public_suggestion(told));
    put_line(b, "see ", mishap_public_docs_url(told));
    put_retry(b, told);
    put_place(b, &m->place);
    put_members(b, "told ", told->context);
    put_members(b, "noted ", m->noted);
    put_fields(b, told->fields);
    put_line(b, "condition type ", told->type);
    put_line(b, "output: ", told->output);
    put_frames(b, told->frames);
    put_stack(b, m->stack);
    if (m->incomplete)
        MISHAP_PUT(b, "  some parts were left out: there was not enough memory\n");
    if (m->trace.count)
        MISHAP_PUT(b, "  native stack:\n");
}

void mishap_account(const mishap *m, mishap_buffer *buffer)
{
    for (; m; m = m->cause) {
        mishap_account_put_one(buffer, m);
        mishap_trace_put(buffer, &m->trace);
        if (m->cause)
            MISHAP_PUT(buffer, "caused by ");
    }
}
