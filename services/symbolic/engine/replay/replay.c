/* Calls in real CPython: see replay.h. */
#include "base/python.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <yyjson.h>

#include "observed.h"
#include "replay/replay.h"
#include "solver/solver.h"

enum {
    MOST_ANSWER = 512 * 1024,
    FIELDS = 10,      /* of one call */
    FIELDS_BOTH = 15, /* … of two functions */
    FIELDS_EVERY = 4, /* … of many, before those of each finding */
    MOST_FIELDS = FIELDS_EVERY + MOST_FOUND * FIELDS_BOTH + 1,
    LEAST_NS = 500000000,
};

/* -- in Python --------------------------------------------------------------------------------- */

static PyObject *driver_function(void)
{
    static PyObject *function;
    if (function)
        return function;
    PyObject *space = PyDict_New();
    PyObject *done = space ? PyRun_String(replay_driver, Py_file_input, space, space) : NULL;
    Py_XDECREF(done);
    function = done ? PyDict_GetItemString(space, "replay") : NULL;
    Py_XINCREF(function);
    PyErr_Clear();
    return function;
}

/* The value of a Python literal that the engine has written. */
static PyObject *literal(const char *words)
{
    PyObject *space = PyDict_New();
    PyObject *v = words ? PyRun_String(words, Py_eval_input, space, space) : Py_NewRef(Py_None);
    Py_XDECREF(space);
    return v;
}

/* Run the driver; returns the length of its answer, which is text. */
static size_t answer_of(const replay_call *c, char *out, size_t room)
{
    size_t used = 0;
    PyObject *function = driver_function();
    PyObject *names = literal(c->names), *pre = literal(c->pre), *post = literal(c->post);
    PyObject *every = literal(c->every);
    PyObject *told = function && names && pre && post && every
                         ? PyObject_CallFunction(function, "sssOOOzO", c->code, c->function,
                                                 c->arguments, names, pre, post, c->other, every)
                         : NULL;
    Py_ssize_t length = 0;
    const char *words = told ? PyUnicode_AsUTF8AndSize(told, &length) : NULL;
    if (words && (size_t)length < room) {
        used = (size_t)length;
        memcpy(out, words, used);
    }
    PyErr_Clear();
    Py_XDECREF(told);
    Py_XDECREF(names);
    Py_XDECREF(pre);
    Py_XDECREF(post);
    Py_XDECREF(every);
    return used;
}

/* -- for another process ----------------------------------------------------------------------- */

/* A text as a literal of Python. */
static bool add_literal(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *words)
{
    PyObject *value = words ? PyUnicode_DecodeUTF8(words, (Py_ssize_t)strlen(words), "replace")
                            : Py_NewRef(Py_None);
    PyObject *shown = value ? PyObject_ASCII(value) : NULL;
    const char *spelled = shown ? PyUnicode_AsUTF8(shown) : NULL;
    bool added = spelled && yyjson_mut_arr_add_strcpy(doc, list, spelled);
    Py_XDECREF(shown);
    Py_XDECREF(value);
    PyErr_Clear();
    return added;
}

char *replay_literals(const replay_call *c)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    yyjson_mut_doc_set_root(doc, list);
    bool whole = add_literal(doc, list, c->code) && add_literal(doc, list, c->function) &&
                 add_literal(doc, list, c->arguments) &&
                 yyjson_mut_arr_add_strcpy(doc, list, c->names) &&
                 yyjson_mut_arr_add_strcpy(doc, list, c->pre) &&
                 yyjson_mut_arr_add_strcpy(doc, list, c->post) &&
                 add_literal(doc, list, c->other) &&
                 yyjson_mut_arr_add_strcpy(doc, list, c->every ? c->every : "None");
    char *words = whole ? yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL) : NULL;
    yyjson_mut_doc_free(doc);
    return words;
}

