/* A program that sets whatever headers, cookies and versions its caller wants: for
 * tests/http/album_test.py. */
#include <mishap/main.h>
#include <string.h>

static mishap *set_header(mishap_call *call)
{
    mishap_set_header(call, "X-First", "1");
    mishap_set_header(call, mishap_string(call, "name"), mishap_string(call, "value"));
    return mishap_answer(call, "{}");
}

static mishap *set_cookie(mishap_call *call)
{
    mishap_set_cookie(call, &(mishap_cookie){ .name = mishap_string(call, "name"),
                                              .value = mishap_string(call, "value"),
                                              .path = mishap_string(call, "path"),
                                              .insecure = mishap_boolean(call, "insecure") });
    return mishap_answer(call, "{}");
}

static mishap *set_version(mishap_call *call)
{
    mishap_answer_version(call, mishap_string(call, "value"));
    return mishap_answer(call, "{}");
}

/* Headers of a failure are those of the server. */
static mishap *fail(mishap_call *call)
{
    mishap_set_header(call, "X-Own", "1");
    mishap_set_cookie(call, &(mishap_cookie){ .name = "a", .value = "b" });
    return mishap_raise(NOT_FOUND, "There is nothing.");
}

static mishap *flow(mishap_call *call)
{
    mishap_set_header(call, "X-Own", "1");
    mishap_stream(call, "text/plain");
    mishap_stream_write(call, mishap_text_of("abc"));
    return NULL;
}

static mishap *flow_as(mishap_call *call)
{
    mishap_stream(call, mishap_string(call, "type"));
    mishap_stream_write(call, mishap_text_of("abc"));
    return NULL;
}

/* A text that has a version. */
static mishap *page(mishap_call *call)
{
    static char text[5000];
    memset(text, 'x', sizeof text);
    mishap_set_header(call, "Cache-Control", mishap_string(call, "caching"));
    mishap_answer_version(call, "7");
    return mishap_answer_bytes(call, (mishap_text){ text, sizeof text }, "text/plain");
}

static mishap *much(mishap_call *call)
{
    mishap_answer_array(call, "items");
    for (int64_t i = 0; i < mishap_integer(call, "count"); i++)
        mishap_answer_item(call, i);
    return mishap_answer_end(call);
}

#define STRING(text)                                                                               \
    {                                                                                              \
        .name = text, .type = MISHAP_STRING, .initial = "\"\""                                     \
    }
#define COUNT                                                                                      \
    {                                                                                              \
        .name = "count", .type = MISHAP_INTEGER, .required = true                                  \
    }

static const mishap_operation *const operations = MISHAP_OPERATIONS(
    { "header", "Set a header", MISHAP_PARAMS(STRING("name"), STRING("value")), set_header,
      .route = "GET /header" },
    { "quick", "Set a header at once", MISHAP_PARAMS(STRING("name"), STRING("value")), set_header,
      .route = "GET /quick", .quick = true },
    { "cookie", "Set a cookie",
      MISHAP_PARAMS(STRING("name"), STRING("value"), { .name = "path", .type = MISHAP_STRING },
                    { .name = "insecure", .type = MISHAP_BOOLEAN }),
      set_cookie, .route = "GET /cookie" },
    { "version", "Set a version", MISHAP_PARAMS(STRING("value")), set_version,
      .route = "GET /version" },
    { "fail", "Fail", .run = fail, .route = "GET /fail", .raises = MISHAP_RAISES(NOT_FOUND) },
    { "flow", "Stream", .run = flow, .route = "GET /flow", .answers_type = "text/plain" },
    { "flow_as", "Stream as any type", MISHAP_PARAMS(STRING("type")), flow_as,
      .route = "GET /flow_as", .answers_type = "text/plain" },
    { "page", "Answer a page",
      MISHAP_PARAMS({ .name = "caching", .type = MISHAP_STRING, .initial = "\"no-cache\"" }), page,
      .route = "GET /page", .answers_type = "text/plain" },
    { "much", "Answer much", MISHAP_PARAMS(COUNT), much, .route = "GET /much" },
    { "hidden", "Answer much beside a secret",
      MISHAP_PARAMS(COUNT, { .name = "key", .type = MISHAP_STRING, .secret = true }), much,
      .route = "GET /hidden" });

int main(int argc, char **argv)
{
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "headers",
                                      .version = "1.0",
                                      .summary = "Sets headers",
                                      .operations = operations });
}
