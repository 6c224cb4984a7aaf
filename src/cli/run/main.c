/* mishap_cli_main(): from argv to an exit code. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/manual/complete.h"
#include "cli/manual/manual.h"
#include "cli/run/run.h"
#include "cli/screen/terminal.h"
#include "incident/incident.h"
#include "operation/hide.h"
#include "operation/media.h"
#include "worker/wire/packets.h"

enum {
    BROKEN_DECLARATION = 70, /* EX_SOFTWARE: the program itself is wrong */
    LONGEST_SHOWN = 60,      /* bytes of an option in a message */
};

/* How many words a common flag takes with its value; 0 if the word is no common flag. */
static size_t common_flag_length(const char *word)
{
    if (word[0] != '-')
        return 0;
    size_t length = strcspn(word, "=");
    for (const mishap_param *flag = mishap_cli_flags; flag->name; flag++) {
        if (length > 2 && word[1] == '-' && mishap_cli_spells(word + 2, length - 2, flag->name))
            return flag->type == MISHAP_BOOLEAN || word[length] ? 1 : 2;
        if (flag->letter && word[1] == flag->letter && !word[2])
            return 1;
    }
    return 0;
}

/*
 * Common flags may also stand before the command: they are moved behind the words that follow, so
 * that the command always comes first.
 */
static void put_command_first(char **words, size_t count)
{
    size_t flags = 0, end, length;
    while (flags < count && (length = common_flag_length(words[flags])))
        flags += length;
    for (end = flags; end < count && words[end][0] != '-'; end++)
        continue;
    for (; flags && flags < end; flags--, end--) {
        char *last = words[flags - 1];
        memmove(words + flags - 1, words + flags, (end - flags) * sizeof *words);
        words[end - 1] = last;
    }
}

static void begin_run(mishap_cli *cli, int argc, char **argv, const mishap_app *app)
{
    if (argc > 1)
        put_command_first(argv + 1, (size_t)argc - 1);
    *cli = (mishap_cli){
        .app = app,
        .words = (const char *const *)argv + (argc > 0),
        .word_count = argc > 0 ? (size_t)argc - 1 : 0,
        .json = !isatty(STDOUT_FILENO),
        .color = mishap_cli_wants_color(STDERR_FILENO),
        .out = STDOUT_FILENO,
        .to_file = -1,
        .started_ns = mishap_clock_monotonic_ns(),
        .started_ms = mishap_clock_now_ms(),
    };
    mishap_id_make(cli->request_id);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* beyond the size limit of a file, write() fails instead */
    if (fcntl(STDOUT_FILENO, F_GETFD) < 0) {
        /* It was closed when the program started. No other file may get its number and be written
         * to by mistake. */
        cli->out = -1;
        cli->json = open("/dev/null", O_WRONLY) >= 0;
    }
}

static int tell_failure(mishap_cli *cli, mishap *failure)
{
    int status = mishap_cli_tell(cli, &(mishap_cli_answer){ .failure = failure });
    mishap_free(failure);
    return status;
}

static int tell_document(mishap_cli *cli, mishap_buffer *document)
{
    int status = document->failed
                     ? tell_failure(cli, mishap_out_of_memory())
                     : mishap_cli_tell(
                           cli, &(mishap_cli_answer){ .document = mishap_buffer_text(document) });
    mishap_buffer_release(document);
    return status;
}

/* -- commands that every program has ----------------------------------------------------------- */

/* The program with all flags of its commands, for help and the like. Without memory it is described
 * as it was declared. */
static void describe_app(mishap_cli *cli, mishap_arena *arena, mishap_app *described)
{
    const mishap_app *app = cli->app;
    const mishap_operation *operation = cli->operation;
    mishap_arena_init(arena, NULL, 0);
    *described = *app;
    if (!mishap_cli_describe(app, arena, described))
        return;
    for (size_t i = 0; app->operations[i].name; i++)
        if (operation == &app->operations[i])
            cli->operation = &described->operations[i];
}

static bool has_word(const mishap_cli *cli, const char *word, const char *letter)
{
    for (size_t i = 0; i < cli->word_count && strcmp(cli->words[i], "--") != 0; i++)
        if (strcmp(cli->words[i], word) == 0 || (letter && strcmp(cli->words[i], letter) == 0))
            return true;
    return false;
}

/* Help runs nothing and writes no file; if standard output is for a program, help goes to
 * stderr. */
