/*
 * The exit codes that an operation can end with. They follow from the codes that it declares, as
 * the catalog has them, and from what can happen to any command.
 */
#include "cli/manual/manual.h"

struct kind {
    int code;
    const char *name;
    const char *description; /* no full stop; NULL: the message of the code that is declared */
};

static const struct kind kinds[] = {
    { 0, "SUCCESS", "The command succeeded" },
    { 1, "GENERAL_ERROR", "The command failed; no other exit code applies" },
    { 2, "ARG_ERROR", "The arguments are not valid; nothing was done" },
    { 3, "PARTIAL_FAILURE", "Only a part of the work was done" },
    { 4, "PRECONDITION", "A precondition does not hold; nothing was done" },
    { 5, "NOT_FOUND", "The requested resource does not exist" },
    { 6, "CONFLICT", "The command conflicts with existing data" },
    { 7, "PERMISSION_DENIED", "The caller has no permission" },
    { 8, "AUTH_REQUIRED", "Credentials are missing, wrong or expired" },
    { 9, "PAYMENT_REQUIRED", "A payment is required" },
    { 10, "TIMEOUT", "The command exceeded its timeout" },
    { 11, "RATE_LIMITED", "There were too many requests" },
    { 12, "UNAVAILABLE", "A required service is not available" },
    { 13, "REDIRECTED", "The resource has moved; the answer names the new location" },
    { 64, "EX_USAGE", NULL },
    { 65, "EX_DATAERR", NULL },
    { 66, "EX_NOINPUT", NULL },
    { 67, "EX_NOUSER", NULL },
    { 68, "EX_NOHOST", NULL },
    { 69, "EX_UNAVAILABLE", NULL },
    { 70, "EX_SOFTWARE", NULL },
    { 71, "EX_OSERR", NULL },
    { 72, "EX_OSFILE", NULL },
    { 73, "EX_CANTCREAT", NULL },
    { 74, "EX_IOERR", NULL },
    { 75, "EX_TEMPFAIL", NULL },
    { 76, "EX_PROTOCOL", NULL },
    { 77, "EX_NOPERM", NULL },
    { 78, "EX_CONFIG", NULL },
    { 126, "NOT_EXECUTABLE", "The program cannot be executed" },
    { 127, "PROGRAM_NOT_FOUND", "The program to run does not exist" },
    { 130, "INTERRUPTED", "The command was interrupted by SIGINT" },
    { 143, "TERMINATED", "The command was terminated by SIGTERM" },
};

/* The exit codes of any command. */
static const struct own {
    int code;
    bool partial; /* the work may be incomplete */
    bool retryable_if_safe;
} own[] = {
    { 1, true, false }, { 2, false, false },  { 4, false, false },
    { 10, true, true }, { 130, true, false }, { 143, true, false },
};

static const struct kind *kind_of(int code)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].code == code)
            return &kinds[i];
    return NULL;
}

/* -- rows -------------------------------------------------------------------------------------- */

struct rows {
    mishap_exit *exits;
    size_t count, room;
};

/* Append a text if it fits as a whole; at the start a longer one is cut between characters. */
static bool append_text(char *to, size_t size, mishap_text text)
{
    size_t length = strlen(to);
    if (length == 0)
        text.length = mishap_utf8_cut(text, size - 1);
    if (text.length >= size - length)
        return false;
    if (text.length)
        memcpy(to + length, text.data, text.length);
    to[length + text.length] = '\0';
    return true;
}

/* The row of an exit code in its place, new if there is none; NULL if there is no room. */
static mishap_exit *row_of(struct rows *rows, int code)
{
    size_t at = 0;
    while (at < rows->count && rows->exits[at].code < code)
        at++;
    if (at < rows->count && rows->exits[at].code == code)
        return &rows->exits[at];
    if (rows->count == rows->room)
        return NULL;
    memmove(rows->exits + at + 1, rows->exits + at, (rows->count - at) * sizeof *rows->exits);
    rows->count++;
    const struct kind *kind = kind_of(code);
    mishap_exit *row = &rows->exits[at];
    *row = (mishap_exit){ .code = code, .retryable = true, .side_effects = "none" };
    if (kind) {
        append_text(row->name, sizeof row->name, mishap_text_of(kind->name));
        append_text(row->description, sizeof row->description, mishap_text_of(kind->description));
    }
    return row;
}

