/*
 * The command for the next page of a list: the same command once more, with the start of the next
 * page. It can be pasted into a shell.
 */
#include "cli/screen/readable.h"
#include "cli/words/command.h"

/* The usual names of the member with the start of the next page, and of the parameter that takes
 * it, most likely first. A parameter of the same name as the member comes before those. */
static const char *const members[] = {
    "next",          "next_cursor",   "nextCursor", "next_page", "next_page_token",
    "nextPageToken", "continue_from", NULL
};
static const char *const takers[] = { "after", "cursor",         "page_token", "pageToken", "page",
                                      "from",  "starting_after", "offset",     "continue",  NULL };

static bool is_one_of(mishap_text name, const char *const *names)
{
    while (*names && !mishap_text_equal(name, mishap_text_of(*names)))
        names++;
    return *names;
}

static const mishap_param *find_param(const mishap_operation *operation, mishap_text name)
{
    const mishap_param *param = mishap_param_find(operation ? operation->params : NULL, name);
    return param && !param->positional && !param->secret ? param : NULL;
}

static const mishap_param *find_taker(const mishap_operation *operation, mishap_text member)
{
    const mishap_param *found = find_param(operation, member);
    for (const char *const *name = takers; !found && *name; name++)
        found = find_param(operation, mishap_text_of(*name));
    return found;
}

bool mishap_cli_has_pages(const mishap_operation *operation)
{
    static const char *const sure[] = { "after",     "cursor",         "page_token",
                                        "pageToken", "starting_after", NULL };
    for (const char *const *name = sure; *name; name++)
        if (find_param(operation, mishap_text_of(*name)))
            return true;
    return false;
}

/* -- words of a shell -------------------------------------------------------------------------- */

static bool needs_no_quotes(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-_./:=@%+,", c));
}

/* Characters with a meaning even between single quotes: to fish the backslash, to csh the
 * exclamation mark. */
static bool is_special(char c)
{
    return c == '\'' || c == '\\' || c == '!';
}

/* False: it contains a character that cannot be shown, so it cannot be pasted either. */
static bool put_word(mishap_buffer *line, mishap_text word)
{
    mishap_buffer shown = { 0 };
    /* Zsh would replace `=name` by the path of a program. */
    bool plain = word.length && word.data[0] != '=';
    mishap_cli_put_shown(&shown, word, MISHAP_CLI_ANY_WIDTH, MISHAP_CLI_ALL_LINES);
    bool same = !shown.failed && mishap_text_equal(mishap_buffer_text(&shown), word) &&
                !memchr(word.data, '\n', word.length);
    line->failed = line->failed || shown.failed;
    mishap_buffer_release(&shown);
    for (size_t i = 0; i < word.length; i++)
        plain = plain && needs_no_quotes(word.data[i]);
    MISHAP_PUT(line, " ");
    if (plain) {
        mishap_buffer_put_text(line, word);
        return same;
    }
    MISHAP_PUT(line, "'");
    for (size_t i = 0; i < word.length; i++)
        if (is_special(word.data[i])) {
            MISHAP_PUT(line, "'\\");
            mishap_buffer_put_char(line, word.data[i]);
            MISHAP_PUT(line, "'");
        } else {
            mishap_buffer_put_char(line, word.data[i]);
        }
    MISHAP_PUT(line, "'");
    return same;
}

/* How many words are the flag and its value; 0: the word is another one. */
static size_t words_of_flag(const char *word, const mishap_param *param)
{
    size_t length = strcspn(word, "=");
    if (length > 2 && word[0] == '-' && word[1] == '-' &&
        mishap_cli_spells(word + 2, length - 2, param->name))
        return word[length] ? 1 : 2;
    if (param->letter && word[0] == '-' && word[1] == param->letter)
        return word[2] ? 1 : 2;
    return 0;
}

static bool put_flag(mishap_buffer *line, const mishap_param *param, mishap_text value)
{
    if (value.data[0] == '@' || mishap_text_equal(value, (mishap_text)MISHAP_TEXT("-")))
        return false; /* it would be read from a file */
    MISHAP_PUT(line, " --");
    mishap_cli_put_flag(line, param->name);
    /* A value that looks like a flag would be read as one. */
    if (value.data[0] != '-')
        return put_word(line, value);
    MISHAP_PUT(line, "=");
    size_t start = line->length;
    bool sound = put_word(line, value);
    if (line->length > start) { /* without the blank */
        memmove(line->data + start, line->data + start + 1, line->length - start - 1);
        line->length--;
    }
    return sound;
}

/* The given words, with another value of one flag, which stands before `--`. */
static bool put_again(mishap_buffer *line, const mishap_cli_asked *asked, const mishap_param *param,
                      mishap_text value)
{
    bool put = false, sound = true;
    for (size_t i = 0; i < asked->word_count; i++) {
        const char *word = asked->words[i];
        size_t skipped = put ? 0 : words_of_flag(word, param);
        if (skipped) {
            i += skipped - 1;
            continue;
        }
        if (!put && strcmp(word, "--") == 0) {
            sound = put_flag(line, param, value) && sound;
            put = true;
        }
        sound = put_word(line, mishap_text_of(word)) && sound;
    }
    return put ? sound : put_flag(line, param, value) && sound;
}

bool mishap_cli_put_next(mishap_buffer *remarks, mishap_text name, yyjson_val *value,
                         const mishap_cli_asked *asked)
{
    char room[512], digits[32];
    mishap_buffer line, number;
    const mishap_param *taker = find_taker(asked->operation, name);
    if (!is_one_of(name, members) || !taker || !asked->program)
        return false;
    mishap_buffer_init(&number, digits, sizeof digits);
    mishap_buffer_init(&line, room, sizeof room);
    mishap_text given = mishap_json_text(value);
    if (yyjson_is_num(value)) {
        mishap_json_copy(&number, value);
        given = mishap_buffer_text(&number);
    }
    bool sound = given.length && put_again(&line, asked, taker, given);
    if (sound) {
        MISHAP_PUT(remarks, "Next page: ");
        mishap_buffer_put_text(remarks, mishap_text_of(asked->program));
        mishap_buffer_put_text(remarks, mishap_buffer_text(&line));
        MISHAP_PUT(remarks, "\n");
    }
    remarks->failed = remarks->failed || line.failed || number.failed;
    mishap_buffer_release(&line);
    mishap_buffer_release(&number);
    return sound;
}
