/*
 * Packets on descriptor 3, and messages that are written piece by piece.
 *
 * The JSON writer here is not that of mishap/json.h: the host is a program of its own without
 * libmishap, and its memory must not count against the limit of the interpreter.
 */
#include "host.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKET = 3 };

_Noreturn void leave(int status, const char *words)
{
    if (write(STDERR_FILENO, words, strlen(words)) < 0)
        _exit(status); /* and there is no other way to report it */
    _exit(status);
}

/* -- writing ----------------------------------------------------------------------------------- */

void put(text *t, const char *data, size_t length)
{
    if (t->failed)
        return;
    if (length > t->room - t->length) {
        size_t room = (t->length + length) * 2 + 1024;
        /* Not from the interpreter, whose limit does not apply here. */
        char *larger = realloc(t->data, room);
        if (!larger) {
            t->failed = true;
            return;
        }
        t->data = larger;
        t->room = room;
    }
    memcpy(t->data + t->length, data, length);
    t->length += length;
}

void put_words(text *t, const char *words)
{
    put(t, words, strlen(words));
}

void put_number(text *t, long long number)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", number);
    put_words(t, digits);
}

static bool must_be_escaped(Py_UCS4 c)
{
    return c < ' ' || c == '"' || c == '\\' || c == 127;
}

static void put_escaped(text *t, unsigned char c)
{
    char spelled[8];
    if (c == '"' || c == '\\')
        snprintf(spelled, sizeof spelled, "\\%c", c);
    else if (c == '\n')
        snprintf(spelled, sizeof spelled, "\\n");
    else
        snprintf(spelled, sizeof spelled, "\\u%04x", c);
    put_words(t, spelled);
}

void put_bytes(text *t, const char *data, size_t length)
{
    put(t, "\"", 1);
    for (size_t i = 0, begin = 0; i <= length; i++) {
        unsigned char c = i < length ? (unsigned char)data[i] : '"';
        if (!must_be_escaped(c))
            continue;
        put(t, data + begin, i - begin);
        if (i < length)
            put_escaped(t, c);
        begin = i + 1;
    }
    put(t, "\"", 1);
}

void put_string(text *t, const char *words)
{
    put_bytes(t, words, strlen(words));
}

void put_unicode(text *t, PyObject *words, size_t most)
{
    size_t length = (size_t)PyUnicode_GET_LENGTH(words), count = length < most ? length : most;
    int kind = (int)PyUnicode_KIND(words);
    const void *data = PyUnicode_DATA(words);
    put(t, "\"", 1);
    for (size_t i = 0; i < count && !t->failed; i++) {
        char bytes[4];
        Py_UCS4 c = PyUnicode_READ(kind, data, (Py_ssize_t)i);
        if (must_be_escaped(c))
            put_escaped(t, (unsigned char)c);
        else
            put(t, bytes, spell(c, bytes));
    }
    if (count < length)
        put_words(t, "\xe2\x80\xa6");
    put(t, "\"", 1);
}

/* -- receiving --------------------------------------------------------------------------------- */

static bool append_packet(text *t, const char *packet, size_t length)
{
    if (packet[0] == '=' || packet[0] == '<')
        t->length = 0; /* an incomplete message is dropped */
    if (t->length + length > MOST_ASKED)
        leave(MISHAP_EXIT_BROKEN, "mishap-python: a message to it is too long\n");
    put(t, packet + 1, length - 1);
    return packet[0] == '=' || packet[0] == '>';
}

yyjson_doc *receive(void)
{
    static char packet[PACKET];
    text whole = { 0 };
    for (;;) {
        ssize_t length = read(SOCKET, packet, sizeof packet);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            leave(MISHAP_EXIT_CUT_OFF, "mishap-python: the socket cannot be read\n");
        if (length == 0) {
            free(whole.data);
            return NULL;
        }
        if (append_packet(&whole, packet, (size_t)length))
            break;
    }
    if (whole.failed)
        leave(MISHAP_EXIT_REFUSED, "mishap-python: there is no memory for a message to it\n");
    yyjson_doc *doc = yyjson_read_opts(whole.data, whole.length, YYJSON_READ_BIGNUM_AS_RAW, NULL,
                                       NULL);
    if (!doc)
        leave(MISHAP_EXIT_BROKEN, "mishap-python: a message to it cannot be read\n");
    free(whole.data);
    return doc;
}

