/*
 * The todo service, called as a boundary calls it: its rules, its pages, who is told of changes,
 * and its drills.
 */

#include "operation/changes.h"
#include "testing.h"
#include "set_up.h"

/* -- calls ------------------------------------------------------------------------------------- */

/* The value of a member of the last answer, as JSON. */
static const char *member(const char *name)
{
    static char value[4096];
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer json = { 0 };
    assert_true(mishap_json_read(&reader, mishap_text_of(last.body)));
    yyjson_val *found = yyjson_obj_get(reader.root, name);
    if (!found)
        fail_msg("no %s in %s", name, last.body);
    mishap_json_copy(&json, found);
    snprintf(value, sizeof value, "%.*s", (int)json.length, json.data);
    mishap_buffer_release(&json);
    mishap_json_reader_release(&reader);
    return value;
}

/* -- users ------------------------------------------------------------------------------------- */

static void the_operations_are_declared_soundly(void **state)
{
    (void)state;
    assert_null(mishap_declaration_check(&app));
}

static void the_complete_example_has_its_three_findings_in_order(void **state)
{
    (void)state;
    ask("users.create", "{\"name\":\"\",\"age\":200,\"email\":\"invalid\"}");
    assert_answer(422, "{\"error\":\"validation_error\",\"message\":\"Validation failed\","
                       "\"details\":[{\"field\":\"name\",\"error\":\"field_required\"},"
                       "{\"field\":\"age\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":150,"
                       "\"actual\":200},{\"field\":\"email\",\"error\":\"pattern_mismatch\","
                       "\"expected\":\".*@.*\\\\..*\"}]}");
    assert_int_equal(access(file, F_OK), -1); /* what is wrong with the input opens no store */
}

static void rules_of_users_and_todos(void **state)
{
    (void)state;
    static char title[1024] = "{\"title\":\"";
    static const struct {
        const char *operation, *arguments, *details;
    } cases[] = {
        { "users.create", "{}",
          "[{\"field\":\"name\",\"error\":\"field_required\"},"
          "{\"field\":\"email\",\"error\":\"field_required\"}]" },
        { "users.create", "{\"name\":\"A\",\"age\":\"7\",\"email\":\"a@b.c\"}",
          "[{\"field\":\"age\",\"error\":\"invalid_type\",\"expected\":\"integer\","
          "\"actual\":\"string\"}]" },
        { "users.create", "{\"name\":\"A\",\"age\":-1,\"email\":\"a@b.c\"}",
          "[{\"field\":\"age\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":150,"
          "\"actual\":-1}]" },
        { "users.update", "{\"id\":\"1\",\"age\":151}",
          "[{\"field\":\"age\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":150,"
          "\"actual\":151}]" },
        { "users.update", "{\"id\":\"1\",\"name\":\"\"}",
          "[{\"field\":\"name\",\"error\":\"invalid_length\",\"min\":1,\"max\":200,\"actual\":0}"
          "]" },
        { "users.get", "{\"id\":\"\"}", "[{\"field\":\"id\",\"error\":\"field_required\"}]" },
        { "users.list", "{\"limit\":0}",
          "[{\"field\":\"limit\",\"error\":\"value_out_of_range\",\"min\":1,\"max\":100,"
          "\"actual\":0}]" },
        { "todos.list", "{\"limit\":101,\"after\":\"1 OR 1\"}",
          "[{\"field\":\"limit\",\"error\":\"value_out_of_range\",\"min\":1,\"max\":100,"
          "\"actual\":101},{\"field\":\"after\",\"error\":\"pattern_mismatch\","
          "\"expected\":\"an id such as 17\"}]" },
        { "todos.create", "{\"title\":\"\",\"done\":\"yes\"}",
          "[{\"field\":\"title\",\"error\":\"field_required\"},{\"field\":\"done\","
          "\"error\":\"invalid_type\",\"expected\":\"boolean\",\"actual\":\"string\"}]" },
        { "todos.create", title,
          "[{\"field\":\"title\",\"error\":\"invalid_length\",\"min\":1,\"max\":200,"
          "\"actual\":250}]" },
        { "chaos.fail", "{\"how\":\"gently\"}", NULL },
    };
    for (int i = 0; i < 250; i++)
        strcat(title, "é");
    strcat(title, "\"}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[1024];
        snprintf(
            body, sizeof body,
            "{\"error\":\"validation_error\",\"message\":\"Validation failed\",\"details\":%s}",
            cases[i].details ? cases[i].details : "");
        ask(cases[i].operation, cases[i].arguments);
        assert_answer(422, cases[i].details ? body : NULL);
    }
}