static int show_help(mishap_cli *cli, mishap_text group)
{
    mishap_buffer help = { 0 };
    mishap_arena arena;
    mishap_app described;
    const mishap_operation *operation = cli->operation;
    bool person = isatty(STDOUT_FILENO), color = mishap_cli_wants_color(STDOUT_FILENO);
    describe_app(cli, &arena, &described);
    if (!cli->operation && group.data)
        mishap_cli_put_help_of(&help, cli->app, group, color);
    else
        mishap_cli_put_help(&help, &described, cli->operation, color);
    cli->operation = operation;
    mishap_arena_release(&arena);
    if (!person)
        cli->out = STDERR_FILENO;
    return tell_document(cli, &help);
}

static int show_version(mishap_cli *cli)
{
    mishap_buffer version = { 0 };
    mishap_buffer_put_text(&version, mishap_text_of(cli->app->name));
    MISHAP_PUT(&version, " ");
    mishap_buffer_put_text(&version, mishap_text_of(cli->app->version ? cli->app->version : "0"));
    MISHAP_PUT(&version, "\n");
    return tell_document(cli, &version);
}

static int show_manifest(mishap_cli *cli)
{
    mishap_buffer manifest = { 0 };
    mishap_arena arena;
    mishap_app described;
    describe_app(cli, &arena, &described);
    mishap_cli_put_manifest(&manifest, &described);
    mishap_arena_release(&arena);
    int status = manifest.failed
                     ? tell_failure(cli, mishap_out_of_memory())
                     : mishap_cli_tell(cli,
                                       &(mishap_cli_answer){ .data = mishap_buffer_text(&manifest),
                                                             .as_json = true });
    mishap_buffer_release(&manifest);
    return status;
}

static int show_completion(mishap_cli *cli, mishap_text arguments)
{
    mishap_buffer script = { 0 };
    mishap_call *call;
    mishap *failure = mishap_call_begin(cli->app, cli->operation, arguments, &call);
    if (failure)
        return tell_failure(cli, failure);
    mishap_cli_put_completion(&script, cli->app,
                              mishap_string(call, "shell")); /* one of the three */
    mishap_call_end(call);
    return tell_document(cli, &script);
}

/* The hidden command of the completion scripts. All words behind it are data. */
static int show_offers(mishap_cli *cli)
{
    mishap_buffer offers = { 0 };
    mishap_arena arena;
    mishap_app described;
    describe_app(cli, &arena, &described);
    mishap_cli_put_offers(&offers, &described, cli->words + 1, cli->word_count - 1);
    mishap_arena_release(&arena);
    return tell_document(cli, &offers);
}

static int show_manual(mishap_cli *cli)
{
    mishap_buffer page = { 0 };
    mishap_arena arena;
    mishap_app described;
    describe_app(cli, &arena, &described);
    mishap_cli_put_manual(&page, &described);
    mishap_arena_release(&arena);
    return tell_document(cli, &page);
}

/* -- a command that is none -------------------------------------------------------------------- */

static const char *nearest_to(const mishap_app *app, const char *words)
{
    mishap_guess guess = { .word = mishap_text_of(words) };
    for (const mishap_operation *o = NULL; (o = mishap_cli_next_command(app, o));)
        mishap_guess_weigh(&guess, mishap_text_of(o->name));
    return guess.name.data;
}

/* The name of a similar operation, NULL if there is none: by the first words, else by the first
 * alone. */
static const char *nearest_command(const mishap_cli *cli)
{
    char given[128];
    int length = 0;
    for (size_t i = 0; i < cli->word_count && i < 3 && cli->words[i][0] != '-' && length < 100; i++)
        length += snprintf(given + length, sizeof given - (size_t)length, "%s%.30s", i ? " " : "",
                           cli->words[i]);
    const char *nearest = length ? nearest_to(cli->app, given) : NULL;
    return nearest || !cli->word_count ? nearest : nearest_to(cli->app, cli->words[0]);
}

/* The common flags decide how to answer; other mistakes in the words do not matter here. */
static void take_common_flags(mishap_cli *cli)
{
    static const mishap_operation none = { .name = "" };
    mishap_buffer object = { 0 };
    cli->operation = &none;
    mishap_free(mishap_cli_read_arguments(cli, cli->words, cli->word_count, &object));
    cli->operation = NULL;
    mishap_buffer_release(&object);
}

static mishap *name_command(const mishap_cli *cli, const char *first)
{
    mishap_buffer asked = { 0 };
    mishap *m = mishap_cli_put_asked(&asked, cli->app, cli->words, cli->word_count)
                    ? mishap_raise(UNKNOWN_COMMAND, "There is no command `%s`.", asked.data)
                    : mishap_raise(UNKNOWN_COMMAND, NULL);
    mishap_buffer_release(&asked);
    return mishap_tell(m, "command", first);
}

