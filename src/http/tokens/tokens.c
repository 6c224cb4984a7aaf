/*
 * The caller of a request with an access token.
 *
 * A token that was sound is known for a while (oauth/cache.c), so most requests cost no more than
 * one with an API key. The key sets are in files, which other processes replace: a loop looks once
 * per second whether they have changed, and never waits for an issuer.
 */
#include "http/tokens/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "http/keys/file.h"

struct mishap_http_tokens {
    const mishap_http_issuers *issuers;
    mishap_token_issuer sets[MISHAP_HTTP_MOST_ISSUERS];
    mishap_jwks *keys[MISHAP_HTTP_MOST_ISSUERS];       /* those of `sets` */
    mishap_key_stamp stamps[MISHAP_HTTP_MOST_ISSUERS]; /* of the files that were read last … */
    bool tried[MISHAP_HTTP_MOST_ISSUERS];              /* … if any was … */
    bool unsound[MISHAP_HTTP_MOST_ISSUERS];            /* … but it could not be used */
    int64_t fetched_s[MISHAP_HTTP_MOST_ISSUERS];       /* when the set of `keys` was fetched */
    bool lost;                                         /* this refresh has removed a key */
    mishap_token_cache *cache;
    mishap_identity unkept; /* of a caller, where there is no cache entry */
    mishap_http_budget budget;
    mishap_token_reader reader;
};

/* -- key sets ---------------------------------------------------------------------------------- */

static mishap *unreadable(const char *path, int error)
{
    return mishap_key_blame(
        mishap_raise(INPUT_UNREADABLE, "The key set of an issuer cannot be read."), error, path);
}

/* One byte more than a set may have, so that a larger one is noticed. */
static mishap *read_set(const char *path, mishap_jwks **out)
{
    const size_t size = MISHAP_JWKS_LARGEST + 1;
    char *text = mishap_allocate(size);
    size_t length = 0;
    ssize_t count = 1;
    *out = NULL;
    if (!text)
        return mishap_out_of_memory();
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (file >= 0 && length < size && (count = read(file, text + length, size - length)) > 0)
        length += (size_t)count;
    mishap *failure = file < 0 || count < 0 ? unreadable(path, errno)
                                            : mishap_jwks_read((mishap_text){ text, length }, out);
    if (file >= 0)
        close(file);
    mishap_release(text);
    return failure ? mishap_note(failure, "file", path) : NULL;
}

mishap *mishap_http_issuers_check(const mishap_http_issuers *issuers)
{
    mishap *failure = mishap_oauth_load();
    for (size_t i = 0; i < issuers->count && !failure; i++) {
        mishap_jwks *keys = NULL;
        if (issuers->list[i].fetched)
            continue;
        failure = read_set(issuers->list[i].keys, &keys);
        mishap_jwks_free(keys);
        if (failure)
            failure = mishap_tell(failure, "file", issuers->list[i].keys);
    }
    return failure;
}

bool mishap_http_issuer_is_safe(mishap_text url)
{
    static const char *const fine[] = { "https://", "http://127.0.0.1", "http://[::1]",
                                        "http://localhost" };
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        size_t length = strlen(fine[i]);
        if (url.length >= length && memcmp(url.data, fine[i], length) == 0 &&
            (i == 0 || url.length == length || url.data[length] == ':' || url.data[length] == '/'))
            return true;
    }
    return false;
}

static bool is_changed(const mishap_http_tokens *tokens, size_t i, const mishap_key_stamp *now)
{
    const mishap_key_stamp *then = &tokens->stamps[i];
    return !tokens->tried[i] || then->inode != now->inode || then->size != now->size ||
           then->seconds != now->seconds || then->nanoseconds != now->nanoseconds;
}

/* Tokens that a removed key has signed must not stay in the cache. The others may: a stranger
 * who makes the server fetch a set must not make it check all tokens anew. */
static void replace_set(mishap_http_tokens *tokens, size_t i, mishap_jwks *keys)
{
    if (mishap_jwks_lacks(keys, tokens->keys[i])) {
        mishap_token_cache_clear(tokens->cache);
        tokens->lost = true;
    }
    mishap_jwks_free(tokens->keys[i]);
    tokens->sets[i].keys = tokens->keys[i] = keys;
}

static mishap *is_unusable(mishap *failure)
{
    return mishap_because(
        mishap_suggest(mishap_raise(UNAVAILABLE, "The key set of an issuer cannot be used. The "
                                                 "last good one is used until it can be."),
                       "Correct the file. The server checks it once a second."),
        failure);
}

