/* Audits of a command and of an MCP server while memory runs out: they end, they say so, and
 * nothing of it is a finding. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../base/scarce.h"
#include "audit/cli/cli.h"
#include "audit/mcp/mcp.h"

/* Answers in the order of the requests of an audit, without a look at them. */
static const char server[] =
    "ok() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\\n' $1 \"$2\"; }\n"
    "no() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%s,\"message\":\"No: left, "
    "right, which.\"}}\\n' $1 $2; }\n"
    "bad() { ok $1 '{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"Bad: left.\"}]}'; "
    "}\n"
    "read l; ok 1 '{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
    "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}'\n"
    "read l; read l; ok 2 '{\"tools\":[{\"name\":\"add\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"left\":{\"type\":\"integer\"}},\"required\":[\"left\"]}}],\"nextCursor\":"
    "\"next\"}'\n"
    "read l; ok 3 '{\"tools\":[]}'\n"
    "read l; no 4 -32601; read l; no 5 -32602; read l; no 6 -32602; read l; no null -32700\n"
    "read l; bad 7; read l; bad 8; read l; ok 9 '{}'; read l\n";
static const char command[] = "case $1 in --help) echo help;; *) echo $1 >&2; exit 1;; esac";

static char path[64];

static void write_script(const char *text)
{
    snprintf(path, sizeof path, "/tmp/mishap-scarce-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

/* One audit with so many blocks. The outcome has no finding, or is a failure. True: there was
 * enough. */
static bool audit_with(size_t count, bool is_mcp)
{
    const char *argv[] = { "sh", path, NULL };
    const mishap_audit_results *results = NULL;
    allow_blocks(count);
    mishap_audit *audit = mishap_audit_open(&(mishap_audit_settings){
        .area = is_mcp ? MISHAP_AUDIT_MCP : MISHAP_AUDIT_CLI,
        .checks = is_mcp ? mishap_audit_mcp_checks : mishap_audit_cli_checks,
        .target = "test",
        .rate = 10000 });
    mishap *failure = NULL;
    if (audit && is_mcp)
        failure = mishap_audit_mcp(audit,
                                   &(mishap_audit_mcp_target){ .argv = argv, .request_ms = 60000 });
    else if (audit)
        failure = mishap_audit_cli(audit,
                                   &(mishap_audit_cli_target){ .argv = argv, .run_ms = 60000 });
    bool fine = audit && !failure;
    mishap_free(failure);
    if (fine) {
        failure = mishap_audit_end(audit, &results);
        fine = !failure;
        mishap_free(failure);
    }
    bool enough = blocks_left > 0;
    allow_all();
    if (fine) {
        assert_int_equal(results->outcomes[MISHAP_AUDIT_FAILED], 0);
        assert_int_equal(results->outcomes[MISHAP_AUDIT_ADVICE], 0);
    }
    assert_true(fine || !enough);
    mishap_audit_free(audit);
    return enough;
}

static void try_all(const char *script, bool is_mcp)
{
    size_t count = 0;
    write_script(script);
    while (!audit_with(count, is_mcp))
        assert_true(++count < 2000);
    unlink(path);
    assert_true(count > 3);
}

static void an_audit_of_a_command_ends_without_memory(void **state)
{
    (void)state;
    try_all(command, false);
}

static void an_audit_of_a_server_ends_without_memory(void **state)
{
    (void)state;
    try_all(server, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_audit_of_a_command_ends_without_memory),
        cmocka_unit_test(an_audit_of_a_server_ends_without_memory),
    };
    return RUN(tests);
}
