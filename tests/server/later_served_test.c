/*
 * Answers that come later, with a real server: they reach their connection at any time, in order,
 * and its endpoint is told of its end.
 */
#include "testing.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include "served_later.h"

static pid_t supervisor;
static int port, complaints; /* its stderr */
static char log_file[] = "/tmp/mishap-later-XXXXXX";
static char incidents[] = "/tmp/mishap-incidents-XXXXXX";

static int start_server(void **state)
{
    int ends[2];
    char line[256] = "";
    (void)state;
    close(mkstemp(log_file));
    close(mkstemp(incidents));
    setenv("MEMORY_LOG", incidents, 1);
    list_operations();
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED || pipe(ends) != 0)
        return -1;
    supervisor = fork();
    if (supervisor == 0) {
        mishap_use_allocator(&meagre);
        mishap_served served = { .app = &app, .setup = { .data = "/nonexistent" }, .handlers = 2 };
        mishap_http_settings settings = { .extensions = extensions,
                                          .program = "memory",
                                          .served = &served,
                                          .admit = mishap_api_admit,
                                          .refuse = mishap_api_refuse,
                                          .host = "127.0.0.1",
                                          .loops = 1,
                                          .max_connections = 100,
                                          .access_log = log_file,
                                          .head_limit = 16384,
                                          .target_limit = 8192,
                                          .body_limit = 65536,
                                          .head_ms = 8000,
                                          .body_ms = 10000,
                                          .write_ms = 1200,
                                          .idle_ms = 10000,
                                          .stop_ms = 20000 };
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        _exit(mishap_http_supervise(&settings) ? 1 : 0);
    }
    close(ends[1]);
    for (size_t n = 0; n < sizeof line - 1 && !strchr(line, '\n'); n++)
        if (read(ends[0], line + n, 1) != 1)
            return -1;
    const char *found = strstr(line, "127.0.0.1:");
    port = found ? (int)strtol(found + 10, NULL, 10) : 0;
    complaints = ends[0];
    return port ? 0 : -1;
}

/* On a busy machine a call waits for another for longer than a second, which is said: that is no
 * complaint. */
static size_t without_waits(char *text, size_t length)
{
    size_t kept = 0;
    for (char *line = text, *next; line < text + length; line = next) {
        char *end = memchr(line, '\n', (size_t)(text + length - line));
        next = end ? end + 1 : text + length;
        if (memmem(line, (size_t)(next - line), " has waited for ", 16))
            continue;
        memmove(text + kept, line, (size_t)(next - line));
        kept += (size_t)(next - line);
    }
    return kept;
}

static int stop_server(void **state)
{
    int status = -1;
    char text[65536];
    size_t length = 0;
    (void)state;
    kill(supervisor, SIGTERM);
    for (ssize_t count = 1; count > 0 && length < sizeof text; length += (size_t)count)
        if ((count = read(complaints, text + length, sizeof text - length)) < 0)
            count = 0;
    close(complaints);
    length = without_waits(text, length);
    waitpid(supervisor, &status, 0);
    unlink(log_file);
    unlink(incidents);
    if (atomic_load(&seen->dismissed) != 1 ||
        atomic_load(&seen->ended) != atomic_load(&seen->before))
        return -1;
    if (length)
        fprintf(stderr, "%.*s\n", (int)length, text); /* of a crash, or of a sanitizer */
    return length ? -1 : status;
}

static int say_to(int file, const char *bytes)
{
    assert_int_equal(send(file, bytes, strlen(bytes), MSG_NOSIGNAL), strlen(bytes));
    return file;
}

static int call_up(const char *bytes)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    int file = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(file, (struct sockaddr *)&address, sizeof address), 0);
    return say_to(file, bytes);
}

/* What comes until the text has this in it; NULL: until the peer closes. */
static const char *hear(int file, const char *until)
{
    static char text[65536];
    size_t length = 0;
    text[0] = '\0';
    while (!until || !strstr(text, until)) {
        struct pollfd wait = { .fd = file, .events = POLLIN };
        if (poll(&wait, 1, 60000) <= 0)
            fail_msg("nothing more after: %s", text);
        ssize_t count = recv(file, text + length, sizeof text - 1 - length, 0);
        if (count <= 0 && !until)
            break;
        if (count <= 0)
            fail_msg("closed after: %s", text);
        length += (size_t)count;
        text[length] = '\0';
    }
    return text;
}

