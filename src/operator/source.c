/*
 * Lines of source code around the places of an incident. A program is often built where it runs, so
 * its sources may be at hand: beside the working folder or the program, by the name that the
 * compiler was given. Only files whose names are those of sources are opened.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "operator/inside.h"

enum {
    AROUND = 3,             /* lines before and after */
    LARGEST_FILE = 4 << 20, /* bytes */
    LONGEST_LINE = 200,     /* bytes that are shown */
    LONGEST_PATH = 4096,
    MOST_PLACES = 4,
};

static bool ends_like_source(mishap_text file)
{
    static const char *const ends[] = { ".c", ".h", ".cc", ".cpp", ".hpp", ".py", ".lisp", NULL };
    for (const char *const *end = ends; *end; end++) {
        size_t length = strlen(*end);
        if (file.length > length && memcmp(file.data + file.length - length, *end, length) == 0)
            return true;
    }
    return false;
}

/* The file below a folder, if it is a regular one; -1: it is not there. */
static int open_source(const char *folder, size_t folder_length, mishap_text file,
                       struct stat *status)
{
    char path[LONGEST_PATH];
    int length = snprintf(path, sizeof path, "%.*s%s%.*s", (int)folder_length, folder,
                          folder_length ? "/" : "", (int)file.length, file.data);
    if (length < 0 || (size_t)length >= sizeof path)
        return -1;
    int found = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (found >= 0 && (fstat(found, status) != 0 || !S_ISREG(status->st_mode) ||
                       status->st_size > LARGEST_FILE)) {
        close(found);
        found = -1;
    }
    return found;
}

/* As it is named, then in the folders above the program: build/mishap was built from src/. A name
 * that begins with `../` is one of the build folder. */
static int find_source(mishap_text file, struct stat *status)
{
    char program[LONGEST_PATH];
    if (!ends_like_source(file) || memchr(file.data, '\0', file.length))
        return -1;
    while (file.length > 3 && memcmp(file.data, "../", 3) == 0)
        file = (mishap_text){ file.data + 3, file.length - 3 };
    int found = open_source("", 0, file, status);
    ssize_t length = readlink("/proc/self/exe", program, sizeof program);
    for (int up = 0; found < 0 && up < 3 && file.data[0] != '/' && length > 0; up++) {
        while (length > 0 && program[length - 1] != '/')
            length--;
        length = length > 0 ? length - 1 : 0;
        if (length > 0)
            found = open_source(program, (size_t)length, file, status);
    }
    return found;
}

static bool read_source(int file, mishap_buffer *text)
{
    for (;;) {
        if (text->length > LARGEST_FILE || !mishap_buffer_reserve(text, 1 << 14))
            return false;
        ssize_t got = read(file, text->data + text->length, text->capacity - text->length);
        if (got <= 0)
            return got == 0;
        text->length += (size_t)got;
    }
}

/* Text of a file may be anything. */
static void put_source_text(mishap_buffer *json, mishap_text line)
{
    mishap_arena arena;
    mishap_buffer printable = { 0 };
    mishap_arena_init(&arena, NULL, 0);
    line.length = mishap_utf8_cut(line, LONGEST_LINE);
    mishap_put_printable(&printable, mishap_utf8_clean(&arena, line));
    mishap_json_string(json, mishap_buffer_text(&printable));
    json->failed = json->failed || printable.failed;
    mishap_buffer_release(&printable);
    mishap_arena_release(&arena);
}

/* [{"line":10,"text":"…"}]. False: the file has fewer lines, so it is another one. */
static bool put_source_lines(mishap_buffer *json, mishap_text text, int64_t wanted)
{
    int64_t number = 0, put = 0;
    const char *at = text.data, *end = at + text.length;
    mishap_json_open(json, '[');
    while (at < end && number < wanted + AROUND) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed ? feed : end;
        if (++number >= wanted - AROUND) {
            mishap_json_open(json, '{');
            MISHAP_JSON_KEY(json, "line");
            mishap_json_int(json, number);
            MISHAP_JSON_KEY(json, "text");
            put_source_text(json, (mishap_text){ at, (size_t)(stop - at) });
            mishap_json_close(json, '}');
            put++;
        }
        at = feed ? feed + 1 : end;
    }
    mishap_json_close(json, ']');
    return put && number >= wanted;
}

/* One place, if its file is at hand. */
static bool put_place(mishap_buffer *json, yyjson_val *place, int64_t time_ms)
{
    struct stat status;
    mishap_buffer text = { 0 };
    mishap_text name = mishap_operator_text(place, "file");
    int64_t line = yyjson_get_sint(yyjson_obj_get(place, "line"));
    int file = name.length && line > 0 ? find_source(name, &status) : -1;
    if (file < 0)
        return false;
    size_t before = json->length;
    bool done = read_source(file, &text);
    close(file);
    if (done) {
        mishap_json_open(json, '{');
        MISHAP_JSON_TEXT_MEMBER(json, "file", name);
        MISHAP_JSON_KEY(json, "line");
        mishap_json_int(json, line);
        MISHAP_JSON_KEY(json, "changed");
        mishap_json_bool(json, (int64_t)status.st_mtim.tv_sec * 1000 > time_ms);
        MISHAP_JSON_KEY(json, "lines");
        done = put_source_lines(json, mishap_buffer_text(&text), line);
        mishap_json_close(json, '}');
    }
    if (!done && !json->failed)
        json->length = before;
    mishap_buffer_release(&text);
    return done;
}

void mishap_operator_put_source(mishap_buffer *json, yyjson_val *record, int64_t time_ms)
{
    size_t index, count, put = 0;
    yyjson_val *cause;
    mishap_json_open(json, '[');
    if (mishap_operator_who_raised(record) == MISHAP_RAISED_BY_CODE)
        put += put_place(json, yyjson_obj_get(record, "place"), time_ms);
    MISHAP_JSON_ITEMS (yyjson_obj_get(record, "causes"), index, count, cause)
        if (put < MOST_PLACES)
            put += put_place(json, yyjson_obj_get(cause, "place"), time_ms);
    mishap_json_close(json, ']');
}
