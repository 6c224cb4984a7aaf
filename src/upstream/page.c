/*
 * HTML pages and plain text. A page is known by words that only this server writes. Pages of
 * proxies say no more than their status; pages of frameworks may have a sentence of the program.
 */
#include "upstream/inside.h"

#include "base/media.h"

static const struct page {
    const char *name;
    const char *words;   /* that stand in its first bytes, in small letters */
    const char *element; /* whose text is the message; NULL: there is none */
} pages[] = {
    { "nginx", "<center>nginx", NULL },
    { "nginx", "<center>openresty", NULL },
    { "apache", "<address>apache", NULL },
    { "apache", "//ietf//dtd html 2.0//en", NULL },
    { "spring", "whitelabel error page", NULL },
    { "haproxy", "<html><body><h1>", NULL },
    { "express", "<title>error</title>", "<pre>" },
    { "flask", "<html lang=en>\n<title>", "<p>" },
    { "django", "<title>not found</title>", NULL },
    { "django", "<title>server error (500)</title>", NULL },
    { "django", "you're seeing this error because you have <code>debug = true", NULL },
    { "rails", "if you are the application owner check the logs", NULL },
    { "laravel", "<title>laravel", NULL },
    { "envoy", "<center>envoy", NULL },
};

/* Envoy's own answers are plain text. They name its upstreams and say why they failed. */
static const char *const envoy_texts[] = {
    "upstream connect error or disconnect/reset before headers",
    "upstream request timeout",
    "upstream max stream duration reached",
    "stream timeout",
    "no healthy upstream",
    "rbac: access denied",
    "local_rate_limited",
    "jwt is missing",
    "jwt verification fails",
    "jwt is expired",
    "ext_authz_error",
    "overload manager",
};

enum {
    HEAD = 4096, /* bytes of a page in which it is searched for words */
    LONGEST_ELEMENT = 1000,
};

static mishap_text first_bytes(mishap_text text, size_t most)
{
    text.length = text.length < most ? text.length : most;
    return text;
}

/* What stands behind some words, up to the next `end` or the last byte. */
static mishap_text behind(mishap_text text, const char *words, const char *end)
{
    const char *at = mishap_upstream_find(text, words);
    if (!at)
        return (mishap_text){ NULL, 0 };
    size_t used = (size_t)(at - text.data) + strlen(words);
    mishap_text rest = { text.data + used, text.length - used };
    const char *stop = mishap_upstream_find(first_bytes(rest, LONGEST_ELEMENT), end);
    rest.length = stop ? (size_t)(stop - rest.data) : 0;
    return rest;
}

/* The characters that frameworks escape; all others stay as they are. */
static const struct entity {
    const char *name;
    char character;
} entities[] = {
    { "&lt;", '<' },  { "&gt;", '>' },   { "&amp;", '&' },   { "&quot;", '"' },
    { "&#34;", '"' }, { "&#39;", '\'' }, { "&#x27;", '\'' }, { "&nbsp;", ' ' },
};

/* The text of an element as it is meant, up to its first line break or further element. */
static mishap_text undo(mishap_upstream_reading *reading, mishap_text html)
{
    mishap_buffer text = { 0 };
    for (size_t i = 0; i < html.length && html.data[i] != '<'; i++) {
        char c = html.data[i] == '\n' || html.data[i] == '\r' ? ' ' : html.data[i];
        mishap_text rest = { html.data + i, html.length - i };
        for (size_t e = 0; c == '&' && e < sizeof entities / sizeof *entities; e++)
            if (mishap_upstream_begins(rest, entities[e].name)) {
                c = entities[e].character;
                i += strlen(entities[e].name) - 1;
                break;
            }
        mishap_buffer_put_char(&text, c);
    }
    mishap_text kept = text.failed ? (mishap_text){ NULL, 0 }
                                   : mishap_arena_copy(&reading->arena, mishap_buffer_text(&text));
    reading->no_memory = reading->no_memory || !kept.data;
    mishap_buffer_release(&text);
    return kept;
}

void mishap_upstream_read_page(mishap_upstream_reading *reading, mishap_text page)
{
    mishap_text head = first_bytes(page, HEAD);
    mishap_text end = page.length > HEAD ? (mishap_text){ page.data + page.length - HEAD, HEAD }
                                         : head;
    reading->status = mishap_upstream_status_in(behind(head, "<title>", "</title>"));
    if (!reading->status)
        reading->status = mishap_upstream_status_in(behind(head, "<h1>", "</h1>"));
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        if (!mishap_upstream_find(head, pages[i].words) &&
            !mishap_upstream_find(end, pages[i].words))
            continue;
        reading->shape = pages[i].name;
        if (pages[i].element) {
            mishap_text element = behind(head, pages[i].element, "</");
            if (!element.length) /* it is long: a stack follows its first line */
                element = behind(head, pages[i].element, "<br>");
            reading->message = undo(reading, element);
        }
        return;
    }
}

void mishap_upstream_read_text(mishap_upstream_reading *reading, mishap_text text)
{
    text = mishap_upstream_trim(text);
    reading->status = mishap_upstream_status_in(text);
    for (size_t i = 0; i < sizeof envoy_texts / sizeof *envoy_texts; i++)
        if (mishap_upstream_begins(text, envoy_texts[i])) {
            reading->shape = "envoy";
            return;
        }
    if (!text.length)
        return;
    reading->shape = "text";
    if (!mishap_http_same_letters(text, (mishap_text)MISHAP_TEXT("404 page not found")))
        reading->message = text;
}
