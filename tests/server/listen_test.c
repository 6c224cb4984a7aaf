/*
 * Where a server listens, for hosts that the resolver below knows. All are addresses of this
 * machine that no other test uses, so a port that was given back stays free.
 */
#include "testing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/files.h"
#include "server/listen.h"

/* -- a resolver of our own --------------------------------------------------------------------- */

static const char *const *answer; /* addresses, the last is NULL */

int getaddrinfo(const char *restrict name, const char *restrict service,
                const struct addrinfo *restrict wanted, struct addrinfo **restrict found)
{
    (void)service;
    if (strcmp(name, "several") != 0)
        return EAI_NONAME;
    for (struct addrinfo **to = found; *answer; answer++, to = &(*to)->ai_next) {
        struct sockaddr_in *address = calloc(1, sizeof *address);
        *address = (struct sockaddr_in){ .sin_family = AF_INET };
        inet_pton(AF_INET, *answer, &address->sin_addr);
        *to = calloc(1, sizeof **to);
        **to = (struct addrinfo){ .ai_family = AF_INET,
                                  .ai_socktype = wanted->ai_socktype,
                                  .ai_addr = (struct sockaddr *)address,
                                  .ai_addrlen = sizeof *address };
    }
    return 0;
}

void freeaddrinfo(struct addrinfo *found)
{
    while (found) {
        struct addrinfo *next = found->ai_next;
        free(found->ai_addr);
        free(found);
        found = next;
    }
}

/* -- tests ------------------------------------------------------------------------------------- */

static mishap *listen_on(const char *const *addresses, int wanted, mishap_http_sockets *sockets,
                         int count, int *port)
{
    mishap_http_settings settings = { .host = "several", .port = wanted };
    answer = addresses;
    return mishap_http_listen(&settings, sockets, count, port);
}

static bool can_connect(const char *host, int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    inet_pton(AF_INET, host, &address.sin_addr);
    int file = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in own = { .sin_family = AF_INET }; /* from elsewhere: never to itself */
    inet_pton(AF_INET, "127.77.0.3", &own.sin_addr);
    assert_int_equal(bind(file, (struct sockaddr *)&own, sizeof own), 0);
    bool done = connect(file, (struct sockaddr *)&address, sizeof address) == 0;
    close(file);
    return done;
}

static void every_address_of_a_name_is_listened_on(void **state)
{
    (void)state;
    mishap_http_sockets sockets[2] = { 0 };
    int port = 0;
    assert_null(listen_on((const char *[]){ "127.77.0.1", "127.77.0.2", "127.77.0.1", NULL }, 0,
                          sockets, 2, &port));
    assert_int_equal(sockets[0].count, 2); /* what is named twice is one */
    assert_int_equal(sockets[1].count, 2);
    assert_true(port > 0);
    assert_true(can_connect("127.77.0.1", port));
    assert_true(can_connect("127.77.0.2", port));
    for (int i = 0; i < 2; i++)
        mishap_http_sockets_close(&sockets[i]);
    assert_false(can_connect("127.77.0.1", port));
    assert_false(can_connect("127.77.0.2", port));
}

/* 192.0.2.0/24 is for documentation: RFC 5737. */
static void an_address_that_is_not_here_does_not_matter_beside_another(void **state)
{
    (void)state;
    mishap_http_sockets sockets[1] = { 0 };
    int port = 0;
    assert_null(
        listen_on((const char *[]){ "192.0.2.1", "127.77.0.2", NULL }, 0, sockets, 1, &port));
    assert_int_equal(sockets[0].count, 1);
    assert_true(can_connect("127.77.0.2", port));
    mishap_http_sockets_close(sockets);
    mishap *m = listen_on((const char *[]){ "192.0.2.1", NULL }, 0, sockets, 1, &port);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_UNAVAILABLE);
    assert_int_equal(sockets[0].count, 0);
    mishap_free(m);
}

static void a_port_that_is_taken_at_one_address_is_taken(void **state)
{
    (void)state;
    mishap_http_sockets taken[1] = { 0 }, sockets[2] = { 0 };
    int port = 0, other = 0;
    assert_null(listen_on((const char *[]){ "127.77.0.2", NULL }, 0, taken, 1, &port));
    mishap *m = listen_on((const char *[]){ "127.77.0.1", "127.77.0.2", NULL }, port, sockets, 2,
                          &other);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_UNAVAILABLE);
    assert_int_equal(sockets[0].count + sockets[1].count, 0);
    assert_false(can_connect("127.77.0.1", port)); /* nothing of it is left */
    mishap_free(m);
    mishap_http_sockets_close(taken);
}

static void a_name_that_nobody_knows_is_refused(void **state)
{
    (void)state;
    mishap_http_sockets sockets[1] = { 0 };
    int port = 0;
    mishap *m = mishap_http_listen(&(mishap_http_settings){ .host = "nobody" }, sockets, 1, &port);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_UNAVAILABLE);
    mishap_free(m);
}