static void a_user_is_created_read_changed_and_deleted(void **state)
{
    (void)state;
    ask("users.create", "{\"name\":\"Ada\",\"age\":36,\"email\":\"ada@example.com\"}");
    assert_answer(201, NULL);
    assert_string_equal(last.location, "/users/1");
    assert_string_equal(member("id"), "\"1\"");
    assert_string_equal(member("name"), "\"Ada\"");
    assert_string_equal(member("age"), "36");
    assert_string_equal(member("email"), "\"ada@example.com\"");
    int year, month, day, hour, minute, second, millisecond, length = 0;
    sscanf(member("created_at"), "\"%4d-%2d-%2dT%2d:%2d:%2d.%3dZ\"%n", &year, &month, &day, &hour,
           &minute, &second, &millisecond, &length);
    assert_int_equal(length, 26);
    char *created = strdup(last.body);

    ask("users.get", "{\"id\":\"1\"}");
    assert_answer(200, created);
    ask("users.update", "{\"id\":\"1\"}"); /* nothing to change */
    assert_answer(200, created);
    ask("users.update", "{\"id\":\"1\",\"age\":0}");
    assert_answer(200, NULL);
    assert_string_equal(member("age"), "0");
    assert_string_equal(member("name"), "\"Ada\"");
    ask("users.delete", "{\"id\":\"1\"}");
    assert_answer(204, "");
    ask("users.get", "{\"id\":\"1\"}");
    assert_answer(404, "{\"error\":\"not_found\",\"message\":\"User not found\"}");
    ask("users.delete", "{\"id\":\"1\"}");
    assert_answer(404, NULL);
    free(created);

    ask("users.create", "{\"name\":\"Bob\",\"email\":\"bob@example.com\"}");
    assert_string_equal(last.location, "/users/2"); /* no id is used twice */
    assert_string_equal(member("age"), "null");
}

static void an_email_belongs_to_one_user(void **state)
{
    static const char taken[] = "{\"error\":\"already_exists\",\"message\":\"A user with this "
                                "e-mail already exists.\","
                                "\"details\":{\"email\":\"user1@example.com\"}}";
    (void)state;
    create_users(2);
    ask("users.create", "{\"name\":\"Other\",\"email\":\"user1@example.com\"}");
    assert_answer(409, taken);
    ask("users.update", "{\"id\":\"2\",\"name\":\"New\",\"email\":\"user1@example.com\"}");
    assert_answer(409, taken);
    ask("users.get", "{\"id\":\"2\"}");
    assert_string_equal(member("name"), "\"User 2\""); /* all of it was refused */
    ask("users.update", "{\"id\":\"1\",\"email\":\"user1@example.com\"}");
    assert_answer(200, NULL);
}

