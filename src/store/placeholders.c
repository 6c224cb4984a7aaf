/*
 * A statement as PostgreSQL wants it: ?4 becomes $1, $2 and so on, in the order in which the places
 * are first used. Numbers without a gap are necessary: PostgreSQL asks for a type of every number
 * up to the last. Text in quotes and comments is left alone.
 */
#include "store/postgresql.h"

#include <stdio.h>

/* Where the quoted text or the comment that begins here ends; the same place if none does. */
static const char *skip_quoted(const char *text)
{
    const char *end = text;
    if (*text == '\'' || *text == '"')
        end = strchr(text + 1, *text);
    else if (text[0] == '-' && text[1] == '-')
        end = strchr(text, '\n');
    else if (text[0] == '/' && text[1] == '*')
        end = strstr(text, "*/");
    else
        return text;
    return end ? end + 1 : text + strlen(text);
}

static void put_place(mishap_buffer *sql, postgresql_statement *statement, size_t place)
{
    char digits[8];
    if (!statement->position[place])
        statement->position[place] = (unsigned char)++statement->count;
    snprintf(digits, sizeof digits, "$%d", statement->position[place]);
    mishap_buffer_add(sql, digits, strlen(digits));
}

bool mishap_postgresql_translate(const char *text, postgresql_statement *statement,
                                 mishap_buffer *sql)
{
    while (*text) {
        const char *behind = skip_quoted(text);
        if (behind == text && text[0] == '?' && text[1] >= '0' && text[1] <= '9') {
            size_t place = 0;
            for (text++; *text >= '0' && *text <= '9' && place <= MISHAP_STORE_PLACES; text++)
                place = place * 10 + (size_t)(*text - '0');
            if (place < 1 || place > MISHAP_STORE_PLACES)
                return false;
            put_place(sql, statement, place);
            continue;
        }
        behind += behind == text;
        mishap_buffer_add(sql, text, (size_t)(behind - text));
        text = behind;
    }
    mishap_buffer_add(sql, "", 1); /* its NUL */
    return true;
}
