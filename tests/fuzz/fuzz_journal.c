/*
 * Any bytes as a log that is read, and as the text of a failure that is recorded. A line that the
 * reader passes on has no line feed in it and looks like an object. A record is one line of JSON
 * that is not too long, whatever a caller has sent.
 */
#include <fcntl.h>
#include <unistd.h>

#include "fuzz.h"
#include "incident/fit.h"
#include "incident/follow.h"
#include "incident/record.h"

static void read_as_log(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/mishap-fuzz-journal-XXXXXX";
    mishap_follow *f;
    mishap_text line;
    int file = mkstemp(path);
    EXPECT(file >= 0 && write(file, data, size) == (ssize_t)size, "%s", path);
    close(file);
    EXPECT(!mishap_follow_open(path, (mishap_follow_place){ 0 }, &f), "%s", path);
    while (mishap_follow_next(f, &line)) {
        EXPECT(line.length >= 2 && line.data[0] == '{' && line.data[line.length - 1] == '}', "%.*s",
               SHOWN(line));
        EXPECT(!memchr(line.data, '\n', line.length), "%.*s", SHOWN(line));
        EXPECT(mishap_follow_at(f).offset <= size, "%.*s", SHOWN(line));
    }
    mishap_follow_close(f);
    unlink(path);
}

static void put_more(const void *context, mishap_incident_more *more)
{
    mishap_buffer_put_text(&more->arguments, *(const mishap_text *)context);
    mishap_buffer_put_text(&more->headers, *(const mishap_text *)context);
    mishap_buffer_put_text(&more->request, *(const mishap_text *)context);
}

/* The text stands for itself often enough that a long one has to be cut. */
static void record_text(mishap_text text)
{
    mishap_buffer json = { 0 }, large = { 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    size_t times = text.length && text.data[0] == '!' ? 200000 / text.length : 1;
    for (size_t i = 0; i < times; i++)
        mishap_buffer_put_text(&large, text);
    mishap_text all = mishap_buffer_text(&large);
    mishap *m = mishap_raise(INTERNAL_ERROR, "%.*s", (int)text.length, text.data);
    m = mishap_note(mishap_tell(m, "told", all), "noted", all);
    m = mishap_because(m, mishap_raise(NOT_FOUND, "%.*s", (int)text.length, text.data));
    mishap_record_put(&json,
                      &(mishap_incident_entry){ .program = "fuzz",
                                                .id = "0192f7a0-0000-7000-8000-000000000000",
                                                .failure = m,
                                                .response = all,
                                                .traceparent = text,
                                                .more = put_more,
                                                .context = &text },
                      &(mishap_record_facts){ .role = "command", .stack = MISHAP_RECORD_NO_STACK });
    text = mishap_buffer_text(&json);
    EXPECT(text.length < MISHAP_INCIDENT_LINE, "%zu bytes", text.length);
    EXPECT(!memchr(text.data, '\n', text.length), "%.*s", SHOWN(text));
    EXPECT(mishap_json_read(&reader, text) && yyjson_is_obj(reader.root), "%.*s", SHOWN(text));
    EXPECT(!memmem(text.data + 1, text.length - 1, MISHAP_RECORD_START,
                   sizeof MISHAP_RECORD_START - 1),
           "%.*s", SHOWN(text));
    expect_utf8(text);
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&json);
    mishap_buffer_release(&large);
    mishap_free(m);
}

/* Bytes of a process that has gone wrong, in a record that has to be cut. A long one takes time, so
 * only some inputs are for this. */
static void fit_bytes(mishap_text text)
{
    mishap_buffer any = { 0 };
    if (text.length < 2 || text.data[0] != '{')
        return;
    mishap_buffer_put_text(&any, text);
    while (any.length < MISHAP_INCIDENT_LINE) {
        mishap_buffer twice = { 0 };
        mishap_buffer_put_text(&twice, mishap_buffer_text(&any));
        mishap_buffer_put_text(&twice, mishap_buffer_text(&any));
        mishap_buffer_release(&any);
        any = twice;
    }
    mishap_incident_fit(&any);
    EXPECT(any.length < MISHAP_INCIDENT_LINE, "%zu bytes", any.length);
    mishap_buffer_release(&any);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fit_bytes((mishap_text){ (const char *)data, size });
    read_as_log(data, size);
    record_text((mishap_text){ (const char *)data, size });
    return 0;
}
