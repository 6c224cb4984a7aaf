/*
 * Any bytes as JSON: reading says where it breaks, or gives a document that can be walked, located
 * and copied. A copy reads as the same values, and copying it again gives the same bytes.
 */
#include "fuzz.h"

#include "base/json_read.h"
#include "base/json_write.h"

/* What the walk reports, to be compared with that of a copy. */
struct walked {
    size_t strings, flaws[MISHAP_JSON_TOO_DEEP + 1];
};

static void count_flaw(void *state, mishap_json_flaw flaw, const mishap_json_path *path)
{
    struct walked *walked = state;
    mishap_buffer pointer;
    EXPECT(flaw >= MISHAP_JSON_DUPLICATE_KEY && flaw <= MISHAP_JSON_TOO_DEEP, "flaw %d", (int)flaw);
    EXPECT(path->depth <= MISHAP_JSON_MAX_DEPTH, "depth %zu", path->depth);
    mishap_buffer_init(&pointer, NULL, 0);
    mishap_json_put_pointer(&pointer, path);
    expect_utf8(mishap_buffer_text(&pointer));
    mishap_buffer_release(&pointer);
    walked->flaws[flaw]++;
}

static void count_string(void *state, yyjson_val *string, const mishap_json_path *path)
{
    struct walked *walked = state;
    EXPECT(path->depth <= MISHAP_JSON_MAX_DEPTH, "depth %zu", path->depth);
    expect_utf8(mishap_json_text(string));
    walked->strings++;
}

static bool always(mishap_text string, mishap_text before)
{
    (void)string, (void)before;
    return true;
}

/* Walk to every string; the short way, for when only flaws are asked for, must find the same flaws.
 */
static struct walked walk(const mishap_json_reader *reader)
{
    struct walked walked = { 0 }, brief = { 0 };
    mishap_json_inspect(reader,
                        &(mishap_json_visitor){ count_flaw, count_string, always, &walked });
    mishap_json_inspect(reader, &(mishap_json_visitor){ count_flaw, NULL, NULL, &brief });
    EXPECT(memcmp(walked.flaws, brief.flaws, sizeof brief.flaws) == 0, "not the same flaws");
    return walked;
}

/* -- places
 * ---------------------------------------------------------------------------------------------------
 */

static size_t offset_of(mishap_text text, size_t line, size_t column)
{
    size_t offset = 0;
    for (; line > 1; line--) {
        const char *feed = memchr(text.data + offset, '\n', text.length - offset);
        EXPECT(feed, "there are fewer lines");
        offset = (size_t)(feed - text.data) + 1;
    }
    EXPECT(column >= 1 && offset + column - 1 <= text.length, "column %zu", column);
    return offset + column - 1;
}

/* Where a value is said to stand, a value of that type begins. */
static void expect_located(mishap_text text, yyjson_val *root, yyjson_val *value)
{
    size_t line, column;
    mishap_json_locate(text, root, value, &line, &column);
    size_t offset = offset_of(text, line, column);
    EXPECT(offset < text.length, "the place is the end of the text");
    static const char *const starts[8] = {
        [YYJSON_TYPE_RAW] = "-0123456789", [YYJSON_TYPE_NULL] = "n", [YYJSON_TYPE_BOOL] = "tf",
        [YYJSON_TYPE_NUM] = "-0123456789", [YYJSON_TYPE_STR] = "\"", [YYJSON_TYPE_ARR] = "[",
        [YYJSON_TYPE_OBJ] = "{",
    };
    char first = text.data[offset];
    EXPECT(first && strchr(starts[yyjson_get_type(value)], first), "%zu:%zu is %c", line, column,
           first);
}

/* The first values are enough, since each is found by counting from the start. */
static void expect_all_located(mishap_text text, const mishap_json_reader *reader)
{
    size_t count = yyjson_doc_get_val_count(reader->document);
    for (size_t i = 0; i < count && i < 64; i++)
        expect_located(text, reader->root, reader->root + i);
}

/* -- copies
 * ---------------------------------------------------------------------------------------------------
 */

static void expect_same_copy(const mishap_json_reader *reader, const struct walked *walked)
{
    mishap_json_reader second = MISHAP_JSON_READER;
    mishap_buffer copy, again;
    mishap_buffer_init(&copy, NULL, 0);
    mishap_buffer_init(&again, NULL, 0);
    mishap_json_copy(&copy, reader->root);
    mishap_text text = mishap_buffer_text(&copy);
    expect_utf8(text);
    EXPECT(mishap_json_read(&second, text), "%s\n%.*s", second.problem, SHOWN(text));
    EXPECT(second.flaw == MISHAP_JSON_SOUND, "flaw %d", (int)second.flaw);
    EXPECT(yyjson_equals(reader->root, second.root) || walked->flaws[MISHAP_JSON_DUPLICATE_KEY],
           "%.*s", SHOWN(text));
    struct walked rewalked = walk(&second);
    EXPECT(memcmp(walked, &rewalked, sizeof rewalked) == 0, "%.*s", SHOWN(text));
    mishap_json_copy(&again, second.root);
    EXPECT(mishap_text_equal(text, mishap_buffer_text(&again)), "%.*s\n%.*s", SHOWN(text),
           SHOWN(mishap_buffer_text(&again)));
    mishap_json_reader_release(&second);
    mishap_buffer_release(&copy);
    mishap_buffer_release(&again);
}

/* A reader with storage of the caller's says the same. */
static void expect_same_in_storage(mishap_text text, const mishap_json_reader *reader)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader other = MISHAP_JSON_READER_IN(storage);
    EXPECT(mishap_json_read(&other, text) == (reader->root != NULL), "%s", other.problem);
    EXPECT(other.flaw == reader->flaw, "%d, not %d", (int)other.flaw, (int)reader->flaw);
    EXPECT(!reader->root || yyjson_equals(reader->root, other.root) ||
               !yyjson_equals(reader->root, reader->root),
           "not the same values");
    if (reader->flaw != MISHAP_JSON_SOUND)
        EXPECT(other.line == reader->line && other.column == reader->column, "not the same place");
    mishap_json_reader_release(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_text text = input_text(data, size);
    mishap_json_reader reader = MISHAP_JSON_READER;
    bool readable = mishap_json_read(&reader, text);
    if (!readable) {
        EXPECT(reader.flaw == MISHAP_JSON_MALFORMED, "flaw %d", (int)reader.flaw);
        EXPECT(reader.problem && *reader.problem, "no problem is named");
    }
    if (reader.flaw != MISHAP_JSON_SOUND)
        offset_of(text, reader.line, reader.column);
    if (readable) {
        struct walked walked = walk(&reader);
        expect_all_located(text, &reader);
        if (!walked
                 .flaws[MISHAP_JSON_TOO_DEEP]) /* what is too deep is refused before it is copied */
            expect_same_copy(&reader, &walked);
    }
    expect_same_in_storage(text, &reader);
    /* A reader reads the next document as if it were the first. */
    EXPECT(mishap_json_read(&reader, (mishap_text)MISHAP_TEXT("[1]")), "%s", reader.problem);
    EXPECT(reader.flaw == MISHAP_JSON_SOUND && reader.root, "flaw %d", (int)reader.flaw);
    mishap_json_reader_release(&reader);
    return 0;
}
