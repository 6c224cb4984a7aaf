#include "base/nearest.h"

enum { LONGEST_GUESS = 63, TOO_FAR = 100 };

/* Letters without their case, and one character for all that join words. Only ASCII: the locale
 * must not matter. */
static char folded(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c | 32);
    return c == '_' || c == '.' || c == ' ' ? '-' : c;
}

static unsigned char least(size_t a, size_t b)
{
    return (unsigned char)(a < b ? a : b);
}

/* How many letters to add, drop, change or swap with a neighbour to get from one to the other. */
static size_t mistakes_in(mishap_text a, mishap_text b)
{
    unsigned char rows[3][LONGEST_GUESS + 1];
    unsigned char *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b.length; j++)
        last[j] = (unsigned char)j;
    for (size_t i = 1; i <= a.length; i++) {
        now[0] = (unsigned char)i;
        for (size_t j = 1; j <= b.length; j++) {
            bool same = folded(a.data[i - 1]) == folded(b.data[j - 1]);
            now[j] = least(last[j - 1] + !same, least(last[j], now[j - 1]) + 1u);
            if (i > 1 && j > 1 && folded(a.data[i - 1]) == folded(b.data[j - 2]) &&
                folded(a.data[i - 2]) == folded(b.data[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1u);
        }
        unsigned char *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[b.length];
}

/* One mistake in a short word, a few in a long one; none in two letters, since any other word would
 * be similar. */
static size_t mistakes_allowed(size_t length)
{
    return length < 3 ? 0 : length < 6 ? 1 : length < 10 ? 2 : 3;
}

static bool is_start(mishap_text word, mishap_text name)
{
    for (size_t i = 0; i < word.length; i++)
        if (folded(name.data[i]) != folded(word.data[i]))
            return false;
    return true;
}

/* True if letters were left out, as in `srv` for `serve`: the others are there in their order, from
 * the first on, and at least half of them. */
static bool shortens(mishap_text word, mishap_text name)
{
    size_t found = 0;
    if (word.length < 3 || 2 * word.length < name.length ||
        folded(word.data[0]) != folded(name.data[0]))
        return false;
    for (size_t i = 0; i < name.length && found < word.length; i++)
        found += folded(name.data[i]) == folded(word.data[found]);
    return found == word.length;
}

static size_t how_far(mishap_text word, mishap_text name)
{
    /* Scores are twice the number of mistakes: the start of a name is worse than one mistake,
     * better than two; a name with letters left out is worse than both. */
    enum { A_START = 3, SHORTER = 5 };
    if (word.length > LONGEST_GUESS || name.length > LONGEST_GUESS)
        return TOO_FAR;
    size_t longer = word.length > name.length ? word.length : name.length;
    size_t mistakes = mistakes_in(word, name);
    size_t far = mistakes <= mistakes_allowed(longer) ? 2 * mistakes : TOO_FAR;
    if (far > A_START && word.length >= 2 && word.length < name.length && is_start(word, name))
        far = A_START;
    if (far > SHORTER && shortens(word, name))
        far = SHORTER;
    return far;
}

void mishap_guess_weigh(mishap_guess *guess, mishap_text name)
{
    size_t far = how_far(guess->word, name);
    if (far == TOO_FAR || (guess->name.data && far >= guess->far))
        return;
    guess->name = name;
    guess->far = far;
}