#define GET(path)  "GET " path " HTTP/1.1\r\nHost: h\r\n\r\n"
#define LAST(path) "GET " path " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

/* One request on a connection of its own; its body. */
static const char *ask(const char *bytes)
{
    int file = call_up(bytes);
    const char *text = hear(file, NULL), *body = strstr(text, "\r\n\r\n");
    close(file);
    return body ? body + 4 : text;
}

static pid_t loop_pid(void)
{
    return (pid_t)strtol(ask(LAST("/pid")), NULL, 10);
}

enum { PATIENCE = 4800 }; /* looks, 25 ms one after the other, for something that must come */

static void wait_for_state(const char *wanted)
{
    for (size_t i = 0; i < PATIENCE; i++) {
        if (strstr(ask(LAST("/state")), wanted))
            return;
        poll(NULL, 0, 25);
    }
    fail_msg("%s, not %s", ask(LAST("/state")), wanted);
}

/* Until a number is at least so large. */
static void wait_for(const char *what, atomic_int *number, int wanted)
{
    for (size_t i = 0; i < PATIENCE && atomic_load(number) < wanted; i++)
        poll(NULL, 0, 25);
    if (atomic_load(number) < wanted)
        fail_msg("%s: %d, not %d", what, atomic_load(number), wanted);
}

/* The loop does nothing until it is let go. */
static int hold_loop(void)
{
    int held = atomic_load(&seen->held);
    int file = call_up(LAST("/hold"));
    wait_for("held", &seen->held, held + 1);
    return file;
}

static void let_loop_go(int file)
{
    atomic_fetch_add(&seen->let_go, 1);
    assert_non_null(strstr(hear(file, NULL), "held 1"));
    close(file);
}

static void assert_in_order(const char *text, const char *const *parts)
{
    const char *at = text;
    for (; *parts; parts++) {
        const char *found = strstr(at, *parts);
        if (!found)
            fail_msg("no %s in: %s", *parts, text);
        at = found + strlen(*parts);
    }
}

static void requests_behind_a_deferred_one_are_answered_after_it(void **state)
{
    (void)state;
    int file = call_up(GET("/list") GET("/wait") GET("/slow/1") LAST("/health"));
    hear(file, "{\"tags\":null}");
    assert_string_equal(ask(LAST("/release")), "all 1");
    assert_in_order(hear(file, NULL),
                    (const char *[]){ "released 1", "{\"id\":\"1\"}", "\"status\":\"ok\"", NULL });
    close(file);
}

/* Both have sent before the loop looks, so both are answered in one turn of its loop. */
static void an_answer_in_the_turn_of_its_request_comes_behind_those_before(void **state)
{
    (void)state;
    int a = call_up(GET("/list")), b = call_up(GET("/list"));
    hear(a, "}");
    hear(b, "}");
    int hold = hold_loop();
    say_to(a, GET("/nothing") GET("/wait") GET("/list") LAST("/health"));
    say_to(b, LAST("/release"));
    let_loop_go(hold);
    hear(b, NULL);
    ask(LAST("/release")); /* if it was not in one turn after all */
    assert_in_order(hear(a, NULL),
                    (const char *[]){ "404 Not Found", "released 1", "{\"tags\":null}",
                                      "\"status\":\"ok\"", NULL });
    close(a);
    close(b);
}

/* For a deferred answer it is not known whether the client still waits for it. */
static void who_closes_its_sending_side_waits_for_a_handler_and_for_nothing_else(void **state)
{
    (void)state;
    int a = call_up(GET("/list")), b = call_up(GET("/list"));
    hear(a, "}");
    hear(b, "}");
    int hold = hold_loop();
    say_to(a, GET("/slow/1"));
    say_to(b, GET("/wait"));
    shutdown(a, SHUT_WR);
    shutdown(b, SHUT_WR);
    let_loop_go(hold);
    assert_non_null(strstr(hear(a, NULL), "{\"id\":\"1\"}"));
    assert_string_equal(hear(b, NULL), "");
    close(a);
    close(b);
}

static void an_answer_comes_before_those_to_what_was_sent_meanwhile(void **state)
{
    (void)state;
    int a = call_up(GET("/wait")), b = call_up(GET("/list"));
    hear(b, "}");
    int hold = hold_loop();
    say_to(b, LAST("/release"));
    say_to(a, GET("/list") LAST("/health"));
    let_loop_go(hold);
    assert_in_order(hear(a, NULL),
                    (const char *[]){ "released 1", "{\"tags\":null}", "\"status\":\"ok\"", NULL });
    hear(b, NULL);
    close(a);
    close(b);
}

