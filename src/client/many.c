/*
 * Many requests at a time. libcurl keeps the connections, and uses one again when its request has
 * ended.
 */
#include <poll.h>

#include "client/single.h"

/* What poll() and curl_multi_poll() call the same: an event has the same bit in both. */
_Static_assert(POLLIN == CURL_WAIT_IN && POLLOUT == CURL_WAIT_OUT, "the events of poll()");

enum { MOST_FILES = 8 };

struct mishap_client_many {
    curl_many *handle;
    mishap_client_flight *flights;
};

mishap *mishap_client_many_open(mishap_client_many **out)
{
    *out = NULL;
    mishap *failure = mishap_libcurl_load();
    if (failure)
        return failure;
    mishap_client_many *many = mishap_allocate(sizeof *many);
    if (!many)
        return mishap_out_of_memory();
    *many = (mishap_client_many){ .handle = mishap_libcurl.curl_multi_init() };
    if (!many->handle) {
        mishap_release(many);
        return mishap_out_of_memory();
    }
    *out = many;
    return NULL;
}

void mishap_client_many_close(mishap_client_many *many)
{
    if (!many)
        return;
    mishap_libcurl.curl_multi_cleanup(many->handle);
    mishap_release(many);
}

static void release_headers(mishap_client_flight *flight)
{
    mishap_libcurl.curl_slist_free_all(flight->headers);
    flight->headers = NULL;
}

mishap *mishap_client_many_begin(mishap_client_many *many, mishap_client_flight *flight,
                                 const mishap_client_request *request)
{
    mishap *failure = mishap_client_prepare(flight->client, request, &flight->response,
                                            &flight->headers);
    if (!failure && mishap_libcurl.curl_multi_add_handle(
                        many->handle, mishap_client_handle(flight->client)) != CURL_FINE)
        failure = mishap_out_of_memory();
    if (failure) {
        release_headers(flight);
        return failure;
    }
    flight->runs = true;
    flight->previous = NULL;
    flight->next = many->flights;
    if (many->flights)
        many->flights->previous = flight;
    many->flights = flight;
    return NULL;
}

static void end_flight(mishap_client_many *many, mishap_client_flight *flight)
{
    mishap_libcurl.curl_multi_remove_handle(many->handle, mishap_client_handle(flight->client));
    release_headers(flight);
    flight->runs = false;
    if (flight->next)
        flight->next->previous = flight->previous;
    *(flight->previous ? &flight->previous->next : &many->flights) = flight->next;
}

void mishap_client_many_drop(mishap_client_many *many, mishap_client_flight *flight)
{
    if (flight->runs)
        end_flight(many, flight);
}

void mishap_client_many_wait(mishap_client_many *many, struct pollfd *files, size_t count,
                             int wait_ms)
{
    curl_waiting waiting[MOST_FILES];
    int running, ready;
    count = count < MOST_FILES ? count : MOST_FILES;
    for (size_t i = 0; i < count; i++)
        waiting[i] = (curl_waiting){ .file = files[i].fd, .events = files[i].events };
    mishap_libcurl.curl_multi_poll(many->handle, waiting, (unsigned)count, wait_ms, &ready);
    mishap_libcurl.curl_multi_perform(many->handle, &running);
    for (size_t i = 0; i < count; i++)
        files[i].revents = 0;
    poll(files, count, 0); /* libcurl leaves out that a pipe has ended */
}

mishap_client_flight *mishap_client_many_next(mishap_client_many *many, mishap **failure)
{
    int left;
    const curl_message *message;
    while ((message = mishap_libcurl.curl_multi_info_read(many->handle, &left))) {
        mishap_client_flight *flight = many->flights;
        while (flight && mishap_client_handle(flight->client) != message->handle)
            flight = flight->next;
        if (message->what != CURL_HAS_ENDED || !flight)
            continue;
        int result = message->data.result;
        *failure = mishap_client_finish(flight->client, result);
        end_flight(many, flight);
        return flight;
    }
    return NULL;
}
