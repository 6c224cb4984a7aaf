/*
 * A foreign program for tests: it counts, echoes, fails, and misbehaves in the way that it is told.
 * It knows nothing of the library. Its first argument says how it starts: `ready`, `mute`,
 * `unready`, `babble` or `gone`.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <yyjson.h>

#include "mishap/exits.h"

enum { SOCKET = 3, PACKET = 65536, ROOM = 12 << 20 };

static volatile sig_atomic_t interrupted, value_of_interrupt, obeys = 1;
static char said[ROOM], asked[ROOM];
static long counted;

static void on_interrupt(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    value_of_interrupt = info->si_value.sival_int;
    interrupted = 1;
}

/* -- packets ----------------------------------------------------------------------------------- */

static void send_packet(char kind, const char *text, size_t length)
{
    static char packet[PACKET];
    packet[0] = kind;
    memcpy(packet + 1, text, length);
    while (write(SOCKET, packet, length + 1) < 0 && errno == EINTR)
        continue;
}

static void say(const char *text)
{
    size_t length = strlen(text), sent = 0;
    if (length < PACKET) {
        send_packet('=', text, length);
        return;
    }
    while (sent < length) {
        size_t size = length - sent < PACKET - 1 ? length - sent : PACKET - 1;
        send_packet(sent == 0 ? '<' : sent + size == length ? '>' : '-', text + sent, size);
        sent += size;
    }
}

static void answer(uint64_t id, const char *object)
{
    snprintf(said, sizeof said, "{\"id\":%llu,\"answer\":%s}", (unsigned long long)id, object);
    say(said);
}

static const char *read_message(void)
{
    static char packet[PACKET];
    static size_t length;
    for (;;) {
        ssize_t count = read(SOCKET, packet, sizeof packet);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            _exit(0);
        if (packet[0] == '=' || packet[0] == '<')
            length = 0;
        if (length + (size_t)count >= sizeof asked)
            _exit(3);
        memcpy(asked + length, packet + 1, (size_t)count - 1);
        length += (size_t)count - 1;
        asked[length] = '\0';
        if (packet[0] == '=' || packet[0] == '>')
            return asked;
    }
}

/* -- calls ------------------------------------------------------------------------------------- */

static void rest(uint64_t id, const char *how)
{
    obeys = strcmp(how, "hang") != 0;
    /* An interrupt may be for the call before; one of the keeper has no id. */
    while (!interrupted || !obeys || (value_of_interrupt && value_of_interrupt != (int)id))
        usleep(1000);
    snprintf(said, sizeof said,
             "{\"id\":%llu,\"failure\":{\"code\":\"%s\",\"message\":\"Stopped.\","
             "\"context\":{\"signal\":%d}}}",
             (unsigned long long)id, strcmp(how, "nap") == 0 ? "TIMEOUT" : "CANCELLED",
             (int)value_of_interrupt);
    say(said);
}

static void fill(char *to, const char *head, size_t size, const char *tail)
{
    size_t at = strlen(head);
    memcpy(to, head, at);
    memset(to + at, 'x', size);
    memcpy(to + at + size, tail, strlen(tail) + 1);
}

static void fill_with_members(char *to, const char *head, int count, const char *tail)
{
    size_t at = strlen(head);
    memcpy(to, head, at);
    for (int i = 0; i < count; i++)
        at += (size_t)snprintf(to + at, 20, ",\"m%d\":0", i);
    memcpy(to + at, tail, strlen(tail) + 1);
}