static void a_call_of_an_extension_runs_in_a_worker(void **state)
{
    (void)state;
    char answer[64];
    pid_t loop = loop_pid();
    snprintf(answer, sizeof answer, "%s", ask(LAST("/errand")));
    assert_memory_equal(answer, "{\"pid\":", 7);
    assert_int_not_equal(strtol(answer + 7, NULL, 10), loop);
    assert_int_not_equal(strtol(answer + 7, NULL, 10), supervisor);
    assert_string_equal(ask(LAST("/process")), answer); /* there is one, and it is kept */
    int file = call_up(GET("/errand"));
    close(file); /* it goes on without a client */
    assert_string_equal(ask(LAST("/errand")), answer);
}

/* Of an operation and of an extension's own call: what has begun is told, and comes to its end. */
static void a_handler_is_told_that_nobody_waits(void **state)
{
    (void)state;
    static const char *const requests[] = { GET("/hang"), GET("/long") };
    for (size_t i = 0; i < 2; i++) {
        int hanging = atomic_load(&seen->hanging), cancelled = atomic_load(&seen->cancelled);
        int file = call_up(requests[i]);
        wait_for("hanging", &seen->hanging, hanging + 1);
        poll(NULL, 0, 50);
        assert_int_equal(atomic_load(&seen->cancelled), cancelled);
        if (i == 0) /* one who only stops to send would still wait for the answer */
            setsockopt(file, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 },
                       sizeof(struct linger));
        close(file);
        wait_for("cancelled", &seen->cancelled, cancelled + 1);
        assert_non_null(strstr(ask(LAST("/process")), "pid"));
    }
}

/* The log is written by a process of its own, within moments. */
static bool in_incidents(const char *wanted)
{
    bool found = false;
    for (int i = 0; i < 12000 && !found; i++) {
        size_t length;
        char *log = read_file(incidents, &length);
        found = strstr(log, wanted) != NULL;
        free(log);
        if (!found)
            usleep(10000);
    }
    return found;
}

/* The connection goes on, and so does everybody else. */
static void a_handler_that_takes_too_long_is_ended_and_its_connection_goes_on(void **state)
{
    (void)state;
    pid_t loop = loop_pid();
    int file = call_up(GET("/freeze") LAST("/slow/1"));
    assert_non_null(strstr(ask(LAST("/process")), "pid"));
    const char *text = hear(file, NULL);
    assert_memory_equal(text, "HTTP/1.1 504 ", 13);
    assert_in_order(text,
                    (const char *[]){ "\"timeout\"", "HTTP/1.1 200 ", "{\"id\":\"1\"}", NULL });
    close(file);
    assert_true(in_incidents("freeze.get"));
    assert_int_equal(loop_pid(), loop);
}

/* Chunks, as its handler writes them; the status is that of an answer, not of nothing. */
static void a_stream_of_a_worker_comes_in_chunks(void **state)
{
    (void)state;
    int file = call_up(GET("/pieces/1") LAST("/slow/1"));
    assert_in_order(hear(file, NULL),
                    (const char *[]){ "HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n",
                                      "\r\n\r\n4\r\none \r\nb\r\nand another\r\n0\r\n\r\n",
                                      "HTTP/1.1 200 OK\r\n", "{\"id\":\"1\"}", NULL });
    close(file);
}

/* Whether its handler fails or its worker dies: no last chunk, and the connection ends. */
static void a_stream_that_breaks_off_has_no_end(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *rest;
    } rows[] = { { GET("/pieces/broken") GET("/slow/1"), "4\r\none \r\nb\r\nand another\r\n" },
                 { GET("/vanish") GET("/slow/1"), "4\r\nhalf\r\n" } };
    for (size_t i = 0; i < 2; i++) {
        int file = call_up(rows[i].bytes);
        const char *text = hear(file, NULL), *body = strstr(text, "\r\n\r\n");
        assert_memory_equal(text, "HTTP/1.1 200 OK\r\n", 17);
        assert_non_null(body);
        assert_string_equal(body + 4, rows[i].rest);
        close(file);
    }
    assert_true(in_incidents("vanish.get"));
}

