#include "sample_app.h"

#include <sys/wait.h>
#include <unistd.h>

#include "cli/manual/complete.h"
#include "cli/manual/manual.h"
#include "testing.h"

static mishap *run(mishap_call *call)
{
    (void)call;
    return NULL;
}

/* -- the small one ----------------------------------------------------------------------------- */

static const mishap_param user_params[] = {
    { "name", MISHAP_STRING, .required = true, .length = { 1, 200 }, .help = "Full name" },
    { "age", MISHAP_INTEGER, .range = { 0, 150 } },
    { "email", MISHAP_STRING, .required = true, .pattern = ".*@.*\\..*", .letter = 'e' },
    { 0 },
};

static const mishap_operation small_operations[] = {
    { "users.create", "Create a user", user_params, run, .danger = MISHAP_MUTATING,
      .raises = MISHAP_RAISES(ALREADY_EXISTS) },
    { 0 },
};

const mishap_app small_app = { .name = "directory",
                               .version = "1.0",
                               .summary = "A directory of people",
                               .operations = small_operations };

/* -- the large one ----------------------------------------------------------------------------- */

static const char *const roles[] = { "admin", "guest", "it's $HOME `x`", NULL };
static const char *const levels[] = { "one", "two", "three", "four", "five", "six", NULL };
static const char *const formats[] = { "csv", "json", NULL };

static const mishap_param tag = { "tag", MISHAP_STRING, .length = { 2, 20 } };
static const mishap_param score = { "score", MISHAP_NUMBER, .range = { -0.5, 1e20 } };
static const mishap_param scores = { "scores", MISHAP_ARRAY, .items = &score, .length = { 1, 3 } };
static const mishap_param format_item = { "format", MISHAP_ENUM, .choices = formats };

static const mishap_param place_members[] = {
    { "latitude", MISHAP_NUMBER, .required = true, .range = { -90, 90 } },
    { "longitude", MISHAP_NUMBER, .required = true, .range = { -180, 180 } },
    { 0 },
};
static const mishap_param address_members[] = {
    { "street", MISHAP_STRING, .required = true, .length = { 1, 80 } },
    { "zip", MISHAP_STRING, .length = { 5, 5 } },
    { "kind", MISHAP_ENUM, .choices = formats },
    { "place", MISHAP_OBJECT, .members = place_members },
    { 0 },
};

static const mishap_param everything[] = {
    { "title", MISHAP_STRING, .required = true, .length = { 1, 200 }, .letter = 't',
      .help = "What it is called" },
    { "note", MISHAP_STRING, .initial = "\"nothing to say\"",
      .help = "A remark of any length, which may well be rather "
              "long, so that it needs more than one line of help" },
    { "count", MISHAP_INTEGER, .range = { 0, 150 }, .initial = "5", .letter = 'c',
      .help = "How many" },
    { "least", MISHAP_INTEGER, .range = { 3, INFINITY }, .help = "A lower bound only" },
    { "most", MISHAP_NUMBER, .range = { -INFINITY, 2.5 }, .help = "An upper bound only" },
    { "ratio", MISHAP_NUMBER, .initial = "0.25", .environment = "SAMPLE_RATIO" },
    { "force", MISHAP_BOOLEAN, .letter = 'f', .help = "Do it in any case" },
    { "color_output", MISHAP_BOOLEAN, .initial = "true", .help = "Use colour" },
    { "role", MISHAP_ENUM, .choices = roles, .initial = "\"guest\"", .letter = 'r',
      .help = "Who may see it" },
    { "level", MISHAP_ENUM, .choices = levels },
    { "tags", MISHAP_ARRAY, .items = &tag, .length = { 0, 5 }, .initial = "[ \"a b\", \"cd\" ]",
      .help = "Some words" },
    { "matrix", MISHAP_ARRAY, .items = &scores },
    { "formats", MISHAP_ARRAY, .items = &format_item },
    { "address", MISHAP_OBJECT, .members = address_members, .help = "Where it is" },
    { "extra", MISHAP_OBJECT, .help = "Anything else" },
    { "password", MISHAP_STRING, .required = true, .secret = true, .environment = "SAMPLE_PASSWORD",
      .help = "The password of the owner" },
    { "key", MISHAP_STRING, .secret = true },
    { "timeout_ms", MISHAP_INTEGER, .initial = "5000", .placeholder = "MILLISECONDS",
      .environment = "SAMPLE_TIMEOUT", .help = "How long to wait" },
    { "email", MISHAP_STRING, .pattern = "^[^@]+@[^@]+\\.[a-z]{2,}$", .help = "Where to write to" },
    { "size", MISHAP_STRING,
      .help = "Größe, Grüße und «Straßen» — überall dort, wo es schön ist, öfter zu verweilen" },
    { 0 },
};