/* -- the answer -------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_text(const char *bytes, size_t length)
{
    PyObject *decoded = PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)length, NULL);
    bool good = decoded != NULL;
    PyErr_Clear();
    Py_XDECREF(decoded);
    return good;
}

/* Read the fields of an answer; returns their number, 0: it is invalid. */
static size_t read_fields(arena *a, const char *bytes, size_t length, const char **field)
{
    size_t count = 0, used = 0;
    char *words = arena_take(a, length / 2 + 1);
    for (size_t at = 0; count < MOST_FIELDS; at++) {
        if (at == length || bytes[at] == ',') {
            if (!is_text(words, used))
                return 0;
            field[count++] = arena_copy(a, words, used);
            used = 0;
            if (at == length)
                return count;
            continue;
        }
        int high = hex_digit(bytes[at]), low = at + 1 < length ? hex_digit(bytes[at + 1]) : -1;
        if (high < 0 || low < 0)
            return 0;
        words[used++] = (char)(high << 4 | low);
        at++;
    }
    return 0;
}

/* Read the result of one call. */
static void read_call(const char *const *field, size_t count, replay_result *out)
{
    out->post = -1;
    out->ran = count >= 2;
    out->pre = count >= 2 && strcmp(field[1], "yes") == 0;
    if (count < FIELDS)
        return;
    out->raised = strcmp(field[2], "raised") == 0;
    out->type = field[3];
    out->bases = field[4];
    out->message = field[5];
    out->line = (int)strtol(field[6], NULL, 10);
    out->result = field[7];
    out->post = (int)strtol(field[8], NULL, 10);
    out->post_words = field[9];
    if (count < FIELDS_BOTH)
        return;
    out->other_raised = strcmp(field[10], "raised") == 0;
    out->other_type = field[11];
    out->other_message = field[12];
    out->other_result = field[13];
    out->same = strcmp(field[14], "same") == 0;
    out->incomparable = strcmp(field[14], "unknown") == 0;
}

/* Read the number of calls, how many of them count, the indexes of findings, and the fields of
 * each. */
static void read_every(arena *a, const char *const *field, size_t count, replay_result *out)
{
    const char *at = field[3];
    char *end;
    out->calls = strtoul(field[1], NULL, 10);
    out->held = strtoul(field[2], NULL, 10);
    while (out->found_count < MOST_FOUND) {
        size_t index = strtoul(at, &end, 10);
        if (end == at)
            break;
        out->found[out->found_count++] = index;
        at = end;
    }
    size_t found = out->found_count, left = count - FIELDS_EVERY, each = found ? left / found : 0;
    out->every = found ? (each == FIELDS || each == FIELDS_BOTH) && left % found == 0 : left == 0;
    if (!out->every)
        out->found_count = found = 0;
    out->each = arena_take(a, (found + 1) * sizeof *out->each);
    for (size_t i = 0; i < found; i++)
        read_call(field + FIELDS_EVERY + i * each, each, &out->each[i]);
}

static void read_answer(arena *a, const char *bytes, size_t length, replay_result *out)
{
    const char *field[MOST_FIELDS] = { 0 };
    size_t count = length ? read_fields(a, bytes, length, field) : 0;
    out->post = -1;
    if (count == 0)
        out->message = "it gave no answer";
    else if (strcmp(field[0], "load") == 0)
        out->message = count > 1 ? field[1] : "it could not be loaded";
    else if (strcmp(field[0], "every") == 0 && count >= FIELDS_EVERY)
        read_every(a, field, count, out);
    else
        read_call(field, count, out);
}

void replay_read(arena *a, const char *said, replay_result *out)
{
    size_t length = strlen(said);
    bool quoted = length >= 2 && said[0] == '\'' && said[length - 1] == '\'';
    read_answer(a, quoted ? said + 1 : said, quoted ? length - 2 : 0, out);
}

bool is_out_of_memory(const replay_result *got)
{
    return (got->raised && strcmp(got->type, "MemoryError") == 0) ||
           (got->other_raised && strcmp(got->other_type, "MemoryError") == 0);
}

/* -- in a child -------------------------------------------------------------------------------- */

