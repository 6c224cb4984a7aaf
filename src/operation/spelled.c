/* Values where there is only text: on the command line, in the path and the query of a URL, in the
 * address of a resource, in the arguments of a prompt. */
#include "operation/operation.h"

static size_t skip_digits(mishap_text text, size_t at)
{
    while (at < text.length && text.data[at] >= '0' && text.data[at] <= '9')
        at++;
    return at;
}

/* Where the integer at the start of the text ends, as JSON has it: no zeros in front, no plus. 0:
 * there is none. */
static size_t skip_integer(mishap_text text)
{
    size_t start = text.length && text.data[0] == '-';
    size_t end = skip_digits(text, start);
    return end == start || (text.data[start] == '0' && end > start + 1) ? 0 : end;
}

static bool is_integer(mishap_text text)
{
    return text.length && skip_integer(text) == text.length &&
           !mishap_text_equal(text, (mishap_text)MISHAP_TEXT("-0"));
}

static bool is_number(mishap_text text)
{
    size_t at = skip_integer(text), start;
    if (at == 0)
        return false;
    if (at < text.length && text.data[at] == '.') {
        start = at + 1;
        if ((at = skip_digits(text, start)) == start)
            return false;
    }
    if (at < text.length && (text.data[at] | 32) == 'e') {
        start = at + 1;
        if (start < text.length && (text.data[start] == '+' || text.data[start] == '-'))
            start++;
        if ((at = skip_digits(text, start)) == start)
            return false;
    }
    return at == text.length;
}

static bool is_boolean(mishap_text *text)
{
    static const mishap_text yes = MISHAP_TEXT("true"), no = MISHAP_TEXT("false");
    if (text->length == 0)
        *text = yes;
    return mishap_text_equal(*text, yes) || mishap_text_equal(*text, no);
}

/* One object or array, without the white space around it. Its flaw, if it is one after all. */
static bool is_container(mishap_text *text, const char *brackets, mishap_json_flaw *flaw)
{
    mishap_text inner = *text;
    while (inner.length && memchr(" \t\r\n", inner.data[0], 4))
        inner = (mishap_text){ inner.data + 1, inner.length - 1 };
    while (inner.length && memchr(" \t\r\n", inner.data[inner.length - 1], 4))
        inner.length--;
    if (inner.length == 0 || !memchr(brackets, inner.data[0], strlen(brackets)))
        return false;
    mishap_json_reader reader = MISHAP_JSON_READER;
    yyjson_val *at;
    bool read = mishap_json_read(&reader, inner);
    *flaw = reader.flaw;
    if (read && *flaw == MISHAP_JSON_SOUND)
        *flaw = mishap_json_first_flaw(&reader, &at);
    mishap_json_reader_release(&reader);
    if (read)
        *text = inner;
    return read;
}

bool mishap_put_spelled(mishap_buffer *buffer, mishap_type_of_param type, mishap_text text)
{
    mishap_json_flaw flaw = MISHAP_JSON_SOUND;
    bool bare = false;
    switch (type) {
    case MISHAP_INTEGER:
        bare = is_integer(text);
        break;
    case MISHAP_NUMBER:
    case MISHAP_DECIMAL_NUMBER:
        bare = is_number(text);
        break;
    case MISHAP_BOOLEAN:
        bare = is_boolean(&text);
        break;
    case MISHAP_ARRAY:
        bare = is_container(&text, "[", &flaw);
        break;
    case MISHAP_OBJECT:
    case MISHAP_MAP:
        bare = is_container(&text, "{[", &flaw); /* the checks refuse an array as an array */
        ;
        break;
    default: /* a string */
        break;
    }
    if (!bare) {
        mishap_json_string(buffer, text);
    } else {
        mishap_json_comma(buffer);
        mishap_buffer_put_text(buffer, text);
    }
    buffer->failed = buffer->failed || flaw == MISHAP_JSON_NO_MEMORY;
    return !bare || flaw == MISHAP_JSON_SOUND;
}