static void people_are_told_an_address_that_they_can_call(void **state)
{
    (void)state;
    static const struct {
        const char *host, *address;
        bool everywhere;
    } rows[] = {
        { "127.0.0.1", "http://127.0.0.1:8080", false },
        { "localhost", "http://localhost:8080", false },
        { "::1", "http://[::1]:8080", false },
        { "0.0.0.0", "http://127.0.0.1:8080", true },
        { "::", "http://[::1]:8080", true },
        { "0::0", "http://[::1]:8080", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_buffer address = { 0 };
        bool everywhere = !rows[i].everywhere;
        mishap_http_put_address(&address, rows[i].host, 8080, &everywhere);
        assert_true(
            mishap_text_equal(mishap_buffer_text(&address), mishap_text_of(rows[i].address)));
        assert_int_equal(everywhere, rows[i].everywhere);
        mishap_buffer_release(&address);
    }
}

/* -- the end ----------------------------------------------------------------------------------- */

enum { WAITING = 150 }; /* more than are handed over at once */

static void count_taken(void *state, const int *files, size_t count)
{
    assert_in_range(count, 1, MISHAP_HTTP_AT_ONCE);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(send(files[i], "!", 1, MSG_NOSIGNAL), 1);
    *(size_t *)state += count;
}

static int connect_to(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    inet_pton(AF_INET, "127.0.0.63", &address.sin_addr);
    int file = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(file, (struct sockaddr *)&address, sizeof address) == 0)
        return file;
    close(file);
    return -1;
}

/* Another process, or here another descriptor, may still have the socket. */
static void sockets_that_end_hand_out_what_waits_and_refuse_the_next(void **state)
{
    (void)state;
    static const char *const one[] = { "127.0.0.63", NULL };
    mishap_http_sockets sockets[1] = { 0 };
    int port = 0, waiting[WAITING], other;
    size_t taken = 0;
    char byte;
    answer = one;
    assert_null(
        mishap_http_listen(&(mishap_http_settings){ .host = "several" }, sockets, 1, &port));
    other = dup(sockets[0].files[0]);
    for (size_t i = 0; i < WAITING; i++)
        assert_true((waiting[i] = connect_to(port)) >= 0);
    mishap_http_sockets_end(sockets, count_taken, &taken);
    assert_int_equal(taken, WAITING);
    assert_int_equal(connect_to(port), -1);
    assert_int_equal(errno, ECONNREFUSED);
    for (size_t i = 0; i < WAITING; i++) {
        assert_int_equal(recv(waiting[i], &byte, 1, 0), 1);
        close(waiting[i]);
    }
    close(other);
}

/* -- connections and the limit of open files --------------------------------------------------- */

/* Hold settings against a limit, in a process of its own. What is written to stderr is `said`. */
static mishap *fit(rlim_t soft, rlim_t hard, mishap_http_settings *settings, char said[300])
{
    struct rlimit before, limit = { soft, hard };
    int pipes[2], kept = dup(STDERR_FILENO);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    dup2(pipes[1], STDERR_FILENO);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    mishap *m = mishap_http_files_fit(settings, 2, 30);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(pipes[1]);
    ssize_t count = read(pipes[0], said, 299);
    said[count > 0 ? count : 0] = '\0';
    close(pipes[0]);
    return m;
}

/* What becomes of so many connections, as a text. A hard limit cannot be raised again. */
static const char *fitted(rlim_t soft, rlim_t hard, int wanted)
{
    static char text[400];
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        mishap_http_settings settings = { .program = "todo", .max_connections = wanted };
        struct rlimit limit;
        char said[300];
        mishap *m = fit(soft, hard, &settings, said);
        getrlimit(RLIMIT_NOFILE, &limit);
        dprintf(pipes[1], "%d %d %d %s%s", settings.max_connections, (int)limit.rlim_cur,
                settings.most_lingering, m ? mishap_told(m)->message.data : "", said);
        _exit(0);
    }
    close(pipes[1]);
    ssize_t count = read(pipes[0], text, sizeof text - 1);
    text[count > 0 ? count : 0] = '\0';
    close(pipes[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return text;
}

static void connections_fit_into_the_limit_of_open_files(void **state)
{
    (void)state;
    assert_string_equal(fitted(1024, 4096, 500), "500 1024 64 ");   /* it is enough */
    assert_string_equal(fitted(1024, 4096, 3000), "3000 4096 64 "); /* it is raised */
    assert_string_equal(fitted(1024, 1024, 908), "908 1024 64 ");   /* just so */
    assert_string_equal(
        fitted(100, 1024, 20000),
        "908 1024 64 todo: --max-connections is 908 instead of 20000 for each server process: "
        "the limit of open files (ulimit -n) is 1024, and 116 of them are reserved for other "
        "uses\n");
    assert_string_equal(fitted(64, 64, 2), "2 64 8 ");
    assert_string_equal(fitted(60, 60, 2),
                        "2 60 8 The limit of 60 open files (ulimit -n) is too low: a server "
                        "process needs 60, and one more for each connection.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_address_of_a_name_is_listened_on),
        TEST(an_address_that_is_not_here_does_not_matter_beside_another),
        TEST(a_port_that_is_taken_at_one_address_is_taken),
        TEST(a_name_that_nobody_knows_is_refused),
        TEST(people_are_told_an_address_that_they_can_call),
        TEST(sockets_that_end_hand_out_what_waits_and_refuse_the_next),
        TEST(connections_fit_into_the_limit_of_open_files),
    };
    return RUN(tests);
}
