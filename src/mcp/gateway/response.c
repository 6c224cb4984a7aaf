/*
 * Responses of HTTP without an answer: error pages, refusals of a proxy.
 *
 * The process that speaks HTTP passes such a response on as an error of JSON-RPC, with the whole of
 * it in a member of the data, and the conversation reads it there. Texts are in base64, since they
 * may be any bytes. A server can write that member itself; it then says no more than it can say by
 * a response.
 */
#include "mcp/gateway/response.h"

#include <stdio.h>

#include "base/base64.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "upstream/upstream.h"

static const char member[] = "dev.mishap/response";

/* -- as a message ------------------------------------------------------------------------------ */

static void put_bytes(mishap_buffer *out, mishap_text bytes)
{
    MISHAP_PUT(out, "\"");
    mishap_base64_put(out, bytes);
    MISHAP_PUT(out, "\"");
}

static void put_response(mishap_buffer *out, const gateway_response *response)
{
    mishap_text body = response->body;
    char numbers[128];
    if (body.length > GATEWAY_MOST_RESPONSE)
        body.length = GATEWAY_MOST_RESPONSE;
    snprintf(numbers, sizeof numbers, ":{\"status\":%d,\"retry_after_ms\":%lld", response->status,
             (long long)response->retry_after_ms);
    mishap_json_string(out, mishap_text_of(member));
    mishap_buffer_put_text(out, mishap_text_of(numbers));
    if (response->large)
        MISHAP_PUT(out, ",\"large\":true");
    if (response->lost)
        MISHAP_PUT(out, ",\"lost\":true");
    MISHAP_PUT(out, ",\"type\":");
    put_bytes(out, response->type);
    MISHAP_PUT(out, ",\"body\":");
    put_bytes(out, body);
    MISHAP_PUT(out, "}");
}

void mishap_mcp_gateway_response_put(mishap_buffer *out, mishap_text id,
                                     const gateway_response *response)
{
    if (id.length) {
        MISHAP_PUT(out, "{\"jsonrpc\":\"2.0\",\"id\":");
        mishap_buffer_put_text(out, id);
        MISHAP_PUT(out, ",\"error\":{\"code\":-32603,\"message\":\"\",\"data\":{");
    } else {
        MISHAP_PUT(out,
                   "{\"jsonrpc\":\"2.0\",\"method\":\"" GATEWAY_RESPONSE_METHOD "\",\"params\":{");
    }
    put_response(out, response);
    mishap_buffer_put_text(out, mishap_text_of(id.length ? "}}}" : "}}"));
}

bool mishap_mcp_gateway_response_read(yyjson_val *holder, gateway_response *response)
{
    yyjson_val *said = yyjson_obj_get(holder, member);
    yyjson_val *after = yyjson_obj_get(said, "retry_after_ms");
    mishap_buffer bytes = { 0 };
    if (!yyjson_is_obj(said) || !yyjson_is_int(yyjson_obj_get(said, "status")) ||
        !mishap_base64_read(&bytes, mishap_json_text(yyjson_obj_get(said, "type")))) {
        mishap_buffer_release(&bytes);
        return false;
    }
    size_t length = bytes.length;
    if (!mishap_base64_read(&bytes, mishap_json_text(yyjson_obj_get(said, "body")))) {
        mishap_buffer_release(&bytes);
        return false;
    }
    int64_t status = yyjson_get_sint(yyjson_obj_get(said, "status"));
    *response = (gateway_response){
        .status = status >= 100 && status <= 599 ? (int)status : 0,
        .retry_after_ms = yyjson_is_int(after) ? yyjson_get_sint(after) : -1,
        .large = yyjson_is_true(yyjson_obj_get(said, "large")),
        .lost = yyjson_is_true(yyjson_obj_get(said, "lost")),
        .type = { bytes.data, length },
        .body = { bytes.data ? bytes.data + length : NULL, bytes.length - length },
        .bytes = bytes,
    };
    return true;
}

void mishap_mcp_gateway_response_release(gateway_response *response)
{
    mishap_buffer_release(&response->bytes);
}

/* -- as a mishap ------------------------------------------------------------------------------- */

mishap *mishap_mcp_gateway_response_note(mishap *m, const gateway_response *response)
{
    mishap_text body = response->body;
    body.length = mishap_utf8_cut(body, GATEWAY_MOST_RESPONSE);
    m = mishap_note(m, "upstream_status", response->status);
    if (response->type.length)
        m = mishap_note(m, "upstream_type", response->type);
    if (body.length)
        m = mishap_note(m, "upstream_body", body);
    return m;
}

/* Of a response that is no error it is not known what was done, so it is not advised to retry. */
static mishap *tell_no_error(const gateway_response *response)
{
    mishap *m = response->large
                    ? mishap_raise(GENERAL_ERROR, "The response of the server is too large.")
                    : mishap_raise(GENERAL_ERROR,
                                   "The server has answered with the HTTP status %d.",
                                   response->status);
    return mishap_mcp_gateway_response_note(m, response);
}

mishap *mishap_mcp_gateway_response_tell(const gateway_response *response, const mishap_text *known,
                                         size_t count)
{
    char seconds[24] = "";
    mishap *m = NULL;
    if (response->status < 400)
        return tell_no_error(response);
    if (response->retry_after_ms >= 0)
        snprintf(
            seconds, sizeof seconds, "%lld",
            (long long)(response->retry_after_ms / 1000 + (response->retry_after_ms % 1000 != 0)));
    mishap *failure = mishap_upstream_read(
        &(mishap_upstream_response){ .status = response->status,
                                     .content_type = response->type,
                                     .retry_after = mishap_text_of(seconds),
                                     .body = response->body,
                                     .known = known,
                                     .known_count = count },
        &m, NULL);
    return failure ? failure : m;
}

bool mishap_mcp_gateway_number_is_general(int64_t number)
{
    return number == -32603 || (number <= -32000 && number >= -32099 && number != -32002 &&
                                !(number <= -32020 && number >= -32022) && number != -32042);
}
