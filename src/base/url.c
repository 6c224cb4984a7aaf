#include "base/url.h"

bool mishap_url_valid(mishap_text url)
{
    size_t scheme = 0;
    for (size_t i = 0; i < url.length; i++)
        if ((unsigned char)url.data[i] <= ' ' || strchr("<>\"{}|\\^`\x7f", url.data[i]))
            return false;
    while (scheme < url.length &&
           (((url.data[scheme] | 32) >= 'a' && (url.data[scheme] | 32) <= 'z') ||
            (scheme && strchr("+-.0123456789", url.data[scheme]))))
        scheme++;
    return scheme > 0 && scheme + 1 < url.length && url.data[scheme] == ':';
}
