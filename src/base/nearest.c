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

/* A word as it is compared. */
struct word {
    size_t length;
    char text[LONGEST_GUESS];
};

static struct word fold(mishap_text text)
{
    struct word word = { .length = text.length };
    for (size_t i = 0; i < text.length; i++)
        word.text[i] = folded(text.data[i]);
    return word;
}

/* How many letters to add, drop, change or swap with a neighbour to get from one to the other; more
 * than `most` if it is more. Two rows in which all numbers are larger lead to no smaller one. */
static size_t mistakes_in(const struct word *a, const struct word *b, size_t most)
{
    unsigned char rows[3][LONGEST_GUESS + 1];
    unsigned char *before = rows[0], *last = rows[1], *now = rows[2];
    size_t least_last = 0;
    for (size_t j = 0; j <= b->length; j++)
        last[j] = (unsigned char)j;
    for (size_t i = 1; i <= a->length; i++) {
        unsigned char least_now = now[0] = (unsigned char)i;
        char letter = a->text[i - 1], letter_before = i > 1 ? a->text[i - 2] : (char)0;
        for (size_t j = 1; j <= b->length; j++) {
            now[j] = least(last[j - 1] + (letter != b->text[j - 1]),
                           least(last[j], now[j - 1]) + 1u);
            if (i > 1 && j > 1 && letter == b->text[j - 2] && letter_before == b->text[j - 1])
                now[j] = least(now[j], before[j - 2] + 1u);
            least_now = least(least_now, now[j]);
        }
        if (least_now > most && least_last > most)
            return most + 1;
        least_last = least_now;
        unsigned char *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[b->length];
}

/* One mistake in a short word, a few in a long one; none in two letters, since any other word would
 * be similar. */
static size_t mistakes_allowed(size_t length)
{
    return length < 3 ? 0 : length < 6 ? 1 : length < 10 ? 2 : 3;
}

static bool is_start(const struct word *word, const struct word *name)
{
    return memcmp(name->text, word->text, word->length) == 0;
}

/* True if letters were left out, as in `srv` for `serve`: the others are there in their order, from
 * the first on, and at least half of them. */
static bool shortens(const struct word *word, const struct word *name)
{
    size_t found = 0;
    if (word->length < 3 || 2 * word->length < name->length || word->text[0] != name->text[0])
        return false;
    for (size_t i = 0; i < name->length && found < word->length; i++)
        found += name->text[i] == word->text[found];
    return found == word->length;
}

static size_t how_far(mishap_text asked, mishap_text known)
{
    /* Scores are twice the number of mistakes: the start of a name is worse than one mistake,
     * better than two; a name with letters left out is worse than both. */
    enum { A_START = 3, SHORTER = 5 };
    if (asked.length > LONGEST_GUESS || known.length > LONGEST_GUESS)
        return TOO_FAR;
    const struct word word = fold(asked), name = fold(known);
    size_t longer = word.length > name.length ? word.length : name.length;
    size_t added = 2 * longer - word.length - name.length, allowed = mistakes_allowed(longer);
    size_t mistakes = added > allowed ? added : mistakes_in(&word, &name, allowed);
    size_t far = mistakes <= allowed ? 2 * mistakes : TOO_FAR;
    if (far > A_START && word.length >= 2 && word.length < name.length && is_start(&word, &name))
        far = A_START;
    if (far > SHORTER && shortens(&word, &name))
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
