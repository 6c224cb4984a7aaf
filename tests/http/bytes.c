/*
 * A program whose operations answer bytes and streams, and take bodies that are not JSON.
 * bytes_test.py runs it on every boundary.
 *
 *     bytes serve --listen 127.0.0.1:0
 */
#include <mishap/main.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void pause_ms(int64_t milliseconds)
{
    nanosleep(&(struct timespec){ milliseconds / 1000, milliseconds % 1000 * 1000000 }, NULL);
}

/* -- bytes ------------------------------------------------------------------------------------- */

/* One grey pixel, as PNG. */
static const unsigned char pixel[] = { 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00,
                                       0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x01,
                                       0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a,
                                       0x7e, 0x9b, 0x55, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41,
                                       0x54, 0x78, 0x9c, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00,
                                       0x81, 0x77, 0xcd, 0x72, 0xb6, 0x00, 0x00, 0x00, 0x00, 0x49,
                                       0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82 };

static mishap *get_image(mishap_call *call)
{
    return mishap_answer_bytes(call, (mishap_text){ (const char *)pixel, sizeof pixel },
                               "image/png");
}

static mishap *get_page(mishap_call *call)
{
    const char *page = mishap_call_print(call, "<h1>Gr\xc3\xbc\xc3\x9f Gott, %s</h1>\n",
                                         mishap_string(call, "name"));
    return mishap_answer_bytes(call, mishap_text_of(page), "text/html; charset=utf-8");
}

static const mishap_param page_params[] = {
    { "name", MISHAP_STRING, .length = { 1, 40 }, .initial = "\"you\"", .positional = true },
    { 0 },
};

static const char *const types[] = { "break", "latin", "none", "star", "empty", NULL };

/* Media types that no field may have, and bytes that are no text though their type says so. */
static mishap *get_odd(mishap_call *call)
{
    const char *type = mishap_string(call, "type");
    if (strcmp(type, "empty") == 0)
        return mishap_answer_bytes(call, (mishap_text){ NULL, 0 }, "text/plain");
    if (strcmp(type, "latin") == 0)
        return mishap_answer_bytes(call, (mishap_text)MISHAP_TEXT("Gr\xfc\xdf"), "text/plain");
    return mishap_answer_bytes(call, (mishap_text)MISHAP_TEXT("odd"),
                               strcmp(type, "break") == 0  ? "text/plain\r\nSet-Cookie: a=b"
                               : strcmp(type, "star") == 0 ? "*/*"
                                                           : NULL);
}

static const mishap_param odd_params[] = {
    { "type", MISHAP_ENUM, .required = true, .choices = types, .positional = true },
    { 0 },
};

/* What must not leave, in a failure beside bytes. */
static mishap *fail_with_bytes(mishap_call *call)
{
    mishap_answer_bytes(call, (mishap_text)MISHAP_TEXT("half an answer"), "text/plain");
    return mishap_note(mishap_raise(INTERNAL_ERROR, "MARKER-c0ffee in the message"), "detail",
                       "MARKER-c0ffee in a note");
}

/* -- files ------------------------------------------------------------------------------------- */

/* Tells which path it was asked for. A real one would open it with RESOLVE_BENEATH. */
static mishap *get_file(mishap_call *call)
{
    const char *path = mishap_string(call, "path");
    if (strncmp(path, "missing", 7) == 0)
        return mishap_not_found("There is no such file.");
    return mishap_answer_bytes(call, mishap_text_of(path), "text/plain; charset=utf-8");
}

static mishap *list_files(mishap_call *call)
{
    return mishap_answer(call, "[]");
}

static const mishap_param file_params[] = {
    { "path", MISHAP_STRING, .required = true, .length = { 1, 1000 }, .positional = true },
    { 0 },
};

/* -- bodies ------------------------------------------------------------------------------------ */

static mishap *load(mishap_call *call)
{
    mishap_text body = mishap_body(call);
    int64_t lines = 0, sum = 0;
    for (size_t i = 0; i < body.length; i++) {
        lines += body.data[i] == '\n';
        sum += (unsigned char)body.data[i];
    }
    mishap_answer_member(call, "table", mishap_string(call, "table"));
    mishap_answer_member(call, "given", (bool)(body.data != NULL));
    mishap_answer_member(call, "bytes", (uint64_t)body.length);
    mishap_answer_member(call, "lines", lines);
    mishap_answer_member(call, "sum", sum);
    return mishap_answer_member(call, "type", mishap_body_type(call));
}

