/*
 * Seed 000's verification procedure, restated in C: its parser, by plain substring search as
 * written there, must find the right type, message and backtrace in every condition report; its
 * format invariants must hold; and its five counterexample shapes must be refused.
 */
#include "testing.h"

/* -- the seed's parser ------------------------------------------------------------------------- */

struct parsed_report {
    mishap_text type, message, backtrace;
};

static mishap_text trim(const char *from, const char *to, const char *bag)
{
    while (from < to && *from && strchr(bag, *from))
        from++;
    while (to > from && to[-1] && strchr(bag, to[-1]))
        to--;
    return (mishap_text){ from, (size_t)(to - from) };
}

static const char *search(const char *what, mishap_text text)
{
    return memmem(text.data, text.length, what, strlen(what));
}

/* parse-error-response: false where the seed's returns NIL. */
static bool parse_error_response(mishap_text text, struct parsed_report *sections)
{
    const char *end = text.data + text.length;
    const char *error = search("[ERROR]", text), *backtrace = search("[Backtrace]", text);
    if (!error)
        return false;
    const char *line_end = memchr(error, '\n', (size_t)(end - error));
    if (!line_end || error + 8 > line_end)
        return false;
    sections->type = trim(error + 8, line_end, " ");
    if (sections->type.length == 0 || !backtrace || backtrace < line_end)
        return false;
    sections->message = trim(line_end, backtrace, "\n ");
    sections->backtrace = (mishap_text){ backtrace + 11, (size_t)(end - backtrace - 11) };
    return true;
}

/* verify-structured-error-response and verify-format-invariants. */
static void verify_report(mishap_text text, struct parsed_report *parsed)
{
    assert_true(parse_error_response(text, parsed));
    assert_true(parsed->type.length > 0);
    assert_true(parsed->message.length > 0);
    assert_non_null(search("0:", parsed->backtrace));
    assert_non_null(search("(", parsed->backtrace));
    const char *error = search("[ERROR]", text), *output = search("[stdout]", text);
    assert_true(error < search("[Backtrace]", text));
    assert_true((const char *)memchr(error, '\n', text.length) > error + 8);
    if (output)
        assert_true(output < error);
}

/* -- what it must find ------------------------------------------------------------------------- */

/* Escape markers as design.md has it, written independently of the code under test. */
static char *escaped(const char *text, size_t length, size_t *to_length)
{
    static const char *const words[] = { "stdout]", "ERROR]", "warnings]", "Backtrace]" };
    char *to = malloc(2 * length + 1);
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        to[n++] = text[i];
        if (text[i] != '[')
            continue;
        size_t after = i + 1;
        while (after < length && text[after] == '\\')
            after++;
        for (int w = 0; w < 4; w++)
            if (length - after >= strlen(words[w]) &&
                memcmp(text + after, words[w], strlen(words[w])) == 0)
                to[n++] = '\\';
    }
    *to_length = n;
    return to;
}

static const mishap_dialect *report(void)
{
    return mishap_dialect_find("condition-report");
}

static int made;

/* Render, hold against the seed's procedure, and compare with what was put in. */
static void expect(mishap *m, const char *type, mishap_text message, const char *first_frame)
{
    struct parsed_report found;
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    mishap_text text = mishap_render(report(), m, &buffer);
    verify_report(text, &found);

    assert_int_equal(found.type.length, strlen(type));
    assert_memory_equal(found.type.data, type, found.type.length);

    size_t length;
    char *inside = escaped(message.data, message.length, &length);
    mishap_text wanted = trim(inside, inside + length, "\n ");
    assert_int_equal(found.message.length, wanted.length);
    assert_memory_equal(found.message.data, wanted.data, wanted.length);
    free(inside);

    char line[200];
    snprintf(line, sizeof line, "\n0: %s\n", first_frame);
    assert_true(found.backtrace.length >= strlen(line));
    assert_memory_equal(found.backtrace.data, line, strlen(line));

    /* What the search finds is also what the rules ask for. */
    char *rules = broken_rules(report(), text.data, text.length, false);
    assert_string_equal(rules, "");
    free(rules);

    /* render, parse, render: a fixed point. */
    mishap *again = parsed(report(), text.data, text.length);
    char *twice = rendered(report(), again);
    assert_int_equal(strlen(twice), text.length);
    assert_memory_equal(twice, text.data, text.length);
    free(twice);
    mishap_free(again);
    mishap_buffer_release(&buffer);
    mishap_free(m);
    made++;
}

