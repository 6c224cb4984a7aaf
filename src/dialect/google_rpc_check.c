/* Checking documents of google-rpc: each detail by its own shape, and ours by what is ours. */
#include "dialect/google_rpc.h"

/* -- checking ---------------------------------------------------------------------------------- */

static void check_reason(mishap_check *c, yyjson_val *value)
{
    mishap_text reason = mishap_json_text(value);
    if (!mishap_google_reason_valid(reason))
        mishap_check_say(c, MISHAP_RULE_CODE_SPELLING,
                         "`%.*s` is not UPPER_SNAKE of 3 to 63 characters.", (int)reason.length,
                         reason.data);
}

static void check_string(mishap_check *c, yyjson_val *value)
{
    if (!yyjson_is_str(value))
        mishap_check_say(c, MISHAP_RULE_WRONG_TYPE, "This must be a string.");
}

static void check_map(mishap_check *c, yyjson_val *map)
{
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (map, index, count, key, value) {
        mishap_check_enter(c, mishap_json_text(key));
        check_string(c, value);
        mishap_check_leave(c);
    }
}

static void check_metadata(mishap_check *c, yyjson_val *metadata)
{
    size_t index, count;
    yyjson_val *key, *value;
    check_map(c, metadata);
    MISHAP_JSON_MEMBERS (metadata, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        if (mishap_google_key_valid(name) ||
            memchr(name.data, '\0', name.length)) /* which was said already */
            continue;
        mishap_check_enter(c, name);
        mishap_check_say(
            c, MISHAP_RULE_UNKNOWN_MEMBER,
            "A key must be a lower-case letter followed by 1 to 63 letters, digits, - or _.");
        mishap_check_leave(c);
    }
}

static void check_delay(mishap_check *c, yyjson_val *value)
{
    int64_t milliseconds;
    if (!mishap_google_read_delay(mishap_json_text(value), &milliseconds))
        mishap_check_say(
            c, MISHAP_RULE_WRONG_VALUE,
            "A duration must be a number of seconds with the suffix `s`, such as \"1.500s\".");
    else if (milliseconds < 0)
        mishap_check_say(c, MISHAP_RULE_NEGATIVE, "This duration must not be negative.");
}

static void check_stack_entries(mishap_check *c, yyjson_val *value)
{
    if (yyjson_arr_size(value))
        mishap_check_say(c, MISHAP_RULE_STACK_TRACE,
                         "A stack trace must not be sent to the caller.");
    mishap_check_items(c, value, check_string);
}

