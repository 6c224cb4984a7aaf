/*
 * A request on its way to its operation: the lines of the input are path, query, content type and
 * Accept field, and what follows is the body. For all of them, a route is found or not, a dialect
 * is chosen, and there is an object for the operation or a refusal in clean words.
 */
#include "../support/routes_of.h"
#include "dialect/negotiate.h"
#include "fuzz.h"
#include "operation/call.h"

static mishap *do_nothing(mishap_call *call)
{
    return mishap_answer(call, "{}");
}

static const char *const colours[] = { "red", "green", NULL };
static const mishap_param item = { "item", MISHAP_INTEGER, .range = { 0, 9 } };
static const mishap_param any_object = { "item", MISHAP_OBJECT, .help = "anything" };
static const mishap_param params[] = {
    { "name", MISHAP_STRING, .required = true, .length = { 1, 20 } },
    { "age", MISHAP_INTEGER, .required = true, .range = { 0, 150 } },
    { "ratio", MISHAP_NUMBER, .help = "a number" },
    { "live", MISHAP_BOOLEAN, .help = "yes or no" },
    { "colour", MISHAP_ENUM, .choices = colours, .initial = "\"red\"" },
    { "list", MISHAP_ARRAY, .items = &item, .length = { 0, 3 } },
    { "all", MISHAP_ARRAY, .items = &any_object },
    { "point", MISHAP_OBJECT, .help = "anything" },
    { "token", MISHAP_STRING, .secret = true },
    { 0 }
};
static const mishap_operation operations[] = {
    { "things.make", "Make one", params, do_nothing, .route = "POST /things" },
    { "things.change", "Change one", params, do_nothing, .route = "POST /things/:name" },
    { "things.age", "Age one", params, do_nothing, .route = "POST /things/:name/:age" },
    { "things.new", "Renew one", params, do_nothing, .route = "POST /things/:name/new" },
    { "things.tail", "Change many", params, do_nothing, .route = "POST /all/{name...}",
      .takes = "text/csv, image/*" },
    { 0 }
};
static const mishap_app app = { .name = "fuzz", .operations = operations };

/* The next line, and the rest in `left`. */
static mishap_text take_line(mishap_text *left)
{
    const char *feed = left->length ? memchr(left->data, '\n', left->length) : NULL;
    mishap_text line = *left;
    if (!feed) {
        *left = (mishap_text){ NULL, 0 };
        return line;
    }
    line.length = (size_t)(feed - line.data);
    *left = (mishap_text){ feed + 1, left->length - line.length - 1 };
    return line;
}

static void expect_told(mishap *failure)
{
    const mishap_code *code = mishap_told(failure)->code;
    mishap_text message = mishap_public_message(mishap_told(failure));
    EXPECT(code == MISHAP_CODE_BAD_REQUEST || code == MISHAP_CODE_VALIDATION_ERROR ||
               code == MISHAP_CODE_UNSUPPORTED_MEDIA_TYPE,
           "%s", code->name.data);
    expect_utf8(message);
    EXPECT(message.length < 300, "%.*s", SHOWN(message));
    for (size_t i = 0; i < message.length; i++)
        EXPECT((unsigned char)message.data[i] >= ' ' && message.data[i] != 127, "%.*s",
               SHOWN(message));
    mishap_free(failure);
}

/* What the object is made of is sound if the body is; then it can be read, and read again. */
static void expect_call(const mishap_operation *operation, mishap_text arguments, bool made)
{
    mishap_call *call = NULL;
    mishap *failure = mishap_call_begin(&app, operation, arguments, &call);
    if (made) {
        mishap_json_reader reader = MISHAP_JSON_READER;
        EXPECT(mishap_json_read(&reader, arguments), "%.*s", SHOWN(arguments));
        EXPECT(yyjson_is_obj(reader.root), "%.*s", SHOWN(arguments));
        mishap_json_reader_release(&reader);
    }
    if (failure)
        expect_told(failure);
    mishap_call_end(call);
}

/* What a handler gets of a tail never leads out of the folder that it is looked up in. */
static void expect_no_way_out(mishap_text tail)
{
    mishap_buffer plain = { 0 };
    if (mishap_url_unescape(&plain, tail, false)) {
        mishap_buffer_put_char(&plain, '\0');
        EXPECT(!plain.failed && strlen(plain.data) == plain.length - 1, "%.*s", SHOWN(tail));
        EXPECT(plain.data[0] && plain.data[0] != '/' && !strstr(plain.data, "//"), "%.*s",
               SHOWN(tail));
        for (char *at = plain.data, *part; (part = strsep(&at, "/"));)
            EXPECT(*part && strcmp(part, ".") != 0 && strcmp(part, "..") != 0, "%.*s", SHOWN(tail));
    }
    mishap_buffer_release(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static mishap_http_routes *routes;
    if (!routes) {
        EXPECT(!mishap_declaration_check(&app), "the declaration is sound");
        EXPECT(!routes_of(&app, true, NULL, &routes), "the routes are sound");
    }
    mishap_text left = input_text(data, size);
    mishap_http_request request = { .method = MISHAP_HTTP_POST };
    request.path = take_line(&left);
    request.query = take_line(&left);
    request.fields[MISHAP_HTTP_CONTENT_TYPE] = take_line(&left);
    request.fields[MISHAP_HTTP_ACCEPT] = take_line(&left);
    request.body = left;

    EXPECT(mishap_dialect_negotiate(request.fields[MISHAP_HTTP_ACCEPT],
                                    mishap_dialect_find("http-api")),
           "some dialect");
    mishap_http_match match;
    if (!mishap_http_route_find(routes, request.method, request.path, &match)) {
        EXPECT(match.allowed == 0, "all paths have the method");
        match.param_count = 0;
    }
    for (size_t i = 0; i < match.param_count; i++)
        if (strcmp(match.endpoint->name, "things.tail") == 0)
            expect_no_way_out(match.params[i].raw);
    const mishap_operation *operation = match.endpoint ? match.endpoint->subject : &operations[0];
    mishap_buffer object = { 0 };
    mishap_text arguments;
    mishap *failure = mishap_http_arguments(operation, &match, &request, &object, &arguments);
    if (failure)
        expect_told(failure);
    else
        expect_call(operation, arguments, arguments.data == object.data);
    mishap_buffer_release(&object);
    return 0;
}
