/* src/base: JSON, reading and writing. */
#include "testing.h"

#include <time.h>

#include "base/base.h"

/* A document that was read, and the flaws that were found in it: "duplicate-key /a/0, nul-in-key
 * /b". */
struct reading {
    mishap_json_reader reader;
    bool read;
    mishap_buffer flaws;
    size_t flaw_count;
    mishap_buffer strings;
};

static const char *const flaw_names[] = {
    [MISHAP_JSON_SOUND] = "sound",
    [MISHAP_JSON_NO_MEMORY] = "no-memory",
    [MISHAP_JSON_MALFORMED] = "malformed",
    [MISHAP_JSON_LONE_SURROGATE] = "lone-surrogate",
    [MISHAP_JSON_DUPLICATE_KEY] = "duplicate-key",
    [MISHAP_JSON_NUL_IN_KEY] = "nul-in-key",
    [MISHAP_JSON_TOO_DEEP] = "too-deep",
};

static void add_flaw(void *state, mishap_json_flaw flaw, const mishap_json_path *path)
{
    struct reading *reading = state;
    reading->flaw_count++;
    mishap_buffer_put_text(&reading->flaws, mishap_text_of(reading->flaws.length ? ", " : ""));
    mishap_buffer_put_text(&reading->flaws, mishap_text_of(flaw_names[flaw]));
    mishap_buffer_put_char(&reading->flaws, ' ');
    size_t start = reading->flaws.length;
    mishap_json_put_pointer(&reading->flaws, path);
    for (size_t i = start; i < reading->flaws.length; i++)
        if (reading->flaws.data[i] == '\0')
            reading->flaws.data[i] = '_';
}

static void add_string(void *state, yyjson_val *string, const mishap_json_path *path)
{
    struct reading *reading = state;
    mishap_json_put_pointer(&reading->strings, path);
    mishap_buffer_put_char(&reading->strings, '=');
    mishap_buffer_put_text(&reading->strings, mishap_json_text(string));
    mishap_buffer_put_char(&reading->strings, ' ');
}

static bool suspect_all(mishap_text string, mishap_text key)
{
    (void)string, (void)key;
    return true;
}

/* A string that reads `x`, or that goes by the name `x`. */
static bool suspect_x(mishap_text string, mishap_text key)
{
    return mishap_text_equal(string, T("x")) || mishap_text_equal(key, T("x"));
}

static void begin_with(struct reading *reading, mishap_text text, mishap_json_visitor visitor)
{
    memset(reading, 0, sizeof *reading);
    visitor.flaw = add_flaw;
    visitor.state = reading;
    reading->read = mishap_json_read(&reading->reader, text);
    if (reading->read)
        mishap_json_inspect(&reading->reader, &visitor);
    mishap_buffer_put_char(&reading->flaws, '\0');
    mishap_buffer_put_char(&reading->strings, '\0');
}

static void begin(struct reading *reading, mishap_text text)
{
    begin_with(reading, text,
               (mishap_json_visitor){ .string = add_string, .suspect = suspect_all });
}

static void finish(struct reading *reading)
{
    mishap_json_reader_release(&reading->reader);
    mishap_buffer_release(&reading->flaws);
    mishap_buffer_release(&reading->strings);
}

static void assert_flaws(mishap_text text, const char *flaws)
{
    /* Who asks for strings and what is suspect makes no difference to the flaws. */
    static const mishap_json_visitor visitors[] = {
        { .string = add_string, .suspect = suspect_all },
        { .string = add_string, .suspect = suspect_x },
        { .string = NULL },
    };
    for (size_t i = 0; i < sizeof visitors / sizeof *visitors; i++) {
        struct reading reading;
        begin_with(&reading, text, visitors[i]);
        assert_true(reading.read);
        assert_string_equal(reading.flaws.data, flaws);
        finish(&reading);
    }
}

static void assert_malformed(mishap_text text, size_t line, size_t column)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    assert_false(mishap_json_read(&reader, text));
    assert_null(reader.root);
    assert_int_equal(reader.flaw, MISHAP_JSON_MALFORMED);
    assert_true(reader.problem && *reader.problem);
    assert_int_equal(reader.line, line);
    assert_int_equal(reader.column, column);
    mishap_json_reader_release(&reader);
}

static double seconds_since(clock_t then)
{
    return (double)(clock() - then) / CLOCKS_PER_SEC;
}

/* Seconds of work that no document needs, even when a sanitizer looks on and the machine is busy.
 * Work that grows with the square of these documents takes minutes. */
enum { FAST = 60 };

/* -- what is not JSON -------------------------------------------------------------------------- */

static void nothing_is_not_json(void **state)
{
    (void)state;
    mishap_json_reader reader = MISHAP_JSON_READER;
    assert_false(mishap_json_read(&reader, (mishap_text){ NULL, 0 }));
    assert_string_equal(reader.problem, "the text is empty");
    assert_false(mishap_json_read(&reader, T("")));
    assert_string_equal(reader.problem, "the text is empty");
    mishap_json_reader_release(&reader);
    assert_malformed(T(""), 1, 1);
    assert_malformed(T(" \n "), 1, 1);
}