/* A set that could not be used is tried again even if its file looks unchanged: new permissions, or
 * free memory, do not show in its stamp. */
static mishap *read_changed(mishap_http_tokens *tokens, size_t i)
{
    const char *path = tokens->issuers->list[i].keys;
    mishap_key_stamp now = mishap_key_file_stamp(path);
    mishap_jwks *keys = NULL;
    bool changed = is_changed(tokens, i, &now);
    if ((!changed && !tokens->unsound[i]) || (!now.inode && tokens->issuers->list[i].fetched))
        return NULL; /* a set that was not fetched yet is no mistake of the operator */
    mishap *failure = read_set(path, &keys);
    tokens->stamps[i] = now;
    tokens->tried[i] = true;
    tokens->unsound[i] = failure != NULL;
    if (!failure) {
        tokens->fetched_s[i] = now.seconds;
        replace_set(tokens, i, keys);
    } else if (changed) {
        return is_unusable(failure);
    }
    mishap_free(failure); /* it was reported for this state of the file */
    return NULL;
}

/* An issuer that cannot be reached cannot say that a key is not valid any more. */
static mishap *drop_old(mishap_http_tokens *tokens, size_t i)
{
    const struct mishap_http_issuer *issuer = &tokens->issuers->list[i];
    int64_t age_s = (int64_t)time(NULL) - tokens->fetched_s[i];
    if (!issuer->fetched || !tokens->keys[i] || age_s < MISHAP_FETCH_OLDEST_S)
        return NULL;
    replace_set(tokens, i, NULL);
    return mishap_note(
        mishap_suggest(mishap_raise(UNAVAILABLE, "The key set of an issuer was fetched more than a "
                                                 "day ago, and is not used any more."),
                       "See why it cannot be fetched: standard error of the server says so."),
        "file", issuer->keys);
}

static mishap *refresh_set(mishap_http_tokens *tokens, size_t i)
{
    mishap *failure = read_changed(tokens, i);
    return failure ? failure : drop_old(tokens, i);
}

mishap *mishap_http_tokens_refresh(mishap_http_tokens *tokens, bool *lost)
{
    mishap *failure = NULL;
    for (size_t i = 0; i < tokens->issuers->count && !failure; i++)
        failure = refresh_set(tokens, i); /* the others follow the next time */
    *lost = tokens->lost;
    tokens->lost = false;
    return failure;
}

mishap *mishap_http_tokens_make(const mishap_http_issuers *issuers, mishap_http_tokens **out)
{
    mishap_http_tokens *tokens = *out = mishap_allocate(sizeof *tokens);
    if (!tokens)
        return mishap_out_of_memory();
    memset(tokens, 0, sizeof *tokens);
    tokens->issuers = issuers;
    for (size_t i = 0; i < issuers->count; i++)
        tokens->sets[i].url = issuers->list[i].url;
    mishap *failure = mishap_token_cache_make(&tokens->cache);
    if (!failure && !mishap_system_random(tokens->budget.secret, sizeof tokens->budget.secret))
        failure = mishap_raise(INTERNAL_ERROR, "The system could not provide random bytes.");
    if (failure) {
        mishap_http_tokens_free(tokens);
        *out = NULL;
    }
    return failure;
}

void mishap_http_tokens_free(mishap_http_tokens *tokens)
{
    if (!tokens)
        return;
    for (size_t i = 0; i < tokens->issuers->count; i++)
        mishap_jwks_free(tokens->keys[i]);
    mishap_token_cache_free(tokens->cache);
    mishap_token_reader_release(&tokens->reader);
    mishap_release(tokens);
}

/* -- who calls --------------------------------------------------------------------------------- */

bool mishap_http_tokens_concern(const mishap_http_request *request)
{
    mishap_text bearer = mishap_http_bearer_of(request->fields[MISHAP_HTTP_AUTHORIZATION]);
    return bearer.data && !mishap_key_is_one(bearer);
}

/* The claims of a token that was refused are text of a stranger: a part is enough. */
static mishap *note_text(mishap *m, const char *name, mishap_text text)
{
    enum { ENOUGH = 200 };
    if (!text.data)
        return m;
    text.length = mishap_utf8_cut(text, ENOUGH);
    return mishap_note_value(m, mishap_text_of(name), mishap_value_of_text(text));
}

