/*
 * An album of photos: files that are uploaded as parts of a form, as paths on a command line, and
 * as base64 text by agents; bytes with a version, which browsers keep and ask for in parts; headers
 * and a cookie of its own.
 *
 *     cc -o album album.c $(pkg-config --cflags --libs mishap)
 *     ./album photos measure cat.png
 *     ./album serve
 *     curl -F title=Cat -F photo=@cat.png localhost:8080/photos
 *     curl -OJ localhost:8080/photos/1
 *
 * The photos are kept in memory: operations without a service run in one process of the server.
 */
#include <mishap/main.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PHOTOS = 100, MOST_BYTES = 512 * 1024 };

static struct photo {
    char title[201], name[256], type[128];
    char *bytes;
    size_t length;
    int changes; /* its version */
} photos[MOST_PHOTOS];
static size_t count;

static void copy_text(char *to, size_t size, const char *text, const char *otherwise)
{
    const char *from = text && *text ? text : otherwise;
    size_t length = strlen(from);
    length = length < size ? length : size - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

/* -- what files are ---------------------------------------------------------------------------- */

/* Reads a file piece by piece. It has no state, so it is the same in a command. */
static mishap *measure(mishap_call *call)
{
    char piece[4096];
    uint64_t bytes = 0, sum = 0;
    size_t got;
    do {
        mishap *m = mishap_file_read(call, "photo", piece, sizeof piece, &got);
        if (m)
            return m;
        for (size_t i = 0; i < got; i++)
            sum = sum * 31 + (unsigned char)piece[i];
        bytes += got;
    } while (got);
    mishap_answer_member(call, "name", mishap_file_name(call, "photo"));
    mishap_answer_member(call, "type", mishap_file_type(call, "photo"));
    mishap_answer_member(call, "bytes", bytes);
    return mishap_answer_member(call, "sum", (int64_t)(sum & 0xFFFFFFFF));
}

/* -- the album --------------------------------------------------------------------------------- */

static mishap *add(mishap_call *call)
{
    mishap_text bytes = mishap_file(call, "photo");
    char *copy = count < MOST_PHOTOS ? malloc(bytes.length + 1) : NULL;
    if (count == MOST_PHOTOS)
        return mishap_raise(INSUFFICIENT_STORAGE, "The album has room for %d photos.", MOST_PHOTOS);
    if (!copy)
        return mishap_out_of_memory();
    struct photo *photo = &photos[count++];
    memcpy(copy, bytes.data, bytes.length);
    *photo = (struct photo){ .bytes = copy, .length = bytes.length, .changes = 1 };
    copy_text(photo->title, sizeof photo->title, mishap_string(call, "title"), "");
    copy_text(photo->name, sizeof photo->name, mishap_file_name(call, "photo"), "photo");
    copy_text(photo->type, sizeof photo->type, mishap_file_type(call, "photo"),
              "application/octet-stream");
    mishap_answer_version(call, "1");
    mishap_answer_member(call, "id", count);
    mishap_answer_member(call, "title", photo->title);
    mishap_answer_member(call, "bytes", photo->length);
    return mishap_created(call, NULL, mishap_call_print(call, "/photos/%zu", count));
}

static struct photo *find(mishap_call *call, mishap **missing)
{
    int64_t id = mishap_integer(call, "id");
    bool found = id >= 1 && (uint64_t)id <= count;
    *missing = found ? NULL : mishap_raise(NOT_FOUND, "There is no photo %lld.", (long long)id);
    return found ? &photos[id - 1] : NULL;
}

/* What was uploaded is never shown as a page of this server, even if its sender calls it one. */
static mishap *show(mishap_call *call)
{
    mishap *missing;
    const struct photo *photo = find(call, &missing);
    if (missing)
        return missing;
    mishap_set_header(call, "Content-Security-Policy", "sandbox; default-src 'none'");
    mishap_set_header(call, "Content-Disposition", "attachment");
    mishap_set_header(call, "Cache-Control", "private, no-cache");
    if (mishap_answer_version(call, mishap_call_print(call, "%d", photo->changes)))
        return NULL; /* the caller has it already */
    return mishap_answer_bytes(call, (mishap_text){ photo->bytes, photo->length }, photo->type);
}

/* Two people who rename the same photo do not overwrite each other's title. */
static mishap *rename_photo(mishap_call *call)
{
    mishap *missing;
    struct photo *photo = find(call, &missing);
    if (missing)
        return missing;
    mishap *changed = mishap_match_version(call, mishap_call_print(call, "%d", photo->changes));
    if (changed)
        return changed;
    copy_text(photo->title, sizeof photo->title, mishap_string(call, "title"), "");
    photo->changes++;
    mishap_answer_version(call, mishap_call_print(call, "%d", photo->changes));
    mishap_answer_member(call, "title", photo->title);
    return mishap_answer_member(call, "version", photo->changes);
}

static mishap *list(mishap_call *call)
{
    const char *theme = mishap_cookie_value(call, "theme");
    mishap_answer_member(call, "theme", theme ? theme : "light");
    mishap_answer_array(call, "photos");
    for (size_t i = 0; i < count; i++) {
        mishap_answer_object(call, NULL);
        mishap_answer_member(call, "id", i + 1);
        mishap_answer_member(call, "title", photos[i].title);
        mishap_answer_member(call, "name", photos[i].name);
        mishap_answer_member(call, "type", photos[i].type);
        mishap_answer_member(call, "bytes", photos[i].length);
        mishap_answer_end(call);
    }
    return mishap_answer_end(call);
}

static mishap *choose_theme(mishap_call *call)
{
    mishap_set_cookie(call, &(mishap_cookie){ .name = "theme",
                                              .value = mishap_string(call, "theme"),
                                              .seconds = 365 * 24 * 3600,
                                              .readable = true });
    return mishap_no_content(call);
}

/* -- the program ------------------------------------------------------------------------------- */

#define PHOTO_PARAM                                                                                \
    {                                                                                              \
        .name = "photo", .type = MISHAP_FILE, .required = true, .positional = true,                \
        .length = { 1, MOST_BYTES }, .help = "The file"                                            \
    }
#define ID_PARAM                                                                                   \
    {                                                                                              \
        .name = "id", .type = MISHAP_INTEGER, .required = true, .positional = true                 \
    }
#define TITLE_PARAM                                                                                \
    {                                                                                              \
        .name = "title", .type = MISHAP_STRING, .required = true, .length = { 1, 200 },            \
        .help = "What it shows"                                                                    \
    }

static const mishap_operation *const operations = MISHAP_OPERATIONS(
    { "photos.measure", "Measure a photo", MISHAP_PARAMS(PHOTO_PARAM), measure,
      .route = "POST /measure", .danger = MISHAP_SAFE, .stateless = true },
    { "photos.add", "Add a photo", MISHAP_PARAMS(TITLE_PARAM, PHOTO_PARAM), add,
      .route = "POST /photos", .status = 201, .raises = MISHAP_RAISES(INSUFFICIENT_STORAGE) },
    { "photos.show", "Get the bytes of a photo", MISHAP_PARAMS(ID_PARAM), show,
      .route = "GET /photos/:id", .answers_type = "application/octet-stream",
      .raises = MISHAP_RAISES(NOT_FOUND) },
    { "photos.rename", "Give a photo another title", MISHAP_PARAMS(ID_PARAM, TITLE_PARAM),
      rename_photo, .route = "PUT /photos/:id", .forms = true,
      .raises = MISHAP_RAISES(NOT_FOUND, PRECONDITION_FAILED) },
    { "photos.list", "List all photos", .run = list, .route = "GET /photos",
      .headers = MISHAP_CHOICES("Cookie") },
    { "theme", "Choose a theme",
      MISHAP_PARAMS({ .name = "theme",
                      .type = MISHAP_ENUM,
                      .required = true,
                      .choices = MISHAP_CHOICES("light", "dark") }),
      choose_theme, .route = "POST /theme", .forms = true, .status = 204 });

int main(int argc, char **argv)
{
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "album",
                                      .version = "1.0",
                                      .license = "MIT",
                                      .summary = "An album of photos",
                                      .operations = operations });
}