/* A text that is no id is not found, and means nothing to SQL. */
static void anything_else_than_an_id_is_not_found(void **state)
{
    static const char *const ids[] = { "0",
                                       "2",
                                       "-1",
                                       "+1",
                                       "01",
                                       " 1",
                                       "1 ",
                                       "1\\n",
                                       "1.0",
                                       "1e0",
                                       "0x1",
                                       "abc",
                                       "1 OR 1=1",
                                       "1; DROP TABLE users",
                                       "' OR ''='",
                                       "9223372036854775807",
                                       "9223372036854775808",
                                       "18446744073709551617",
                                       "１" };
    (void)state;
    create_users(1);
    ask("todos.create", "{\"title\":\"T\"}");
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        askf("users.get", "{\"id\":\"%s\"}", ids[i]);
        assert_answer(404, "{\"error\":\"not_found\",\"message\":\"User not found\"}");
        askf("users.update", "{\"id\":\"%s\",\"name\":\"X\"}", ids[i]);
        assert_answer(404, "{\"error\":\"not_found\",\"message\":\"User not found\"}");
        askf("users.delete", "{\"id\":\"%s\"}", ids[i]);
        assert_answer(404, "{\"error\":\"not_found\",\"message\":\"User not found\"}");
        askf("todos.get", "{\"id\":\"%s\"}", ids[i]);
        assert_answer(404, "{\"error\":\"not_found\",\"message\":\"Todo not found\"}");
        askf("todos.update", "{\"id\":\"%s\"}", ids[i]);
        assert_answer(404, "{\"error\":\"not_found\",\"message\":\"Todo not found\"}");
        askf("todos.delete", "{\"id\":\"%s\"}", ids[i]);
        assert_answer(404, "{\"error\":\"not_found\",\"message\":\"Todo not found\"}");
        askf("todos.create", "{\"title\":\"T\",\"user_id\":\"%s\"}", ids[i]);
        assert_answer(404, "{\"error\":\"not_found\",\"message\":\"User not found\"}");
        askf("todos.list", "{\"user_id\":\"%s\"}", ids[i]);
        assert_answer(200, "{\"items\":[],\"next\":null}");
    }
    assert_int_equal(look_up("SELECT count(*) FROM users"), 1);
    assert_int_equal(look_up("SELECT count(*) FROM todos"), 1);
}

/* -- todos ------------------------------------------------------------------------------------- */

static void a_todo_is_created_read_changed_and_deleted(void **state)
{
    (void)state;
    create_users(1);
    ask("todos.create", "{\"title\":\"Buy milk\"}");
    assert_answer(201, NULL);
    assert_string_equal(last.location, "/todos/1");
    assert_string_equal(member("done"), "false");
    assert_string_equal(member("user_id"), "null");
    ask("todos.update", "{\"id\":\"1\",\"done\":true,\"user_id\":\"1\"}");
    assert_answer(200, NULL);
    assert_string_equal(member("title"), "\"Buy milk\"");
    assert_string_equal(member("done"), "true");
    assert_string_equal(member("user_id"), "\"1\"");
    ask("todos.update", "{\"id\":\"1\",\"done\":false,\"user_id\":\"7\"}");
    assert_answer(404, "{\"error\":\"not_found\",\"message\":\"User not found\"}");
    ask("todos.update", "{\"id\":\"9\",\"user_id\":\"7\"}");
    assert_answer(404, "{\"error\":\"not_found\",\"message\":\"Todo not found\"}");
    ask("todos.get", "{\"id\":\"1\"}");
    assert_string_equal(member("done"), "true");
    assert_tallies();
    ask("todos.update", "{\"id\":\"1\",\"done\":true}");
    assert_tallies();
    ask("todos.update", "{\"id\":\"1\",\"done\":false}");
    assert_tallies();
    ask("todos.delete", "{\"id\":\"1\"}");
    assert_answer(204, "");
    ask("todos.get", "{\"id\":\"1\"}");
    assert_answer(404, "{\"error\":\"not_found\",\"message\":\"Todo not found\"}");
    assert_tallies();
}

/* Answered in this way. */
static void clear(const char *arguments, const char *with)
{
    answers = with;
    ask("todos.clear", arguments);
    answers = NULL;
}

static void many_are_deleted_when_that_was_confirmed(void **state)
{
    static const char yes[] = "{\"confirm\":{\"sure\":true}}";
    (void)state;
    create_users(1);
    clear("{}", NULL);
    assert_answer(200, "{\"deleted\":0}"); /* there is nothing to ask about */
    for (int i = 0; i < 3; i++)
        askf("todos.create", "{\"title\":\"T\",\"done\":%s}", i < 2 ? "true" : "false");
    ask("todos.create", "{\"title\":\"T\",\"user_id\":\"1\",\"done\":true}");
    clear("{\"done\":true,\"user_id\":\"1\"}", NULL);
    assert_int_equal(last.status, 428);
    assert_non_null(strstr(last.body, "\"Delete 1 todo?\""));
    clear("{\"done\":true}", NULL);
    assert_non_null(strstr(last.body, "\"Delete 3 todos?\""));
    assert_int_equal(look_up("SELECT count(*) FROM todos"), 4);
    clear("{}", "{\"confirm\":{\"sure\":false}}");
    assert_answer(200, "{\"deleted\":0}");
    clear("{}", "{\"confirm\":null}");
    assert_int_equal(last.status, MISHAP_CODE_CANCELLED->http_status);
    assert_int_equal(look_up("SELECT count(*) FROM todos"), 4);
    clear("{\"done\":true,\"user_id\":\"1\"}", yes);
    assert_answer(200, "{\"deleted\":1}");
    clear("{\"user_id\":\"1\"}", yes);
    assert_answer(200, "{\"deleted\":0}");
    clear("{\"done\":true}", yes);
    assert_answer(200, "{\"deleted\":2}");
    assert_tallies();
    clear("{}", yes);
    assert_answer(200, "{\"deleted\":1}");
    assert_int_equal(look_up("SELECT count(*) FROM todos"), 0);
    assert_tallies();
}

