/* Lines out of bytes that come in any pieces, and messages into one write. */
#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "mcp/transport/lines.h"

struct ends {
    int to, from; /* of the lines: what is written to `to` is read as input, output comes `from` */
    mishap_mcp_lines lines;
};

static void open_ends(struct ends *e)
{
    int in[2], out[2];
    assert_int_equal(pipe(in) | pipe(out), 0);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    *e = (struct ends){ .to = in[1], .from = out[0], .lines = { .in = in[0], .out = out[1] } };
    assert_true(mishap_mcp_lines_open(&e->lines));
}

static void close_ends(struct ends *e)
{
    mishap_mcp_lines_release(&e->lines);
    close(e->lines.in);
    close(e->lines.out);
    close(e->from);
    if (e->to >= 0)
        close(e->to);
}

static void feed(struct ends *e, const char *bytes, size_t length)
{
    assert_int_equal(write(e->to, bytes, length), length);
    mishap_mcp_lines_read(&e->lines);
}

static void end_input(struct ends *e)
{
    close(e->to);
    e->to = -1;
    mishap_mcp_lines_read(&e->lines);
    assert_true(e->lines.ended);
}

static void assert_line(struct ends *e, const char *expected)
{
    mishap_text line;
    assert_int_equal(mishap_mcp_lines_next(&e->lines, &line), MISHAP_MCP_LINE);
    assert_int_equal(line.length, strlen(expected));
    assert_memory_equal(line.data, expected, line.length);
}

static void assert_none(struct ends *e)
{
    mishap_text line;
    assert_int_equal(mishap_mcp_lines_next(&e->lines, &line), MISHAP_MCP_NO_LINE);
}

/* -- in ---------------------------------------------------------------------------------------- */

static void lines_come_whole_whatever_the_pieces(void **state)
{
    static const char text[] = "one\n\n \t\r\ntwo\r\nthree\n";
    struct ends e;
    (void)state;
    for (size_t cut = 1; cut < sizeof text - 1; cut++) {
        mishap_buffer all = { 0 };
        mishap_text line;
        open_ends(&e);
        for (int half = 0; half < 2; half++) {
            feed(&e, half ? text + cut : text, half ? sizeof text - 1 - cut : cut);
            while (mishap_mcp_lines_next(&e.lines, &line) == MISHAP_MCP_LINE) {
                mishap_buffer_put_text(&all, line);
                mishap_buffer_put_char(&all, '|');
            }
        }
        assert_true(mishap_text_equal(mishap_buffer_text(&all), T("one|two\r|three|")));
        mishap_buffer_release(&all);
        close_ends(&e);
    }
}

static void what_is_left_at_the_end_is_a_line(void **state)
{
    struct ends e;
    (void)state;
    open_ends(&e);
    feed(&e, "one\ntwo", 7);
    assert_line(&e, "one");
    assert_none(&e);
    end_input(&e);
    assert_line(&e, "two");
    assert_none(&e);
    close_ends(&e);
}

/* Pieces of a line that never seems to end. */
static void feed_long(struct ends *e, size_t length)
{
    static char piece[32 * 1024];
    memset(piece, 'x', sizeof piece);
    for (mishap_text line; length; length -= sizeof piece) {
        feed(e, piece, sizeof piece);
        if (length > sizeof piece)
            assert_int_equal(mishap_mcp_lines_next(&e->lines, &line), MISHAP_MCP_NO_LINE);
    }
}

static void a_line_may_have_the_limit_and_no_byte_more(void **state)
{
    struct ends e;
    mishap_text line;
    (void)state;
    open_ends(&e);
    feed_long(&e, MISHAP_MCP_LINE_LIMIT);
    feed(&e, "\nnext\n", 6);
    assert_int_equal(mishap_mcp_lines_next(&e.lines, &line), MISHAP_MCP_LINE);
    assert_int_equal(line.length, MISHAP_MCP_LINE_LIMIT);
    assert_line(&e, "next");
    assert_none(&e);
    feed_long(&e, MISHAP_MCP_LINE_LIMIT);
    assert_none(&e);
    feed(&e, "x\nnext\n", 7);
    assert_int_equal(mishap_mcp_lines_next(&e.lines, &line), MISHAP_MCP_LONG_LINE);
    assert_line(&e, "next");
    assert_none(&e);
    feed(&e, "small\n", 6);
    assert_true(e.lines.capacity < MISHAP_MCP_LINE_KEPT); /* what it took is given back */
    close_ends(&e);
}

