/*
 * Where a request comes from: the address, behind a proxy, too, and the origin of a web page.
 *
 *     remote.c, proxy.c  addresses          origin.c  hosts and origins          cors.c  other
 * origins
 */
#ifndef MISHAP_SERVER_ORIGIN_H
#define MISHAP_SERVER_ORIGIN_H

#include "server/server.h"

/* -- addresses --------------------------------------------------------------------------------- */

/* True for an address of this machine alone (loopback). */
bool mishap_http_is_loopback(mishap_text address);

/* True if proxies add a header field of this name to requests that they pass on. */
bool mishap_http_is_of_proxy(mishap_text name);

/* The address that a request comes from: that of the peer or, if the peer is a proxy on this
 * machine, the last one of X-Forwarded-For. Text that is no address is ignored. */
mishap_text mishap_http_remote(mishap_text peer, mishap_text forwarded);

/* -- origins ----------------------------------------------------------------------------------- */

/* True if this Host names the server; false if it is a name that an attacker could point to this
 * machine. If a key is required, every name is accepted. */
bool mishap_http_knows_host(const mishap_http_settings *settings, mishap_text host);

/* True if pages of this origin may call: there is no origin, it is one of this machine, the
 * server's own, or one of --cors. */
bool mishap_http_knows_origin(const mishap_http_settings *settings, mishap_text origin);

/* True if links in the reply may use the Host of this request. Not if an attacker could have chosen
 * that name, if a proxy has sent it, or if it stands for every address of a machine. */
bool mishap_http_links_to_host(const mishap_http_settings *settings,
                               const mishap_http_request *request);

/* NULL, or FORBIDDEN: a malicious page makes a browser call. Checked for every endpoint that is not
 * .any_host. A client that is no browser may use any name. */
mishap *mishap_http_check_origin(const mishap_http_settings *settings,
                                 const mishap_http_request *request);

/* The entry of a list, as in --cors, that matches this origin: the origin itself, or a star that is
 * the whole list. No data: none does. */
mishap_text mishap_http_listed_origin(const char *list, mishap_text origin);

/* The first entry that can never match, since it is not spelled as browsers do
 * (scheme://host[:port] in lower case without a default port, or null); no data: there is none. */
mishap_text mishap_http_unsound_origin(const char *list);

/* -- cors -------------------------------------------------------------------------------------- */

/* Add the fields that let a page of another origin read the reply, if its origin is in
 * settings->cors. A reply that has them already is not changed. */
void mishap_http_cors(mishap_http_reply *reply, const mishap_http_settings *settings,
                      const mishap_http_request *request);

/* The whole answer to OPTIONS: 204, Allow, the fields above, and for a preflight what may be sent.
 */
void mishap_http_cors_preflight(mishap_http_reply *reply, const mishap_http_settings *settings,
                                const mishap_http_request *request, unsigned methods);

#endif
