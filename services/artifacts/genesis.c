/*
 * The first principals and their scrip in a new store: alice and bob with 100 scrip each, or those
 * of a file:
 *
 *     {"principals": {"alice": 100, "bob": 100}}
 *
 * The file is read as the arguments of an operation, so it is checked like those of any call.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <mishap/invoke.h>

#include "artifacts/request.h"

/* The sum of all scrip must be a number that every JSON reader represents exactly. */
static const int64_t most = (INT64_C(1) << 53) - 1;

static mishap *add_account(mishap_store *store, const char *id, int64_t balance, const char *kind,
                           bool *added)
{
    mishap_query query;
    mishap_query_begin(&query, store, ARTIFACTS_ACCOUNT_ADD);
    mishap_query_bind_text(&query, 1, mishap_text_of(id));
    mishap_query_bind_integer(&query, 2, balance);
    mishap_query_bind_text(&query, 3, mishap_text_of(kind));
    return artifacts_run(&query, added);
}

static mishap *wrong(const char *name, const char *why)
{
    return mishap_raise(VALUE_ERROR, "%s %s.", name, why);
}

static bool is_name(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-");
    return length && !name[length] && length <= ARTIFACTS_LONGEST_NAME && !strchr("._-", *name);
}

/* -- the operation ----------------------------------------------------------------------------- */

static mishap *fill(mishap_call *call)
{
    mishap_store *store = mishap_state(call);
    int64_t sum = 0;
    for (const mishap_call *p = mishap_first(call, "principals"); p; p = mishap_next(p)) {
        const char *name = mishap_key(p);
        if (!is_name(name) || artifacts_is_reserved(name))
            return wrong(name, "cannot be the name of a principal");
        if (mishap_kind_of(p, "") != MISHAP_KIND_INT || mishap_integer(p, "") < 0)
            return wrong(name, "must have a balance that is an integer and not negative");
        if (mishap_integer(p, "") > most - sum)
            return wrong(name, "has too much: all balances together must be below 2^53");
        sum += mishap_integer(p, "");
        MISHAP_TRY(add_account(store, name, mishap_integer(p, ""), "principal", NULL));
    }
    return mishap_answer_member(call, "scrip", sum);
}

static const mishap_operation operations[] = {
    { "genesis.fill", "Add the first principals",
      MISHAP_PARAMS({ "principals", MISHAP_OBJECT, .required = true }), fill,
      .raises = MISHAP_RAISES(VALUE_ERROR, UNAVAILABLE, INSUFFICIENT_STORAGE) },
    { 0 },
};

/* -- the store --------------------------------------------------------------------------------- */

/* True if the store has the account of the mint, which is made together with the others. */
static mishap *is_filled(mishap_store *store, bool *filled)
{
    mishap_query query;
    mishap_query_begin(&query, store, ARTIFACTS_ACCOUNT_GET);
    mishap_query_bind_text(&query, 1, (mishap_text)MISHAP_TEXT(ARTIFACTS_MINT));
    return artifacts_run(&query, filled);
}

static mishap *fill_once(mishap_store *store, void *text)
{
    bool added;
    mishap_app app = { .name = "genesis",
                       .version = "1",
                       .summary = "The first principals",
                       .operations = operations,
                       .state = store };
    MISHAP_TRY(add_account(store, ARTIFACTS_MINT, 0, "genesis", &added));
    return added ? mishap_invoke(&app, "genesis.fill", text, NULL, NULL) : NULL;
}

/* The whole file, NUL-terminated. */
static mishap *read_file(const char *path, mishap_buffer *text)
{
    enum { PIECE = 4096, LONGEST = 1 << 20 };
    char piece[PIECE];
    ssize_t count;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return mishap_tell_cause(
            mishap_suggest(
                mishap_raise(NOT_CONFIGURED, "The genesis file %s cannot be read.", path),
                "Give the path of a file that exists and that the server may read."),
            strerror(errno));
    while ((count = read(file, piece, sizeof piece)) > 0 && text->length <= LONGEST)
        mishap_buffer_add(text, piece, (size_t)count);
    bool failed = count < 0;
    close(file);
    if (failed || text->length > LONGEST)
        return mishap_raise(NOT_CONFIGURED, "The genesis file %s.",
                            failed ? "cannot be read" : "is longer than 1 MB");
    mishap_buffer_add(text, "", 1);
    return text->failed ? mishap_out_of_memory() : NULL;
}

/* A mistake in the file is reported as NOT_CONFIGURED. */
static mishap *not_valid(mishap *failure)
{
    const mishap_public *told = mishap_told(failure);
    mishap_text words = mishap_public_message(told);
    if (told->category != MISHAP_VALIDATION)
        return failure;
    mishap *m = mishap_raise(NOT_CONFIGURED, "The genesis file is not valid: %.*s",
                             (int)words.length, words.data);
    m = mishap_suggest(m, "Write it as {\"principals\": {\"alice\": 100, \"bob\": 100}}");
    return mishap_because(m, failure);
}

mishap *artifacts_genesis_fill(mishap_store *store, const char *path)
{
    static char usual[] = "{\"principals\":{\"alice\":100,\"bob\":100}}";
    mishap_buffer text = { 0 };
    bool filled = false;
    MISHAP_TRY(is_filled(store, &filled));
    if (filled)
        return NULL;
    mishap *failure = path ? read_file(path, &text) : NULL;
    if (!failure)
        failure = mishap_store_transact(
            store, &(mishap_transaction){ .work = fill_once, .state = path ? text.data : usual });
    mishap_buffer_release(&text);
    return failure ? not_valid(failure) : NULL;
}