static void a_longer_line_is_told_once_and_skipped(void **state)
{
    struct ends e;
    mishap_text line;
    (void)state;
    open_ends(&e);
    feed_long(&e, MISHAP_MCP_LINE_LIMIT);
    assert_none(&e);
    feed(&e, "x", 1);
    assert_int_equal(mishap_mcp_lines_next(&e.lines, &line), MISHAP_MCP_LONG_LINE);
    assert_none(&e);
    feed_long(&e, 4 << 20);
    assert_none(&e);
    feed(&e, "x\nnext\n", 7);
    assert_line(&e, "next");
    assert_none(&e);
    close_ends(&e);
}

static void a_line_without_memory_is_told_once_and_skipped(void **state)
{
    static char piece[32 * 1024];
    struct ends e;
    mishap_text line;
    (void)state;
    memset(piece, 'x', sizeof piece);
    mishap_use_allocator(&failing_allocator);
    calls = 0;
    fail_once = false;
    open_ends(&e);
    fail_at = calls + 1;
    for (int i = 0; i < 2; i++) {
        feed(&e, piece, sizeof piece);
        assert_none(&e);
    }
    mishap_mcp_lines_read(&e.lines); /* there is no room, so it does not wait */
    assert_int_equal(mishap_mcp_lines_next(&e.lines, &line), MISHAP_MCP_FORGOTTEN_LINE);
    assert_none(&e);
    feed(&e, "rest\nnext\n", 10);
    assert_line(&e, "next");
    fail_at = 0;
    close_ends(&e);
    assert_int_equal(blocks, 0);
    mishap_use_allocator(NULL);
}

/* -- out --------------------------------------------------------------------------------------- */

static void say(struct ends *e, const char *text)
{
    mishap_buffer *b = e->lines.channel.begin(&e->lines.channel, MISHAP_MCP_RESPONSE);
    mishap_buffer_put_text(b, mishap_text_of(text));
    e->lines.channel.end(&e->lines.channel, MISHAP_MCP_RESPONSE);
}

static void messages_wait_for_one_write(void **state)
{
    struct ends e;
    char got[100] = "";
    (void)state;
    open_ends(&e);
    say(&e, "{1}");
    say(&e, "{2}");
    assert_int_equal(read(e.from, got, sizeof got), -1);
    mishap_mcp_lines_write(&e.lines);
    assert_int_equal(read(e.from, got, sizeof got), 8);
    assert_memory_equal(got, "{1}\n{2}\n", 8);
    mishap_mcp_lines_write(&e.lines);
    assert_int_equal(read(e.from, got, sizeof got), -1);
    close_ends(&e);
}

static void a_reader_that_left_is_noticed(void **state)
{
    struct ends e;
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    open_ends(&e);
    close(e.from);
    e.from = dup(e.to);
    say(&e, "{1}");
    mishap_mcp_lines_write(&e.lines);
    assert_true(e.lines.gone);
    close_ends(&e);
}

static void a_message_without_memory_becomes_a_last_word(void **state)
{
    struct ends e;
    char got[500] = "", *large = malloc(100000);
    (void)state;
    memset(large, 'y', 99999);
    large[99999] = '\0';
    mishap_use_allocator(&failing_allocator);
    calls = 0;
    fail_once = false;
    open_ends(&e);
    fail_at = calls + 1;
    say(&e, "{1}");
    say(&e, large);
    say(&e, "{2}");
    mishap_mcp_lines_write(&e.lines);
    ssize_t length = read(e.from, got, sizeof got - 1);
    assert_true(length > 0);
    assert_string_equal(got,
                        "{1}\n{\"jsonrpc\":\"2.0\",\"error\":" MISHAP_MCP_LAST_ERROR "}\n{2}\n");
    fail_at = 0;
    close_ends(&e);
    mishap_use_allocator(NULL);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lines_come_whole_whatever_the_pieces),
        TEST(what_is_left_at_the_end_is_a_line),
        TEST(a_line_may_have_the_limit_and_no_byte_more),
        TEST(a_longer_line_is_told_once_and_skipped),
        TEST(a_line_without_memory_is_told_once_and_skipped),
        TEST(messages_wait_for_one_write),
        TEST(a_reader_that_left_is_noticed),
        TEST(a_message_without_memory_becomes_a_last_word),
    };
    return RUN(tests);
}
