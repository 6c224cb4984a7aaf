/*
 * Full-text search in artifacts: FTS5 of SQLite, or the full text search of PostgreSQL. All words
 * must occur. Ranking takes time for each hit, so a word that occurs nearly everywhere is not
 * ranked: then the newest come first.
 *
 * The two differ in what takes long. FTS5 counts hits and finds the newest without reading a row.
 * PostgreSQL reads all index entries of a word before the first hit, and has to fetch each row to
 * count it, which is most of the time that ranking takes. So it counts and ranks in one statement,
 * after a sample of the table has shown that the word does not occur nearly everywhere.
 */
#include "artifacts/request.h"

enum {
    USUAL_LIMIT = 20,
    MOST_WORDS = 16,
    TOO_MANY = 20000, /* hits that are too many to be ranked */
    RECENT = 10000,   /* the newest artifacts, which PostgreSQL searches without its index */
};

static const struct field {
    const char *name;
    char weight; /* in PostgreSQL */
} fields[] = { { "id", 'A' }, { "type", 'B' }, { "content", 'C' }, { "code", 'D' } };

static mishap *find_field(artifacts_request *r, const struct field **field)
{
    *field = NULL;
    for (size_t i = 0; r->args[1].given && i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].name, r->args[1].text.data) == 0)
            *field = &fields[i];
    return *field || !r->args[1].given
               ? NULL
               : mishap_tell(mishap_validation("field must be id, type, content or code"),
                             "argument", "field");
}

static bool is_in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

static void put_string(mishap_buffer *b, const char *text)
{
    mishap_buffer_add(b, text, strlen(text));
}

/* Only letters and digits of the caller's text are used, so it can have no other meaning for the
 * search engine: content : ("a" AND "b"), or 'a':C & 'b':C. */
static size_t spell_query(mishap_buffer *b, mishap_text query, const struct field *field, bool fts5)
{
    size_t words = 0;
    char weight[] = { '\'', ':', field ? field->weight : '\0', '\0' };
    if (field && fts5) {
        put_string(b, field->name);
        put_string(b, " : (");
    }
    for (size_t i = 0, from; i < query.length; i++) {
        for (from = i; i < query.length && is_in_word(query.data[i]);)
            i++;
        if (i == from)
            continue;
        if (words++)
            put_string(b, fts5 ? " AND " : " & ");
        put_string(b, fts5 ? "\"" : "'");
        mishap_buffer_add(b, query.data + from, i - from);
        put_string(b, fts5 ? "\"" : field ? weight : "'");
    }
    if (field && fts5)
        put_string(b, ")");
    return words;
}

/* At most TOO_MANY. PostgreSQL: 0, unless there are surely too many. */
static mishap *count_hits(artifacts_request *r, mishap_text words, int64_t *hits)
{
    mishap_query query;
    *hits = 0;
    mishap_query_begin(&query, r->store, ARTIFACTS_HITS);
    mishap_query_bind_text(&query, 1, words);
    mishap_query_bind_integer(&query, 2, TOO_MANY);
    while (mishap_query_step(&query))
        *hits = mishap_query_integer(&query, 0);
    return mishap_query_end(&query);
}

/* SQLite ranks by the frequency of each word in all artifacts. So it has to count a word that
 * occurs nearly everywhere, even if few artifacts have all words. */
static mishap *has_common_word(artifacts_request *r, const struct field *field, bool *common)
{
    mishap_text query = r->args[0].text;
    mishap *failure = NULL;
    *common = false;
    for (size_t i = 0, from; i < query.length && !failure && !*common; i++) {
        int64_t hits = 0;
        mishap_buffer one = { 0 };
        for (from = i; i < query.length && is_in_word(query.data[i]);)
            i++;
        if (i == from)
            continue;
        spell_query(&one, (mishap_text){ query.data + from, i - from }, field, true);
        failure = one.failed ? mishap_out_of_memory()
                             : count_hits(r, mishap_buffer_text(&one), &hits);
        mishap_buffer_release(&one);
        *common = hits >= TOO_MANY;
    }
    return failure;
}

