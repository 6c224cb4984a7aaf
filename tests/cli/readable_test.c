/* Answers for people: columns of text, tables, names and values, the next page, progress. */
#include "testing.h"

#include "cli/screen/progress.h"
#include "cli/screen/readable.h"

static const mishap_cli_asked nobody = { 0 };

/* -- columns ----------------------------------------------------------------------------------- */

static void characters_take_the_columns_that_unicode_says(void **state)
{
    (void)state;
    static const struct {
        uint32_t character;
        size_t width;
    } rows[] = {
        { 'a', 1 },     { 0xE9, 1 },    { 0xAD, 1 },    { 0x300, 0 },   { 0x36F, 0 },
        { 0x370, 1 },   { 0x200B, 0 },  { 0x200D, 0 },  { 0xFE0F, 0 },  { 0x1100, 2 },
        { 0x1160, 0 },  { 0x4E00, 2 },  { 0x3042, 2 },  { 0xAC00, 2 },  { 0xFF21, 2 },
        { 0xFF61, 1 },  { 0x1F600, 2 }, { 0x1F1E9, 1 }, { 0x2026, 1 },  { 0x2588, 1 },
        { 0x20000, 2 }, { 0x3FFFD, 2 }, { 0x40000, 1 }, { 0xE0100, 0 }, { 0x10FFFF, 1 },
        { 0x600, 1 },   { 0x6DD, 1 },   { 0x61C, 0 },   { 0x110BD, 1 }, { 0xD7B0, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (mishap_cli_char_width(rows[i].character) != rows[i].width)
            fail_msg("U+%04X takes %zu columns", (unsigned)rows[i].character,
                     mishap_cli_char_width(rows[i].character));
}

static void assert_shown(const char *text, size_t most, mishap_cli_lines lines,
                         const char *expected, size_t columns)
{
    mishap_buffer out = { 0 };
    MISHAP_PUT(&out, ">"); /* what stands before it stays */
    size_t width = mishap_cli_put_shown(&out, mishap_text_of(text), most, lines);
    mishap_buffer_put_char(&out, '\0');
    assert_string_equal(out.data + 1, expected);
    assert_int_equal(out.data[0], '>');
    assert_int_equal(width, columns);
    if (lines == MISHAP_CLI_ONE_LINE)
        assert_int_equal(mishap_cli_width(mishap_text_of(expected)), columns);
    mishap_buffer_release(&out);
}

#define ONE(text, most, expected, columns)                                                         \
    assert_shown((text), (most), MISHAP_CLI_ONE_LINE, (expected), (columns))
#define ALL(text, expected, columns)                                                               \
    assert_shown((text), MISHAP_CLI_ANY_WIDTH, MISHAP_CLI_ALL_LINES, (expected), (columns))

static void text_is_cut_between_characters(void **state)
{
    (void)state;
    ONE("", 5, "", 0);
    ONE("hello", 5, "hello", 5);
    ONE("hello!", 5, "hell…", 5);
    ONE("hello", 1, "…", 1);
    ONE("hello", 0, "", 0);
    ONE("grüße", 4, "grü…", 4);
    ONE("山田太郎", 8, "山田太郎", 8);
    ONE("山田太郎", 7, "山田太…", 7);
    ONE("山田太郎", 6, "山田…", 5); /* half a character is not there */
    ONE("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301", 3);
    ONE("e\u0301e\u0301e\u0301", 2, "e\u0301…", 2);
    ONE("ab\u0301", 2, "ab\u0301", 2);
}

static void nothing_is_shown_that_a_terminal_acts_on(void **state)
{
    (void)state;
    ONE("a\x1b[31mb\x07\x7f", 20, "a?[31mb??", 9);
    ONE("a\xc2\x9b"
        "31mb",
        20, "a?31mb", 6);
    ONE("a\n\t b\r\nc", 20, "a b c", 5);
    ONE("a\u2028b\u202Ec\u2066d\u200F", 20, "a b?c?d?", 8);
    ONE("a\xff\xc3"
        "b\xe5\xb1",
        20, "a??b??", 6);
    ALL("a\r\nb\tc\rd\x1b", "a\nb    c d?", 10);
    ALL("\n\n\n\n\n\n\n\n\n\n\nx", "\n\n\n\n\n\n\n\n\n\n\nx", 1);
}

static void marks_do_not_pile_up_without_end(void **state)
{
    (void)state;
    mishap_buffer in = { 0 }, out = { 0 };
    MISHAP_PUT(&in, "a");
    for (int i = 0; i < 1000; i++)
        MISHAP_PUT(&in, "\u0301");
    MISHAP_PUT(&in, "b");
    assert_int_equal(mishap_cli_put_shown(&out, mishap_buffer_text(&in), 10, MISHAP_CLI_ONE_LINE),
                     2);
    assert_int_equal(out.length, 2 + 8 * 2);
    mishap_buffer_release(&in);
    mishap_buffer_release(&out);
}

/* -- answers ----------------------------------------------------------------------------------- */

struct shown {
    mishap_buffer out, remarks;
};

static void show(struct shown *s, const char *json, const mishap_cli_asked *asked,
                 mishap_cli_look look)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    *s = (struct shown){ 0 };
    assert_true(mishap_json_read(&reader, mishap_text_of(json)));
    mishap_cli_put_readable(&s->out, &s->remarks, reader.root, asked, look);
    mishap_json_reader_release(&reader);
    assert_false(s->out.failed || s->remarks.failed);
    mishap_buffer_put_char(&s->out, '\0');
    mishap_buffer_put_char(&s->remarks, '\0');
}

static void hide(struct shown *s)
{
    mishap_buffer_release(&s->out);
    mishap_buffer_release(&s->remarks);
}

static void assert_answer(const char *json, size_t width, const char *expected, const char *remarks)
{
    struct shown s;
    show(&s, json, &nobody, (mishap_cli_look){ .width = width });
    assert_string_equal(s.out.data, expected);
    assert_string_equal(s.remarks.data, remarks);
    hide(&s);
}

#define USERS                                                                                          \
    "[{\"id\":\"1\",\"name\":\"Ada\",\"age\":36,\"created_at\":\"2026-01-31T12:00:00.000Z\"},"         \
    "{\"id\":\"10\",\"name\":\"山田太郎\",\"age\":7,\"created_at\":\"2026-01-31T12:00:00.000Z\"}," \
    "{\"id\":\"3\",\"name\":\"Zoe\\u0308 Bee\",\"age\":null,\"homePage\":\"-\"}]"

static void a_list_of_objects_is_a_table(void **state)
{
    (void)state;
    assert_answer(USERS, 80,
                  "ID  NAME      AGE  CREATED AT                HOME PAGE\n"
                  "1   Ada        36  2026-01-31T12:00:00.000Z  -\n"
                  "10  山田太郎    7  2026-01-31T12:00:00.000Z  -\n"
                  "3   Zoe\u0308 Bee     -  -                         -\n",
                  "");
    /* Numbers stand to the right only where there is nothing but numbers. */
    assert_answer("[{\"size\":1,\"n\":100},{\"size\":\"many\",\"n\":1}]", 80,
                  "SIZE    N\n1     100\nmany    1\n", "");
}

static void a_table_is_cut_to_the_width(void **state)
{
    (void)state;
    assert_answer(USERS, 41,
                  "ID  NAME      AGE  CREATED AT   HOME PAGE\n"
                  "1   Ada        36  2026-01-31   -\n"
                  "10  山田太郎    7  2026-01-31   -\n"
                  "3   Zoe\u0308 Bee     -  -            -\n",
                  "");
    assert_answer("[{\"a\":\"one two three\",\"b\":1234567890123}]", 24,
                  "A                      B\n"
                  "one two …  1234567890123\n",
                  "");
    /* What is left over when all are equally wide goes to the first. */
    assert_answer("[{\"a\":\"abcdefghijklmnop\",\"b\":\"abcdefghijklmnop\"}]", 21,
                  "A           B\n"
                  "abcdefghi…  abcdefgh…\n",
                  "");
}

static void what_does_not_fit_as_a_table_is_names_and_values(void **state)
{
    (void)state;
    assert_answer("[{\"a\":\"one two three\",\"b\":1234567890123},{\"b\":2}]", 20,
                  "a  one two three\nb  1234567890123\n\nb  2\n", "");
    struct shown s;
    mishap_buffer wide = { 0 };
    MISHAP_PUT(&wide, "[{");
    for (int i = 0; i < 65; i++) {
        char member[32];
        snprintf(member, sizeof member, "%s\"m%d\":%d", i ? "," : "", i, i);
        mishap_buffer_put_text(&wide, mishap_text_of(member));
    }
    mishap_buffer_put(&wide, "}]", 3); /* with its NUL */
    show(&s, wide.data, &nobody, (mishap_cli_look){ .width = MISHAP_CLI_ANY_WIDTH });
    assert_memory_equal(s.out.data, "m0   0\nm1   1\n", 14);
    hide(&s);
    mishap_buffer_release(&wide);
}

#define LONG_CALL "{\"call\":\"f(1000, 2000, 3000)\",\"line\":1}"

/* A short list inside of an answer: what was asked for is in its cells. */
static void a_short_list_in_an_answer_is_not_cut(void **state)
{
    (void)state;
    assert_answer("{\"status\":\"found\",\"inputs\":[" LONG_CALL "," LONG_CALL "]}", 27,
                  "status  found\n"
                  "inputs\n"
                  "  CALL                 LINE\n"
                  "  f(1000, 2000, 3000)     1\n"
                  "  f(1000, 2000, 3000)     1\n",
                  "");
    assert_answer("{\"status\":\"found\",\"inputs\":[" LONG_CALL "," LONG_CALL "]}", 26,
                  "status  found\n"
                  "inputs\n"
                  "  call  f(1000, 2000, 3000)\n"
                  "  line  1\n"
                  "\n"
                  "  call  f(1000, 2000, 3000)\n"
                  "  line  1\n",
                  "");
}

static void a_long_list_in_an_answer_is_cut(void **state)
{
    struct shown s;
    mishap_buffer answer = { 0 };
    (void)state;
    MISHAP_PUT(&answer, "{\"status\":\"found\",\"inputs\":[" LONG_CALL);
    for (int i = 1; i < 17; i++)
        MISHAP_PUT(&answer, "," LONG_CALL);
    mishap_buffer_put(&answer, "]}", 3); /* with its NUL */
    show(&s, answer.data, &nobody, (mishap_cli_look){ .width = 26 });
    static const char begins[] = "status  found\n"
                                 "inputs\n"
                                 "  CALL                LINE\n"
                                 "  f(1000, 2000, 300…     1\n";
    assert_memory_equal(s.out.data, begins, strlen(begins));
    hide(&s);
    mishap_buffer_release(&answer);
}

static void texts_with_commas_stand_on_lines_of_their_own(void **state)
{
    (void)state;
    assert_answer("{\"types\":[\"int\",\"str\"],\"rules\":[\"one, two and three times four\",5,"
                  "\"six\"],\"one\":[\"a, b\"]}",
                  31,
                  "types  int, str\n"
                  "rules  - one, two and three\n"
                  "         times four\n"
                  "       - 5\n"
                  "       - six\n"
                  "one    a, b\n",
                  "");
}

static void nothing_is_cut_where_there_is_no_terminal(void **state)
{
    (void)state;
    assert_answer(
        "[{\"a\":\"one two three four five six seven eight nine ten eleven twelve "
        "thirteen fourteen fifteen sixteen\",\"b\":1},{\"a\":\"\",\"b\":22}]",
        MISHAP_CLI_ANY_WIDTH,
        "A                                                                                 "
        " B\n"
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen   1\n"
        "                                                                                  "
        "22\n",
        "");
}

static void nested_values_are_short_in_a_table(void **state)
{
    (void)state;
    assert_answer("[{\"tags\":[\"a\",\"b\"],\"at\":{\"zip\":\"1\",\"in\":{\"x\":1}},\"of\":[{},{}],"
                  "\"no\":[],\"none\":{},\"yes\":true}]",
                  80,
                  "TAGS  AT               OF       NO  NONE  YES\n"
                  "a, b  zip: 1, in: {…}  2 items  []  {}    true\n",
                  "");
    assert_answer("[{\"tags\":[\"alpha\",\"beta\",\"gamma\"]}]", 12, "TAGS\nalpha, beta…\n", "");
    assert_answer("[{\"tags\":[\"alpha\",\"beta\"]}]", 11, "TAGS\nalpha, beta\n", "");
    assert_answer("[{\"tags\":[\"alpha\",\"beta\",\"c\"]}]", 11, "TAGS\nalpha, bet…\n", "");
}

static void an_object_is_names_and_values(void **state)
{
    (void)state;
    assert_answer("{\"id\":7,\"name\":\"Ada\",\"address\":{\"city\":\"Bath\",\"geo\":{\"x\":1.5}},"
                  "\"lines\":[{\"n\":1},{\"n\":20}],\"tags\":[\"a\",\"b\"],\"no\":[],\"note\":\"\","
                  "\"big\":123456789012345678901234567890}",
                  80,
                  "id    7\n"
                  "name  Ada\n"
                  "address\n"
                  "  city  Bath\n"
                  "  geo\n"
                  "    x  1.5\n"
                  "lines\n"
                  "   N\n"
                  "   1\n"
                  "  20\n"
                  "tags  a, b\n"
                  "no    []\n"
                  "note\n"
                  "big   123456789012345678901234567890\n",
                  "");
}

static void a_long_text_is_wrapped_behind_its_name(void **state)
{
    (void)state;
    assert_answer("{\"note\":\"one two three four five six\\n  seven\\n\\neight\\n\"}", 26,
                  "note  one two three four\n"
                  "      five six\n"
                  "        seven\n"
                  "\n"
                  "      eight\n",
                  "");
    assert_answer("{\"url\":\"https://example.com/a/very/long/path here\"}", 26,
                  "url  https://example.com/a/very/long/path\n"
                  "     here\n",
                  "");
}

static void other_answers_are_lines(void **state)
{
    (void)state;
    assert_answer("[\"a\",1,true,null]", 80, "a\n1\ntrue\n-\n", "");
    assert_answer("\"one\\ntwo\\u001b[0m\"", 80, "one\ntwo?[0m\n", "");
    assert_answer("12.5", 80, "12.5\n", "");
    assert_answer("null", 80, "", "");
    assert_answer("{}", 80, "", "");
    assert_answer("[[1,2],[3]]", 80, "1, 2\n3\n", "");
    assert_answer("[{},{}]", 80, "{}\n{}\n", "");
    assert_answer("[]", 80, "", "The list is empty.\n");
    assert_answer("{\"items\":[],\"next\":null}", 80, "", "The list is empty.\n");
    assert_answer("{\"items\":[{\"a\":1}],\"total\":7,\"next\":\"x\"}", 80,
                  "A\n1\n\ntotal  7\nnext   x\n", "");
    assert_answer("{\"keys\":[{\"a\":1}]}", 80, "A\n1\n", "");
    assert_answer("{\"id\":1,\"tags\":[]}", 80, "id    1\ntags  []\n", "");
}

static void styles_are_for_headers_and_names(void **state)
{
    (void)state;
    struct shown s;
    show(&s, "[{\"a\":1}]", &nobody, (mishap_cli_look){ .width = 80, .styles = true });
    assert_string_equal(s.out.data, "\033[1mA\033[0m\n1\n");
    hide(&s);
    show(&s, "{\"a\":\"x\"}", &nobody, (mishap_cli_look){ .width = 80, .styles = true });
    assert_string_equal(s.out.data, "\033[2ma\033[0m  x\n");
    hide(&s);
}

/* -- the next page ----------------------------------------------------------------------------- */

static const mishap_param page_params[] = { { "limit", MISHAP_INTEGER, .help = "How many" },
                                            { "after", MISHAP_STRING, .letter = 'a' },
                                            { "title", MISHAP_STRING, .help = "What" },
                                            { 0 } };
static const mishap_operation list_operation = { .name = "todos.list", .params = page_params };

static void assert_next(const char *next, const char *remarks, const char *const *words)
{
    struct shown s;
    char json[200];
    mishap_cli_asked asked = { "todo", &list_operation, words, 0 };
    while (words[asked.word_count])
        asked.word_count++;
    snprintf(json, sizeof json, "{\"items\":[{\"a\":1}],\"next\":%s}", next);
    show(&s, json, &asked, (mishap_cli_look){ .width = 80 });
    assert_string_equal(s.remarks.data, remarks);
    if (!*remarks && strcmp(next, "null") != 0)
        assert_non_null(strstr(s.out.data, "next"));
    hide(&s);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void the_answer_of_a_command_with_pages_is_a_page(void **state)
{
    static const char json[] = "{\"success\":true,\"events\":[{\"a\":1}],\"next\":9}";
    static const struct mishap_cli_asked other = { 0 };
    const mishap_cli_asked asked = { "todo", &list_operation, WORDS("events"), 1 };
    struct shown s;
    (void)state;
    show(&s, json, &asked, (mishap_cli_look){ .width = 80 });
    assert_string_equal(s.out.data, "A\n1\n\nsuccess  true\n");
    assert_string_equal(s.remarks.data, "Next page: todo events --after 9\n");
    hide(&s);
    show(&s, json, &other, (mishap_cli_look){ .width = 80 });
    assert_string_equal(s.out.data, "success  true\nevents\n  A\n  1\nnext     9\n");
    hide(&s);
}

static void the_next_page_is_a_command_that_can_be_pasted(void **state)
{
    (void)state;
    assert_next("\"9\"", "Next page: todo todos list --limit 3 --after 9\n",
                WORDS("todos", "list", "--limit", "3"));
    assert_next("9", "Next page: todo todos list --limit=3 --after 9\n",
                WORDS("todos", "list", "--after", "4", "--limit=3"));
    assert_next("\"9\"", "Next page: todo todos list --after 9\n",
                WORDS("todos", "list", "--after=4", "-a", "5", "-a6"));
    assert_next("\"9\"", "Next page: todo todos list --title 'it'\\''s; rm -rf' --after 9 -- x\n",
                WORDS("todos", "list", "--title", "it's; rm -rf", "--", "x"));
    assert_next("\"-x\"", "Next page: todo todos list --after=-x\n", WORDS("todos", "list"));
    assert_next("\"a b\"", "Next page: todo todos list --after 'a b'\n", WORDS("todos", "list"));
    assert_next("null", "", WORDS("todos", "list"));
}

/* A table of them would be a thousand times as large as the answer. */
static void a_list_with_hardly_any_values_is_no_table(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    mishap_json_open(&json, '[');
    mishap_json_open(&json, '{');
    for (int i = 0; i < 60; i++) {
        char name[48];
        snprintf(name, sizeof name, "column_%02d_with_a_name_that_takes_its_room", i);
        mishap_json_key(&json, mishap_text_of(name));
        mishap_buffer_put_char(&json, '1');
    }
    mishap_json_close(&json, '}');
    for (int i = 0; i < 5000; i++) {
        mishap_json_open(&json, '{');
        mishap_json_close(&json, '}');
    }
    mishap_json_close(&json, ']');
    mishap_buffer_put_char(&json, '\0');
    struct shown s;
    show(&s, json.data, &(mishap_cli_asked){ 0 },
         (mishap_cli_look){ .width = MISHAP_CLI_ANY_WIDTH });
    assert_true(s.out.length < 4 * json.length);
    assert_non_null(strstr(s.out.data, "column_07_with_a_name_that_takes_its_room  1\n"));
    hide(&s);
    mishap_buffer_release(&json);
}

/* In fish a backslash escapes within single quotes, too, and what follows would be a command. */
static void the_command_for_the_next_page_means_the_same_to_every_shell(void **state)
{
    (void)state;
    assert_next("\"\\\\'; touch x; '\"",
                "Next page: todo todos list --after ''\\\\''\\''; touch x; '\\'''\n",
                WORDS("todos", "list"));
    assert_next("\"a\\\\\"", "Next page: todo todos list --after 'a'\\\\''\n",
                WORDS("todos", "list"));
    assert_next("\"a!b\"", "Next page: todo todos list --after 'a'\\!'b'\n",
                WORDS("todos", "list"));
    assert_next("\"=ls\"", "Next page: todo todos list --after '=ls'\n", WORDS("todos", "list"));
}

/* Neither a secret nor what may stand anywhere can take the place of the next page. */
static void the_next_page_is_offered_only_where_a_flag_takes_it(void **state)
{
    (void)state;
    static const mishap_param params[][2] = {
        { { "after", MISHAP_STRING, .secret = true }, { 0 } },
        { { "after", MISHAP_STRING, .positional = true }, { 0 } },
        { { "limit", MISHAP_STRING, .help = "How many" }, { 0 } },
    };
    for (size_t i = 0; i < 3; i++) {
        struct shown s;
        mishap_operation list = { .name = "todos.list", .params = params[i] };
        mishap_cli_asked asked = { "todo", &list, WORDS("todos", "list"), 2 };
        show(&s, "{\"items\":[{\"a\":1}],\"next\":\"9\"}", &asked,
             (mishap_cli_look){ .width = 80 });
        assert_string_equal(s.out.data, "A\n1\n\nnext  9\n");
        assert_string_equal(s.remarks.data, "");
        hide(&s);
    }
}

static void a_place_that_no_command_line_can_name_is_shown_as_it_is(void **state)
{
    (void)state;
    assert_next("\"a\\u001bb\"", "", WORDS("todos", "list"));
    assert_next("\"a\\nb\"", "", WORDS("todos", "list"));
    assert_next("\"@file\"", "", WORDS("todos", "list"));
    assert_next("\"-\"", "", WORDS("todos", "list"));
    assert_next("\"9\"", "", WORDS("todos", "list", "--title", "\x1b[2J"));
    assert_next("true", "", WORDS("todos", "list"));
}

/* -- progress ---------------------------------------------------------------------------------- */

enum { SECOND = 1000000000 };

static void assert_line(mishap_cli_progress progress, int64_t now_s, size_t width,
                        const char *expected)
{
    mishap_buffer line = { 0 };
    mishap_cli_put_progress(&line, &progress, now_s * SECOND, width);
    mishap_buffer_put_char(&line, '\0');
    assert_string_equal(line.data, expected);
    assert_true(mishap_cli_width(mishap_text_of(line.data)) < width || !width);
    mishap_buffer_release(&line);
}

static void progress_is_a_bar_percent_time_and_words(void **state)
{
    (void)state;
    mishap_cli_progress half = { .done = 50, .total = 100, .words = T("copying") };
    assert_line(half, 0, 60, "██████████░░░░░░░░░░  50%  copying");
    assert_line(half, 75, 60, "██████████░░░░░░░░░░  50%  1:15 left  copying");
    assert_line(half, 75, 40, "██████░░░░░░░  50%  1:15 left  copying");
    half.words = T("\x1b[2Jcopying a file with a long name");
    assert_line(half, 75, 40, "██████░░░░░░░  50%  1:15 left  ?[2Jcop…");
    assert_line(half, 75, 24, "████░░░░  50%  ?[2Jcop…");
    assert_line(half, 75, 12, " 50%  ?[2J…");
    assert_line(half, 75, 10, " 50%");
    assert_line(half, 75, 5, " 50%");
    assert_line(half, 75, 4, "");
    assert_line(half, 75, 0, "");
    assert_line((mishap_cli_progress){ .done = 200, .total = 100 }, 0, 30, "██████████ 100%");
    assert_line((mishap_cli_progress){ .done = -5, .total = 100 }, 0, 30, "░░░░░░░░░░   0%");
    assert_line((mishap_cli_progress){ .done = 1, .total = 4000 }, 3600, 30, "░░░░░░░░░░   0%");
    assert_line((mishap_cli_progress){ .done = 1, .total = 3 }, 3600, 60,
                "██████░░░░░░░░░░░░░░  33%  2:00:00 left");
}

static void progress_without_a_total_is_a_count_and_a_time(void **state)
{
    (void)state;
    assert_line((mishap_cli_progress){ .done = 1234, .words = T("reading") }, 65, 40,
                "1234  1:05  reading");
    assert_line((mishap_cli_progress){ .done = 0.25 }, 5, 40, "0.2  0:05");
    assert_line((mishap_cli_progress){ .done = 1e300 }, 5, 40, "1e+300  0:05");
    assert_line((mishap_cli_progress){ .done = 1234 }, 65, 8, "1234");
}

/* -- hostile answers --------------------------------------------------------------------------- */

static uint64_t random_state;

static unsigned next_random(unsigned below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % below;
}

static void put_random_string(mishap_buffer *json)
{
    static const char *const pieces[] = {
        "a",          "\\u0000", "\\u001b[2J", "\\n",    "\\t",
        "山",         "\u0301",  "\u202E",     "\u2028", "\\ud83d\\ude00",
        "\xc2\x9b",   " ",       "\u200d",     "\x7f",   "\\\"",
        "2026-01-31", "\\u0085", "next",       "items",  "'",
        "word of",    "\u1160",  "…",          "@",
    };
    MISHAP_PUT(json, "\"");
    for (unsigned n = next_random(8) * next_random(8); n; n--)
        mishap_buffer_put_text(json,
                               mishap_text_of(pieces[next_random(sizeof pieces / sizeof *pieces)]));
    MISHAP_PUT(json, "\"");
}

static void put_random_value(mishap_buffer *json, int depth);

static void put_random_items(mishap_buffer *json, int depth, bool object)
{
    mishap_buffer_put_char(json, object ? '{' : '[');
    for (unsigned n = next_random(7), i = 0; i < n; i++) {
        if (i)
            MISHAP_PUT(json, ",");
        if (object && next_random(3))
            mishap_buffer_put_text(json, mishap_text_of(((const char *const[]){
                                             "\"id\"", "\"items\"", "\"next\"", "\"\"" })[i % 4]));
        else if (object)
            put_random_string(json);
        if (object)
            MISHAP_PUT(json, ":");
        put_random_value(json, depth + 1);
    }
    mishap_buffer_put_char(json, object ? '}' : ']');
}

static void put_random_value(mishap_buffer *json, int depth)
{
    static const char *const scalars[] = {
        "null", "true", "-1", "1e300", "0.1", "18446744073709551615", "99999999999999999999999"
    };
    unsigned kind = next_random(depth < 12 ? 8 : 4);
    if (kind < 2)
        put_random_string(json);
    else if (kind < 4)
        mishap_buffer_put_text(
            json, mishap_text_of(scalars[next_random(sizeof scalars / sizeof *scalars)]));
    else
        put_random_items(json, depth, kind < 6);
}

/* Valid UTF-8, and no control character but line feeds. */
static void assert_harmless(const mishap_buffer *text)
{
    size_t length = text->length - 1; /* without the NUL */
    assert_int_equal(mishap_utf8_valid_length((mishap_text){ text->data, length }), length);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text->data[i], d = (unsigned char)text->data[i + 1];
        if ((c < 0x20 && c != '\n') || c == 0x7F || (c == 0xC2 && d < 0xA0) ||
            strncmp(text->data + i, "\u202E", 3) == 0)
            fail_msg("%02x at %zu of %s", c, i, text->data);
    }
}

static void any_answer_can_be_shown(void **state)
{
    static const size_t widths[] = { 0, 1, 2, 7, 20, 40, 80, 10000, MISHAP_CLI_ANY_WIDTH };
    mishap_cli_asked asked = { "todo", &list_operation, WORDS("todos", "list"), 2 };
    mishap_buffer json = { 0 };
    (void)state;
    for (unsigned seed = 1; seed <= 4000; seed++) {
        struct shown s;
        random_state = seed * 0x9E3779B97F4A7C15u;
        mishap_buffer_reset(&json);
        put_random_value(&json, 0);
        mishap_buffer_put_char(&json, '\0');
        show(&s, json.data, &asked,
             (mishap_cli_look){ .width = widths[seed % (sizeof widths / sizeof *widths)] });
        assert_harmless(&s.out);
        assert_harmless(&s.remarks);
        hide(&s);
    }
    mishap_buffer_release(&json);
}

/* Every line of a table fits. */
static void a_table_is_never_wider_than_the_terminal(void **state)
{
    mishap_buffer json = { 0 };
    size_t tables = 0;
    (void)state;
    for (unsigned seed = 1; seed <= 2000; seed++) {
        mishap_json_reader reader = MISHAP_JSON_READER;
        mishap_buffer out = { 0 };
        size_t width = seed % 100, indent = seed % 3;
        random_state = seed * 0x9E3779B97F4A7C15u;
        mishap_buffer_reset(&json);
        MISHAP_PUT(&json, "[");
        /* With an indent, only a long list is cut: its last items are many times the same one. */
        for (unsigned n = 1 + next_random(4), again = indent && seed % 2 ? 16 : 0; n; n--) {
            size_t at = json.length;
            put_random_items(&json, 10, true);
            size_t length = json.length - at;
            for (; n == 1 && again; again--) {
                char *item = malloc(length + 1);
                assert_non_null(item);
                memcpy(item, json.data + at, length);
                mishap_buffer_put_char(&json, ',');
                mishap_buffer_put(&json, item, length);
                free(item);
            }
            mishap_buffer_put_char(&json, n > 1 ? ',' : ']');
        }
        assert_true(mishap_json_read(&reader, mishap_buffer_text(&json)));
        bool made = mishap_cli_put_table(&out, reader.root, indent,
                                         (mishap_cli_look){ .width = width });
        assert_true(made || !out.length);
        tables += made;
        for (const char *line = out.data, *end; made && line < out.data + out.length;
             line = end + 1) {
            end = memchr(line, '\n', (size_t)(out.data + out.length - line));
            assert_non_null(end);
            assert_in_range(mishap_cli_width((mishap_text){ line, (size_t)(end - line) }), 0,
                            width);
        }
        mishap_buffer_release(&out);
        mishap_json_reader_release(&reader);
    }
    assert_true(tables > 500);
    mishap_buffer_release(&json);
}

/* -- without memory ---------------------------------------------------------------------------- */

struct wanted {
    const char *json;
    struct shown whole; /* with memory */
};

static const mishap_cli_asked list_asked = { "todo", &list_operation, WORDS("todos", "list"), 2 };
static const mishap_cli_look narrow = { .width = 60, .styles = true };

/* All of it, or a mark that something is missing. */
static void show_without_memory(const void *input)
{
    const struct wanted *wanted = input;
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer out = { 0 }, remarks = { 0 };
    if (mishap_json_read(&reader, mishap_text_of(wanted->json))) {
        mishap_cli_put_readable(&out, &remarks, reader.root, &list_asked, narrow);
        mishap_buffer_put_char(&out, '\0');
        mishap_buffer_put_char(&remarks, '\0');
        if (!out.failed && !remarks.failed) {
            assert_string_equal(out.data, wanted->whole.out.data);
            assert_string_equal(remarks.data, wanted->whole.remarks.data);
        }
    }
    mishap_buffer_release(&out);
    mishap_buffer_release(&remarks);
    mishap_json_reader_release(&reader);
}

static void every_failing_allocation_is_survived(void **state)
{
    static const char long_cell[] =
        "[{\"a\":\"" /* more than a cell first takes */
        "0123456789012345678901234567890123456789012345678901234567890123"
        "0123456789012345678901234567890123456789012345678901234567890123"
        "\",\"b\":[1,2,3]},{\"a\":\"x\"}]";
    struct wanted rows[] = {
        { .json = "{\"items\":" USERS ",\"next\":\"9\",\"total\":3}" },
        { .json = "{\"note\":\"one two three\\nfour\",\"a\":{\"b\":[1,{\"c\":2}]},"
                  "\"lines\":" USERS ",\"tags\":[1,2]}" },
        { .json = long_cell },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        show(&rows[i].whole, rows[i].json, &list_asked, narrow);
        mishap_use_allocator(&failing_allocator);
        torture(show_without_memory, &rows[i]);
        mishap_use_allocator(NULL);
        hide(&rows[i].whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(characters_take_the_columns_that_unicode_says),
        TEST(text_is_cut_between_characters),
        TEST(nothing_is_shown_that_a_terminal_acts_on),
        TEST(marks_do_not_pile_up_without_end),
        TEST(a_list_of_objects_is_a_table),
        TEST(a_table_is_cut_to_the_width),
        TEST(what_does_not_fit_as_a_table_is_names_and_values),
        TEST(a_short_list_in_an_answer_is_not_cut),
        TEST(a_long_list_in_an_answer_is_cut),
        TEST(texts_with_commas_stand_on_lines_of_their_own),
        TEST(nothing_is_cut_where_there_is_no_terminal),
        TEST(nested_values_are_short_in_a_table),
        TEST(an_object_is_names_and_values),
        TEST(a_long_text_is_wrapped_behind_its_name),
        TEST(other_answers_are_lines),
        TEST(styles_are_for_headers_and_names),
        TEST(the_answer_of_a_command_with_pages_is_a_page),
        TEST(the_next_page_is_a_command_that_can_be_pasted),
        TEST(a_list_with_hardly_any_values_is_no_table),
        TEST(the_command_for_the_next_page_means_the_same_to_every_shell),
        TEST(the_next_page_is_offered_only_where_a_flag_takes_it),
        TEST(a_place_that_no_command_line_can_name_is_shown_as_it_is),
        TEST(progress_is_a_bar_percent_time_and_words),
        TEST(progress_without_a_total_is_a_count_and_a_time),
        TEST(any_answer_can_be_shown),
        TEST(a_table_is_never_wider_than_the_terminal),
        TEST(every_failing_allocation_is_survived),
    };
    return RUN(tests);
}