static void todos_outlive_their_user(void **state)
{
    (void)state;
    create_users(1);
    ask("todos.create", "{\"title\":\"T\",\"user_id\":\"1\",\"done\":true}");
    assert_answer(201, NULL);
    ask("users.delete", "{\"id\":\"1\"}");
    assert_answer(204, "");
    ask("todos.get", "{\"id\":\"1\"}");
    assert_string_equal(member("user_id"), "null");
    assert_tallies();
}

/* -- who watches ------------------------------------------------------------------------------- */

static char heard[16384];

static void hear(void *state, mishap_text address)
{
    size_t length = strlen(heard);
    (void)state;
    snprintf(heard + length, sizeof heard - length, "%.*s\n", (int)address.length, address.data);
}

/* What is told of a call. */
static void assert_told(const char *name, const char *arguments, int status, const char *addresses)
{
    heard[0] = '\0';
    ask(name, arguments);
    assert_int_equal(last.status, status);
    assert_string_equal(heard, addresses);
}

static void whoever_watches_is_told_of_what_has_changed(void **state)
{
    (void)state;
    mishap_changes_heard_by(hear, NULL);
    assert_told("users.create", "{\"name\":\"Ada\",\"email\":\"ada@example.com\"}", 201,
                "todo://users/1\ntodo://users\n");
    assert_told("users.update", "{\"id\":\"1\",\"age\":36}", 200, "todo://users/1\ntodo://users\n");
    assert_told("todos.create", "{\"title\":\"a\",\"user_id\":\"1\"}", 201,
                "todo://todos/1\ntodo://todos\n");
    assert_told("todos.create", "{\"title\":\"b\"}", 201, "todo://todos/2\ntodo://todos\n");
    assert_told("todos.create", "{\"title\":\"c\",\"user_id\":\"1\"}", 201,
                "todo://todos/3\ntodo://todos\n");
    assert_told("todos.update", "{\"id\":\"2\",\"done\":true}", 200,
                "todo://todos/2\ntodo://todos\n");
    assert_told("todos.delete", "{\"id\":\"2\"}", 204, "todo://todos/2\ntodo://todos\n");
    assert_told("todos.create", "{\"title\":\"d\",\"done\":true}", 201,
                "todo://todos/4\ntodo://todos\n");
    answers = "{\"confirm\":{\"sure\":true}}";
    assert_told("todos.clear", "{\"done\":true}", 200, "todo://todos/4\ntodo://todos\n");
    answers = NULL;
    /* Those that were the user's have no owner now. */
    assert_told("users.delete", "{\"id\":\"1\"}", 204,
                "todo://users/1\ntodo://users\ntodo://todos/1\ntodo://todos\ntodo://todos/3\n"
                "todo://todos\n");
    mishap_changes_heard_by(NULL, NULL);
}