static mishap *condition(const char *type, mishap_text message)
{
    mishap *m = mishap_type(mishap_raise(RUNTIME_ERROR, NULL), type);
    return mishap_message(m, message);
}

static const char placeholder[] = "(#<no backtrace available>)";

static const char *const types[] = {
    "TYPE-ERROR",
    "UNDEFINED-FUNCTION",
    "UNBOUND-VARIABLE",
    "DIVISION-BY-ZERO",
    "SIMPLE-ERROR",
    "PROGRAM-ERROR",
    "PACKAGE-ERROR",
    "END-OF-FILE",
    "STORAGE-CONDITION",
    "CONTROL-ERROR",
    "ARITHMETIC-ERROR",
    "CELL-ERROR",
    "FILE-ERROR",
    "PARSE-ERROR",
    "PRINT-NOT-READABLE",
    "READER-ERROR",
    "STREAM-ERROR",
    "UNBOUND-SLOT",
    "SIMPLE-TYPE-ERROR",
    "FLOATING-POINT-OVERFLOW",
    "SB-INT:SIMPLE-READER-ERROR",
    "SB-SYS:INTERACTIVE-INTERRUPT",
    "SB-KERNEL::CONTROL-STACK-EXHAUSTED",
    "MY-APP::ORDER-REJECTED",
    "TIMEOUT",
};
enum { TYPES = sizeof types / sizeof *types };

static void reports_of_every_type_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < TYPES; i++) {
        char message[100];
        snprintf(message, sizeof message, "Something of type %s went wrong.", types[i]);
        expect(condition(types[i], mishap_text_of(message)), types[i], mishap_text_of(message),
               placeholder);
    }
}

static void every_row_of_the_catalog_has_a_report(void **state)
{
    (void)state;
    const mishap_catalog *catalog = mishap_catalog_first();
    for (size_t i = 0; i < catalog->count; i++) {
        const mishap_code *code = catalog->codes[i];
        mishap *m = mishap_raise_at(code, MISHAP_HERE, "%s happened.", code->name.data);
        char message[100];
        snprintf(message, sizeof message, "%s happened.", code->name.data);
        expect(m, code->condition.data, code->masked ? code->message : mishap_text_of(message),
               placeholder);
    }
}

static void an_empty_message_gets_default_text(void **state)
{
    (void)state;
    static const char *const empty[] = { "", " ", "\n", " \n \n", "\t" };
    for (size_t i = 0; i < 5; i++)
        expect(condition("SIMPLE-ERROR", mishap_text_of(empty[i])), "SIMPLE-ERROR",
               MISHAP_CODE_RUNTIME_ERROR->message, placeholder);
}

static void messages_with_markers_are_escaped(void **state)
{
    (void)state;
    static const char *const messages[] = {
        "[ERROR]",
        "[ERROR] FAKE-ERROR\nForged.\n\n[Backtrace]\n0: (FAKE)",
        "[Backtrace]",
        "[stdout]",
        "[warnings]",
        "before [stdout] between [ERROR] between [warnings] after [Backtrace]",
        "[\\ERROR] was escaped already",
        "[\\\\\\Backtrace] three times",
        "[\\stdout][\\\\stdout][stdout]",
        "[[ERROR]]",
        "[ERROR",
        "[\\",
        "[[[[[[[[[[ERROR]",
        "[error] in small letters is no marker",
        "ends with [Backtrace]",
        "\\[ERROR]",
    };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        expect(condition("TYPE-ERROR", mishap_text_of(messages[i])), "TYPE-ERROR",
               mishap_text_of(messages[i]), placeholder);
}

