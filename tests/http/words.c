/*
 * A program whose parameters have formats, choices and words of their own. words_test.py asks it
 * for the impossible on every boundary and reads what it is told.
 *
 *     words serve --listen 127.0.0.1:0
 */
#include <mishap/main.h>

static const char *const classes[] = { "economy", "premium", NULL };
static const mishap_param stop = { NULL, MISHAP_STRING, .pattern = "^[A-Z]{3}$",
                                   .looks = "an airport, such as VIE" };

static const mishap_param book_params[] = {
    { "name", MISHAP_STRING, .required = true, .length = { 1, 40 } },
    { "day", MISHAP_STRING, .format = "date", .help = "When to leave" },
    { "returnDay", MISHAP_STRING, .format = "date", .help = "When to come back" },
    { "class", MISHAP_ENUM, .choices = classes },
    { "seats", MISHAP_INTEGER, .range = { 1, 9 }, .initial = "1" },
    { "stops", MISHAP_ARRAY, .items = &stop, .length = { 0, 3 } },
    { "pin", MISHAP_STRING, .pattern = "^[0-9]{4}$", .looks = "four digits", .secret = true },
    { 0 },
};

static mishap *book(mishap_call *call)
{
    mishap_answer_member(call, "seats", mishap_integer(call, "seats"));
    if (mishap_given(call, "returnDay"))
        mishap_answer_member(call, "returnDay", mishap_string(call, "returnDay"));
    return mishap_answer_member(call, "day", mishap_string(call, "day"));
}

static const mishap_param plan_params[] = {
    { "class", MISHAP_ENUM, .choices = classes, .help = "How to sit" },
    { "day", MISHAP_STRING, .required = true, .format = "date" },
    { 0 },
};

static mishap *plan(mishap_call *call)
{
    return mishap_answer_member(call, "day", mishap_string(call, "day"));
}

/* A passenger with objects in it; the answer is what the handler gets to see. */
static mishap *enrol(mishap_call *call)
{
    return mishap_answer(call, mishap_json(call, ""));
}

static const mishap_param address[] = {
    { .name = "street", .type = MISHAP_STRING },
    { .name = "zip", .type = MISHAP_STRING },
    { 0 },
};
static const mishap_param bag[] = {
    { "weight", MISHAP_INTEGER, .required = true },
    { .name = "colour", .type = MISHAP_STRING },
    { 0 },
};
static const mishap_param passenger[] = {
    { "born", MISHAP_STRING, .required = true, .format = "date" },
    { "class", MISHAP_ENUM, .required = true, .choices = classes },
    { "home", MISHAP_STRING, .required = true, .pattern = "^[A-Z]{3}$",
      .looks = "an airport, such as VIE" },
    { "address", MISHAP_OBJECT, .members = address },
    { "bags", MISHAP_ARRAY, .items = MISHAP_ITEM(MISHAP_OBJECT, .members = bag) },
    { 0 },
};

/* A seat that is taken: what is told reaches the caller, what is noted does not. */
static mishap *take_seat(mishap_call *call)
{
    const char *seat = mishap_string(call, "seat");
    mishap *m = mishap_tell(mishap_raise(CONFLICT, "The seat %s is taken.", seat), "seat", seat);
    return mishap_note(mishap_tell(m, "free", mishap_value_of_json("[\"1A\",\"1B\"]")), "by",
                       "MARKER-c0ffee");
}

static const mishap_param seat_params[] = {
    { "seat", MISHAP_STRING, .required = true, .length = { 2, 3 } },
    { 0 },
};

/* What a handler can see of its call. */
static mishap *see(mishap_call *call)
{
    static const char *const boundaries[] = { "c", "command", "http", "mcp" };
    mishap_tell_operator(call, "Seen by %s, pin %s.", mishap_operation_name(call),
                         mishap_string(call, "pin"));
    mishap_answer_member(call, "boundary", boundaries[mishap_boundary(call)]);
    mishap_answer_member(call, "id", mishap_request_id(call));
    mishap_answer_member(call, "operation", mishap_operation_name(call));
    mishap_answer_member(call, "remote", mishap_remote(call));
    mishap_answer_member(call, "agent", mishap_header(call, "user-agent"));
    mishap_answer_member(call, "tenant", mishap_header(call, "X-TENANT"));
    return mishap_answer_member(call, "caller", mishap_caller(call));
}

static mishap *see_too_much(mishap_call *call)
{
    return mishap_answer_member(call, "cookie", mishap_header(call, "Cookie"));
}

static const char *const headers[] = { "X-Tenant", "User-Agent", NULL };
static const mishap_param see_params[] = {
    { "pin", MISHAP_STRING, .secret = true, .environment = "WORDS_PIN" },
    { 0 },
};

static const mishap_operation operations[] = {
    { "book", "Book a flight", book_params, book, .route = "POST /flights", .stateless = true },
    { "plan", "Plan a journey", plan_params, plan, .prompt = "plan_journey", .stateless = true },
    { "enrol", "Enrol a passenger", passenger, enrol, .route = "POST /passengers",
      .answers = passenger, .stateless = true },
    { "seats.take", "Take a seat", seat_params, take_seat, .route = "PUT /seats/:seat",
      .raises = MISHAP_RAISES(CONFLICT), .stateless = true },
    { "see", "See the call, in a worker", see_params, see, .route = "POST /see", .headers = headers,
      .stateless = true },
    { "glance", "See the call, in the server", see_params, see, .route = "POST /glance",
      .headers = headers, .quick = true },
    { "peek", "See what is not declared", .run = see_too_much, .route = "POST /peek",
      .stateless = true },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(
        argc, argv, &(mishap_app){ .name = "words", .version = "1.0", .operations = operations });
}
