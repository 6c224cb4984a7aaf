/*
 * Drives one MCP server over its standard input and output, as fast as it can.
 *
 *     drive [--bare] [--call TOOL ARGUMENTS EXPECTED] COMMAND…
 *
 * It calls the tool `echo`, or the one that --call names: ARGUMENTS is a JSON object, and a good
 * answer contains EXPECTED.
 *
 * It starts the server and shakes hands (a bare loop has none to shake). Then each line of its own
 * input asks for a slice of work, `WINDOW CALLS good|bad`, and is answered with one line of JSON:
 * the time, the CPU that the server used, and its memory.
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

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        fail("the server is gone");
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu_seconds(void)
{
    clockid_t clock;
    if (clock_getcpuclockid(server, &clock) != 0)
        fail("the server is gone");
    return seconds_of(clock);
}

static long memory_kb(void)
{
    char path[64], line[256];
    long kb = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)server);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return kb;
}

/* -- messages ---------------------------------------------------------------------------------- */

static char requests[1 << 20], answers[1 << 20];

static void send_bytes(const char *bytes, size_t length)
{
    while (length) {
        ssize_t count = write(to_server, bytes, length);
        if (count < 0)
            fail("the server does not read any more");
        bytes += count;
        length -= (size_t)count;
    }
}

/* The number of lines that came; the bytes are in `answers`. */
static long receive(size_t *length)
{
    long lines = 0;
    ssize_t count = read(from_server, answers, sizeof answers - 1);
    if (count <= 0)
        fail("the server has ended");
    answers[count] = '\0';
    for (char *at = answers; (at = strchr(at, '\n')); at++)
        lines++;
    *length = (size_t)count;
    return lines;
}

static void send_calls(long count, bool good)
{
    size_t length = 0;
    for (long i = 0; i < count; i++)
        length += (size_t)snprintf(requests + length, sizeof requests - length,
                                   "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"tools/call\","
                                   "\"params\":{\"name\":\"%s\",\"arguments\":%s}}\n",
                                   next_id++, tool, good ? good_arguments : "{}");
    send_bytes(requests, length);
}

static void shake_hands(void)
{
    static const char hello[] =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"drive\",\"version\":\"1\"}}"
        "}\n";
    static const char ready[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    size_t length;
    send_bytes(hello, sizeof hello - 1);
    while (receive(&length) == 0)
        ;
    send_bytes(ready, sizeof ready - 1);
}

/* An answer of the other kind means that something else is measured. */
static void verify(bool good)
{
    size_t length;
    send_calls(1, good);
    while (receive(&length) == 0)
        ;
    bool failed = strstr(answers, "\"isError\":true") || strstr(answers, "\"error\":{");
    if (!bare && (failed == good || (good && !strstr(answers, expected))))
        fail(answers);
}

static void work(long window, long calls, bool good)
{
    long sent = window < calls ? window : calls, received = 0;
    size_t length, bytes = 0;
    verify(good);
    double cpu = cpu_seconds(), began = seconds_of(CLOCK_MONOTONIC);
    send_calls(sent, good);
    while (received < calls) {
        long lines = receive(&length);
        received += lines;
        bytes += length;
        long more = lines < calls - sent ? lines : calls - sent;
        if (more)
            send_calls(more, good);
        sent += more;
    }
    printf("{\"calls\":%ld,\"seconds\":%.6f,\"cpu\":%.9f,\"memory_kb\":%ld,\"bytes\":%zu}\n", calls,
           seconds_of(CLOCK_MONOTONIC) - began, cpu_seconds() - cpu, memory_kb(), bytes);
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
    while (fgets(line, sizeof line, stdin))
        if (sscanf(line, "%ld %ld %7s", &window, &calls, kind) == 3 && window > 0 && window <= 1000)
            work(window, calls, strcmp(kind, "good") == 0);
    close(to_server);
    waitpid(server, NULL, 0);
    return 0;
}
