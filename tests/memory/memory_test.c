/*
 * include/mishap/memory.h: the library takes all of its memory from the table.
 *
 * The allocator of the C library is replaced in this program: each call is looked at for who calls.
 * Calls from the C library itself (threads, getaddrinfo) are its own affair, and so are those of
 * libdw in its process. All others are ours, also those of yyjson, PCRE2 and libuv.
 */
#include "testing.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mishap/main.h"
#include "operation/call.h"

/* -- the allocator ----------------------------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

/* In memory that child processes share. */
static struct {
    _Atomic int measuring, direct, through;
    void *_Atomic caller; /* of the last direct one */
} * seen;

static bool is_foreign(void *caller)
{
    static const char *const system[] = { "libc.so",    "libc-", "ld-linux", "libgcc",
                                          "libsqlite3", "libdw", "libelf" };
    Dl_info info;
    if (!dladdr(caller, &info) || !info.dli_fname)
        return false;
    for (size_t i = 0; i < sizeof system / sizeof *system; i++)
        if (strstr(info.dli_fname, system[i]))
            return true;
    return false;
}

static void look(void *caller)
{
    if (!seen || !seen->measuring || is_foreign(caller))
        return;
    seen->direct++;
    seen->caller = caller;
}

#if !SANITIZED
void *malloc(size_t size)
{
    look(__builtin_return_address(0));
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    look(__builtin_return_address(0));
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    look(__builtin_return_address(0));
    return __libc_realloc(block, size);
}

void free(void *block)
{
    if (block)
        look(__builtin_return_address(0));
    __libc_free(block);
}
#define COUNTS true
#else
#define COUNTS false /* a sanitizer has replaced it already */
#endif

static void *take(size_t size)
{
    seen->through++;
    return __libc_malloc(size);
}

static void *retake(void *block, size_t size)
{
    seen->through++;
    return __libc_realloc(block, size);
}

static void give(void *block)
{
    __libc_free(block);
}

static const mishap_allocator table = { take, retake, give };

static void measure(void)
{
    mishap_use_allocator(&table);
    seen->direct = seen->through = 0;
    seen->measuring = 1;
}

static void assert_all_went_through_the_table(void)
{
    Dl_info info = { 0 };
    seen->measuring = 0;
    mishap_use_allocator(NULL);
    if (seen->direct && dladdr(seen->caller, &info))
        fail_msg("%d direct calls, the last in %s of %s", seen->direct, info.dli_sname,
                 info.dli_fname);
    assert_int_equal(seen->direct, 0);
    assert_true(seen->through > 0);
}

/* -- a program --------------------------------------------------------------------------------- */

static const mishap_param note_params[] = {
    { "text", MISHAP_STRING, .pattern = "^[a-z]+(,[a-z]+)*$", .initial = "\"plain,text\"" },
    { .name = "many", .type = MISHAP_OBJECT },
    { "list", MISHAP_ARRAY,
      .items = &(const mishap_param){ .type = MISHAP_INTEGER, .secret = true } },
    { "fail", MISHAP_BOOLEAN, .initial = "false" },
    { 0 },
};

static mishap *make_note(mishap_call *call)
{
    if (mishap_boolean(call, "fail"))
        return mishap_tell(mishap_raise(NOT_FOUND, "There is no 4711 or \\u0034711."), "list",
                           mishap_value_of_json("[4711,{\"a\":4711.0}]"));
    mishap_warn(call, "Mind the gap.");
    return mishap_answer_member(call, "text", mishap_string(call, "text"));
}

static const mishap_operation operations[] = {
    { .name = "note.make",
      .summary = "Make a note",
      .route = "POST /notes",
      .params = note_params,
      .run = make_note,
      .quick = true,
      .raises = MISHAP_RAISES(NOT_FOUND) },
    { .name = "note.slow",
      .summary = "Make a note in a worker",
      .route = "POST /slow",
      .params = note_params,
      .run = make_note,
      .raises = MISHAP_RAISES(NOT_FOUND) },
    { 0 },
};
static const mishap_app app = { .name = "notes", .version = "1", .operations = operations };

