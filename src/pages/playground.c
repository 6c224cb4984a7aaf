/*
 * The playground: a pasted error in all dialects, and what a check finds in it. It runs on the
 * loop, so requests are small (MISHAP_PLAYGROUND_LIMIT) and the number of findings is limited.
 */
#include "pages/pages.h"

#include "base/json_read.h"
#include "base/json_write.h"
#include "mishap/dialect.h"

enum { MOST_FINDINGS = 100, MOST_DIALECTS = 16 };

typedef struct paste {
    mishap_text document;
    mishap_text named; /* the dialect that the request names; no data: none */
    bool strict;
} paste;

/* -- the request ------------------------------------------------------------------------------- */

static mishap *refuse_play(const char *why)
{
    return mishap_suggest(
        mishap_raise(BAD_REQUEST, "%s", why),
        "Send {\"document\":\"…\",\"dialect\":\"http-api\",\"strict\":false}; the "
        "last two may be left out.");
}

static mishap *read_play(const mishap_json_reader *reader, paste *given)
{
    yyjson_val *flawed = NULL, *document, *dialect, *strict;
    if (mishap_json_first_flaw(reader, &flawed) != MISHAP_JSON_SOUND ||
        !yyjson_is_obj(reader->root))
        return refuse_play("The body is not one JSON object with each member once.");
    document = yyjson_obj_get(reader->root, "document");
    dialect = yyjson_obj_get(reader->root, "dialect");
    strict = yyjson_obj_get(reader->root, "strict");
    if (!yyjson_is_str(document))
        return refuse_play("`document` is missing, or not a string.");
    if ((dialect && !yyjson_is_str(dialect) && !yyjson_is_null(dialect)) ||
        (strict && !yyjson_is_bool(strict)))
        return refuse_play("`dialect` is not a string, or `strict` is not a boolean.");
    given->document = mishap_json_text(document);
    given->named = mishap_json_text(dialect);
    given->strict = yyjson_is_true(strict);
    return NULL;
}

/* NULL: no dialect has this name. */
static const mishap_dialect *dialect_named(mishap_text name)
{
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++)
        if (mishap_text_equal(name, mishap_text_of(mishap_dialect_name(*dialect))))
            return *dialect;
    return NULL;
}

/* -- checks ------------------------------------------------------------------------------------ */

/* The findings of one check: counted, and listed if there is a buffer. */
typedef struct tally {
    size_t count[MISHAP_FATAL + 1]; /* by severity */
    mishap_buffer *list;            /* NULL: they are only counted */
} tally;

static void add_finding(void *state, const mishap_finding *finding)
{
    static const char *const severities[] = { "warning", "error", "error" };
    tally *to = state;
    size_t before = to->count[MISHAP_WARNING] + to->count[MISHAP_ERROR] + to->count[MISHAP_FATAL];
    to->count[finding->severity]++;
    if (!to->list || before >= MOST_FINDINGS)
        return;
    mishap_buffer *b = to->list;
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "rule");
    mishap_json_string(b, mishap_text_of(finding->rule));
    MISHAP_JSON_KEY(b, "severity");
    mishap_json_string(b, mishap_text_of(severities[finding->severity]));
    MISHAP_JSON_KEY(b, "place");
    mishap_json_string(b, finding->place);
    MISHAP_JSON_KEY(b, "message");
    mishap_json_string(b, finding->sentence);
    mishap_json_close(b, '}');
}

/* How badly a document fits a dialect; the least is the best. */
static size_t misfit(const tally *found)
{
    return found->count[MISHAP_FATAL] * 1000000 + found->count[MISHAP_ERROR] * 1000 +
           found->count[MISHAP_WARNING];
}

/* True if the dialect can read an error from the document, also from one that breaks its rules. */
static bool is_readable(const mishap_dialect *dialect, mishap_text document)
{
    mishap *m = NULL, *refused = mishap_parse(dialect, document, &m);
    bool readable = !refused;
    mishap_free(refused);
    mishap_free(m);
    return readable;
}

/* Check the document against every dialect: the one that fits best is *best, or NULL if the
 * document is none at all. The counts are written as an array. */
