/*
 * The table of headers that are used: those of the server, and those that extensions declare. The
 * table is made once, before any request. A name is looked up by its length first, which rules out
 * nearly all.
 */
#include <strings.h>

#include "server/state.h"

static const struct {
    mishap_text name;
    mishap_http_repeats repeats;
} own[MISHAP_HTTP_OWN_FIELDS] = {
    [MISHAP_HTTP_HOST] = { MISHAP_TEXT("Host"), MISHAP_HTTP_ONCE },
    [MISHAP_HTTP_ACCEPT] = { MISHAP_TEXT("Accept"), MISHAP_HTTP_LIST },
    [MISHAP_HTTP_CONTENT_TYPE] = { MISHAP_TEXT("Content-Type"), MISHAP_HTTP_ONCE },
    [MISHAP_HTTP_AUTHORIZATION] = { MISHAP_TEXT("Authorization"), MISHAP_HTTP_ONCE },
    [MISHAP_HTTP_ORIGIN] = { MISHAP_TEXT("Origin"), MISHAP_HTTP_ONCE },
    [MISHAP_HTTP_EXPECT] = { MISHAP_TEXT("Expect"), MISHAP_HTTP_ONCE },
    [MISHAP_HTTP_REQUEST_METHOD] = { MISHAP_TEXT("Access-Control-Request-Method"),
                                     MISHAP_HTTP_ONCE },
    [MISHAP_HTTP_USER_AGENT] = { MISHAP_TEXT("User-Agent"), MISHAP_HTTP_FIRST },
    [MISHAP_HTTP_TRANSFER_ENCODING] = { MISHAP_TEXT("Transfer-Encoding"), MISHAP_HTTP_ONCE },
    [MISHAP_HTTP_CONTENT_ENCODING] = { MISHAP_TEXT("Content-Encoding"), MISHAP_HTTP_ONCE },
    [MISHAP_HTTP_ACCEPT_ENCODING] = { MISHAP_TEXT("Accept-Encoding"), MISHAP_HTTP_LIST },
    [MISHAP_HTTP_RANGE] = { MISHAP_TEXT("Range"), MISHAP_HTTP_FIRST },
    [MISHAP_HTTP_FORWARDED_FOR] = { MISHAP_TEXT("X-Forwarded-For"), MISHAP_HTTP_LIST },
    [MISHAP_HTTP_TRACEPARENT] = { MISHAP_TEXT("traceparent"), MISHAP_HTTP_LIST },
    [MISHAP_HTTP_IF_MATCH] = { MISHAP_TEXT("If-Match"), MISHAP_HTTP_LIST },
    [MISHAP_HTTP_IF_NONE_MATCH] = { MISHAP_TEXT("If-None-Match"), MISHAP_HTTP_LIST },
    [MISHAP_HTTP_IF_RANGE] = { MISHAP_TEXT("If-Range"), MISHAP_HTTP_FIRST },
};

int mishap_http_field_find(const mishap_http_fields *fields, mishap_text name)
{
    if (name.length > MISHAP_HTTP_LONGEST_NAME)
        return -1;
    int i = fields->by_length[name.length];
    while (i >= 0 && strncasecmp(fields->kept[i].name.data, name.data, name.length) != 0)
        i = fields->kept[i].next;
    return i;
}

mishap_text mishap_http_field_name(const mishap_http_fields *fields, size_t index)
{
    return index < fields->count ? fields->kept[index].name : (mishap_text){ NULL, 0 };
}

static mishap *add_field(mishap_http_fields *fields, mishap_text name, mishap_http_repeats repeats)
{
    if (mishap_http_field_find(fields, name) >= 0)
        return NULL;
    if (fields->count == MISHAP_HTTP_MOST_FIELDS || name.length > MISHAP_HTTP_LONGEST_NAME)
        return mishap_raise(NOT_CONFIGURED,
                            "The response has too many headers: %.*s was not added.",
                            (int)name.length, name.data);
    int8_t *first = &fields->by_length[name.length];
    fields->kept[fields->count] = (struct mishap_http_kept_field){ .name = name,
                                                                   .repeats = repeats,
                                                                   .next = *first };
    *first = (int8_t)fields->count++;
    return NULL;
}

static mishap *add_wishes(mishap_http_fields *fields, const mishap_http_extension *extension)
{
    for (const mishap_http_wish *wishes = extension->fields; wishes && wishes->name; wishes++) {
        mishap_text name = mishap_text_of(wishes->name);
        if (wishes->in_replies)
            continue;
        mishap *failure = add_field(fields, name,
                                    wishes->first ? MISHAP_HTTP_FIRST : MISHAP_HTTP_ONCE);
        if (failure)
            return mishap_tell(failure, "extension", extension->name);
        struct mishap_http_kept_field *kept = &fields->kept[mishap_http_field_find(fields, name)];
        kept->from_pages = kept->from_pages || wishes->from_pages;
        kept->to_pages = kept->to_pages || wishes->to_pages;
    }
    return NULL;
}

/* Fields of replies that no request has. */
static void list_replies(mishap_http_fields *fields, const mishap_http_extension *const *extensions)
{
    for (; extensions && *extensions; extensions++) {
        const mishap_http_wish *wishes = (*extensions)->fields;
        for (; wishes && wishes->name; wishes++) {
            if (!wishes->in_replies)
                continue;
            MISHAP_PUT(&fields->exposed, ", ");
            mishap_buffer_put_text(&fields->exposed, mishap_text_of(wishes->name));
        }
    }
}

/* List the field names that pages of other origins may send and read. */
static void list_names(mishap_http_fields *fields)
{
    MISHAP_PUT(&fields->allowed, "Content-Type, Authorization");
    MISHAP_PUT(&fields->exposed, "X-Request-Id, Location, Retry-After, Allow");
    for (size_t i = 0; i < fields->count; i++) {
        const struct mishap_http_kept_field *kept = &fields->kept[i];
        if (kept->from_pages) {
            MISHAP_PUT(&fields->allowed, ", ");
            mishap_buffer_put_text(&fields->allowed, kept->name);
        }
        if (kept->to_pages) {
            MISHAP_PUT(&fields->exposed, ", ");
            mishap_buffer_put_text(&fields->exposed, kept->name);
        }
    }
}

mishap *mishap_http_fields_make(const mishap_http_extension *const *extensions,
                                mishap_http_fields **out)
{
    mishap *failure = NULL;
    mishap_http_fields *fields = *out = mishap_allocate(sizeof *fields);
    if (!fields)
        return mishap_out_of_memory();
    *fields = (mishap_http_fields){ 0 };
    memset(fields->by_length, -1, sizeof fields->by_length);
    for (size_t i = 0; i < MISHAP_HTTP_OWN_FIELDS && !failure; i++)
        failure = add_field(fields, own[i].name, own[i].repeats);
    for (size_t i = 0; extensions && extensions[i] && !failure; i++)
        failure = add_wishes(fields, extensions[i]);
    list_names(fields);
    list_replies(fields, extensions);
    if (!failure && (fields->allowed.failed || fields->exposed.failed))
        failure = mishap_out_of_memory();
    if (failure) {
        mishap_http_fields_free(fields);
        *out = NULL;
    }
    return failure;
}

void mishap_http_fields_free(mishap_http_fields *fields)
{
    if (!fields)
        return;
    mishap_buffer_release(&fields->allowed);
    mishap_buffer_release(&fields->exposed);
    mishap_release(fields);
}
