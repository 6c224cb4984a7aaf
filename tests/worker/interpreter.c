/*
 * Stands in for a program that runs calls, such as SBCL, and is broken in the way that the last
 * word of its own file says:
 *
 *     unready   it dies before it is ready, by an exit code of mishap/exits.h
 *     mute      it is never ready
 *     leaves    it dies when it has a call, by such a code
 *     hangs     it does not answer, and cannot be interrupted
 *     lies      it answers wrongly
 *     works     it answers as Lisp should
 *
 * It writes MARKER to standard error first: that is for the operator alone.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mishap/exits.h"

#define MARKER "marker-private-of-the-interpreter /srv/private.lisp:7\n"

enum { SOCKET = 3, PACKET = 65536 };

static char way[20];

static void read_way(const char *path)
{
    FILE *file = fopen(path, "rb");
    char tail[sizeof way] = "";
    if (!file || fseek(file, -(long)(sizeof tail - 1), SEEK_END) != 0 ||
        fread(tail, 1, sizeof tail - 1, file) != sizeof tail - 1)
        _exit(1);
    fclose(file);
    const char *space = memrchr(tail, ' ', sizeof tail - 1);
    snprintf(way, sizeof way, "%s", space ? space + 1 : "");
}

static int is(const char *word)
{
    return strcmp(way, word) == 0;
}

static void say(const char *words)
{
    char packet[1000];
    int length = snprintf(packet, sizeof packet, "=%s", words);
    if (write(SOCKET, packet, (size_t)length) < 0)
        _exit(1);
}

_Noreturn static void hang(void)
{
    for (;;)
        pause();
}

/* What Lisp, Python and the engine answer, all in one. */
static void answer(const char *call, int number)
{
    char words[900];
    const char *at = strstr(call, "\"id\":");
    snprintf(words, sizeof words,
             "{\"id\":%ld,\"answer\":{\"values\":[\"%d\"],\"result\":%d,\"status\":\"%s\","
             "\"stdout\":\"\",\"stderr\":\"\",\"warnings\":[],\"counterexamples\":[],"
             "\"paths_explored\":1,\"paths_verified\":1,\"time_seconds\":0.1,"
             "\"coverage_estimate\":1.0}}",
             at ? strtol(at + 5, NULL, 10) : 0, number, number,
             number == 3 ? "verified" : "counterexample");
    say(words);
}

int main(int count, char **words)
{
    static char packet[PACKET + 1];
    ssize_t length;
    (void)count;
    signal(SIGINT, SIG_IGN);
    read_way(words[0]);
    if (!is("works"))
        fputs(MARKER, stderr);
    fflush(stderr);
    if (is("mute"))
        hang();
    if (is("unready"))
        _exit(MISHAP_EXIT_BROKEN);
    say("{\"ready\":1}");
    while ((length = read(SOCKET, packet, PACKET)) > 0) {
        packet[length] = '\0';
        if (is("leaves"))
            _exit(MISHAP_EXIT_CUT_OFF);
        if (is("hangs"))
            hang();
        answer(packet + 1, is("lies") ? 4 : 3);
    }
    return 0;
}
