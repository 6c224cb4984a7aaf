/*
 * A program whose operations misbehave in every way that a boundary has to cope with.
 * boundary_test.py and boundary_handlers_test.py run it.
 *
 *     sample crash --how segv       sample block --how fifo --path FIFO       sample raise --code
 * NOT_FOUND
 */
#include <mishap/json.h>
#include <mishap/main.h>

#include "../support/dying.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile bool always = true; /* for loops that the compiler must take for endless ones */

static bool is(mishap_call *call, const char *how)
{
    return strcmp(mishap_string(call, "how"), how) == 0;
}

#define HOW(list)                                                                                  \
    {                                                                                              \
        "how", MISHAP_ENUM, .required = true, .choices = (list), .help = "In which way"            \
    }

/* -- crashes ----------------------------------------------------------------------------------- */

static const char *const crashes[] = { "segv", "bus",   "fpe",   "ill", "trap",
                                       "sys",  "abort", "stack", NULL };
static const mishap_param crash_params[] = { HOW(crashes), { 0 } };

/* A page of a file that has no bytes: reading it is a SIGBUS. */
static void read_beyond_the_end(void)
{
    int file = memfd_create("empty", MFD_CLOEXEC);
    volatile char *page = mmap(NULL, 1, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED)
        (void)page[0];
}

static __attribute__((noinline)) int recurse(int depth)
{
    volatile char room[1024];
    room[0] = (char)depth;
    return always ? recurse(depth + 1) + room[0] : 0;
}

static mishap *crash(mishap_call *call)
{
    static int *volatile nowhere = NULL;
    static volatile int number = 7;
    mishap_answer(call, "{\"half\":\"done\"}"); /* must not be told */
    if (is(call, "segv"))
        *nowhere = 1;
    else if (is(call, "bus"))
        read_beyond_the_end();
    else if (is(call, "fpe"))
        number = die_by_division(number);
    else if (is(call, "ill"))
        die_by_illegal_instruction();
    else if (is(call, "trap"))
        die_by_breakpoint();
    else if (is(call, "sys"))
        raise(SIGSYS);
    else if (is(call, "abort"))
        abort();
    else
        recurse(0);
    return NULL;
}

/* -- ends of the process ----------------------------------------------------------------------- */

static const char *const leaves[] = { "exit",   "quick_exit", "thread",       "fork",
                                      "answer", "file",       "pthread_exit", NULL };
static const mishap_param leave_params[] = {
    HOW(leaves),
    { "status", MISHAP_INTEGER, .range = { 0, 255 }, .initial = "3" },
    { "path", MISHAP_STRING, .file = true, .help = "A file to leave behind" },
    { 0 }
};

/* Not static, so that a stack names them. */
mishap *leave_process(mishap_call *call);
void *leave_from_thread(void *status);

void *leave_from_thread(void *status)
{
    exit(*(int *)status);
}

static char sign[4096];

/* Who makes the file has seen that the answer is being written, and is more than a pipe takes. */
static void *leave_at_sign(void *status)
{
    while (access(sign, F_OK) != 0)
        usleep(1000);
    return leave_from_thread(status);
}

mishap *leave_process(mishap_call *call)
{
    static int status; /* a thread may outlive the call */
    pthread_t thread;
    status = (int)mishap_integer(call, "status");
    mishap_answer(call, "{\"half\":\"done\"}"); /* must not be told */
    printf("half a line");
    fflush(stdout);
    if (is(call, "exit"))
        exit(status);
    if (is(call, "quick_exit"))
        quick_exit(status);
    if (is(call, "pthread_exit"))
        pthread_exit(NULL);
    if (is(call, "file")) {
        FILE *file = fopen(mishap_string(call, "path"), "w");
        fputs("written at the end", file);
        exit(status);
    }
    if (is(call, "thread")) {
        pthread_create(&thread, NULL, leave_from_thread, &status);
        while (always)
            pause();
    }
    if (is(call, "fork")) {
        pid_t child = fork();
        if (child == 0)
            exit(status);
        waitpid(child, &status, 0);
        return mishap_answer_member(call, "child", WEXITSTATUS(status));
    }
    enum { MUCH = 1 << 20 };
    char *text = mishap_call_take(call, MUCH + 1);
    memset(text, 'x', MUCH);
    text[MUCH] = '\0';
    snprintf(sign, sizeof sign, "%s", mishap_string(call, "path"));
    pthread_create(&thread, NULL, leave_at_sign, &status);
    return mishap_answer_member(call, "text", (const char *)text);
}

