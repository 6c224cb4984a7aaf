/*
 * src/worker/wire/frame: what a call and its answer look like between two processes, at their
 * bounds and without memory.
 */
#include "testing.h"

#include "worker/wire/frame.h"

static mishap *do_run(mishap_call *call)
{
    (void)call;
    return NULL;
}

static const mishap_operation operations[] = {
    { "many", "In several processes", NULL, do_run, .stateless = true, .timeout_ms = 200 },
    { "long", "For ever", NULL, do_run, .stateless = true },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };

/* -- frames at their bounds -------------------------------------------------------------------- */

static void a_frame_is_as_long_as_may_be_and_not_one_byte_more(void **state)
{
    static const struct {
        uint32_t length, kind;
        mishap_frame_state state;
    } rows[] = {
        { MISHAP_FRAME_LIMIT, MISHAP_FRAME_DONE, MISHAP_FRAME_MORE },
        { MISHAP_FRAME_LIMIT + 1, MISHAP_FRAME_DONE, MISHAP_FRAME_BAD },
        { 0, MISHAP_FRAME_CALL, MISHAP_FRAME_WHOLE },
        { 0, MISHAP_FRAME_MARK, MISHAP_FRAME_WHOLE },
        { 0, 0, MISHAP_FRAME_BAD },
        { 0, MISHAP_FRAME_MARK + 1, MISHAP_FRAME_BAD },
        { 0, MISHAP_FRAME_DONE | 0x100, MISHAP_FRAME_BAD },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_buffer b = { 0 };
        mishap_framed frame;
        size_t size;
        mishap_pack_u32(&b, rows[i].length);
        mishap_pack_u32(&b, rows[i].kind);
        assert_int_equal(mishap_frame_read(mishap_buffer_text(&b), &frame, &size), rows[i].state);
        b.length--;
        assert_int_equal(mishap_frame_read(mishap_buffer_text(&b), &frame, &size),
                         MISHAP_FRAME_MORE);
        mishap_buffer_release(&b);
    }
}

/* Write an outcome and take it. */
static bool is_taken(const mishap_call *answer)
{
    mishap_buffer out = { 0 };
    mishap_framed frame;
    size_t size;
    mishap_call *call;
    mishap *failure;
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    mishap_frame_put_outcome(&out, 0, answer, NULL);
    assert_int_equal(mishap_frame_read(mishap_buffer_text(&out), &frame, &size),
                     MISHAP_FRAME_WHOLE);
    bool taken = mishap_frame_take_outcome(frame.payload, call, &failure);
    assert_null(failure);
    if (!taken)
        assert_int_equal(call->answer_kind, MISHAP_ANSWER_NOTHING); /* nothing was changed */
    mishap_call_end(call);
    mishap_buffer_release(&out);
    return taken;
}

static bool is_status_taken(int status)
{
    return is_taken(&(mishap_call){ .answer_kind = MISHAP_ANSWER_NOTHING, .status = status });
}

static void an_outcome_is_checked_at_its_bounds(void **state)
{
    mishap_call answer = { .answer_kind = MISHAP_ANSWER_JSON };
    (void)state;
    assert_true(is_status_taken(0));
    assert_false(is_status_taken(199));
    assert_true(is_status_taken(200));
    assert_true(is_status_taken(599));
    assert_false(is_status_taken(600));
    assert_false(is_taken(&(mishap_call){ .answer_kind = MISHAP_ANSWER_WRITTEN }));
    assert_false(is_taken(&(mishap_call){ .answer_kind = MISHAP_ANSWER_BYTES }));
    assert_false(is_taken(&(mishap_call){ .answer_kind = MISHAP_ANSWER_STREAM }));
    assert_false(is_taken(
        &(mishap_call){ .answer_kind = MISHAP_ANSWER_STREAM + 1, .answer_type = "text/plain" }));
    assert_true(is_taken(
        &(mishap_call){ .answer_kind = MISHAP_ANSWER_BYTES, .answer_type = "text/plain" }));
    /* Up to 64 KB are parsed, and control characters are refused in any answer. */
    for (size_t i = 0; i < 65536; i++)
        mishap_buffer_put_char(&answer.answer, '[');
    assert_false(is_taken(&answer));
    mishap_buffer_put_char(&answer.answer, '[');
    assert_true(is_taken(&answer));
    answer.answer.data[65536] = '\x1F';
    assert_false(is_taken(&answer));
    answer.answer.data[65536] = '[';
    answer.answer.data[0] = '\n';
    assert_false(is_taken(&answer));
    mishap_buffer_release(&answer.answer);
    MISHAP_PUT(&answer.answer, "\n{}"); /* though it is JSON */
    assert_false(is_taken(&answer));
    mishap_buffer_release(&answer.answer);
    MISHAP_PUT(&answer.answer, "{}");
    MISHAP_PUT(&answer.warnings, "\"a\",\"b\"");
    assert_true(is_taken(&answer));
    MISHAP_PUT(&answer.warnings, ",");
    assert_false(is_taken(&answer));
    mishap_buffer_release(&answer.answer);
    mishap_buffer_release(&answer.warnings);
}

