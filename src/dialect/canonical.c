/*
 * canonical: every public part of a mishap, lossless. What the tools exchange.
 *
 *     {"code":"NOT_FOUND","message":"Todo not found","category":"resource","retryable":false, …}
 */
#include "dialect/parts.h"

static void render_canonical(const mishap_public *told, mishap_buffer *b)
{
    mishap_json_open(b, '{');
    mishap_put_canonical(b, told, MISHAP_WITH_MESSAGE | MISHAP_WITH_SUBJECT);
    mishap_json_close(b, '}');
}

static void check_frames(mishap_check *check, yyjson_val *frames)
{
    size_t index, count;
    yyjson_val *frame;
    MISHAP_JSON_ITEMS (frames, index, count, frame) {
        mishap_check_enter_item(check, index);
        if (!yyjson_is_str(frame))
            mishap_check_say(check, MISHAP_RULE_WRONG_TYPE, "A frame must be a string.");
        else
            mishap_check_not_empty(check, frame);
        mishap_check_leave(check);
    }
}

static const mishap_shape shape[] = {
    MISHAP_SHAPE("code", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_code_name),
    MISHAP_SHAPE("message", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_message),
    MISHAP_SHAPE("category", .types = MISHAP_SHAPE_STRING, .required = true,
                 .check = mishap_check_category),
    MISHAP_SHAPE("retryable", .types = MISHAP_SHAPE_BOOL, .required = true),
    MISHAP_SHAPE("retry_after_ms", .types = MISHAP_SHAPE_INTEGER,
                 .check = mishap_check_not_negative),
    MISHAP_SHAPE("cause", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("suggestion", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("docs_url", .types = MISHAP_SHAPE_STRING, .check = mishap_check_url),
    MISHAP_SHAPE("context", .types = MISHAP_SHAPE_OBJECT),
    MISHAP_SHAPE("fields", .types = MISHAP_SHAPE_ARRAY, .check = mishap_check_fields),
    MISHAP_SHAPE("type", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
    MISHAP_SHAPE("stdout", .types = MISHAP_SHAPE_STRING),
    MISHAP_SHAPE("backtrace", .types = MISHAP_SHAPE_ARRAY, .check = check_frames),
    MISHAP_SHAPE("incident", .types = MISHAP_SHAPE_STRING, .check = mishap_check_not_empty),
};

static void check_canonical(mishap_check *c, yyjson_val *root)
{
    if (mishap_check_object(c, root, shape, MISHAP_SHAPE_COUNT(shape), true))
        mishap_check_retry(c, root, "retryable", "retry_after_ms");
}

/*
 * Documents of other dialects come from anywhere and are read as far as they can be understood.
 * This one is our own, and is to lose nothing: what would be left out is refused. Only what the
 * catalog can supply may be absent.
 */
struct refusal {
    const mishap_source *source;
    mishap *failure; /* the first */
};

static void refuse_finding(void *state, const mishap_finding *finding)
{
    struct refusal *refusal = state;
    bool supplied = strcmp(finding->rule, "empty-text") == 0 ||
                    (strcmp(finding->rule, "missing-member") == 0 && finding->place.length == 0);
    if (refusal->failure || supplied || finding->severity == MISHAP_WARNING)
        return;
    yyjson_val *value = yyjson_ptr_getn(refusal->source->root, finding->place.data,
                                        finding->place.length);
    refusal->failure = mishap_refuse(refusal->source, value ? value : refusal->source->root, "%s",
                                     finding->sentence.data);
}

static mishap *refuse_what_is_wrong(const mishap_source *source)
{
    struct refusal refusal = { source, NULL };
    mishap_check c;
    c.dialect = &mishap_canonical;
    c.strict = false;
    c.found = refuse_finding;
    c.state = &refusal;
    c.path.depth = 0;
    c.no_memory = false;
    check_canonical(&c, source->root);
    return refusal.failure || !c.no_memory ? refusal.failure : mishap_out_of_memory();
}

static mishap *read_canonical(const mishap_source *source, mishap **out)
{
    yyjson_val *root = source->root, *code = yyjson_obj_get(root, "code");
    if (!yyjson_is_str(code))
        return mishap_refuse(source, code ? code : root,
                             "The member `code` is missing or is not a string.");
    mishap *refusal = refuse_what_is_wrong(source);
    if (refusal)
        return refusal;
    mishap_category category = MISHAP_SYSTEM;
    mishap_category_find(mishap_json_text(yyjson_obj_get(root, "category")), &category);
    mishap *m = mishap_restore(MISHAP_SPELLING_NAME, mishap_json_text(code), category, 0,
                               MISHAP_CODE_GENERAL_ERROR);
    mishap_restore_part(m, MISHAP_PART_MESSAGE, mishap_json_text(yyjson_obj_get(root, "message")));
    mishap_read_canonical(m, root, MISHAP_WITH_SUBJECT);
    return mishap_finish(m, out);
}

const mishap_dialect mishap_canonical = {
    .name = "canonical",
    .media_type = "application/vnd.mishap+json",
    .last_words = MISHAP_TEXT(
        "{\"code\":\"INTERNAL_ERROR\",\"message\":\"An internal error occurred.\","
        "\"category\":\"system\",\"retryable\":false}"),
    .render = render_canonical,
    .read = read_canonical,
    .check = check_canonical,
    .carries_subject = true,
};