static const char *const hungers[] = { "take", "malloc", NULL };
static const mishap_param memory_params[] = { HOW(hungers), { 0 } };

/* Until there is none left: from the call, or from malloc() without looking at what it returns. */
static mishap *use_memory(mishap_call *call)
{
    enum { PIECE = 1 << 20 };
    while (always) {
        char *piece = is(call, "take") ? mishap_call_take(call, PIECE) : malloc(PIECE);
        *(volatile char *)piece = 1;
    }
    return NULL;
}

/* -- answers that are none --------------------------------------------------------------------- */

static const char *const nonsense[] = { "text",  "number", "string", "cut",
                                        "twice", "empty",  "two",    NULL };
static const mishap_param nonsense_params[] = { HOW(nonsense), { 0 } };

static mishap *answer_nonsense(mishap_call *call)
{
    static const char *const answers[] = {
        "{oops", "5", "\"text\"", "{\"a\":[1,2", "{\"a\":1,\"a\":2}", "", "{}{}"
    };
    for (size_t i = 0; nonsense[i]; i++)
        if (is(call, nonsense[i]))
            return mishap_answer(call, answers[i]);
    return NULL;
}

static mishap *raise_undeclared(mishap_call *call)
{
    (void)call;
    return mishap_raise(NOT_FOUND, "This is not declared: marker-undeclared.");
}

static const char *const misuses[] = { "undeclared", "type", NULL };
static const mishap_param misuse_params[] = { HOW(misuses), { 0 } };

static mishap *misuse(mishap_call *call)
{
    if (is(call, "type"))
        return mishap_integer(call, "how") ? NULL : mishap_answer(call, "{}");
    return mishap_answer_member(call, "other", mishap_string(call, "other"));
}

/* Every code of the catalog. */
static const mishap_code *all_codes[256];
static const mishap_param raise_params[] = { { "code", MISHAP_STRING, .required = true }, { 0 } };

static mishap *raise_code(mishap_call *call)
{
    const mishap_code *code = mishap_catalog_find(MISHAP_SPELLING_NAME,
                                                  mishap_text_of(mishap_string(call, "code")));
    return code ? mishap_raise_at(code, MISHAP_HERE, NULL)
                : mishap_raise(BAD_REQUEST, "The catalog has no such code.");
}

/* -- blocking ---------------------------------------------------------------------------------- */

static const char *const blocks[] = { "fifo", "loop", "sleep", NULL };
static const mishap_param block_params[] = { HOW(blocks),
                                             { "path", MISHAP_STRING, .file = true },
                                             { 0 } };

static mishap *block(mishap_call *call)
{
    char byte;
    printf("half a line");
    if (is(call, "fifo")) {
        int file = open(mishap_string(call, "path"),
                        O_RDWR | O_CLOEXEC); /* so that it blocks in read() */
        return read(file, &byte, 1) == 1 ? mishap_answer(call, "{}") : NULL;
    }
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    while (always)
        if (is(call, "sleep"))
            pause();
    return NULL;
}

/* -- output and leaks -------------------------------------------------------------------------- */

static const char python_trace[] = "Traceback (most recent call last):\n"
                                   "  File \"/srv/app/main.py\", line 10, in <module>\n"
                                   "    main()\n"
                                   "ValueError: marker-python-trace\n";
static const char java_trace[] = "java.lang.IllegalStateException: marker-java-trace\n"
                                 "\tat com.example.Main.run(Main.java:12)\n"
                                 "\tat com.example.Main.main(Main.java:5)\n";

