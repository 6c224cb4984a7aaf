/*
 * Packets and messages between this program and a foreign program: see packets.h. A loop uses them
 * for the processes that its keeper starts, and a command for its own child process.
 */
#include "worker/wire/packets.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "dialect/dialect.h"
#include "worker/wire/code.h"
#include "worker/wire/frame.h"

/* What the first byte of a packet says. */
enum kind { WHOLE = '=', FIRST = '<', FURTHER = '-', LAST = '>' };

enum { MOST_WARNINGS = 64, MOST_NOTES = 32, MOST_MEMBERS = 4096 };

/* -- the end of a process ---------------------------------------------------------------------- */

/* The meaning of an exit code counts only if the program chose it: not if the process was killed,
 * and not if code of a caller ran, which could have chosen any status. */
const char *mishap_foreign_own_exit(const mishap_foreign_end *end)
{
    static const struct {
        int number;
        const char *meaning;
    } exits[] = {
#define ROW(name, number, meaning) { name, meaning },
        MISHAP_EXITS(ROW)
#undef ROW
    };
    if (end->status == -1 || !WIFEXITED(end->status) || end->timed_out || end->cancelled ||
        end->broke || end->code_began)
        return NULL;
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
        if (exits[i].number == WEXITSTATUS(end->status))
            return exits[i].meaning;
    return NULL;
}

/* -- to the program ---------------------------------------------------------------------------- */

static bool has_sessions(const mishap_call *call)
{
    const mishap_service *service = call->operation->service;
    return service && service->worker && service->worker->sessions;
}

static bool is_session(const mishap_call *call, const mishap_param *param)
{
    return has_sessions(call) && strcmp(param->name, "session") == 0;
}

enum { TO_SAY_SO_MS = 1000, LONGEST_S = 86400 };

/* The time limit that the call itself names, and a second for the program to say that it is over;
 * 0: none. */
static int limit_of(const mishap_foreign *foreign, const mishap_call *call)
{
    int limit_ms = foreign->usual_limit_ms;
    for (size_t i = 0; foreign->limit_param && i < call->param_count; i++)
        if (call->values[i] && yyjson_is_num(call->values[i]) &&
            strcmp(call->operation->params[i].name, foreign->limit_param) == 0) {
            double seconds = yyjson_get_num(call->values[i]);
            limit_ms = seconds < LONGEST_S ? (int)(seconds * 1000) + TO_SAY_SO_MS : 0;
        }
    return limit_ms;
}

void mishap_foreign_shorten(const mishap_foreign *foreign, mishap_call *call)
{
    int limit_ms = limit_of(foreign, call);
    int64_t deadline_ns = call->deadline_ns;
    mishap_call_limit(call, limit_ms);
    if (deadline_ns && deadline_ns < call->deadline_ns)
        call->deadline_ns = deadline_ns; /* only in a command */
}

int64_t mishap_foreign_interrupt_ms(const mishap_foreign *foreign, const mishap_call *call)
{
    int limit_ms = foreign->untimed ? limit_of(foreign, call) : 0;
    if (!limit_ms)
        return call->limit_ms;
    limit_ms = limit_ms > TO_SAY_SO_MS ? limit_ms - TO_SAY_SO_MS : 1;
    return call->limit_ms > 0 && call->limit_ms < limit_ms ? call->limit_ms : limit_ms;
}

mishap *mishap_foreign_correct(const mishap_foreign *foreign, const mishap_call *call,
                               mishap *failure, bool timed_out)
{
    mishap_foreign_end end = { .operation = call->operation->name,
                               .status = -1,
                               .timed_out = timed_out,
                               .cancelled = !timed_out,
                               .limit_ms = call->limit_ms };
    const mishap_code *wrong = timed_out ? MISHAP_CODE_CANCELLED : MISHAP_CODE_TIMEOUT;
    if (!failure || !foreign->untimed || !foreign->ended || mishap_told(failure)->code != wrong)
        return failure;
    mishap *right = foreign->ended(&end);
    if (!right)
        return failure;
    if (mishap_told(failure)->output.length)
        right = mishap_output(right, mishap_told(failure)->output);
    mishap_free(failure);
    return right;
}

static void put_arguments(mishap_buffer *out, const mishap_call *call)
{
    const mishap_param *params = call->operation->params;
    MISHAP_JSON_KEY(out, "arguments");
    mishap_json_open(out, '{');
    for (size_t i = 0; i < call->param_count; i++) {
        if (!call->values[i] || is_session(call, &params[i]))
            continue;
        mishap_json_key(out, mishap_text_of(params[i].name));
        mishap_json_copy(out, call->values[i]);
    }
    mishap_json_close(out, '}');
}

