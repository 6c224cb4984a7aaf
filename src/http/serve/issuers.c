/* `serve --oauth-issuer` and the flags beside it: whose access tokens are accepted. */
#include "base/hash.h"
#include "http/serve/serve.h"
#include "http/tokens/tokens.h"
#include "operation/call.h"

/* Callers of the only issuer that has no alias are named oauth:SUBJECT. */
static const char usual_alias[] = "oauth";

static mishap *not_configured(const char *problem, const char *advice)
{
    return mishap_suggest(mishap_raise(NOT_CONFIGURED, "%s", problem), advice);
}

/* The pattern of the flag says that what stands before the first = is an alias or a URL. */
static mishap *read_issuer(const char *text, bool alone, struct mishap_http_issuer *issuer)
{
    const char *equals = strchr(text, '=');
    issuer->scopes = MISHAP_SCOPES_USUAL;
    mishap_text alias = { text, equals ? (size_t)(equals - text) : 0 };
    if (equals && mishap_token_is_alias(alias)) {
        issuer->alias = alias;
        issuer->url = mishap_text_of(equals + 1);
        return NULL;
    }
    issuer->alias = mishap_text_of(usual_alias);
    issuer->url = mishap_text_of(text);
    return alone ? NULL
                 : not_configured("Several issuers need names: their callers must not be mistaken "
                                  "for each other.",
                                  "Write --oauth-issuer ALIAS=URL for each.");
}

static mishap *check_different(const mishap_http_issuers *issuers)
{
    const struct mishap_http_issuer *list = issuers->list;
    for (size_t i = 0; i < issuers->count; i++)
        for (size_t j = 0; j < i; j++)
            if (mishap_text_equal(list[i].alias, list[j].alias) ||
                mishap_text_equal(list[i].url, list[j].url))
                return not_configured("Two issuers have the same name or the same URL.",
                                      "Write each --oauth-issuer once, with an ALIAS of its own.");
    return NULL;
}

/* An attacker between a client and its issuer could become any caller. */
static mishap *check_secure(mishap_text url)
{
    return mishap_http_issuer_is_safe(url)
               ? NULL
               : not_configured("The URL of an issuer must begin with https://.",
                                "Only an issuer on this machine may have http://.");
}

/* Without --oauth-jwks this server fetches the sets, into its data folder. The name of a file is
 * made of the URL: keys of one issuer must never count for the next one of the same alias. */
static const char *fetched_path(mishap_call *call, mishap_text url)
{
    static const uint64_t known[2] = { 3, 4 };
    return mishap_call_print(call, "%s/jwks-%016llx.json", mishap_call_data_folder(call),
                             (unsigned long long)mishap_hash(known, url));
}

static mishap *place_keys(mishap_call *call, mishap_http_issuers *issuers)
{
    size_t i = 0, given = mishap_count(call, "oauth_jwks");
    if (given && given != issuers->count)
        return not_configured("Either each issuer has a key set, or none has.",
                              "Give one --oauth-jwks FILE for each --oauth-issuer, in the same "
                              "order.");
    for (const mishap_call *item = mishap_first(call, "oauth_jwks"); item; item = mishap_next(item))
        issuers->list[i++].keys = mishap_string(item, "");
    for (; i < issuers->count; i++) {
        struct mishap_http_issuer *issuer = &issuers->list[i];
        issuer->fetched = true;
        issuer->keys = fetched_path(call, issuer->url);
    }
    return NULL;
}

/* An issuer gives its scopes to whom it likes. The private side of failures is not for them, unless
 * the person who starts the server says so. */
static mishap *read_operators(mishap_call *call, mishap_http_issuers *issuers)
{
    for (const mishap_call *item = mishap_first(call, "oauth_operator"); item;
         item = mishap_next(item)) {
        mishap_text alias = mishap_text_of(mishap_string(item, ""));
        size_t i = 0;
        while (i < issuers->count && !mishap_text_equal(issuers->list[i].alias, alias))
            i++;
        if (i == issuers->count)
            return not_configured("--oauth-operator names no issuer of this server.",
                                  "Write the ALIAS of an --oauth-issuer; without one it is oauth.");
        issuers->list[i].scopes = MISHAP_SCOPES_ALL;
    }
    return NULL;
}

static mishap *read_list(mishap_call *call, mishap_http_issuers *issuers)
{
    size_t count = mishap_count(call, "oauth_issuer"), i = 0;
    mishap *failure = NULL;
    for (const mishap_call *item = mishap_first(call, "oauth_issuer"); item && !failure;
         item = mishap_next(item)) {
        failure = read_issuer(mishap_string(item, ""), count == 1, &issuers->list[i]);
        if (!failure)
            failure = check_secure(issuers->list[i].url);
        i++;
    }
    issuers->count = count;
    if (failure)
        return failure;
    failure = check_different(issuers);
    if (!failure)
        failure = read_operators(call, issuers);
    return failure ? failure : place_keys(call, issuers);
}

/* Clients send the address of the server, or that of /mcp, and some add a slash. */
static void read_audiences(mishap_call *call, const char *public_url, mishap_http_issuers *issuers)
{
    static const char *const ends[] = { "", "/", "/mcp", "/mcp/" };
    mishap_text *to = issuers->audiences;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        *to++ = mishap_text_of(mishap_call_print(call, "%s%s", public_url, ends[i]));
    for (const mishap_call *item = mishap_first(call, "oauth_audience"); item;
         item = mishap_next(item))
        *to++ = mishap_text_of(mishap_string(item, ""));
    issuers->audience_count = (size_t)(to - issuers->audiences);
}

/* With an issuer callers need a key or a token: otherwise no client would ask for one. */
mishap *mishap_serve_read_issuers(mishap_call *call, mishap_http_settings *settings)
{
    if (!mishap_count(call, "oauth_issuer"))
        return mishap_count(call, "oauth_jwks") || mishap_count(call, "oauth_audience") ||
                       mishap_count(call, "oauth_operator") || mishap_given(call, "oauth_map")
                   ? not_configured("--oauth-jwks, --oauth-audience, --oauth-operator and "
                                    "--oauth-map need an issuer.",
                                    "Give --oauth-issuer, too.")
                   : NULL;
    if (!settings->public_url)
        return not_configured("An issuer needs the public URL of this server: tokens name it, and "
                              "clients look for it.",
                              "Give --public-url.");
    mishap_http_issuers *issuers = mishap_call_take(call, sizeof *issuers);
    memset(issuers, 0, sizeof *issuers);
    mishap *failure = read_list(call, issuers);
    if (failure)
        return failure;
    read_audiences(call, settings->public_url, issuers);
    if (mishap_given(call, "oauth_map"))
        failure = mishap_http_map_read(&call->arena, mishap_string(call, "oauth_map"),
                                       &issuers->map);
    if (failure)
        return failure;
    issuers->declared = settings->served->app->scopes;
    settings->issuers = issuers;
    settings->key_required = true;
    return mishap_http_issuers_check(issuers);
}
