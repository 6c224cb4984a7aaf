/* The rules of a program that prints the error envelope of seed 001, or has a manifest. */
#include <stdio.h>
#include <sys/wait.h>

#include "audit/cli/inside.h"
#include "mishap/dialect.h"

/* Read the standard output as one JSON document; NULL: it is none. */
static yyjson_val *read_output(const cli_run *run, mishap_json_reader *reader)
{
    const mishap_audit_process *p = &run->process;
    if (p->out_bytes != p->out.length || !p->out.length)
        return NULL;
    return mishap_json_read(reader, mishap_buffer_text(&p->out)) ? reader->root : NULL;
}

bool mishap_audit_cli_has_envelope(const cli_run *run)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    yyjson_val *root = read_output(run, &reader);
    bool is = yyjson_is_bool(yyjson_obj_get(root, "ok")) && yyjson_obj_get(root, "error") &&
              yyjson_obj_get(root, "data");
    mishap_json_reader_release(&reader);
    return is;
}

struct rules {
    mishap_audit *audit;
    cli_run *run;
    int errors;
};

static void report_rule(void *state, const mishap_finding *finding)
{
    struct rules *rules = state;
    char key[200];
    rules->errors += finding->severity != MISHAP_WARNING;
    snprintf(key, sizeof key, "%s %s", finding->rule,
             mishap_audit_quote(rules->audit, finding->place, 150));
    mishap_audit_report(
        rules->audit, &mishap_audit_cli_checks[CLI_ENVELOPE],
        finding->severity == MISHAP_WARNING ? MISHAP_AUDIT_ADVICE : MISHAP_AUDIT_FAILED,
        &(mishap_audit_seen){ .place = rules->run->place,
                              .key = key,
                              .detail = finding->sentence,
                              .sent = rules->run->line,
                              .got = mishap_buffer_text(&rules->run->process.out) });
}

void mishap_audit_cli_judge_envelope(mishap_audit *audit, cli_run *run)
{
    struct rules rules = { audit, run, 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    int code = WIFEXITED(run->process.status) ? WEXITSTATUS(run->process.status) : -1;
    mishap *m = mishap_verify(mishap_dialect_find("cli-envelope"),
                              mishap_buffer_text(&run->process.out), false, report_rule, &rules);
    if (!m && !rules.errors)
        mishap_audit_pass(audit, &mishap_audit_cli_checks[CLI_ENVELOPE], run->place);
    mishap_free(m);
    yyjson_val *ok = yyjson_obj_get(read_output(run, &reader), "ok");
    mishap_audit_cli_judge(audit, CLI_OK, yyjson_is_bool(ok) && yyjson_is_true(ok) == (code == 0),
                           run, "The exit code is %d, and ok is %s.", code,
                           !yyjson_is_bool(ok)  ? "absent"
                           : yyjson_is_true(ok) ? "true"
                                                : "false");
    mishap_audit_cli_judge(audit, CLI_USAGE_EXIT, code == 2, run, "The exit code is %d.", code);
    mishap_json_reader_release(&reader);
}

/* -- the manifest ------------------------------------------------------------------------------ */

/* The commands of a manifest, alone or inside of an envelope. */
static yyjson_val *find_commands(yyjson_val *root)
{
    yyjson_val *data = yyjson_obj_get(root, "data");
    yyjson_val *commands = yyjson_obj_get(data ? data : root, "commands");
    return yyjson_is_obj(commands) ? commands : NULL;
}

bool mishap_audit_cli_has_manifest(const cli_run *run)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    size_t index, count;
    yyjson_val *key, *command, *commands = find_commands(read_output(run, &reader));
    bool has = false;
    MISHAP_JSON_MEMBERS (commands, index, count, key, command)
        has = has || yyjson_is_obj(yyjson_obj_get(command, "exit_codes"));
    mishap_json_reader_release(&reader);
    return has;
}

void mishap_audit_cli_judge_manifest(mishap_audit *audit, cli_run *run)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    size_t index, count;
    yyjson_val *key, *command, *commands = find_commands(read_output(run, &reader));
    mishap_audit_cli_judge(audit, CLI_MANIFEST, commands != NULL, run,
                           "The output has no object `commands`.");
    MISHAP_JSON_MEMBERS (commands, index, count, key, command) {
        yyjson_val *codes = yyjson_obj_get(command, "exit_codes");
        if (yyjson_is_obj(codes) && yyjson_obj_get(codes, "0"))
            continue;
        mishap_audit_report(audit, &mishap_audit_cli_checks[CLI_MANIFEST], MISHAP_AUDIT_FAILED,
                            &(mishap_audit_seen){
                                .place = run->place,
                                .key = unsafe_yyjson_get_str(key),
                                .detail = mishap_text_of("This command declares no exit codes, or "
                                                         "not 0."),
                                .sent = run->line });
    }
    mishap_json_reader_release(&reader);
}