/* The position in the log comes first, with an answer and with a failure. */
static void an_outcome_has_a_position_in_the_log(void **state)
{
    static const uint64_t positions[] = { 0, 1, 0x16B3748, MISHAP_LOG_UNKNOWN };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof positions / sizeof *positions; i++) {
        mishap_call answer = { .log_position = positions[i / 2] }, *call;
        mishap *sent = i % 2 ? mishap_raise(NOT_FOUND, "x") : NULL, *failure = NULL;
        mishap_buffer out = { 0 };
        mishap_framed frame;
        size_t size;
        assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
        call->log_position = 7;
        mishap_frame_put_outcome(&out, 0, &answer, sent);
        assert_int_equal(mishap_frame_read(mishap_buffer_text(&out), &frame, &size),
                         MISHAP_FRAME_WHOLE);
        assert_true(mishap_frame_take_outcome(frame.payload, call, &failure));
        assert_int_equal(failure != NULL, sent != NULL);
        assert_true(call->log_position == positions[i / 2]);
        /* One that ends in the middle of it changes nothing. */
        call->log_position = 7;
        mishap_free(failure);
        if (positions[i / 2]) {
            frame.payload.length = 5;
            assert_false(mishap_frame_take_outcome(frame.payload, call, &failure));
            assert_int_equal(call->log_position, 7);
        }
        mishap_free(sent);
        mishap_call_end(call);
        mishap_buffer_release(&out);
    }
}

static void a_call_says_what_it_must_see(void **state)
{
    static const uint64_t positions[] = { 0, 1, 0x16B3748, MISHAP_LOG_UNKNOWN };
    (void)state;
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
        mishap_buffer out = { 0 };
        mishap_frame_call asked;
        mishap_framed frame;
        mishap_call *call;
        size_t size;
        assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
        call->log_after = positions[i];
        mishap_frame_put_call(&out, 0, 1, call, 100);
        assert_int_equal(mishap_frame_read(mishap_buffer_text(&out), &frame, &size),
                         MISHAP_FRAME_WHOLE);
        assert_true(mishap_frame_take_call(frame.payload, &asked));
        assert_true(asked.log_after == positions[i]);
        mishap_call_end(call);
        mishap_buffer_release(&out);
    }
}

static void a_log_message_has_a_level_that_exists(void **state)
{
    (void)state;
    for (int level = MISHAP_EMERGENCY; level <= MISHAP_FOR_OPERATOR + 1; level++) {
        mishap_buffer out = { 0 };
        mishap_level taken;
        mishap_text words;
        mishap_frame_put_log(&out, 0, (mishap_level)level, T("words"));
        mishap_text payload = { out.data + MISHAP_FRAME_HEAD, out.length - MISHAP_FRAME_HEAD };
        assert_int_equal(mishap_frame_take_log(payload, &taken, &words),
                         level <= MISHAP_FOR_OPERATOR);
        mishap_buffer_release(&out);
    }
}

static void flags_that_do_not_exist_are_refused(void **state)
{
    mishap_call *call;
    mishap *failure;
    (void)state;
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    for (unsigned flags = 0; flags < 256; flags += 16) {
        mishap_buffer out = { 0 };
        mishap_frame_put_outcome(&out, 0, &(mishap_call){ .answer_kind = MISHAP_ANSWER_NOTHING },
                                 NULL);
        out.data[MISHAP_FRAME_HEAD + 2] = (char)flags;
        mishap_text payload = { out.data + MISHAP_FRAME_HEAD, out.length - MISHAP_FRAME_HEAD };
        assert_int_equal(mishap_frame_take_outcome(payload, call, &failure), flags == 0);
        mishap_buffer_release(&out);
    }
    mishap_call_end(call);
}

