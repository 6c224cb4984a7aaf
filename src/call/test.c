/* The beginning and the end of a test and of its cases, and its calls. */
#include "call/test.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system.h"
#include "operation/call.h"

/* -- beginning and end ------------------------------------------------------------------------- */

_Noreturn void mishap_test_give_up(const char *why)
{
    printf("Bail out! %s\n", why);
    fflush(stdout);
    exit(EXIT_FAILURE);
}

mishap_test *mishap_test_begin(const mishap_app *app)
{
    return mishap_test_begin_with(app, NULL);
}

const char *mishap_test_keep(mishap_test *test, const char *text)
{
    const char *copy = mishap_arena_copy(&test->arena, mishap_text_of(text)).data;
    if (!copy)
        mishap_test_give_up("Not enough memory for a test.");
    return copy;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    remove(path);
    return 0;
}

static void remove_folder(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Failures of calls are recorded in a file of the test, also by a server that it starts. */
static void use_log(const mishap_test *test)
{
    char variable[64];
    mishap_system_variable(test->app->name, "LOG", variable, sizeof variable);
    if (test->log[0])
        setenv(variable, test->log, 1);
    else
        unsetenv(variable);
}

/* The store was chosen, and nothing is open. */
static void open_case(mishap_test *test)
{
    snprintf(test->folder, sizeof test->folder, "%s/%zu", test->root, ++test->cases);
    if (mkdir(test->folder, 0700) != 0)
        mishap_test_give_up("No folder can be created in /tmp.");
    mishap_test_name_store(test);
    test->setup = (mishap_setup){ .data = test->folder, .config = test->config.data, .log = true };
    mishap *failure = mishap_app_open(test->app, &test->setup);
    if (failure) {
        remove_folder(test->root);
        mishap_test_give_up(mishap_public_message(mishap_told(failure)).data);
    }
}

mishap_test *mishap_test_begin_with(const mishap_app *app, const char *settings)
{
    mishap_test *test = mishap_allocate(sizeof *test);
    if (!test || !mishap_rehearsal_begin())
        mishap_test_give_up("Not enough memory for a test.");
    *test = (mishap_test){ .app = app, .settings = settings, .root = "/tmp/mishap-test-XXXXXX" };
    mishap_arena_init(&test->arena, NULL, 0);
    mishap *failure = mishap_declaration_check(app);
    if (failure)
        mishap_test_give_up(mishap_public_message(mishap_told(failure)).data);
    if (!mkdtemp(test->root))
        mishap_test_give_up("No folder can be created in /tmp.");
    snprintf(test->log, sizeof test->log, "%s/log", test->root);
    use_log(test);
    open_case(test);
    return test;
}

void mishap_test_forget(mishap_test *test)
{
    mishap_answered_free(test->answered);
    mishap_answered_free(test->incident);
    mishap_free(test->failure);
    test->answered = test->incident = NULL;
    test->failure = NULL;
    test->id[0] = '\0';
    test->read = 0;
    test->status = 0;
    mishap_buffer_release(&test->piece);
    if (test->forget_response)
        test->forget_response(test);
}

static void close_case(mishap_test *test)
{
    mishap_test_forget(test);
    if (test->stop_server)
        test->stop_server(test);
    mishap_app_close();
    mishap_rehearsal_ask(MISHAP_REHEARSAL_NONE, 0);
    atomic_store(&mishap_rehearsal_page->time_is_set, false);
    const char *left = mishap_rehearsal_drop_schemas();
    if (*left)
        mishap_test_fail(test, "the schema could not be dropped", left);
    mishap_rehearsal_page->suffix[0] = '\0';
    mishap_buffer_release(&test->config);
    test->operation = NULL;
    test->how = (mishap_invocation){ 0 };
}

bool mishap_test_case(mishap_test *test, const char *name, mishap_test_store store)
{
    close_case(test);
    const char *why = mishap_test_choose_store(test, store);
    snprintf(test->name, sizeof test->name, "%s", name ? name : "");
    open_case(test);
    if (!why)
        return true;
    mishap_test_skip(test, why);
    return false;
}

int mishap_test_end(mishap_test *test)
{
    close_case(test);
    bool passed = test->count && !test->failed;
    mishap_service_use(NULL);
    mishap_rehearsal_end();
    test->log[0] = '\0';
    use_log(test);
    remove_folder(test->root);
    printf("1..%zu\n", test->count);
    fflush(stdout);
    mishap_arena_release(&test->arena);
    mishap_release(test);
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

const char *mishap_test_folder(const mishap_test *test)
{
    return test->folder;
}

/* -- calling ----------------------------------------------------------------------------------- */

void mishap_test_as(mishap_test *test, const char *caller)
{
    test->how.caller = caller;
}

void mishap_test_headers(mishap_test *test, const char *const *headers)
{
    test->how.headers = headers;
}

/* What a call has left: the id of its record, and a fault that is over. */
static void note_call(mishap_test *test)
{
    if (test->failure) {
        mishap_text id = mishap_told(test->failure)->incident;
        snprintf(test->id, sizeof test->id, "%.*s", (int)id.length, id.length ? id.data : "");
    }
    mishap_test_end_fault(test);
}

void mishap_test_invoke(mishap_test *test, const char *operation, const char *arguments,
                        const mishap_invocation *how)
{
    mishap_invocation with = how ? *how : test->how;
    with.caller = with.caller ? with.caller : test->how.caller;
    with.headers = with.headers ? with.headers : test->how.headers;
    mishap_test_forget(test);
    test->operation = operation;
    if (!mishap_test_call_killed(test, operation, arguments, &with))
        test->failure = mishap_invoke(test->app, operation, arguments, &with, &test->answered);
    note_call(test);
}

void mishap_test_call(mishap_test *test, const char *operation, const char *arguments)
{
    mishap_test_invoke(test, operation, arguments, NULL);
}

void mishap_test_call_with(mishap_test *test, const char *operation, const mishap_pair *pairs)
{
    mishap_buffer json = { 0 };
    if (!mishap_pairs_put(&json, pairs))
        mishap_test_give_up("Not enough memory for a call.");
    mishap_test_invoke(test, operation, json.data, NULL);
    mishap_buffer_release(&json);
}

const mishap_answered *mishap_test_answered(const mishap_test *test)
{
    return test->answered;
}

const mishap *mishap_test_failure(const mishap_test *test)
{
    return test->failure;
}

/* -- streams ----------------------------------------------------------------------------------- */

/* One event, without its empty line; of anything else the rest. */
static mishap_text next_piece(mishap_text text, bool events, size_t *taken)
{
    const char *end = events ? memmem(text.data, text.length, "\n\n", 2) : NULL;
    mishap_text piece = { text.data, end ? (size_t)(end - text.data) : text.length };
    *taken = piece.length + (end ? 2 : 0);
    return piece;
}

const char *mishap_test_read(mishap_test *test, size_t *length)
{
    size_t taken, unused;
    length = length ? length : &unused;
    *length = 0;
    if (test->read_more)
        return test->read_more(test, length);
    const mishap_answered *answered = test->answered;
    if (!answered || test->read >= answered->text.length)
        return NULL;
    mishap_text rest = { answered->text.data + test->read, answered->text.length - test->read };
    bool events = strncmp(answered->media_type, "text/event-stream", 17) == 0;
    mishap_text piece = next_piece(rest, events, &taken);
    test->read += taken;
    mishap_buffer_reset(&test->piece);
    mishap_buffer_put_text(&test->piece, piece);
    mishap_buffer_put_char(&test->piece, '\0');
    if (test->piece.failed)
        mishap_test_give_up("Not enough memory for a piece of a stream.");
    *length = piece.length;
    return test->piece.data;
}