_Noreturn void replay_from_input(void)
{
    enum { MOST_INPUT = 8 << 20 };
    char *bytes = malloc(MOST_INPUT);
    size_t length = bytes ? fread(bytes, 1, MOST_INPUT, stdin) : 0;
    yyjson_doc *doc = yyjson_read(bytes, length, 0);
    yyjson_val *list = yyjson_doc_get_root(doc);
    PyObject *function = driver_function(), *all = PyTuple_New((Py_ssize_t)yyjson_arr_size(list));
    bool whole = function && all && yyjson_arr_size(list);
    for (size_t i = 0; whole && i < yyjson_arr_size(list); i++) {
        PyObject *v = literal(yyjson_get_str(yyjson_arr_get(list, i)));
        whole = v && PyTuple_SetItem(all, (Py_ssize_t)i, v) == 0;
    }
    PyObject *told = whole ? PyObject_CallObject(function, all) : NULL;
    const char *words = told ? PyUnicode_AsUTF8(told) : NULL;
    fputs(words ? words : "", stdout);
    fflush(stdout);
    _exit(0);
}

/* The hash seed is chosen when a process starts, so another process is needed. */
_Noreturn static void be_other(int to, const replay_call *c)
{
    char seed[16], *literals = replay_literals(c);
    int input = memfd_create("call", MFD_CLOEXEC);
    size_t length = literals ? strlen(literals) : 0;
    snprintf(seed, sizeof seed, "%d", c->seed);
    if (input >= 0 && write(input, literals, length) == (ssize_t)length &&
        lseek(input, 0, SEEK_SET) == 0 && dup2(input, 0) == 0 && dup2(to, 1) == 1)
        execl("/proc/self/exe", "mishap-symbolic", "replay", "--hash-seed", seed, (char *)NULL);
    _exit(1);
}

_Noreturn static void be_child(int to, const replay_call *c, int seconds)
{
    struct rlimit cpu = { (rlim_t)seconds, (rlim_t)seconds + 1 };
    struct rlimit memory = { 2048UL << 20, 2048UL << 20 };
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
    PyOS_AfterFork_Child();
    observed_memory();
    if (c->seed)
        be_other(to, c);
    static char answer_bytes[MOST_ANSWER];
    size_t length = answer_of(c, answer_bytes, sizeof answer_bytes);
    for (size_t at = 0; at < length;) {
        ssize_t wrote = write(to, answer_bytes + at, length - at);
        if (wrote <= 0)
            break;
        at += (size_t)wrote;
    }
    _exit(0);
}

/* How long to wait for a child, in ms; 0: its time is over. A child that does not run at all has
 * ten times as long, by the clock. */
static int child_waits_ms(pid_t child, const replay_call *c, int64_t deadline_ns, int64_t begun_ns)
{
    int64_t left = deadline_ns - clock_ns();
    if (c->most_ns > 0) {
        clockid_t clock;
        struct timespec used = { 0 };
        int64_t most = begun_ns + 10 * c->most_ns - clock_ns();
        if (clock_getcpuclockid(child, &clock) == 0)
            clock_gettime(clock, &used); /* it has not been waited for, so it is there */
        int64_t rest = c->most_ns - ((int64_t)used.tv_sec * 1000000000 + used.tv_nsec);
        left = left < most ? left : most;
        left = left < rest ? left : rest;
    }
    return left <= 0 ? 0 : (int)(left / 1000000) + 1;
}

static bool in_child(arena *a, const replay_call *c, int64_t deadline_ns, replay_result *out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    int64_t begun_ns = clock_ns();
    int seconds = (int)((deadline_ns - begun_ns) / 1000000000) + 1;
    driver_function(); /* compiled once here, not in each child */
    PyOS_BeforeFork(); /* the child needs it from Python 3.12 on */
    pid_t child = fork();
    if (child == 0)
        be_child(ends[1], c, seconds);
    PyOS_AfterFork_Parent();
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return false;
    }
    static char bytes[MOST_ANSWER];
    size_t length = 0;
    bool over = false;
    while (length < sizeof bytes) {
        int wait_ms = child_waits_ms(child, c, deadline_ns, begun_ns);
        struct pollfd one = { ends[0], POLLIN, 0 };
        over = wait_ms == 0;
        if (over)
            break;
        if (poll(&one, 1, wait_ms) <= 0)
            continue;
        ssize_t got = read(ends[0], bytes + length, sizeof bytes - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    close(ends[0]);
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    read_answer(a, bytes, over ? 0 : length, out);
    if (over)
        out->message = "its time was over";
    return true;
}

/* -- in this process --------------------------------------------------------------------------- */

static struct timer {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t until_ns;
    unsigned long thread; /* that runs Python */
    bool done;
} timer = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false };

