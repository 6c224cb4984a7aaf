/* One parameter of each type and of each format, which are answered as their getters read them: for
 * tests/http/types_test.py. */
#include <mishap/main.h>

static const mishap_param params[] = {
    { "text", MISHAP_STRING, .length = { 1, 5 } },
    { "code", MISHAP_STRING, .pattern = "^[A-Z]{3}$", .looks = "an airport, such as VIE" },
    { "count", MISHAP_INTEGER, .range = { 0, 150 } },
    { "share", MISHAP_NUMBER, .range = { 0, 1 } },
    { "gift", MISHAP_BOOLEAN, .help = "A present" },
    { "cabin", MISHAP_ENUM, .choices = MISHAP_CHOICES("economy", "premium") },
    { "price", MISHAP_DECIMAL, .scale = 2, .range = { 0.01, 9999.99 } },
    { "tax", MISHAP_DECIMAL_NUMBER, .scale = 2, .range = { 0, 1000 } },
    { "deposit", MISHAP_MONEY, .choices = MISHAP_CHOICES("EUR", "USD"), .range = { 0, 1000 } },
    { "starts", MISHAP_TIMESTAMP, .help = "Arrival" },
    { "born", MISHAP_DATE, .help = "Date of birth" },
    { "lasts", MISHAP_DURATION, .help = "How long" },
    { "owner", MISHAP_UUID, .help = "Who has it" },
    { "photo", MISHAP_BYTES, .length = { 1, 4 } },
    { "tags", MISHAP_ARRAY, .items = MISHAP_ITEM(MISHAP_ENUM, .choices = MISHAP_CHOICES("a", "b")),
      .unique = true },
    { "gifts", MISHAP_ARRAY, .items = MISHAP_ITEM(MISHAP_BOOLEAN, .help = "One") },
    { "address", MISHAP_OBJECT,
      .members = MISHAP_PARAMS({ "since", MISHAP_DATE, .required = true }) },
    { "fees", MISHAP_MAP, .items = MISHAP_ITEM(MISHAP_DECIMAL, .scale = 2) },
    { "day", MISHAP_STRING, .format = "date" },
    { "alarm", MISHAP_STRING, .format = "time" },
    { "moment", MISHAP_STRING, .format = "date-time" },
    { "pause", MISHAP_STRING, .format = "duration" },
    { "mail", MISHAP_STRING, .format = "email" },
    { "host", MISHAP_STRING, .format = "hostname" },
    { "ipv4", MISHAP_STRING, .format = "ipv4" },
    { "ipv6", MISHAP_STRING, .format = "ipv6" },
    { "link", MISHAP_STRING, .format = "uri" },
    { "mark", MISHAP_STRING, .format = "uuid" },
    { 0 },
};

static void answer_one(mishap_call *call, const mishap_param *param)
{
    const char *name = param->name;
    switch (param->type) {
    case MISHAP_DECIMAL:
        mishap_answer_member(call, name, mishap_decimal_print(call, mishap_decimal_of(call, name)));
        break;
    case MISHAP_DECIMAL_NUMBER:
        mishap_answer_json(call, name, mishap_decimal_print(call, mishap_decimal_of(call, name)));
        break;
    case MISHAP_MONEY:
        mishap_answer_member(call, name, mishap_money_print(call, mishap_money_of(call, name)));
        break;
    case MISHAP_TIMESTAMP:
        mishap_answer_member(call, name,
                             mishap_timestamp_print(call, mishap_timestamp_of(call, name)));
        break;
    case MISHAP_DATE:
        mishap_answer_member(call, name, mishap_date_print(call, mishap_date_of(call, name)));
        break;
    case MISHAP_DURATION:
        mishap_answer_member(call, name,
                             mishap_duration_print(call, mishap_duration_of(call, name)));
        break;
    case MISHAP_UUID:
        mishap_answer_member(call, name, mishap_uuid_print(call, mishap_uuid_of(call, name)));
        break;
    case MISHAP_BYTES:
        mishap_answer_member(call, name, mishap_bytes_print(call, mishap_bytes_of(call, name)));
        break;
    case MISHAP_ENUM:
        mishap_answer_member(call, name, mishap_choice_of(call, name));
        break;
    default:
        mishap_answer_json(call, name, mishap_json(call, name));
        break;
    }
}

static mishap *read_them(mishap_call *call)
{
    mishap_answer_object(call, "read");
    for (const mishap_param *param = params; param->name; param++)
        if (mishap_given(call, param->name))
            answer_one(call, param);
    return mishap_answer_end(call);
}

static const mishap_operation operations[] = {
    { "take", "Read a body", params, read_them, .route = "POST /take" },
    { "find", "Read a query", params, read_them, .route = "GET /find" },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "types",
                                      .version = "1.0",
                                      .summary = "Reads values of all types",
                                      .operations = operations });
}
