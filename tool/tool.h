/*
 * tool: the `mishap` program. One file a command, each an operation like those of any other
 * program: a table of its parameters, a function, and what it can fail with.
 */
#ifndef MISHAP_TOOL_H
#define MISHAP_TOOL_H

#include "mishap/dialect.h"
#include "mishap/operation.h"

extern const mishap_operation tool_render, tool_translate, tool_check, tool_catalog, tool_explain,
    tool_connect, tool_doctor, tool_health, tool_scan, tool_audit_http, tool_audit_mcp,
    tool_audit_cli, tool_wrap, tool_gateway, tool_mcp_gateway;

/* How the program was started; main() looks at it before anything else. */
extern struct mishap_wrap_origin tool_origin;

/* -- what several commands take ---------------------------------------------------------------- */

/* The names of all dialects, for parameters that choose one. main() fills it from
 * mishap_dialects(). */
enum { TOOL_MOST_DIALECTS = 31 };
extern const char *tool_dialect_names[TOOL_MOST_DIALECTS + 1];

/* The same, and `upstream` behind them. */
extern const char *tool_source_names[TOOL_MOST_DIALECTS + 2];

#define TOOL_DIALECT(param_name, words)                                                            \
    {                                                                                              \
        .name = (param_name), .type = MISHAP_ENUM, .required = true,                               \
        .choices = tool_dialect_names, .placeholder = "NAME", .help = (words)                      \
    }

#define TOOL_INPUT                                                                                 \
    {                                                                                              \
        .name = "input", .type = MISHAP_STRING, .positional = true, .file = true,                  \
        .placeholder = "FILE", .help = "The file to read; - or no file: standard input"            \
    }

/* A word of the command of another program: the items of a parameter `command` with `.rest`. */
extern const mishap_param tool_word;

/* These words, which end with NULL, in memory of the call; NULL: none was given. */
const char *const *tool_command(mishap_call *call);

/* The timeout of a command that has a parameter `timeout`, in seconds, beside --timeout-ms: the
 * shorter of the two counts. 0: none was given. */
int64_t tool_timeout_ms(mishap_call *call);

/* The dialect that a parameter names; NULL: it names none. */
static inline const mishap_dialect *tool_dialect(const mishap_call *call, const char *param_name)
{
    return mishap_dialect_find(mishap_string(call, param_name));
}

/* -- input.c ----------------------------------------------------------------------------------- */

/* The whole input in a buffer that the caller releases. NULL and "-" are standard input. */
mishap *tool_read_input(const char *file, mishap_buffer *input);

/*
 * The input line by line, in memory that grows only with the longest line. Each line is handed over
 * without its line feed; a last line that has none counts too.
 */
mishap *tool_read_lines(const char *file,
                        mishap *(*line)(void *state, mishap_text text, size_t number), void *state);

/* The input piece by piece, in constant memory. */
mishap *tool_read_pieces(const char *file, void (*piece)(void *state, mishap_text text),
                         void *state);

/* What reading can fail with: an operation that reads declares these. */
#define TOOL_READING INPUT_UNREADABLE, CONTENT_TOO_LARGE

/* -- answering --------------------------------------------------------------------------------- */

/* Read the input as one dialect and answer with the same mishap in another. */
mishap *tool_retell(mishap_call *call, const mishap_dialect *from, const mishap_dialect *to);

/* Answer with a mishap in a dialect. */
mishap *tool_answer_mishap(mishap_call *call, const mishap *m, const mishap_dialect *to);

/* Answer with the JSON in a buffer, also if the command fails beside it, and release the buffer. */
mishap *tool_answer(mishap_call *call, mishap_buffer *json);

#endif
