/*
 * The header Mishap-Position: what a caller has changed and seen, as positions in the logs of the
 * databases of services (`serve --stale-ms`). A response has one, and the caller sends it back with
 * its next request, at any server: "todo=16B3748, loans=2A". It is a hint of the caller, so any
 * text is possible. What cannot be read makes the call read at the primary, which is always right.
 */
#include "http/wire/wire.h"

#include <inttypes.h>
#include <stdio.h>

const char mishap_http_position_field[] = "Mishap-Position";

enum { LONGEST = 4096, DIGITS = 16, LONGEST_SERVICE = 64 };

/* One entry of the list. */
typedef struct entry {
    mishap_text service;
    uint64_t position;
} entry;

static bool read_digits(const char *digits, size_t length, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < length; i++) {
        char c = digits[i];
        bool is_digit = c >= '0' && c <= '9', is_letter = c >= 'A' && c <= 'F';
        if (!is_digit && !is_letter)
            return false;
        *number = *number << 4 | (uint64_t)(is_digit ? c - '0' : c - 'A' + 10);
    }
    return length > 0 && length <= DIGITS && *number > 0;
}

static bool is_name(mishap_text name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '-')
            return false;
    }
    return name.length > 0 && name.length <= LONGEST_SERVICE;
}

/* The entry at the beginning of the list, which is cut off. False: it is none. */
static bool take_entry(mishap_text *list, entry *out)
{
    const char *end = memchr(list->data, ',', list->length), *equals;
    size_t length = end ? (size_t)(end - list->data) : list->length;
    mishap_text item = { list->data, length };
    list->data += end ? length + 1 : length;
    list->length -= end ? length + 1 : length;
    while (item.length && *item.data == ' ') {
        item.data++;
        item.length--;
    }
    while (item.length && item.data[item.length - 1] == ' ')
        item.length--;
    equals = item.length ? memchr(item.data, '=', item.length) : NULL;
    if (!equals)
        return false;
    out->service = (mishap_text){ item.data, (size_t)(equals - item.data) };
    return is_name(out->service) &&
           read_digits(equals + 1, item.length - out->service.length - 1, &out->position);
}

uint64_t mishap_http_position_of(mishap_text field, const mishap_service *service)
{
    mishap_text name = mishap_text_of(service->name);
    uint64_t highest = 0;
    entry found;
    if (field.length > LONGEST)
        return MISHAP_LOG_UNKNOWN;
    while (field.length) {
        if (!take_entry(&field, &found))
            return MISHAP_LOG_UNKNOWN;
        if (mishap_text_equal(found.service, name) && found.position > highest)
            highest = found.position;
    }
    return highest;
}

static void put_entry(mishap_buffer *list, mishap_text service, uint64_t position)
{
    char digits[DIGITS + 1];
    snprintf(digits, sizeof digits, "%" PRIX64, position);
    if (list->length)
        MISHAP_PUT(list, ", ");
    mishap_buffer_put_text(list, service);
    MISHAP_PUT(list, "=");
    mishap_buffer_put_text(list, mishap_text_of(digits));
}

static bool is_served(const mishap_app *app, mishap_text name)
{
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        if (o->service && mishap_text_equal(mishap_text_of(o->service->name), name))
            return true;
    return false;
}

/* Positions of other services are passed on, each once: a caller need keep only the last header. */
void mishap_http_put_position(mishap_http_reply *reply, const mishap_call *call, mishap_text field)
{
    enum { MOST = 32 };
    mishap_text own = mishap_text_of(call->operation->service->name), seen[MOST];
    mishap_buffer list = { 0 };
    size_t count = 0;
    entry found;
    put_entry(&list, own, call->log_position);
    while (field.length && field.length <= LONGEST && count < MOST && take_entry(&field, &found)) {
        bool known = mishap_text_equal(found.service, own) || !is_served(call->app, found.service);
        for (size_t i = 0; i < count; i++)
            known = known || mishap_text_equal(seen[i], found.service);
        if (known)
            continue;
        seen[count++] = found.service;
        put_entry(&list, found.service, found.position);
    }
    if (!list.failed)
        mishap_http_reply_field(reply, mishap_http_position_field, mishap_buffer_text(&list));
    mishap_buffer_release(&list);
}