static void a_failure_comes_in_one_of_three_ways(void **state)
{
    mishap *m = mishap_raise(INTERNAL_ERROR, "Broken."), *failure;
    mishap_call *call;
    (void)state;
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    for (char how = 1; how < 6; how++) {
        mishap_buffer out = { 0 };
        mishap_frame_put_outcome(&out, 0, call, m);
        out.data[MISHAP_FRAME_HEAD] = how;
        mishap_text payload = { out.data + MISHAP_FRAME_HEAD, out.length - MISHAP_FRAME_HEAD };
        assert_int_equal(mishap_frame_take_outcome(payload, call, &failure), how < 4);
        assert_int_equal(failure != NULL, how < 4);
        assert_int_equal(call->ended, how == 2);
        assert_int_equal(call->lost, how > 2); /* it stays as it was if this is refused */
        mishap_free(failure);
        mishap_buffer_release(&out);
    }
    mishap_call_end(call);
    mishap_free(m);
}

/* -- frames with all that they may have -------------------------------------------------------- */

static mishap_text payload_of(const mishap_buffer *out)
{
    mishap_framed frame;
    size_t size;
    assert_false(out->failed);
    assert_int_equal(mishap_frame_read(mishap_buffer_text(out), &frame, &size), MISHAP_FRAME_WHOLE);
    assert_int_equal(size, out->length);
    return frame.payload;
}

static bool is_text(mishap_text text, const char *expected)
{
    return expected ? mishap_text_equal(text, mishap_text_of(expected)) : !text.data;
}

static void pass_progress(const mishap_watcher *w, double done, double total, mishap_text words)
{
    (void)w, (void)done, (void)total, (void)words;
}

static void pass_log(const mishap_watcher *w, mishap_level level, mishap_text words)
{
    (void)w, (void)level, (void)words;
}

static bool pass_piece(const mishap_watcher *w, mishap_text piece)
{
    (void)w, (void)piece;
    return true;
}

static void pass_mark(const mishap_watcher *w, mishap_text mark)
{
    (void)w, (void)mark;
}

/* Each part is there or not, independently of the others. */
static void a_call_arrives_with_all_that_it_has(void **state)
{
    mishap_call *call;
    (void)state;
    assert_null(mishap_call_begin(&app, &operations[1], T("{}"), &call));
    for (unsigned parts = 0; parts < 4096; parts++) {
        mishap_buffer out = { 0 };
        mishap_frame_call taken;
        const char *caller = parts & 1 ? "a caller" : NULL, *type = parts & 2 ? "text/x" : NULL,
                   *cursor = parts & 4 ? "a cursor" : NULL, *id = parts & 8 ? "an id" : NULL;
        mishap_watcher watcher = { .progress = parts & 16 ? pass_progress : NULL,
                                   .log = parts & 32 ? pass_log : NULL,
                                   .piece = parts & 64 ? pass_piece : NULL,
                                   .mark = parts & 1024 ? pass_mark : NULL };
        call->caller = caller;
        call->body_type = type;
        call->body = type ? T("a \0 body") : (mishap_text){ NULL, 0 };
        call->cursor = cursor;
        call->id = id ? mishap_text_of(id) : (mishap_text){ NULL, 0 };
        call->watcher = &watcher;
        call->verbose = parts & 128;
        call->repeated = parts & 256;
        call->caller_is_free = parts & 512;
        call->mark = parts & 2048 ? T("a mark") : (mishap_text){ NULL, 0 };
        call->boundary = MISHAP_BY_MCP;
        call->request_id = T("a request");
        call->remote = T("an address");
        call->headers = T("-\n");
        mishap_frame_put_call(&out, 3, 77, call, 200);
        assert_true(mishap_frame_take_call(payload_of(&out), &taken));
        assert_int_equal(taken.number, 77);
        assert_int_equal(taken.operation, 1);
        assert_int_equal(taken.limit_ms, 200);
        assert_true(is_text(taken.caller, caller) && is_text(taken.body_type, type) &&
                    is_text(taken.cursor, cursor) && is_text(taken.id, id));
        assert_true(mishap_text_equal(taken.body, call->body));
        assert_int_equal(taken.wants_progress, (parts & 16) && !(parts & 256));
        assert_int_equal(taken.wants_log, (parts & 32) != 0);
        assert_int_equal(taken.wants_pieces, (parts & 64) != 0);
        assert_int_equal(taken.verbose, (parts & 128) != 0);
        assert_int_equal(taken.repeated, (parts & 256) != 0);
        assert_int_equal(taken.caller_is_free, (parts & 512) != 0);
        assert_int_equal(taken.wants_marks, (parts & 1024) != 0);
        assert_true(is_text(taken.mark, (parts & 3072) == 3072 ? "a mark" : NULL));
        assert_true(!taken.mark.data || !taken.mark.data[taken.mark.length]);
        assert_int_equal(taken.boundary, MISHAP_BY_MCP);
        assert_true(is_text(taken.request_id, "a request") && is_text(taken.remote, "an address") &&
                    is_text(taken.headers, "-\n") && is_text(taken.arguments, "{}"));
        mishap_buffer_release(&out);
    }
    call->caller = call->cursor = call->body_type = NULL;
    call->watcher = NULL;
    mishap_call_end(call);
}