/* Cut a long message into packets. This is done in place after it was written, from its end on:
 * each part moves up by one byte for each packet before it. */
static void cut_into_packets(mishap_buffer *out)
{
    const size_t piece = MISHAP_PACKET - 1;
    size_t length = out->length - 1, pieces = (length + piece - 1) / piece;
    if (pieces <= 1 || !mishap_buffer_reserve(out, pieces))
        return;
    for (size_t i = pieces; i-- > 0;) {
        size_t size = i == pieces - 1 ? length - i * piece : piece;
        char *to = out->data + i * MISHAP_PACKET;
        memmove(to + 1, out->data + 1 + i * piece, size);
        *to = i == 0 ? FIRST : i == pieces - 1 ? LAST : FURTHER;
    }
    out->length = length + pieces;
}

bool mishap_foreign_put_call(mishap_buffer *out, const mishap_call *call, uint32_t id,
                             int64_t limit_ms)
{
    mishap_buffer_put_char(out, WHOLE);
    MISHAP_PUT(out, "{\"id\":");
    mishap_buffer_put_uint(out, id);
    MISHAP_JSON_KEY(out, "operation");
    mishap_json_string(out, mishap_text_of(call->operation->name));
    if (limit_ms > 0) {
        MISHAP_JSON_KEY(out, "limit_ms");
        mishap_buffer_put_int(out, limit_ms);
    }
    if (call->watcher && call->watcher->progress)
        MISHAP_PUT(out, ",\"progress\":true");
    if (call->watcher && call->watcher->log)
        MISHAP_PUT(out, ",\"log\":true");
    put_arguments(out, call);
    mishap_json_close(out, '}');
    if (!out->failed && out->length - 1 <= MISHAP_FOREIGN_ASKED)
        cut_into_packets(out);
    else
        out->length = 0;
    if (out->failed)
        out->length = 0;
    return out->length > 0;
}

