#include "testing.h"

#include <dirent.h>
#include <ftw.h>

const char *tests_folder(void)
{
    const char *folder = getenv("MISHAP_TESTS");
    return folder ? folder : "tests";
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

int remove_tree(const char *folder)
{
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, got;
    if (!file) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    do {
        text = realloc(text, size + 65536 + 1);
        got = fread(text + size, 1, 65536, file);
        size += got;
    } while (got);
    fclose(file);
    text[size] = '\0';
    if (length)
        *length = size;
    return text;
}

void squeeze_json(char *text, size_t *length)
{
    bool inside = false;
    size_t to = 0;
    for (size_t i = 0; i < *length; i++) {
        if (!inside && strchr(" \t\r\n", text[i]))
            continue;
        if (text[i] == '"')
            inside = !inside;
        text[to++] = text[i];
        if (inside && text[i] == '\\' && i + 1 < *length)
            text[to++] = text[++i];
    }
    text[to] = '\0';
    *length = to;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **list_folder(const char *path, size_t *count)
{
    DIR *folder = opendir(path);
    char **names = NULL;
    *count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        names = realloc(names, (*count + 1) * sizeof *names);
        names[(*count)++] = strdup(entry->d_name);
    }
    if (folder)
        closedir(folder);
    if (*count)
        qsort(names, *count, sizeof *names, by_name);
    return names;
}

char *rendered(const mishap_dialect *dialect, const mishap *m)
{
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    mishap_text text = mishap_render(dialect, m, &buffer);
    char *copy = malloc(text.length + 1);
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    mishap_buffer_release(&buffer);
    return copy;
}

mishap *parsed(const mishap_dialect *dialect, const char *document, size_t length)
{
    mishap *m = NULL, *failure = mishap_parse(dialect, (mishap_text){ document, length }, &m);
    if (failure) {
        fprintf(stderr, "%s: %s\n%.*s\n", mishap_dialect_name(dialect),
                mishap_public_message(mishap_told(failure)).data, (int)length, document);
        fail();
    }
    return m;
}

static void add_rule(void *state, const mishap_finding *finding)
{
    char **rules = state;
    size_t length = strlen(*rules), more = strlen(finding->rule);
    for (char *at = *rules; (at = strstr(at, finding->rule)); at += more)
        if ((at == *rules || at[-1] == ' ') && (at[more] == ' ' || at[more] == '\0'))
            return;
    *rules = realloc(*rules, length + more + 2);
    snprintf(*rules + length, more + 2, "%s%s", length ? " " : "", finding->rule);
}

char *broken_rules(const mishap_dialect *dialect, const char *document, size_t length, bool strict)
{
    char *rules = strdup("");
    assert_null(
        mishap_verify(dialect, (mishap_text){ document, length }, strict, add_rule, &rules));
    return rules;
}

void assert_table_in_docs(const char *page, const char *table)
{
    char path[400];
    snprintf(path, sizeof path, "%s/../docs/%s", tests_folder(), page);
    char *text = read_file(path, NULL);
    char *mark = strstr(text, "<!-- table: "), *to = strstr(text, "<!-- end of table -->\n");
    assert_non_null(mark);
    assert_non_null(to);
    char *from = strchr(mark, '\n') + 1;
    if (getenv("MISHAP_UPDATE_DOCS")) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fwrite(text, 1, (size_t)(from - text), file);
        fputs(table, file);
        fputs(to, file);
        fclose(file);
    } else {
        *to = '\0';
        assert_string_equal(from, table);
    }
    free(text);
}

/* -- what is left behind ----------------------------------------------------------------------- */

size_t shared_mappings(void)
{
    char line[512];
    size_t count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        const char *mode = strchr(line, ' ');
        count += mode && strlen(mode) > 4 && mode[4] == 's';
    }
    fclose(maps);
    return count;
}

/* -- an allocator that fails ------------------------------------------------------------------ */

size_t calls, fail_at;
bool fail_once;
long blocks;

static bool refuse(void)
{
    calls++;
    return fail_at && (fail_once ? calls == fail_at : calls >= fail_at);
}

static void *take(size_t size)
{
    if (refuse())
        return NULL;
    blocks++;
    return malloc(size);
}

static void *retake(void *block, size_t size)
{
    if (refuse())
        return NULL;
    blocks += block == NULL;
    return realloc(block, size);
}

static void give(void *block)
{
    blocks -= block != NULL;
    free(block);
}

const mishap_allocator failing_allocator = { take, retake, give };

void torture(void (*scenario)(const void *input), const void *input)
{
    for (int once = 0; once < 2; once++) {
        fail_once = once;
        for (fail_at = 1;; fail_at++) {
            calls = 0;
            blocks = 0;
            scenario(input);
            assert_int_equal(blocks, 0);
            if (calls < fail_at)
                break;
        }
    }
    fail_at = 0;
}

void assert_whole_or_no_memory(mishap *m, const char *whole)
{
    size_t saved = fail_at;
    fail_at = 0; /* not while looking at it */
    assert_non_null(m);
    if (mishap_told(m)->code != MISHAP_CODE_INTERNAL_ERROR) {
        char *text = rendered(mishap_dialect_find("canonical"), m);
        assert_string_equal(text, whole);
        free(text);
    }
    mishap_free(m);
    fail_at = saved;
}
