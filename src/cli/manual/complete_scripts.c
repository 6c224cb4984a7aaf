/*
 * The scripts for the shells. Each asks the program (complete.h), and converts the answer for its
 * shell. They differ only in the name of the program. Typed text stays data: it is passed as
 * arguments, and never expanded or evaluated.
 *
 * The script asks the program that is typed, so `build/mishap` completes its own commands. For an
 * alias it asks the program of the PATH.
 */
#include "cli/manual/describe.h"
#include "cli/manual/manual.h"

/* In a script, %n stands for the program's name, and %f for the name as a part of identifiers. */
static const char bash[] =
    "# Completion of %n in bash. To load it: source <(%n completion bash)\n"
    "\n"
    "_%f() {\n"
    "    local program=${1/#\\~\\//\"$HOME/\"} line=${COMP_LINE:0:COMP_POINT} now= cut= offer i\n"
    "    local -a words=() answer=() files=()\n"
    "    COMPREPLY=()\n"
    "    # Bash cuts words at = : and @, too. What has no blank between belongs together.\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        if [[ $line == [[:space:]]* ]]; then\n"
    "            words+=(\"$now\") now= line=${line#\"${line%%[![:space:]]*}\"}\n"
    "        fi\n"
    "        offer=${COMP_WORDS[i]}\n"
    "        ((i == COMP_CWORD)) && offer=$line\n"
    "        now+=$offer line=${line#\"$offer\"}\n"
    "    done\n"
    "    # The program that is typed or, if there is none, that of the PATH.\n"
    "    type -P \"$program\" >/dev/null || program=%n\n"
    "    mapfile -t answer < <(command \"$program\" __complete \"${words[@]:1}\" \"$now\" \\\n"
    "        2>/dev/null </dev/null)\n"
    "    [[ ${answer[0]} == @(words|flags|files) ]] || return 0\n"
    "    local kind=${answer[0]} before=${answer[1]} breaks=${COMP_WORDBREAKS//[!=:]}\n"
    "    # Bash replaces what stands behind the last = or : that cuts words.\n"
    "    [[ -z $breaks ]] || cut=${now%\"${now##*[\"$breaks\"]}\"}\n"
    "    [[ $kind != files ]] || mapfile -t files < <(compgen -f -- \"${now#\"$before\"}\")\n"
    "    if [[ $kind == files && $before != *@ ]]; then\n"
    "        compopt -o filenames 2>/dev/null # bash quotes\n"
    "    else\n"
    "        kind=quoted\n"
    "    fi\n"
    "    for offer in \"${answer[@]:2}\"; do\n"
    "        offer=$before${offer%%$'\\t'*}\n"
    "        [[ $offer == \"$now\"* ]] && COMPREPLY+=(\"${offer#\"$cut\"}\")\n"
    "    done\n"
    "    for offer in \"${files[@]}\"; do\n"
    "        [[ $kind == quoted && -d $offer ]] && offer+=/ && compopt -o nospace 2>/dev/null\n"
    "        offer=$before$offer\n"
    "        COMPREPLY+=(\"${offer#\"$cut\"}\")\n"
    "    done\n"
    "    for i in \"${!COMPREPLY[@]}\"; do\n"
    "        [[ $kind != quoted ]] || printf -v \"COMPREPLY[i]\" %q \"${COMPREPLY[i]}\"\n"
    "    done\n"
    "}\n"
    "\n"
    "complete -F _%f %n\n";

static const char zsh[] =
    "#compdef %n\n"
    "# Completion of %n in zsh. To load it: source <(%n completion zsh)\n"
    "\n"
    "_%f() {\n"
    "    local program=${${(Q)words[1]}/#\\~\\//$HOME/} line word\n"
    "    local -a answer offers\n"
    "    # The program that is typed or, if there is none, that of the PATH.\n"
    "    (( $+commands[$program] )) || [[ -x $program && ! -d $program ]] || program=%n\n"
    "    answer=(\"${(@f)$(command $program __complete \"${(@Q)words[2,CURRENT-1]}\" "
    "\"${(Q)PREFIX}\" \\\n"
    "        2>/dev/null </dev/null)}\")\n"
    "    [[ $answer[1] == (words|flags|files) ]] || return 1\n"
    "    for line in \"${(@)answer[3,-1]}\"; do\n"
    "        word=${line%%$'\\t'*}\n"
    "        offers+=(\"${${word//\\\\/\\\\\\\\}//:/\\\\:}${${line#\"$word\"}/$'\\t'/:}\")\n"
    "    done\n"
    "    [[ -z $answer[2] ]] || compset -p $#answer[2]\n"
    "    case $answer[1] in\n"
    "    flags) _describe -o option offers ;;\n"
    "    words) (( $#offers )) && _describe -t words word offers ;;\n"
    "    files) (( $#offers )) && _describe -t words word offers; _files ;;\n"
    "    esac\n"
    "}\n"
    "\n"
    "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
    "    _%f \"$@\"\n"
    "elif (( $+functions[compdef] )); then\n"
    "    compdef _%f %n\n"
    "fi\n";

static const char fish[] =
    "# Completion of %n in fish. To load it: %n completion fish | source\n"
    "\n"
    "function __%f_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l now (commandline -ct)\n"
    "    # The program that is typed or, if there is none, that of the PATH.\n"
    "    set -l program (string replace -r -- '^~/' \"$HOME/\" $words[1])\n"
    "    command -sq -- $program; or set program %n\n"
    "    set -e words[1]\n"
    "    set -l answer (command $program __complete $words \"$now\" 2>/dev/null </dev/null)\n"
    "    contains -- \"$answer[1]\" words flags files; or return\n"
    "    set -l kind $answer[1]\n"
    "    set -l before \"$answer[2]\"\n"
    "    set -e answer[1..2]\n"
    "    if test $kind = files\n"
    "        set -l typed (string sub -s (math 1 + (string length -- \"$before\")) -- \"$now\")\n"
    "        set -a answer (__fish_complete_path \"$typed\")\n"
    "    end\n"
    "    for offer in $answer\n"
    "        printf '%s\\n' \"$before$offer\"\n"
    "    end\n"
    "end\n"
    "\n"
    "complete -c %n -f -a '(__%f_complete)'\n";

static void put_identifier(mishap_buffer *b, const char *name)
{
    for (const char *c = name; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9');
        mishap_buffer_put_char(b, plain ? *c : '_');
    }
}

static void put_script(mishap_buffer *b, const char *script, const char *name)
{
    const char *mark;
    for (; (mark = strchr(script, '%')); script = mark + 1) {
        mishap_buffer_put(b, script, (size_t)(mark - script));
        if (mark[1] == 'f')
            put_identifier(b, name);
        else if (mark[1] == 'n')
            mishap_cli_put(b, name);
        else
            MISHAP_PUT(b, "%");
        mark += mark[1] == 'f' || mark[1] == 'n';
    }
    mishap_cli_put(b, script);
}

bool mishap_cli_put_completion(mishap_buffer *buffer, const mishap_app *app, const char *shell)
{
    static const struct {
        const char *shell, *script;
    } scripts[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(shell, scripts[i].shell) == 0) {
            put_script(buffer, scripts[i].script, app->name);
            return true;
        }
    return false;
}
