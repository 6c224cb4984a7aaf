/* A program whose handlers treat streamed files as badly as they can: for
 * tests/http/uploads_test.py. */
#include <mishap/main.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 4 << 20 };

static void rest_ms(int64_t milliseconds)
{
    usleep((useconds_t)milliseconds * 1000);
}

/* That the handler has begun, and later what became of reading, if a file for this is named. */
static void write_seen(mishap_call *call, const char *word, uint64_t bytes)
{
    FILE *seen = mishap_given(call, "seen") ? fopen(mishap_string(call, "seen"), "w") : NULL;
    if (!seen)
        return;
    if (word)
        fprintf(seen, "%s %llu\n", word, (unsigned long long)bytes);
    fclose(seen);
}

/* How the file is read: `wait` milliseconds before each piece, `most` bytes of it. */
static mishap *take(mishap_call *call)
{
    static char piece[65536];
    uint64_t bytes = 0, sum = 0;
    size_t got = 0;
    mishap *m = NULL;
    const char *how = mishap_string(call, "how");
    uint64_t most = mishap_given(call, "most") ? (uint64_t)mishap_integer(call, "most")
                                               : UINT64_MAX;
    int64_t wait = mishap_given(call, "wait") ? mishap_integer(call, "wait") : 0;
    write_seen(call, NULL, 0);
    do {
        if (wait)
            rest_ms(wait);
        size_t size = most - bytes < sizeof piece ? (size_t)(most - bytes) : sizeof piece;
        m = size ? mishap_file_read(call, "file", piece, size, &got) : NULL;
        got = size ? got : 0;
        for (size_t i = 0; !m && i < got; i++)
            sum = (sum * 31 + (unsigned char)piece[i]) & 0xFFFFFFFF;
        bytes += m ? 0 : got;
    } while (!m && got);
    write_seen(call, m ? mishap_told(m)->code->name.data : "whole", bytes);
    if (m && how && strcmp(how, "ignore") == 0) {
        mishap_free(m);
        m = NULL;
    }
    if (how && strcmp(how, "die") == 0)
        raise(SIGKILL);
    if (how && strcmp(how, "hang") == 0)
        rest_ms(60000);
    if (how && strcmp(how, "fail") == 0)
        return mishap_raise(NOT_FOUND, "There is no place for it.");
    if (how && strcmp(how, "whole") == 0)
        mishap_file(call, "file");
    if (m)
        return mishap_note(m, "place", "PRIVATE-MARKER");
    mishap_answer_member(call, "bytes", bytes);
    mishap_answer_member(call, "sum", sum);
    mishap_answer_member(call, "name", mishap_file_name(call, "file"));
    return mishap_answer_member(call, "id", mishap_string(call, "id"));
}

#define TAKE_PARAMS                                                                                \
    MISHAP_PARAMS(                                                                                 \
        { .name = "how", .type = MISHAP_STRING }, { .name = "most", .type = MISHAP_INTEGER },      \
        { .name = "wait", .type = MISHAP_INTEGER, .range = { 0, 10000 } },                         \
        { .name = "seen", .type = MISHAP_STRING },                                                 \
        { .name = "id", .type = MISHAP_STRING, .required = true },                                 \
        { .name = "file", .type = MISHAP_FILE, .streamed = true, .length = { 0, MOST_BYTES } })

static const mishap_operation *const operations = MISHAP_OPERATIONS(
    { "take", "Take a file", TAKE_PARAMS, take, .route = "POST /take/:id",
      .raises = MISHAP_RAISES(NOT_FOUND), .stateless = true },
    { "soon", "Take a file within two seconds", TAKE_PARAMS, take, .route = "POST /soon/:id",
      .timeout_ms = 2000, .raises = MISHAP_RAISES(NOT_FOUND), .stateless = true },
    { "alone", "Take a file, one at a time", TAKE_PARAMS, take, .route = "POST /alone/:id",
      .raises = MISHAP_RAISES(NOT_FOUND) });

int main(int argc, char **argv)
{
    return mishap_main(
        argc, argv,
        &(mishap_app){
            .name = "uploads", .version = "1.0", .summary = "Files", .operations = operations });
}
