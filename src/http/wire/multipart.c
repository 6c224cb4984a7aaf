/* Reading multipart/form-data: see multipart.h. */
#include "http/wire/multipart.h"

#include <strings.h>

/* -- parameters of fields ---------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_token_char(char c)
{
    return c > ' ' && c <= '~' && !strchr("\"(),/:;<=>?@[\\]{}", c);
}

/* Without room, a value is only skipped. */

/* A quoted text: a backslash stands before a quote or a backslash, but browsers send those of paths
 * as they are, so one before any other character is a character itself. *at is behind it then. */
static bool read_quoted(mishap_text field, size_t *at, char *room, size_t size, size_t *length)
{
    for (size_t i = *at + 1; i < field.length; i++) {
        char c = field.data[i];
        if (c == '"') {
            *at = i + 1;
            return true;
        }
        if (c == '\\' && i + 1 < field.length &&
            (field.data[i + 1] == '"' || field.data[i + 1] == '\\'))
            c = field.data[++i];
        if (!room)
            continue;
        if (*length == size)
            return false;
        room[(*length)++] = c;
    }
    return false;
}

static bool read_value(mishap_text field, size_t *at, char *room, size_t size, size_t *length)
{
    size_t i = *at;
    *length = 0;
    if (i < field.length && field.data[i] == '"')
        return read_quoted(field, at, room, size, length);
    for (; i < field.length && is_token_char(field.data[i]); i++) {
        if (room && *length == size)
            return false;
        if (room)
            room[(*length)++] = field.data[i];
    }
    bool any = i > *at;
    *at = i;
    return any;
}

/* Skip to the next parameter: behind a semicolon and spaces. False: there is none. */
static bool next_param(mishap_text field, size_t *at)
{
    while (*at < field.length && is_space(field.data[*at]))
        ++*at;
    if (*at >= field.length || field.data[*at] != ';')
        return false;
    ++*at;
    while (*at < field.length && is_space(field.data[*at]))
        ++*at;
    return *at < field.length;
}

bool mishap_multipart_param(mishap_text field, const char *name, char *room, size_t size,
                            size_t *length)
{
    size_t at = 0, wanted = strlen(name);
    while (at < field.length && field.data[at] != ';')
        at++;
    while (next_param(field, &at)) {
        size_t start = at;
        while (at < field.length && is_token_char(field.data[at]))
            at++;
        bool same = at - start == wanted && strncasecmp(field.data + start, name, wanted) == 0;
        if (at == start || at >= field.length || field.data[at] != '=')
            return false;
        at++;
        bool read = read_value(field, &at, same ? room : NULL, size, length);
        if (same || !read)
            return same && read;
    }
    return false;
}

/* -- flaws ------------------------------------------------------------------------------------- */

static bool refuse(mishap_multipart *reader, const char *why)
{
    if (!reader->failure)
        reader->failure = mishap_suggest(
            mishap_raise(BAD_REQUEST, "The form is malformed: %s.", why),
            "Send the form as multipart/form-data, as browsers and curl -F do.");
    return false;
}

static bool take_failure(mishap_multipart *reader, mishap *failure)
{
    if (failure && !reader->failure)
        reader->failure = failure;
    else
        mishap_free(failure);
    return !reader->failure;
}

/* -- the head of a part ------------------------------------------------------------------------ */

static bool is_field(mishap_text line, const char *name, mishap_text *value)
{
    size_t length = strlen(name);
    if (line.length <= length || line.data[length] != ':' ||
        strncasecmp(line.data, name, length) != 0)
        return false;
    *value = (mishap_text){ line.data + length + 1, line.length - length - 1 };
    while (value->length && is_space(value->data[0]))
        *value = (mishap_text){ value->data + 1, value->length - 1 };
    while (value->length && is_space(value->data[value->length - 1]))
        value->length--;
    return true;
}

static bool is_line(mishap_text line)
{
    for (size_t i = 0; i < line.length; i++)
        if ((unsigned char)line.data[i] < ' ' && line.data[i] != '\t')
            return false;
    return line.length && !is_space(line.data[0]) && memchr(line.data, ':', line.length);
}

