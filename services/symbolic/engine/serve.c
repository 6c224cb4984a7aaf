/* The worker: docs/worker-protocol.md on descriptor 3. One call at a time. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mishap/exits.h"
#include "serve.h"
#include "solver/second.h"

enum { SOCKET = 3, PACKET = 65536, MOST_MESSAGE = 8 << 20 };

/* Exit, since this process cannot go on: the words are for the operator. */
static _Noreturn void leave_process(int status, const char *words)
{
    if (write(STDERR_FILENO, words, strlen(words)) < 0)
        _exit(status); /* and there is no other way to report it */
    _exit(status);
}

/* -- packets ----------------------------------------------------------------------------------- */

static void send_packet(char kind, const char *bytes, size_t length)
{
    static char packet[PACKET];
    packet[0] = kind;
    memcpy(packet + 1, bytes, length);
    if (write(SOCKET, packet, length + 1) < 0)
        leave_process(MISHAP_EXIT_CUT_OFF, "mishap-symbolic: the socket cannot be written to\n");
}

static void send_message(const char *words, size_t length)
{
    enum { PIECE = PACKET - 1 };
    if (length <= PIECE) {
        send_packet('=', words, length);
        return;
    }
    for (size_t at = 0; at < length; at += PIECE) {
        bool last = length - at <= PIECE;
        send_packet(at == 0 ? '<' : last ? '>' : '-', words + at, last ? length - at : PIECE);
    }
}

static void send_document(yyjson_mut_doc *doc)
{
    size_t length;
    char *words = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &length);
    if (!words) /* otherwise the call would wait for an answer for ever */
        leave_process(MISHAP_EXIT_REFUSED, "mishap-symbolic: there is no memory for a message\n");
    send_message(words, length);
    free(words);
    yyjson_mut_doc_free(doc);
}

/* The next message, which is valid until the one after it. */
static const char *next_message(size_t *length)
{
    static char packet[PACKET];
    static char *message;
    static size_t used, room;
    for (;;) {
        ssize_t got = read(SOCKET, packet, sizeof packet);
        if (got < 0)
            leave_process(MISHAP_EXIT_CUT_OFF, "mishap-symbolic: the socket cannot be read\n");
        if (got == 0)
            _exit(0);
        if (packet[0] == '=' || packet[0] == '<')
            used = 0;
        size_t more = (size_t)got - 1;
        if (used + more > MOST_MESSAGE)
            leave_process(MISHAP_EXIT_BROKEN, "mishap-symbolic: a message to it is too long\n");
        if (used + more + 1 > room) {
            room = 2 * (used + more) + 4096;
            message = realloc(message, room);
            if (!message)
                leave_process(MISHAP_EXIT_REFUSED,
                              "mishap-symbolic: there is no memory for a message\n");
        }
        memcpy(message + used, packet + 1, more);
        used += more;
        message[used] = '\0';
        if (packet[0] == '=' || packet[0] == '>') {
            *length = used;
            return message;
        }
    }
}

/* -- calls ------------------------------------------------------------------------------------- */

static volatile sig_atomic_t running;
static int64_t current; /* the id of the call that runs */

static void interrupt(int number)
{
    (void)number;
    if (running)
        solver_interrupt();
}

/* "symbolic.check" and "symbolic_check" are "check". */
static const char *tool_of(const char *operation)
{
    static const struct {
        const char *word, *tool;
    } tools[] = { { "check", "check" },       { "find", "find" },     { "compare", "compare" },
                  { "branches", "branches" }, { "health", "health" }, { "run", "run" },
                  { "rules", "rules" } };
    const char *dot = strrchr(operation, '.');
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (strcmp(dot ? dot + 1 : operation, tools[i].word) == 0)
            return tools[i].tool;
    return "";
}

static const char *string_of(yyjson_val *of, const char *name)
{
    return yyjson_get_str(yyjson_obj_get(of, name));
}

/* The catalog's code for each type of error. */
static const char *code_of(const char *error_type)
{
    static const struct {
        const char *type, *code;
    } codes[] = { { "ValueError", "INVALID_ARGUMENT" },
                  { "SyntaxError", "SYNTAX_ERROR" },
                  { "ValidationError", "VALIDATION_ERROR" },
                  { "ImportError", "IMPORT_ERROR" },
                  { "TimeoutError", "TIMEOUT" } };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(error_type, codes[i].type) == 0)
            return codes[i].code;
    return "RUNTIME_ERROR";
}

