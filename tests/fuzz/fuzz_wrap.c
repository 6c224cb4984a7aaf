/*
 * Rules and the output of a command: the first part of the input, up to a NUL, are rules, what
 * follows is what the command printed. Rules that are wrong are refused with a list of mistakes.
 * Whatever was printed, the failure has a code, and its message is one line of UTF-8.
 */
#include "fuzz.h"
#include "wrap/wrap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const argv[] = { "git", "pull", "--quiet", NULL };
    mishap_text input = { size ? (const char *)data : "", size };
    const char *nul = memchr(input.data, 0, size);
    size_t length = nul ? (size_t)(nul - input.data) : 0;
    mishap_text printed = { input.data + length + (nul != NULL),
                            input.length - length - (nul != NULL) };
    mishap_wrap_rules *rules = NULL;
    mishap_wrap_end end = { .status = (int)(size % 256) << 8 };
    char rule[64];
    mishap *m = mishap_wrap_rules_read_builtin(&rules);
    EXPECT(!m, "the rules that are compiled in are wrong");
    m = mishap_wrap_rules_read(&rules, "input", (mishap_text){ input.data, length });
    if (m)
        EXPECT(mishap_told(m)->code == MISHAP_CODE_VALIDATION_ERROR && mishap_told(m)->fields,
               "no mistake is named");
    mishap_free(m);
    mishap_buffer_put_text(&end.err, printed);
    m = mishap_wrap_judge(rules, argv, &end, rule, sizeof rule);
    if (m) {
        mishap_text message = mishap_told(m)->message;
        expect_utf8(message);
        EXPECT(message.length && !memchr(message.data, '\n', message.length), "no line");
    }
    mishap_free(m);
    mishap_wrap_end_release(&end);
    mishap_wrap_rules_free(rules);
    return 0;
}
