/*
 * Stands in for the two programs of the symbolic service, to show what the service makes of what
 * they do: for the one that runs Python, whose answer is that of a replay, and with --replay for
 * the engine. What it does hangs on a word in the code of the call.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOCKET = 3, PACKET = 65536 };

static void send_words(const char *words)
{
    char packet[4096];
    int length = snprintf(packet, sizeof packet, "=%s", words);
    if (write(SOCKET, packet, (size_t)length) < 0)
        _exit(1);
}

static void put_hex(char *to, size_t size, const char *word)
{
    size_t used = strlen(to);
    for (; *word; word++)
        used += (size_t)snprintf(to + used, size - used, "%02x", (unsigned char)*word);
}

enum { FIELDS = 10 };

/* What the driver would say of a call. */
static void say_replayed(long id, const char *const *fields)
{
    char hex[1000] = "", words[2000];
    for (size_t i = 0; i < FIELDS; i++) {
        put_hex(hex, sizeof hex, fields[i]);
        if (i + 1 < FIELDS)
            strcat(hex, ",");
    }
    snprintf(
        words, sizeof words,
        "{\"id\":%ld,\"answer\":{\"outcome\":\"returned\",\"result\":\"'%s'\",\"type\":\"str\","
        "\"literal\":true,\"stdout\":\"\"}}",
        id, hex);
    send_words(words);
}

/* It returned, and nothing is wrong with that. */
static void contradict(long id)
{
    static const char *const fields[FIELDS] = { "ran", "yes", "returned", "",   "",
                                                "",    "0",   "5",        "-1", "" };
    say_replayed(id, fields);
}

/* It raised an exception which no code has. */
static void forge(long id)
{
    static const char *const fields[FIELDS] = { "ran",
                                                "yes",
                                                "raised",
                                                "ForgedError",
                                                ",ForgedError,ZeroDivisionError,Exception,",
                                                "by the second process",
                                                "7",
                                                "",
                                                "-1",
                                                "" };
    say_replayed(id, fields);
}

_Noreturn static void die(const char *last_words)
{
    fputs(last_words, stderr);
    fflush(stderr);
    signal(SIGABRT, SIG_DFL);
    abort();
}

static void serve(const char *call, bool engine)
{
    const char *at = strstr(call, "\"id\":");
    long id = at ? strtol(at + 5, NULL, 10) : 0;
    char words[300];
    snprintf(words, sizeof words,
             "{\"id\":%ld,\"answer\":{\"outcome\":\"returned\",\"result\":\"'zz,00,'\",\"stdout\":"
             "\"\"}}",
             id);
    static bool stuck; /* it has said what it knows, and goes on for ever */
    if (strstr(call, "def hang") || stuck)
        for (;;)
            pause();
    else if (strstr(call, "def stuck") && engine) {
        snprintf(words, sizeof words,
                 "{\"id\":%ld,\"answer\":{\"so_far\":{\"paths_explored\":7,\"paths_verified\":3,"
                 "\"coverage_estimate\":0.5}}}",
                 id);
        stuck = true;
        send_words(words);
    } else if (strstr(call, "def found") && engine) {
        snprintf(words, sizeof words,
                 "{\"id\":%ld,\"answer\":{\"so_far\":{\"status\":\"counterexample\","
                 "\"counterexamples\":[],\"paths_explored\":7,\"paths_verified\":3,"
                 "\"coverage_estimate\":0.5,\"method\":\"paths\"}}}",
                 id);
        stuck = true;
        send_words(words);
    } else if (strstr(call, "def part") && engine) {
        snprintf(words, sizeof words,
                 "{\"id\":%ld,\"answer\":{\"so_far\":{\"branches\":[],\"total_branches\":4,"
                 "\"reachable_branches\":2,\"dead_code_lines\":[],\"cyclomatic_complexity\":5}}}",
                 id);
        stuck = true;
        send_words(words);
    } else if (strstr(call, "def die"))
        die("marker-private-of-the-process /srv/private.c:7\n");
    else if (strstr(call, "def memory"))
        die("terminate called after throwing an instance of 'std::bad_alloc'\n");
    else if (strstr(call, "def babble") && engine)
        send_words("marker-private-babble");
    else if (engine)
        _exit(3);
    else if (strstr(call, "def babble"))
        send_words(words);
    else if (strstr(call, "def lie")) {
        snprintf(words, sizeof words,
                 "{\"id\":%ld,\"failure\":{\"code\":\"NOT_CONFIGURED\",\"message\":\"A lie\","
                 "\"type\":\"RuntimeError\",\"suggestion\":\"Nothing.\"}}",
                 id);
        send_words(words);
    } else if (strstr(call, "contradicted"))
        contradict(id);
    else
        forge(id);
}

int main(int count, char **words)
{
    static char packet[PACKET + 1];
    bool engine = count > 1 && strcmp(words[1], "--replay") == 0;
    ssize_t length;
    send_words("{\"ready\":1}");
    while ((length = read(SOCKET, packet, PACKET)) > 0) {
        packet[length] = '\0';
        serve(packet + 1, engine);
    }
    return 0;
}
