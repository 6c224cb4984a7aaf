/*
 * src/pages: the pages for people at a browser, served by src/server beside the API of a program:
 * `/`, `/docs`, `/errors`, `/errors/CODE` and `/console`. Programs that ask for JSON get what they
 * would get without this folder, and a route of the program is preferred to a page at the same
 * path.
 *
 *     pages.c       the extension: its routes, and what each page is sent with
 *     assets.c      the files of console/, which the build has embedded: which form of one is sent
 *     playground.c  an error in all dialects, with the findings of a check
 *     embed.py      makes the table of assets, when the program is built
 *
 * Pages are constant files. All that they show they ask of the API, with the key of the person who
 * looks at them: this folder knows nothing about incidents.
 */
#ifndef MISHAP_PAGES_PAGES_H
#define MISHAP_PAGES_PAGES_H

#include "server/server.h"

extern const mishap_http_extension mishap_pages_over_http;

/* -- assets ------------------------------------------------------------------------------------ */

/* A file of console/, as it is and packed with gzip. */
typedef struct mishap_page_asset {
    const char *name; /* "docs.html"; NULL ends the table */
    const char *media_type;
    mishap_text plain, packed;
    mishap_text tag, packed_tag; /* the entity tag of each, with its quotes */
} mishap_page_asset;

extern const mishap_page_asset mishap_page_assets[];

/* NULL: there is no file of this name. */
const mishap_page_asset *mishap_page_asset_find(mishap_text name);

/* True if an Accept-Encoding field accepts gzip. */
bool mishap_page_accepts_gzip(mishap_text accept_encoding);

/* True if an If-None-Match field has this tag, in its weak form, too. */
bool mishap_page_tag_is_known(mishap_text if_none_match, mishap_text tag);

/* Fill a reply: 304 if the client has the file already (`known` is its If-None-Match), else the
 * file with `status`. */
void mishap_page_asset_send(mishap_http_reply *reply, const mishap_page_asset *asset, int status,
                            mishap_text accept_encoding, mishap_text known);

/* -- the playground ---------------------------------------------------------------------------- */

enum { MISHAP_PLAYGROUND_LIMIT = 16384 }; /* bytes of a request: it is answered on the loop */

/*
 * A request of the playground is an object: `document`, the text of an error; `dialect`, the name
 * of its dialect, or the one that fits best if it is absent; `strict`, as in `check`. The answer
 * has the dialect, the findings, the error in each dialect, and the dialects that could be meant.
 */
mishap *mishap_playground_put(mishap_buffer *json, mishap_text request);

/* {"dialects":{…}}: an error that has only this code, in each dialect. */
void mishap_playground_put_code(mishap_buffer *json, const mishap_code *code);

#endif