static mishap *no_such_command(const mishap_cli *cli, const char *first)
{
    char advice[200];
    if (!*first || common_flag_length(first))
        return mishap_raise(UNKNOWN_COMMAND, "No command was given.");
    if (*first != '-')
        return name_command(cli, first);
    int length = (int)strcspn(first, "=");
    length = length < LONGEST_SHOWN ? length : LONGEST_SHOWN;
    snprintf(advice, sizeof advice, "Write the option after the command: `%s COMMAND %.*s`",
             cli->app->name, length, first);
    return mishap_suggest(mishap_raise(UNKNOWN_COMMAND,
                                       "The option %.*s was given before the command. Only options "
                                       "of every command can be given there.",
                                       length, first),
                          advice);
}

static bool only_common_flags(const mishap_cli *cli, size_t from)
{
    size_t length = 1;
    for (size_t i = from; i < cli->word_count && length; i += length)
        length = common_flag_length(cli->words[i]);
    return length;
}

/* Its flags were read already. */
static int unknown_command(mishap_cli *cli)
{
    char room[256];
    mishap_buffer advice;
    mishap *m = no_such_command(cli, cli->word_count ? cli->words[0] : "");
    const char *nearest = nearest_command(cli);
    mishap_buffer_init(&advice, room, sizeof room);
    if (nearest) {
        MISHAP_PUT(&advice, "Did you mean `");
        mishap_cli_put(&advice, cli->app->name);
        MISHAP_PUT(&advice, " ");
        mishap_cli_put_command(&advice, nearest);
        MISHAP_PUT(&advice, "`?");
    } else if (!mishap_told(m)->suggestion.length) {
        MISHAP_PUT(&advice, "Run `");
        mishap_cli_put(&advice, cli->app->name);
        MISHAP_PUT(&advice, " --help` to see the commands.");
    }
    mishap_buffer_put_char(&advice, '\0');
    if (advice.length > 1 && !advice.failed)
        m = mishap_suggest(m, advice.data);
    mishap_buffer_release(&advice);
    return tell_failure(cli, m);
}

/* A person who names a group without a command probably searches for one: so the commands of the
 * group are listed. The exit code is that of the failure, since it must not depend on where the
 * answer goes. */
static int show_group(mishap_cli *cli, mishap_text group)
{
    mishap_buffer page = { 0 };
    mishap_cli_put_help_of(&page, cli->app, group, cli->color);
    cli->out = STDERR_FILENO;
    int status = tell_document(cli, &page);
    return status ? status : MISHAP_CODE_UNKNOWN_COMMAND->exit_code;
}

/* -- a command --------------------------------------------------------------------------------- */

/* Text that the handler wrote to standard output itself is no answer, but the caller should know of
 * it. It shows a mistake, and is cleaned like a failure. */
static void warn_of_output(const mishap_cli *cli, mishap_call *call)
{
    mishap_buffer caught = { 0 };
    if (mishap_cli_captured(&caught, cli->secrets)) {
        mishap_text text = mishap_buffer_text(&caught);
        const mishap_sent sent = mishap_cli_sent(cli);
        text = mishap_hide_text(text, &sent);
        mishap_warn(call, "The handler of the command wrote to standard output: %.*s",
                    (int)text.length, text.data);
    }
    mishap_buffer_release(&caught);
}

/* A document is printed unchanged. For a terminal, control characters are replaced. */
static mishap_text document_to_show(const mishap_cli *cli, mishap_text document,
                                    mishap_buffer *shown)
{
    if (!document.length)
        return (mishap_text)MISHAP_TEXT(""); /* then nothing is shown */
    if (!isatty(cli->out))
        return document;
    mishap_put_printable(shown, document);
    if (document.data[document.length - 1] != '\n')
        /* Otherwise the prompt of the shell would follow on the same line. */
        mishap_buffer_put_char(shown, '\n');
    return shown->failed ? document : mishap_buffer_text(shown);
}

/* A foreign program is interrupted when the time is over, and its own report says more than a
 * timeout. */
static int time_to_report(const mishap_cli *cli)
{
    const mishap_operation *o = cli->operation;
    const mishap_foreign *foreign = o->service && !cli->server ? o->service->worker : NULL;
    enum { BESIDE_MS = 1000 };
    return foreign ? BESIDE_MS + mishap_foreign_grace_ms(foreign) : 0;
}