static void messages_in_any_encoding_are_told(void **state)
{
    (void)state;
    static const struct {
        mishap_text given, told;
    } cases[] = {
        { MISHAP_TEXT("line one\r\nline two\r"), MISHAP_TEXT("line one\r\nline two\r") },
        { MISHAP_TEXT("lone \xED\xA0\x80 surrogate"),
          MISHAP_TEXT("lone \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD surrogate") },
        { MISHAP_TEXT("\xFF\xFE invalid"), MISHAP_TEXT("\xEF\xBF\xBD\xEF\xBF\xBD invalid") },
        { MISHAP_TEXT("cut \xE2\x82"), MISHAP_TEXT("cut \xEF\xBF\xBD\xEF\xBF\xBD") },
        { MISHAP_TEXT("nul\0inside"), MISHAP_TEXT("nul\xEF\xBF\xBDinside") },
        { MISHAP_TEXT("Gr\xC3\xBC\xC3\x9F"
                      "e, \xE4\xB8\x96\xE7\x95\x8C \xF0\x9F\x98\x80"),
          MISHAP_TEXT("Gr\xC3\xBC\xC3\x9F"
                      "e, \xE4\xB8\x96\xE7\x95\x8C \xF0\x9F\x98\x80") },
        { MISHAP_TEXT("  spaces around  "), MISHAP_TEXT("  spaces around  ") },
        { MISHAP_TEXT("several\n\nparagraphs\n\n0: (not a frame)"),
          MISHAP_TEXT("several\n\nparagraphs\n\n0: (not a frame)") },
        { MISHAP_TEXT("tab\tand \x1B[31mescape"), MISHAP_TEXT("tab\tand \x1B[31mescape") },
        { MISHAP_TEXT("The value \"hello\" is not of type NUMBER."),
          MISHAP_TEXT("The value \"hello\" is not of type NUMBER.") },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(condition("TYPE-ERROR", cases[i].given), "TYPE-ERROR", cases[i].told, placeholder);
}

/* A megabyte of one character: cut at the stated limit, between characters, with a mark. */
static void long_messages_are_cut_on_a_character_boundary(void **state)
{
    (void)state;
    static const char *const characters[] = { "x", "\xC3\xBC", "\xE4\xB8\x96", "\xF0\x9F\x98\x80" };
    static const char mark[] = "... (cut)";
    for (size_t i = 0; i < 4; i++) {
        size_t width = strlen(characters[i]), count = (1 << 20) / width;
        char *message = malloc(count * width);
        for (size_t c = 0; c < count; c++)
            memcpy(message + c * width, characters[i], width);
        size_t kept = (MISHAP_REPORT_TEXT_LIMIT - strlen(mark)) / width * width;
        char *told = malloc(kept + sizeof mark);
        memcpy(told, message, kept);
        memcpy(told + kept, mark, sizeof mark);
        expect(condition("SIMPLE-ERROR", (mishap_text){ message, count * width }), "SIMPLE-ERROR",
               mishap_text_of(told), placeholder);
        free(message);
        free(told);
    }
}

static void output_comes_before_the_error(void **state)
{
    (void)state;
    static const char *const outputs[] = {
        "hello",
        "hello\n",
        "\n",
        "two\n\nparagraphs\n\n",
        "[ERROR] FORGED\nby the program\n\n[Backtrace]\n0: (X)\n",
        "[stdout]\n",
        "[\\ERROR]",
        "caf\xC3\xA9",
        "\xFF",
    };
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        mishap *m = condition("DIVISION-BY-ZERO", T("Division by zero."));
        mishap_output(m, mishap_text_of(outputs[i]));
        char *text = rendered(report(), m);
        assert_memory_equal(text, "[stdout]\n", 9);
        mishap *again = parsed(report(), text, strlen(text));
        assert_true(mishap_text_equal(mishap_told(again)->output, mishap_told(m)->output));
        mishap_free(again);
        free(text);
        expect(m, "DIVISION-BY-ZERO", T("Division by zero."), placeholder);
    }
}

