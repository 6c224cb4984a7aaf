/* Files as arguments: see file.h. */
#include "operation/file.h"

#include "operation/call.h"
#include "operation/media.h"
#include "operation/upload.h"

static const mishap_text scheme = MISHAP_TEXT("data:"), coding = MISHAP_TEXT(";base64,"),
                         named = MISHAP_TEXT(";name=");

/* -- as text ----------------------------------------------------------------------------------- */

bool mishap_file_split(mishap_text text, mishap_file_parts *file)
{
    *file = (mishap_file_parts){ .base64 = text };
    if (text.length >= scheme.length && memcmp(text.data, scheme.data, scheme.length) == 0) {
        enum { LONGEST_HEAD = 4096 };
        size_t searched = text.length < LONGEST_HEAD ? text.length : LONGEST_HEAD;
        const char *end = memmem(text.data, searched, coding.data, coding.length);
        if (!end)
            return false;
        mishap_text head = { text.data + scheme.length, (size_t)(end - text.data) - scheme.length };
        const char *name = head.length ? memmem(head.data, head.length, named.data, named.length)
                                       : NULL;
        file->type = (mishap_text){ head.data, name ? (size_t)(name - head.data) : head.length };
        if (name)
            file->name = (mishap_text){ name + named.length, (size_t)(end - name) - named.length };
        if (!file->type.length)
            file->type.data = NULL;
        file->base64 = (mishap_text){ end + coding.length,
                                      text.length - (size_t)(end - text.data) - coding.length };
    }
    return mishap_base64_measure(file->base64, &file->size);
}

/* A media type that would be mistaken for another part of the head is left out. */
static bool is_plain_type(mishap_text type)
{
    for (size_t i = 0; i < type.length; i++)
        if (type.data[i] <= ' ' || type.data[i] > '~' || type.data[i] == ',')
            return false;
    return type.length && type.length < 256 &&
           !memmem(type.data, type.length, named.data, named.length) &&
           !memmem(type.data, type.length, ";base64", 7);
}

void mishap_file_put_head(mishap_buffer *out, mishap_text name, mishap_text type)
{
    enum { LONGEST_NAME = 255 };
    mishap_buffer_put_text(out, scheme);
    if (is_plain_type(type))
        mishap_buffer_put_text(out, type);
    name = mishap_file_bare_name(name);
    if (name.length > LONGEST_NAME)
        name.length = mishap_utf8_cut(name, LONGEST_NAME);
    if (name.length) {
        mishap_buffer_put_text(out, named);
        mishap_url_put_escaped(out, name);
    }
    mishap_buffer_put_text(out, coding);
}

void mishap_file_put(mishap_buffer *out, mishap_text name, mishap_text type, mishap_text bytes)
{
    mishap_file_put_head(out, name, type);
    mishap_base64_put(out, bytes);
}

mishap_text mishap_file_bare_name(mishap_text name)
{
    static const mishap_text none = { "", 0 };
    for (size_t i = name.length; i-- > 0;)
        if (name.data[i] == '/' || name.data[i] == '\\') {
            name = (mishap_text){ name.data + i + 1, name.length - i - 1 };
            break;
        }
    for (size_t i = 0; i < name.length; i++)
        if ((unsigned char)name.data[i] < ' ' || name.data[i] == 127)
            return none;
    bool dots = name.length && name.length <= 2 && name.data[0] == '.' &&
                name.data[name.length - 1] == '.';
    return !name.length || dots || mishap_utf8_valid_length(name) < name.length ? none : name;
}

/* -- for handlers ------------------------------------------------------------------------------ */

static bool find_file(const mishap_call *call, const char *path, mishap_file_parts *file)
{
    const mishap_param *param;
    yyjson_val *value = mishap_call_file(call, path, &param);
    return value && mishap_file_split(mishap_json_text(value), file);
}

/* Copy what a handler gets into the memory of the call. */
static mishap_text keep_bytes(const mishap_call *call, const char *path, mishap_buffer *bytes)
{
    mishap_text kept = { NULL, 0 };
    if (!bytes->failed)
        kept = mishap_arena_copy(&mishap_call_whole(call)->arena, mishap_buffer_text(bytes));
    mishap_buffer_release(bytes);
    if (!kept.data)
        mishap_call_misuse(call, MISHAP_NO_MEMORY, path);
    return kept;
}

/* The bytes of a file that is in the arguments. */
static mishap_text bytes_of(const mishap_call *call, const char *path)
{
    mishap_file_parts file;
    mishap_buffer bytes = { 0 };
    if (!find_file(call, path, &file))
        return (mishap_text){ NULL, 0 };
    if (!file.size)
        return (mishap_text){ "", 0 };
    if (!mishap_base64_read(&bytes, file.base64))
        bytes.failed = true;
    return keep_bytes(call, path, &bytes);
}

mishap_text mishap_file(const mishap_call *call, const char *path)
{
    const mishap_param *param;
    mishap_call_file(call, path, &param);
    if (param && param->streamed)
        mishap_call_misuse(call, "it asked for all bytes of a file that is streamed", path);
    return bytes_of(call, path);
}

const char *mishap_file_name(const mishap_call *call, const char *path)
{
    mishap_file_parts file;
    mishap_buffer name = { 0 };
    if (!find_file(call, path, &file) || !file.name.length)
        return NULL;
    bool sound = mishap_url_unescape(&name, file.name, false);
    mishap_text bare = mishap_file_bare_name(mishap_buffer_text(&name));
    if (!name.failed && (!sound || !bare.length)) {
        mishap_buffer_release(&name);
        return NULL;
    }
    if (!name.failed && bare.data != name.data) {
        memmove(name.data, bare.data, bare.length);
        name.length = bare.length;
    }
    return keep_bytes(call, path, &name).data;
}

const char *mishap_file_type(const mishap_call *call, const char *path)
{
    mishap_file_parts file;
    if (!find_file(call, path, &file) || !file.type.length)
        return NULL;
    const char *type = mishap_media_clean_text(&mishap_call_whole(call)->arena, file.type);
    return type == mishap_media_bytes ? NULL : type;
}

mishap *mishap_file_read(mishap_call *part, const char *path, void *to, size_t size, size_t *got)
{
    mishap_call *call = mishap_call_whole(part);
    const mishap_param *param;
    yyjson_val *value = mishap_call_file(part, path, &param);
    *got = 0;
    if (value && call->upload && param && param->streamed)
        return mishap_upload_read(call->upload, param, to, size, got);
    if (value != call->reading.value) {
        call->reading.value = value;
        call->reading.rest = bytes_of(part, path);
    }
    mishap_text *rest = &call->reading.rest;
    *got = value && rest->length ? (size < rest->length ? size : rest->length) : 0;
    if (*got) {
        memcpy(to, rest->data, *got);
        *rest = (mishap_text){ rest->data + *got, rest->length - *got };
    }
    return NULL;
}