static const char *const outputs[] = { "descriptor", "printf", "escape", "trace", "much", NULL };
static const mishap_param write_params[] = { HOW(outputs), { 0 } };

static mishap *write_output(mishap_call *call)
{
    if (is(call, "descriptor"))
        (void)!write(STDOUT_FILENO, "stray bytes\n", 12);
    else if (is(call, "printf"))
        printf("stray %s\n", "bytes");
    else if (is(call, "escape"))
        printf("stray \033[31mbytes\xff");
    else if (is(call, "trace"))
        fputs(python_trace, stdout);
    else
        for (int i = 0; i < 100000; i++)
            puts("stray bytes");
    return mishap_answer(call, "{\"done\":true}");
}

static const char *const places[] = { "value",   "deep",       "message", "cause",
                                      "context", "suggestion", "warning", NULL };
static const char *const languages[] = { "python", "java", NULL };
#define DEEP                                                                                       \
    "[\"kept\",{\"a\":\"java.lang.Error: marker-java-trace\\n\\tat "                               \
    "com.example.Main.run(Main.java:12)\\n\"}]"
static const mishap_param leak_params[] = {
    HOW(places), { "language", MISHAP_ENUM, .required = true, .choices = languages }, { 0 }
};

static mishap *leak(mishap_call *call)
{
    const char *trace = strcmp(mishap_string(call, "language"), "java") == 0 ? java_trace
                                                                             : python_trace;
    if (is(call, "value"))
        return mishap_answer_member(call, "output", trace);
    if (is(call, "deep")) {
        mishap_answer_member(call, "kept", (bool)true);
        return mishap_answer_member(call, "lists", mishap_value_of_json(DEEP));
    }
    if (is(call, "warning")) {
        mishap_warn(call, "%s", trace);
        return mishap_answer(call, "{\"kept\":true}");
    }
    if (is(call, "message"))
        return mishap_raise(NOT_FOUND, "%s", trace);
    mishap *m = mishap_raise(NOT_FOUND, "It is not there.");
    if (is(call, "cause"))
        return mishap_tell_cause(m, trace);
    if (is(call, "context"))
        return mishap_tell(mishap_tell(m, "output", trace), "kept", (bool)true);
    return mishap_suggest(m, trace);
}

/* The words behind `--`; and a failure whose answer quotes the output of another program. */
static const mishap_param rest_params[] = {
    { "first", MISHAP_STRING, .positional = true },
    { "loud", MISHAP_BOOLEAN, .help = "A flag" },
    { "words", MISHAP_ARRAY, .rest = true, .length = { 0, 9 }, .placeholder = "WORD..." },
    { 0 },
};

static mishap *show_rest(mishap_call *call)
{
    mishap_answer_member(call, "first", mishap_string(call, "first"));
    mishap_answer_member(call, "loud", (bool)mishap_boolean(call, "loud"));
    return mishap_answer_json(call, "words",
                              mishap_given(call, "words") ? mishap_json(call, "words") : "null");
}

static mishap *quote(mishap_call *call)
{
    mishap_buffer json = { 0 };
    mishap_json_put_object(&json, NULL);
    mishap_json_put(&json, "output", python_trace);
    mishap_json_put_end(&json, '}');
    mishap_buffer_add(&json, "", 1);
    mishap_answer(call, json.data);
    mishap_answer_text(call, mishap_text_of(python_trace));
    mishap_buffer_release(&json);
    return mishap_raise(NOT_FOUND, "It is not there.");
}

static const char *const secret_ways[] = { "length", "fail",     "crash", "nonsense", "message",
                                           "answer", "document", "print", "text",     NULL };
static const mishap_param secret_params[] = {
    { "token", MISHAP_STRING, .required = true, .secret = true, .length = { 8, 60 },
      .pattern = "^marker-", .environment = "SAMPLE_TOKEN", .help = "What must not be shown" },
    { "how", MISHAP_ENUM, .choices = secret_ways, .initial = "\"length\"" },
    { 0 }
};

