/*
 * Completion for bash and zsh. Both read the same three tables, which are functions with a case for
 * each command; zsh gets what each word means along with it.
 */
#include "cli/complete.h"

/* A script that is being written, and room for one text on its way into quotes. */
struct script {
    mishap_buffer *out;
    const mishap_app *app;
    mishap_shell shell;
    mishap_buffer text;
};

static void put_text_quoted(struct script *s)
{
    mishap_shell_put_quoted(s->out, s->shell, mishap_buffer_text(&s->text));
    s->text.length = 0;
}

/* -- which words, which flags ------------------------------------------------------------------ */

/* The text as an entry of a list: for bash alone, for zsh with a colon and what it is. */
static void put_offer(struct script *s, const char *what)
{
    if (s->shell == MISHAP_ZSH && what) {
        MISHAP_PUT(&s->text, ":");
        mishap_cli_put(&s->text, what);
    }
    MISHAP_PUT(s->out, " ");
    put_text_quoted(s);
}

static void offer_word(void *state, const mishap_operation *operation, size_t from, size_t to)
{
    struct script *s = state;
    mishap_shell_put_words(&s->text, operation->name, from, to);
    put_offer(s, operation->name[to] ? NULL : operation->summary);
}

static void put_stem(void *state, const char *name, size_t length)
{
    struct script *s = state;
    MISHAP_PUT(s->out, "    ");
    mishap_shell_put_words(&s->text, name, 0, length);
    put_text_quoted(s);
    MISHAP_PUT(s->out, ") offers=(");
    mishap_shell_each_word(s->app, name, length, offer_word, s);
    MISHAP_PUT(s->out, " ) ;;\n");
}

static bool has_builtin_help(const mishap_app *app)
{
    const mishap_operation *o = NULL;
    while ((o = mishap_cli_next_command(app, o)))
        if (o == mishap_cli_builtins)
            return true;
    return false;
}

static void put_words_table(struct script *s)
{
    MISHAP_PUT(s->out, "    offers=()\n    case $1 in\n");
    if (has_builtin_help(s->app)) /* any command can follow it */
        mishap_shell_put_script(
            s->out, s->app, "    'help'|'help '*) set -- \"${1#help}\"; _%f_words \"${1# }\" ;;\n");
    mishap_shell_each_stem(s->app, put_stem, s);
    MISHAP_PUT(s->out, "    esac\n");
}

static void offer_flag(struct script *s, const mishap_param *param, const char *dashes)
{
    mishap_cli_put(&s->text, dashes);
    mishap_cli_put_flag(&s->text, param->name);
    put_offer(s, param->help);
}

static void put_flags(struct script *s, const mishap_operation *operation)
{
    const mishap_param *param = NULL;
    MISHAP_PUT(s->out, ") offers=(");
    while ((param = mishap_cli_next_flag(operation, param))) {
        offer_flag(s, param, "--");
        if (mishap_cli_can_be_off(param))
            offer_flag(s, param, "--no-");
    }
    MISHAP_PUT(s->out, " ) ;;\n");
}

static void put_flags_table(struct script *s)
{
    const mishap_operation *o = NULL;
    MISHAP_PUT(s->out, "    case $1 in\n");
    while ((o = mishap_cli_next_command(s->app, o))) {
        if (!mishap_cli_next_own(o, NULL))
            continue;
        MISHAP_PUT(s->out, "    ");
        mishap_cli_put_command(&s->text, o->name);
        put_text_quoted(s);
        put_flags(s, o);
    }
    MISHAP_PUT(s->out, "    *");
    put_flags(s, NULL);
    MISHAP_PUT(s->out, "    esac\n");
}

/* -- which values ------------------------------------------------------------------------------ */

/* A pattern: the command, or any, then a flag, a letter or the number of a place. */
static void put_key(struct script *s, const mishap_operation *operation, const char *dashes,
                    const char *name)
{
    if (operation)
        mishap_cli_put_command(&s->text, operation->name);
    MISHAP_PUT(&s->text, " ");
    mishap_cli_put(&s->text, dashes);
    mishap_cli_put_flag(&s->text, name);
    mishap_cli_put(s->out, operation ? "" : "*");
    put_text_quoted(s);
}

