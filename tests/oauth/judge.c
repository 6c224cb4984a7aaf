/*
 * Key sets and tokens for tests/oauth/oauth_test.py: reads a command from each line of standard
 * input and the bytes behind it, and writes a line for each.
 *
 *     set NAME LENGTH            how many keys have which fault, or "refused"
 *     token NAME NOW LENGTH      what is wrong with the token by that set, by name; the claims of a
 *                                sound one, each as its length and its bytes in hexadecimal
 *
 * Each is done again while the 1st, 2nd, … allocation fails: then the result is the same, or that
 * there is no memory. Anything else ends the program.
 */
#include <ctype.h>

#include "oauth/oauth.h"
#include "testing.h"

enum { SETS = 256 };

static struct {
    char name[100];
    mishap_jwks *keys;
} sets[SETS];
static size_t set_count;

static _Noreturn void die(const char *why)
{
    fprintf(stderr, "judge: %s\n", why);
    exit(EXIT_FAILURE);
}

static char *read_bytes(size_t length)
{
    char *bytes = malloc(length + 1);
    if (!bytes || fread(bytes, 1, length, stdin) != length)
        die("the input ends early");
    return bytes;
}

/* -- sets -------------------------------------------------------------------------------------- */

static bool same_counts(const mishap_jwks *a, const mishap_jwks *b)
{
    for (int i = 0; i < MISHAP_JWK_FAULTS; i++)
        if (mishap_jwks_count(a, (mishap_jwk_fault)i) != mishap_jwks_count(b, (mishap_jwk_fault)i))
            return false;
    return true;
}

static void read_again(mishap_text json, const mishap_jwks *found)
{
    for (size_t at = 1; at < 100; at++) {
        mishap_jwks *again = NULL;
        calls = 0;
        fail_at = at;
        mishap_use_allocator(&failing_allocator);
        mishap *failure = mishap_jwks_read(json, &again);
        bool lacked = failure &&
                      mishap_told(failure)->code == mishap_told(mishap_out_of_memory())->code;
        if (!failure != !again && (again ? found && same_counts(found, again) : lacked || !found)) {
            mishap_jwks_free(again);
            mishap_free(failure);
        } else {
            die("a set is another one without memory");
        }
        bool ended = calls < at;
        if (blocks)
            die("a set leaves memory behind");
        fail_at = 0;
        mishap_use_allocator(NULL);
        if (ended)
            return;
    }
    die("a set takes too many allocations");
}

static void judge_set(const char *name, size_t length)
{
    char *bytes = read_bytes(length);
    mishap_text json = { bytes, length };
    mishap_jwks *keys = NULL;
    mishap *failure = mishap_jwks_read(json, &keys);
    if (set_count == SETS)
        die("too many sets");
    snprintf(sets[set_count].name, sizeof sets->name, "%s", name);
    sets[set_count++].keys = keys;
    if (failure)
        printf("refused");
    for (int i = 0; keys && i < MISHAP_JWK_FAULTS; i++)
        if (mishap_jwks_count(keys, (mishap_jwk_fault)i))
            printf("%s=%zu;", mishap_jwk_fault_names[i],
                   mishap_jwks_count(keys, (mishap_jwk_fault)i));
    putchar('\n');
    mishap_free(failure);
    read_again(json, keys);
    free(bytes);
}

/* -- tokens ------------------------------------------------------------------------------------ */

static const mishap_text audiences[] = {
    MISHAP_TEXT("https://api.example.com"),     MISHAP_TEXT("https://api.example.com/"),
    MISHAP_TEXT("https://api.example.com/mcp"), MISHAP_TEXT("https://api.example.com/mcp/"),
    MISHAP_TEXT("named-by-the-operator"),
};

static mishap_token_flaw check(const mishap_jwks *keys, mishap_text token, int64_t now_s,
                               mishap_token_reader *reader, mishap_token *out)
{
    const mishap_token_issuer issuers[] = {
        { MISHAP_TEXT("https://unused.example.com"), NULL },
        { MISHAP_TEXT("https://login.example.com"), keys },
    };
    const mishap_token_rules rules = { issuers, 2, audiences,
                                       sizeof audiences / sizeof *audiences };
    return mishap_token_check(reader, &rules, token, now_s, out);
}

static void check_again(const mishap_jwks *keys, mishap_text text, int64_t now_s,
                        mishap_token_flaw found)
{
    for (size_t at = 1; at < 100; at++) {
        static mishap_token_reader reader;
        mishap_token token;
        calls = 0;
        fail_at = at;
        mishap_use_allocator(&failing_allocator);
        mishap_token_flaw flaw = check(keys, text, now_s, &reader, &token);
        mishap_token_reader_release(&reader);
        memset(&reader, 0, sizeof reader);
        bool ended = calls < at;
        if ((flaw != found && flaw != MISHAP_TOKEN_NO_MEMORY) || blocks)
            die("a token is another one without memory");
        fail_at = 0;
        mishap_use_allocator(NULL);
        if (ended)
            return;
    }
    die("a token takes too many allocations");
}

static void put_hex(mishap_text text)
{
    putchar(' ');
    for (size_t i = 0; i < text.length; i++)
        printf("%02x", (unsigned char)text.data[i]);
    if (!text.length)
        putchar('-');
}

static void put_claims(const mishap_token *token)
{
    mishap_text name;
    size_t at = 0;
    printf(" %zu %lld", token->issuer, (long long)token->expires_s);
    put_hex(token->subject);
    put_hex(token->client);
    while (mishap_token_next_scope(token, &at, &name))
        put_hex(name);
}

static void judge_token(const char *name, long long now_s, size_t length)
{
    static mishap_token_reader reader;
    char *bytes = read_bytes(length);
    mishap_text text = { bytes, length };
    mishap_token token;
    size_t i = 0;
    while (i < set_count && strcmp(sets[i].name, name) != 0)
        i++;
    if (i == set_count)
        die("there is no such set");
    mishap_token_flaw flaw = check(sets[i].keys, text, now_s, &reader, &token);
    printf("%s", mishap_token_flaw_names[flaw]);
    if (flaw == MISHAP_TOKEN_SOUND)
        put_claims(&token);
    putchar('\n');
    check_again(sets[i].keys, text, now_s, flaw);
    mishap_token_reader_release(&reader);
    free(bytes);
}

int main(void)
{
    char line[300], name[100];
    long long now_s;
    size_t length;
    mishap *failure = mishap_oauth_load();
    if (failure)
        die(mishap_told(failure)->message.data);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "set %99[^\t]\t%zu", name, &length) == 2)
            judge_set(name, length);
        else if (sscanf(line, "token %99[^\t]\t%lld\t%zu", name, &now_s, &length) == 3)
            judge_token(name, now_s, length);
        else
            die("not a command");
    }
    while (set_count)
        mishap_jwks_free(sets[--set_count].keys);
    return EXIT_SUCCESS;
}
