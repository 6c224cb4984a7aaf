/*
 * The headers of the protocol that repeat parts of a message. The stateless revision requires them,
 * because a proxy may read only the headers. This file checks that they match the body.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "mcp/transport/http/over_http.h"

enum { HEADER_MISMATCH = -32020 };

/* -- fields ------------------------------------------------------------------------------------ */

const mishap_http_wish mishap_mcp_fields[MISHAP_MCP_FIELDS + 1] = {
    [MISHAP_MCP_FIELD_SESSION] = { "Mcp-Session-Id", .from_pages = true, .to_pages = true },
    [MISHAP_MCP_FIELD_VERSION] = { "MCP-Protocol-Version", .from_pages = true },
    [MISHAP_MCP_FIELD_METHOD] = { "Mcp-Method", .from_pages = true },
    [MISHAP_MCP_FIELD_NAME] = { "Mcp-Name", .from_pages = true },
    [MISHAP_MCP_FIELD_LAST_EVENT] = { "Last-Event-ID", .from_pages = true },
};

/* The index of each in the fields of a request. */
static int places[MISHAP_MCP_FIELDS];

void mishap_mcp_fields_place(const mishap_http_fields *fields)
{
    for (size_t i = 0; i < MISHAP_MCP_FIELDS; i++)
        places[i] = mishap_http_field_find(fields, mishap_text_of(mishap_mcp_fields[i].name));
}

mishap_text mishap_mcp_field(const mishap_http_request *request, mishap_mcp_http_field field)
{
    return request->fields[places[field]];
}

/* -- what they say ----------------------------------------------------------------------------- */

/* True if a header field has this value, plain or as =?base64?…?=. */
static bool header_equals(mishap_text field, mishap_text value)
{
    static const mishap_text begin = MISHAP_TEXT("=?base64?"), end = MISHAP_TEXT("?=");
    if (field.length < begin.length + end.length ||
        memcmp(field.data, begin.data, begin.length) != 0 ||
        memcmp(field.data + field.length - end.length, end.data, end.length) != 0)
        return mishap_text_equal(field, value);
    mishap_text code = { field.data + begin.length, field.length - begin.length - end.length };
    char room[512];
    mishap_buffer spelled;
    mishap_buffer_init(&spelled, room, sizeof room);
    mishap_base64_put(&spelled, value); /* each value has exactly one spelling in base64 */
    bool equal = !spelled.failed && mishap_text_equal(code, mishap_buffer_text(&spelled));
    mishap_buffer_release(&spelled);
    return equal;
}

/* The value that Mcp-Name repeats: the name of a tool or prompt, the address of a resource, the id
 * of a task. */