/* If an exit code has several reasons, the worst counts. */
static void lower(mishap_exit *row, bool retryable, bool partial)
{
    if (partial)
        row->side_effects = "partial";
    row->retryable = row->retryable && retryable && !partial;
}

/* The codes that share an exit code are listed behind its description: "… (CONNECTION_REFUSED,
 * HOST_NOT_FOUND)". There is always room left for the full stop. */
static void name_code(mishap_exit *row, mishap_text name)
{
    static const mishap_text more = MISHAP_TEXT(", ...)");
    char *text = row->description;
    size_t length = strlen(text), room = sizeof row->description;
    bool listed = length && text[length - 1] == ')';
    if (length > more.length && memcmp(text + length - more.length, more.data, more.length) == 0)
        return;
    if (listed)
        text[--length] = '\0';
    if (length + name.length + 2 + more.length + 1 >= room) {
        append_text(text, room, listed ? more : (mishap_text)MISHAP_TEXT(""));
        return;
    }
    append_text(text, room, mishap_text_of(listed ? ", " : " ("));
    append_text(text, room, name);
    append_text(text, room, (mishap_text)MISHAP_TEXT(")"));
}

static void describe_exit(mishap_exit *row, const mishap_code *code)
{
    const struct kind *kind = kind_of(row->code);
    if (!row->name[0])
        append_text(row->name, sizeof row->name, code->name);
    if (kind && kind->description) {
        if (!mishap_text_equal(code->name, mishap_text_of(row->name)))
            name_code(row, code->name);
        return;
    }
    size_t length = strlen(row->description);
    if (length && length + 1 + code->message.length >= sizeof row->description)
        return;
    append_text(row->description, sizeof row->description, mishap_text_of(length ? " " : ""));
    append_text(row->description, sizeof row->description, code->message);
}

static void add_code(struct rows *rows, const mishap_code *code, bool safe)
{
    bool sound = code->exit_code >= 1 && code->exit_code <= 125;
    mishap_exit *row = sound ? row_of(rows, code->exit_code) : NULL;
    if (!row)
        return;
    describe_exit(row, code);
    /* Whether a timeout may be retried depends on the operation, not on the code. */
    if (code != MISHAP_CODE_TIMEOUT)
        lower(row, code->retry == MISHAP_RETRY_YES,
              !safe && code->effects == MISHAP_EFFECTS_PARTIAL);
}

/* The codes that it declares, each once, and that its service cannot be opened. */
static void add_declared(struct rows *rows, const mishap_app *app,
                         const mishap_operation *operation, bool safe)
{
    const mishap_code *const of_service[] = { MISHAP_CODE_UNAVAILABLE, MISHAP_CODE_NOT_CONFIGURED };
    const mishap_code *code;
    for (size_t at = 0; (code = mishap_operation_code(app, operation, &at));)
        add_code(rows, code, safe);
    for (size_t i = 0; operation->service && i < 2; i++)
        if (!mishap_operation_declares(app, operation, of_service[i]))
            add_code(rows, of_service[i], safe);
}

/* A command that stands for another program ends as a shell does if that one cannot be started. */
static void add_of_program(struct rows *rows, const mishap_operation *operation)
{
    const mishap_param *p = operation->relays ? operation->params : NULL;
    while (p && p->name && !p->rest)
        p++;
    for (int code = 126; p && p->name && code <= 127; code++) {
        mishap_exit *row = row_of(rows, code);
        if (row)
            lower(row, false, false);
    }
}

size_t mishap_cli_exits(const mishap_app *app, const mishap_operation *operation,
                        mishap_exit *exits, size_t room)
{
    struct rows rows = { exits, 0, room };
    bool safe = mishap_operation_danger(operation) == MISHAP_SAFE;
    mishap_exit *success = row_of(&rows, 0);
    if (success) {
        success->retryable = false;
        success->side_effects = safe ? "none" : "complete";
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        mishap_exit *row = row_of(&rows, own[i].code);
        if (row)
            lower(row, safe && own[i].retryable_if_safe, !safe && own[i].partial);
    }
    add_of_program(&rows, operation);
    add_declared(&rows, operation->run ? app : NULL, operation, safe); /* help raises nothing */
    for (size_t i = 0; i < rows.count; i++)
        if (kind_of(exits[i].code) && kind_of(exits[i].code)->description)
            append_text(exits[i].description, sizeof exits[i].description,
                        (mishap_text)MISHAP_TEXT("."));
    return rows.count;
}
