/*
 * The kinds of each byte, as a table: a check that reads a character does one look-up, no matter
 * what the kind is made of. The table is made of the macros when it is compiled.
 */
#include "guard/rules.h"

/* Bytes are 0 to 255 here. */
#define IS_DIGIT(c) ((c) >= '0' && (c) <= '9')
#define IS_UPPER(c) ((c) >= 'A' && (c) <= 'Z')
#define IS_LOWER(c) ((c) >= 'a' && (c) <= 'z')
#define IS_WORD(c)  (IS_DIGIT(c) || IS_UPPER(c) || IS_LOWER(c) || (c) == '_')
#define IS_SPACE(c) ((c) == ' ' || (c) == '\t' || (c) == '\n' || (c) == '\r')
#define IS_QUOTE(c) ((c) == '"' || (c) == '\'' || (c) == '`')
#define IS_TOKEN(c) (IS_WORD(c) || (c) == '-')
#define IS_HOST(c)  (IS_TOKEN(c) || (c) == '.')
/* What neither a string nor an element has in it. */
#define IS_PLAIN(c)     ((c) > ' ' && (c) != '"' && (c) != '\'' && (c) != '<' && (c) != '\\')
#define IS_ADDRESS(c)   (IS_PLAIN(c) && (c) != '>' && (c) != '`' && (c) != ')')
#define IS_AUTHORITY(c) (IS_ADDRESS(c) && (c) != '/' && (c) != '?' && (c) != '#')
#define IS_VALUE(c)     (IS_PLAIN(c) && (c) != ';' && (c) != ',')
#define IS_BARE(c)                                                                                 \
    (IS_ADDRESS(c) && IS_VALUE(c) && (c) != '&' && (c) != '}' && (c) != ']' && (c) != '|')
#define IS_BASE64(c) (IS_TOKEN(c) || (c) == '+' || (c) == '/' || (c) == '=')
#define IS_PATH(c)                                                                                 \
    (IS_HOST(c) || (c) == '/' || (c) == '+' || (c) == '@' || (c) == '~' || (c) == '%' || (c) > 127)
#define IS_PAIRS(c) ((c) != '\n' && (c) != '"' && (c) != '<' && (c) != '>' && (c) != '}')

#define BIT(kind, c) (IS_##kind(c) ? LEAK_##kind : 0)
#define BYTE(c)                                                                                    \
    (BIT(DIGIT, c) | BIT(UPPER, c) | BIT(LOWER, c) | BIT(WORD, c) | BIT(SPACE, c) |                \
     BIT(QUOTE, c) | BIT(TOKEN, c) | BIT(HOST, c) | BIT(ADDRESS, c) | BIT(AUTHORITY, c) |          \
     BIT(VALUE, c) | BIT(BARE, c) | BIT(BASE64, c) | BIT(PATH, c) | BIT(PAIRS, c))
#define BYTES_4(c)  BYTE(c), BYTE((c) + 1), BYTE((c) + 2), BYTE((c) + 3)
#define BYTES_16(c) BYTES_4(c), BYTES_4((c) + 4), BYTES_4((c) + 8), BYTES_4((c) + 12)
#define BYTES_64(c) BYTES_16(c), BYTES_16((c) + 16), BYTES_16((c) + 32), BYTES_16((c) + 48)

const uint16_t mishap_leak_characters[256] = { BYTES_64(0), BYTES_64(64), BYTES_64(128),
                                               BYTES_64(192) };

/* The characters that a literal's \1 to \7 stand for. */
#define IS_1(c) IS_DIGIT(c)
#define IS_2(c)                                                                                    \
    (IS_SPACE(c) || IS_QUOTE(c) || (c) == '(' || (c) == '[' || (c) == '{' || (c) == '<' ||         \
     (c) == '>' || (c) == '=' || (c) == ':' || (c) == ';' || (c) == ',' || (c) == '/' ||           \
     (c) == '\\' || (c) == '@' || (c) == '|' || (c) == ')' || (c) == ']' || (c) == '}' ||          \
     (c) == '*')
#define IS_3(c) (IS_UPPER(c) || IS_DIGIT(c))
#define IS_4(c) (IS_LOWER(c) || IS_DIGIT(c) || (c) == '-' || (c) == '_')
#define IS_5(c) (IS_DIGIT(c) || ((c) >= 'a' && (c) <= 'f') || ((c) >= 'A' && (c) <= 'F'))
#define IS_6(c)                                                                                    \
    (IS_WORD(c) || (c) == '/' || (c) == '.' || (c) == '<' || (c) == '[' || (c) == '$' ||           \
     (c) == '(' || (c) == '-' || (c) == ':')
#define IS_7(c)                                                                                    \
    ((c) == 'f' || (c) == 's' || (c) == 'n' || (c) == 'd' || (c) == 'F' || (c) == 'S' ||           \
     (c) == 'N' || (c) == 'D')

#undef BYTE
#define CLASS(n, c) (IS_##n(c) ? 1 << (n) : 0)
#define BYTE(c)                                                                                    \
    (CLASS(1, c) | CLASS(2, c) | CLASS(3, c) | CLASS(4, c) | CLASS(5, c) | CLASS(6, c) |           \
     CLASS(7, c))

const uint8_t mishap_leak_classes[256] = { BYTES_64(0), BYTES_64(64), BYTES_64(128),
                                           BYTES_64(192) };