static mishap_text name_in(const mishap_mcp_message *message)
{
    static const struct {
        const char *method, *key;
    } names[] = {
        { "tools/call", "name" },  { "prompts/get", "name" },    { "resources/read", "uri" },
        { "tasks/get", "taskId" }, { "tasks/update", "taskId" }, { "tasks/cancel", "taskId" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mishap_text_equal(message->method, mishap_text_of(names[i].method)))
            return mishap_json_text(yyjson_obj_get(message->params, names[i].key));
    return (mishap_text){ NULL, 0 };
}

/* -- parameters that are repeated -------------------------------------------------------------- */

/* A client must write other characters in base64. */
static bool is_plain(mishap_text field)
{
    for (size_t i = 0; i < field.length; i++)
        if ((unsigned char)field.data[i] >= 0x7f ||
            ((unsigned char)field.data[i] < ' ' && field.data[i] != '\t'))
            return false;
    return true;
}

/* A field does not end with a null byte. */
static bool is_decimal(mishap_text field)
{
    static const char allowed[] = "-0123456789.";
    for (size_t i = 0; i < field.length; i++)
        if (!memchr(allowed, field.data[i], sizeof allowed - 1))
            return false;
    return true;
}

/* True if a field is a decimal number with the value of an integer, such as 42 or 42.0. */
static bool is_number(mishap_text field, yyjson_val *value)
{
    char text[64];
    double wanted = yyjson_get_num(value), found;
    char *end;
    if (!field.length || field.length >= sizeof text || !is_decimal(field))
        return false;
    memcpy(text, field.data, field.length);
    text[field.length] = '\0';
    found = strtod(text, &end);
    return !*end && found <= wanted && found >= wanted;
}

/* A field and the argument that it repeats. What is no scalar is refused later, with the reason. */
static bool repeats(mishap_text field, yyjson_val *value)
{
    char room[64];
    mishap_buffer spelled;
    if (!value || yyjson_is_null(value))
        return !field.data;
    if (yyjson_is_ctn(value))
        return true;
    if (!field.data || !is_plain(field))
        return false;
    if (yyjson_is_str(value))
        return header_equals(field, mishap_json_text(value));
    mishap_buffer_init(&spelled, room, sizeof room);
    mishap_buffer_put_char(&spelled, '\n'); /* no comma is due after it */
    mishap_json_copy(&spelled, value);
    bool equal = !spelled.failed &&
                 header_equals(field, (mishap_text){ spelled.data + 1, spelled.length - 1 });
    mishap_buffer_release(&spelled);
    /* Beyond 2^53 a double cannot tell neighbours apart: those are compared as text. */
    return equal || (yyjson_is_num(value) && yyjson_get_num(value) <= 9007199254740991.0 &&
                     yyjson_get_num(value) >= -9007199254740991.0 && is_number(field, value));
}

/* The first parameter of a call whose header does not repeat it; NULL: all do. */
static const mishap_param *find_mismatch(const mishap_mcp_post *post,
                                         const mishap_http_request *request,
                                         const mishap_mcp_message *message)
{
    char name[sizeof MISHAP_PARAM_HEADER + MISHAP_PARAM_HEADER_LONGEST];
    const mishap_http_fields *fields = mishap_http_settings_of(post->front->http)->fields;
    yyjson_val *arguments = yyjson_obj_get(message->params, "arguments");
    const mishap_mcp_offer *tool = mishap_mcp_tool_find(&post->front->server, request->scopes,
                                                        name_in(message));
    const mishap_param *param = tool ? tool->operation->params : NULL;
    for (; param && param->name; param++) {
        if (!param->header)
            continue;
        int length = snprintf(name, sizeof name, MISHAP_PARAM_HEADER "%s", param->header);
        int place = mishap_http_field_find(fields, (mishap_text){ name, (size_t)length });
        if (place >= 0 && !repeats(request->fields[place], yyjson_obj_get(arguments, param->name)))
            return param;
    }
    return NULL;
}

static bool refuse_mismatch(mishap_mcp_post *post, const mishap_http_request *request,
                            const mishap_mcp_message *message)
{
    const mishap_param *param = mishap_text_equal(message->method,
                                                  (mishap_text)MISHAP_TEXT("tools/call"))
                                    ? find_mismatch(post, request, message)
                                    : NULL;
    if (!param)
        return false;
    mishap *failure = mishap_raise(
        BAD_REQUEST, "The header " MISHAP_PARAM_HEADER "%s does not match the argument `%s`.",
        param->header, param->name);
    failure = mishap_suggest(failure,
                             "Send the value of the argument in this header, as "
                             "=?base64?…?= if it is not plain ASCII; without the argument, "
                             "send no header.");
    mishap_mcp_post_refuse(post, message->id, HEADER_MISMATCH, 400, failure);
    return true;
}

bool mishap_mcp_refuse_headers(mishap_mcp_post *post, const mishap_http_request *request,
                               const mishap_mcp_message *message)
{
    mishap_text name = name_in(message);
    const char *which = NULL, *mend = NULL;
    if (!mishap_text_equal(mishap_mcp_field(request, MISHAP_MCP_FIELD_VERSION), message->claimed)) {
        which = "MCP-Protocol-Version";
        mend = "Send the protocol version that params._meta names.";
    } else if (mishap_mcp_revision_find(message->claimed) != MISHAP_MCP_2026_07_28) {
        return false; /* the message is refused for that */
    } else if (!header_equals(mishap_mcp_field(request, MISHAP_MCP_FIELD_METHOD),
                              message->method)) {
        which = "Mcp-Method";
        mend = "Send the method of the message in this header.";
    } else if (name.data &&
               !header_equals(mishap_mcp_field(request, MISHAP_MCP_FIELD_NAME), name)) {
        which = "Mcp-Name";
        mend = "Send params.name in this header, params.uri for resources/read, or params.taskId "
               "for tasks/get.";
    }
    if (!which)
        return refuse_mismatch(post, request, message);
    mishap *failure = mishap_raise(BAD_REQUEST, "The header %s does not match the message.", which);
    mishap_mcp_post_refuse(post, message->id, HEADER_MISMATCH, 400, mishap_suggest(failure, mend));
    return true;
}
