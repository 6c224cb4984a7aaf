/*
 * Any JSON document as text for people. The first byte says how wide the terminal is. For every
 * document, the text is UTF-8 without anything that a terminal acts on, and no line of a table is
 * wider than the terminal.
 */
#include "cli/screen/readable.h"
#include "fuzz.h"

static const mishap_param params[] = { { "after", MISHAP_STRING, .help = "Where to begin" },
                                       { 0 } };
static const mishap_operation operation = { .name = "list", .params = params };

static void expect_harmless(mishap_text text)
{
    expect_utf8(text);
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        EXPECT((c >= 0x20 || c == '\n') && c != 0x7F, "%.*s", SHOWN(text));
        EXPECT(!mishap_is_c1(text.data + i, text.data + text.length), "%.*s", SHOWN(text));
    }
}

static void expect_narrow(mishap_text table, size_t width)
{
    for (const char *line = table.data, *stop = line + table.length, *end; line < stop;
         line = end + 1) {
        end = memchr(line, '\n', (size_t)(stop - line));
        EXPECT(end, "no line feed at the end: %.*s", SHOWN(table));
        EXPECT(mishap_cli_width((mishap_text){ line, (size_t)(end - line) }) <= width,
               "wider than %zu: %.*s", width, SHOWN(table));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer out = { 0 }, remarks = { 0 };
    size_t width = size ? data[0] : 0;
    const char *const words[] = { "list", "--after", "1" };
    const mishap_cli_asked asked = { "fuzz", &operation, words, 3 };
    if (size && mishap_json_read(&reader, input_text(data + 1, size - 1))) {
        mishap_cli_look look = { .width = width == 255 ? MISHAP_CLI_ANY_WIDTH : width };
        mishap_cli_put_readable(&out, &remarks, reader.root, &asked, look);
        expect_harmless(mishap_buffer_text(&out));
        expect_harmless(mishap_buffer_text(&remarks));
        mishap_buffer_reset(&out);
        if (mishap_cli_put_table(&out, reader.root, 0, look) && width != 255)
            expect_narrow(mishap_buffer_text(&out), width);
    }
    mishap_buffer_release(&out);
    mishap_buffer_release(&remarks);
    mishap_json_reader_release(&reader);
    return 0;
}