static void nothing_is_told_where_nothing_has_changed(void **state)
{
    (void)state;
    create_users(2);
    ask("todos.create", "{\"title\":\"a\",\"user_id\":\"1\"}");
    mishap_changes_heard_by(hear, NULL);
    assert_told("users.create", "{\"name\":\"x\",\"email\":\"user1@example.com\"}", 409, "");
    assert_told("users.update", "{\"id\":\"1\",\"email\":\"user2@example.com\"}", 409, "");
    assert_told("users.update", "{\"id\":\"1\"}", 200, "");
    assert_told("users.update", "{\"id\":\"9\",\"age\":3}", 404, "");
    assert_told("users.get", "{\"id\":\"1\"}", 200, "");
    assert_told("users.list", "{}", 200, "");
    assert_told("users.delete", "{\"id\":\"9\"}", 404, "");
    assert_told("todos.create", "{\"title\":\"b\",\"user_id\":\"9\"}", 404, "");
    assert_told("todos.update", "{\"id\":\"1\",\"user_id\":\"9\"}", 404, "");
    assert_told("todos.update", "{\"id\":\"1\"}", 200, "");
    assert_told("todos.update", "{\"id\":\"9\",\"done\":true}", 404, "");
    assert_told("todos.get", "{\"id\":\"1\"}", 200, "");
    assert_told("todos.list", "{}", 200, "");
    assert_told("todos.delete", "{\"id\":\"01\"}", 404, "");
    mishap_changes_heard_by(NULL, NULL);
}

/* -- pages ------------------------------------------------------------------------------------- */

/* Follow `next` to the end; the ids must ascend, and be this many. */
static void walk(const char *operation, const char *more, size_t limit, size_t expected)
{
    char after[64] = "";
    size_t seen = 0;
    long before = 0;
    bool more_to_come;
    do {
        askf(operation, "{\"limit\":%zu%s%s}", limit, after, more);
        assert_answer(200, NULL);
        mishap_json_reader reader = MISHAP_JSON_READER;
        assert_true(mishap_json_read(&reader, mishap_text_of(last.body)));
        yyjson_val *items = yyjson_obj_get(reader.root, "items"), *item;
        yyjson_val *next = yyjson_obj_get(reader.root, "next");
        size_t index, count;
        yyjson_arr_foreach(items, index, count, item)
        {
            long id = strtol(yyjson_get_str(yyjson_obj_get(item, "id")), NULL, 10);
            assert_true(id > before);
            before = id;
        }
        seen += count;
        const char *from = yyjson_get_str(next); /* NULL: this was the last page */
        assert_true(from || yyjson_is_null(next));
        assert_int_equal(last.total, from ? expected : 0);
        assert_int_equal(last.listed, from ? limit : 0);
        assert_true(!from || count == limit);
        more_to_come = from;
        snprintf(after, sizeof after, ",\"after\":\"%s\"", from ? from : "");
        mishap_json_reader_release(&reader);
    } while (more_to_come && seen <= expected);
    assert_int_equal(seen, expected);
}

static void a_thousand_rows_are_listed_page_by_page(void **state)
{
    (void)state;
    ask("users.list", "{}");
    assert_answer(200, "{\"items\":[],\"next\":null}");
    create_users(2);
    for (int i = 1; i <= 1000; i++) {
        askf("todos.create", "{\"title\":\"Todo %d\",\"done\":%s%s}", i, i % 4 ? "false" : "true",
             i % 10 ? "" : ",\"user_id\":\"2\"");
        assert_int_equal(last.status, 201);
    }
    walk("todos.list", "", 100, 1000);
    walk("todos.list", "", 7, 1000);
    walk("todos.list", ",\"done\":true", 100, 250);
    walk("todos.list", ",\"done\":false", 99, 750);
    walk("todos.list", ",\"user_id\":\"2\"", 10, 100);
    walk("todos.list", ",\"user_id\":\"1\"", 10, 0);
    walk("todos.list", ",\"user_id\":\"2\",\"done\":true", 7, 50);
    walk("users.list", "", 1, 2);
    walk("users.list", "", 2, 2);
    ask("todos.list", "{}");
    assert_string_equal(member("next"), "\"20\"");
    ask("todos.list", "{\"limit\":1,\"after\":\"0\"}");
    assert_string_equal(member("next"), "\"1\"");
    ask("todos.list", "{\"after\":\"07\"}");
    assert_answer(422, NULL);
    ask("todos.list", "{\"after\":\"999999999999999999\"}");
    assert_answer(200, "{\"items\":[],\"next\":null}");
}

static int note_step(void *plan, int columns, char **values, char **names)
{
    (void)names;
    assert_int_equal(columns, 4);
    strncat(plan, values[3], 400);
    return 0;
}

