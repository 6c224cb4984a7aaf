/* genesis_store: artifacts, which only their owners can change. */
#include <stdint.h>

#include "artifacts/request.h"

/* -- lists ------------------------------------------------------------------------------------- */

/* The filters of a list. */
struct filter {
    mishap_text type, owner;
    int64_t before, limit;
};

static size_t variant_of(const struct filter *filter)
{
    return (filter->type.data ? ARTIFACTS_BY_TYPE : 0u) +
           (filter->owner.data ? ARTIFACTS_BY_OWNER : 0u);
}

static void begin_list(artifacts_request *r, mishap_query *query, artifacts_statement statement,
                       const struct filter *filter)
{
    mishap_query_begin(query, r->store, statement + variant_of(filter));
    if (filter->type.data)
        mishap_query_bind_text(query, 3, filter->type);
    if (filter->owner.data)
        mishap_query_bind_text(query, 4, filter->owner);
}

/* List from the newest. `next` is the `before` of the next page. */
static mishap *list_artifacts(artifacts_request *r, const struct filter *filter)
{
    mishap_query query;
    mishap_page page;
    int64_t last = 0;
    begin_list(r, &query, ARTIFACTS_LIST, filter);
    mishap_query_bind_integer(&query, 1, filter->before);
    mishap_json_put_array(&r->answer, "artifacts");
    for (mishap_page_begin(&page, &query, 2, filter->limit); mishap_page_step(&page, &query);) {
        artifacts_put_row(&r->answer, &query);
        last = mishap_query_integer(&query, 0);
    }
    mishap_json_put_end(&r->answer, ']');
    if (page.more)
        mishap_json_put(&r->answer, "next", last);
    return mishap_query_end(&query);
}

static mishap *wrong_member(const char *name, const char *why)
{
    return mishap_tell(mishap_validation("%s of the filter %s", name, why), "argument", name);
}

static mishap *read_member(const mishap_call *member, struct filter *filter)
{
    const char *name = mishap_key(member);
    bool is_text = mishap_kind_of(member, "") == MISHAP_KIND_TEXT;
    bool is_integer = mishap_kind_of(member, "") == MISHAP_KIND_INT;
    mishap_text *text = strcmp(name, "type") == 0    ? &filter->type
                        : strcmp(name, "owner") == 0 ? &filter->owner
                                                     : NULL;
    int64_t *integer = strcmp(name, "before") == 0  ? &filter->before
                       : strcmp(name, "limit") == 0 ? &filter->limit
                                                    : NULL;
    if (!text && !integer)
        return mishap_tell(
            mishap_validation("A filter has the members type, owner, before and limit, and no %s",
                              name),
            "argument", name);
    if ((text && !is_text) || (integer && !is_integer))
        return mishap_tell(mishap_validation_as(INVALID_TYPE, "%s of the filter must be %s", name,
                                                text ? "a string" : "an integer"),
                           "argument", name);
    if (text) {
        *text = (mishap_text){ mishap_string(member, ""), mishap_string_length(member, "") };
        return strlen(text->data) == text->length
                   ? NULL
                   : wrong_member(name, "must not contain a NUL character");
    }
    *integer = mishap_integer(member, "");
    return *integer < 1 || (integer == &filter->limit && *integer > ARTIFACTS_MOST_LISTED)
               ? wrong_member(name,
                              integer == &filter->limit ? "must be 1 to 100" : "must be positive")
               : NULL;
}

static mishap *read_filter(artifacts_request *r, struct filter *filter)
{
    filter->before = INT64_MAX;
    filter->limit = ARTIFACTS_MOST_LISTED;
    if (!r->args[0].given)
        return NULL;
    for (const mishap_call *member = mishap_first(r->call, "args[0]"); member;
         member = mishap_next(member))
        if (mishap_kind_of(member, "") != MISHAP_KIND_NULL &&
            mishap_kind_of(member, "") != MISHAP_KIND_NONE)
            MISHAP_TRY(read_member(member, filter));
    return NULL;
}

mishap *artifacts_store_list(artifacts_request *r)
{
    struct filter filter = { 0 };
    MISHAP_TRY(read_filter(r, &filter));
    return list_artifacts(r, &filter);
}

mishap *artifacts_store_list_type(artifacts_request *r)
{
    return list_artifacts(r, &(struct filter){ .type = r->args[0].text,
                                               .before = INT64_MAX,
                                               .limit = ARTIFACTS_MOST_LISTED });
}

mishap *artifacts_store_list_owner(artifacts_request *r)
{
    return list_artifacts(r, &(struct filter){ .owner = r->args[0].text,
                                               .before = INT64_MAX,
                                               .limit = ARTIFACTS_MOST_LISTED });
}