/* -- in one process ---------------------------------------------------------------------------- */

static void tell_everything(void)
{
    mishap *m = mishap_raise(INTERNAL_ERROR, "It is %s.", "so");
    m = mishap_note(m, "json", mishap_value_of_json("{\"a\":[1,2,{\"b\":null}]}"));
    m = mishap_because(m, mishap_raise(TIMEOUT, "Too late."));
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        mishap_buffer text = { 0 };
        mishap *read = NULL;
        assert_non_null(mishap_render(*dialect, m, &text).data);
        mishap_free(mishap_parse(*dialect, mishap_buffer_text(&text), &read));
        mishap_free(read);
        mishap_buffer_release(&text);
    }
    mishap_buffer account = { 0 };
    mishap_account(m, &account);
    mishap_buffer_release(&account);
    mishap_free(m);
}

/* More keys than qsort() of the C library sorts without memory. */
static void put_many(mishap_buffer *arguments, const char *rest)
{
    mishap_json_open(arguments, '{');
    MISHAP_JSON_KEY(arguments, "many");
    mishap_json_open(arguments, '{');
    for (int i = 0; i < 1000; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i * 7 % 1000);
        mishap_json_key(arguments, mishap_text_of(key));
        mishap_json_int(arguments, i);
    }
    mishap_json_close(arguments, '}');
    mishap_buffer_put_text(arguments, mishap_text_of(rest));
    mishap_json_close(arguments, '}');
    mishap_buffer_put_char(arguments, '\0');
    arguments->length--;
}

static void call_operation(const char *rest)
{
    mishap_call *call;
    mishap_buffer arguments = { 0 };
    put_many(&arguments, rest);
    mishap *failure = mishap_call_begin(&app, &operations[0], mishap_buffer_text(&arguments),
                                        &call);
    if (!failure)
        failure = mishap_call_run(call);
    if (call)
        mishap_hide_failure(failure, note_params, mishap_call_secrets(call));
    mishap_free(failure);
    mishap_call_end(call);
    mishap_requirements *v = mishap_require_begin(arguments.data, arguments.length);
    for (int i = 0; i < 100; i++)
        mishap_require_range(v, i % 2 ? "list" : "many", 1, 2);
    mishap_free(mishap_require_end(v));
    mishap_buffer_release(&arguments);
}

static void a_call_takes_memory_from_the_table(void **state)
{
    (void)state;
    tell_everything(); /* what is made once: the first stack loads what reads it */
    measure();
    tell_everything();
    call_operation("");
    call_operation(",\"text\":\"NO\"");
    call_operation(",\"fail\":true,\"list\":[4711,815,12]");
    assert_all_went_through_the_table();
}

/* -- commands ---------------------------------------------------------------------------------- */

static void run_command(const char *const *words)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int file = open("/dev/null", O_RDWR);
        dup2(file, STDOUT_FILENO);
        dup2(file, STDERR_FILENO);
        int count = 0;
        while (words[count])
            count++;
        _exit(mishap_main(count, (char **)(uintptr_t)words, &app));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
}

static void a_command_takes_memory_from_the_table(void **state)
{
    (void)state;
    static const char *const lines[][8] = {
        { "notes", "note", "make", "--output", "text", NULL },
        { "notes", "note", "make", "--output", "json", NULL },
        { "notes", "note", "make", "--fail", "--output", "text", NULL },
        { "notes", "note", "make", "--fail", "--output", "json", NULL },
        { "notes", "note", "make", "--text", "NO", "--nonsense", NULL },
        { "notes", "--help", NULL },
        { "notes", "keys", "list", NULL },
    };
    measure();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        run_command(lines[i]);
    assert_all_went_through_the_table();
}

/* -- a server ---------------------------------------------------------------------------------- */