/* HTML, 4.10.22.8: browsers escape a quote and line ends of a name in this way. */
static size_t undo_escapes(char *text, size_t length)
{
    static const struct {
        char escape[4], stands_for;
    } escapes[] = { { "%22", '"' }, { "%0D", '\r' }, { "%0A", '\n' } };
    size_t to = 0;
    for (size_t i = 0; i < length;) {
        size_t e = 0;
        while (e < 3 && (length - i < 3 || strncasecmp(text + i, escapes[e].escape, 3) != 0))
            e++;
        text[to++] = e < 3 ? escapes[e].stands_for : text[i];
        i += e < 3 ? 3 : 1;
    }
    return to;
}

struct head {
    char name[256], file[1024];
    size_t name_length, file_length;
    bool named, is_file, disposed;
    mishap_text type;
};

static bool read_disposition(mishap_multipart *reader, mishap_text value, struct head *head)
{
    static const char form_data[] = "form-data";
    if (head->disposed || value.length < sizeof form_data - 1 ||
        strncasecmp(value.data, form_data, sizeof form_data - 1) != 0)
        return refuse(reader, "a part has a Content-Disposition that is not form-data");
    head->disposed = true;
    head->named = mishap_multipart_param(value, "name", head->name, sizeof head->name,
                                         &head->name_length);
    head->is_file = mishap_multipart_param(value, "filename", head->file, sizeof head->file,
                                           &head->file_length);
    head->name_length = undo_escapes(head->name, head->named ? head->name_length : 0);
    head->file_length = undo_escapes(head->file, head->is_file ? head->file_length : 0);
    return true;
}

static bool read_line(mishap_multipart *reader, mishap_text line, struct head *head)
{
    mishap_text value;
    if (!is_line(line))
        return refuse(reader, "a part has a line in its head that is no field");
    if (is_field(line, "Content-Disposition", &value))
        return read_disposition(reader, value, head);
    if (is_field(line, "Content-Type", &value))
        head->type = value;
    if (is_field(line, "Content-Transfer-Encoding", &value) &&
        !(value.length == 6 && strncasecmp(value.data, "binary", 6) == 0) &&
        !(value.length == 4 && strncasecmp(value.data + 1, "bit", 3) == 0))
        return refuse(reader, "a part has a Content-Transfer-Encoding, which forms do not have");
    return true;
}

static bool read_head(mishap_multipart *reader, mishap_text lines)
{
    struct head head = { .named = false };
    while (lines.length) {
        const char *end = memmem(lines.data, lines.length, "\r\n", 2);
        mishap_text line = { lines.data, end ? (size_t)(end - lines.data) : lines.length };
        size_t size = line.length + (end ? 2 : 0);
        lines = (mishap_text){ lines.data + size, lines.length - size };
        if (!read_line(reader, line, &head))
            return false;
    }
    if (!head.named)
        return refuse(reader, "a part has no name");
    if (++reader->parts > MISHAP_MULTIPART_PARTS)
        return refuse(reader, "it has more than 256 parts");
    mishap_text name = { head.name, head.name_length };
    if (mishap_utf8_valid_length(name) < name.length || memchr(head.name, '\0', name.length))
        return refuse(reader, "the name of a part is not valid UTF-8");
    mishap_multipart_part part = { .name = name, .type = head.type };
    if (head.is_file)
        part.file = (mishap_text){ head.file, head.file_length };
    return take_failure(reader, reader->receiver->begin(reader->receiver->state, &part));
}

/* -- pieces ------------------------------------------------------------------------------------ */

static bool give_data(mishap_multipart *reader, mishap_text bytes)
{
    return !bytes.length ||
           take_failure(reader, reader->receiver->data(reader->receiver->state, bytes));
}

