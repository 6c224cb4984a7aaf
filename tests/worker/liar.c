/*
 * A worker that lies, in the way that its argument says; `honest` does not. The keeper executes it:
 * its socket is descriptor 16, its page 17.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mishap/carry.h"
#include "worker/wire/frame.h"
#include "worker/wire/page.h"

enum { SOCKET = 16, PAGE = 17, MS = 1000 };

static mishap_worker_page *page;
static unsigned slot;
static uint32_t number;

/* -- words ------------------------------------------------------------------------------------- */

static void say(const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size) {
        ssize_t sent = send(SOCKET, at, size, MSG_NOSIGNAL);
        if (sent <= 0)
            for (;;) /* it lives until it is killed */
                pause();
        at += sent;
        size -= (size_t)sent;
    }
}

static void say_buffer(mishap_buffer *b)
{
    say(b->data, b->length);
    mishap_buffer_release(b);
}

static void say_head(uint32_t length, unsigned type, unsigned of_slot)
{
    mishap_buffer b = { 0 };
    mishap_pack_u32(&b, length);
    mishap_pack_u32(&b, type | of_slot << 16);
    say_buffer(&b);
}

static void take_call(void)
{
    static char bytes[1 << 20];
    static size_t length;
    mishap_framed frame;
    mishap_frame_call asked;
    size_t size;
    mishap_text text = { bytes, length };
    while (mishap_frame_read(text, &frame, &size) != MISHAP_FRAME_WHOLE) {
        ssize_t got = recv(SOCKET, bytes + length, sizeof bytes - length, 0);
        if (got <= 0)
            _exit(0);
        length += (size_t)got;
        text.length = length;
    }
    if (!mishap_frame_take_call(frame.payload, &asked))
        _exit(2);
    slot = frame.slot;
    number = asked.number;
    memmove(bytes, bytes + size, length - size);
    length -= size;
}

static void begin(void)
{
    atomic_store(&page->begun_ns, mishap_clock_monotonic_ns());
    mishap_slot_change(page, slot, number, MISHAP_SLOT_HANDED, MISHAP_SLOT_BEGUN);
}

static void finish(void)
{
    mishap_slot_change(page, slot, number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_DONE);
}

static void put_answer(mishap_buffer *out, unsigned of_slot, const char *json)
{
    mishap_call call = { .answer_kind = MISHAP_ANSWER_JSON };
    mishap_buffer_put_text(&call.answer, mishap_text_of(json));
    mishap_frame_put_outcome(out, of_slot, &call, NULL);
    mishap_buffer_release(&call.answer);
}

static void answer(unsigned of_slot, const char *json)
{
    mishap_buffer out = { 0 };
    put_answer(&out, of_slot, json);
    say_buffer(&out);
}

/* -- ways to lie: the call has been read, and has not begun ------------------------------------ */

static void be_honest(void)
{
    for (;;) {
        begin();
        finish();
        answer(slot, "{\"honest\":1}");
        take_call();
    }
}

static void length_of_4_gb(void)
{
    begin();
    say_head(UINT32_MAX, MISHAP_FRAME_DONE, slot);
}

static void length_of_300_mb(void)
{
    begin();
    say_head(300 << 20, MISHAP_FRAME_DONE, slot);
}

static void unknown_type(void)
{
    begin();
    say_head(0, 77, slot);
}

static void frame_of_a_loop(void)
{
    begin();
    say_head(0, MISHAP_FRAME_CALL, slot);
}

static void opened_in_between(void)
{
    begin();
    say_head(0, MISHAP_FRAME_OPENED, slot);
}

static void slot_it_does_not_have(void)
{
    begin();
    finish();
    answer(slot + 1, "{}");
}

static void slot_32(void)
{
    begin();
    finish();
    answer(32, "{}");
}

static void slot_65535(void)
{
    begin();
    say_head(0, MISHAP_FRAME_PIECE, 65535);
}

static void twice_the_same(void)
{
    mishap_buffer out = { 0 };
    begin();
    finish();
    put_answer(&out, slot, "{\"honest\":1}");
    put_answer(&out, slot, "{\"honest\":1}");
    say_buffer(&out);
}

static void before_it_began(void)
{
    answer(slot, "{}");
}

static void while_it_runs(void)
{
    begin();
    answer(slot, "{}");
}

static void progress_before_it_began(void)
{
    mishap_buffer out = { 0 };
    mishap_frame_put_progress(&out, slot, 1, 2, (mishap_text){ NULL, 0 });
    say_buffer(&out);
}

static void broken_json(void)
{
    begin();
    finish();
    answer(slot, "{\"a\":");
}

static void line_feed_in_json(void)
{
    begin();
    finish();
    answer(slot, "{\n}");
}

static void carriage_return_in_json(void)
{
    begin();
    finish();
    answer(slot, "{\r}");
}

static void text_for_json(void)
{
    begin();
    finish();
    answer(slot, "\"text\"");
}

