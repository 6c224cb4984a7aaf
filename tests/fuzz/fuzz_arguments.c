/*
 * A command line: words separated by NUL or line feed, for an operation that has every type of
 * parameter. For all of them there is an object that holds against the rules, or one answer that
 * names what is wrong. Words that would read a file or standard input are left out.
 */
#include "cli/words/command_line.h"
#include "fuzz.h"
#include "mishap/dialect.h"
#include "operation/call.h"

enum { MOST_WORDS = 64 };

static mishap *do_nothing(mishap_call *call)
{
    return mishap_answer(call, "{}");
}

static const char *const colours[] = { "red", "green", NULL };
static const mishap_param item = { "item", MISHAP_INTEGER, .range = { 0, 9 } };
static const mishap_param point[] = { { "x", MISHAP_INTEGER, .required = true },
                                      { "y", MISHAP_NUMBER, .help = "y" },
                                      { 0 } };
static const char *const currencies[] = { "EUR", "JPY", NULL };
static const mishap_param params[] = {
    { "name", MISHAP_STRING, .required = true, .length = { 1, 20 }, .pattern = "^[a-z]+$",
      .letter = 'n' },
    { "age", MISHAP_INTEGER, .range = { 0, 150 } },
    { "ratio", MISHAP_NUMBER, .positional = true },
    { "live", MISHAP_BOOLEAN, .letter = 'l' },
    { "colour", MISHAP_ENUM, .choices = colours, .initial = "\"red\"" },
    { "list_of", MISHAP_ARRAY, .items = &item, .length = { 0, 3 } },
    { "point", MISHAP_OBJECT, .members = point },
    { "token", MISHAP_STRING, .secret = true },
    { "price", MISHAP_DECIMAL, .scale = 2, .range = { 0, 1000 } },
    { "rate", MISHAP_DECIMAL_NUMBER, .scale = 3 },
    { "fee", MISHAP_MONEY, .choices = currencies },
    { "starts", MISHAP_TIMESTAMP, .help = "starts" },
    { "ends", MISHAP_TIMESTAMP, .help = "ends" },
    { "born", MISHAP_DATE, .help = "born" },
    { "wait", MISHAP_DURATION, .help = "wait" },
    { "id", MISHAP_UUID, .help = "id" },
    { "blob", MISHAP_BYTES, .length = { 0, 16 } },
    { "sizes", MISHAP_MAP, .items = &item, .length = { 0, 4 } },
    { 0 }
};
static const mishap_operation operation = {
    "fuzz.it",
    "Do nothing",
    params,
    do_nothing,
    .raises = NULL,
    .rules = MISHAP_RULES(MISHAP_AFTER("ends", "starts"), MISHAP_AT_LEAST_ONE("name", "id"),
                          MISHAP_REQUIRED_IF("born", "wait", NULL))
};
static const mishap_app app = { .name = "fuzz", .operations = &operation };

static bool reads_something(const char *word)
{
    const char *equals = strchr(word, '=');
    return strcmp(word, "-") == 0 || word[0] == '@' ||
           (equals && (equals[1] == '@' || equals[1] == '-')) ||
           (word[0] == '-' && word[1] != '-' && (word[2] == '@' || word[2] == '-'));
}

static void expect_told(const mishap *failure)
{
    mishap_buffer out = { 0 };
    mishap *again = NULL;
    mishap_text text = mishap_render(mishap_dialect_find("cli-envelope"), failure, &out);
    expect_utf8(text);
    EXPECT(!mishap_parse(mishap_dialect_find("cli-envelope"), text, &again), "%.*s", SHOWN(text));
    mishap_free(again);
    mishap_buffer_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = malloc(size + 1);
    const char *words[MOST_WORDS];
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        line[i] = data[i] == '\n' ? '\0' : (char)data[i];
    line[size] = '\0';
    for (char *word = line; word < line + size && count < MOST_WORDS; word += strlen(word) + 1)
        if (!reads_something(word))
            words[count++] = word;

    mishap_cli cli = {
        .app = &app, .operation = &operation, .words = words, .word_count = count, .json = true
    };
    mishap_buffer object = { 0 };
    mishap_call *call = NULL;
    mishap *failure = mishap_cli_read_arguments(&cli, words, count, &object);
    if (failure) {
        EXPECT(mishap_told(failure)->code->exit_code <= 2, "%s",
               mishap_told(failure)->code->name.data);
        expect_told(failure);
    } else {
        /* What was let through holds against the rules once more. */
        failure = mishap_call_begin(&app, &operation, mishap_buffer_text(&object), &call);
        EXPECT(!failure, "%.*s", SHOWN(mishap_buffer_text(&object)));
        EXPECT(mishap_given(call, "name"), "the name is required");
        EXPECT(!mishap_call_run(call), "it cannot fail");
    }
    mishap_free(failure);
    mishap_call_end(call);
    mishap_buffer_release(&object);
    free(line);
    return 0;
}