static mishap *use_secret(mishap_call *call)
{
    const char *token = mishap_string(call, "token");
    if (is(call, "length"))
        return mishap_answer_member(call, "length", strlen(token));
    if (is(call, "crash"))
        abort();
    if (is(call, "print")) { /* across the place where it is cut */
        printf("%01985d%s", 0, token);
        exit(0);
    }
    if (is(call, "nonsense"))
        return mishap_answer(call, mishap_call_print(call, "{\"token\":\"%s\"", token));
    if (is(call, "message"))
        return mishap_raise(AUTH_REQUIRED, "The service did not accept %s.", token);
    if (is(call, "answer"))
        return mishap_answer_member(call, "said",
                                    mishap_call_print(call, "I used %s for it.", token));
    if (is(call, "document"))
        return mishap_answer_document(call, mishap_text_of(mishap_call_print(call, "%s\n", token)));
    if (is(call, "text")) { /* beside a failure */
        mishap_answer(call, "{\"tried\":true}");
        mishap_answer_text(call, mishap_text_of(mishap_call_print(call, "I tried %s.", token)));
    }
    mishap *m = mishap_raise(AUTH_REQUIRED, "The service did not accept the token.");
    m = mishap_note(mishap_tell(m, "token", token), "api_key", token);
    return mishap_note(m, "url", mishap_call_print(call, "https://ada:%s@example.com/", token));
}

static const mishap_param echo_params[] = {
    { "text", MISHAP_STRING, .required = true, .positional = true }, { 0 }
};

static mishap *echo(mishap_call *call)
{
    const char *text = mishap_string(call, "text");
    return mishap_tell(mishap_raise(NOT_FOUND, "There is no %s.", text), "text", text);
}

/* -- what works -------------------------------------------------------------------------------- */

static const char *const colours[] = { "red", "green", NULL };
static const mishap_param number_item = { .name = "item",
                                          .type = MISHAP_INTEGER,
                                          .range = { 0, 9 } };
static const mishap_param point[] = { { "x", MISHAP_INTEGER, .required = true },
                                      { "y", MISHAP_NUMBER, .range = { -1, 1 } },
                                      { 0 } };
static const mishap_param type_params[] = {
    { "string", MISHAP_STRING, .required = true, .length = { 2, 5 }, .letter = 's',
      .help = "Some text" },
    { "integer", MISHAP_INTEGER, .range = { -10, 10 }, .initial = "3" },
    { "number", MISHAP_NUMBER, .range = { 0, INFINITY } },
    { "boolean", MISHAP_BOOLEAN, .letter = 'b' },
    { "colour", MISHAP_ENUM, .choices = colours },
    { "list_of", MISHAP_ARRAY, .items = &number_item, .length = { 0, 3 } },
    { "point", MISHAP_OBJECT, .members = point },
    { 0 }
};

static mishap *show_types(mishap_call *call)
{
    const mishap_param *param = type_params;
    const char *json = "{";
    for (; param->name; param++)
        json = mishap_call_print(
            call, "%s%s\"%s\":%s", json, param == type_params ? "" : ",", param->name,
            mishap_given(call, param->name) ? mishap_json(call, param->name) : "null");
    return mishap_answer(call, mishap_call_print(call, "%s}", json));
}

static const mishap_param touch_params[] = { { "path", MISHAP_STRING, .required = true,
                                               .file = true },
                                             { "count", MISHAP_INTEGER, .range = { 1, 9 } },
                                             { "wait", MISHAP_BOOLEAN, .help = "Never come back" },
                                             { 0 } };