static void a_stream_reaches_who_reads_and_not_who_does_not(void **state)
{
    (void)state;
    int idle = call_up(GET("/open"));
    hear(idle, "\r\n\r\n");
    assert_memory_equal(ask(LAST("/flood")), "sent ", 5);
    wait_for_state("closed 1 ");
    close(idle);
    int reader = call_up(GET("/open") LAST("/list"));
    hear(reader, "\r\n\r\n");
    assert_string_equal(ask(LAST("/note")), "noted 1");
    assert_string_equal(hear(reader, "note\n\r\n"), "5\r\nnote\n\r\n");
    close(reader); /* and that is noticed, too */
    wait_for_state("closed 2 ticking 1");
}

/* Another loop is there already when this one is told to come to an end. */
static void a_loop_that_is_replaced_ends_streams_and_answers(void **state)
{
    (void)state;
    int stream = call_up(GET("/open")), wait = call_up(GET("/wait"));
    hear(stream, "\r\n\r\n");
    pid_t before = loop_pid(); /* which has read by now what was sent before */
    kill(supervisor, SIGUSR1);
    assert_string_equal(hear(stream, NULL), "0\r\n\r\n");
    assert_in_order(hear(wait, NULL), (const char *[]){ "Connection: close", "released 1", NULL });
    close(stream);
    close(wait);
    assert_int_not_equal(loop_pid(), before);
    assert_non_null(strstr(ask(LAST("/process")), "pid")); /* it has workers as well */
}

/* … and its extensions hear of each, in the process that forks them. */
static void the_supervisor_tells_extensions_of_loops(void **state)
{
    (void)state;
    wait_for("ended", &seen->ended, 1); /* the one above */
    int before = atomic_load(&seen->before);
    assert_int_equal(before, 2);
    assert_int_equal(atomic_load(&seen->forked), before);
    assert_int_equal(atomic_load(&seen->ended), before - 1);
    assert_int_equal(atomic_load(&seen->last_number), 100 + before - 2);
}

static void the_supervisor_tells_extensions_of_their_children(void **state)
{
    (void)state;
    int strangers = atomic_load(&seen->strangers), ended = atomic_load(&seen->ended);
    pid_t loop = loop_pid();
    assert_int_equal(atomic_load(&seen->child_status), -1);
    kill(atomic_load(&seen->child), SIGKILL);
    wait_for("child_status", &seen->child_status, 0);
    assert_int_equal(atomic_load(&seen->child_status), SIGKILL);
    assert_int_equal(atomic_load(&seen->strangers), strangers);
    assert_int_equal(atomic_load(&seen->ended), ended); /* it is no loop */
    assert_int_equal(loop_pid(), loop);
}

/* libuv hands out no further connection before that one is accepted. */
static void a_connection_waits_until_there_is_memory(void **state)
{
    (void)state;
    int file = call_up(GET("/list"));
    hear(file, "}");
    say_to(file, GET("/starve"));
    hear(file, "starving 3");
    assert_non_null(strstr(ask(LAST("/list")), "tags"));
    assert_non_null(strstr(ask(LAST("/list")), "tags"));
    close(file);
}

/* What comes of a large answer that is read in pieces with pauses between. `longest_ns`: the
 * longest time between two of them. */
static size_t read_slowly(int file, size_t piece, int pause_ms, int64_t *longest_ns)
{
    char *room = malloc(piece);
    size_t total = 0;
    int64_t last = mishap_clock_monotonic_ns();
    *longest_ns = 0;
    for (ssize_t count = 1; count > 0; total += (size_t)count) {
        poll(NULL, 0, pause_ms);
        if ((count = recv(file, room, piece, MSG_WAITALL)) < 0)
            count = 0;
        int64_t now = mishap_clock_monotonic_ns();
        *longest_ns = now - last > *longest_ns ? now - last : *longest_ns;
        last = now;
    }
    free(room);
    return total;
}

/* If this process itself was held up for so long that the server gave it up, it tries again. */
static void who_reads_slowly_gets_all_of_it_and_who_does_not_is_let_go(void **state)
{
    (void)state;
    int64_t begun, longest_ns;
    int slow, idle;
    for (int tries = 0;; tries++) {
        begun = mishap_clock_monotonic_ns();
        slow = call_up(LAST("/big"));
        idle = call_up(LAST("/big"));
        size_t came = read_slowly(slow, 512 * 1024, 50, &longest_ns);
        if (came > BIG)
            break;
        if (longest_ns < INT64_C(1000000000) || tries == 20)
            fail_msg("it was cut after %zu bytes", came);
        close(slow);
        close(idle);
    }
    /* More than the patience, which was for each piece. */
    assert_true(mishap_clock_monotonic_ns() - begun > INT64_C(1200000000));
    for (size_t i = 0;
         i < PATIENCE && !strstr(ask(LAST("/metrics")), "\nmishap_http_connections 1\n"); i++)
        poll(NULL, 0, 25);
    assert_true(read_slowly(idle, 512 * 1024, 0, &longest_ns) < BIG);
    close(slow);
    close(idle);
}