static void misbehave(uint64_t id, const char *way)
{
    unsigned long long number = id;
    char head[200];
    if (strcmp(way, "exit") == 0) {
        fprintf(stderr, "my last words, secret-of-the-operator\n");
        exit(7);
    } else if (strcmp(way, "leave") == 0) {
        fprintf(stderr, "my last words, secret-of-the-operator\n");
        exit(MISHAP_EXIT_REFUSED);
    } else if (strcmp(way, "kill") == 0) {
        raise(SIGKILL);
    } else if (strcmp(way, "sleep") == 0 || strcmp(way, "nap") == 0 || strcmp(way, "hang") == 0) {
        rest(id, way);
    } else if (strcmp(way, "garbage") == 0) {
        say("no JSON at all");
    } else if (strcmp(way, "packet") == 0) {
        send_packet('?', "{}", 2);
    } else if (strcmp(way, "huge") == 0) {
        snprintf(head, sizeof head, "{\"id\":%llu,\"answer\":{\"echo\":\"", number);
        fill(said, head, 5 << 20, "\"}}");
        say(said);
    } else if (strcmp(way, "long") == 0) {
        snprintf(head, sizeof head, "{\"id\":%llu,\"answer\":{\"echo\":\"", number);
        fill(said, head, 1 << 20, "\"}}");
        say(said);
    } else if (strcmp(way, "endless") == 0) {
        for (;;)
            send_packet('<', "{", 1);
    } else if (strcmp(way, "wrong_id") == 0) {
        answer(id + 1, "{}");
    } else if (strcmp(way, "twice") == 0) {
        answer(id, "{}");
        answer(id, "{}");
    } else if (strcmp(way, "array") == 0) {
        snprintf(said, sizeof said, "{\"id\":%llu,\"answer\":[]}", number);
        say(said);
    } else if (strcmp(way, "misfit") == 0) {
        answer(id, "{\"n\":\"no number\"}");
    } else if (strcmp(way, "undeclared") == 0) {
        snprintf(said, sizeof said,
                 "{\"id\":%llu,\"failure\":{\"code\":\"INSUFFICIENT_FUNDS\","
                 "\"message\":\"secret-of-the-operator\"}}",
                 number);
        say(said);
    } else if (strcmp(way, "last") == 0) {
        snprintf(said, sizeof said, "{\"id\":%llu,\"answer\":{\"n\":-1},\"last\":true}", number);
        say(said);
        _exit(0);
    } else if (strcmp(way, "flood") == 0) {
        bool failed = false;
        for (int i = 0; i < 10000 && !failed; i++)
            failed = write(1, "secret-of-the-operator secret-of-the-operator secret\n", 53) < 0;
        answer(id, failed ? "{\"n\":1}" : "{\"n\":0}");
    } else if (strcmp(way, "talk") == 0) {
        snprintf(said, sizeof said, "{\"id\":%llu,\"progress\":1,\"total\":2,\"words\":\"half\"}",
                 number);
        say(said);
        snprintf(said, sizeof said, "{\"id\":%llu,\"log\":\"warning\",\"words\":\"careful\"}",
                 number);
        say(said);
        snprintf(said, sizeof said, "{\"id\":%llu,\"log\":\"operator\",\"words\":\"for you\"}",
                 number);
        say(said);
        snprintf(said, sizeof said,
                 "{\"id\":%llu,\"answer\":{},\"text\":\"=> 3\",\"warnings\":[\"a \\\"b\\\"\"]}",
                 number);
        say(said);
    } else if (strcmp(way, "forge") == 0) {
        answer(id, "{\"n\":1,\"session\":\"0123456789abcdef\"}");
    } else if (strcmp(way, "forge_failure") == 0) {
        snprintf(said, sizeof said,
                 "{\"id\":%llu,\"failure\":{\"code\":\"RUNTIME_ERROR\",\"message\":\"No.\","
                 "\"context\":{\"session\":\"0123456789abcdef\"}}}",
                 number);
        say(said);
    } else if (strcmp(way, "members") == 0) {
        snprintf(head, sizeof head, "{\"id\":%llu,\"answer\":{\"n\":1", number);
        fill_with_members(said, head, 5000, "}}");
        say(said);
    } else if (strcmp(way, "gossip") == 0) {
        snprintf(head, sizeof head, "{\"id\":%llu,\"log\":\"operator\",\"words\":\"", number);
        fill(said, head, 1000, "\"}");
        for (int i = 0; i < 1000; i++)
            say(said);
        answer(id, "{}");
    } else if (strcmp(way, "stray") == 0) {
        answer(id, "{}");
        for (int i = 0; i < 5000; i++)
            send_packet('-', "x", 1);
        for (;;)
            pause();
    } else if (strcmp(way, "stay") == 0) {
        snprintf(head, sizeof head, "{\"n\":%d}", (int)getpid());
        answer(id, head);
        for (;;)
            pause();
    } else if (strcmp(way, "deaf") == 0) {
        shutdown(SOCKET, SHUT_RD);
        usleep(300000);
        snprintf(head, sizeof head, "{\"id\":%llu,\"progress\":1", number);
        fill_with_members(asked, head, 4000, "}"); /* takes longer to read than to send */
        for (int i = 0; i < 16 && fork() > 0; i++) /* who goes on, if one has to wait */
            ;
        for (int i = 0;; i++) {
            say(asked);
            if (i == 20)
                answer(id, "{}");
        }
    } else if (strcmp(way, "stop") == 0) {
        raise(SIGSTOP);
    } else if (strcmp(way, "close") == 0) {
        close(SOCKET);
        for (;;)
            pause();
    } else if (strcmp(way, "escape") == 0) {
        int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
        pid_t child = file < 0 ? fork() : 0;
        if (child == 0 && file < 0)
            _exit(0);
        snprintf(head, sizeof head, "{\"n\":%d,\"pid\":%d}", (file >= 0) + 2 * (child > 0),
                 (int)getpid());
        answer(id, head);
    } else if (strcmp(way, "files") == 0) {
        int open_files = 0;
        for (int i = 0; i < 256; i++)
            open_files += fcntl(i, F_GETFD) >= 0;
        extern char **environ;
        snprintf(head, sizeof head, "{\"n\":%d,\"variables\":%d}", open_files, environ[0] != NULL);
        answer(id, head);
    } else {
        answer(id, "{}");
    }
}