/* If there turn out to be too many hits, none is listed. */
static mishap *list_best(artifacts_request *r, mishap_text words, int64_t limit, int64_t *hits)
{
    mishap_query query;
    mishap_query_begin(&query, r->store, ARTIFACTS_BEST);
    mishap_query_bind_text(&query, 1, words);
    mishap_query_bind_integer(&query, 2, limit);
    mishap_query_bind_integer(&query, 3, TOO_MANY);
    while (mishap_query_step(&query)) {
        if (!artifacts_is_embedded())
            *hits = mishap_query_integer(&query, 5);
        if (*hits < TOO_MANY)
            artifacts_put_row(&r->answer, &query);
    }
    return mishap_query_end(&query);
}

/* List up to *limit hits; *limit becomes what is left of it. `last`: the number of the last one
 * listed. */
static mishap *list_hits(artifacts_request *r, artifacts_statement how, mishap_text words,
                         int64_t bound, int64_t *limit, int64_t *last)
{
    mishap_query query;
    mishap_query_begin(&query, r->store, how);
    mishap_query_bind_text(&query, 1, words);
    mishap_query_bind_integer(&query, 2, *limit);
    mishap_query_bind_integer(&query, 3, bound);
    while (mishap_query_step(&query)) {
        artifacts_put_row(&r->answer, &query);
        *last = mishap_query_integer(&query, 0);
        (*limit)--;
    }
    return mishap_query_end(&query);
}

/* A word that occurs in many artifacts mostly occurs in new ones, too. PostgreSQL finds those
 * quickly; to find older ones it has to fetch all hits. */
static mishap *list_newest(artifacts_request *r, mishap_text words, int64_t limit)
{
    int64_t last = INT64_MAX;
    if (!artifacts_is_embedded())
        MISHAP_TRY(list_hits(r, ARTIFACTS_RECENT, words, RECENT, &limit, &last));
    return limit > 0 ? list_hits(r, ARTIFACTS_NEWEST, words, last, &limit, &last) : NULL;
}

static mishap *answer_hits(artifacts_request *r, const struct field *field, mishap_text words,
                           int64_t limit)
{
    int64_t hits;
    bool common = false;
    MISHAP_TRY(count_hits(r, words, &hits));
    if (hits && hits < TOO_MANY && artifacts_is_embedded())
        MISHAP_TRY(has_common_word(r, field, &common));
    mishap_json_put_array(&r->answer, "artifacts");
    if (hits < TOO_MANY && !common)
        MISHAP_TRY(list_best(r, words, limit, &hits));
    bool ranked = hits < TOO_MANY && !common;
    if (!ranked)
        MISHAP_TRY(list_newest(r, words, limit));
    mishap_json_put_end(&r->answer, ']');
    mishap_json_put(&r->answer, "ranked", ranked);
    if (hits < TOO_MANY)
        mishap_json_put(&r->answer, "hits", hits);
    return NULL;
}

mishap *artifacts_store_search(artifacts_request *r)
{
    int64_t limit = r->args[2].given ? r->args[2].integer : USUAL_LIMIT;
    const struct field *field;
    mishap_buffer words = { 0 };
    MISHAP_TRY(find_field(r, &field));
    if (limit < 1 || limit > ARTIFACTS_MOST_LISTED)
        return mishap_tell(mishap_validation("limit must be 1 to 100"), "argument", "limit");
    size_t count = spell_query(&words, r->args[0].text, field, artifacts_is_embedded());
    mishap *failure = NULL;
    if (words.failed)
        failure = mishap_out_of_memory();
    else if (!count || count > MOST_WORDS)
        failure = mishap_tell(mishap_validation("query must have 1 to 16 words"), "argument",
                              "query");
    else
        failure = answer_hits(r, field, mishap_buffer_text(&words), limit);
    mishap_buffer_release(&words);
    return failure;
}