static void put_keys(struct script *s, const mishap_operation *operation, const mishap_param *param,
                     size_t place)
{
    char letter[] = { mishap_cli_letter(operation, param), '\0' },
         number[] = { (char)('0' + place % 10), '\0' };
    MISHAP_PUT(s->out, "    ");
    put_key(s, operation, "--", param->name);
    if (letter[0]) {
        MISHAP_PUT(s->out, "|");
        put_key(s, operation, "-", letter);
    }
    if (param->positional && place < 10 &&
        operation != mishap_cli_builtins) { /* commands follow help, no file */
        MISHAP_PUT(s->out, "|");
        put_key(s, operation, "", number);
    }
    MISHAP_PUT(s->out, ")");
}

static void put_value(struct script *s, const mishap_param *param)
{
    const mishap_param *one = mishap_shell_one_of(param);
    if (one->type == MISHAP_ENUM) {
        MISHAP_PUT(s->out, " takes=word offers=(");
        for (size_t i = 0; one->choices && one->choices[i]; i++) {
            mishap_cli_put(&s->text, one->choices[i]);
            put_offer(s, NULL);
        }
        MISHAP_PUT(s->out, " )");
    } else if (param->type != MISHAP_BOOLEAN || param->positional) {
        mishap_cli_put(s->out, mishap_shell_may_be_file(one) ? " takes=file" : " takes=text");
    }
    MISHAP_PUT(s->out, " ;;\n");
}

/* The rows of a command come before those that hold for any: a parameter can replace a flag that
 * every command has. */
static void put_values(struct script *s, const mishap_operation *operation)
{
    const mishap_param *param = NULL;
    size_t place = 0;
    while ((param = mishap_cli_next_flag(operation, param)) &&
           (!operation || !mishap_cli_is_common(param))) {
        put_keys(s, operation, param, place);
        put_value(s, param);
        place += param->positional;
    }
}

static void put_values_table(struct script *s)
{
    const mishap_operation *o = NULL;
    MISHAP_PUT(s->out, "    takes= offers=()\n    case \"$1 $2\" in\n");
    while ((o = mishap_cli_next_command(s->app, o)))
        put_values(s, o);
    put_values(s, NULL);
    MISHAP_PUT(s->out, "    esac\n");
}

/* -- the programs ------------------------------------------------------------------------------ */

/*
 * Reads the words before the one to complete: the command, a flag that waits for its value, the
 * number of the place. Bash has = and @ as words of their own.
 */
#define READ_WORDS                                                                                 \
    "        if [[ -n $flag ]]; then\n"                                                            \
    "            [[ $word == [=@] ]] || flag=\n"                                                   \
    "        elif [[ -z $ended && $word == -- ]]; then\n"                                          \
    "            ended=1 naming=\n"                                                                \
    "        elif [[ -z $ended && $word == --*=* ]]; then\n"                                       \
    "            naming=\n"                                                                        \
    "        elif [[ $word == '=' ]]; then\n"                                                      \
    "            flag='='\n"                                                                       \
    "        elif [[ -z $ended && $word == -?* ]]; then\n"                                         \
    "            naming=\n"                                                                        \
    "            _%f_value \"$at\" \"$word\"\n"                                                    \
    "            [[ -z $takes ]] || flag=$word\n"                                                  \
    "        elif [[ $word != '@' ]]; then\n"                                                      \
    "            known=\n"                                                                         \
    "            [[ -z $naming ]] || _%f_words \"$at\"\n"                                          \
    "            for offer in \"${offers[@]}\"; do\n"                                              \
    "                [[ -n $naming && ${offer%%:*} == \"$word\" ]] && known=1\n"                   \
    "            done\n"                                                                           \
    "            if [[ -n $known ]]; then\n"                                                       \
    "                at=${at:+$at }$word\n"                                                        \
    "            else\n"                                                                           \
    "                naming= place=$((place + 1))\n"                                               \
    "            fi\n"                                                                             \
    "        fi\n"

static const char bash_head[] =
    "# Completion of %n in bash. To load it: source <(%n completion bash)\n\n";

