/* The file of blocked callers and the one of --oauth-map: lines, changes, and each allocation
 * failing. */
#include "testing.h"

#include "base/arena.h"
#include "http/keys/blocks.h"
#include "http/tokens/tokens.h"
#include "keys_set_up.h"

static char blocked_path[sizeof folder + 20];
static char told[200]; /* the names that were new */

static void write_blocked(const char *text)
{
    snprintf(blocked_path, sizeof blocked_path, "%s/" MISHAP_BLOCKS_FILE, folder);
    FILE *file = fopen(blocked_path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void clear(void)
{
    char lock[sizeof blocked_path + 8];
    snprintf(lock, sizeof lock, "%s.lock", blocked_path);
    unlink(lock);
    unlink(blocked_path);
}

static void tell(void *context, const char *name)
{
    (void)context;
    assert_true(strlen(told) + strlen(name) + 2 < sizeof told);
    strcat(strcat(told, name), " ");
}

static void names_are_blocked_and_new_ones_told_once(void **state)
{
    (void)state;
    mishap_http_blocks *b;
    told[0] = '\0';
    assert_null(mishap_http_blocks_make(folder, &b));
    assert_code(mishap_http_blocks_check(b, "a"), MISHAP_CODE_UNAVAILABLE); /* not read yet */
    assert_null(mishap_http_blocks_refresh(b, tell, NULL));
    assert_null(mishap_http_blocks_check(b, "a"));
    write_blocked("# names\n\nb 2026-02-09T10:20:30.123Z\noauth:a%20b x\na");
    assert_null(mishap_http_blocks_refresh(b, tell, NULL));
    assert_string_equal(told, "a b oauth:a%20b ");
    assert_code(mishap_http_blocks_check(b, "a"), MISHAP_CODE_FORBIDDEN);
    assert_code(mishap_http_blocks_check(b, "oauth:a%20b"), MISHAP_CODE_FORBIDDEN);
    assert_null(mishap_http_blocks_check(b, "oauth:a"));
    assert_null(mishap_http_blocks_check(b, NULL));
    write_blocked("c\na\n");
    assert_null(mishap_http_blocks_refresh(b, tell, NULL));
    assert_string_equal(told, "a b oauth:a%20b c ");
    assert_null(mishap_http_blocks_check(b, "b"));
    write_blocked("two words and more than a time\n");
    assert_code(mishap_http_blocks_refresh(b, tell, NULL), MISHAP_CODE_UNAVAILABLE);
    assert_null(mishap_http_blocks_refresh(b, tell, NULL)); /* it was reported */
    assert_code(mishap_http_blocks_check(b, "b"), MISHAP_CODE_UNAVAILABLE);
    mishap_http_blocks_free(b);
    clear();
}

static void the_commands_change_one_line(void **state)
{
    (void)state;
    assert_null(run(&mishap_keys_block, "a", NULL));
    assert_null(run(&mishap_keys_block, "oauth:b", NULL));
    assert_code(run(&mishap_keys_block, "a", NULL), MISHAP_CODE_ALREADY_EXISTS);
    assert_code(run(&mishap_keys_unblock, "b", NULL), MISHAP_CODE_NOT_FOUND);
    assert_null(run(&mishap_keys_unblock, "a", NULL));
    mishap_block_file file;
    snprintf(blocked_path, sizeof blocked_path, "%s/" MISHAP_BLOCKS_FILE, folder);
    assert_null(mishap_block_file_read(blocked_path, &file));
    assert_int_equal(file.count, 1);
    assert_non_null(mishap_block_file_find(&file, mishap_text_of("oauth:b")));
    mishap_block_file_release(&file);
    clear();
}

/* Each allocation fails in turn; what was read is right, or nothing was read. */
static void without_memory_nothing_is_half_read(void **state)
{
    (void)state;
    mishap_http_map map;
    write_blocked("oauth:1 alice\noauth:2 bob\n");
    mishap_use_allocator(&failing_allocator);
    size_t at = 1;
    for (;; at++) {
        mishap_arena arena;
        mishap_http_blocks *found = NULL;
        calls = blocks = 0;
        fail_at = at;
        mishap_arena_init(&arena, NULL, 0);
        mishap *m = mishap_http_blocks_make(folder, &found);
        told[0] = '\0';
        if (!m)
            m = mishap_http_blocks_refresh(found, tell, NULL);
        if (!m)
            m = mishap_http_map_read(&arena, blocked_path, &map);
        if (!m)
            assert_string_equal(mishap_http_map_find(&map, "oauth:2"), "bob");
        mishap_free(m);
        mishap_http_blocks_free(found);
        mishap_arena_release(&arena);
        assert_int_equal(blocks, 0);
        if (calls < at)
            break;
    }
    fail_at = 0;
    mishap_use_allocator(NULL);
    assert_true(at > 4);
    clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(names_are_blocked_and_new_ones_told_once),
        IN_FOLDER(the_commands_change_one_line),
        IN_FOLDER(without_memory_nothing_is_half_read),
    };
    return RUN(tests);
}
