/* What an artifact is worth to the mint: one point for each different word, at most 100. The same
 * artifact always has the same score. Words are letters and digits of ASCII; case does not count.
 */
#include "artifacts/request.h"

enum { MOST = 100 };

static bool is_in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_known(const mishap_text *known, int count, mishap_text word)
{
    for (int i = 0; i < count; i++)
        if (known[i].length == word.length &&
            strncasecmp(known[i].data, word.data, word.length) == 0)
            return true;
    return false;
}

static int count_words(mishap_text text, mishap_text *known, int count)
{
    for (size_t i = 0, from; i < text.length && count < MOST; i++) {
        for (from = i; i < text.length && is_in_word(text.data[i]);)
            i++;
        mishap_text word = { text.data + from, i - from };
        if (word.length && !is_known(known, count, word))
            known[count++] = word;
    }
    return count;
}

int artifacts_score(mishap_text content, mishap_text code)
{
    mishap_text known[MOST];
    int count = count_words(content, known, 0);
    return count_words(code, known, count);
}
