/* Ids in any text: a mail, a log line, a screenshot that was read by a machine. */
#include "operator/inside.h"

static bool is_letter_or_digit(char c)
{
    char lower = (char)(c | 32);
    return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'z');
}

/* The value of a hexadecimal digit in lower case; '\0': it is none. */
static char hex_digit(char c)
{
    char lower = (char)(c | 32);
    if (c >= '0' && c <= '9')
        return c;
    return lower >= 'a' && lower <= 'f' ? lower : '\0';
}

/* Skip a line break that a mail program has put into a word (RFC 2045, 6.7: soft line breaks). */
static const char *skip_break(const char *at, const char *end)
{
    if (end - at >= 2 && at[0] == '=' && at[1] == '\n')
        return at + 2;
    if (end - at >= 3 && at[0] == '=' && at[1] == '\r' && at[2] == '\n')
        return at + 3;
    return at;
}

/* True if a character that a mail program has escaped ends here, such as the `=3D` in `id=3D0192…`.
 * An id may begin behind it. */
static bool is_behind_escape(const char *start, const char *at)
{
    return at - start >= 3 && at[-3] == '=' && hex_digit(at[-2]) && hex_digit(at[-1]);
}

/* Read an id that begins here; NULL: none does. Else the place behind it. */
static const char *read_id(const char *at, const char *end, char id[MISHAP_ID_LENGTH + 1])
{
    bool hyphens = true;
    for (size_t i = 0; i < MISHAP_ID_LENGTH; i++) {
        bool gap = i == 8 || i == 13 || i == 18 || i == 23;
        at = skip_break(at, end);
        char c = at < end ? *at : '\0';
        if (gap) {
            if (i == 8)
                hyphens = c == '-';
            if (hyphens && c != '-')
                return NULL;
            at += hyphens;
            id[i] = '-';
        } else {
            id[i] = hex_digit(c);
            if (!id[i])
                return NULL;
            at++;
        }
    }
    id[MISHAP_ID_LENGTH] = '\0';
    at = skip_break(at, end);
    return at < end && is_letter_or_digit(*at) ? NULL : at;
}

bool mishap_operator_next_id(mishap_text *text, char id[MISHAP_ID_LENGTH + 1])
{
    if (!text->length) /* there need not be data */
        return false;
    const char *at = text->data, *end = at + text->length;
    bool inside = false; /* of a word that began before */
    while (at < end) {
        bool begins = !inside || is_behind_escape(text->data, at);
        const char *behind = begins ? read_id(at, end, id) : NULL;
        if (behind) {
            *text = (mishap_text){ behind, (size_t)(end - behind) };
            return true;
        }
        inside = is_letter_or_digit(*at);
        at++;
    }
    *text = (mishap_text){ end, 0 };
    return false;
}
