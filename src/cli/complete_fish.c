/* Completion for fish: one line for everything that can be offered, each with the condition under
 * which it is. */
#include "cli/complete.h"

static const char fish_script[] =
    "# Completion of %n in fish. To load it: %n completion fish | source\n"
    "\n"
    "# The command that the words before the cursor name, and the number of the place.\n"
    "function __%f_state\n"
    "    set -l words (commandline -opc)\n"
    "    set -e words[1]\n"
    "    set -l found ''\n"
    "    set -l place 0\n"
    "    set -l at\n"
    "    set -l flag\n"
    "    set -l flags\n"
    "    for word in $words\n"
    "        if test -n \"$flag\"\n"
    "            set flag\n"
    "        else if string match -qr -- '^-.' $word\n"
    "            set flags 1\n"
    "            if contains -- \"$found $word\" $__%f_valued; or contains -- \"* $word\" "
    "$__%f_valued\n"
    "                set flag $word\n"
    "            end\n"
    "        else if test -z \"$flags\"; and set at $at $word; and contains -- \"$at\" "
    "$__%f_commands\n"
    "            set found \"$at\"\n"
    "            set place 0\n"
    "        else\n"
    "            set place (math $place + 1)\n"
    "        end\n"
    "    end\n"
    "    echo $found\n"
    "    echo $place\n"
    "end\n"
    "\n"
    "# Is it one of these commands?\n"
    "function __%f_is\n"
    "    set -l state (__%f_state)\n"
    "    contains -- \"$state[1]\" $argv\n"
    "end\n"
    "\n"
    "# Is it this place of this command?\n"
    "function __%f_at\n"
    "    set -l state (__%f_state)\n"
    "    test \"$state[1]\" = \"$argv[1]\" -a \"$state[2]\" = \"$argv[2]\"\n"
    "end\n"
    "\n"
    "# Are these all the words so far?\n"
    "function __%f_follows\n"
    "    set -l words (commandline -opc)\n"
    "    set -e words[1]\n"
    "    test \"$words\" = \"$argv[1]\" -o \"$words\" = (string trim -- \"help $argv[1]\")\n"
    "end\n"
    "\n";

struct script {
    mishap_buffer *out;
    const mishap_app *app;
    mishap_buffer condition, text;
};

static void put_quoted(struct script *s, mishap_text text)
{
    mishap_shell_put_quoted(s->out, MISHAP_FISH, text);
}

/* -- lists of commands and flags --------------------------------------------------------------- */

/* A flag that takes a value, as the walk over the words looks it up: behind its command, or behind
 * a star. */
static void put_valued(struct script *s, const mishap_operation *operation, const char *dashes,
                       const char *name)
{
    s->text.length = 0;
    if (operation)
        mishap_cli_put_command(&s->text, operation->name);
    else
        MISHAP_PUT(&s->text, "*");
    MISHAP_PUT(&s->text, " ");
    mishap_cli_put(&s->text, dashes);
    mishap_cli_put_flag(&s->text, name);
    MISHAP_PUT(s->out, " ");
    put_quoted(s, mishap_buffer_text(&s->text));
}

static void put_valued_flags(struct script *s, const mishap_operation *operation)
{
    const mishap_param *param = NULL;
    while ((param = mishap_cli_next_flag(operation, param)) &&
           (!operation || !mishap_cli_is_common(param))) {
        char letter[] = { mishap_cli_letter(operation, param), '\0' };
        if (param->type == MISHAP_BOOLEAN)
            continue;
        put_valued(s, operation, "--", param->name);
        if (letter[0])
            put_valued(s, operation, "-", letter);
    }
}

static void put_lists(struct script *s)
{
    const mishap_operation *o = NULL;
    mishap_shell_put_script(s->out, s->app, "set -g __%f_commands");
    while ((o = mishap_cli_next_command(s->app, o))) {
        s->text.length = 0;
        mishap_cli_put_command(&s->text, o->name);
        MISHAP_PUT(s->out, " ");
        put_quoted(s, mishap_buffer_text(&s->text));
    }
    mishap_shell_put_script(s->out, s->app, "\nset -g __%f_valued");
    while ((o = mishap_cli_next_command(s->app, o)))
        put_valued_flags(s, o);
    put_valued_flags(s, NULL);
    mishap_shell_put_script(s->out, s->app, "\n\ncomplete -c %n -f\n");
}

/* -- lines ------------------------------------------------------------------------------------- */

/* The start of a line, with the condition if there is one. The condition is a script of its own. */
static void put_complete(struct script *s)
{
    mishap_shell_put_script(s->out, s->app, "complete -c %n");
    if (s->condition.length) {
        MISHAP_PUT(s->out, " -n ");
        put_quoted(s, mishap_buffer_text(&s->condition));
    }
}

static void put_meaning(struct script *s, const char *what)
{
    if (what) {
        MISHAP_PUT(s->out, " -d ");
        put_quoted(s, mishap_text_of(what));
    }
    MISHAP_PUT(s->out, "\n");
}

/* Begin a condition: one of the functions of the script. */
static void begin_condition(struct script *s, const char *function)
{
    s->condition.length = 0;
    mishap_shell_put_script(&s->condition, s->app, function);
}

static void add_to_condition(struct script *s, mishap_text word)
{
    MISHAP_PUT(&s->condition, " ");
    mishap_shell_put_quoted(&s->condition, MISHAP_FISH, word);
}