bool mishap_foreign_send(int socket, const mishap_buffer *packets, size_t *sent)
{
    while (*sent < packets->length) {
        size_t size = packets->length - *sent;
        if (size > MISHAP_PACKET)
            size = MISHAP_PACKET;
        ssize_t count = send(socket, packets->data + *sent, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return errno == EAGAIN || errno == ENOBUFS;
        *sent += (size_t)count;
    }
    return true;
}

/* -- packets from the program ------------------------------------------------------------------ */

/* `held` starts with one byte of its own, so that a message that has begun differs from none. */
mishap_gathered mishap_foreign_gather(mishap_buffer *held, mishap_text packet, size_t limit,
                                      mishap_text *message)
{
    if (!packet.length || packet.length > MISHAP_PACKET)
        return MISHAP_GATHERED_BAD;
    mishap_text piece = { packet.data + 1, packet.length - 1 };
    char kind = packet.data[0];
    switch (kind) {
    case WHOLE:
        mishap_buffer_reset(held);
        *message = piece;
        return piece.length <= limit ? MISHAP_GATHERED_WHOLE : MISHAP_GATHERED_BAD;
    case FIRST:
        mishap_buffer_reset(held);
        mishap_buffer_put_char(held, FIRST);
        break;
    case FURTHER:
    case LAST:
        if (!held->length)
            return MISHAP_GATHERED_PART; /* its beginning went to another loop */
        break;
    default:
        return MISHAP_GATHERED_BAD;
    }
    if (held->length - 1 + piece.length > limit)
        return MISHAP_GATHERED_BAD;
    mishap_buffer_put_text(held, piece);
    if (held->failed)
        return MISHAP_GATHERED_BAD;
    *message = (mishap_text){ held->data + 1, held->length - 1 };
    return kind == LAST ? MISHAP_GATHERED_WHOLE : MISHAP_GATHERED_PART;
}

/* -- messages from the program ----------------------------------------------------------------- */

static bool read_level(mishap_text name, int *level)
{
    static const char
        *const names[] = { "debug",    "info",  "notice",    "warning", "error",
                           "critical", "alert", "emergency", "operator" /* MISHAP_FOR_OPERATOR */ };
    for (int i = 0; i <= MISHAP_FOR_OPERATOR; i++)
        if (mishap_text_equal(name, mishap_text_of(names[i]))) {
            *level = i;
            return true;
        }
    return false;
}

static const char *read_report(yyjson_val *root, mishap_foreign_message *m)
{
    yyjson_val *progress = yyjson_obj_get(root, "progress"), *total = yyjson_obj_get(root, "total");
    yyjson_val *words = yyjson_obj_get(root, "words");
    m->words = mishap_json_text(words);
    if (yyjson_is_true(yyjson_obj_get(root, "begins"))) {
        m->word = MISHAP_FOREIGN_BEGINS;
        return NULL;
    }
    if (words && !yyjson_is_str(words))
        return "words that are no string";
    if (progress) {
        m->word = MISHAP_FOREIGN_PROGRESS;
        m->done = yyjson_get_num(progress);
        m->total = yyjson_get_num(total);
        return yyjson_is_num(progress) && (!total || yyjson_is_num(total)) ? NULL
                                                                           : "progress that is no "
                                                                             "number";
    }
    m->word = MISHAP_FOREIGN_LOG;
    return m->words.data && read_level(mishap_json_text(yyjson_obj_get(root, "log")), &m->level)
               ? NULL
               : "a log message of no level";
}

static bool are_strings(yyjson_val *array)
{
    size_t index, count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (array, index, count, item)
        if (!yyjson_is_str(item))
            return false;
    return true;
}

static const char *read_end(yyjson_val *root, mishap_foreign_message *m)
{
    yyjson_val *text = yyjson_obj_get(root, "text"), *last = yyjson_obj_get(root, "last");
    m->answer = yyjson_obj_get(root, "answer");
    m->failure = yyjson_obj_get(root, "failure");
    m->warnings = yyjson_obj_get(root, "warnings");
    m->notes = yyjson_obj_get(root, "notes");
    m->text = mishap_json_text(text);
    m->last = yyjson_is_true(last);
    m->limit_ms = yyjson_get_sint(yyjson_obj_get(root, "limit_ms"));
    m->word = m->answer ? MISHAP_FOREIGN_ANSWER : MISHAP_FOREIGN_FAILURE;
    if (m->answer && m->failure)
        return "an answer and a failure at once";
    if (!yyjson_is_obj(m->answer ? m->answer : m->failure))
        return "an answer or a failure that is no object";
    if (text && !yyjson_is_str(text))
        return "a text that is no string";
    if (m->warnings && (!yyjson_is_arr(m->warnings) || !are_strings(m->warnings)))
        return "warnings that are no strings";
    return m->notes && !yyjson_is_obj(m->notes) ? "notes that are no object" : NULL;
}

/* The search for duplicate keys gets slower with the number of keys, and other callers wait for
 * this loop meanwhile. */
static bool has_too_many_members(const mishap_json_reader *reader)
{
    size_t count = yyjson_doc_get_val_count(reader->document);
    for (yyjson_val *value = reader->root, *end = value + count; value < end; value++)
        if (unsafe_yyjson_is_obj(value) && unsafe_yyjson_get_len(value) > MOST_MEMBERS)
            return true;
    return false;
}

const char *mishap_foreign_read(mishap_json_reader *reader, mishap_text text,
                                mishap_foreign_message *m)
{
    yyjson_val *at;
    *m = (mishap_foreign_message){ 0 };
    if (!mishap_json_read(reader, text) || !yyjson_is_obj(reader->root))
        return "a message that is no JSON object";
    if (has_too_many_members(reader))
        return "an object of too many members";
    if (mishap_json_first_flaw(reader, &at) != MISHAP_JSON_SOUND)
        return "a message that is no JSON object";
    yyjson_val *root = reader->root, *id = yyjson_obj_get(root, "id");
    if (!id) {
        m->word = yyjson_obj_get(root, "failure") ? MISHAP_FOREIGN_UNREADY : MISHAP_FOREIGN_READY;
        m->failure = yyjson_obj_get(root, "failure");
        if (m->failure)
            return yyjson_is_obj(m->failure) ? NULL : "a failure that is no object";
        return yyjson_get_uint(yyjson_obj_get(root, "ready")) == 1 ? NULL : "a message of no call";
    }
    uint64_t number = yyjson_is_uint(id) ? yyjson_get_uint(id) : 0;
    if (!number || number > MISHAP_FOREIGN_IDS)
        return "the id of no call";
    m->id = (uint32_t)number;
    return yyjson_obj_get(root, "answer") || yyjson_obj_get(root, "failure") ? read_end(root, m)
                                                                             : read_report(root, m);
}

/* -- from a message into a call ---------------------------------------------------------------- */

static mishap *add_notes(mishap *m, yyjson_val *notes)
{
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (notes, index, count, key, value)
        if (index < MOST_NOTES && !yyjson_is_ctn(value))
            m = mishap_note_value(m, mishap_json_text(key), mishap_json_scalar(value));
    return m;
}

/* The program must not name the session: it could lead its caller into the session of another
 * owner, who would then read along. */
static void put_without_session(mishap_buffer *out, yyjson_val *object)
{
    size_t index, count;
    yyjson_val *key, *value;
    mishap_json_open(out, '{');
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        if (yyjson_equals_str(key, "session"))
            continue;
        mishap_json_key(out, mishap_json_text(key));
        mishap_json_copy(out, value);
    }
    mishap_json_close(out, '}');
}