/* `except Exception` does not catch it. It is raised repeatedly until the call has ended. */
static void interrupt_call(void)
{
    PyGILState_STATE state = PyGILState_Ensure();
    if (!timer.done)
        PyThreadState_SetAsyncExc(timer.thread, PyExc_KeyboardInterrupt);
    PyGILState_Release(state);
}

static void *run_timer(void *unused)
{
    pthread_mutex_lock(&timer.lock);
    while (!timer.done) {
        int64_t left = timer.until_ns - clock_ns();
        if (left <= 0) {
            pthread_mutex_unlock(&timer.lock);
            interrupt_call();
            pthread_mutex_lock(&timer.lock);
            left = 50000000;
        }
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        int64_t at = (int64_t)until.tv_sec * 1000000000 + until.tv_nsec + left;
        until = (struct timespec){ at / 1000000000, at % 1000000000 };
        if (!timer.done)
            pthread_cond_timedwait(&timer.changed, &timer.lock, &until);
    }
    pthread_mutex_unlock(&timer.lock);
    return unused;
}

/* The interrupt may have come while the driver undid what the call had changed. */
static void end_again(PyObject *driver)
{
    PyObject *end = PyDict_GetItemString(PyFunction_GetGlobals(driver), "replay_end");
    PyObject *done = end ? PyObject_CallNoArgs(end) : NULL;
    Py_XDECREF(done);
    PyErr_Clear();
}

void replay_here(arena *a, const replay_call *c, int64_t deadline_ns, replay_result *out)
{
    static char bytes[MOST_ANSWER];
    pthread_t thread;
    PyObject *driver = driver_function();
    /* After a trace CPython 3.11.2 may loop for ever in the next code that C has it run. */
    if (driver && PyDict_SetItemString(PyFunction_GetGlobals(driver), "may_trace", Py_False) != 0)
        PyErr_Clear();
    timer.until_ns = deadline_ns;
    timer.thread = PyThread_get_thread_ident();
    timer.done = false;
    bool watched = pthread_create(&thread, NULL, run_timer, NULL) == 0;
    size_t length = watched ? answer_of(c, bytes, sizeof bytes) : 0;
    /* The timer may wait for the interpreter lock. */
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&timer.lock);
    timer.done = true;
    pthread_cond_signal(&timer.changed);
    pthread_mutex_unlock(&timer.lock);
    if (watched)
        pthread_join(thread, NULL);
    Py_END_ALLOW_THREADS;
    PyThreadState_SetAsyncExc(timer.thread, NULL);
    bool over = clock_ns() > deadline_ns;
    if (over && driver)
        end_again(driver);
    read_answer(a, bytes, over ? 0 : length, out);
    if (over)
        out->message = "its time was over";
}

static replay_function *replacement;

replay_function *replay_set(replay_function *by)
{
    replay_function *before = replacement;
    replacement = by;
    return before;
}

bool replay_counts_processor_time(void)
{
    return replacement == NULL;
}

void replay(arena *a, const replay_call *call, int64_t deadline_ns, replay_result *out)
{
    *out = (replay_result){ .post = -1 };
    /* A witness that was found at the last moment still gets its second. */
    if (!call->every && deadline_ns < clock_ns() + LEAST_NS)
        deadline_ns = clock_ns() + LEAST_NS;
    if (call->most_ns > 0 && !replay_counts_processor_time() &&
        deadline_ns > clock_ns() + call->most_ns)
        deadline_ns = clock_ns() + call->most_ns;
    if (call->seed && replacement == replay_here)
        out->message = "its hashes cannot be changed here";
    else if (replacement)
        replacement(a, call, deadline_ns, out);
    else if (!in_child(a, call, deadline_ns, out) && !call->seed)
        replay_here(a, call, deadline_ns, out);
}