static mishap *touch(mishap_call *call)
{
    int file = open(mishap_string(call, "path"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return mishap_raise(ALREADY_EXISTS, "The file is there already.");
    close(file);
    while (mishap_boolean(call, "wait"))
        pause();
    return mishap_answer(call, "{}");
}

static const mishap_param linger_params[] = { { "path", MISHAP_STRING, .required = true,
                                                .file = true, .help = "A file to leave behind" },
                                              { 0 } };

/* Until the caller does not wait any more; then it cleans up, which takes a moment. */
static mishap *linger(mishap_call *call)
{
    while (!mishap_cancelled(call))
        usleep(1000);
    usleep(100000);
    close(open(mishap_string(call, "path"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return mishap_answer(call, "{\"too\":\"late\"}");
}

static const mishap_param form_params[] = {
    { "place", MISHAP_STRING, .pattern = "^[a-z]+:[0-9]+$", .placeholder = "HOST:PORT",
      .looks = "HOST:PORT, such as localhost:80", .help = "Where it is" },
    { 0 }
};

static mishap *show_form(mishap_call *call)
{
    return mishap_field_range(
        mishap_raise(VALIDATION_ERROR, NULL), "place", mishap_value_of_int(0),
        mishap_value_of_int(65535),
        mishap_value_of_int(strtol(strchr(mishap_string(call, "place"), ':') + 1, NULL, 10)));
}

static const mishap_param much_params[] = {
    { "bytes", MISHAP_INTEGER, .required = true, .range = { 0, 1e8 } }, { 0 }
};

static mishap *answer_much(mishap_call *call)
{
    size_t bytes = (size_t)mishap_integer(call, "bytes");
    char *text = mishap_call_take(call, bytes + 1);
    memset(text, 'x', bytes);
    text[bytes] = '\0';
    mishap_answer_cut(call, 1, 2);
    mishap_warn(call, "There is more.");
    return mishap_answer_member(call, "text", (const char *)text);
}

/* -- all together ------------------------------------------------------------------------------ */

static const mishap_operation operations[] = {
    { "crash", "Crash", crash_params, crash, .danger = MISHAP_SAFE },
    { "leave", "End the process", leave_params, leave_process, .danger = MISHAP_SAFE },
    { "memory", "Use all memory", memory_params, use_memory, .danger = MISHAP_SAFE },
    { "nonsense", "Answer what is no answer", nonsense_params, answer_nonsense,
      .danger = MISHAP_SAFE },
    { "undeclared", "Raise what is not declared", NULL, raise_undeclared, .danger = MISHAP_SAFE },
    { "misuse", "Ask for what is not declared", misuse_params, misuse, .danger = MISHAP_SAFE },
    { "raise", "Raise a code", raise_params, raise_code, .raises = all_codes },
    { "block", "Never come back", block_params, block, .danger = MISHAP_SAFE },
    { "write", "Write to standard output", write_params, write_output, .danger = MISHAP_SAFE },
    { "leak", "Give away a stack trace", leak_params, leak, .raises = MISHAP_RAISES(NOT_FOUND) },
    { "rest", "Show the words behind --", rest_params, show_rest, .danger = MISHAP_SAFE },
    { "quote", "Quote another program", NULL, quote, .raises = MISHAP_RAISES(NOT_FOUND),
      .local = true, .quotes = true },
    { "secret.use", "Use a secret", secret_params, use_secret,
      .raises = MISHAP_RAISES(AUTH_REQUIRED) },
    { "echo", "Say that something is not there", echo_params, echo,
      .raises = MISHAP_RAISES(NOT_FOUND) },
    { "types", "Show parameters of every type", type_params, show_types,
      .examples = (const mishap_example[]){ { "types --string abc", "The least" }, { 0 } } },
    { "touch", "Make a file", touch_params, touch, .raises = MISHAP_RAISES(ALREADY_EXISTS),
      .danger = MISHAP_MUTATING },
    { "much", "Answer much", much_params, answer_much, .timeout_ms = 5000 },
    { "linger", "Go on until nobody waits", linger_params, linger, .danger = MISHAP_MUTATING },
    { "form", "Say what is wrong with a place", form_params, show_form, .danger = MISHAP_SAFE },
    { 0 }
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < mishap_code_table.count && i < 255; i++)
        all_codes[i] = mishap_code_table.codes[i];
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "sample",
                                      .version = "2.1",
                                      .summary = "Misbehaves in every way",
                                      .operations = operations });
}