/* The same words for each check: a forger learns nothing from them. */
static mishap *not_valid(const mishap_token *token, mishap_token_flaw flaw)
{
    yyjson_val *audience = token->audience;
    mishap *m = mishap_suggest(mishap_raise(UNAUTHORIZED, "The access token is not valid."),
                               "Get a new access token, and try again.");
    m = mishap_note(m, "check", mishap_token_flaw_names[flaw]);
    m = note_text(m, "iss", token->issuer_is);
    if (yyjson_is_arr(audience)) /* one of them shows enough */
        audience = yyjson_arr_get_first(audience);
    return note_text(m, "aud", mishap_json_text(audience));
}

static mishap *refuse_token(mishap_http_tokens *tokens, const mishap_http_request *request,
                            const mishap_token *token, mishap_token_flaw flaw)
{
    if (flaw == MISHAP_TOKEN_NO_MEMORY)
        return mishap_out_of_memory();
    if (flaw == MISHAP_TOKEN_UNKNOWN_KEY)
        mishap_http_want_keys(token->issuer);
    if (flaw == MISHAP_TOKEN_UNKNOWN_KEY && !tokens->keys[token->issuer])
        return mishap_retry_after(
            mishap_raise(UNAVAILABLE, "The server cannot check access tokens at the moment."),
            1000);
    if (flaw == MISHAP_TOKEN_SIGNATURE) /* the earlier checks cost next to nothing */
        mishap_http_budget_use(&tokens->budget, request, mishap_clock_monotonic_ns());
    return not_valid(token, flaw);
}

static mishap *over_budget(int64_t wait_ms)
{
    return mishap_retry_after(
        mishap_raise(RATE_LIMITED, "Too many access tokens from this address were not valid."),
        wait_ms);
}

/* The first time that this token comes, or after a while. */
static mishap *check_anew(mishap_http_tokens *tokens, const mishap_http_request *request,
                          mishap_text text, const unsigned char *digest, int64_t now_s,
                          const mishap_identity **found)
{
    const mishap_http_issuers *issuers = tokens->issuers;
    const mishap_token_rules rules = { tokens->sets, issuers->count, issuers->audiences,
                                       issuers->audience_count };
    mishap_token token;
    int64_t wait_ms = mishap_http_budget_wait(&tokens->budget, request,
                                              mishap_clock_monotonic_ns());
    if (wait_ms)
        return over_budget(wait_ms);
    mishap_token_flaw flaw = mishap_token_check(&tokens->reader, &rules, text, now_s, &token);
    if (flaw != MISHAP_TOKEN_SOUND)
        return refuse_token(tokens, request, &token, flaw);
    if (!mishap_token_identify(&token, issuers->list[token.issuer].alias, issuers->declared,
                               &tokens->unkept))
        return mishap_out_of_memory();
    tokens->unkept.scopes &= issuers->list[token.issuer].scopes;
    *found = mishap_token_cache_add(tokens->cache, digest, &tokens->unkept, now_s);
    return NULL;
}

/* The name is in the cache: it is valid while this request is handled, and copied by what goes on
 * after that. */
mishap *mishap_http_tokens_check(mishap_http_tokens *tokens, mishap_http_request *request,
                                 mishap_text own)
{
    mishap_text text = mishap_http_bearer_of(request->fields[MISHAP_HTTP_AUTHORIZATION]);
    unsigned char digest[MISHAP_OAUTH_DIGEST];
    const mishap_identity *found = NULL;
    int64_t now_s = (int64_t)time(NULL);
    mishap *refused = NULL;
    request->caller = NULL;
    request->caller_key = 0;
    request->scopes = 0;
    request->has_token = true;
    if (own.data)
        return mishap_suggest(
            mishap_raise(UNAUTHORIZED, "The request has an access token and an API key."),
            "Send one of them.");
    if (text.length > MISHAP_TOKEN_LONGEST)
        return not_valid(&(mishap_token){ 0 }, MISHAP_TOKEN_TOO_LONG);
    if (!mishap_token_cache_digest(tokens->cache, text, digest))
        return mishap_out_of_memory();
    found = mishap_token_cache_find(tokens->cache, digest, now_s);
    if (!found)
        refused = check_anew(tokens, request, text, digest, now_s, &found);
    if (refused)
        return refused;
    request->caller = mishap_http_map_find(&tokens->issuers->map, found->name);
    request->subject = request->caller ? found->name : NULL;
    if (!request->caller)
        request->caller = found->name;
    request->caller_key = found->number;
    request->scopes = found->scopes;
    request->ends_s = found->ends_s + MISHAP_TOKEN_SKEW_S;
    return NULL;
}
