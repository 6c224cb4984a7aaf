/*
 * A failure as the object of a protocol error. The number is for programs that do not know this
 * library. `data` is the public side of the failure in canonical form.
 */
#include "mcp/wire/write.h"
#include "dialect/parts.h"
#include "mishap/inside.h"
#include "operation/hide.h"

/* Used if there is no memory for more. */
const mishap_text mishap_mcp_last_error = MISHAP_TEXT(MISHAP_MCP_LAST_ERROR);

/* Clients show the message of an error and drop its data: so the message says, too, which fields
 * are wrong. */
static void put_words(mishap_buffer *words, const mishap_public *told)
{
    enum { MOST = 5 };
    size_t count = 0;
    mishap_buffer_put_text(words, mishap_public_message(told));
    for (const mishap_field *field = told->fields; field && count < MOST; field = field->next) {
        mishap_buffer_put_char(words, ' ');
        mishap_put_field_sentence(words, field);
        count++;
    }
    if (told->field_count > count) {
        MISHAP_PUT(words, " There are ");
        mishap_buffer_put_uint(words, told->field_count - count);
        MISHAP_PUT(words, " more.");
    }
}

/* The text of a failure may come from a service, so it is filtered. */
mishap *mishap_mcp_put_error_object(mishap_buffer *b, int code, const mishap_public *told,
                                    const char *members, const mishap_secrets *secrets,
                                    const mishap_sent *sent)
{
    mishap_public worded = *told;
    mishap_buffer words = { 0 };
    if (told->fields && !told->message.length) {
        put_words(&words, told);
        worded.message = mishap_buffer_text(&words);
    }
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "code");
    mishap_json_int(b, code);
    MISHAP_JSON_KEY(b, "message");
    mishap_json_string(b, mishap_public_message(&worded));
    MISHAP_JSON_KEY(b, "data");
    mishap_json_open(b, '{');
    mishap_put_canonical(b, &worded, MISHAP_WITH_MESSAGE);
    if (members && *members) {
        mishap_json_comma(b);
        mishap_buffer_put_text(b, mishap_text_of(members));
    }
    mishap_json_close(b, '}');
    mishap_json_close(b, '}');
    b->failed = b->failed || words.failed;
    mishap_buffer_release(&words);
    return b->failed ? NULL : mishap_hide_json(b, secrets, sent);
}