static const char bash_script[] =
    "_%f() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} at= flag= ended= naming=1 place=0\n"
    "    local i word offer known takes= before=\n"
    "    local -a offers=() more=()\n"
    "    COMPREPLY=()\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n" READ_WORDS "    done\n"
    "    offers=() takes=\n"
    "    if [[ -n $flag ]]; then\n"
    "        [[ $cur == '=' ]] && cur=\n"
    "        _%f_value \"$at\" \"$flag\"\n"
    "    elif [[ -z $ended && $cur == --*=* ]]; then\n"
    "        before=${cur%%=*}= cur=${cur#*=}\n"
    "        _%f_value \"$at\" \"${before%=}\"\n"
    "    elif [[ -z $ended && $cur == -* ]]; then\n"
    "        _%f_flags \"$at\"\n"
    "    else\n"
    "        [[ -z $naming ]] || _%f_words \"$at\"\n"
    "        more=(\"${offers[@]}\")\n"
    "        _%f_value \"$at\" \"$place\"\n"
    "        offers+=(\"${more[@]}\")\n"
    "    fi\n"
    "    for offer in \"${offers[@]}\"; do\n"
    "        if [[ $offer == \"$cur\"* ]]; then\n"
    "            printf -v offer %q \"$offer\"\n"
    "            COMPREPLY+=(\"$before$offer\")\n"
    "        fi\n"
    "    done\n"
    "    if [[ $takes == file && ( $cur == @* || ${COMP_WORDS[COMP_CWORD-1]} == @ ) ]]; then\n"
    "        while IFS= read -r offer; do\n"
    "            [[ -d $offer ]] && offer+=/ && compopt -o nospace 2>/dev/null\n"
    "            printf -v offer %q \"$offer\"\n"
    "            COMPREPLY+=(\"$before@$offer\")\n"
    "        done < <(compgen -f -- \"${cur#@}\")\n"
    "    elif [[ $takes == file ]]; then\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        while IFS= read -r offer; do\n"
    "            COMPREPLY+=(\"$before$offer\")\n"
    "        done < <(compgen -f -- \"$cur\")\n"
    "    fi\n"
    "}\n"
    "\n"
    "complete -F _%f %n\n";

static const char zsh_head[] =
    "#compdef %n\n"
    "# Completion of %n in zsh. To load it: source <(%n completion zsh)\n\n";

static const char zsh_script[] =
    "_%f() {\n"
    "    local cur=$words[CURRENT] at= flag= ended= naming=1 place=0\n"
    "    local i word offer known takes=\n"
    "    local -a offers\n"
    "    for ((i = 2; i < CURRENT; i++)); do\n"
    "        word=$words[i]\n" READ_WORDS "    done\n"
    "    offers=() takes=\n"
    "    if [[ -n $flag ]]; then\n"
    "        _%f_value \"$at\" \"$flag\"\n"
    "    elif [[ -z $ended && $cur == --*=* ]]; then\n"
    "        _%f_value \"$at\" \"${cur%%=*}\"\n"
    "        compset -P '*='\n"
    "    elif [[ -z $ended && $cur == -* ]]; then\n"
    "        _%f_flags \"$at\"\n"
    "        _describe -o option offers\n"
    "        return\n"
    "    else\n"
    "        if [[ -n $naming ]]; then\n"
    "            _%f_words \"$at\"\n"
    "            (( $#offers )) && _describe -t commands command offers\n"
    "        fi\n"
    "        _%f_value \"$at\" \"$place\"\n"
    "    fi\n"
    "    case $takes in\n"
    "    word) compadd -a offers ;;\n"
    "    file) compset -P @; _files ;;\n"
    "    esac\n"
    "}\n"
    "\n"
    "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
    "    _%f \"$@\"\n"
    "elif (( $+functions[compdef] )); then\n"
    "    compdef _%f %n\n"
    "fi\n";

void mishap_shell_put_tables(mishap_buffer *buffer, const mishap_app *app, mishap_shell shell)
{
    struct script s = { .out = buffer, .app = app, .shell = shell };
    mishap_shell_put_script(buffer, app, shell == MISHAP_ZSH ? zsh_head : bash_head);
    mishap_shell_put_script(buffer, app,
                            "# The words that can follow the words of a command.\n_%f_words() {\n");
    put_words_table(&s);
    mishap_shell_put_script(buffer, app, "}\n\n# The flags of a command.\n_%f_flags() {\n");
    put_flags_table(&s);
    mishap_shell_put_script(
        buffer, app,
        "}\n\n# What a flag of a command takes, or what stands at a place.\n_%f_value() {\n");
    put_values_table(&s);
    MISHAP_PUT(buffer, "}\n\n");
    mishap_shell_put_script(buffer, app, shell == MISHAP_ZSH ? zsh_script : bash_script);
    buffer->failed = buffer->failed || s.text.failed;
    mishap_buffer_release(&s.text);
}