mishap *artifacts_store_count(artifacts_request *r)
{
    struct filter filter = { 0 };
    mishap_query query;
    MISHAP_TRY(read_filter(r, &filter));
    begin_list(r, &query, ARTIFACTS_COUNT, &filter);
    while (mishap_query_step(&query))
        mishap_json_put(&r->answer, "count", mishap_query_integer(&query, 0));
    return mishap_query_end(&query);
}

/* -- one artifact ------------------------------------------------------------------------------ */

mishap *artifacts_store_get(artifacts_request *r)
{
    mishap_query query;
    bool found = false;
    mishap_query_begin(&query, r->store, ARTIFACTS_GET);
    mishap_query_bind_text(&query, 1, r->args[0].text);
    while (mishap_query_step(&query)) {
        found = true;
        mishap_json_put(&r->answer, "id", mishap_query_text(&query, 0));
        mishap_json_put(&r->answer, "type", mishap_query_text(&query, 1));
        mishap_json_put(&r->answer, "owner", mishap_query_text(&query, 2));
        mishap_json_put(&r->answer, "content", mishap_query_text(&query, 3));
        mishap_json_put(&r->answer, "code", mishap_query_text(&query, 4));
        artifacts_put_time(&r->answer, "created_at", mishap_query_integer(&query, 5));
        artifacts_put_time(&r->answer, "changed_at", mishap_query_integer(&query, 6));
    }
    MISHAP_TRY(mishap_query_end(&query));
    return found ? NULL : artifacts_no_artifact(r->args[0].text);
}

/* Update the words of an artifact for SQLite. PostgreSQL does that by itself. */
static mishap *index_words(artifacts_request *r, artifacts_statement how)
{
    mishap_query query;
    if (!artifacts_is_embedded())
        return NULL;
    mishap_query_begin(&query, r->store, how);
    mishap_query_bind_text(&query, 1, r->args[0].text);
    return artifacts_run(&query, NULL);
}

mishap *artifacts_store_create(artifacts_request *r)
{
    mishap_text id = r->args[0].text;
    mishap_query query;
    bool made = false;
    if (artifacts_is_reserved(id.data))
        return mishap_tell(mishap_permission("The name %s is reserved", id.data), "artifact_id",
                           id);
    mishap_query_begin(&query, r->store, ARTIFACTS_ADD);
    mishap_query_bind_text(&query, 1, id);
    mishap_query_bind_text(&query, 2, r->args[1].text);
    mishap_query_bind_text(&query, 3, mishap_text_of(r->caller));
    mishap_query_bind_text(&query, 4, r->args[2].text);
    mishap_query_bind_text(&query, 5, r->args[3].text);
    mishap_query_bind_integer(&query, 6, r->now);
    MISHAP_TRY(artifacts_run(&query, &made));
    if (!made)
        return mishap_tell(
            mishap_resource_as(ALREADY_EXISTS, "The artifact %s exists already.", id.data),
            "artifact_id", id);
    MISHAP_TRY(index_words(r, ARTIFACTS_WORDS_ADD));
    mishap_json_put(&r->answer, "id", id);
    mishap_json_put(&r->answer, "type", r->args[1].text);
    mishap_json_put(&r->answer, "owner", r->caller);
    return NULL;
}

mishap *artifacts_store_update(artifacts_request *r)
{
    mishap_query query;
    MISHAP_TRY(artifacts_must_own(r, r->args[0].text, "change"));
    MISHAP_TRY(index_words(r, ARTIFACTS_WORDS_REMOVE));
    mishap_query_begin(&query, r->store, ARTIFACTS_UPDATE);
    mishap_query_bind_text(&query, 1, r->args[0].text);
    mishap_query_bind_text(&query, 2, r->args[1].text);
    mishap_query_bind_text(&query, 3, r->args[2].text);
    mishap_query_bind_integer(&query, 4, r->now);
    MISHAP_TRY(artifacts_run(&query, NULL));
    MISHAP_TRY(index_words(r, ARTIFACTS_WORDS_ADD));
    mishap_json_put(&r->answer, "id", r->args[0].text);
    return NULL;
}

mishap *artifacts_store_delete(artifacts_request *r)
{
    mishap_query query;
    MISHAP_TRY(artifacts_must_own(r, r->args[0].text, "delete"));
    MISHAP_TRY(artifacts_must_not_be_bid_with(r, r->args[0].text));
    MISHAP_TRY(index_words(r, ARTIFACTS_WORDS_REMOVE));
    mishap_query_begin(&query, r->store, ARTIFACTS_DELETE);
    mishap_query_bind_text(&query, 1, r->args[0].text);
    MISHAP_TRY(artifacts_run(&query, NULL));
    mishap_json_put(&r->answer, "id", r->args[0].text);
    return NULL;
}
