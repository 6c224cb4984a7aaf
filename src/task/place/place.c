/* Where loops find the process of tasks: see place.h. */
#include "task/place/place.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/base.h"
#include "base/system.h"

enum { SECRET = 32, WAITING = 1024 };

static struct {
    int listener; /* 0: there is none */
    struct sockaddr_un address;
    socklen_t size;
    char secret[SECRET];
} place;

/* The kernel chooses a name that no other socket has. */
mishap *mishap_task_place_make(void)
{
    struct sockaddr_un none = { .sun_family = AF_UNIX };
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    place.size = sizeof place.address;
    if (listener < 0 ||
        bind(listener, (struct sockaddr *)&none, offsetof(struct sockaddr_un, sun_path)) != 0 ||
        getsockname(listener, (struct sockaddr *)&place.address, &place.size) != 0 ||
        listen(listener, WAITING) != 0 ||
        !mishap_system_random(place.secret, sizeof place.secret)) {
        if (listener >= 0)
            close(listener);
        return mishap_raise(UNAVAILABLE, "The process for tasks could not be started.");
    }
    place.listener = listener;
    return NULL;
}

void mishap_task_place_end(void)
{
    if (place.listener)
        close(place.listener);
    place.listener = 0;
}

int mishap_task_place_connect(void)
{
    mishap_task_place_end(); /* a loop has a copy, which it does not need */
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0 || connect(file, (const struct sockaddr *)&place.address, place.size) == 0)
        return file;
    close(file);
    return -1;
}

mishap_text mishap_task_place_secret(void)
{
    return (mishap_text){ place.secret, sizeof place.secret };
}

int mishap_task_place_listener(void)
{
    return place.listener;
}