/* A worker reads it as a string, and another process has written it. */
static void a_mark_in_a_frame_is_a_string_with_an_end(void **state)
{
    static const mishap_watcher watcher = { .mark = pass_mark };
    static char longest[MISHAP_MARK_LIMIT + 2];
    mishap_buffer out = { 0 };
    mishap_frame_call taken;
    mishap_call *call;
    (void)state;
    memset(longest, 'x', sizeof longest - 1);
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    call->watcher = &watcher;
    call->mark = T("a mark");
    mishap_frame_put_call(&out, 0, 1, call, 0);
    char *end = memmem(out.data, out.length, "a mark", 7);
    assert_non_null(end);
    end[6] = '!';
    assert_false(mishap_frame_take_call(payload_of(&out), &taken));
    end[6] = '\0';
    assert_true(mishap_frame_take_call(payload_of(&out), &taken));
    end[1] = '\0';
    assert_false(mishap_frame_take_call(payload_of(&out), &taken));
    end[1] = '\xFF';
    assert_false(mishap_frame_take_call(payload_of(&out), &taken));
    for (size_t more = 0; more < 2; more++) {
        longest[MISHAP_MARK_LIMIT + more] = '\0';
        call->mark = (mishap_text){ longest, MISHAP_MARK_LIMIT + more };
        mishap_buffer_reset(&out);
        mishap_frame_put_call(&out, 0, 1, call, 0);
        assert_int_equal(mishap_frame_take_call(payload_of(&out), &taken), !more);
        longest[MISHAP_MARK_LIMIT + more] = 'x';
    }
    call->watcher = NULL;
    mishap_call_end(call);
    mishap_buffer_release(&out);
}

/* One byte of a text is NUL: what follows it would be lost. */
static bool spoil(const mishap_buffer *out, const char *text)
{
    char *at = memmem(out->data, out->length, text, strlen(text));
    assert_non_null(at);
    char before = at[1];
    at[1] = '\0';
    mishap_frame_call taken;
    mishap_call *call;
    mishap *failure;
    bool is_call = out->data[4] == MISHAP_FRAME_CALL;
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    bool refused = is_call ? !mishap_frame_take_call(payload_of(out), &taken)
                           : !mishap_frame_take_outcome(payload_of(out), call, &failure);
    mishap_call_end(call);
    at[1] = before;
    return refused;
}

static void text_in_a_frame_has_no_byte_that_would_end_it(void **state)
{
    static const char *const of_call[] = { "a caller", "text/x",     "a cursor", "an id",
                                           "request",  "an address", "a header" },
                             *const of_answer[] = { "place://1", "text/y", "thing://7", "at 12" };
    mishap_buffer out = { 0 };
    mishap_call *call;
    (void)state;
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    call->caller = "a caller";
    call->body_type = "text/x";
    call->body = T("a body");
    call->cursor = "a cursor";
    call->id = T("an id");
    call->request_id = T("request");
    call->remote = T("an address");
    call->headers = T("+a header\n");
    mishap_frame_put_call(&out, 0, 1, call, 0);
    for (size_t i = 0; i < sizeof of_call / sizeof *of_call; i++)
        if (!spoil(&out, of_call[i]))
            fail_msg("%s", of_call[i]);
    assert_false(spoil(&out, "a body"));
    call->caller = call->body_type = call->cursor = NULL;
    mishap_call_end(call);
    mishap_buffer_reset(&out);
    mishap_call answer = { .answer_kind = MISHAP_ANSWER_BYTES,
                           .location = "place://1",
                           .answer_type = "text/y",
                           .resumed_by = "thing://7",
                           .cursor = "at 12" };
    mishap_frame_put_outcome(&out, 0, &answer, NULL);
    for (size_t i = 0; i < sizeof of_answer / sizeof *of_answer; i++)
        if (!spoil(&out, of_answer[i]))
            fail_msg("%s", of_answer[i]);
    mishap_buffer_release(&out);
}