static int run_operation(mishap_cli *cli, mishap_text arguments)
{
    mishap_call *call;
    mishap_answer_kind kind = MISHAP_ANSWER_NOTHING;
    mishap_cli_answer answer = { 0 };
    mishap_buffer shown = { 0 };
    answer.failure = mishap_cli_begin_call(cli, arguments, &call);
    if (!answer.failure && cli->has_upload)
        answer.failure = mishap_upload_check(&cli->upload, cli->operation);
    if (!answer.failure)
        answer.failure = mishap_cli_bytes_begin(cli);
    if (!answer.failure && !cli->operation->resident)
        answer.failure = mishap_cli_capture(cli);
    if (!answer.failure && !cli->operation->resident)
        answer.failure = mishap_cli_watch(cli, cli->timeout_ms + time_to_report(cli), call);
    if (!answer.failure && !cli->operation->resident)
        answer.failure = mishap_cli_guard_exit(cli, call);
    bool ready = !answer.failure;
    if (ready) {
        mishap_cli_tell_call(cli, call);
        mishap_cli_bytes_use(cli, call);
        if (!cli->operation->resident)
            mishap_cli_live_use(cli, call);
        answer.failure = mishap_cli_run_call(cli, call);
    }
    mishap_cli_claim_answer(); /* the watcher may run already, even if the call failed */
    if (ready) {
        if (!cli->operation->resident)
            warn_of_output(cli, call);
        mishap_text text = mishap_call_answer(call, &kind);
        answer.warnings = mishap_call_warnings(call);
        answer.listed = call->listed;
        answer.total = call->total;
        if (kind == MISHAP_ANSWER_BYTES || kind == MISHAP_ANSWER_STREAM) {
            answer.media_type = mishap_media_clean(call->answer_type);
            answer.bytes = text;
        } else if (kind == MISHAP_ANSWER_DOCUMENT)
            answer.document = document_to_show(cli, text, &shown);
        else if (!answer.failure || kind == MISHAP_ANSWER_JSON)
            answer.data = text;
        if (answer.data.length)
            answer.text = mishap_buffer_text(&call->text);
        answer.styled = call->styled;
    }
    cli->ended = call;
    int status = mishap_cli_tell_relayed(cli, &answer);
    mishap_cli_unguard_exit(status);
    mishap_free(answer.failure);
    cli->ended = NULL;
    cli->arguments = (mishap_text){ NULL, 0 };
    mishap_call_end(call);
    mishap_buffer_release(&cli->body);
    mishap_buffer_release(&shown);
    return status;
}

/* A file that an argument names may be a pipe without a writer: the timeout must run before the
 * arguments are read. */
static bool may_block(const mishap_cli *cli)
{
    for (size_t i = 0; i < cli->word_count; i++) {
        const char *word = cli->words[i], *equals = strchr(word, '=');
        const char *value = word[0] == '-' && word[1] == '-' && equals ? equals + 1 : word;
        if (value[0] == '@' || strcmp(value, "-") == 0)
            return true;
    }
    return cli->operation->takes;
}

/* Find --timeout-ms among the words before they are read; it is checked later. */
static int wanted_timeout(const mishap_cli *cli)
{
    static const char flag[] = "--timeout-ms";
    const size_t length = sizeof flag - 1;
    long wanted = 0;
    for (size_t i = 0; i < cli->word_count && !mishap_cli_has_param(cli->operation, "timeout_ms");
         i++) {
        const char *word = cli->words[i];
        if (strncmp(word, flag, length) == 0 && word[length] == '=')
            wanted = strtol(word + length + 1, NULL, 10);
        else if (strcmp(word, flag) == 0 && i + 1 < cli->word_count)
            wanted = strtol(cli->words[i + 1], NULL, 10);
    }
    return wanted > 0 && wanted <= MISHAP_CLI_LONGEST_MS
               ? (int)wanted
               : mishap_operation_timeout(cli->app, cli->operation);
}

static int run_command(mishap_cli *cli, size_t used)
{
    mishap_buffer object = { 0 };
    cli->timeout_ms = wanted_timeout(cli);
    if (!cli->operation->resident && may_block(cli))
        mishap_free(mishap_cli_watch(cli, cli->timeout_ms, NULL));
    mishap *failure = mishap_cli_read_arguments(cli, cli->words + used, cli->word_count - used,
                                                &object);
    if (failure)
        mishap_cli_claim_answer();
    int status = failure       ? tell_failure(cli, failure)
                 : cli->detach ? mishap_cli_run_detached(cli, mishap_buffer_text(&object))
                               : run_operation(cli, mishap_buffer_text(&object));
    if (cli->setup.data)
        mishap_service_use(NULL); /* its memory ends with this run */
    mishap_buffer_release(&object);
    return status;
}

