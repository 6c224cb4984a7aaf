/* A folder with a file of API keys, for a test. */
#ifndef MISHAP_KEYS_SET_UP_H
#define MISHAP_KEYS_SET_UP_H

#include <fcntl.h>
#include <unistd.h>

#include "http/keys/file.h"
#include "testing.h"

static inline const mishap_app *sample(void)
{
    static mishap_operation operations[5];
    static const mishap_app app = { .name = "sample", .operations = operations };
    operations[0] = mishap_keys_add;
    operations[1] = mishap_keys_list;
    operations[2] = mishap_keys_remove;
    operations[3] = mishap_keys_disable;
    return &app;
}

static char folder[64], file_path[80], lock_path[80];

static inline int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/mishap-keys-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(file_path, sizeof file_path, "%s/keys", folder);
    snprintf(lock_path, sizeof lock_path, "%s/keys.lock", folder);
    return 0;
}

static inline int remove_folder(void **state)
{
    (void)state;
    unlink(file_path);
    unlink(lock_path);
    return rmdir(folder); /* which fails if anything else was left in it */
}

static inline void write_file(const char *text, size_t length)
{
    FILE *file = fopen(file_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* Run a command with --data, and --name unless it is NULL. The answer is left in *answer, to be
 * freed, if it worked. */
static inline mishap *run(const mishap_operation *operation, const char *name, char **answer)
{
    char arguments[400];
    mishap_call *call;
    mishap_answer_kind kind;
    if (answer)
        *answer = NULL;
    if (name)
        snprintf(arguments, sizeof arguments, "{\"data\":\"%s\",\"name\":\"%s\"}", folder, name);
    else
        snprintf(arguments, sizeof arguments, "{\"data\":\"%s\"}", folder);
    mishap *failure = mishap_call_begin(sample(), operation, mishap_text_of(arguments), &call);
    if (failure)
        return failure;
    failure = mishap_call_run(call);
    if (!failure && answer) {
        mishap_text text = mishap_call_answer(call, &kind);
        assert_true(asprintf(answer, "%.*s", (int)text.length, text.data) >= 0);
    }
    mishap_call_end(call);
    return failure;
}

/* Make a key; free() it. */
static inline char *add_key(const char *name)
{
    char *answer;
    mishap *failure = run(&mishap_keys_add, name, &answer);
    if (failure)
        fail_msg("%s", rendered(mishap_dialect_find("http-api"), failure));
    yyjson_doc *document = yyjson_read(answer, strlen(answer), 0);
    yyjson_val *root = yyjson_doc_get_root(document);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(root, "name")), name);
    assert_non_null(yyjson_get_str(yyjson_obj_get(root, "note")));
    char *key = strdup(yyjson_get_str(yyjson_obj_get(root, "key")));
    yyjson_doc_free(document);
    free(answer);
    return key;
}

static inline void assert_code(mishap *m, const mishap_code *code)
{
    assert_non_null(m);
    if (mishap_told(m)->code != code) {
        mishap_buffer account = { 0 };
        mishap_account(m, &account);
        fail_msg("%.*s", (int)account.length, account.data);
    }
    mishap_free(m);
}

static inline mishap_http_keys *open_keys(void)
{
    mishap_http_keys *keys;
    mishap *failure = mishap_http_keys_open(folder, NULL, &keys);
    if (failure)
        fail_msg("%s", rendered(mishap_dialect_find("http-api"), failure));
    return keys;
}

/* The name that stands for a key; NULL if it is refused. */
static inline const char *caller_of(const mishap_http_keys *keys, const char *key)
{
    mishap_http_request request = { .caller = "somebody" };
    mishap *m = mishap_http_keys_check(keys, &request, mishap_text_of(key), true);
    if (m) {
        assert_null(request.caller);
        assert_code(m, MISHAP_CODE_UNAUTHORIZED);
    }
    return request.caller;
}

/* A line of the file that is as good as any. */
static inline void put_key_line(char *line, size_t size, const char *name, unsigned number)
{
    snprintf(line, size, "%s %064x 2026-02-09T10:20:30.123Z\n", name, number);
}

/* Check a request with these two fields. */
static inline const char *caller_with(const mishap_http_keys *keys, const char *authorization,
                                      const char *own, bool required, const mishap_code *code)
{
    mishap_http_request request = { .caller = "of the request before" };
    request.fields[MISHAP_HTTP_AUTHORIZATION] = mishap_text_of(authorization);
    mishap *m = mishap_http_keys_check(keys, &request, mishap_text_of(own), required);
    if (code)
        assert_code(m, code);
    else
        assert_null(m);
    return request.caller;
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

#endif