/* How many bytes at the end of the text may be the beginning of a boundary. */
static size_t half_boundary(const mishap_multipart *reader, mishap_text text)
{
    size_t most = reader->delimiter_length - 1;
    size_t from = text.length > most ? text.length - most : 0;
    for (; from < text.length; from++) {
        const char *cr = memchr(text.data + from, '\r', text.length - from);
        if (!cr)
            return 0;
        from = (size_t)(cr - text.data);
        if (memcmp(cr, reader->delimiter, text.length - from) == 0)
            return text.length - from;
    }
    return 0;
}

/* Find a boundary that begins in the first `count` bytes. It has a CR at its beginning alone, so
 * that the comparisons read each byte once more at most. */
static const char *find_exactly(const mishap_multipart *reader, const char *text, size_t count)
{
    const char *end = text + count;
    while ((text = memchr(text, '\r', (size_t)(end - text)))) {
        if (memcmp(text, reader->delimiter, reader->delimiter_length) == 0)
            return text;
        text++;
    }
    return NULL;
}

typedef unsigned char lanes __attribute__((vector_size(16)));

static lanes load(const char *from)
{
    lanes loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

enum { BLOCK = 4 * sizeof(lanes) };

/* True if one of the bytes of a block is a CR, and the last character of the boundary is where it
 * would be then. */
static bool may_begin(const mishap_multipart *reader, const char *block)
{
    size_t last = reader->delimiter_length - 1;
    lanes begin = (lanes){ 0 } + (unsigned char)'\r';
    lanes end = (lanes){ 0 } + (unsigned char)reader->delimiter[last], found = { 0 };
    for (size_t i = 0; i < BLOCK; i += sizeof found)
        found |= (lanes)(load(block + i) == begin) & (lanes)(load(block + last + i) == end);
    uint64_t halves[2];
    memcpy(halves, &found, sizeof halves);
    return halves[0] | halves[1];
}

/* Find a boundary. In random bytes every 256th is a CR: a search for the CR alone takes as long as
 * everything else that is done with a large file. */
static const char *find_boundary(const mishap_multipart *reader, mishap_text text)
{
    size_t length = reader->delimiter_length, at = 0;
    size_t count = text.length < length ? 0 : text.length - length + 1; /* where it may begin */
    for (; at + BLOCK <= count; at += BLOCK) {
        const char *block = text.data + at;
        const char *found = may_begin(reader, block) ? find_exactly(reader, block, BLOCK) : NULL;
        if (found)
            return found;
    }
    return count ? find_exactly(reader, text.data + at, count - at) : NULL;
}

/* Take bytes up to a boundary. Returns how many were used; the rest may be a part of one. */
static size_t take_body(mishap_multipart *reader, mishap_text text)
{
    bool inside = reader->state == MISHAP_MULTIPART_BODY;
    const char *found = find_boundary(reader, text);
    size_t length = found ? (size_t)(found - text.data) : text.length - half_boundary(reader, text);
    if (inside && !give_data(reader, (mishap_text){ text.data, length }))
        return text.length;
    if (!found)
        return length;
    if (inside && !take_failure(reader, reader->receiver->end(reader->receiver->state)))
        return text.length;
    reader->state = MISHAP_MULTIPART_LINE;
    return length + reader->delimiter_length;
}

/* Behind a boundary: two hyphens if it is the last one, then spaces and a line end. */
static size_t take_line(mishap_multipart *reader, mishap_text text)
{
    enum { LONGEST = 128 };
    size_t i = 0;
    if (text.length < 2)
        return 0;
    if (text.data[0] == '-' && text.data[1] == '-') {
        reader->state = MISHAP_MULTIPART_EPILOGUE;
        return 2;
    }
    while (i < text.length && is_space(text.data[i]))
        i++;
    if (i > LONGEST || (i < text.length && text.data[i] != '\r') ||
        (i + 1 < text.length && text.data[i + 1] != '\n')) {
        refuse(reader, "something stands behind a boundary in its line");
        return text.length;
    }
    if (i + 1 >= text.length)
        return 0;
    reader->state = MISHAP_MULTIPART_FIELDS;
    return i + 2;
}

static size_t take_fields(mishap_multipart *reader, mishap_text text)
{
    const char *end = memmem(text.data, text.length, "\r\n\r\n", 4);
    if (text.length >= 2 && memcmp(text.data, "\r\n", 2) == 0) {
        refuse(reader, "a part has no name");
        return text.length;
    }
    if ((end ? (size_t)(end - text.data) : text.length) > MISHAP_MULTIPART_HEAD) {
        refuse(reader, "the head of a part is longer than 8 KB");
        return text.length;
    }
    if (!end)
        return 0;
    if (!read_head(reader, (mishap_text){ text.data, (size_t)(end - text.data) }))
        return text.length;
    reader->state = MISHAP_MULTIPART_BODY;
    return (size_t)(end - text.data) + 4;
}

/* Take what can be judged of the text. Returns how many bytes that is; 0: more are needed. */
static size_t take_step(mishap_multipart *reader, mishap_text text)
{
    switch (reader->state) {
    case MISHAP_MULTIPART_PREAMBLE:
    case MISHAP_MULTIPART_BODY:
        return take_body(reader, text);
    case MISHAP_MULTIPART_LINE:
        return take_line(reader, text);
    case MISHAP_MULTIPART_FIELDS:
        return take_fields(reader, text);
    case MISHAP_MULTIPART_EPILOGUE:
        break;
    }
    return text.length;
}

/* -- all of it --------------------------------------------------------------------------------- */

static bool is_boundary(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~' || strchr("\"!#$%&*;<>@[\\]^`{|}~", text[i]))
            return false;
    return length && text[length - 1] != ' ';
}

bool mishap_multipart_begin(mishap_multipart *reader, mishap_text content_type,
                            const mishap_multipart_receiver *receiver)
{
    char *boundary = reader->delimiter + 4;
    size_t length;
    *reader = (mishap_multipart){ .receiver = receiver };
    memcpy(reader->delimiter, "\r\n--", 4);
    if (!mishap_multipart_param(content_type, "boundary", boundary, MISHAP_MULTIPART_BOUNDARY,
                                &length) ||
        !is_boundary(boundary, length))
        return false;
    reader->delimiter_length = length + 4;
    MISHAP_PUT(&reader->kept, "\r\n"); /* the first boundary has no line before it */
    return true;
}

/* Process a text; what is left of it is kept. */
static void take_text(mishap_multipart *reader, mishap_text text)
{
    size_t used = 0, step = 1;
    while (!reader->failure && step && used < text.length) {
        step = take_step(reader, (mishap_text){ text.data + used, text.length - used });
        used += step;
    }
    if (reader->failure || used == text.length) {
        mishap_buffer_reset(&reader->kept);
        return;
    }
    if (text.data == reader->kept.data) {
        memmove(reader->kept.data, text.data + used, text.length - used);
        reader->kept.length = text.length - used;
    } else {
        mishap_buffer_put(&reader->kept, text.data + used, text.length - used);
    }
}

bool mishap_multipart_feed(mishap_multipart *reader, mishap_text bytes)
{
    if (reader->failure || !bytes.length)
        return !reader->failure;
    if (reader->kept.length) {
        mishap_buffer_put_text(&reader->kept, bytes);
        if (!reader->kept.failed)
            take_text(reader, mishap_buffer_text(&reader->kept));
    } else {
        take_text(reader, bytes);
    }
    if (reader->kept.failed)
        take_failure(reader, mishap_out_of_memory());
    return !reader->failure;
}

mishap *mishap_multipart_end(mishap_multipart *reader)
{
    if (!reader->failure && reader->state != MISHAP_MULTIPART_EPILOGUE)
        refuse(reader, reader->state == MISHAP_MULTIPART_PREAMBLE ? "it has no boundary"
                                                                  : "its last boundary is missing");
    mishap *failure = reader->failure;
    reader->failure = NULL;
    mishap_buffer_release(&reader->kept);
    return failure;
}
