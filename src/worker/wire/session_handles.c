/* Handles of sessions: see session_handles.h. */
#include <stdio.h>

#include "base/hex.h"
#include "base/shared.h"
#include "base/system.h"
#include "worker/wire/session_handles.h"

enum { HANDLE = 'h', CONVERSATION = 'c', ROOM = 512 };

mishap *mishap_sessions_make(mishap_sessions **out)
{
    mishap_sessions *sessions = mishap_shared_map(sizeof *sessions);
    *out = sessions;
    if (!sessions)
        return mishap_out_of_memory();
    if (mishap_system_random(sessions->secret, sizeof sessions->secret))
        return NULL;
    mishap_sessions_free(sessions);
    *out = NULL;
    return mishap_raise(UNAVAILABLE, "The system gives no random numbers.");
}

void mishap_sessions_free(mishap_sessions *sessions)
{
    if (sessions)
        mishap_shared_unmap(sessions, sizeof *sessions);
}

/* Each part has a fixed size or ends with a NUL, so two different lists of parts never give the
 * same bytes. */
static void make_key(const mishap_sessions *sessions, char kind, const mishap_service *service,
                     uint64_t owner, mishap_text rest, uint8_t key[MISHAP_SESSION_KEY])
{
    char room[ROOM];
    mishap_buffer message;
    unsigned char mac[MISHAP_MAC];
    mishap_buffer_init(&message, room, sizeof room);
    mishap_buffer_put_char(&message, kind);
    mishap_buffer_put(&message, (const char *)&owner, sizeof owner);
    mishap_buffer_put(&message, service->name, strlen(service->name) + 1);
    mishap_buffer_put_text(&message, rest);
    mishap_mac(sessions->secret, mishap_buffer_text(&message), mac);
    mishap_buffer_release(&message);
    memcpy(key, mac, MISHAP_SESSION_KEY);
}

void mishap_session_of(const mishap_sessions *sessions, const mishap_service *service,
                       uint64_t owner, mishap_text conversation, uint8_t key[MISHAP_SESSION_KEY])
{
    make_key(sessions, CONVERSATION, service, owner, conversation, key);
}

bool mishap_session_mint(const mishap_sessions *sessions, const mishap_service *service,
                         uint64_t owner, char handle[MISHAP_SESSION_HANDLE + 1],
                         uint8_t key[MISHAP_SESSION_KEY])
{
    uint8_t number[MISHAP_SESSION_NUMBER];
    if (!mishap_system_random(number, sizeof number))
        return false;
    if (sessions->server)
        number[0] = sessions->server;
    make_key(sessions, HANDLE, service, owner, (mishap_text){ (const char *)number, sizeof number },
             key);
    mishap_hex_write(handle, number, sizeof number);
    mishap_hex_write(handle + 2 * sizeof number, key, MISHAP_SESSION_KEY);
    handle[MISHAP_SESSION_HANDLE] = '\0';
    return true;
}

bool mishap_session_prove(const mishap_sessions *sessions, const mishap_service *service,
                          uint64_t owner, mishap_text handle, uint8_t key[MISHAP_SESSION_KEY])
{
    uint8_t bytes[MISHAP_SESSION_NUMBER + MISHAP_SESSION_KEY];
    uint8_t wrong = 0;
    if (handle.length != MISHAP_SESSION_HANDLE ||
        !mishap_hex_read(handle.data, bytes, sizeof bytes))
        return false;
    make_key(sessions, HANDLE, service, owner,
             (mishap_text){ (const char *)bytes, MISHAP_SESSION_NUMBER }, key);
    for (size_t i = 0; i < MISHAP_SESSION_KEY; i++) /* takes the same time wherever they differ */
        wrong |= (uint8_t)(key[i] ^ bytes[MISHAP_SESSION_NUMBER + i]);
    return !wrong;
}

bool mishap_session_note(mishap_sessions *sessions, const uint8_t key[MISHAP_SESSION_KEY])
{
    uint64_t part;
    memcpy(&part, key, sizeof part);
    return part && atomic_exchange(&sessions->begun[part % MISHAP_SESSIONS_BEGUN], part) == part;
}
