/* Python for services: the functions of services/python/python.h, with real processes. */
#include "testing.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "python/python.h"

/* Of calls that are to end by themselves: as long as may be, since a process may start slowly. */
enum { PATIENCE_S = 60 };

static const char *result_of(const char *code, const char *arguments)
{
    static char text[200];
    mishap_answered *answered;
    assert_null(
        python_run(&(python_code){ .code = code, .timeout = PATIENCE_S }, arguments, &answered));
    snprintf(text, sizeof text, "%s", mishap_json(answered->json, "result"));
    mishap_answered_free(answered);
    return text;
}

/* Of this process; -1: none. */
static pid_t child(void)
{
    char path[64], ids[200] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(ids, 1, sizeof ids - 1, file);
    fclose(file);
    return length ? (pid_t)strtol(ids, NULL, 10) : -1;
}

static void values_go_in_and_out_as_json(void **state)
{
    (void)state;
    assert_string_equal(result_of("def run(*a): return {'n': a}", "[1,2.5,\"x\",null,[true]]"),
                        "{\"n\":[1,2.5,\"x\",null,[true]]}");
    assert_string_equal(result_of("def run(): return 2**100", NULL),
                        "1267650600228229401496703205376");
}

static void each_call_has_a_process_that_waited_for_it(void **state)
{
    (void)state;
    python_cool();
    assert_int_equal(child(), -1);
    python_warm();
    pid_t first = child();
    assert_true(first > 0);
    python_warm(); /* there is one */
    assert_int_equal(child(), first);
    assert_string_equal(result_of("import math\nmath.x = 1\ndef run(): return 1", "[]"), "1");
    pid_t second = child();
    assert_true(second > 0 && second != first);
    assert_int_equal(kill(first, 0), -1);
    assert_string_equal(result_of("import math\ndef run(): return hasattr(math, 'x')", "[]"),
                        "false");
    assert_int_not_equal(child(), second);
    python_cool();
    assert_int_equal(child(), -1);
}

static void one_that_died_while_it_waited_is_replaced(void **state)
{
    (void)state;
    python_warm();
    kill(child(), SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child(), &info, WEXITED | WNOWAIT), 0);
    assert_string_equal(result_of("def run(): return 3", "[]"), "3");
    kill(child(), SIGKILL); /* perhaps before it was ready */
    assert_string_equal(result_of("def run(): return 4", "[]"), "4");
}

