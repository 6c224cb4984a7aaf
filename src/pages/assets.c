/* The files of console/, embedded when the program was built: which form of a file is sent. */
#include "base/list.h"
#include "pages/pages.h"

#include "base/media.h"

const mishap_page_asset *mishap_page_asset_find(mishap_text name)
{
    for (const mishap_page_asset *asset = mishap_page_assets; asset->name; asset++)
        if (mishap_text_equal(name, mishap_text_of(asset->name)))
            return asset;
    return NULL;
}

/* -- lists in header fields -------------------------------------------------------------------- */

/* `q=0`, `q=0.000`: a coding that is refused. */
static bool is_zero_quality(mishap_text param)
{
    if (param.length < 3 || (param.data[0] | 32) != 'q' || param.data[1] != '=')
        return false;
    for (size_t i = 2; i < param.length; i++)
        if (param.data[i] != '0' && param.data[i] != '.')
            return false;
    return true;
}

bool mishap_page_accepts_gzip(mishap_text accept_encoding)
{
    bool any = false;
    while (accept_encoding.data) {
        mishap_text element = mishap_list_next(&accept_encoding, ',');
        mishap_text coding = mishap_list_next(&element, ';');
        bool refused = false;
        while (element.data)
            refused = is_zero_quality(mishap_list_next(&element, ';')) || refused;
        if (mishap_http_same_letters(coding, (mishap_text)MISHAP_TEXT("gzip")))
            return !refused;
        any = any || (!refused && mishap_text_equal(coding, (mishap_text)MISHAP_TEXT("*")));
    }
    return any;
}

/* A tag of ours has no comma, so a list can be split at commas: a foreign tag that has one becomes
 * two parts, of which neither is ours. */
bool mishap_page_tag_is_known(mishap_text if_none_match, mishap_text tag)
{
    while (if_none_match.data) {
        mishap_text part = mishap_list_next(&if_none_match, ',');
        if (mishap_text_equal(part, (mishap_text)MISHAP_TEXT("*")))
            return true;
        if (part.length > 2 && part.data[0] == 'W' && part.data[1] == '/')
            part = (mishap_text){ part.data + 2, part.length - 2 };
        if (mishap_text_equal(part, tag))
            return true;
    }
    return false;
}

/* -- replies ----------------------------------------------------------------------------------- */

/* The fields of every asset. Pages load nothing from elsewhere, run no script of their own text,
 * and cannot be framed. `no-cache`: a browser asks each time whether its copy is current. */
static const struct {
    const char *name;
    mishap_text value;
} constant_fields[] = {
    { "Content-Security-Policy",
      MISHAP_TEXT("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                  "connect-src 'self'; base-uri 'none'; form-action 'none'; "
                  "frame-ancestors 'none'") },
    { "X-Content-Type-Options", MISHAP_TEXT("nosniff") },
    { "Referrer-Policy", MISHAP_TEXT("no-referrer") },
    { "Cache-Control", MISHAP_TEXT("no-cache") },
    { "Vary", MISHAP_TEXT("Accept-Encoding") },
};

void mishap_page_asset_send(mishap_http_reply *reply, const mishap_page_asset *asset, int status,
                            mishap_text accept_encoding, mishap_text known)
{
    bool packed = mishap_page_accepts_gzip(accept_encoding);
    mishap_text tag = packed ? asset->packed_tag : asset->tag;
    for (size_t i = 0; i < sizeof constant_fields / sizeof *constant_fields; i++)
        mishap_http_reply_field(reply, constant_fields[i].name, constant_fields[i].value);
    mishap_http_reply_field(reply, "ETag", tag);
    reply->vary_accept = true;
    if (status == 200 && mishap_page_tag_is_known(known, tag)) {
        reply->status = 304;
        return;
    }
    if (packed)
        mishap_http_reply_field(reply, "Content-Encoding", (mishap_text)MISHAP_TEXT("gzip"));
    reply->status = status;
    reply->media_type = asset->media_type;
    reply->content = packed ? asset->packed : asset->plain;
}
