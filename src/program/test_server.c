/* The server of a test: a process that runs the command `serve` of the program; and its keys. */
#include "program/test_server.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/memory.h"
#include "http/keys/keys.h"
#include "mishap/main.h"
#include "operation/settings.h"

enum { PATIENCE_S = 120, PAUSE_NS = 10000000, MOST_WORDS = 20 };

static void forget_response(mishap_test *test)
{
    mishap_test_server *server = test->server;
    if (server->socket >= 0)
        close(server->socket);
    server->socket = -1;
    server->part = MISHAP_TEST_ENDED;
    mishap_buffer_release(&server->head);
    mishap_buffer_release(&server->raw);
    mishap_buffer_release(&server->body);
    test->read_more = NULL;
}

/* -- its end ----------------------------------------------------------------------------------- */

/* It is asked to stop, and has time for that: what it has in hand is ended in order. */
static void end_process(mishap_test_server *server)
{
    int64_t until = mishap_clock_monotonic_ns() + PATIENCE_S * INT64_C(1000000000);
    if (server->process <= 0)
        return;
    kill(server->process, SIGTERM);
    while (waitpid(server->process, NULL, WNOHANG) == 0) {
        if (mishap_clock_monotonic_ns() > until)
            kill(server->process, SIGKILL);
        nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
    }
    server->process = 0;
}

static void stop_server(mishap_test *test)
{
    forget_response(test);
    end_process(test->server);
    mishap_release(test->server);
    test->server = NULL;
    test->stop_server = test->forget_response = NULL;
}

mishap_test_server *mishap_test_server_of(mishap_test *test)
{
    if (test->server)
        return test->server;
    test->server = mishap_allocate(sizeof *test->server);
    if (!test->server)
        mishap_test_give_up("Not enough memory for a server.");
    *test->server = (mishap_test_server){ .socket = -1, .part = MISHAP_TEST_ENDED };
    test->stop_server = stop_server;
    test->forget_response = forget_response;
    return test->server;
}

/* -- its start --------------------------------------------------------------------------------- */

static void path_in(const mishap_test *test, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", test->root, name);
}

/* Settings from a file come after variables; but the store of a test is never that of a variable.
 */
static void write_config(const mishap_test *test, const char *path)
{
    FILE *file = fopen(path, "we");
    if (!file || fputs(test->config.data, file) < 0 || fclose(file) != 0)
        mishap_test_give_up("The settings of the server cannot be written.");
}

static _Noreturn void run_server(const mishap_test *test, const char *output)
{
    static char store_flag[] = "--store", key_flag[] = "--require-key";
    char name[64], config[64], store[64], *words[MOST_WORDS];
    int count = 0;
    path_in(test, "config", config, sizeof config);
    snprintf(name, sizeof name, "%s", test->app->name);
    snprintf(store, sizeof store, "sqlite:%s/", test->folder);
    const char *said[] = { name,         "serve", "--listen", "127.0.0.1:0", "--workers", "1",
                           "--handlers", "2",     "--data",   test->folder,  "--config",  config };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        words[count++] = (char *)(uintptr_t)said[i];
    if (mishap_app_has_store(test->app)) {
        words[count++] = store_flag;
        words[count++] = *test->address ? (char *)(uintptr_t)test->address : store;
    }
    if (test->server->keys)
        words[count++] = key_flag;
    words[count] = NULL;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int to = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int from = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(from, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    _exit(mishap_main(count, words, test->app));
}

/* The port that the server has named; 0: none yet. */
static int read_port(const char *output)
{
    static const char before[] = "listening on http://127.0.0.1:";
    char line[512];
    int port = 0;
    FILE *file = fopen(output, "re");
    while (file && !port && fgets(line, sizeof line, file))
        if (strncmp(line, before, sizeof before - 1) == 0 && strchr(line, '\n'))
            port = (int)strtol(line + sizeof before - 1, NULL, 10);
    if (file)
        fclose(file);
    return port;
}

/* What a server has said that did not start. */
static _Noreturn void give_up_server(const char *output)
{
    char line[512];
    FILE *file = fopen(output, "re");
    while (file && fgets(line, sizeof line, file))
        printf("# %s", line);
    mishap_test_give_up("The server of the test did not start.");
}

/* The services are closed: a connection to a store must not be used by two processes. */
mishap_test_server *mishap_test_serve(mishap_test *test)
{
    char config[64], output[64];
    mishap_test_server *server = mishap_test_server_of(test);
    int64_t until = mishap_clock_monotonic_ns() + PATIENCE_S * INT64_C(1000000000);
    if (server->process && waitpid(server->process, NULL, WNOHANG) == 0)
        return server;
    path_in(test, "config", config, sizeof config);
    path_in(test, "output", output, sizeof output);
    write_config(test, config);
    unlink(output);
    mishap_app_close();
    fflush(NULL);
    server->process = fork();
    if (server->process < 0)
        mishap_test_give_up("No process can be forked.");
    if (server->process == 0)
        run_server(test, output);
    while (!(server->port = read_port(output))) {
        if (waitpid(server->process, NULL, WNOHANG) != 0 || mishap_clock_monotonic_ns() > until)
            give_up_server(output);
        nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
    }
    return server;
}

/* -- keys -------------------------------------------------------------------------------------- */

/* `call,operator` as an array of strings; NULL: none. */
static void put_scopes(mishap_buffer *json, const char *scopes)
{
    mishap_json_open(json, '[');
    while (*scopes) {
        size_t length = strcspn(scopes, ",");
        mishap_value scope = mishap_value_of_text((mishap_text){ scopes, length });
        mishap_json_value(json, &scope);
        scopes += length + (scopes[length] == ',');
    }
    mishap_json_close(json, ']');
    mishap_buffer_put_char(json, '\0');
    if (json->failed)
        mishap_test_give_up("Not enough memory for a key.");
}

/* By the operation behind `keys add`. A server that runs is started anew with the next request, so
 * that it knows the key. */
const char *mishap_test_key(mishap_test *test, const char *caller, const char *scopes)
{
    mishap_test_server *server = mishap_test_server_of(test);
    mishap_operation operations[] = { mishap_keys_add, { 0 } };
    mishap_app app = { .name = test->app->name,
                       .operations = operations,
                       .scopes = test->app->scopes };
    mishap_answered *answered = NULL;
    mishap_buffer list = { 0 };
    if (scopes)
        put_scopes(&list, scopes);
    mishap *failure = mishap_invoke_with(
        &app, mishap_keys_add.name, NULL, &answered,
        MISHAP_PAIRS({ "name", MISHAP_VALUE(caller) },
                     { "scope", scopes ? mishap_value_of_json(list.data) : mishap_value_none() },
                     { "data", MISHAP_VALUE((const char *)test->folder) }));
    mishap_buffer_release(&list);
    if (failure) {
        mishap_test_remark(failure);
        mishap_test_give_up("The key could not be made.");
    }
    end_process(server);
    server->keys++;
    const char *key = mishap_test_keep(test, mishap_string(answered->json, "key"));
    mishap_answered_free(answered);
    return key;
}