static void add_command_to_condition(struct script *s, const mishap_operation *operation)
{
    s->text.length = 0;
    mishap_cli_put_command(&s->text, operation->name);
    add_to_condition(s, mishap_buffer_text(&s->text));
}

/* What is offered is expanded by fish when it is: hence quotes inside of quotes. */
static void put_choices(struct script *s, const char *const *choices)
{
    s->text.length = 0;
    for (size_t i = 0; choices && choices[i]; i++) {
        mishap_cli_put(&s->text, i ? " " : "");
        mishap_shell_put_quoted(&s->text, MISHAP_FISH, mishap_text_of(choices[i]));
    }
    MISHAP_PUT(s->out, " -a ");
    put_quoted(s, mishap_buffer_text(&s->text));
}

static void put_word(void *state, const mishap_operation *operation, size_t from, size_t to)
{
    struct script *s = state;
    put_complete(s);
    s->text.length = 0;
    mishap_shell_put_words(&s->text, operation->name, from, to);
    MISHAP_PUT(s->out, " -a ");
    put_quoted(s, mishap_buffer_text(&s->text));
    put_meaning(s, operation->name[to] ? NULL : operation->summary);
}

static void put_stem(void *state, const char *name, size_t length)
{
    struct script *s = state;
    begin_condition(s, "__%f_follows");
    s->text.length = 0;
    mishap_shell_put_words(&s->text, name, 0, length);
    add_to_condition(s, mishap_buffer_text(&s->text));
    mishap_shell_each_word(s->app, name, length, put_word, s);
}

/* -- flags and places -------------------------------------------------------------------------- */

static void put_value(struct script *s, const mishap_param *param)
{
    const mishap_param *one = mishap_shell_one_of(param);
    if (one->type == MISHAP_ENUM) {
        MISHAP_PUT(s->out, " -x");
        put_choices(s, one->choices);
    } else if (param->type != MISHAP_BOOLEAN || param->positional) {
        mishap_cli_put(s->out, mishap_shell_may_be_file(one) ? " -r -F" : " -x");
    }
}

static void put_flag(struct script *s, const mishap_param *param, char letter)
{
    put_complete(s);
    MISHAP_PUT(s->out, " -l ");
    mishap_cli_put_flag(s->out, param->name);
    if (letter) {
        MISHAP_PUT(s->out, " -s ");
        mishap_buffer_put_char(s->out, letter);
    }
    put_value(s, param);
    put_meaning(s, param->help);
    if (mishap_cli_can_be_off(param)) {
        put_complete(s);
        MISHAP_PUT(s->out, " -l no-");
        mishap_cli_put_flag(s->out, param->name);
        put_meaning(s, param->help);
    }
}

static void put_place(struct script *s, const mishap_operation *operation,
                      const mishap_param *param, size_t place)
{
    const mishap_param *one = mishap_shell_one_of(param);
    if (one->type != MISHAP_ENUM && !mishap_shell_may_be_file(one))
        return;
    begin_condition(s, "__%f_at");
    add_command_to_condition(s, operation);
    MISHAP_PUT(&s->condition, " ");
    mishap_buffer_put_uint(&s->condition, place);
    put_complete(s);
    if (one->type == MISHAP_ENUM)
        put_choices(s, one->choices);
    else
        MISHAP_PUT(s->out, " -F");
    put_meaning(s, NULL);
}

static void put_command(struct script *s, const mishap_operation *operation)
{
    size_t place = 0;
    for (const mishap_param *param = NULL; (param = mishap_cli_next_own(operation, param));) {
        begin_condition(s, "__%f_is");
        add_command_to_condition(s, operation);
        put_flag(s, param, mishap_cli_letter(operation, param));
        if (param->positional &&
            operation != mishap_cli_builtins) /* help is followed by commands, not by a file */
            put_place(s, operation, param, place++);
    }
}

/* A flag that every command has, except for those where a parameter replaces it. */
static void put_common(struct script *s, const mishap_param *flag)
{
    char letter = flag->letter;
    const mishap_operation *o = NULL;
    s->condition.length = 0;
    while ((o = mishap_cli_next_command(s->app, o))) {
        const mishap_param *param = NULL;
        while ((param = mishap_cli_next_flag(o, param)) && param != flag)
            ;
        if (param && !mishap_cli_letter(o, flag))
            letter = 0;
        if (param)
            continue;
        if (!s->condition.length)
            begin_condition(s, "not __%f_is");
        add_command_to_condition(s, o);
    }
    put_flag(s, flag, letter);
}

void mishap_shell_put_fish(mishap_buffer *buffer, const mishap_app *app)
{
    struct script s = { .out = buffer, .app = app };
    const mishap_operation *o = NULL;
    mishap_shell_put_script(buffer, app, fish_script);
    put_lists(&s);
    mishap_shell_each_stem(app, put_stem, &s);
    while ((o = mishap_cli_next_command(app, o)))
        put_command(&s, o);
    for (const mishap_param *flag = mishap_cli_flags; flag->name; flag++)
        put_common(&s, flag);
    buffer->failed = buffer->failed || s.condition.failed || s.text.failed;
    mishap_buffer_release(&s.condition);
    mishap_buffer_release(&s.text);
}
