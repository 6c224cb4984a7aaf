/* Starts the interpreter, says that it is ready, and serves one call. */
#include "host.h"
#include "observed.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void give_up(void)
{
    static const char message[] =
        "{\"failure\":{\"code\":\"NOT_CONFIGURED\",\"message\":\"Python " PYTHON_VERSION
        " cannot be started (package libpython" PYTHON_VERSION "-stdlib).\"}}";
    send_all(message, sizeof message - 1);
    _exit(0);
}

/* Ignore the environment and the user's configuration. Hashes are the same in each process with the
 * same seed. */
static void start_python(unsigned long seed)
{
    PyPreConfig before;
    PyConfig config;
    count_memory();
    observed_memory();
    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
    if (PyStatus_Exception(Py_PreInitialize(&before)) || !observed_offer())
        give_up();
    PyConfig_InitIsolatedConfig(&config);
    config.site_import = 0;
    config.write_bytecode = 0;
    config.use_hash_seed = 1;
    config.hash_seed = seed;
    config.install_signal_handlers = 0;
    config.pathconfig_warnings = 0;
    PyStatus status = PyConfig_SetString(&config, &config.program_name, L"");
    if (!PyStatus_Exception(status))
        status = PyConfig_SetString(&config, &config.executable, L"");
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status) || !capture_output() || !prepare_operations())
        give_up();
}

/* The smaller one of two limits: that of the call and that of the parent. */
static long long limit_of(yyjson_val *call, yyjson_val *arguments)
{
    yyjson_val *asked = yyjson_obj_get(arguments, "timeout");
    long long limit = yyjson_get_sint(yyjson_obj_get(call, "limit_ms"));
    long long most = asked ? (long long)(yyjson_get_num(asked) * 1000) : USUAL_TIMEOUT_MS;
    if (limit > 0 && limit < most)
        most = limit;
    return most > 0 ? most : 1;
}

static bool is_named(const char *operation, const char *word)
{
    const char *dot = operation ? strrchr(operation, '.') : NULL;
    return operation && strcmp(dot ? dot + 1 : operation, word) == 0;
}

/* --hash-seed NUMBER, --expect CODE */
static const char *option(int count, char **words, const char *name)
{
    for (int i = 1; i + 1 < count; i += 2)
        if (strcmp(words[i], name) == 0)
            return words[i + 1];
    return NULL;
}

int main(int count, char **words)
{
    static const char ready[] = "{\"ready\":1}";
    const char *seed = option(count, words, "--hash-seed");
    const char *expected = option(count, words, "--expect");
    signal(SIGINT, SIG_IGN); /* ignored until there is a call */
    start_python(seed ? strtoul(seed, NULL, 10) : 0);
    if (expected)
        expect_code(expected);
    send_all(ready, sizeof ready - 1);
    yyjson_doc *message = receive();
    if (!message)
        _exit(0);
    yyjson_val *call = yyjson_doc_get_root(message);
    yyjson_val *arguments = yyjson_obj_get(call, "arguments");
    yyjson_val *memory = yyjson_obj_get(arguments, "memory_mb");
    const char *operation = yyjson_get_str(yyjson_obj_get(call, "operation"));
    begin_deadline(yyjson_get_sint(yyjson_obj_get(call, "id")), limit_of(call, arguments));
    limit_memory(memory ? (size_t)yyjson_get_uint(memory) : USUAL_MEMORY_MB);
    if (is_named(operation, "run"))
        operation_run(arguments);
    if (is_named(operation, "call"))
        operation_call(arguments);
    fail_words("NOT_IMPLEMENTED", "argument", "There is no such operation.", NULL, "");
}