static const mishap_param load_params[] = {
    { "table", MISHAP_STRING, .required = true, .length = { 1, 40 } },
    { 0 },
};

/* -- streams ----------------------------------------------------------------------------------- */

static const char *const ends[] = { "well", "fail", "crash", "early", NULL };

/* Numbers, one after the other. */
static mishap *tick(mishap_call *call)
{
    const char *end = mishap_string(call, "end");
    int64_t count = mishap_integer(call, "count");
    if (!mishap_stream(call, "text/plain"))
        return mishap_raise(CANCELLED, "Nobody reads.");
    if (strcmp(end, "early") == 0)
        return mishap_not_found("There is nothing to count.");
    for (int64_t i = 1; i <= count; i++) {
        const char *line = mishap_call_print(call, "%lld\n", (long long)i);
        if (!mishap_stream_write(call, mishap_text_of(line)))
            return mishap_raise(CANCELLED, "Nobody reads.");
        pause_ms(mishap_integer(call, "ms"));
    }
    if (strcmp(end, "fail") == 0)
        return mishap_raise(INTERNAL_ERROR, "MARKER-c0ffee in the middle of a stream");
    if (strcmp(end, "crash") == 0)
        raise(SIGSEGV);
    return NULL;
}

/* Keeps the name of its caller, and writes it to stderr when the client does not read any more. */
static mishap *tell_whose(mishap_call *call)
{
    const char *caller = mishap_caller(call);
    mishap_stream(call, "text/plain");
    for (int i = 0; i < 100 && mishap_stream_write(call, (mishap_text)MISHAP_TEXT("a\n")); i++)
        pause_ms(1);
    fprintf(stderr, "the stream of %s has ended\n", caller ? caller : "nobody");
    return NULL;
}

/* Megabytes, faster than any client reads. */
static mishap *flood(mishap_call *call)
{
    static char piece[65536];
    memset(piece, 'x', sizeof piece);
    for (int64_t i = 0; i < mishap_integer(call, "megabytes") * 16; i++)
        if (!mishap_stream_write(call, (mishap_text){ piece, sizeof piece }))
            return mishap_raise(CANCELLED, "Nobody reads.");
    return NULL;
}

static const mishap_param flood_params[] = {
    { "megabytes", MISHAP_INTEGER, .range = { 1, 1000 }, .required = true },
    { 0 },
};

static const mishap_param tick_params[] = {
    { "count", MISHAP_INTEGER, .range = { 0, 1000000 }, .initial = "3", .positional = true },
    { "ms", MISHAP_INTEGER, .range = { 0, 10000 }, .initial = "0" },
    { "end", MISHAP_ENUM, .choices = ends, .initial = "\"well\"" },
    { 0 },
};

static mishap *tell_events(mishap_call *call)
{
    mishap_stream(call, "text/event-stream");
    mishap_stream_event(call, NULL, "one");
    mishap_stream_event(call, "two", "first line\nsecond line");
    mishap_stream_event(call, "three\r\ndata: forged", "a\r\nb\rc");
    return NULL;
}

/* -- a live tail ------------------------------------------------------------------------------- */

enum { ROOM = 4096 };

struct board {
    char *lines[ROOM];
    size_t count;
};

static mishap *open_board(const mishap_setup *setup, void **state)
{
    (void)setup;
    *state = calloc(1, sizeof(struct board));
    return *state ? NULL : mishap_raise(INTERNAL_ERROR, "There is no memory.");
}

static void close_board(void *state)
{
    struct board *board = state;
    for (size_t i = 0; i < board->count; i++)
        free(board->lines[i]);
    free(board);
}

static const mishap_service board_service = { .name = "board",
                                              .summary = "Lines that are kept in memory",
                                              .open = open_board,
                                              .close = close_board,
                                              .alone = true };

static mishap *post_line(mishap_call *call)
{
    struct board *board = mishap_state(call);
    if (board->count == ROOM || !(board->lines[board->count] = strdup(mishap_string(call, "line"))))
        return mishap_raise(INTERNAL_ERROR, "There is no room.");
    board->count++;
    mishap_changed(call, "board://lines");
    mishap_answer_member(call, "count", (uint64_t)board->count);
    return NULL;
}

static const mishap_param line_params[] = {
    { "line", MISHAP_STRING, .required = true, .length = { 1, 200 }, .positional = true },
    { 0 },
};

