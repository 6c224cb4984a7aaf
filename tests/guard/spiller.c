/*
 * A program whose handler fails with a text that shows its inside, of each kind that the guard
 * knows. boundaries_test.py runs it at each boundary.
 *
 *     spiller serve --listen 127.0.0.1:0      spiller mcp      spiller spill trace
 *     spiller call KIND: the same as a plain C call, whose failure is printed in canonical form
 *     spiller code run, spiller call code: a failure of code that the caller sent
 */
#include <mishap/dialect.h>
#include <mishap/invoke.h>
#include <mishap/main.h>

#include <stdio.h>
#include <string.h>

#define MARK "marker-private"

/* Written in two pieces, so that no scanner of source code takes the invented key for a real one.
 */
static const char key[] = "AK"
                          "IA"
                          "QRSTUVWX23456ABC";

static const struct leak {
    const char *kind, *text;
} leaks[] = {
    { "trace", "Traceback (most recent call last):\n  File \"/srv/" MARK ".py\", line 3, in pay\n"
               "KeyError: 'total'" },
    { "javascript", "TypeError: x\n    at pay (/srv/" MARK ".js:3:14)" },
    { "sql", "SQLSTATE[42S02]: Base table or view not found: 1146 Table '" MARK "' doesn't exist" },
    { "connection", "Server=sql01;Database=Shop;User Id=sa;Password=" MARK "-4711;" },
    { "credential", NULL },
    { "environment", "PATH=/usr/local/bin:/usr/bin:/bin\nHOME=/home/" MARK
                     "\nUSER=shop\nPWD=/srv/app\nLANG=C.UTF-8\n" },
    { "path", "cannot read /srv/app/" MARK "/settings.yml" },
    { "host", "no answer from " MARK ".svc.cluster.local:8080" },
    { "source", "def pay(self, order):\n    if order.total <= 0:\n        raise ValueError('" MARK
                "')\n    return self.gateway.charge(order.total)\n" },
    { "harmless", "The card was declined." },
};
static const char *const kinds[] = { "trace",      "javascript",  "sql",  "connection",
                                     "credential", "environment", "path", "host",
                                     "source",     "harmless",    "echo", NULL };

static const mishap_param params[] = {
    { "kind", MISHAP_ENUM, .required = true, .positional = true, .choices = kinds },
    { "said", MISHAP_STRING, .help = "What the failure repeats, for echo" },
    { 0 },
};

static const char *text_of(mishap_call *call, const char *kind)
{
    if (strcmp(kind, "echo") == 0)
        return mishap_string(call, "said");
    if (strcmp(kind, "credential") == 0)
        return mishap_call_print(call, "The key %s of " MARK " was refused.", key);
    for (size_t i = 0; i < sizeof leaks / sizeof *leaks; i++)
        if (strcmp(kind, leaks[i].kind) == 0)
            return leaks[i].text;
    return "";
}

/* In the message, and in a value that is told; both as they are. */
static mishap *spill(mishap_call *call)
{
    const char *text = text_of(call, mishap_string(call, "kind"));
    mishap *m = mishap_raise(CONFLICT, "%s", text);
    m = mishap_tell(m, "detail", text);
    return mishap_tell(m, "list",
                       mishap_value_of_json(mishap_call_print(call, "[1,{\"a\":\"beside\"}]")));
}

/* -- a report on the caller's own code --------------------------------------------------------- */

/* Frames as SBCL and Node.js have them. Outside of a report each is a leak. */
#define OWN_FRAME "(SB-KERNEL:INTEGER-/-INTEGER \"" MARK "\" 0)"
#define OWN_PLACE "    at pay (/srv/" MARK ".js:3:14)"

/* The output and the frames are those of code that the caller sent, the rest is the program's. */
static mishap *run_code(mishap_call *call)
{
    (void)call;
    mishap *m = mishap_raise(RUNTIME_ERROR, "The code has failed.");
    m = mishap_type(m, "DIVISION-BY-ZERO");
    m = mishap_output(m, mishap_text_of("TypeError: x\n" OWN_PLACE));
    m = mishap_frame_add(m, mishap_text_of(OWN_FRAME));
    m = mishap_frame_add(m, mishap_text_of("(PAY \"" OWN_PLACE "\")"));
    m = mishap_tell(m, "host_frame", OWN_FRAME);
    m = mishap_tell(m, "host_output", "TypeError: x\n" OWN_PLACE);
    m = mishap_tell(m, "smtp_pass", MARK "-4711"); /* by its name alone */
    return mishap_tell(m, "beside", "It is in line 3 of the input.");
}

/* The same service fails before there is any code of the caller. */
static mishap *break_down(mishap_call *call)
{
    (void)call;
    return mishap_suggest(mishap_raise(RUNTIME_ERROR, "%s", leaks[0].text), leaks[0].text);
}

static const mishap_service reports = { .name = "code", .dialect = "condition-report" };

static const mishap_operation operations[] = {
    { .name = "code.run",
      .summary = "Fail as code of the caller does",
      .service = &reports,
      .route = "POST /code",
      .raises = MISHAP_RAISES(RUNTIME_ERROR),
      .run = run_code },
    { .name = "code.break",
      .summary = "Fail without code of the caller",
      .service = &reports,
      .route = "POST /code/break",
      .raises = MISHAP_RAISES(RUNTIME_ERROR),
      .run = break_down },
    { .name = "spill",
      .summary = "Fail with a leak",
      .params = params,
      .route = "POST /spill",
      .raises = MISHAP_RAISES(CONFLICT),
      .run = spill },
    { 0 },
};
static const mishap_app app = { .name = "spiller", .version = "1.0", .operations = operations };

/* -- a plain C call ---------------------------------------------------------------------------- */

/* Print the failure as a C program has it: its public side, and then all of it, for the operator.
 */
static int call_plainly(const char *kind, const char *said)
{
    mishap_buffer public_side = { 0 }, account = { 0 };
    mishap *failure = mishap_invoke_with(
        &app, strcmp(kind, "code") == 0 ? "code.run" : "spill", NULL, NULL,
        strcmp(kind, "code") == 0
            ? NULL
            : MISHAP_PAIRS({ "kind", MISHAP_VALUE(kind) }, { "said", MISHAP_VALUE(said) }));
    mishap_text text = mishap_render(mishap_dialect_find("canonical"), failure, &public_side);
    mishap_account(failure, &account);
    printf("%.*s\n%.*s\n", (int)text.length, text.data, (int)account.length, account.data);
    mishap_buffer_release(&public_side);
    mishap_buffer_release(&account);
    mishap_free(failure);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "call") == 0)
        return call_plainly(argv[2], argc > 3 ? argv[3] : "");
    return mishap_main(argc, argv, &app);
}
