/*
 * What the tests of the MCP boundary have around a conversation: a log file of their own, the
 * containment of handlers in place of the test framework's, and a conversation that takes no memory
 * of its own.
 */
#ifndef MISHAP_MCP_SET_UP_H
#define MISHAP_MCP_SET_UP_H

#include <signal.h>
#include <unistd.h>

#include "mcp_wire.h"

#include "operation/operation.h"

/* -- the log ----------------------------------------------------------------------------------- */

static char log_path[] = "/tmp/mcp_test_XXXXXX";

/* What was recorded since; free() it. */
static inline char *logged(void)
{
    size_t length;
    char *text = read_file(log_path, &length);
    assert_int_equal(truncate(log_path, 0), 0);
    return text;
}

/* NULL: nothing was recorded beside what the caller was told. */
static inline void assert_logged(const char *words)
{
    static const char *const private_members[] = { "\"noted\":", "\"causes\":",
                                                   "\"private_message\":" };
    char *text = logged();
    if (words && !strstr(text, words))
        fail_msg("`%s` is not in the log: %s", words, text);
    for (size_t i = 0; i < sizeof private_members / sizeof *private_members; i++)
        if (!words && strstr(text, private_members[i]))
            fail_msg("%s is in the log: %s", private_members[i], text);
    free(text);
}

/* Run the tests with a log, whose path goes into this variable. */
#define RUN_WITH_LOG(tests, variable)                                                              \
    (open_log(variable) ? close_log(RUN(tests)) : (perror(log_path), 1))

static inline bool open_log(const char *variable)
{
    int file = mkstemp(log_path);
    if (file >= 0)
        close(file);
    return file >= 0 && setenv(variable, log_path, 1) == 0;
}

static inline int close_log(int failed)
{
    unlink(log_path);
    return failed;
}

/* -- containment ------------------------------------------------------------------------------- */

/* What the containment of handlers does on such a signal. The test framework wants to hear of it,
 * too, and puts its own in place before each test. */
static struct sigaction contained;

/* By a call of this operation, which crashes not. */
static inline void learn_containment(const mishap_app *app, const mishap_operation *operation)
{
    mishap_call *call;
    assert_null(mishap_call_begin(app, operation, T("{}"), &call));
    mishap_free(mishap_call_run(call));
    mishap_call_end(call);
    sigaction(SIGSEGV, NULL, &contained);
}

static inline void contain_again(void)
{
    sigaction(SIGSEGV, &contained, NULL);
}

/* -- without memory ---------------------------------------------------------------------------- */

/* A conversation for torture(): only what the boundary itself does needs memory. The server stays
 * the caller's. */
static inline void open_small_wire(struct wire *w, const mishap_mcp_server *server)
{
    static char room[32768], storage[8192];
    *w = (struct wire){ .channel = { .begin = begin_line, .end = end_line, .finish = count_finish },
                        .reader = MISHAP_JSON_READER_IN(storage),
                        .revision = MISHAP_MCP_2025_11_25 };
    mishap_buffer_init(&w->out, room, sizeof room);
    mishap_mcp_peer_init(&w->peer, server);
    w->peer.revision = w->revision;
}

static inline void close_small_wire(struct wire *w)
{
    mishap_json_reader_release(&w->reader);
    mishap_mcp_peer_release(&w->peer);
    mishap_buffer_release(&w->out);
    yyjson_doc_free(w->answer);
}

/* The last line is the response to number 7, which is there after any failure, and complete. */
static inline void read_response(struct wire *w)
{
    assert_true(w->out.length > 0 && !w->out.failed);
    const char *last = memrchr(w->out.data, '\n', w->out.length - 1);
    last = last ? last + 1 : w->out.data;
    yyjson_doc_free(w->answer);
    w->answer = yyjson_read(last, (size_t)(w->out.data + w->out.length - last), 0);
    assert_int_equal(number_at(w, "/id"), 7);
}

#endif
