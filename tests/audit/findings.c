/*
 * Audit an MCP server or a command, and print what was found, for tests:
 *
 *     audit_findings cli [--ms N] -- COMMAND …
 *     audit_findings mcp [--ms N] [--allow-destructive] [--dry-run] URL | -- COMMAND …
 *
 * One line for each finding: the outcome, the check, the place, the key and the detail, with a tab
 * between. Then the checks that passed, the score, the requests, and the most memory that was used.
 * Without an audit the exit code is 1, and the line has the failure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "audit/cli/cli.h"
#include "audit/mcp/mcp.h"

static void print_line(mishap_text text)
{
    for (size_t i = 0; i < text.length; i++)
        putchar((unsigned char)text.data[i] < ' ' ? ' ' : text.data[i]);
}

static void print_result(const mishap_audit_result *result)
{
    for (size_t i = 0; i < result->count; i++) {
        const mishap_audit_finding *finding = &result->findings[i];
        printf("%s\t%s\t", mishap_audit_outcome_names[finding->outcome], result->check->id);
        print_line(finding->place);
        putchar('\t');
        print_line(finding->key);
        putchar('\t');
        print_line(finding->detail);
        printf("\t%s\n", finding->fingerprint);
    }
    if (result->outcome == MISHAP_AUDIT_PASSED)
        printf("passed\t%s\n", result->check->id);
}

static void print_results(mishap_audit *audit)
{
    const mishap_audit_results *results;
    struct rusage usage;
    if (mishap_audit_end(audit, &results))
        abort();
    for (size_t i = 0; i < results->check_count; i++)
        print_result(&results->checks[i]);
    for (size_t i = 0; i < results->planned_count; i++) {
        printf("planned\t");
        print_line(results->planned[i].text);
        putchar('\n');
    }
    for (size_t i = 0; i < results->created_count; i++)
        printf("created\t%s\n", results->created[i].place.data);
    getrusage(RUSAGE_SELF, &usage);
    printf("score\t%d\nrequests\t%zu\npeak\t%ld\n", results->score, results->requests,
           usage.ru_maxrss);
}

int main(int argc, char **argv)
{
    mishap_audit_cli_target command = { .run_ms = 60000 };
    mishap_audit_mcp_target server = { .request_ms = 60000 };
    mishap_audit_settings settings = { .rate = 10000, .target = "test" };
    bool is_mcp = argc > 1 && strcmp(argv[1], "mcp") == 0;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            server.argv = command.argv = (const char *const *)argv + i + 1;
            break;
        }
        if (strcmp(argv[i], "--ms") == 0 && i + 1 < argc)
            server.request_ms = command.run_ms = (int)strtol(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--dry-run") == 0)
            settings.dry_run = true;
        else if (strcmp(argv[i], "--allow-destructive") == 0)
            server.allow_destructive = true;
        else
            server.url = argv[i];
    }
    settings.area = is_mcp ? MISHAP_AUDIT_MCP : MISHAP_AUDIT_CLI;
    settings.checks = is_mcp ? mishap_audit_mcp_checks : mishap_audit_cli_checks;
    mishap_audit *audit = mishap_audit_open(&settings);
    mishap *failure = is_mcp ? mishap_audit_mcp(audit, &server) : mishap_audit_cli(audit, &command);
    if (failure)
        printf("failure\t%s\t%s\n", mishap_told(failure)->code->name.data,
               mishap_public_message(mishap_told(failure)).data);
    else
        print_results(audit);
    int status = failure ? 1 : 0;
    mishap_free(failure);
    mishap_audit_free(audit);
    return status;
}