static mishap *weigh_dialects(mishap_buffer *json, const paste *given, const mishap_dialect **best)
{
    size_t least = 1000000;
    mishap *failure = NULL;
    *best = NULL;
    mishap_json_open(json, '[');
    for (const mishap_dialect *const *d = mishap_dialects(); *d && !failure; d++) {
        tally found = { 0 };
        failure = mishap_verify(*d, given->document, given->strict, add_finding, &found);
        if (!failure && misfit(&found) < least && is_readable(*d, given->document)) {
            least = misfit(&found);
            *best = *d;
        }
        mishap_json_open(json, '{');
        MISHAP_JSON_KEY(json, "dialect");
        mishap_json_string(json, mishap_text_of(mishap_dialect_name(*d)));
        MISHAP_JSON_KEY(json, "errors");
        mishap_json_int(json, (int64_t)(found.count[MISHAP_ERROR] + found.count[MISHAP_FATAL]));
        MISHAP_JSON_KEY(json, "warnings");
        mishap_json_int(json, (int64_t)found.count[MISHAP_WARNING]);
        mishap_json_close(json, '}');
    }
    mishap_json_close(json, ']');
    return failure;
}

/* -- the answer -------------------------------------------------------------------------------- */

/* The error in every dialect, each document as a string. */
static void put_dialects(mishap_buffer *json, const mishap *m)
{
    mishap_buffer document = { 0 };
    MISHAP_JSON_KEY(json, "dialects");
    mishap_json_open(json, '{');
    for (const mishap_dialect *const *d = mishap_dialects(); *d; d++) {
        mishap_buffer_reset(&document);
        mishap_json_key(json, mishap_text_of(mishap_dialect_name(*d)));
        mishap_json_open(json, '{');
        MISHAP_JSON_KEY(json, "media_type");
        mishap_json_string(json, mishap_text_of(mishap_dialect_media_type(*d)));
        MISHAP_JSON_KEY(json, "document");
        mishap_json_string(json, mishap_render(*d, m, &document));
        mishap_json_close(json, '}');
    }
    mishap_json_close(json, '}');
    mishap_buffer_release(&document);
}

/* What the reader of the dialect makes of the document: the error in every dialect, or why not. */
static void put_reading(mishap_buffer *json, const mishap_dialect *dialect, mishap_text document)
{
    mishap *m = NULL, *unreadable = mishap_parse(dialect, document, &m);
    if (unreadable) {
        MISHAP_JSON_KEY(json, "unreadable");
        mishap_json_string(json, mishap_public_message(mishap_told(unreadable)));
        mishap_free(unreadable);
        return;
    }
    MISHAP_JSON_KEY(json, "code");
    mishap_json_string(json, mishap_told(m)->code->name);
    put_dialects(json, m);
    mishap_free(m);
}

static mishap *put_play(mishap_buffer *json, const paste *given)
{
    const mishap_dialect *best = NULL, *dialect = NULL;
    if (given->named.data && !(dialect = dialect_named(given->named)))
        return mishap_raise(BAD_REQUEST, "There is no such dialect.");
    mishap_json_open(json, '{');
    MISHAP_JSON_KEY(json, "fits");
    mishap *failure = weigh_dialects(json, given, &best);
    if (failure)
        return failure;
    MISHAP_JSON_KEY(json, "detected");
    mishap_json_bool(json, !dialect);
    dialect = dialect ? dialect : best;
    MISHAP_JSON_KEY(json, "dialect");
    if (!dialect) {
        mishap_json_null(json);
        mishap_json_close(json, '}');
        return NULL;
    }
    mishap_json_string(json, mishap_text_of(mishap_dialect_name(dialect)));
    tally found = { .list = json };
    MISHAP_JSON_KEY(json, "findings");
    mishap_json_open(json, '[');
    failure = mishap_verify(dialect, given->document, given->strict, add_finding, &found);
    mishap_json_close(json, ']');
    if (!failure)
        put_reading(json, dialect, given->document);
    mishap_json_close(json, '}');
    return failure;
}

mishap *mishap_playground_put(mishap_buffer *json, mishap_text request)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    paste given = { 0 };
    mishap *failure = NULL;
    if (request.length && mishap_json_read(&reader, request))
        failure = read_play(&reader, &given);
    else
        failure = request.length && reader.flaw == MISHAP_JSON_NO_MEMORY
                      ? mishap_out_of_memory()
                      : refuse_play("The body is not JSON.");
    if (!failure)
        failure = put_play(json, &given);
    mishap_json_reader_release(&reader);
    return failure;
}

void mishap_playground_put_code(mishap_buffer *json, const mishap_code *code)
{
    mishap *m = mishap_raise_at(code, MISHAP_HERE, NULL);
    mishap_json_open(json, '{');
    put_dialects(json, m);
    mishap_json_close(json, '}');
    mishap_free(m);
}