/* It wakes up with its time over and nothing to read, as on a machine that slept. */
static void time_in_which_a_loop_was_held_up_itself_counts_for_nobody(void **state)
{
    (void)state;
    int late = call_up("GET /list HTTP/1.1\r\nHost: h\r\n"), silent = call_up("GET /li");
    int hold = hold_loop();
    poll(NULL, 0, 9000);
    let_loop_go(hold);
    poll(NULL, 0, 100);
    say_to(late, "\r\n");
    assert_memory_equal(hear(late, "}"), "HTTP/1.1 200 ", 13);
    assert_memory_equal(hear(silent, NULL), "HTTP/1.1 408 ", 13);
    close(late);
    close(silent);
}

/* Their time ends while it does something else, and they have sent just before. */
static void a_request_that_a_leaving_loop_has_not_read_yet_is_answered(void **state)
{
    (void)state;
    int stall = call_up(GET("/list")), kept = call_up(GET("/list")), stream = call_up(GET("/open"));
    hear(stall, "}");
    hear(kept, "}");
    hear(stream, "\r\n\r\n");
    kill(supervisor, SIGUSR1);
    assert_string_equal(hear(stream, NULL), "0\r\n\r\n"); /* it leaves */
    close(stream);
    say_to(stall, GET("/stall"));
    poll(NULL, 0, 200);
    say_to(kept, GET("/list"));
    hear(stall, NULL);
    assert_memory_equal(hear(kept, NULL), "HTTP/1.1 200 ", 13);
    close(stall);
    close(kept);
}

/* How often a path is in the access log. */
static size_t logged(const char *path)
{
    size_t length, count = 0;
    char *log = read_file(log_file, &length);
    for (const char *at = log; (at = strstr(at, path)); at++)
        count++;
    free(log);
    return count;
}

static void a_stream_is_counted_and_logged_when_it_ends(void **state)
{
    (void)state;
    int file = call_up(GET("/open"));
    hear(file, "\r\n\r\n");
    ask(LAST("/note"));
    hear(file, "note\n\r\n");
    for (size_t i = 0; i < PATIENCE && logged("\"/note\"") < 2; i++)
        poll(NULL, 0, 25);
    size_t before = logged("\"/open\"");
    close(file);
    for (size_t i = 0; i < PATIENCE && logged("\"/open\"") == before; i++)
        poll(NULL, 0, 25);
    assert_int_equal(logged("\"/open\""), before + 1);
    char *metrics = strdup(ask(LAST("/metrics")));
    assert_non_null(strstr(metrics, "route=\"open\""));
    assert_non_null(strstr(metrics, "route=\"wait\""));
    free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(requests_behind_a_deferred_one_are_answered_after_it),
        TEST(an_answer_in_the_turn_of_its_request_comes_behind_those_before),
        TEST(an_answer_comes_before_those_to_what_was_sent_meanwhile),
        TEST(a_call_of_an_extension_runs_in_a_worker),
        TEST(a_handler_is_told_that_nobody_waits),
        TEST(a_handler_that_takes_too_long_is_ended_and_its_connection_goes_on),
        TEST(a_stream_of_a_worker_comes_in_chunks),
        TEST(a_stream_that_breaks_off_has_no_end),
        TEST(a_stream_reaches_who_reads_and_not_who_does_not),
        TEST(who_closes_its_sending_side_waits_for_a_handler_and_for_nothing_else),
        TEST(a_loop_that_is_replaced_ends_streams_and_answers),
        TEST(the_supervisor_tells_extensions_of_loops),
        TEST(the_supervisor_tells_extensions_of_their_children),
        TEST(a_connection_waits_until_there_is_memory),
        TEST(who_reads_slowly_gets_all_of_it_and_who_does_not_is_let_go),
        TEST(time_in_which_a_loop_was_held_up_itself_counts_for_nobody),
        TEST(a_request_that_a_leaving_loop_has_not_read_yet_is_answered),
        TEST(a_stream_is_counted_and_logged_when_it_ends),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