static void failures_say_of_which_kind_they_are(void **state)
{
    static const struct {
        const char *code, *arguments;
        python_kind kind;
        const mishap_code *is;
        const char *type, *message;
        long line;
    } rows[] = {
        { "def run(:", "[]", PYTHON_SYNTAX, MISHAP_CODE_SYNTAX_ERROR, "SyntaxError",
          "invalid syntax", 1 },
        { "def run():\n  1/0", "[]", PYTHON_RUNTIME, MISHAP_CODE_RUNTIME_ERROR, "ZeroDivisionError",
          "division by zero", 2 },
        { "def run(): return bytearray(10**9)", "[]", PYTHON_MEMORY, MISHAP_CODE_RUNTIME_ERROR,
          "MemoryError", "The code needs more memory than it may have.", 1 },
        { "x = 1", "[]", PYTHON_MISSING, MISHAP_CODE_RUNTIME_ERROR, "NameError",
          "The code does not define a function run.", 0 },
        { "def run(): return {1}", "[]", PYTHON_RESULT, MISHAP_CODE_RUNTIME_ERROR, "TypeError",
          "The function run returned a value of type set, which JSON does not have.", 0 },
        { "def run():\n  while 1: pass", "[]", PYTHON_TIMEOUT, MISHAP_CODE_TIMEOUT, "",
          "The code was not finished in time.", 0 },
        { "def run(): pass", "{}", PYTHON_ARGUMENT, MISHAP_CODE_INVALID_ARGUMENT, "",
          "The arguments are not a JSON array.", 0 },
        { "import os\nos._exit(0)", "[]", PYTHON_DIED, MISHAP_CODE_RUNTIME_ERROR, "",
          "The code ended its process.", 0 },
        { "", "[]", PYTHON_OTHER, MISHAP_CODE_VALIDATION_ERROR, "", NULL, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_answered *answered;
        double seconds = rows[i].kind == PYTHON_TIMEOUT ? 0.1 : PATIENCE_S;
        mishap *m = python_run(&(python_code){ .code = rows[i].code, .timeout = seconds },
                               rows[i].arguments, &answered);
        assert_non_null(m);
        const mishap_public *told = mishap_told(m);
        assert_int_equal(python_kind_of(m), rows[i].kind);
        assert_ptr_equal(told->code, rows[i].is);
        assert_int_equal(python_line_of(m), rows[i].line);
        assert_int_equal(told->type.length, strlen(rows[i].type));
        assert_memory_equal(told->type.data ? told->type.data : "", rows[i].type,
                            told->type.length);
        if (rows[i].message) {
            assert_int_equal(told->message.length, strlen(rows[i].message));
            assert_memory_equal(told->message.data, rows[i].message, told->message.length);
        }
        mishap_free(m);
    }
}

static void a_replay_returns_or_raises(void **state)
{
    mishap_answered *answered;
    python_code what = { .code = "def f(a, b=2): return a // b", .timeout = PATIENCE_S };
    (void)state;
    assert_null(python_call(&what, "f", "[\"7\"]", NULL, &answered));
    assert_string_equal(mishap_string(answered->json, "outcome"), "returned");
    assert_string_equal(mishap_string(answered->json, "result"), "3");
    assert_string_equal(mishap_string(answered->json, "type"), "int");
    mishap_answered_free(answered);
    assert_null(python_call(&what, "f", "[\"7\"]", "{\"b\":\"0\"}", &answered));
    assert_string_equal(mishap_string(answered->json, "outcome"), "raised");
    assert_string_equal(mishap_string(answered->json, "exception"), "ZeroDivisionError");
    assert_string_equal(mishap_string(answered->json, "bases[1]"), "ArithmeticError");
    assert_int_equal(mishap_integer(answered->json, "line"), 1);
    mishap_answered_free(answered);
}

static void code_that_switches_its_deadline_off_is_killed_by_us(void **state)
{
    mishap_answered *answered;
    python_code what = {
        .timeout = 0.1,
        .code = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
                "while True: pass"
    };
    (void)state;
    mishap *m = python_run(&what, NULL, &answered);
    assert_int_equal(python_kind_of(m), PYTHON_TIMEOUT);
    mishap_free(m);
}

static void a_call_can_be_cancelled(void **state)
{
    const unsigned char cancel = 1; /* before it begins */
    mishap_answered *answered;
    python_code what = { .timeout = 50,
                         .code = "def run():\n  while True: pass",
                         .cancel = &cancel };
    (void)state;
    mishap *m = python_run(&what, NULL, &answered);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_CANCELLED);
    mishap_free(m);
}

/* Runs code that never ends, within its own call. */
static mishap *run_within(mishap_call *call)
{
    mishap_answered *answered;
    return python_run(
        &(python_code){ .timeout = 50, .code = "def run():\n  while True: pass", .within = call },
        NULL, &answered);
}

static const mishap_operation operations[] = {
    { "run-within", "Run code", NULL, run_within, .raises = MISHAP_RAISES(CANCELLED, TIMEOUT) },
    { 0 },
};
static const mishap_app within = { "within", "1", "Within", .operations = operations };

static void a_call_ends_with_the_call_that_it_is_made_within(void **state)
{
    const unsigned char cancel = 1;
    (void)state;
    python_cool(); /* none is ready when the call ends */
    mishap *m = mishap_invoke(&within, "run-within", NULL,
                              &(mishap_invocation){ .cancel = &cancel }, NULL);
    assert_int_equal(python_kind_of(m), PYTHON_CANCELLED);
    mishap_free(m);
    python_cool();
    m = mishap_invoke(&within, "run-within", NULL, &(mishap_invocation){ .timeout_ms = 1 }, NULL);
    assert_int_equal(python_kind_of(m), PYTHON_TIMEOUT);
    mishap_free(m);
}

