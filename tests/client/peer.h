/* A server on the loopback address that plays a part, in a process of its own. */
#ifndef MISHAP_TESTS_CLIENT_PEER_H
#define MISHAP_TESTS_CLIENT_PEER_H

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/client.h"
#include "testing.h"

enum { PEER_HEARD = 1 << 16 };

/* What the server has heard, for the test to read after the response. */
typedef struct peer_notes {
    int connections, requests;
    size_t length;
    char heard[PEER_HEARD]; /* the last request, with a NUL */
} peer_notes;

typedef struct peer {
    pid_t pid;
    int port;
    char url[64]; /* http://127.0.0.1:PORT */
    peer_notes *notes;
} peer;

/* Answers one request that was read; false: the connection ends. `notes` has the request. */
typedef bool (*peer_part)(int connection, const peer_notes *notes, const void *state);

static bool peer_say(int connection, const char *bytes, size_t length)
{
    while (length) {
        ssize_t count = send(connection, bytes, length, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        bytes += count;
        length -= (size_t)count;
    }
    return true;
}

/* One request, head and body. False: there is none any more. */
static bool peer_hear(int connection, peer_notes *notes)
{
    size_t whole = 0, length = 0;
    for (;;) {
        ssize_t count = recv(connection, notes->heard + length, PEER_HEARD - 1 - length, 0);
        if (count <= 0)
            return false;
        length += (size_t)count;
        notes->heard[length] = '\0';
        const char *end = strstr(notes->heard, "\r\n\r\n");
        const char *size = strcasestr(notes->heard, "\r\nContent-Length:");
        if (end)
            whole = (size_t)(end + 4 - notes->heard) +
                    (size && size < end ? strtoul(size + 17, NULL, 10) : 0);
        if (end && length >= whole) {
            notes->length = length;
            notes->requests++;
            return true;
        }
    }
}

static _Noreturn void peer_run(int socket, peer_notes *notes, peer_part part, const void *state)
{
    signal(SIGPIPE, SIG_IGN);
    alarm(300);
    for (;;) {
        int connection = accept(socket, NULL, NULL);
        if (connection < 0)
            _exit(0);
        notes->connections++;
        while (peer_hear(connection, notes) && part(connection, notes, state))
            continue;
        close(connection);
    }
}

static peer peer_begin(peer_part part, const void *state)
{
    peer made = { 0 };
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof at;
    int socket_file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(socket_file >= 0);
    assert_int_equal(bind(socket_file, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(socket_file, 16), 0);
    assert_int_equal(getsockname(socket_file, (struct sockaddr *)&at, &size), 0);
    made.port = ntohs(at.sin_port);
    snprintf(made.url, sizeof made.url, "http://127.0.0.1:%d", made.port);
    made.notes = mmap(NULL, sizeof *made.notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                      -1, 0);
    assert_true(made.notes != MAP_FAILED);
    made.pid = fork();
    assert_true(made.pid >= 0);
    if (made.pid == 0)
        peer_run(socket_file, made.notes, part, state);
    close(socket_file);
    return made;
}

static void peer_end(peer *made)
{
    kill(made->pid, SIGKILL);
    waitpid(made->pid, NULL, 0);
    munmap(made->notes, sizeof *made->notes);
}

/* A part that says one text to each request. */
typedef struct peer_text {
    const char *text;
    bool stays; /* the connection stays open */
} peer_text;

__attribute__((unused)) static bool peer_says(int connection, const peer_notes *notes,
                                              const void *state)
{
    const peer_text *says = state;
    (void)notes;
    return peer_say(connection, says->text, strlen(says->text)) && says->stays;
}

#endif