static void malformed_json_is_refused_with_line_and_column(void **state)
{
    (void)state;
    assert_malformed(T("x"), 1, 1);
    assert_malformed(T("[1,\n 2,\n  x]"), 3, 3);
    assert_malformed(T("{\n\"a\": 1\n\"b\": 2}"), 3, 1);
    assert_malformed(T("[1] 2"), 1, 5);
    assert_malformed(T("[1]\0"), 1, 4);
    assert_malformed(T("{\"a\":1,}"), 1, 7);
    assert_malformed(T("[1,]"), 1, 3);
    assert_malformed(T("{'a':1}"), 1, 2);
    assert_malformed(T("[01]"), 1, 2);
    assert_malformed(T("[NaN]"), 1, 2);
    assert_malformed(T("[1] // done"), 1, 5);
    assert_malformed(T("\"a\tb\""), 1, 3);
    assert_malformed(T("\"a\0b\""), 1, 3);
    assert_malformed(T("[\"\\x\"]"), 1, 4);
    assert_malformed(T("\xEF\xBB\xBF[1]"), 1, 1);
}

static void json_that_ends_too_early_is_refused_at_its_end(void **state)
{
    (void)state;
    static const mishap_text whole = MISHAP_TEXT("{\"a\":[1,\"b\\u0041\",{\"c\":null}]}");
    for (size_t length = 1; length < whole.length; length++) {
        mishap_json_reader reader = MISHAP_JSON_READER;
        char *cut = malloc(
            length); /* to the byte, so that a sanitizer sees any look behind the end */
        memcpy(cut, whole.data, length);
        assert_false(mishap_json_read(&reader, (mishap_text){ cut, length }));
        assert_int_equal(reader.flaw, MISHAP_JSON_MALFORMED);
        assert_int_equal(reader.line, 1);
        assert_true(reader.column <= length + 1);
        mishap_json_reader_release(&reader);
        free(cut);
    }
    assert_malformed(T("[1,2"), 1, 5);
    assert_malformed(T("\"abc"), 1, 5);
}

static void columns_are_counted_in_bytes(void **state)
{
    (void)state;
    assert_malformed(T("[\"\xC3\xBC\", x]"), 1, 8);
}

static void raw_invalid_utf8_is_refused(void **state)
{
    (void)state;
    assert_malformed(T("\"\xFF\""), 1, 2);
    assert_malformed(T("[\"a\",\n \"b\x80\"]"), 2, 4);
    assert_malformed(T("\"\xC0\x80\""), 1, 2);     /* overlong */
    assert_malformed(T("\"\xED\xA0\x80\""), 1, 2); /* a surrogate */
    assert_malformed(T("\"\xF4\x90\x80\x80\""), 1, 2);
    assert_malformed(T("{\"\xFF\":1}"), 1, 3);
}

/* -- what is read and told --------------------------------------------------------------------- */

static void a_reader_reads_one_document_after_another(void **state)
{
    (void)state;
    mishap_json_reader reader = MISHAP_JSON_READER;
    static char large[200001];
    memset(large, ' ', sizeof large);
    large[0] = '[';
    large[sizeof large - 1] = ']';
    for (int i = 0; i < 3; i++) {
        assert_true(mishap_json_read(&reader, T("{\"a\":1}")));
        assert_int_equal(yyjson_get_int(yyjson_obj_get(reader.root, "a")), 1);
        assert_true(mishap_json_read(&reader, T("[\"\\ud800\"]")));
        assert_int_equal(reader.flaw, MISHAP_JSON_LONE_SURROGATE);
        assert_true(mishap_json_read(&reader, (mishap_text){ large, sizeof large }));
        assert_int_equal(reader.flaw,
                         MISHAP_JSON_SOUND); /* the flaw of the one before is forgotten */
        assert_null(reader.problem);
        assert_false(mishap_json_read(&reader, T("[")));
        assert_null(reader.root);
    }
    mishap_json_reader_release(&reader);
    assert_null(reader.pool);
}

static void *no_memory(size_t size)
{
    (void)size;
    return NULL;
}

static void *no_more_memory(void *block, size_t size)
{
    (void)block, (void)size;
    return NULL;
}

static void reading_without_memory_says_so(void **state)
{
    (void)state;
    static char large[100000];
    memset(large, '1', sizeof large);
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_use_allocator(&(mishap_allocator){ no_memory, no_more_memory, free });
    assert_false(mishap_json_read(&reader, T("[1]")));
    assert_int_equal(reader.flaw, MISHAP_JSON_NO_MEMORY);
    assert_string_equal(reader.problem, "not enough memory");
    assert_false(mishap_json_read(&reader, (mishap_text){ large, sizeof large }));
    assert_int_equal(reader.flaw, MISHAP_JSON_NO_MEMORY);
    mishap_use_allocator(NULL);
    mishap_json_reader_release(&reader);
}