/* Start it; among what it says is where it listens. */
static pid_t start_server(int *port)
{
    int ends[2];
    char said[2000] = "";
    const char *address = NULL;
    size_t length = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        int file = open("/dev/null", O_RDWR);
        dup2(file, STDOUT_FILENO);
        close(ends[0]);
        static const char *const words[] = { "notes",     "serve", "--listen", "127.0.0.1:0",
                                             "--workers", "1",     NULL };
        _exit(mishap_main(6, (char **)(uintptr_t)words, &app));
    }
    close(ends[1]);
    while (!address || !strchr(address, '\n')) {
        ssize_t count = read(ends[0], said + length, sizeof said - 1 - length);
        assert_true(count > 0);
        length += (size_t)count;
        said[length] = '\0';
        address = strstr(said, "127.0.0.1:");
    }
    *port = (int)strtol(address + strlen("127.0.0.1:"), NULL, 10);
    return child; /* the other end stays open: the server may say more */
}

static void ask(int port, const char *path, const char *body)
{
    char request[512], answer[2000];
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(connection, (struct sockaddr *)&address, sizeof address), 0);
    int length = snprintf(request, sizeof request,
                          "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                          "Connection: close\r\nContent-Length: %zu\r\n\r\n%s",
                          path, strlen(body), body);
    assert_int_equal(write(connection, request, (size_t)length), length);
    ssize_t got = 0, count;
    while ((count = read(connection, answer + got, sizeof answer - (size_t)got)) > 0)
        got += count;
    assert_true(got > 12 && memcmp(answer, "HTTP/1.1 ", 9) == 0);
    close(connection);
}

static void a_server_takes_memory_from_the_table(void **state)
{
    (void)state;
    int port, status;
    measure();
    pid_t server = start_server(&port);
    assert_true(port > 0);
    static const char *const paths[] = { "/notes", "/slow", "/nowhere" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        ask(port, paths[i], "{\"text\":\"abc\"}");
        ask(port, paths[i], "{\"fail\":true,\"list\":[4711]}");
        ask(port, paths[i], "{\"text\":7");
    }
    kill(server, SIGTERM);
    assert_int_equal(waitpid(server, &status, 0), server);
    assert_true(WIFEXITED(status));
    assert_all_went_through_the_table();
}

/* -- without memory ---------------------------------------------------------------------------- */

static void *take_nothing(size_t size)
{
    (void)size;
    seen->through++;
    return NULL;
}

static void *retake_nothing(void *block, size_t size)
{
    (void)block, (void)size;
    return take_nothing(size);
}

/* A table that gives nothing: then nothing at all is taken, and there is still a failure to tell.
 */
static void a_table_without_memory_is_not_circumvented(void **state)
{
    (void)state;
    static const mishap_allocator nothing = { take_nothing, retake_nothing, give };
    mishap_call *call;
    measure();
    mishap_use_allocator(&nothing);
    mishap *failure = mishap_call_begin(&app, &operations[0], T("{}"), &call);
    assert_null(call);
    assert_ptr_equal(failure, mishap_out_of_memory());
    mishap *m = mishap_tell(mishap_raise(NOT_FOUND, "There is no %d.", 7), "id", 7);
    mishap_buffer text = { 0 };
    assert_non_null(mishap_render(*mishap_dialects(), m, &text).data);
    mishap_free(m);
    mishap_free(mishap_require_end(mishap_require_begin("{\"a\":1}", 7)));
    mishap_buffer_release(&text);
    assert_all_went_through_the_table();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_takes_memory_from_the_table),
        TEST(a_command_takes_memory_from_the_table),
        TEST(a_server_takes_memory_from_the_table),
        TEST(a_table_without_memory_is_not_circumvented),
    };
    char folder[] = "/tmp/mishap-memory-XXXXXX";
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED || !mkdtemp(folder) || !COUNTS)
        return 77;
    setenv("NOTES_DATA", folder, 1);
    setenv("NOTES_LOG", "", 1);
    int failed = RUN(tests);
    rmdir(folder);
    return failed;
}