static bool runs_and_cools(void)
{
    mishap_answered *answered = NULL;
    mishap *m = python_run(&(python_code){ .code = "def run(): return 5", .timeout = PATIENCE_S },
                           NULL, &answered);
    bool right = !m && strcmp(mishap_json(answered->json, "result"), "5") == 0;
    mishap_answered_free(answered);
    mishap_free(m);
    python_cool();
    return right;
}

/* Also if it does something else first. */
static void a_forked_process_leaves_the_one_that_waits_alone(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        int status;
        siginfo_t info = { 0 };
        python_warm();
        pid_t before = child(), pid = fork();
        if (pid == 0) {
            if (way == 1)
                python_warm();
            if (way > 0)
                python_cool();
            _exit(runs_and_cools() ? 0 : 1);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        assert_int_equal(waitid(P_PID, (id_t)before, &info, WEXITED | WNOHANG | WNOWAIT), 0);
        assert_int_equal(info.si_pid, 0); /* it has not ended */
        assert_string_equal(result_of("def run(): return 6", "[]"), "6");
    }
}

static long long hash_of(const char *code, int seed, python_room *room)
{
    mishap_answered *answered = NULL;
    mishap *m = python_run(
        &(python_code){ .code = code, .hash_seed = seed, .room = room, .timeout = PATIENCE_S },
        NULL, &answered);
    assert_null(m);
    long long hash = strtoll(mishap_json(answered->json, "result"), NULL, 10);
    mishap_answered_free(answered);
    return hash;
}

/* … with the thread that starts processes, and without it. */
static void a_room_runs_its_own_code_and_any_other(void **state)
{
    static python_room room = { .code = "def run(): return hash('a')" };
    static python_room broken = { .code = "def run(:" };
    mishap_answered *answered = NULL;
    (void)state;
    for (int way = 0; way < 2; way++) {
        if (way == 1)
            service_stock_open();
        python_room_open(&room);
        python_room_open(&broken);
        python_room_warm(&room);
        python_room_warm(&broken);
        long long hash = hash_of(room.code, 0, &room);
        assert_true(hash == hash_of(room.code, 0, &room));
        assert_true(hash == hash_of(room.code, 0, NULL));
        assert_int_equal(hash_of("def run(): return 7", 0, &room), 7);
        assert_int_equal(hash_of("def run(): return 8", 0, &broken), 8);
        assert_true(hash_of(room.code, 1, &room) == hash_of(room.code, 1, NULL));
        assert_true(hash_of(room.code, 1, &room) != hash);
        mishap *m = python_run(
            &(python_code){ .code = broken.code, .room = &broken, .timeout = PATIENCE_S }, NULL,
            &answered);
        assert_int_equal(python_kind_of(m), PYTHON_SYNTAX);
        mishap_free(m);
        if (way == 1)
            service_stock_close();
        python_room_cool(&room);
        python_room_cool(&broken);
    }
    python_cool();
    assert_int_equal(child(), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_go_in_and_out_as_json),
        TEST(each_call_has_a_process_that_waited_for_it),
        TEST(one_that_died_while_it_waited_is_replaced),
        TEST(failures_say_of_which_kind_they_are),
        TEST(a_replay_returns_or_raises),
        TEST(code_that_switches_its_deadline_off_is_killed_by_us),
        TEST(a_call_can_be_cancelled),
        TEST(a_call_ends_with_the_call_that_it_is_made_within),
        TEST(a_forked_process_leaves_the_one_that_waits_alone),
        TEST(a_room_runs_its_own_code_and_any_other),
    };
    int failed = RUN(tests);
    python_cool();
    mishap_app_close();
    return failed;
}