static const mishap_param import_params[] = {
    { "format", MISHAP_ENUM, .choices = formats, .required = true, .positional = true,
      .help = "How the file is laid out" },
    { "file", MISHAP_STRING, .required = true, .positional = true, .file = true, .letter = 'i',
      .help = "The file to read" },
    { "limit", MISHAP_INTEGER, .positional = true, .initial = "10" },
    { "report", MISHAP_STRING, .file = true, .help = "Where to write the report" },
    { "verbose", MISHAP_INTEGER, .range = { 0, 3 }, .letter = 'v',
      .help = "How much to say, here as a number" },
    { 0 },
};

static const mishap_param remove_params[] = {
    { "id", MISHAP_INTEGER, .required = true, .positional = true, .range = { 1, INFINITY },
      .help = "Which one" },
    { "help_text", MISHAP_STRING, .letter = 'v' },
    { 0 },
};

static const mishap_example create_examples[] = {
    { "items create --title Lamp --password @secret", "Create a lamp" },
    { "items create --title 'A very long title with many words in it' --role admin --count 12 "
      "--note \"more words here\" "
      "--address '{\"street\":\"Main Street\"}' --password @secret",
      "Create something with\\everything, .dots and -hyphens" },
    { "items create --help", NULL },
    { 0 },
};

static const mishap_operation large_operations[LARGE_OPERATIONS + 1] = {
    { "items.create", "Create an item", everything, run, .danger = MISHAP_MUTATING,
      .route = "POST /items",
      .raises = MISHAP_RAISES(ALREADY_EXISTS, CONFLICT, LOCKED, INSUFFICIENT_STORAGE, OUTPUT_FAILED,
                              RATE_LIMITED),
      .examples = create_examples,
      .description = "Creates an item and says which number it got. This paragraph is long enough "
                     "that it has to be laid "
                     "out on several lines, and it has \\backslashes.\n\n.A second paragraph "
                     "starts with a dot.\n"
                     "'It goes on after a line feed.\n\n\nA third one." },
    { "items.import", "Read items from a file", import_params, run, .danger = MISHAP_MUTATING,
      .raises = MISHAP_RAISES(INPUT_UNREADABLE, PARTIAL_FAILURE, NONCONFORMING, NOT_CONFIGURED) },
    { "items.remove", "Remove an item for good", remove_params, run, .danger = MISHAP_DESTRUCTIVE,
      .raises = MISHAP_RAISES(NOT_FOUND, GONE, TIMEOUT) },
    { "connect", "Connect to a service", NULL, run, .group = "Network",
      .raises = MISHAP_RAISES(CONNECTION_REFUSED, CONNECTION_TIMEOUT, HOST_NOT_FOUND,
                              HOST_UNREACHABLE, BAD_GATEWAY, GATEWAY_TIMEOUT, UNAVAILABLE,
                              SERVICE_UNAVAILABLE, TOO_EARLY, REQUEST_TIMEOUT, TIMEOUT) },
    { "network.hosts.list", "List the hosts", NULL, run, .group = "Network" },
    { "network.hosts.show_all", "Show all that is known of the hosts", remove_params, run,
      .danger = MISHAP_SAFE },
    { "version", "Show versions", NULL, run, .danger = MISHAP_SAFE },
    { 0 },
};

