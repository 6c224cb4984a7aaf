/* The caller that a token stands for: its name, its number and its scopes. */
#include <stdio.h>
#include <string.h>

#include "oauth/oauth.h"

static bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool mishap_token_is_alias(mishap_text text)
{
    if (!text.length || text.length > MISHAP_TOKEN_LONGEST_ALIAS || !is_lower_or_digit(*text.data))
        return false;
    for (size_t i = 1; i < text.length; i++)
        if (!is_lower_or_digit(text.data[i]) && !memchr("-._", text.data[i], 3))
            return false;
    return true;
}

/* -- names ------------------------------------------------------------------------------------- */

static bool is_plain(char c)
{
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || (c && strchr("-._|@+=", c));
}

/* The name of a subject. False: it is too long. */
static bool put_plain(mishap_text subject, char *to, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < subject.length; i++) {
        size_t needed = is_plain(subject.data[i]) ? 1 : 3;
        if (used + needed >= size)
            return false;
        if (needed == 1)
            to[used] = subject.data[i];
        else
            snprintf(to + used, 4, "%%%02X", (unsigned)(unsigned char)subject.data[i]);
        used += needed;
    }
    to[used] = '\0';
    return true;
}

/* 42 digits: 168 bits of the SHA-256. A plain name has no tilde. */
static bool put_digest(mishap_text subject, char *to, size_t size)
{
    unsigned char digest[MISHAP_OAUTH_DIGEST];
    if (!mishap_oauth_digest(subject, digest))
        return false;
    *to++ = '~';
    for (size_t i = 0; i < 21 && 2 * i + 3 < size; i++, to += 2)
        snprintf(to, 3, "%02x", digest[i]);
    return true;
}

/* -- numbers ----------------------------------------------------------------------------------- */

/* The parts have no line feeds, so no two callers have the same text. The highest bit, which
 * numbers of API keys have, is not set. */
static bool number_of(const mishap_token *token, uint64_t *number)
{
    unsigned char digest[MISHAP_OAUTH_DIGEST];
    char room[1024];
    mishap_buffer text;
    mishap_buffer_init(&text, room, sizeof room);
    mishap_buffer_put_text(&text, token->issuer_is);
    mishap_buffer_put_char(&text, '\n');
    mishap_buffer_put_text(&text, token->client);
    mishap_buffer_put_char(&text, '\n');
    mishap_buffer_put_text(&text, token->subject);
    bool made = !text.failed && mishap_oauth_digest(mishap_buffer_text(&text), digest);
    mishap_buffer_release(&text);
    if (!made)
        return false;
    memcpy(number, digest, sizeof *number);
    *number = (*number & ~(UINT64_C(1) << 63)) | UINT64_C(1) << 62;
    return true;
}

bool mishap_token_identify(const mishap_token *token, mishap_text alias,
                           const mishap_scope *declared, mishap_identity *out)
{
    bool acts_for_itself = mishap_text_equal(token->client, token->subject);
    mishap_text name;
    size_t at = 0;
    *out = (mishap_identity){ .ends_s = token->expires_s };
    int used = snprintf(out->name, sizeof out->name, "%.*s:%s", (int)alias.length, alias.data,
                        acts_for_itself ? ":" : "");
    char *to = out->name + used;
    size_t size = sizeof out->name - (size_t)used;
    if (!put_plain(token->subject, to, size) && !put_digest(token->subject, to, size))
        return false;
    while (mishap_token_next_scope(token, &at, &name))
        out->scopes |= mishap_scope_find(declared, name);
    out->scopes = mishap_scopes_expand(declared, out->scopes);
    return number_of(token, &out->number);
}