static void code_that_does_not_exist(void)
{
    mishap_buffer out = { 0 };
    mishap *m = mishap_raise(NOT_FOUND, "Gone.");
    mishap_call call = { .answer_kind = MISHAP_ANSWER_NOTHING };
    begin();
    finish();
    mishap_frame_put_outcome(&out, slot, &call, m);
    char *name = memmem(out.data, out.length, "NOT_FOUND", 9);
    if (name)
        memcpy(name, "NOT_KNOWN", 9);
    say_buffer(&out);
    mishap_free(m);
}

static void outcome_of_no_kind(void)
{
    begin();
    finish();
    say_head(1, MISHAP_FRAME_DONE, slot);
    say("\t", 1);
}

static void garbage(void)
{
    char bytes[4096];
    begin();
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(rand() >> 7);
    say(bytes, sizeof bytes);
}

static void endless_progress(void)
{
    begin();
    for (;;) {
        mishap_buffer out = { 0 };
        for (int i = 0; i < 1000; i++)
            mishap_frame_put_progress(&out, slot, 1, 2, mishap_text_of("on and on"));
        say_buffer(&out);
    }
}

static void endless_answer(void)
{
    char bytes[1000] = { 0 };
    begin();
    say_head(250 << 20, MISHAP_FRAME_DONE, slot);
    for (;;) {
        say(bytes, sizeof bytes);
        usleep(MS);
    }
}

static void endless_answer_when_done(void)
{
    begin();
    finish();
    say_head(250 << 20, MISHAP_FRAME_DONE, slot);
    for (;;) {
        say("x", 1);
        usleep(MS);
    }
}

static void half_a_frame(void)
{
    begin();
    say_head(100, MISHAP_FRAME_DONE, slot);
    say("half", 4);
}

static void half_a_frame_before_it_began(void)
{
    say_head(100, MISHAP_FRAME_DONE, slot);
    say("half", 4);
}

static void half_a_frame_and_exit(void)
{
    begin();
    say_head(100, MISHAP_FRAME_DONE, slot);
    say("half", 4);
    _exit(0);
}

static void close_socket(void)
{
    begin();
    close(SOCKET);
}

static void done_without_an_answer(void)
{
    begin();
    finish();
}

static void begin_and_deny_it(void)
{
    begin();
    usleep(3000 * MS); /* the loop has seen it by now, however busy the machine */
    atomic_store(&page->slots[slot], mishap_slot_word(number, MISHAP_SLOT_HANDED));
}

static void kill_itself_in_the_page(void)
{
    begin();
    atomic_store(&page->slots[slot], mishap_slot_word(number, MISHAP_SLOT_KILLED));
}

static void scribble(void)
{
    for (;;) {
        unsigned *words = (unsigned *)(void *)page;
        for (size_t i = 0; i < sizeof *page / sizeof *words; i++)
            ((volatile unsigned *)words)[i] = (unsigned)rand() << 16 ^ (unsigned)rand();
    }
}

/* The loop that looks at a page without memory would die of SIGBUS. */
static void shrink_the_page(void)
{
    begin();
    if (ftruncate(PAGE, 0) == 0)
        close_socket();
}

static void say_nothing(void)
{
}

static const struct {
    const char *name;
    void (*lie)(void);
} ways[] = {
    { "honest", be_honest },
    { "length_of_4_gb", length_of_4_gb },
    { "length_of_300_mb", length_of_300_mb },
    { "unknown_type", unknown_type },
    { "frame_of_a_loop", frame_of_a_loop },
    { "opened_in_between", opened_in_between },
    { "slot_it_does_not_have", slot_it_does_not_have },
    { "slot_32", slot_32 },
    { "slot_65535", slot_65535 },
    { "twice_the_same", twice_the_same },
    { "before_it_began", before_it_began },
    { "while_it_runs", while_it_runs },
    { "progress_before_it_began", progress_before_it_began },
    { "broken_json", broken_json },
    { "line_feed_in_json", line_feed_in_json },
    { "carriage_return_in_json", carriage_return_in_json },
    { "text_for_json", text_for_json },
    { "code_that_does_not_exist", code_that_does_not_exist },
    { "outcome_of_no_kind", outcome_of_no_kind },
    { "garbage", garbage },
    { "endless_progress", endless_progress },
    { "endless_answer", endless_answer },
    { "endless_answer_when_done", endless_answer_when_done },
    { "half_a_frame", half_a_frame },
    { "half_a_frame_before_it_began", half_a_frame_before_it_began },
    { "half_a_frame_and_exit", half_a_frame_and_exit },
    { "close_socket", close_socket },
    { "done_without_an_answer", done_without_an_answer },
    { "begin_and_deny_it", begin_and_deny_it },
    { "kill_itself_in_the_page", kill_itself_in_the_page },
    { "scribble", scribble },
    { "shrink_the_page", shrink_the_page },
    { "never_begin", say_nothing },
};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, PAGE, 0);
    if (page == MAP_FAILED)
        return 2;
    if (strcmp(name, "deaf") == 0)
        for (;;)
            pause();
    take_call();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, name) == 0)
            ways[i].lie();
    for (;;)
        pause();
}