static void a_lone_surrogate_is_mended_and_told(void **state)
{
    (void)state;
    static const struct {
        mishap_text text;
        const char *read;
        size_t line, column;
    } cases[] = {
        { MISHAP_TEXT("\"a\\ud800b\""),
          "a\xEF\xBF\xBD"
          "b",
          1, 3 },
        { MISHAP_TEXT("\n\n  \"\\uDFFF\""), "\xEF\xBF\xBD", 3, 4 },
        { MISHAP_TEXT("\"\\udc00\\ud800\""), "\xEF\xBF\xBD\xEF\xBF\xBD", 1,
          2 }, /* the wrong way round */
        { MISHAP_TEXT("\"\\ud83d\\ude00\\uD83D\""), "\xF0\x9F\x98\x80\xEF\xBF\xBD", 1, 14 },
        { MISHAP_TEXT("\"\\ud800\\u0041\""),
          "\xEF\xBF\xBD"
          "A",
          1, 2 },
        { MISHAP_TEXT("\"\\\\ud800\\ud800\""), "\\ud800\xEF\xBF\xBD", 1,
          9 }, /* the first is no escape */
        { MISHAP_TEXT("\"\\ud800\\ud83d\\ude00\""), "\xEF\xBF\xBD\xF0\x9F\x98\x80", 1, 2 },
        { MISHAP_TEXT("\"\\u00e9 \xC3\xA9 \\uDBFF\""), "\xC3\xA9 \xC3\xA9 \xEF\xBF\xBD", 1, 12 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_json_reader reader = MISHAP_JSON_READER;
        assert_true(mishap_json_read(&reader, cases[i].text));
        assert_string_equal(mishap_json_text(reader.root).data, cases[i].read);
        assert_int_equal(reader.flaw, MISHAP_JSON_LONE_SURROGATE);
        assert_non_null(reader.problem);
        assert_int_equal(reader.line, cases[i].line);
        assert_int_equal(reader.column, cases[i].column);
        mishap_json_reader_release(&reader);
    }
    mishap_json_reader reader = MISHAP_JSON_READER;
    assert_true(mishap_json_read(&reader, T("[\"\\ud83d\\ude00\", \"\\\\ud800\"]")));
    assert_int_equal(reader.flaw, MISHAP_JSON_SOUND);
    mishap_json_reader_release(&reader);
}

static void besides_a_lone_surrogate_the_real_problem_is_told(void **state)
{
    (void)state;
    assert_malformed(T("{\"a\":\"\\ud800\",\n\"b\" 1}"), 2, 5);
    assert_malformed(T("[\"\\ud800\",\n \"\xFF\"]"), 2, 3);
}

static void numbers_keep_their_value(void **state)
{
    (void)state;
    static const struct {
        mishap_text text;
        mishap_kind kind;
        const char *written;
    } numbers[] = {
        { MISHAP_TEXT("0"), MISHAP_KIND_INT, "0" },
        { MISHAP_TEXT("-1"), MISHAP_KIND_INT, "-1" },
        { MISHAP_TEXT("9223372036854775807"), MISHAP_KIND_INT, "9223372036854775807" },
        { MISHAP_TEXT("-9223372036854775808"), MISHAP_KIND_INT, "-9223372036854775808" },
        { MISHAP_TEXT("9223372036854775808"), MISHAP_KIND_UINT, "9223372036854775808" },
        { MISHAP_TEXT("18446744073709551615"), MISHAP_KIND_UINT, "18446744073709551615" },
        { MISHAP_TEXT("0.1"), MISHAP_KIND_REAL, "0.1" },
        { MISHAP_TEXT("1.0"), MISHAP_KIND_REAL, "1.0" },
        { MISHAP_TEXT("1E22"), MISHAP_KIND_REAL, "1e+22" },
        /* Beyond 64 bits and beyond a double: the digits are kept as they are. */
        { MISHAP_TEXT("18446744073709551616"), MISHAP_KIND_NONE, "18446744073709551616" },
        { MISHAP_TEXT("-9223372036854775809"), MISHAP_KIND_NONE, "-9223372036854775809" },
        { MISHAP_TEXT("123456789012345678901234567890"), MISHAP_KIND_NONE,
          "123456789012345678901234567890" },
        { MISHAP_TEXT("1e400"), MISHAP_KIND_NONE, "1e400" },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        mishap_json_reader reader = MISHAP_JSON_READER;
        mishap_buffer written;
        mishap_buffer_init(&written, NULL, 0);
        assert_true(mishap_json_read(&reader, numbers[i].text));
        assert_int_equal(mishap_json_scalar(reader.root).kind, numbers[i].kind);
        if (numbers[i].kind == MISHAP_KIND_NONE)
            assert_true(mishap_text_equal(mishap_json_text(reader.root), numbers[i].text));
        mishap_json_copy(&written, reader.root);
        mishap_buffer_put_char(&written, '\0');
        assert_string_equal(written.data, numbers[i].written);
        mishap_buffer_release(&written);
        mishap_json_reader_release(&reader);
    }
}

static void scalars_have_their_kind(void **state)
{
    (void)state;
    mishap_json_reader reader = MISHAP_JSON_READER;
    assert_true(mishap_json_read(&reader, T("[null,true,false,\"a\\u0000b\",[],{}]")));
    assert_int_equal(mishap_json_scalar(yyjson_arr_get(reader.root, 0)).kind, MISHAP_KIND_NULL);
    assert_true(mishap_json_scalar(yyjson_arr_get(reader.root, 1)).boolean);
    assert_int_equal(mishap_json_scalar(yyjson_arr_get(reader.root, 2)).kind, MISHAP_KIND_BOOL);
    assert_false(mishap_json_scalar(yyjson_arr_get(reader.root, 2)).boolean);
    assert_true(
        mishap_text_equal(mishap_json_scalar(yyjson_arr_get(reader.root, 3)).text, T("a\0b")));
    assert_int_equal(mishap_json_scalar(yyjson_arr_get(reader.root, 4)).kind, MISHAP_KIND_NONE);
    assert_int_equal(mishap_json_scalar(yyjson_arr_get(reader.root, 5)).kind, MISHAP_KIND_NONE);
    assert_int_equal(mishap_json_scalar(NULL).kind, MISHAP_KIND_NONE);
    assert_null(mishap_json_text(yyjson_arr_get(reader.root, 0)).data);
    mishap_json_reader_release(&reader);
}

/* -- flaws ------------------------------------------------------------------------------------- */

static void sound_documents_have_no_flaw(void **state)
{
    (void)state;
    assert_flaws(T("{}"), "");
    assert_flaws(T("[]"), "");
    assert_flaws(T("\"\""), "");
    assert_flaws(T("{\"a\":{\"a\":{\"a\":1}},\"A\":2,\"\":3,\"aa\":4}"), "");
    assert_flaws(T("[{\"a\":1},{\"a\":2}]"), "");
    assert_flaws(T("{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":"
                   "1,\"k\":1,"
                   "\"l\":1,\"m\":1,\"n\":1,\"o\":1,\"aa\":1,\"ab\":1}"),
                 "");
}

static void a_key_that_stands_twice_is_found(void **state)
{
    (void)state;
    assert_flaws(T("{\"a\":1,\"a\":1}"), "duplicate-key /a");
    assert_flaws(T("{\"\":1,\"\":1}"), "duplicate-key /");
    assert_flaws(T("{\"a\":1,\"\\u0061\":2}"),
                 "duplicate-key /a"); /* spelled otherwise, the same key */
    assert_flaws(T("{\"a\":1,\"b\":2,\"a\":3,\"b\":4}"), "duplicate-key /a, duplicate-key /b");
    assert_flaws(T("{\"a\":1,\"a\":2,\"a\":3}"), "duplicate-key /a, duplicate-key /a");
    assert_flaws(T("{\"x\":[0,{\"k\":1,\"k\":2}]}"), "duplicate-key /x/1/k");
    assert_flaws(T("{\"a\":{\"b\":1,\"b\":1},\"c\":{\"d\":1,\"d\":1}}"),
                 "duplicate-key /a/b, duplicate-key /c/d");
}

/* Keys that only look alike at first: the same length, and the same first and last byte. */
static void a_key_that_looks_like_another_is_not_taken_for_it(void **state)
{
    (void)state;
    assert_flaws(T("{\"abc\":1,\"axc\":2,\"ayc\":3}"), "");
    assert_flaws(T("{\"abc\":1,\"axc\":2,\"abc\":3}"), "duplicate-key /abc");
    assert_flaws(T("{\"axc\":1,\"abc\":2,\"b\":{\"abc\":1,\"abd\":2,\"axd\":3}}"), "");
}

/* Few keys are looked at in another way than many, so sizes around that are tried, with the twin
 * anywhere. */
static void twins_are_found_in_objects_of_any_size(void **state)
{
    (void)state;
    for (int keys = 2; keys <= 40; keys++) {
        for (int first = 0; first < keys; first++) {
            int second = (first + 1 + first % (keys - 1)) % keys;
            char document[1024], flaws[64];
            int length = 0;
            for (int i = 0; i < keys; i++)
                length += snprintf(document + length, sizeof document - (size_t)length,
                                   "%c\"key%d\":%d", i ? ',' : '{', i == second ? first : i, i);
            length += snprintf(document + length, sizeof document - (size_t)length, "}");
            snprintf(flaws, sizeof flaws, "duplicate-key /key%d", first);
            assert_flaws((mishap_text){ document, (size_t)length }, flaws);
        }
    }
}

static void a_nul_in_a_key_is_found(void **state)
{
    (void)state;
    assert_flaws(T("{\"a\\u0000b\":1}"), "nul-in-key /a_b");
    assert_flaws(T("{\"a\":{\"\\u0000\":1}}"), "nul-in-key /a/_");
    assert_flaws(T("{\"a\":\"\\u0000\"}"), ""); /* in a value it is allowed */
    /* Keys with the same text before the NUL are two keys. */
    assert_flaws(T("{\"k\\u0000a\":1,\"k\\u0000b\":1}"), "nul-in-key /k_a, nul-in-key /k_b");
}

static void nested(mishap_buffer *buffer, size_t depth, char open, char close)
{
    mishap_buffer_init(buffer, NULL, 0);
    for (size_t i = 0; i < depth; i++) {
        mishap_buffer_put_char(buffer, open);
        if (open == '{' && i + 1 < depth)
            MISHAP_PUT(buffer, "\"k\":");
    }
    for (size_t i = 0; i < depth && close; i++)
        mishap_buffer_put_char(buffer, close);
}

static void nesting_is_allowed_128_deep_and_no_deeper(void **state)
{
    (void)state;
    for (int objects = 0; objects < 2; objects++) {
        struct reading reading;
        mishap_buffer document;
        nested(&document, 128, objects ? '{' : '[', objects ? '}' : ']');
        assert_flaws(mishap_buffer_text(&document), "");
        mishap_buffer_release(&document);
        nested(&document, 129, objects ? '{' : '[', objects ? '}' : ']');
        begin(&reading, mishap_buffer_text(&document));
        assert_int_equal(reading.flaw_count, 1);
        assert_int_equal(
            strncmp(reading.flaws.data, objects ? "too-deep /k/k" : "too-deep /0/0", 13), 0);
        assert_int_equal(strlen(reading.flaws.data), strlen("too-deep ") + 128 * 2);
        finish(&reading);
        mishap_buffer_release(&document);
    }
}

static void every_string_is_visited_with_its_pointer(void **state)
{
    (void)state;
    struct reading reading;
    begin(&reading, T("{\"a\":\"1\",\"b\":[\"2\",{\"c\":\"3\"},4,\"5\"],\"d\":null}"));
    assert_string_equal(reading.strings.data, "/a=1 /b/0=2 /b/1/c=3 /b/3=5 ");
    finish(&reading);
    begin(&reading, T("\"root\""));
    assert_string_equal(reading.strings.data, "=root ");
    finish(&reading);
}

static void strings_are_visited_if_one_of_them_is_suspect(void **state)
{
    (void)state;
    static const struct {
        mishap_text text;
        const char *strings;
    } cases[] = {
        { MISHAP_TEXT("{\"a\":\"1\",\"b\":[\"2\"]}"), "" },
        { MISHAP_TEXT("{\"a\":\"1\",\"b\":[\"2\",\"x\"]}"), "/a=1 /b/0=2 /b/1=x " },
        { MISHAP_TEXT("{\"a\":\"x\",\"b\":[\"2\"]}"), "/a=x /b/0=2 " },
        { MISHAP_TEXT("{\"a\":\"1\",\"b\":[{\"x\":\"2\"}]}"), "/a=1 /b/0/x=2 " },
        { MISHAP_TEXT("{\"x\":[\"1\"]}"), "" }, /* what is in the list goes by no name */
        { MISHAP_TEXT("[\"1\",{\"a\":[[\"x\"]]}]"), "/0=1 /1/a/0/0=x " },
        { MISHAP_TEXT("\"x\""), "=x " },
        { MISHAP_TEXT("\"1\""), "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading reading;
        begin_with(&reading, cases[i].text,
                   (mishap_json_visitor){ .string = add_string, .suspect = suspect_x });
        assert_string_equal(reading.strings.data, cases[i].strings);
        finish(&reading);
    }
}

static void pointers_escape_tilde_and_slash(void **state)
{
    (void)state;
    assert_flaws(T("{\"a/b\":{\"m~n\":{\"~1\":{\"\":{\"x y\":1,\"x y\":2}}}}}"),
                 "duplicate-key /a~1b/m~0n/~01//x y");
    assert_flaws(T("{\"0\":[{\"/~/\":1,\"/~/\":1}]}"), "duplicate-key /0/0/~1~0~1");
}

/* -- places ------------------------------------------------------------------------------------ */

static void every_value_is_located(void **state)
{
    (void)state;
    static const mishap_text text = MISHAP_TEXT(
        "{\n"
        "  \"a\" : [ 1 , -2.5e3,\"x,]}\\\"\\\\\" ,true],\n"
        "  \"b\":{ \"c\" : null,\"\":{} },\n"
        "\n"
        "\t\"d]\\\\\":\n"
        "      123456789012345678901234567890,\"e\":[ ],\"f\":\"\\ud800\"\n"
        "}\n");
    static const struct {
        const char *pointer;
        size_t line, column;
    } places[] = {
        { "", 1, 1 },      { "/a", 2, 9 },    { "/a/0", 2, 11 }, { "/a/1", 2, 15 },
        { "/a/2", 2, 22 }, { "/a/3", 2, 34 }, { "/b", 3, 7 },    { "/b/c", 3, 15 },
        { "/b/", 3, 23 },  { "/d]\\", 6, 7 }, { "/e", 6, 42 },   { "/f", 6, 50 },
    };
    mishap_json_reader reader = MISHAP_JSON_READER;
    assert_true(mishap_json_read(&reader, text));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        size_t line = 0, column = 0;
        yyjson_val *value = yyjson_ptr_get(reader.root, places[i].pointer);
        assert_non_null(value);
        mishap_json_locate(text, reader.root, value, &line, &column);
        assert_int_equal(line, places[i].line);
        assert_int_equal(column, places[i].column);
    }
    mishap_json_reader_release(&reader);
}

/* -- hostile documents ------------------------------------------------------------------------- */

static void a_million_open_brackets_are_refused_fast(void **state)
{
    (void)state;
    clock_t then = clock();
    mishap_buffer document;
    for (int objects = 0; objects < 2; objects++) {
        mishap_json_reader reader = MISHAP_JSON_READER;
        nested(&document, 1000000, objects ? '{' : '[', 0);
        assert_false(mishap_json_read(&reader, mishap_buffer_text(&document)));
        assert_int_equal(reader.flaw, MISHAP_JSON_MALFORMED);
        mishap_json_reader_release(&reader);
        mishap_buffer_release(&document);
    }
    nested(&document, 60000, '[', 0); /* small enough for the memory that a reader keeps */
    assert_malformed(mishap_buffer_text(&document), 1, 60001);
    mishap_buffer_release(&document);
    assert_true(seconds_since(then) < FAST);
}

static void a_million_nested_arrays_are_too_deep_and_do_no_harm(void **state)
{
    (void)state;
    clock_t then = clock();
    struct reading reading;
    mishap_buffer document;
    nested(&document, 1000000, '[', ']');
    begin(&reading, mishap_buffer_text(&document));
    assert_true(reading.read);
    assert_int_equal(reading.flaw_count, 1);
    assert_int_equal(strncmp(reading.flaws.data, "too-deep /0/0", 13), 0);
    finish(&reading);
    mishap_buffer_release(&document);
    assert_true(seconds_since(then) < FAST);
}

static void an_object_with_200000_keys_is_inspected_fast(void **state)
{
    (void)state;
    for (int same = 0; same < 2; same++) {
        clock_t then = clock();
        struct reading reading;
        mishap_buffer document;
        mishap_buffer_init(&document, NULL, 0);
        mishap_buffer_put_char(&document, '{');
        for (unsigned i = 0; i < 200000; i++) {
            MISHAP_PUT(&document, "\"key with some length ");
            mishap_buffer_put_uint(&document, same ? 0 : 200000 + i * 7919 % 200000);
            mishap_buffer_put_text(&document, mishap_text_of(i < 199999 ? "\":0," : "\":0}"));
        }
        begin(&reading, mishap_buffer_text(&document));
        assert_true(reading.read);
        assert_int_equal(reading.flaw_count, same ? 199999 : 0);
        finish(&reading);
        mishap_buffer_release(&document);
        assert_true(seconds_since(then) < FAST);
    }
}

/* -- writing ----------------------------------------------------------------------------------- */

#define assert_written(buffer, expected)                                                           \
    do {                                                                                           \
        mishap_buffer_put_char((buffer), '\0');                                                    \
        assert_string_equal((buffer)->data, (expected));                                           \
        mishap_buffer_release(buffer);                                                             \
    } while (0)

static void strings_are_escaped(void **state)
{
    (void)state;
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    mishap_json_string(
        &buffer,
        T("\"quoted\" \\ / \b\t\n\f\r \x01\x0b\x0e\x1f \x7f \xC3\xBC \xF0\x9F\x98\x80 <&'>"));
    assert_written(&buffer,
                   "\"\\\"quoted\\\" \\\\ / \\b\\t\\n\\f\\r \\u0001\\u000b\\u000e\\u001f \\u007f "
                   "\xC3\xBC \xF0\x9F\x98\x80 <&'>\"");
    mishap_json_string(&buffer, T("a\0b"));
    assert_written(&buffer, "\"a\\u0000b\"");
    mishap_json_string(&buffer, (mishap_text){ NULL, 0 });
    assert_written(&buffer, "\"\"");
}

static void every_byte_of_ascii_reads_back_from_what_is_written(void **state)
{
    (void)state;
    for (int c = 0; c < 128; c++) {
        char byte = (char)c;
        mishap_json_reader reader = MISHAP_JSON_READER;
        mishap_buffer buffer;
        mishap_buffer_init(&buffer, NULL, 0);
        mishap_json_string(&buffer, (mishap_text){ &byte, 1 });
        assert_int_equal(buffer.length > 3, c < 32 || c == '"' || c == '\\' || c == 127);
        assert_true(mishap_json_read(&reader, mishap_buffer_text(&buffer)));
        assert_true(mishap_text_equal(mishap_json_text(reader.root), (mishap_text){ &byte, 1 }));
        mishap_json_reader_release(&reader);
        mishap_buffer_release(&buffer);
    }
}

/* Eight bytes are looked at together, so an escape is tried at every place of texts of many
 * lengths. */
static void an_escape_is_written_wherever_it_stands(void **state)
{
    (void)state;
    static const struct {
        char byte;
        const char *written;
    } escaped[] = {
        { '"', "\\\"" },   { '\\', "\\\\" },   { '\n', "\\n" },
        { 31, "\\u001f" }, { 127, "\\u007f" }, { 0, "\\u0000" },
    };
    static const char *const fillings[] = {
        "a", " ", "!", "#", "~", "\xC3\xBC", "\xF4\x8F\xBF\xBF"
    };
    for (size_t e = 0; e < sizeof escaped / sizeof *escaped; e++) {
        for (size_t f = 0; f < sizeof fillings / sizeof *fillings; f++) {
            for (size_t before = 0; before < 20; before++) {
                for (size_t after = 0; after < 20; after++) {
                    mishap_buffer text, expected, written;
                    mishap_buffer_init(&text, NULL, 0);
                    mishap_buffer_init(&expected, NULL, 0);
                    mishap_buffer_init(&written, NULL, 0);
                    mishap_buffer_put_char(&expected, '"');
                    for (size_t i = 0; i <= before + after; i++) {
                        mishap_text filling = mishap_text_of(fillings[f]);
                        mishap_text here = i == before ? (mishap_text){ &escaped[e].byte, 1 }
                                                       : filling;
                        mishap_buffer_put_text(&text, here);
                        mishap_buffer_put_text(
                            &expected, i == before ? mishap_text_of(escaped[e].written) : filling);
                    }
                    mishap_buffer_put_char(&expected, '"');
                    mishap_json_string(&written, mishap_buffer_text(&text));
                    assert_true(mishap_text_equal(mishap_buffer_text(&written),
                                                  mishap_buffer_text(&expected)));
                    mishap_buffer_release(&text);
                    mishap_buffer_release(&expected);
                    mishap_buffer_release(&written);
                }
            }
        }
    }
}

/* One byte after the other, as the writer would be without words. */
static size_t escaped(const unsigned char *text, size_t length, char *out)
{
    char *to = out;
    *to++ = '"';
    for (size_t i = 0; i < length; i++) {
        static const char named[] = "\b\t\n\f\r\"\\", names[] = "btnfr\"\\";
        const char *name = text[i] ? strchr(named, text[i]) : NULL;
        if (name)
            to += sprintf(to, "\\%c", names[name - named]);
        else if (text[i] < 0x20 || text[i] == 0x7f)
            to += sprintf(to, "\\u%04x", text[i]);
        else
            *to++ = (char)text[i];
    }
    *to++ = '"';
    return (size_t)(to - out);
}

/* Texts of every length up to some words, with bytes that are escaped, or nearly so, at every
 * distance from each other. */
static void every_byte_that_needs_it_is_escaped_wherever_it_stands(void **state)
{
    static const unsigned char bytes[] = { '"', '\\', 0x1f, 0,    '\n', 0x7f, 0x20, '#', '!',
                                           '[', ']',  '~',  0x80, 0x9f, 0xa2, 0xdc, 0xff };
    unsigned char text[48];
    char expected[6 * sizeof text + 2];
    uint64_t random = 88172645463325252u;
    (void)state;
    for (int round = 0; round < 200000; round++) {
        size_t length = (size_t)round % (sizeof text + 1);
        unsigned sparse = 1 + (unsigned)round / 49 % 12;
        for (size_t i = 0; i < length; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            text[i] = random % sparse ? (unsigned char)('a' + i % 26)
                                      : bytes[(random >> 32) % sizeof bytes];
        }
        char storage[64];
        mishap_buffer json;
        mishap_buffer_init(&json, storage, sizeof storage);
        mishap_json_string(&json, (mishap_text){ (const char *)text, length });
        size_t wanted = escaped(text, length, expected);
        assert_false(json.failed);
        assert_int_equal(json.length, wanted);
        assert_memory_equal(json.data, expected, wanted);
        mishap_buffer_release(&json);
    }
}

static void commas_stand_where_they_are_due(void **state)
{
    (void)state;
    mishap_buffer b;
    mishap_buffer_init(&b, NULL, 0);
    mishap_json_open(&b, '{');
    MISHAP_JSON_KEY(&b, "empty");
    mishap_json_open(&b, '{');
    mishap_json_close(&b, '}');
    MISHAP_JSON_KEY(&b, "list");
    mishap_json_open(&b, '[');
    mishap_json_int(&b, -1);
    mishap_json_bool(&b, true);
    mishap_json_null(&b);
    mishap_json_string(&b,
                       T("[{:,")); /* ends in bytes that would mean "no comma" outside a string */
    mishap_json_open(&b, '[');
    mishap_json_close(&b, ']');
    mishap_json_open(&b, '{');
    mishap_json_close(&b, '}');
    mishap_json_close(&b, ']');
    mishap_json_key(&b, T("a \"key\":"));
    mishap_json_bool(&b, false);
    MISHAP_JSON_TEXT_MEMBER(&b, "told", T("yes"));
    MISHAP_JSON_TEXT_MEMBER(&b, "left_out", T(""));
    mishap_json_close(&b, '}');
    mishap_buffer_put_char(&b, '\n');
    mishap_json_null(&b); /* the next document, after a line feed */
    assert_written(&b,
                   "{\"empty\":{},\"list\":[-1,true,null,\"[{:,\",[],{}],\"a \\\"key\\\":\":false,"
                   "\"told\":\"yes\"}\nnull");
}

static void values_of_each_kind_are_written(void **state)
{
    (void)state;
    const mishap_value values[] = {
        mishap_value_none(),
        mishap_value_of_string(NULL),
        mishap_value_of_bool(true),
        mishap_value_of_bool(false),
        mishap_value_of_int(INT64_MIN),
        mishap_value_of_uint(UINT64_MAX),
        mishap_value_of_real(0.5),
        mishap_value_of_string("a\"b"),
        mishap_value_of_json("{\"x\":[1]}"),
    };
    mishap_buffer b;
    mishap_buffer_init(&b, NULL, 0);
    mishap_json_open(&b, '[');
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        mishap_json_value(&b, &values[i]);
    mishap_json_close(&b, ']');
    assert_written(&b, "[null,null,true,false,-9223372036854775808,18446744073709551615,0.5,"
                       "\"a\\\"b\",{\"x\":[1]}]");
    MISHAP_PUT(&b, "is ");
    mishap_json_bare(&b, &values[7]);
    assert_written(&b, "is \"a\\\"b\"");
}

static void a_copy_is_the_compact_document(void **state)
{
    (void)state;
    static const mishap_text spaced = MISHAP_TEXT(
        " { \"a\" : [ 1 , 2.5 , \"\\u0041\\n\" , { } , [ ] , null ] ,\n"
        " \"b\\/c\" : { \"d\" : true , \"\" : [ [ 1 ] ] } ,"
        " \"big\" : 123456789012345678901234567890 , \"e\" : \"\\u00fc\" } ");
    static const char compact[] =
        "{\"a\":[1,2.5,\"A\\n\",{},[],null],\"b/c\":{\"d\":true,\"\":[[1]]},"
        "\"big\":123456789012345678901234567890,\"e\":\"\xC3\xBC\"}";
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer b;
    mishap_buffer_init(&b, NULL, 0);
    assert_true(mishap_json_read(&reader, spaced));
    mishap_json_copy(&b, reader.root);
    assert_written(&b, compact);
    assert_true(mishap_json_read(&reader, mishap_text_of(compact)));
    mishap_json_copy(&b, reader.root);
    assert_written(&b, compact);
    mishap_json_reader_release(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_not_json),
        TEST(malformed_json_is_refused_with_line_and_column),
        TEST(json_that_ends_too_early_is_refused_at_its_end),
        TEST(columns_are_counted_in_bytes),
        TEST(raw_invalid_utf8_is_refused),
        TEST(a_reader_reads_one_document_after_another),
        TEST(reading_without_memory_says_so),
        TEST(a_lone_surrogate_is_mended_and_told),
        TEST(besides_a_lone_surrogate_the_real_problem_is_told),
        TEST(numbers_keep_their_value),
        TEST(scalars_have_their_kind),
        TEST(sound_documents_have_no_flaw),
        TEST(a_key_that_stands_twice_is_found),
        TEST(a_key_that_looks_like_another_is_not_taken_for_it),
        TEST(twins_are_found_in_objects_of_any_size),
        TEST(a_nul_in_a_key_is_found),
        TEST(nesting_is_allowed_128_deep_and_no_deeper),
        TEST(every_string_is_visited_with_its_pointer),
        TEST(strings_are_visited_if_one_of_them_is_suspect),
        TEST(pointers_escape_tilde_and_slash),
        TEST(every_value_is_located),
        TEST(a_million_open_brackets_are_refused_fast),
        TEST(a_million_nested_arrays_are_too_deep_and_do_no_harm),
        TEST(an_object_with_200000_keys_is_inspected_fast),
        TEST(strings_are_escaped),
        TEST(every_byte_of_ascii_reads_back_from_what_is_written),
        TEST(an_escape_is_written_wherever_it_stands),
        TEST(every_byte_that_needs_it_is_escaped_wherever_it_stands),
        TEST(commas_stand_where_they_are_due),
        TEST(values_of_each_kind_are_written),
        TEST(a_copy_is_the_compact_document),
    };
    return RUN(tests);
}