/* -- sending ----------------------------------------------------------------------------------- */

static atomic_flag ended = ATOMIC_FLAG_INIT;

void announce_code(void)
{
    text t = { 0 };
    put_words(&t, "{\"id\":");
    put_number(&t, current_id());
    put_words(&t, ",\"begins\":true}");
    if (t.failed)
        leave(MISHAP_EXIT_REFUSED, "mishap-python: there is no memory for a message\n");
    send_all(t.data, t.length);
    free(t.data);
}

bool claim_end(void)
{
    return !atomic_flag_test_and_set(&ended);
}

static void send_packet(char kind, const char *data, size_t length)
{
    static char packet[PACKET];
    packet[0] = kind;
    memcpy(packet + 1, data, length);
    while (write(SOCKET, packet, length + 1) < 0)
        if (errno == EBADF || errno == ENOTSOCK)
            _exit(1); /* the code has closed it, or replaced it by another file */
        else if (errno != EINTR)
            leave(MISHAP_EXIT_CUT_OFF, "mishap-python: the socket cannot be written to\n");
}

void send_all(const char *data, size_t length)
{
    enum { PIECE = PACKET - 1 };
    for (size_t sent = 0; sent < length || length == 0; sent += PIECE) {
        size_t piece = length - sent < PIECE ? length - sent : PIECE;
        bool first = sent == 0, last = sent + piece == length;
        send_packet(first ? (last ? '=' : '<') : (last ? '>' : '-'), data + sent, piece);
        if (last)
            return;
    }
}

_Noreturn void finish(text *message)
{
    while (!claim_end())
        pause();         /* a signal handler ends this process */
    if (message->failed) /* the code has used up the memory, beside what the interpreter counts */
        refuse("RUNTIME_ERROR", "memory", "The code needs more memory than it may have.");
    send_all(message->data, message->length);
    _exit(0);
}

/* A message in static memory, for a signal handler. */
static struct {
    size_t length;
    char data[PACKET];
} last;

static void say_words(const char *words)
{
    size_t length = strlen(words);
    if (length > sizeof last.data - last.length)
        return;
    memcpy(last.data + last.length, words, length);
    last.length += length;
}

static void say_number(long long number)
{
    char digits[24] = { 0 };
    size_t at = sizeof digits - 1;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    say_words(digits + at);
}

/* The end may be a part of a character, which is left out. */
static void say_output(const char *output, size_t length)
{
    enum { LONGEST = 6, BRACKETS = 4 };
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length && last.length < sizeof last.data - LONGEST - BRACKETS; i++) {
        unsigned char c = (unsigned char)output[i];
        size_t size = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
        char spelled[] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15], '\0' };
        if (i + size > length)
            return;
        if (must_be_escaped(c)) {
            say_words(spelled);
            continue;
        }
        memcpy(last.data + last.length, output + i, size);
        last.length += size;
        i += size - 1;
    }
}

_Noreturn void refuse(const char *code, const char *kind, const char *words)
{
    const char *output;
    size_t length = printed(&output);
    say_words("{\"id\":");
    say_number(current_id());
    say_words(",\"last\":true,\"failure\":{\"code\":\"");
    say_words(code);
    say_words("\",\"message\":\"");
    say_words(words);
    if (strcmp(kind, "memory") == 0)
        say_words("\",\"type\":\"MemoryError");
    say_words("\",\"context\":{\"kind\":\"");
    say_words(kind);
    say_words("\"},\"stdout\":\"");
    say_output(output, length);
    say_words("\"}}");
    send_all(last.data, last.length < PACKET ? last.length : PACKET - 1);
    _exit(0);
}