/* Arrays of objects of one shape. */
#define CHECK_EACH(name, shapes)                                                                   \
    static void name##_item(mishap_check *c, yyjson_val *item)                                     \
    {                                                                                              \
        mishap_check_object(c, item, (shapes), MISHAP_SHAPE_COUNT(shapes), true);                  \
    }                                                                                              \
    static void name(mishap_check *c, yyjson_val *array)                                           \
    {                                                                                              \
        mishap_check_items(c, array, name##_item);                                                 \
    }

/* Members: one that may be there, one that must, and an array of objects. */
#define TEXT(key) MISHAP_SHAPE(key, .types = MISHAP_SHAPE_STRING)
#define NEEDED(key, how)                                                                           \
    MISHAP_SHAPE(key, .types = MISHAP_SHAPE_STRING, .required = true, .check = how)
#define ARRAY_OF(key, how)                                                                         \
    MISHAP_SHAPE(key, .types = MISHAP_SHAPE_ARRAY, .required = true, .check = how)
#define TYPE NEEDED("@type", NULL)

static const mishap_shape localized_shape[] = {
    TYPE,
    NEEDED("locale", mishap_check_not_empty),
    NEEDED("message", mishap_check_message),
};

/* Inside of something else it has no type. */
static void check_localized(mishap_check *c, yyjson_val *value)
{
    mishap_check_object(c, value, localized_shape + 1, MISHAP_SHAPE_COUNT(localized_shape) - 1,
                        true);
}

static const mishap_shape violation_shape[] = {
    NEEDED("field", mishap_check_not_empty),
    NEEDED("description", mishap_check_not_empty),
    MISHAP_SHAPE("reason", .types = MISHAP_SHAPE_STRING, .check = check_reason),
    MISHAP_SHAPE("localizedMessage", .types = MISHAP_SHAPE_OBJECT, .check = check_localized),
};
CHECK_EACH(check_violations, violation_shape)

static const mishap_shape link_shape[] = {
    NEEDED("description", mishap_check_not_empty),
    NEEDED("url", mishap_check_url),
};
CHECK_EACH(check_links, link_shape)

static const mishap_shape precondition_shape[] = {
    TEXT("type"),
    TEXT("subject"),
    TEXT("description"),
};
CHECK_EACH(check_preconditions, precondition_shape)

static const mishap_shape quota_shape[] = {
    TEXT("subject"),
    TEXT("description"),
    TEXT("apiService"),
    TEXT("quotaMetric"),
    TEXT("quotaId"),
    MISHAP_SHAPE("quotaDimensions", .types = MISHAP_SHAPE_OBJECT, .check = check_map),
    MISHAP_SHAPE("quotaValue", .types = MISHAP_SHAPE_STRING | MISHAP_SHAPE_INTEGER),
    MISHAP_SHAPE("futureQuotaValue", .types = MISHAP_SHAPE_STRING | MISHAP_SHAPE_INTEGER),
};
CHECK_EACH(check_quotas, quota_shape)

static const mishap_shape info_shape[] = {
    TYPE,
    NEEDED("reason", check_reason),
    NEEDED("domain", mishap_check_not_empty),
    MISHAP_SHAPE("metadata", .types = MISHAP_SHAPE_OBJECT, .check = check_metadata),
};
static const mishap_shape bad_request_shape[] = {
    TYPE,
    ARRAY_OF("fieldViolations", check_violations),
};
static const mishap_shape retry_shape[] = { TYPE, NEEDED("retryDelay", check_delay) };
static const mishap_shape help_shape[] = { TYPE, ARRAY_OF("links", check_links) };
static const mishap_shape request_shape[] = {
    TYPE,
    NEEDED("requestId", mishap_check_not_empty),
    TEXT("servingData"),
};
static const mishap_shape debug_shape[] = {
    TYPE,
    MISHAP_SHAPE("stackEntries", .types = MISHAP_SHAPE_ARRAY, .check = check_stack_entries),
    TEXT("detail"),
};
static const mishap_shape quota_failure_shape[] = { TYPE, ARRAY_OF("violations", check_quotas) };
static const mishap_shape precondition_failure_shape[] = {
    TYPE,
    ARRAY_OF("violations", check_preconditions),
};
static const mishap_shape resource_shape[] = {
    TYPE, TEXT("resourceType"), TEXT("resourceName"), TEXT("owner"), TEXT("description"),
};

/* A type is an address whose last step is the full name of a message. */
static void check_type_url(mishap_check *c, yyjson_val *value)
{
    mishap_text url = mishap_json_text(value);
    const char *slash = memrchr(url.data, '/', url.length), *end = url.data + url.length;
    bool sound = slash && slash > url.data && slash + 1 < end, first = true;
    for (const char *at = slash ? slash + 1 : end; at < end; at++) {
        bool letter = ((*at | 32) >= 'a' && (*at | 32) <= 'z') || *at == '_';
        sound = sound && (letter || (!first && ((*at >= '0' && *at <= '9') || *at == '.')));
        first = *at == '.';
    }
    if (!sound || first)
        mishap_check_say(
            c, MISHAP_RULE_WRONG_VALUE,
            "A type must be a URL such as \"type.googleapis.com/google.rpc.ErrorInfo\".");
}

static const mishap_shape other_shape[] = {
    MISHAP_SHAPE("@type", .types = MISHAP_SHAPE_STRING, .required = true, .check = check_type_url),
};

static const struct {
    const mishap_shape *shapes;
    size_t count;
} detail_shapes[DETAILS + 1] = {
    [ERROR_INFO] = { info_shape, MISHAP_SHAPE_COUNT(info_shape) },
    [BAD_REQUEST] = { bad_request_shape, MISHAP_SHAPE_COUNT(bad_request_shape) },
    [RETRY_INFO] = { retry_shape, MISHAP_SHAPE_COUNT(retry_shape) },
    [HELP] = { help_shape, MISHAP_SHAPE_COUNT(help_shape) },
    [REQUEST_INFO] = { request_shape, MISHAP_SHAPE_COUNT(request_shape) },
    [DEBUG_INFO] = { debug_shape, MISHAP_SHAPE_COUNT(debug_shape) },
    [QUOTA_FAILURE] = { quota_failure_shape, MISHAP_SHAPE_COUNT(quota_failure_shape) },
    [PRECONDITION_FAILURE] = { precondition_failure_shape,
                               MISHAP_SHAPE_COUNT(precondition_failure_shape) },
    [RESOURCE_INFO] = { resource_shape, MISHAP_SHAPE_COUNT(resource_shape) },
    [LOCALIZED_MESSAGE] = { localized_shape, MISHAP_SHAPE_COUNT(localized_shape) },
    [DETAILS] = { other_shape, MISHAP_SHAPE_COUNT(other_shape) },
};

static void check_details(mishap_check *c, yyjson_val *items)
{
    size_t index, count;
    yyjson_val *item;
    bool seen[DETAILS + 1] = { false }, nameless = false;
    MISHAP_JSON_ITEMS (items, index, count, item) {
        enum mishap_google_detail detail = mishap_google_detail_of(item);
        mishap_check_enter_item(c, index);
        mishap_check_object(c, item, detail_shapes[detail].shapes, detail_shapes[detail].count,
                            detail != DETAILS);
        if (seen[detail] && detail != DETAILS)
            mishap_check_say(c, MISHAP_RULE_WRONG_VALUE,
                             "Each type of detail can occur at most once.");
        seen[detail] = true;
        nameless = nameless || !yyjson_is_str(yyjson_obj_get(item, "@type"));
        mishap_check_leave(c);
    }
    if (!seen[ERROR_INFO] && !nameless)
        mishap_check_say(c, MISHAP_RULE_MISSING_MEMBER, "`details` must contain an ErrorInfo.");
}

/* -- checking what is our own ------------------------------------------------------------------ */

static void check_own_code(mishap_check *c, yyjson_val *value)
{
    if (yyjson_is_str(value))
        mishap_check_code_name(c, value);
}

static void check_own_category(mishap_check *c, yyjson_val *value)
{
    if (yyjson_is_str(value))
        mishap_check_category(c, value);
}

static void check_own_retryable(mishap_check *c, yyjson_val *value)
{
    if (yyjson_is_str(value) && !yyjson_equals_str(value, "true") &&
        !yyjson_equals_str(value, "false"))
        mishap_check_say(c, MISHAP_RULE_WRONG_VALUE, "`retryable` must be \"true\" or \"false\".");
}

static void check_own_context(mishap_check *c, yyjson_val *value)
{
    mishap_json_flaw flaw;
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (yyjson_is_str(value) && !yyjson_is_obj(mishap_google_json_inside(&reader, value, &flaw))) {
        if (flaw == MISHAP_JSON_NO_MEMORY)
            c->no_memory = true;
        else
            mishap_check_say(c, MISHAP_RULE_WRONG_VALUE,
                             "`context` must be a string that contains a JSON object.");
    }
    mishap_json_reader_release(&reader);
}

/* That each is a string was checked before. */
static const mishap_shape own_shape[] = {
    MISHAP_SHAPE("code", .types = MISHAP_SHAPE_ANY, .check = check_own_code),
    MISHAP_SHAPE("category", .types = MISHAP_SHAPE_ANY, .check = check_own_category),
    MISHAP_SHAPE("retryable", .types = MISHAP_SHAPE_ANY, .check = check_own_retryable),
    MISHAP_SHAPE("context", .types = MISHAP_SHAPE_ANY, .check = check_own_context),
};

static void check_own_info(mishap_check *c, yyjson_val *info)
{
    yyjson_val *metadata = mishap_google_own_metadata(info);
    mishap_text reason = mishap_json_text(yyjson_obj_get(info, "reason"));
    if (mishap_google_reason_valid(reason) && !yyjson_obj_get(metadata, "code") &&
        !mishap_catalog_find(MISHAP_SPELLING_NAME, reason))
        mishap_check_say(c, MISHAP_RULE_UNKNOWN_CODE, "`%.*s` is not in the catalog.",
                         (int)reason.length, reason.data);
    mishap_check_enter(c, (mishap_text)MISHAP_TEXT("metadata"));
    if (yyjson_is_obj(metadata))
        mishap_check_object(c, metadata, own_shape, MISHAP_SHAPE_COUNT(own_shape), false);
    mishap_check_leave(c);
}

/* An ErrorInfo of ours: the rest of the document is in keeping with it. */
static void check_own(mishap_check *c, yyjson_val *error, yyjson_val *const found[DETAILS + 1])
{
    size_t index, count;
    yyjson_val *item, *info = found[ERROR_INFO], *metadata = mishap_google_own_metadata(info);
    int status = mishap_google_http_status(yyjson_obj_get(error, "code"));
    const mishap_code *code = mishap_catalog_find(MISHAP_SPELLING_NAME,
                                                  mishap_json_text(yyjson_obj_get(info, "reason")));
    if (!mishap_text_equal(mishap_json_text(yyjson_obj_get(info, "domain")), mishap_google_domain))
        return;
    if (code && !yyjson_obj_get(metadata, "code") && status && status != code->http_status) {
        mishap_check_enter(c, (mishap_text)MISHAP_TEXT("code"));
        mishap_check_say(c, MISHAP_RULE_STATUS_MISMATCH, "%s has the status %d.", code->name.data,
                         code->http_status);
        mishap_check_leave(c);
    }
    mishap_check_enter(c, (mishap_text)MISHAP_TEXT("details"));
    MISHAP_JSON_ITEMS (yyjson_obj_get(error, "details"), index, count, item) {
        mishap_check_enter_item(c, index);
        if (item == info)
            check_own_info(c, info);
        if (item == found[RETRY_INFO] &&
            yyjson_equals_str(yyjson_obj_get(metadata, "retryable"), "false"))
            mishap_check_say(c, MISHAP_RULE_RETRY_CONFLICT,
                             "The error has a retry delay, but `retryable` is false.");
        mishap_check_leave(c);
    }
    mishap_check_leave(c);
}

/* -- checking the whole ------------------------------------------------------------------------ */

static void check_http_status(mishap_check *c, yyjson_val *value)
{
    if (!mishap_google_http_status(value))
        mishap_check_say(c, MISHAP_RULE_STATUS_RANGE,
                         "The code must be an HTTP status from 400 to 599.");
}

static void check_status(mishap_check *c, yyjson_val *value)
{
    if (!mishap_google_find_code(mishap_json_text(value)))
        mishap_check_say(c, MISHAP_RULE_WRONG_VALUE, "`%s` is not a name of google.rpc.Code.",
                         yyjson_get_str(value));
}

static const mishap_shape error_shape[] = {
    MISHAP_SHAPE("code", .types = MISHAP_SHAPE_INTEGER, .required = true,
                 .check = check_http_status),
    MISHAP_SHAPE("message", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_message),
    MISHAP_SHAPE("status", .types = MISHAP_SHAPE_STRING, .required = true, .check = check_status),
    MISHAP_SHAPE("details", .types = MISHAP_SHAPE_ARRAY, .required = true, .check = check_details),
};

static void check_error(mishap_check *c, yyjson_val *error)
{
    yyjson_val *found[DETAILS + 1];
    int http_status = mishap_google_http_status(yyjson_obj_get(error, "code"));
    mishap_text name = mishap_json_text(yyjson_obj_get(error, "status"));
    const struct mishap_google_code *status = mishap_google_find_code(name);
    mishap_check_object(c, error, error_shape, MISHAP_SHAPE_COUNT(error_shape), true);
    if (status && http_status && http_status != status->http_status &&
        !mishap_text_equal(mishap_google_status_name(http_status), name)) {
        mishap_check_enter(c, (mishap_text)MISHAP_TEXT("status"));
        mishap_check_say(c, MISHAP_RULE_STATUS_MISMATCH, "%s is not the name for %d.", name.data,
                         http_status);
        mishap_check_leave(c);
    }
    mishap_google_find_details(yyjson_obj_get(error, "details"), found);
    check_own(c, error, found);
}

static const mishap_shape shape[] = {
    MISHAP_SHAPE("error", .types = MISHAP_SHAPE_OBJECT, .required = true, .check = check_error),
};

void mishap_google_check(mishap_check *c, yyjson_val *root)
{
    mishap_check_object(c, root, shape, MISHAP_SHAPE_COUNT(shape), true);
}