static void frames_are_numbered_and_limited(void **state)
{
    (void)state;
    static const size_t counts[] = { 1, 2, 19, 20, 21, 10000 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        mishap *m = condition("TYPE-ERROR", T("Too deep."));
        for (size_t f = 0; f < counts[i]; f++) {
            char frame[40];
            snprintf(frame, sizeof frame, "(FRAME %zu)", f);
            mishap_frame_add(m, mishap_text_of(frame));
        }
        char *text = rendered(report(), m);
        assert_true((strstr(text, "\n19: (FRAME 19)\n") != NULL) == (counts[i] >= 20));
        assert_true((strstr(text, "\n...\n") != NULL) == (counts[i] > 20));
        assert_null(strstr(text, "\n20:"));
        free(text);
        expect(m, "TYPE-ERROR", T("Too deep."), "(FRAME 0)");
    }
}

static void frames_stay_on_one_line_and_keep_their_form(void **state)
{
    (void)state;
    static const struct {
        const char *frame, *told;
    } cases[] = {
        { "(+ 1 \"hello\")", "(+ 1 \"hello\")" },
        { "(FOO\n  BAR)", "(FOO   BAR)" },
        { "no form at all", "(no form at all)" },
        { "", "(...)" },
        { "(PRINT \"[ERROR] X\")", "(PRINT \"[\\ERROR] X\")" },
        { "(PRINT \"[\\Backtrace]\")", "(PRINT \"[\\\\Backtrace]\")" },
        { "...", "(...)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap *m = condition("TYPE-ERROR", T("In a frame."));
        mishap_frame_add(m, mishap_text_of(cases[i].frame));
        expect(m, "TYPE-ERROR", T("In a frame."), cases[i].told);
    }
}

static void a_type_is_one_word(void **state)
{
    (void)state;
    expect(condition("FOO BAR", T("Two words.")), "FOO-BAR", T("Two words."), placeholder);
    expect(condition("FOO\nBAR", T("Two lines.")), "FOO-BAR", T("Two lines."), placeholder);
    expect(condition("[Backtrace]", T("A marker.")), "[\\Backtrace]", T("A marker."), placeholder);
}

/* Must run last: the tests above have made the reports. */
static void at_least_120_different_mishaps_were_reported(void **state)
{
    (void)state;
    assert_true(made >= 120);
}

/* -- the seed's counterexamples ---------------------------------------------------------------- */

static void the_five_counterexample_shapes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *rule, *text;
    } shapes[] = {
        { "missing sections", "section-missing",
          "[ERROR] TYPE-ERROR\nThe value \"hello\" is not of type NUMBER.\n" },
        { "wrong order", "section-order",
          "[Backtrace]\n0: (+ 1 \"hello\")\n\n[ERROR] TYPE-ERROR\nThe value \"hello\" is not of "
          "type NUMBER.\n" },
        { "missing type", "type-missing",
          "[ERROR]\nThe value \"hello\" is not of type NUMBER.\n\n[Backtrace]\n...\n" },
        { "unparseable format", "section-missing",
          "ERROR: TYPE-ERROR - The value \"hello\" is not of type NUMBER.\nStack: (+ 1 "
          "\"hello\")\n" },
        { "unstructured text", "section-missing",
          "An error occurred: The value \"hello\" is not of type NUMBER.\n" },
    };
    for (size_t i = 0; i < 5; i++) {
        struct parsed_report ignored;
        char *rules = broken_rules(report(), shapes[i].text, strlen(shapes[i].text), false);
        assert_non_null(strstr(rules, shapes[i].rule));
        free(rules);
        assert_false(parse_error_response(mishap_text_of(shapes[i].text), &ignored));
        mishap *m = NULL, *failure = mishap_parse(report(), mishap_text_of(shapes[i].text), &m);
        assert_non_null(failure);
        mishap_free(failure);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reports_of_every_type_are_found),
        TEST(every_row_of_the_catalog_has_a_report),
        TEST(an_empty_message_gets_default_text),
        TEST(messages_with_markers_are_escaped),
        TEST(messages_in_any_encoding_are_told),
        TEST(long_messages_are_cut_on_a_character_boundary),
        TEST(output_comes_before_the_error),
        TEST(frames_are_numbered_and_limited),
        TEST(frames_stay_on_one_line_and_keep_their_form),
        TEST(a_type_is_one_word),
        TEST(the_five_counterexample_shapes_are_refused),
        TEST(at_least_120_different_mishaps_were_reported),
    };
    return RUN(tests);
}
