/*
 * Drives one MCP server over its standard input and output, as fast as it can.
 *
 *     drive [--bare] [--call TOOL ARGUMENTS EXPECTED] COMMAND…
 *
 * It calls the tool `echo`, or the one that --call names: ARGUMENTS is a JSON object, and a good
 * answer contains EXPECTED.
 *
 * It starts the server, shakes hands (a bare loop has none to shake) and says `ready`. Then each
 * line of its own input asks for a slice of work, `WINDOW CALLS good|bad`, and is answered with one
 * line of JSON: how many calls were answered, and the time. An answer of the other kind ends it
 * with 1: something else would be measured. CPU and memory of the server's processes are measured
 * by its parent.
 *
 * As many requests as answers have come are sent, in one write, so WINDOW calls are in flight.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int to_server, from_server;
static pid_t server;
static bool bare;
static long next_id = 1;
static const char *tool = "echo", *good_arguments = "{\"text\":\"Hello, world\"}",
                  *expected = "Hello, world";

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "drive: %s\n", what);
    exit(1);
}

/* -- the server -------------------------------------------------------------------------------- */

static void start(char **command)
{
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0)
        fail(strerror(errno));
    server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        for (int i = 0; i < 2; i++) {
            close(in[i]);
            close(out[i]);
        }
        execvp(command[0], command);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_server = in[1];
    from_server = out[0];
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* -- messages ---------------------------------------------------------------------------------- */

enum kind { ANY, GOOD, BAD };

static char requests[1 << 20], answers[1 << 20];
static size_t held; /* bytes of a line that is not complete, at the start of `answers` */

static void send_bytes(const char *bytes, size_t length)
{
    while (length) {
        ssize_t count = write(to_server, bytes, length);
        if (count < 0)
            fail(errno == EPIPE ? "the server has ended" : "the server cannot be written to");
        bytes += count;
        length -= (size_t)count;
    }
}

static bool has(const char *line, size_t length, const char *words)
{
    return memmem(line, length, words, strlen(words));
}

static void verify(const char *line, size_t length, enum kind kind)
{
    bool failed = has(line, length, "\"isError\":true") || has(line, length, "\"error\":{");
    if (kind == ANY || (kind == BAD && failed) ||
        (kind == GOOD && !failed && has(line, length, expected)))
        return;
    fprintf(stderr, "drive: a call that should %s is answered with: %.*s\n",
            kind == GOOD ? "succeed" : "fail", (int)(length < 500 ? length : 500), line);
    exit(1);
}

/* The number of lines that came, each of which is an answer of that kind. */
static long receive(enum kind kind)
{
    long lines = 0;
    char *at = answers, *end;
    if (held == sizeof answers)
        fail("an answer is too long");
    ssize_t count = read(from_server, answers + held, sizeof answers - held);
    if (count <= 0)
        fail("the server has ended");
    held += (size_t)count;
    for (; (end = memchr(at, '\n', held)); lines++) {
        size_t length = (size_t)(end - at);
        verify(at, length, bare ? ANY : kind);
        held -= length + 1;
        at = end + 1;
    }
    memmove(answers, at, held);
    return lines;
}

static void send_calls(long count, enum kind kind)
{
    size_t length = 0;
    for (long i = 0; i < count; i++)
        length += (size_t)snprintf(requests + length, sizeof requests - length,
                                   "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"tools/call\","
                                   "\"params\":{\"name\":\"%s\",\"arguments\":%s}}\n",
                                   next_id++, tool, kind == GOOD ? good_arguments : "{}");
    send_bytes(requests, length);
}

static void shake_hands(void)
{
    static const char hello[] =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"drive\",\"version\":\"1\"}}"
        "}\n";
    static const char ready[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    send_bytes(hello, sizeof hello - 1);
    while (receive(ANY) == 0)
        ;
    send_bytes(ready, sizeof ready - 1);
}

static void work(long window, long calls, enum kind kind)
{
    long sent = window < calls ? window : calls, received = 0;
    double began = now_seconds();
    send_calls(sent, kind);
    while (received < calls) {
        long lines = receive(kind);
        received += lines;
        long more = lines < calls - sent ? lines : calls - sent;
        if (more)
            send_calls(more, kind);
        sent += more;
    }
    printf("{\"calls\":%ld,\"seconds\":%.6f}\n", received, now_seconds() - began);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char line[256], kind[8];
    long window, calls;
    int first = 1;
    if (argc > first && strcmp(argv[first], "--bare") == 0) {
        bare = true;
        first++;
    }
    if (argc > first + 3 && strcmp(argv[first], "--call") == 0) {
        tool = argv[first + 1];
        good_arguments = argv[first + 2];
        expected = argv[first + 3];
        first += 4;
    }
    if (argc <= first)
        fail("which command?");
    signal(SIGPIPE, SIG_IGN);
    start(argv + first);
    if (!bare)
        shake_hands();
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        if (sscanf(line, "%ld %ld %7s", &window, &calls, kind) == 3 && window > 0 && window <= 1000)
            work(window, calls, strcmp(kind, "good") == 0 ? GOOD : BAD);
    close(to_server);
    waitpid(server, NULL, 0);
    return 0;
}