static void put_failure(mishap_buffer *out, yyjson_val *failure)
{
    size_t index, count;
    yyjson_val *key, *value;
    mishap_json_open(out, '{');
    MISHAP_JSON_MEMBERS (failure, index, count, key, value) {
        mishap_json_key(out, mishap_json_text(key));
        if (yyjson_equals_str(key, "context") && yyjson_is_obj(value))
            put_without_session(out, value);
        else
            mishap_json_copy(out, value);
    }
    mishap_json_close(out, '}');
}

/* The failure is parsed again as a document of its own: the reader of documents finds what is
 * wrong. */
mishap *mishap_foreign_take_failure(const mishap_foreign_message *message, const char **lie)
{
    char room[2048];
    mishap *m = NULL;
    mishap_buffer json;
    *lie = NULL;
    mishap_buffer_init(&json, room, sizeof room);
    put_failure(&json, message->failure);
    mishap *refusal = json.failed ? mishap_out_of_memory()
                                  : mishap_parse(&mishap_canonical, mishap_buffer_text(&json), &m);
    mishap_buffer_release(&json);
    if (refusal) {
        mishap_free(refusal);
        *lie = "a failure that is no mishap";
        return NULL;
    }
    return add_notes(m, message->notes);
}

static bool is_declared(const mishap_param *answers, const char *name)
{
    while (answers && answers->name && strcmp(answers->name, name) != 0)
        answers++;
    return answers && answers->name;
}

static void add_session(mishap_call *call)
{
    mishap_buffer *b = &call->answer;
    if (!call->session_is || !is_declared(call->operation->answers, "session") || b->failed)
        return;
    b->length--; /* without its last bracket */
    MISHAP_JSON_KEY(b, "session");
    mishap_json_string(b, mishap_text_of(call->session_is));
    mishap_json_close(b, '}');
}

static void take_warnings(mishap_call *call, yyjson_val *warnings)
{
    size_t index, count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (warnings, index, count, item)
        if (index < MOST_WARNINGS)
            mishap_json_string(&call->warnings, mishap_json_text(item));
}

bool mishap_foreign_is_last(const mishap_foreign_message *message,
                            const mishap_foreign_known *known, const mishap_call *call)
{
    const mishap_foreign_code *code = known->foreign->code;
    if (!code || !known->code_began)
        return message->last;
    return code->ends && strcmp(call->operation->name, code->ends) == 0 &&
           message->word == MISHAP_FOREIGN_ANSWER;
}

static void take_answer(const mishap_foreign_message *message, mishap_call *call, bool of_code)
{
    call->answer_kind = MISHAP_ANSWER_JSON;
    mishap_buffer_reset(&call->answer);
    if (has_sessions(call))
        put_without_session(&call->answer, message->answer);
    else
        mishap_json_copy(&call->answer, message->answer);
    add_session(call);
    mishap_buffer_reset(&call->text);
    if (of_code) { /* once code runs, only the server may add warnings to an answer */
        mishap_code_put_text(&call->text, message->text);
        return;
    }
    mishap_buffer_put_text(&call->text, message->text);
    take_warnings(call, message->warnings);
}

const char *mishap_foreign_take_outcome(const mishap_foreign_message *message,
                                        const mishap_foreign_known *known, mishap_call *call,
                                        mishap **failure)
{
    const char *lie = NULL;
    mishap *m = NULL;
    bool of_code = known->foreign->code && known->code_began;
    if (message->word == MISHAP_FOREIGN_FAILURE) {
        m = of_code ? mishap_code_take_failure(message, known, call)
                    : mishap_foreign_take_failure(message, &lie);
        if (lie)
            return lie;
        if (call->session_is)
            m = mishap_tell(m, "session", call->session_is);
    } else {
        take_answer(message, call, of_code);
        if (call->text.failed || call->warnings.failed)
            m = mishap_out_of_memory();
    }
    *failure = mishap_call_conclude(call, m);
    if (of_code && *failure && !m) {
        *failure = mishap_code_broke_answer(known->foreign->code, *failure);
        if (call->session_is)
            *failure = mishap_tell(*failure, "session", call->session_is);
    }
    return NULL;
}