/* All lines from the cursor on; then it waits for the next. It ends with the line `end`. */
static mishap *follow(mishap_call *call)
{
    const struct board *board = mishap_state(call);
    const char *cursor = mishap_cursor(call);
    size_t from = cursor ? strtoull(cursor, NULL, 10) : (size_t)mishap_integer(call, "from");
    if (from > board->count)
        from = board->count;
    mishap_stream(call, "text/event-stream");
    for (; from < board->count; from++) {
        if (!mishap_stream_event(call, "line", board->lines[from]))
            return NULL;
        if (strcmp(board->lines[from], "end") == 0)
            return NULL;
        if (strcmp(board->lines[from], "fail") == 0)
            return mishap_raise(INTERNAL_ERROR, "MARKER-c0ffee while a tail was resumed");
    }
    return mishap_stream_wait(call, "board://lines", "%zu", from);
}

static const mishap_param follow_params[] = {
    { "from", MISHAP_INTEGER, .range = { 0, ROOM }, .initial = "0" },
    { 0 },
};

/* The same by a quick handler, which runs in the loop: nothing waits there. */
static mishap *tick_quickly(mishap_call *call)
{
    mishap_stream(call, "text/csv");
    mishap_stream_write(call, (mishap_text)MISHAP_TEXT("a,b\n"));
    mishap_stream_write(call, (mishap_text)MISHAP_TEXT("1,2\n"));
    return mishap_stream_wait(call, "board://lines", "%s", "none");
}

static mishap *slow(mishap_call *call)
{
    pause_ms(mishap_integer(call, "ms"));
    return mishap_answer(call, "{\"done\":true}");
}

static const mishap_param slow_params[] = {
    { "ms", MISHAP_INTEGER, .range = { 0, 10000 }, .initial = "0" },
    { 0 },
};

/* -- the program ------------------------------------------------------------------------------- */

static const mishap_operation operations[] = {
    { "image", "A picture", .run = get_image, .route = "GET /image", .stateless = true,
      .answers_type = "image/png", .resource = "bytes://image" },
    { "page", "A page", page_params, get_page, .route = "GET /page", .stateless = true,
      .answers_type = "text/html; charset=utf-8", .resource = "bytes://page/{name}",
      .prompt = "page", .tool = "page" },
    { "odd", "Bytes under odd names", odd_params, get_odd, .route = "GET /odd", .stateless = true,
      .answers_type = "application/octet-stream" },
    { "fails", "Fail with bytes", .run = fail_with_bytes, .route = "GET /fails", .stateless = true,
      .answers_type = "text/plain" },
    { "files.get", "A file", file_params, get_file, .route = "GET /files/{path...}",
      .stateless = true, .answers_type = "text/plain", .raises = MISHAP_RAISES(NOT_FOUND) },
    { "files.list", "All files", .run = list_files, .route = "GET /files/list", .stateless = true },
    { "load", "Load a table", load_params, load, .route = "POST /tables/:table", .stateless = true,
      .takes = "text/csv, application/octet-stream" },
    { "tick", "Count", tick_params, tick, .route = "GET /tick", .stateless = true,
      .answers_type = "text/plain", .raises = MISHAP_RAISES(NOT_FOUND) },
    { "whose", "Whose stream it is", .run = tell_whose, .route = "GET /whose", .stateless = true,
      .answers_type = "text/plain" },
    { "flood", "Many bytes", flood_params, flood, .route = "GET /flood", .stateless = true,
      .timeout_ms = 4000, .answers_type = "application/octet-stream" },
    { "events", "Some events", .run = tell_events, .route = "GET /events", .stateless = true,
      .answers_type = "text/event-stream" },
    { "quick", "A stream at once", .run = tick_quickly, .route = "GET /quick", .quick = true,
      .answers_type = "text/csv" },
    { "slow", "Wait a moment", slow_params, slow, .route = "GET /slow", .stateless = true },
    { "board.post", "Add a line", line_params, post_line, .route = "POST /board",
      .service = &board_service },
    { "board.follow", "Follow the lines", follow_params, follow, .route = "GET /board",
      .service = &board_service, .answers_type = "text/event-stream" },
    { 0 },
};

static const mishap_app app = { .name = "bytes",
                                .version = "1.0",
                                .summary = "Answers that are not JSON",
                                .operations = operations };

int main(int argc, char **argv)
{
    return mishap_main(argc, argv, &app);
}
