/*
 * What a text of --help says about commands. Two things together mean that it lists commands: a
 * heading that speaks of commands, and below it at least two lines that begin with a word and go on
 * with an explanation, or with a comma and the next word.
 *
 *     Commands:                          All commands:
 *       update - Retrieve new lists          access, adduser, audit, bugs,
 *       upgrade - Perform an upgrade         cache, ci, completion
 *
 * A line such as "usage: git [options] <command>" is no heading, since it names no command.
 */
#include <ctype.h>

#include "audit/cli/inside.h"

enum {
    MOST_LINES = 2000, /* of a help text */
    MOST_BELOW = 60,   /* lines below a heading that are looked at */
    LONGEST_NAME = 40,
    DEEPEST_INDENT = 8, /* of a list; what stands further in continues a line */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Cut the next line off; false: there is none. */
static bool next_line(mishap_text *text, mishap_text *line)
{
    if (!text->length)
        return false;
    const char *end = memchr(text->data, '\n', text->length);
    size_t length = end ? (size_t)(end - text->data) : text->length;
    *line = (mishap_text){ text->data, length };
    text->data += length + (end != NULL);
    text->length -= length + (end != NULL);
    while (line->length && is_blank(line->data[line->length - 1]))
        line->length--;
    return true;
}

/* Does the text have this word, in any case of its letters? */
static bool has_word(mishap_text text, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= text.length; i++) {
        bool begins = i == 0 || !isalpha((unsigned char)text.data[i - 1]);
        bool ends = i + length == text.length || !isalpha((unsigned char)text.data[i + length]);
        if (!begins || !ends)
            continue;
        size_t same = 0;
        while (same < length && tolower((unsigned char)text.data[i + same]) == word[same])
            same++;
        if (same == length)
            return true;
    }
    return false;
}

/* A heading: it ends with a colon, or all its letters are capitals. */
static bool is_heading(mishap_text line)
{
    if (!has_word(line, "commands") && !has_word(line, "subcommands"))
        return false;
    if (memchr(line.data, '<', line.length) || memchr(line.data, '[', line.length))
        return false;
    for (size_t i = 0; i < line.length; i++)
        if (islower((unsigned char)line.data[i]))
            return line.data[line.length - 1] == ':';
    return true;
}

/* The command that an indented line begins with; no data: none. `indent` is set to its column. */
static mishap_text command_of(mishap_text line, size_t *indent)
{
    size_t at = 0;
    while (at < line.length && is_blank(line.data[at]))
        at++;
    size_t begin = *indent = at;
    while (at < line.length &&
           (islower((unsigned char)line.data[at]) || isdigit((unsigned char)line.data[at]) ||
            (at > begin && (line.data[at] == '-' || line.data[at] == '_'))))
        at++;
    mishap_text rest = { line.data + at, line.length - at },
                name = { line.data + begin, at - begin };
    bool explained = rest.length >= 2 && is_blank(rest.data[0]) &&
                     (is_blank(rest.data[1]) || rest.data[0] == '\t' || rest.data[1] == '-' ||
                      isupper((unsigned char)rest.data[1]));
    if (!begin || begin > DEEPEST_INDENT || name.length < 2 || name.length > LONGEST_NAME ||
        (rest.length && rest.data[0] != ',' && rest.data[0] != ':' && !explained))
        return (mishap_text){ NULL, 0 };
    return name;
}

/* How many commands stand below a heading, all in the column of the first, up to the next
 * heading. */
static int count_below(mishap_text rest, cli_help *help)
{
    mishap_text line;
    size_t column = 0, indent;
    int commands = 0;
    for (int i = 0; i < MOST_BELOW && next_line(&rest, &line); i++) {
        if (!line.length)
            continue;
        if (!is_blank(line.data[0]) && line.data[line.length - 1] == ':')
            break;
        mishap_text name = command_of(line, &indent);
        if (!name.length || (column && indent != column))
            continue;
        column = indent;
        commands++;
        if (mishap_text_equal(name, (mishap_text)MISHAP_TEXT("manifest")) &&
            has_word(line, "commands"))
            help->has_manifest = true;
    }
    return commands;
}

cli_help mishap_audit_cli_read_help(mishap_text help)
{
    cli_help found = { false, false };
    mishap_text line;
    for (int i = 0; i < MOST_LINES && next_line(&help, &line); i++)
        if (line.length && is_heading(line) && count_below(help, &found) >= 2)
            found.lists_commands = true;
    found.has_manifest = found.has_manifest && found.lists_commands;
    return found;
}

bool mishap_audit_cli_has_escape(mishap_text text)
{
    for (size_t i = 0; i + 1 < text.length; i++)
        if (text.data[i] == '\033' && strchr("[]()PX^_", text.data[i + 1]) && text.data[i + 1])
            return true;
    return false;
}