/* As code of a caller would: it is announced, writes what it likes, and ends its call after all. */
static void run_code(uint64_t id, const char *way)
{
    snprintf(said, sizeof said, "{\"id\":%llu,\"begins\":true}", (unsigned long long)id);
    say(said);
    if (strcmp(way, "lack") == 0) {
        snprintf(
            said, sizeof said,
            "{\"id\":%llu,\"failure\":{\"code\":\"NOT_CONFIGURED\",\"message\":\"No library.\","
            "\"suggestion\":\"Pay.\",\"retryable\":true,\"type\":\"NOT-CONFIGURED\","
            "\"context\":{\"line\":3,\"session\":\"0\"}},"
            "\"notes\":{\"heap\":\"secret-of-the-operator\"}}",
            (unsigned long long)id);
        say(said);
    } else {
        misbehave(id, way);
    }
    answer(id, "{\"n\":77}");
}

static void serve(const char *text)
{
    yyjson_doc *document = yyjson_read(text, strlen(text), 0);
    yyjson_val *root = yyjson_doc_get_root(document);
    yyjson_val *arguments = yyjson_obj_get(root, "arguments");
    uint64_t id = yyjson_get_uint(yyjson_obj_get(root, "id"));
    const char *operation = yyjson_get_str(yyjson_obj_get(root, "operation"));
    const char *name = operation ? strrchr(operation, '.') : NULL;
    char reply[200];
    if (!name || !yyjson_is_obj(arguments))
        _exit(4);
    if (strcmp(name, ".count") == 0) {
        counted += yyjson_get_sint(yyjson_obj_get(arguments, "by"));
        snprintf(reply, sizeof reply, "{\"n\":%ld,\"pid\":%d}", counted, (int)getpid());
        answer(id, reply);
    } else if (strcmp(name, ".echo") == 0) {
        char *again = yyjson_val_write(arguments, 0, NULL);
        char *limit = yyjson_val_write(root, 0, NULL);
        snprintf(said, sizeof said,
                 "{\"id\":%llu,\"answer\":{\"echo\":%s,\"limit_ms\":%lld},\"text\":\"as text\"}",
                 (unsigned long long)id, again,
                 (long long)yyjson_get_sint(yyjson_obj_get(root, "limit_ms")));
        say(said);
        free(again);
        free(limit);
    } else if (strcmp(name, ".fail") == 0) {
        snprintf(said, sizeof said,
                 "{\"id\":%llu,\"failure\":{\"code\":\"TYPE_ERROR\",\"type\":\"TYPE-ERROR\","
                 "\"message\":\"The value \\\"hello\\\" is not of type NUMBER.\","
                 "\"stdout\":\"before\",\"backtrace\":[\"(+ 1 \\\"hello\\\")\"],"
                 "\"context\":{\"restarts\":[\"ABORT\"]}},"
                 "\"notes\":{\"heap\":\"secret-of-the-operator\"}}",
                 (unsigned long long)id);
        say(said);
    } else {
        const char *way = yyjson_get_str(yyjson_obj_get(arguments, "way"));
        if (strncmp(way, "code:", 5) == 0)
            run_code(id, way + 5);
        else
            misbehave(id, way);
    }
    yyjson_doc_free(document);
}

int main(int count, char **arguments)
{
    const char *way = count > 1 ? arguments[1] : "ready";
    struct sigaction action = { .sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO };
    sigaction(SIGINT, &action, NULL);
    if (strcmp(way, "gone") == 0)
        return 9;
    if (strcmp(way, "mute") == 0)
        for (;;)
            pause();
    if (strcmp(way, "babble") == 0)
        say("[]");
    if (strcmp(way, "unready") == 0) {
        say("{\"failure\":{\"code\":\"NOT_CONFIGURED\",\"message\":\"There is no library.\"}}");
        return 0;
    }
    say("{\"ready\":1}");
    for (;;) {
        interrupted = 0; /* not later: a signal can come as soon as the call has been read */
        serve(read_message());
    }
}
