/* One request of a client, for many.c, which lets libcurl run it. */
#ifndef MISHAP_CLIENT_SINGLE_H
#define MISHAP_CLIENT_SINGLE_H

#include "client/client.h"
#include "client/libcurl.h"

/* Prepare the handle of the client for a request. The caller frees the list, in any case. */
mishap *mishap_client_prepare(mishap_client *client, const mishap_client_request *request,
                              mishap_client_response *response, curl_list **headers);

/* It has ended with this result of libcurl. NULL: there is a response. */
mishap *mishap_client_finish(mishap_client *client, int result);

curl_handle *mishap_client_handle(const mishap_client *client);

#endif
