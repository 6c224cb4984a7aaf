/* What the completion scripts have in common: quoting, and which words can follow which. */
#include "cli/complete.h"

/* -- quoting ----------------------------------------------------------------------------------- */

/* Inside single quotes a backslash means something to fish, and nothing does to the others. */
void mishap_shell_put_quoted(mishap_buffer *b, mishap_shell shell, mishap_text text)
{
    MISHAP_PUT(b, "'");
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c == '\'')
            MISHAP_PUT(b, "'\\''");
        else if (c == '\\' && shell == MISHAP_FISH)
            MISHAP_PUT(b, "\\\\");
        else
            mishap_buffer_put_char(b, (unsigned char)c < ' ' ? ' ' : c);
    }
    MISHAP_PUT(b, "'");
}

static void put_identifier(mishap_buffer *b, const char *name)
{
    for (const char *c = name; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9');
        mishap_buffer_put_char(b, plain ? *c : '_');
    }
}

void mishap_shell_put_script(mishap_buffer *b, const mishap_app *app, const char *script)
{
    const char *mark;
    for (; (mark = strchr(script, '%')); script = mark + 1) {
        mishap_buffer_put(b, script, (size_t)(mark - script));
        if (mark[1] == 'f')
            put_identifier(b, app->name);
        else if (mark[1] == 'n')
            mishap_cli_put(b, app->name);
        else
            MISHAP_PUT(b, "%");
        mark += mark[1] == 'f' || mark[1] == 'n';
    }
    mishap_cli_put(b, script);
}

/* -- the words of commands --------------------------------------------------------------------- */

void mishap_shell_put_words(mishap_buffer *b, const char *name, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        mishap_buffer_put_char(b, name[i] == '.' ? ' ' : name[i]);
}

static size_t segment_end(const char *name, size_t from)
{
    return from + strcspn(name + from, ".");
}

/* Does a name start with the first `length` bytes of another, as whole segments? */
static bool starts_with(const char *name, const char *other, size_t length)
{
    return length == 0 ||
           (strncmp(name, other, length) == 0 && (name[length] == '.' || name[length] == '\0'));
}

/* Does no command before this one start with the same segments? Each is listed once. */
static bool is_first(const mishap_app *app, const mishap_operation *operation, size_t length)
{
    const mishap_operation *o = NULL;
    while ((o = mishap_cli_next_command(app, o)) != operation)
        if (starts_with(o->name, operation->name, length))
            return false;
    return true;
}

void mishap_shell_each_word(const mishap_app *app, const char *name, size_t length,
                            mishap_shell_on_word *on_word, void *state)
{
    const mishap_operation *o = NULL;
    while ((o = mishap_cli_next_command(app, o))) {
        if (!starts_with(o->name, name, length) || (length && o->name[length] == '\0'))
            continue;
        size_t from = length ? length + 1 : 0, to = segment_end(o->name, from);
        if (is_first(app, o, to))
            on_word(state, o, from, to);
    }
}

void mishap_shell_each_stem(const mishap_app *app, mishap_shell_on_stem *on_stem, void *state)
{
    const mishap_operation *o = NULL;
    on_stem(state, "", 0);
    while ((o = mishap_cli_next_command(app, o)))
        for (size_t end = segment_end(o->name, 0); o->name[end];
             end = segment_end(o->name, end + 1))
            if (is_first(app, o, end))
                on_stem(state, o->name, end);
}

/* -- values, scripts --------------------------------------------------------------------------- */

const mishap_param *mishap_shell_one_of(const mishap_param *param)
{
    return param->type == MISHAP_ARRAY && param->items ? param->items : param;
}

bool mishap_shell_may_be_file(const mishap_param *one)
{
    return one->type == MISHAP_STRING || one->type == MISHAP_ARRAY || one->type == MISHAP_OBJECT;
}

bool mishap_cli_put_completion(mishap_buffer *buffer, const mishap_app *app, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        mishap_shell_put_tables(buffer, app, MISHAP_BASH);
    else if (strcmp(shell, "zsh") == 0)
        mishap_shell_put_tables(buffer, app, MISHAP_ZSH);
    else if (strcmp(shell, "fish") == 0)
        mishap_shell_put_fish(buffer, app);
    else
        return false;
    return true;
}