static void an_answer_arrives_with_all_that_it_has(void **state)
{
    (void)state;
    for (unsigned parts = 0; parts < 32; parts++) {
        mishap_buffer out = { 0 };
        mishap_call *call, answer = { .answer_kind = MISHAP_ANSWER_JSON,
                                      .status = 201,
                                      .listed = 3,
                                      .total = 5,
                                      .content = parts & 1,
                                      .location = parts & 2 ? "place://1" : NULL,
                                      .answer_type = parts & 4 ? "text/y" : NULL,
                                      .resumed_by = parts & 8 ? "thing://7" : NULL,
                                      .cursor = parts & 8 ? "at 12" : NULL };
        mishap *failure;
        MISHAP_PUT(&answer.answer, "{\"n\":1}");
        MISHAP_PUT(&answer.warnings, "\"careful\"");
        if (parts & 16)
            MISHAP_PUT(&answer.text, "one \xFF"); /* no UTF-8: it is made to be some */
        assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
        MISHAP_PUT(&call->text, "of an earlier answer");
        mishap_frame_put_outcome(&out, 2, &answer, NULL);
        assert_true(mishap_frame_take_outcome(payload_of(&out), call, &failure));
        assert_null(failure);
        assert_int_equal(call->answer_kind, MISHAP_ANSWER_JSON);
        assert_int_equal(call->status, 201);
        assert_int_equal(call->listed, 3);
        assert_int_equal(call->total, 5);
        assert_int_equal(call->content, parts & 1);
        assert_true(is_text(mishap_text_of(call->location), answer.location) &&
                    is_text(mishap_text_of(call->answer_type), answer.answer_type) &&
                    is_text(mishap_text_of(call->resumed_by), answer.resumed_by) &&
                    is_text(mishap_text_of(call->cursor), answer.cursor));
        assert_true(is_text(mishap_buffer_text(&call->answer), "{\"n\":1}"));
        assert_true(is_text(mishap_buffer_text(&call->warnings), "\"careful\""));
        assert_int_equal(call->text.length, parts & 16 ? strlen("one \xEF\xBF\xBD") : 0);
        if (parts & 16)
            assert_memory_equal(call->text.data, "one \xEF\xBF\xBD", call->text.length);
        mishap_call_end(call);
        mishap_buffer_release(&out);
        mishap_buffer_release(&answer.answer);
        mishap_buffer_release(&answer.warnings);
        mishap_buffer_release(&answer.text);
    }
}

/* Either all of it, or the failure that says so. */
static void an_answer_without_memory_is_never_a_part_of_it(void **state)
{
    mishap_buffer out = { 0 };
    bool whole = false;
    static char room[4][20000]; /* each is more than a call has room for without memory */
    for (size_t i = 0; i < 4; i++)
        memset(room[i], 'a' + (int)i, sizeof room[i] - 1);
    mishap_call answer = { .answer_kind = MISHAP_ANSWER_JSON,
                           .location = room[0],
                           .answer_type = room[1],
                           .resumed_by = room[2],
                           .cursor = room[3] };
    (void)state;
    MISHAP_PUT(&answer.answer, "[");
    for (size_t i = 0; i < 5000; i++)
        MISHAP_PUT(&answer.answer, "1,");
    MISHAP_PUT(&answer.answer, "1]");
    for (size_t i = 0; i < 5000; i++)
        MISHAP_PUT(&answer.text, "one \xFF");
    MISHAP_PUT(&answer.warnings, "\"careful\"");
    mishap_frame_put_outcome(&out, 0, &answer, NULL);
    for (size_t allowed = 1; !whole && allowed < 1000; allowed++) {
        mishap_call *call;
        mishap *failure;
        assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
        mishap_use_allocator(&failing_allocator);
        calls = 0;
        fail_at = allowed;
        fail_once = true;
        bool taken = mishap_frame_take_outcome(payload_of(&out), call, &failure);
        whole = taken && !failure;
        fail_at = 0;
        fail_once = false;
        if (whole) {
            assert_int_equal(call->answer.length, answer.answer.length);
            assert_int_equal(call->text.length, 5000 * strlen("one \xEF\xBF\xBD"));
            assert_int_equal(call->warnings.length, answer.warnings.length);
            assert_true(is_text(mishap_text_of(call->location), room[0]) &&
                        is_text(mishap_text_of(call->answer_type), room[1]) &&
                        is_text(mishap_text_of(call->resumed_by), room[2]) &&
                        is_text(mishap_text_of(call->cursor), room[3]));
        }
        mishap_free(failure);
        mishap_call_end(call);
        mishap_use_allocator(NULL);
    }
    assert_true(whole);
    mishap_buffer_release(&out);
    mishap_buffer_release(&answer.answer);
    mishap_buffer_release(&answer.text);
    mishap_buffer_release(&answer.warnings);
}

