/* `mishap audit cli`: what its checks say of small programs, good, bad and hostile. Programs are
 * scripts of the shell. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "audit/cli/inside.h"
#include "testing.h"

static mishap_audit *audit;
static const mishap_audit_results *results;

static void audit_words(const char *const *argv, int run_ms)
{
    audit = mishap_audit_open(&(mishap_audit_settings){ .area = MISHAP_AUDIT_CLI,
                                                        .checks = mishap_audit_cli_checks,
                                                        .target = argv[0],
                                                        .rate = 10000 });
    assert_non_null(audit);
    assert_null(
        mishap_audit_cli(audit, &(mishap_audit_cli_target){ .argv = argv, .run_ms = run_ms }));
    assert_null(mishap_audit_end(audit, &results));
}

/* A script whose arguments are the words that an audit adds. It is a file: what stands on the
 * command line was sent, so it would be no leak. */
static void audit_script(const char *script, int run_ms)
{
    char path[] = "/tmp/mishap-cli-test-XXXXXX";
    const char *argv[] = { "sh", path, NULL };
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, script, strlen(script)), strlen(script));
    close(file);
    audit_words(argv, run_ms ? run_ms : 60000);
    unlink(path);
}

static int close_audit(void **state)
{
    (void)state;
    mishap_audit_free(audit);
    audit = NULL;
    return 0;
}

static const mishap_audit_result *result_of(int check)
{
    return &results->checks[check];
}

/* A script that must come so far within its time that this check has this outcome. On a machine
 * that is too busy for that it gets more time. */
static void audit_script_within(const char *script, int run_ms, int check,
                                mishap_audit_outcome outcome)
{
    for (;; run_ms *= 6) {
        audit_script(script, run_ms);
        if (result_of(check)->outcome == outcome || run_ms > 30000)
            return;
        close_audit(NULL);
    }
}

/* All checks that failed, or are advice, by their ids with a blank before each, in the order of the
 * table. */
static void assert_failed(const char *expected)
{
    char failed[1024] = "";
    for (size_t i = 0; i < results->check_count; i++)
        if (results->checks[i].outcome >= MISHAP_AUDIT_ADVICE) {
            size_t length = strlen(failed);
            snprintf(failed + length, sizeof failed - length, " %s", results->checks[i].check->id);
        }
    assert_string_equal(failed, expected);
}

static const char good[] =
    "case \"$1\" in --help) echo 'Usage: tool [OPTIONS]';; "
    "-*) echo \"tool: unknown option: $1\" >&2; exit 2;; *) read line;; esac";

static void a_good_command_has_full_marks(void **state)
{
    (void)state;
    audit_script(good, 0);
    assert_failed("");
    assert_int_equal(results->score, 100);
    assert_int_equal(result_of(CLI_COMMAND_FAILS)->outcome, MISHAP_AUDIT_UNDECIDED);
    assert_int_equal(result_of(CLI_ENVELOPE)->outcome, MISHAP_AUDIT_UNDECIDED);
    assert_int_equal(result_of(CLI_SIGTERM)->outcome, MISHAP_AUDIT_PASSED);
    assert_int_equal(results->requests, 4);
}

static void a_dry_run_starts_nothing(void **state)
{
    static const char *const argv[] = { "mishap-no-such-program", "it's", NULL };
    (void)state;
    audit = mishap_audit_open(&(mishap_audit_settings){ .area = MISHAP_AUDIT_CLI,
                                                        .checks = mishap_audit_cli_checks,
                                                        .target = argv[0],
                                                        .dry_run = true });
    assert_null(mishap_audit_cli(audit, &(mishap_audit_cli_target){ .argv = argv }));
    assert_null(mishap_audit_end(audit, &results));
    assert_int_equal(results->planned_count, 4);
    assert_string_equal(results->planned[0].text.data, "mishap-no-such-program 'it'\\''s' --help");
}