const mishap_app large_app = {
    .name = "sample-tool",
    .version = "2.0.1",
    .summary = "One of everything that can be declared, so that everything can be described",
    .operations = large_operations
};

/* -- what is written --------------------------------------------------------------------------- */

static char *taken(mishap_buffer *buffer)
{
    assert_false(buffer->failed);
    mishap_buffer_add(buffer, "", 1);
    char *text = malloc(buffer->length);
    assert_non_null(text);
    memcpy(text, buffer->data, buffer->length);
    assert_int_equal(strlen(text), buffer->length - 1);
    mishap_buffer_release(buffer);
    return text;
}

const mishap_operation *operation_of(const mishap_app *app, const char *name)
{
    for (const mishap_operation *o = app->operations; o->name; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    fail_msg("there is no operation %s", name);
    return NULL;
}

char *help_of(const mishap_app *app, const char *operation, bool color)
{
    mishap_buffer buffer = { 0 };
    mishap_cli_put_help(&buffer, app, operation ? operation_of(app, operation) : NULL, color);
    return taken(&buffer);
}

char *manifest_of(const mishap_app *app)
{
    mishap_buffer buffer = { 0 };
    mishap_cli_put_manifest(&buffer, app);
    return taken(&buffer);
}

char *completion_of(const mishap_app *app, const char *shell)
{
    mishap_buffer buffer = { 0 };
    assert_true(mishap_cli_put_completion(&buffer, app, shell));
    return taken(&buffer);
}

char *offers_of(const mishap_app *app, const char *const *words, size_t count)
{
    mishap_buffer buffer = { 0 };
    mishap_cli_put_offers(&buffer, app, words, count);
    return taken(&buffer);
}

char *manual_of(const mishap_app *app)
{
    mishap_buffer buffer = { 0 };
    mishap_cli_put_manual(&buffer, app);
    return taken(&buffer);
}

/* -- other programs ---------------------------------------------------------------------------- */

char *output_of(const char *command, int *status)
{
    char with_errors[4096];
    size_t length = 0, size = 1 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    assert_true(snprintf(with_errors, sizeof with_errors, "{ %s\n} 2>&1", command) <
                (int)sizeof with_errors);
    FILE *pipe = popen(with_errors, "r");
    assert_non_null(pipe);
    for (size_t got; (got = fread(text + length, 1, size - 1 - length, pipe)) > 0;)
        length += got;
    text[length] = '\0';
    int ended = pclose(pipe);
    *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    return text;
}

bool installed(const char *program)
{
    char command[100];
    int status;
    snprintf(command, sizeof command, "command -v %s", program);
    free(output_of(command, &status));
    return status == 0;
}

void write_temporary(const char *text, char *path, size_t size)
{
    const char *folder = getenv("TMPDIR");
    assert_true(snprintf(path, size, "%s/mishap-sample-XXXXXX", folder ? folder : "/tmp") <
                (int)size);
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (long)strlen(text));
    close(file);
}

/* -- without memory ---------------------------------------------------------------------------- */

void assert_survives_lack_of_memory(void (*describe)(mishap_buffer *buffer))
{
    mishap_buffer whole = { 0 };
    describe(&whole);
    assert_false(whole.failed);
    for (int once = 0; once < 2; once++) {
        fail_once = once;
        for (fail_at = 1;; fail_at++) {
            mishap_buffer buffer = { 0 };
            calls = 0;
            blocks = 0;
            mishap_use_allocator(&failing_allocator);
            describe(&buffer);
            bool failed = buffer.failed;
            if (!failed) {
                assert_int_equal(buffer.length, whole.length);
                assert_memory_equal(buffer.data, whole.data, whole.length);
            }
            mishap_buffer_release(&buffer);
            mishap_use_allocator(NULL);
            assert_int_equal(blocks, 0);
            assert_true(failed == (calls >= fail_at));
            if (calls < fail_at)
                break;
        }
    }
    fail_at = 0;
    mishap_buffer_release(&whole);
}