static void progress_arrives_with_words_or_without(void **state)
{
    static const char *const rows[] = { NULL, "", "half of it" };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        mishap_buffer out = { 0 };
        double done, total;
        mishap_text words;
        mishap_frame_put_progress(&out, 1, 0.5, 2, mishap_text_of(rows[i]));
        mishap_text payload = payload_of(&out);
        assert_true(mishap_frame_take_progress(payload, &done, &total, &words));
        assert_true(done == 0.5 && total == 2 && is_text(words, rows[i]));
        payload.length--;
        assert_false(mishap_frame_take_progress(payload, &done, &total, &words));
        out.data[MISHAP_FRAME_HEAD + 16] = 2; /* neither with nor without */
        assert_false(mishap_frame_take_progress(payload_of(&out), &done, &total, &words));
        mishap_buffer_release(&out);
    }
}

static void an_identity_is_as_long_as_may_be_and_not_one_byte_more(void **state)
{
    char longest[MISHAP_IDENTITY_LIMIT + 1], room[MISHAP_IDENTITY_LIMIT];
    (void)state;
    memset(longest, 'x', sizeof longest);
    for (size_t length = MISHAP_IDENTITY_LIMIT - 1; length <= MISHAP_IDENTITY_LIMIT; length++) {
        mishap_buffer out = { 0 };
        mishap *failure;
        const char *identity;
        bool fits = length < MISHAP_IDENTITY_LIMIT;
        longest[length] = '\0';
        mishap_frame_put_opened(&out, longest, NULL);
        assert_int_equal(mishap_frame_take_opened(payload_of(&out), room, &failure), fits);
        assert_string_equal(room, fits ? longest : "");
        mishap_buffer_reset(&out);
        mishap_frame_put_open(&out, longest);
        assert_int_equal(mishap_frame_take_open(payload_of(&out), room, &identity), fits);
        assert_string_equal(room, fits ? longest : "");
        mishap_buffer_release(&out);
        longest[length] = 'x';
    }
}

static void a_frame_that_there_is_no_memory_for_is_not_begun(void **state)
{
    mishap_buffer out = { 0 };
    (void)state;
    MISHAP_PUT(&out, "before");
    size_t begun = mishap_frame_begin(&out, MISHAP_FRAME_DONE, 0);
    out.failed = true;
    mishap_frame_end(&out, begun);
    assert_true(out.failed);
    assert_true(is_text((mishap_text){ out.data, out.length }, "before"));
    mishap_buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_frame_is_as_long_as_may_be_and_not_one_byte_more),
        TEST(an_outcome_is_checked_at_its_bounds),
        TEST(an_outcome_has_a_position_in_the_log),
        TEST(a_call_says_what_it_must_see),
        TEST(a_log_message_has_a_level_that_exists),
        TEST(flags_that_do_not_exist_are_refused),
        TEST(a_failure_comes_in_one_of_three_ways),
        TEST(a_call_arrives_with_all_that_it_has),
        TEST(a_mark_in_a_frame_is_a_string_with_an_end),
        TEST(text_in_a_frame_has_no_byte_that_would_end_it),
        TEST(an_answer_arrives_with_all_that_it_has),
        TEST(an_answer_without_memory_is_never_a_part_of_it),
        TEST(progress_arrives_with_words_or_without),
        TEST(an_identity_is_as_long_as_may_be_and_not_one_byte_more),
        TEST(a_frame_that_there_is_no_memory_for_is_not_begun),
    };
    return RUN(tests);
}