/* An answer whose status is an error becomes a failure: its members are its context. */
static yyjson_mut_doc *as_message(yyjson_mut_doc *answered, yyjson_mut_doc *private, int64_t id)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_sint(doc, root, "id", id);
    if (!second_is_there())
        yyjson_mut_obj_add_bool(doc, root, "last", true);
    yyjson_mut_val *answer_root = yyjson_mut_val_mut_copy(doc, yyjson_mut_doc_get_root(answered));
    const char *error_type = yyjson_mut_get_str(yyjson_mut_obj_get(answer_root, "error_type"));
    if (!error_type) {
        yyjson_mut_obj_add_val(doc, root, "answer", answer_root);
        return doc;
    }
    yyjson_mut_val *failure = yyjson_mut_obj_add_obj(doc, root, "failure");
    const char *message = yyjson_mut_get_str(yyjson_mut_obj_get(answer_root, "message"));
    yyjson_mut_obj_add_strcpy(doc, failure, "code", code_of(error_type));
    yyjson_mut_obj_add_strcpy(doc, failure, "message", message ? message : "");
    yyjson_mut_obj_add_strcpy(doc, failure, "type", error_type);
    yyjson_mut_obj_remove_str(answer_root, "error_type");
    yyjson_mut_obj_remove_str(answer_root, "message");
    /* The failure itself is reported already; but a timeout is worth a status. */
    if (yyjson_mut_equals_str(yyjson_mut_obj_get(answer_root, "status"), "error"))
        yyjson_mut_obj_remove_str(answer_root, "status");
    yyjson_mut_obj_add_val(doc, failure, "context", answer_root);
    if (private)
        yyjson_mut_obj_add_val(doc, root, "notes",
                               yyjson_mut_val_mut_copy(doc, yyjson_mut_doc_get_root(private)));
    return doc;
}

/* Write the private part of a successful answer for the operator; only a failure has notes. */
static void tell_operator(yyjson_mut_doc *private, int64_t id)
{
    yyjson_mut_val *notes = yyjson_mut_doc_get_root(private);
    const char *what = yyjson_mut_get_str(yyjson_mut_obj_get(notes, "contradiction"));
    const char *code = yyjson_mut_get_str(yyjson_mut_obj_get(notes, "code"));
    arena a = { 0 };
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_sint(doc, root, "id", id);
    yyjson_mut_obj_add_str(doc, root, "log", "operator");
    yyjson_mut_obj_add_strcpy(
        doc, root, "words",
        arena_print(&a, "critical: the engine is contradicted by real Python: %s\n%s", what, code));
    send_document(doc);
    arena_free(&a);
}

/* -- replays ----------------------------------------------------------------------------------- */

static void ask_replay(const replay_call *call, int64_t deadline_ns)
{
    char *literals = replay_literals(call);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_sint(doc, root, "id", current);
    yyjson_mut_val *asked = yyjson_mut_obj_add_obj(doc, yyjson_mut_obj_add_obj(doc, root, "answer"),
                                                   "replay");
    yyjson_mut_obj_add_real(doc, asked, "seconds", (double)(deadline_ns - clock_ns()) / 1e9);
    yyjson_mut_obj_add_int(doc, asked, "seed", call->seed);
    if (!literals ||
        !yyjson_mut_obj_add_val(doc, asked, "arguments", yyjson_mut_raw(doc, literals)))
        leave_process(MISHAP_EXIT_REFUSED, "mishap-symbolic: there is no memory for a replay\n");
    send_document(doc);
    free(literals);
}

/* The call is answered with the input to be replayed; the next call brings the result, and its id
 * is that of the analysis from then on. So the protocol is that of any worker. */
void replay_asked(arena *a, const replay_call *call, int64_t deadline_ns, replay_result *out)
{
    size_t length;
    ask_replay(call, deadline_ns);
    const char *words = next_message(&length);
    yyjson_doc *doc = yyjson_read(words, length, 0);
    yyjson_val *root = yyjson_doc_get_root(doc), *given = yyjson_obj_get(root, "arguments");
    const char *operation = string_of(root, "operation");
    const char *result = string_of(given, "result"), *why = string_of(given, "why");
    if (!operation || strcmp(operation, "engine.replayed") != 0)
        leave_process(MISHAP_EXIT_BROKEN, "mishap-symbolic: a replay was not answered\n");
    current = yyjson_get_sint(yyjson_obj_get(root, "id"));
    if (result)
        replay_read(a, result, out);
    else
        out->message = arena_print(a, "%s", why ? why : "it gave no answer");
    yyjson_doc_free(doc);
}