static void a_command_that_does_not_exist_is_no_audit(void **state)
{
    static const char *const argv[] = { "mishap-no-such-program", NULL };
    (void)state;
    audit = mishap_audit_open(&(mishap_audit_settings){
        .area = MISHAP_AUDIT_CLI, .checks = mishap_audit_cli_checks, .target = argv[0] });
    mishap *m = mishap_audit_cli(audit, &(mishap_audit_cli_target){ .argv = argv });
    assert_true(mishap_is(m, NOT_FOUND));
    mishap_free(m);
}

static void each_fault_is_found(void **state)
{
    static const struct {
        const char *script, *failed;
    } cases[] = {
        { "echo fine", " cli-flag-fails cli-flag-reported cli-flag-named" },
        { "echo bad >&2; exit 1", " cli-flag-named cli-help-exit" },
        { "case $1 in --help) ;; *) echo $1 >&2; exit 1;; esac", " cli-help-text" },
        { "case $1 in --help) echo help; echo x > ~/.log;; *) echo $1 >&2; exit 1;; esac",
          " cli-help-files" },
        { "case $1 in --help) printf '\\033[1mhelp\\033[0m';; *) echo $1 >&2; exit 1;; esac",
          " cli-escapes" },
        { "case $1 in --help) echo help;; *) echo $1 >&2; kill -SEGV $$;; esac", " cli-crash" },
        { "case $1 in --help) echo help;; *) echo $1 >&2; (setsid sleep 300 >/dev/null 2>&1 &) ; "
          "exit "
          "1;; esac",
          " cli-left-behind" },
        { "case $1 in --help) echo help;; *) printf 'Traceback (most recent call last):\\n  File "
          "\"/srv/app/tool.py\", line 3, in <module>\\n    main()\\nKeyError: 1\\n' >&2; echo $1 "
          ">&2; exit 1;; esac",
          " cli-leak" },
        { "case $1 in --help) printf 'Commands:\\n  add  Add one\\n  list  List all\\n';; -*) echo "
          "$1 "
          ">&2; exit 1;; esac",
          " cli-command-fails cli-command-named" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        audit_script(cases[i].script, 0);
        assert_failed(cases[i].failed);
        close_audit(NULL);
    }
}

static void a_trace_makes_the_score_zero(void **state)
{
    (void)state;
    audit_script(
        "case $1 in --help) echo help;; *) printf 'Traceback (most recent call "
        "last):\\n  File \"/srv/app/tool.py\", line 3, in <module>\\nKeyError: 1\\n'; echo "
        "$1 >&2; exit 1;; esac",
        0);
    assert_true(results->leak);
    assert_int_equal(results->score, 0);
}

static void the_folder_of_a_run_is_no_leak(void **state)
{
    (void)state;
    audit_script("case $1 in --help) echo help;; *) echo \"$1: see $HOME/.tool/log\" >&2; exit 1;; "
                 "esac",
                 0);
    assert_failed("");
}

#define ENVELOPE                                                                                   \
    "{\"ok\":false,\"data\":null,\"error\":{\"code\":\"ARG_ERROR\",\"message\":\"The flag "        \
    "--mishap-no-such-flag does not exist.\",\"suggestion\":\"See --help.\"},\"warnings\":[],"     \
    "\"meta\":{\"duration_ms\":1}}"

static void the_envelope_is_judged_where_it_is_printed(void **state)
{
    (void)state;
    audit_script("case $1 in --help) echo help;; *) echo '" ENVELOPE "'; exit 2;; esac", 0);
    assert_failed("");
    assert_int_equal(result_of(CLI_ENVELOPE)->outcome, MISHAP_AUDIT_PASSED);
    close_audit(NULL);
    audit_script("case $1 in --help) echo help;; *) echo '{\"ok\":true,\"data\":null,\"error\":{"
                 "\"code\":\"arg error\",\"message\":\"--mishap-no-such-flag\"}}'; exit 64;; esac",
                 0);
    assert_failed(" cli-envelope cli-envelope-ok cli-usage-exit");
}

static void a_manifest_is_judged(void **state)
{
#define LISTS "printf 'Commands:\\n  add       Add one\\n  manifest  Show all commands as JSON\\n'"
    (void)state;
    audit_script("case $1 in --help) " LISTS ";; manifest) echo '{\"commands\":{\"add\":{"
                 "\"exit_codes\":{\"0\":{}}},\"list\":{}}}';; *) echo '" ENVELOPE
                 "'; echo $1 >&2; exit 2;; esac",
                 0);
    assert_failed(" cli-manifest");
    assert_string_equal(result_of(CLI_MANIFEST)->findings[0].key.data, "list");
    close_audit(NULL);
    audit_script("case $1 in --help) " LISTS ";; manifest) echo '{\"commands\":{\"add\":{"
                 "\"exit_codes\":{\"0\":{}}}}}';; *) echo $1 >&2; exit 2;; esac",
                 0);
    assert_failed(" cli-envelope");
    close_audit(NULL);
    audit_script("case $1 in --help) " LISTS
                 ";; manifest) echo 'all fine';; *) echo $1 >&2; exit 2;; "
                 "esac",
                 0);
    assert_failed("");
}

/* -- hostile commands -------------------------------------------------------------------------- */

static void a_command_that_never_ends_is_a_finding(void **state)
{
    (void)state;
    audit_script_within("trap '' TERM; while :; do sleep 600; done", 200, CLI_SIGTERM,
                        MISHAP_AUDIT_FAILED);
    assert_failed(" cli-ends cli-sigterm cli-closed-output");
}

/* Only with an output that nothing reads does writing fail. */
static void a_command_that_hangs_on_a_closed_output_is_a_finding(void **state)
{
    (void)state;
    audit_script_within(
        "trap '' PIPE; case \"$1\" in --help) echo 'Usage: tool' || while :; do sleep 600; "
        "done;; -*) echo \"tool: unknown option: $1\" >&2; exit 2;; esac 2>/dev/null",
        2000, CLI_HELP_EXIT, MISHAP_AUDIT_PASSED);
    assert_int_equal(result_of(CLI_PIPE)->outcome, MISHAP_AUDIT_FAILED);
    assert_int_equal(result_of(CLI_HELP_EXIT)->outcome, MISHAP_AUDIT_PASSED);
}

/* A command that waits gets SIGTERM once it is idle, long before its time is over. */
static void sigterm_does_not_wait_for_the_time_limit(void **state)
{
    int64_t begun = mishap_clock_monotonic_ns();
    (void)state;
    audit_script(good, 300000);
    assert_int_equal(result_of(CLI_SIGTERM)->outcome, MISHAP_AUDIT_PASSED);
    assert_true(mishap_clock_monotonic_ns() - begun < 290 * INT64_C(1000000000));
}

static void a_command_that_prints_without_end_is_a_finding(void **state)
{
    struct rusage usage;
    (void)state;
    audit_script_within("trap '' PIPE; while :; do head -c 10000000 /dev/zero; done 2>/dev/null",
                        3000, CLI_ENDS, MISHAP_AUDIT_UNDECIDED);
    assert_failed(" cli-bounded-output cli-closed-output");
    getrusage(RUSAGE_SELF, &usage);
    assert_true(SANITIZED || usage.ru_maxrss < 64 * 1024);
}

static void many_files_are_a_finding(void **state)
{
    (void)state;
    audit_script("case $1 in --help) echo help; i=0; while [ $i -lt 10000 ]; do : > f$i; "
                 "i=$((i+1)); done;; -*) echo $1 >&2; exit 1;; esac",
                 600000); /* so many files take more than a minute on a busy disk */
    assert_failed(" cli-help-files");
}

/* -- the text of help -------------------------------------------------------------------------- */

static void lists_of_commands_are_known(void **state)
{
    static const struct {
        const char *help;
        bool lists, manifest;
    } cases[] = {
        { "", false, false },
        { "Usage: tool COMMAND", false, false },
        { "usage: git [-v] <command> [<args>]\n\nThese are common Git commands used in various "
          "situations:\n\nstart a working area (see also: git help tutorial)\n   clone     Clone a "
          "repository into a new directory\n   init      Create an empty Git repository\n",
          true, false },
        { "Most used commands:\n  update - Retrieve new lists of packages\n  upgrade - Perform an "
          "upgrade\n",
          true, false },
        { "All commands:\n\n    access, adduser, audit, bugs,\n    cache, ci, completion\n", true,
          false },
        { "COMMANDS\n\tadd\tAdd one\n\tmanifest\tShow all commands\n", true, true },
        { "Available Commands:\n  manifest    Apply a manifest\n  other    Other\n", true, false },
        { "Commands:\n  only  One\n", false, false },
        { "Options of every command:\n      --dialect NAME  one of\n                      "
          "artifact, "
          "problem\n                      canonical, graphql\n",
          false, false },
        { "Runs other commands:\n\nOptions:\n  alpha  First\n  beta  Second\n", false, false },
        { "Runs commands in parallel: see below.\nOptions:\n  -j N   Jobs\n  -k     Keep\n", false,
          false },
        { "Usage: env [OPTION]... [COMMAND [ARG]...]\nSet each NAME to VALUE and run COMMAND.\n\n  "
          "-i  start empty\n  -u  remove\n",
          false, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_help help = mishap_audit_cli_read_help(mishap_text_of(cases[i].help));
        assert_int_equal(help.lists_commands, cases[i].lists);
        assert_int_equal(help.has_manifest, cases[i].manifest);
    }
}

static void words_that_name_files_become_absolute(void **state)
{
    char folder[] = "/tmp/mishap-cli-test-XXXXXX", before[4096];
    const char *argv[] = { "sh", "tool.sh", NULL };
    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    FILE *file = fopen("tool.sh", "w");
    assert_non_null(file);
    fputs(good, file);
    fclose(file);
    audit_words(argv, 60000);
    unlink("tool.sh");
    assert_int_equal(chdir(before), 0);
    rmdir(folder);
    assert_failed("");
}

static void two_audits_give_the_same_findings(void **state)
{
    char first[20][17];
    size_t count = 0;
    (void)state;
    for (int i = 0; i < 2; i++) {
        size_t at = 0;
        audit_script("echo bad $$ $(date +%N); exit 1", 0);
        for (size_t c = 0; c < results->check_count; c++)
            for (size_t f = 0; f < results->checks[c].count; f++, at++) {
                const char *print = results->checks[c].findings[f].fingerprint;
                assert_true(at < 20);
                if (i)
                    assert_string_equal(print, first[at]);
                else
                    snprintf(first[at], sizeof first[at], "%s", print);
            }
        assert_true(at > 0 && (!i || at == count));
        count = at;
        close_audit(NULL);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, close_audit)
    const struct CMUnitTest tests[] = {
        CASE(a_good_command_has_full_marks),
        CASE(a_dry_run_starts_nothing),
        CASE(a_command_that_does_not_exist_is_no_audit),
        CASE(each_fault_is_found),
        CASE(a_trace_makes_the_score_zero),
        CASE(the_folder_of_a_run_is_no_leak),
        CASE(the_envelope_is_judged_where_it_is_printed),
        CASE(a_manifest_is_judged),
        CASE(a_command_that_never_ends_is_a_finding),
        CASE(a_command_that_hangs_on_a_closed_output_is_a_finding),
        CASE(sigterm_does_not_wait_for_the_time_limit),
        CASE(a_command_that_prints_without_end_is_a_finding),
        CASE(many_files_are_a_finding),
        CASE(lists_of_commands_are_known),
        CASE(words_that_name_files_become_absolute),
        CASE(two_audits_give_the_same_findings),
    };
    return RUN(tests);
}