/* Run a built-in command: its arguments are checked like those of any other. */
static int run_builtin(mishap_cli *cli, size_t used)
{
    mishap_buffer object = { 0 };
    mishap *failure = mishap_cli_read_arguments(cli, cli->words + used, cli->word_count - used,
                                                &object);
    const char *name = cli->operation->name;
    int status = failure                         ? tell_failure(cli, failure)
                 : strcmp(name, "manifest") == 0 ? show_manifest(cli)
                 : strcmp(name, "completion") == 0
                     ? show_completion(cli, mishap_buffer_text(&object))
                     : show_manual(cli);
    mishap_buffer_release(&object);
    return status;
}

/* If one of the three standard descriptors is closed, the next file or socket that is opened would
 * get its number, and with it everything that is printed. So each is replaced by one that cannot be
 * read or written either. */
static void occupy_standard_files(void)
{
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (fcntl(file, F_GETFD) < 0)
            open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int mishap_cli_refuse_program(mishap *broken)
{
    fprintf(stderr, "%s\n", mishap_public_message(mishap_told(broken)).data);
    mishap_free(broken);
    return BROKEN_DECLARATION;
}

mishap_cli_checks *mishap_cli_check_more;

static mishap *check_all(const mishap_app *app)
{
    mishap *broken = mishap_declaration_check(app);
    return broken || !mishap_cli_check_more ? broken : mishap_cli_check_more();
}

/* Commands that keep running or describe the program check all declarations. For a command that
 * runs and ends, the shape of all has to be correct, and all of its own operation, unless the build
 * has checked it. The version of the program depends on no operation. */
static mishap *check_rest(const mishap_cli *cli, bool help, bool version)
{
    const mishap_operation *operation = cli->operation;
    if (version && !operation)
        return NULL;
    if (help || (operation && (!operation->run || operation->resident)))
        return check_all(cli->app);
    if (cli->app->checked)
        return NULL;
    mishap *broken = mishap_declaration_check_shape(cli->app);
    return broken || !operation ? broken : mishap_declaration_check_operation(cli->app, operation);
}

int mishap_cli_main(int argc, char **argv, const mishap_app *app)
{
    mishap_cli cli;
    size_t used = 0;
    occupy_standard_files();
    mishap *broken = app && app->checked ? NULL : mishap_declaration_check_program(app);
    if (broken)
        return mishap_cli_refuse_program(broken);
    begin_run(&cli, argc, argv, app);
    const char *first = cli.word_count ? cli.words[0] : "";
    if (strcmp(first, MISHAP_CLI_COMPLETE) == 0)
        return (broken = mishap_declaration_check_shape(app)) ? mishap_cli_refuse_program(broken)
                                                              : show_offers(&cli);
    bool help = has_word(&cli, "--help", "-h") || strcmp(first, "help") == 0;
    size_t skip = strcmp(first, "help") == 0;
    cli.operation = mishap_cli_find(app, cli.words + skip, cli.word_count - skip, &used);
    if (!cli.operation) /* an operation of the program comes before a built-in command */
        cli.operation = mishap_cli_find(&(mishap_app){ .operations = mishap_cli_builtins },
                                        cli.words + skip, cli.word_count - skip, &used);
    bool version = has_word(&cli, "--version", NULL) && !has_word(&cli, "--help", "-h");
    if ((broken = check_rest(&cli, help, version)))
        return mishap_cli_refuse_program(broken);
    if (version && !mishap_cli_has_param(cli.operation, "version"))
        return show_version(&cli);
    const char *word = cli.word_count > skip ? cli.words[skip] : "";
    size_t named = 0;
    while (skip + named < cli.word_count && cli.words[skip + named][0] != '-')
        named++;
    mishap_text group = mishap_cli_group(app, cli.words + skip, named);
    if (skip && !cli.operation && word[0] && word[0] != '-' && !group.data) {
        cli.words++; /* help for an unknown command */
        cli.word_count--;
        take_common_flags(&cli);
        return unknown_command(&cli);
    }
    if (help)
        return show_help(&cli, group);
    if (cli.operation)
        return cli.operation->run ? run_command(&cli, used) : run_builtin(&cli, used);
    take_common_flags(&cli);
    return group.data && !cli.json && only_common_flags(&cli, named) ? show_group(&cli, group)
                                                                     : unknown_command(&cli);
}