/* What is known of a running analysis is reported in the same way: the next call only lets it go
 * on. */
static void keep_so_far(yyjson_mut_doc *so_far)
{
    size_t length;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_sint(doc, root, "id", current);
    yyjson_mut_val *told = yyjson_mut_obj_add_obj(doc, root, "answer");
    yyjson_mut_obj_add_val(doc, told, "so_far",
                           yyjson_mut_val_mut_copy(doc, yyjson_mut_doc_get_root(so_far)));
    send_document(doc);
    const char *words = next_message(&length);
    yyjson_doc *next = yyjson_read(words, length, 0);
    current = yyjson_get_sint(yyjson_obj_get(yyjson_doc_get_root(next), "id"));
    yyjson_doc_free(next);
}

/* -- a call ------------------------------------------------------------------------------------ */

static void handle(solver *s, const char *words, size_t length)
{
    yyjson_doc *doc = yyjson_read(words, length, 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *given = yyjson_obj_get(root, "arguments");
    const char *operation = string_of(root, "operation");
    if (!doc || !operation)
        leave_process(MISHAP_EXIT_BROKEN, "mishap-symbolic: a message to it cannot be read\n");
    yyjson_val *code = yyjson_obj_get(given, "code");
    yyjson_val *reach = yyjson_obj_get(given, "symbolic_reachability");
    const char *first = string_of(given, "function_name");
    request q = {
        .tool = tool_of(operation),
        .code = yyjson_get_str(code) ? yyjson_get_str(code) : "",
        .code_length = yyjson_get_len(code),
        .function = first ? first : string_of(given, "function_a"),
        .other = string_of(given, "function_b"),
        .exception_type = string_of(given, "exception_type"),
        .arguments = string_of(given, "arguments"),
        .seconds = yyjson_get_num(yyjson_obj_get(given, "timeout_seconds")),
        .reachability = !reach || yyjson_get_bool(reach),
    };
    if (!q.function)
        q.function = "";
    /* The caller's own limit may be shorter; a fifth of a second is left for the answer. */
    double limit = yyjson_get_num(yyjson_obj_get(root, "limit_ms")) / 1000 - 0.2;
    if (limit > 0 && (q.seconds <= 0 || q.seconds > limit))
        q.seconds = limit;
    current = yyjson_get_sint(yyjson_obj_get(root, "id"));
    running = 1;
    yyjson_mut_doc *private = NULL, *answered = tools_answer(s, &q, &private);
    running = 0;
    if (private && !yyjson_mut_obj_get(yyjson_mut_doc_get_root(answered), "error_type"))
        tell_operator(private, current);
    send_document(as_message(answered, private, current));
    yyjson_mut_doc_free(answered);
    yyjson_mut_doc_free(private);
    yyjson_doc_free(doc);
    if (!second_is_there())
        _exit(0); /* a solver thread was lost, and has left this process in an unknown state */
}

static void replay_nothing(arena *a, const replay_call *call, int64_t deadline_ns,
                           replay_result *out)
{
    (void)a, (void)call, (void)deadline_ns;
    out->message = "nothing is called yet";
}

/* The first proof loads libraries and builds tables: that is done before the first call, if there
 * is time. */
static void warm_up(solver *s)
{
    enum { PATIENCE_MS = 20 };
    static const char code[] = "def f(n: int, x: float, s: str, xs: list[int]) -> int:\n"
                               "    if n > 2 and s.startswith('a') and x < 1.5 and len(xs) > n:\n"
                               "        return 1\n"
                               "    return 0\n";
    struct pollfd call = { SOCKET, POLLIN, 0 };
    if (poll(&call, 1, PATIENCE_MS) != 0)
        return;
    yyjson_mut_doc *private = NULL;
    replay_function *before = replay_set(replay_nothing);
    request q = {
        .tool = "check", .code = code, .code_length = sizeof code - 1, .function = "f", .seconds = 1
    };
    yyjson_mut_doc_free(tools_answer(s, &q, &private));
    yyjson_mut_doc_free(private);
    replay_set(before);
}

void serve(solver *s, bool asked)
{
    struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESTART };
    sigaction(SIGINT, &action, NULL);
    static const char ready[] = "{\"ready\":1}";
    send_message(ready, sizeof ready - 1);
    warm_up(s);
    if (asked) {
        replay_set(replay_asked);
        tools_keep(keep_so_far);
    }
    for (;;) {
        size_t length;
        const char *words = next_message(&length);
        handle(s, words, length);
    }
}