static void no_page_is_looked_for_in_the_whole_table(void **state)
{
    (void)state;
    sqlite3 *database;
    create_users(1);
    assert_int_equal(sqlite3_open_v2(file, &database, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    for (size_t i = 0; i < TODO_STATEMENTS; i++) {
        char sql[400], plan[2000] = "";
        snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", todo_schema.statements[i].text);
        assert_int_equal(sqlite3_exec(database, sql, note_step, plan, NULL), SQLITE_OK);
        if ((strstr(plan, "SCAN") && i != TODO_TODO_CLEAR) || strstr(plan, "TEMP B-TREE"))
            fail_msg("%s: %s", todo_schema.statements[i].text, plan);
        if (i == TODO_TODO_LIST + TODO_BY_DONE)
            assert_non_null(strstr(plan, "todos_by_done (done=? AND rowid>?)"));
        if (i == TODO_TODO_LIST + TODO_BY_USER || i == TODO_TODO_COUNT + TODO_BY_USER)
            assert_non_null(strstr(plan, "todos_by_user"));
    }
    sqlite3_close(database);
}

/* -- hostile text ------------------------------------------------------------------------------ */

static void hostile_text_comes_back_as_it_went_in(void **state)
{
    static const char *const texts[] = {
        "\"'); DROP TABLE users; --\"",
        "\"\\\" \\\\ / \\b\\f\\n\\r\\t\"",
        "\"ab\\u0001\\u001f\\u007f\"",
        "\"\\ud83d\\ude00 \U0001F600 \\u00e9 é \\uffff \\ufeff\"",
        "\"?1 :name @name $name %s %n {} []\"",
        "\"</script><!-- \\u2028\\u2029\"",
        "\"\\u202e right to left\"",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mishap_json_reader reader = MISHAP_JSON_READER;
        mishap_buffer expected = { 0 };
        askf("users.create", "{\"name\":%s,\"email\":\"%zu@example.com\"}", texts[i], i);
        assert_answer(201, NULL);
        assert_true(mishap_json_read(&reader, mishap_text_of(texts[i])));
        mishap_json_copy(&expected, reader.root);
        mishap_buffer_add(&expected, "", 1);
        assert_string_equal(member("name"), expected.data);
        askf("users.get", "{\"id\":\"%zu\"}", i + 1);
        assert_string_equal(member("name"), expected.data);
        mishap_buffer_release(&expected);
        mishap_json_reader_release(&reader);
    }
    assert_int_equal(look_up("SELECT count(*) FROM users"), sizeof texts / sizeof *texts);
}

/* What a handler takes for a C string ends there, so nothing with a NUL in it gets this far. */
static void a_nul_is_refused_wherever_it_stands(void **state)
{
    static const char *const refused[][2] = {
        { "users.create", "{\"name\":\"\\u0000\",\"email\":\"a@example.com\"}" },
        { "users.create", "{\"name\":\"A\",\"email\":\"a\\u0000b@example.com\"}" },
        { "users.get", "{\"id\":\"1\\u0000\"}" },
        { "todos.create", "{\"title\":\"T\",\"user_id\":\"\\u0000\"}" },
        { "todos.list", "{\"user_id\":\"1\\u0000\"}" },
    };
    (void)state;
    create_users(1);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        ask(refused[i][0], refused[i][1]);
        assert_answer(422, NULL);
    }
    assert_int_equal(look_up("SELECT count(*) FROM users"), 1);
    assert_int_equal(look_up("SELECT count(*) FROM todos"), 0);
}

static void the_longest_row_that_the_rules_allow_is_answered(void **state)
{
    (void)state;
    char name[1300] = "", email[2000] = "";
    for (int i = 0; i < 200; i++)
        strcat(name, "\\u0001");
    for (int i = 0; i < 317; i++)
        strcat(email, "\\u0001");
    strcat(email, "@.x");
    askf("users.create", "{\"name\":\"%s\",\"email\":\"%s\"}", name, email);
    assert_answer(201, NULL);
    assert_int_equal(strlen(member("name")), 1202);
}

/* -- drills ------------------------------------------------------------------------------------ */

static void the_premium_report_must_be_paid_for(void **state)
{
    (void)state;
    ask("premium.report", "{}");
    assert_answer(402, "{\"error\":\"payment_required\","
                       "\"message\":\"Payment required for premium feature\"}");
    assert_int_equal(access(file, F_OK), -1);
}

static void every_drill_fails_and_tells_nothing(void **state)
{
    static const struct {
        const char *how, *account;
        bool quotes, by_hardware;
    } drills[] = {
        { "crash", "SIGSEGV", false, true },
        { "abort", "SIGABRT", false, false },
        { "divide", "SIGFPE", false, true },
        { "overflow", "SIGSEGV", false, true },
        { "memory", "not enough memory", false, true },
        { "undeclared", "CONFLICT", true, false },
        { "nonsense", "not a JSON object", true, false },
        { "error", "INTERNAL_ERROR", true, false },
    };
    (void)state;
    for (size_t i = 0; i < MISHAP_FATAL_SIGNALS; i++)
        sigaction(mishap_fatal_signals[i].number, &contained[i], NULL);
    for (size_t i = 0; i < sizeof drills / sizeof *drills; i++) {
        if (SANITIZED && drills[i].by_hardware)
            continue; /* the sanitizer says something else, and ends the program */
        askf("chaos.fail", "{\"how\":\"%s\",\"marker\":\"marker-word\"}", drills[i].how);
        assert_answer(500, "{\"error\":\"internal_server_error\","
                           "\"message\":\"Internal server error\"}");
        if (!strstr(last.account, drills[i].account))
            fail_msg("%s: %s", drills[i].how, last.account);
        assert_true(!drills[i].quotes || strstr(last.account, "marker-word"));
    }
    askf("chaos.fail", "{\"how\":\"error\"}");
    assert_answer(500, NULL);
}

/* Where the process goes on: without workers, for a debugger. */
static void after_a_crash_in_a_query_the_next_one_starts_afresh(void **state)
{
    (void)state;
    create_users(1);
    for (size_t i = 0; i < MISHAP_FATAL_SIGNALS; i++)
        sigaction(mishap_fatal_signals[i].number, &contained[i], NULL);
    next_move = CRASH;
    ask_half(TODO_USER_INSERT);
    assert_answer(500, NULL);
    assert_non_null(strstr(last.account, "SIGABRT"));
    ask("users.get", "{\"id\":\"2\"}");
    assert_answer(404, NULL);
    assert_nothing_left(1);
    ask("users.create", "{\"name\":\"B\",\"email\":\"half@example.com\"}");
    assert_answer(201, NULL);
}

static void the_drill_that_hangs_does_not_end(void **state)
{
    (void)state;
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        ask("chaos.fail", "{\"how\":\"hang\"}");
        _exit(0);
    }
    usleep(300 * 1000);
    assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TODO_TEST(the_operations_are_declared_soundly),
        TODO_TEST(the_complete_example_has_its_three_findings_in_order),
        TODO_TEST(rules_of_users_and_todos),
        TODO_TEST(a_user_is_created_read_changed_and_deleted),
        TODO_TEST(an_email_belongs_to_one_user),
        TODO_TEST(anything_else_than_an_id_is_not_found),
        TODO_TEST(a_todo_is_created_read_changed_and_deleted),
        TODO_TEST(many_are_deleted_when_that_was_confirmed),
        TODO_TEST(todos_outlive_their_user),
        TODO_TEST(whoever_watches_is_told_of_what_has_changed),
        TODO_TEST(nothing_is_told_where_nothing_has_changed),
        TODO_TEST(a_thousand_rows_are_listed_page_by_page),
        TODO_TEST(no_page_is_looked_for_in_the_whole_table),
        TODO_TEST(hostile_text_comes_back_as_it_went_in),
        TODO_TEST(a_nul_is_refused_wherever_it_stands),
        TODO_TEST(the_longest_row_that_the_rules_allow_is_answered),
        TODO_TEST(the_premium_report_must_be_paid_for),
        TODO_TEST(every_drill_fails_and_tells_nothing),
        TODO_TEST(after_a_crash_in_a_query_the_next_one_starts_afresh),
        TODO_TEST(the_drill_that_hangs_does_not_end),
    };
    watch_memory_of_sqlite();
    remember_containment();
    int failed = RUN(tests);
    forget(&last);
    return failed;
}
