/*
 * What it would cost to run the code of a call in a child that does not hold the descriptor of the
 * protocol, beside running it in the process itself, in turn:
 *
 *     python_child [ROUNDS]
 *
 * here:   the process runs the code and sends the answer.
 * fork:   it forks for the call; the child runs the code and sends the answer through a socket to
 *         its parent, which passes it on and waits for the end of the child.
 * ahead:  the child was forked before the call; so the call passes through the parent as well.
 *
 * The interpreter is bare, without the sandbox and without the server: what is measured is the
 * difference. docs/python.md has the decision.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

enum { MOST_ROUNDS = 2000, ROOM = 4096 };
typedef enum way { HERE, FORK, AHEAD } way;

static const char code[] = "def run(a, b): return a + b\n";

/* The work of a call: a module is compiled and run, and its function is called. */
static void run_code(int to)
{
    char words[64];
    PyObject *names = PyDict_New();
    PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
    PyObject *compiled = Py_CompileString(code, "<code>", Py_file_input);
    PyObject *done = compiled ? PyEval_EvalCode(compiled, names, names) : NULL;
    PyObject *result = done ? PyObject_CallFunction(PyDict_GetItemString(names, "run"), "ii", 1, 2)
                            : NULL;
    if (!result)
        end_void("the code", "it fails");
    int length = snprintf(words, sizeof words, "={\"id\":1,\"answer\":{\"result\":%ld}}",
                          PyLong_AsLong(result));
    Py_DECREF(result);
    Py_DECREF(done);
    Py_DECREF(compiled);
    Py_DECREF(names);
    if (write(to, words, (size_t)length) != length)
        end_void("the answer", "it cannot be sent");
}

static void pass_on(int from, int to)
{
    char packet[ROOM];
    ssize_t length = read(from, packet, sizeof packet);
    if (length <= 0 || write(to, packet, (size_t)length) != length)
        end_void("a packet", "it cannot be passed on");
}

static void make_pair(int ends[2])
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        end_void("a pair of sockets", "there is none");
}

static pid_t fork_child(const int inner[2], bool waits)
{
    char packet[ROOM];
    pid_t child = fork();
    if (child < 0)
        end_void("a child", "it cannot be forked");
    if (child == 0) {
        close(inner[0]);
        PyOS_AfterFork_Child();
        if (!waits || read(inner[1], packet, sizeof packet) > 0)
            run_code(inner[1]);
        _exit(0);
    }
    close(inner[1]);
    return child;
}

/* One process for one call, as mishap-python is: it reads the call, answers it and ends. */
static _Noreturn void serve(way how, int socket)
{
    char packet[ROOM];
    int inner[2];
    pid_t child = 0;
    if (how != HERE)
        make_pair(inner);
    if (how == AHEAD)
        child = fork_child(inner, true);
    if (write(socket, "r", 1) != 1)
        _exit(1);
    if (how == AHEAD)
        pass_on(socket, inner[0]);
    else if (read(socket, packet, sizeof packet) <= 0)
        _exit(1);
    if (how == HERE)
        run_code(socket);
    if (how == FORK)
        child = fork_child(inner, false);
    if (how != HERE) {
        pass_on(inner[0], socket);
        if (waitpid(child, NULL, 0) != child)
            _exit(1);
    }
    _exit(0);
}

/* Microseconds from the call to the answer, and to the end of the process. */
static void measure(way how, double *answered, double *ended)
{
    static const char call[] = "={\"id\":1,\"operation\":\"python.run\"}";
    char packet[ROOM];
    int ends[2];
    make_pair(ends);
    pid_t pid = fork();
    if (pid < 0)
        end_void("a process", "it cannot be forked");
    if (pid == 0) {
        close(ends[0]);
        PyOS_AfterFork_Child();
        serve(how, ends[1]);
    }
    close(ends[1]);
    if (read(ends[0], packet, sizeof packet) != 1)
        end_void("a process", "it is not ready");
    usleep(3000); /* it waits by then, and so does its child */
    double begun = now_ns();
    if (write(ends[0], call, sizeof call - 1) < 0 || read(ends[0], packet, sizeof packet) <= 0)
        end_void("a call", "it has no answer");
    *answered = (now_ns() - begun) / 1e3;
    if (waitpid(pid, NULL, 0) != pid)
        end_void("a process", "it does not end");
    *ended = (now_ns() - begun) / 1e3;
    close(ends[0]);
}

int main(int argc, char **argv)
{
    static double answered[3][MOST_ROUNDS], ended[3][MOST_ROUNDS];
    static const char *const names[] = { "here", "fork", "ahead" };
    size_t rounds = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 300;
    if (rounds < 1 || rounds > MOST_ROUNDS)
        return 2;
    Py_InitializeEx(0);
    for (size_t i = 0; i < rounds; i++)
        for (way how = HERE; how <= AHEAD; how++)
            measure(how, &answered[how][i], &ended[how][i]);
    for (way how = HERE; how <= AHEAD; how++)
        printf("%-6s answered after %7.0f us, ended after %7.0f us\n", names[how],
               figure(names[how], median(answered[how], rounds)),
               figure(names[how], median(ended[how], rounds)));
    return 0;
}
