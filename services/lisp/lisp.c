/* Every operation of the Lisp service, with its rules and its failures. */
#include "lisp/lisp.h"

#include <mishap/worker.h>

/* clang-format off */
#define CODE                                                                                       \
    { "code", MISHAP_STRING, .required = true, .positional = true, .help = "The Lisp forms" }
#define PACKAGE                                                                                    \
    { "package", MISHAP_STRING, .length = { 1, 200 },                                              \
      .help = "The package for this call; by default that of the session" }
#define SECONDS                                                                                    \
    { "timeout", MISHAP_NUMBER, .range = { 0.001, 600 },                                          \
      .help = "Seconds after which it is stopped, at most the limit of the session" }
#define STRING(name, what) { name, MISHAP_STRING, .help = what }
#define COUNT(name, what)  { name, MISHAP_INTEGER, .help = what }
#define FLAG(name, what)   { name, MISHAP_BOOLEAN, .help = what }
#define STRINGS(name, what) { name, MISHAP_ARRAY, .items = &a_text, .help = what }
#define EVALUATED                                                                                  \
    STRINGS("values", "The values of the last form, as Lisp prints them"),                         \
    STRING("stdout", "What the code wrote to standard output"),                                    \
    STRING("stderr", "What the code wrote to standard error"),                                     \
    STRINGS("warnings", "Warnings of the code and of the compiler")
/* The limit of a session counts, which is 30 seconds unless a call has set another one, and the
 * limit that the call names itself. */
#define LONG .timeout_ms = 600 * 1000
#define BY_LISP                                                                                    \
    .run = mishap_foreign_run, .service = &lisp_service, .group = "Lisp"
/* clang-format on */

static const mishap_param a_text = { "text", MISHAP_STRING, .help = "A text" };

/* -- what calls are made with ------------------------------------------------------------------ */

static const mishap_param code_to_run[] = { CODE, PACKAGE, SECONDS, MISHAP_SESSION_PARAM, { 0 } };
static const mishap_param code_to_see[] = { CODE, PACKAGE, MISHAP_SESSION_PARAM, { 0 } };
static const mishap_param form_to_expand[] = {
    CODE,
    PACKAGE,
    { "depth", MISHAP_ENUM, .choices = MISHAP_CHOICES("1", "full", "all"), .initial = "\"full\"",
      .help = "1: one step; full: until the form is no macro call; all: the forms inside of it as "
              "well" },
    MISHAP_SESSION_PARAM,
    { 0 },
};
static const mishap_param a_symbol[] = {
    { "symbol", MISHAP_STRING, .required = true, .positional = true, .length = { 1, 300 },
      .help = "The name of the symbol" },
    PACKAGE,
    MISHAP_SESSION_PARAM,
    { 0 },
};
static const mishap_param a_part_of_a_name[] = {
    { "text", MISHAP_STRING, .required = true, .positional = true, .length = { 1, 300 },
      .help = "Part of the name" },
    { "in", MISHAP_STRING, .length = { 1, 200 },
      .help = "The package to search; by default all packages" },
    { "limit", MISHAP_INTEGER, .range = { 1, 500 }, .initial = "50",
      .help = "Most symbols to list" },
    MISHAP_SESSION_PARAM,
    { 0 },
};
static const mishap_param a_session[] = { MISHAP_SESSION_PARAM, { 0 } };
static const mishap_param some_frames[] = {
    { "max_frames", MISHAP_INTEGER, .range = { 1, 100 }, .initial = "20",
      .help = "Most frames to show" },
    MISHAP_SESSION_PARAM,
    { 0 },
};
static const mishap_param new_limits[] = {
    SECONDS,
    { "stdout", MISHAP_INTEGER, .range = { 0, 65000 }, .help = "Characters of captured output" },
    { "value", MISHAP_INTEGER, .range = { 10, 65000 }, .help = "Characters of a printed value" },
    { "frames", MISHAP_INTEGER, .range = { 1, 20 }, .help = "Frames of a backtrace" },
    MISHAP_SESSION_PARAM,
    { 0 },
};
static const mishap_param a_file[] = {
    { "file", MISHAP_STRING, .required = true, .positional = true, .length = { 1, 4000 },
      .help = "Path of the source file: absolute, or relative to a folder that is allowed" },
    PACKAGE,
    SECONDS,
    MISHAP_SESSION_PARAM,
    { 0 },
};

/* -- what they are answered with --------------------------------------------------------------- */

static const mishap_param evaluated[] = { EVALUATED, MISHAP_SESSION_ANSWER, { 0 } };
static const mishap_param timed[] = {
    EVALUATED,
    COUNT("real_us", "Microseconds of real time"),
    COUNT("run_us", "Microseconds of the processor"),
    COUNT("gc_us", "Microseconds of them in the garbage collector"),
    COUNT("bytes", "Bytes that were allocated"),
    MISHAP_SESSION_ANSWER,
    { 0 },
};
static const mishap_param validated[] = {
    FLAG("valid", "Whether the code can be read"),
    COUNT("forms", "How many forms were read"),
    STRING("type", "The type of the reader's condition"),
    STRING("message", "What is wrong"),
    COUNT("line", "The line of it, from 1"),
    COUNT("column", "The column of it, from 1"),
    MISHAP_SESSION_ANSWER,
    { 0 },
};
static const mishap_param compiled[] = {
    COUNT("forms", "How many forms were compiled"),
    FLAG("failed", "Whether a warning is more than a matter of style"),
    STRINGS("warnings", "Warnings of the compiler"),
    MISHAP_SESSION_ANSWER,
    { 0 },
};
static const mishap_param expanded[] = { STRINGS("expansions", "The expansion of each form"),
                                         MISHAP_SESSION_ANSWER,
                                         { 0 } };
static const mishap_param described[] = { STRING("description", "As DESCRIBE prints it"),
                                          MISHAP_SESSION_ANSWER,
                                          { 0 } };
static const mishap_param name_and_kinds[] = {
    STRING("name", "The name"),
    STRINGS("kinds", "What it names: function, macro, variable, class …"),
    { 0 },
};
static const mishap_param found_symbol = { "symbol", MISHAP_OBJECT, .members = name_and_kinds };
static const mishap_param found_symbols[] = {
    { "symbols", MISHAP_ARRAY, .items = &found_symbol, .help = "The symbols by their names" },
    COUNT("total", "How many there are"),
    MISHAP_SESSION_ANSWER,
    { 0 },
};
static const mishap_param name_and_words[] = {
    STRING("name", "The name"),
    STRING("description", "What it does"),
    { 0 },
};
static const mishap_param a_restart = { "restart", MISHAP_OBJECT, .members = name_and_words };
static const mishap_param last_error[] = {
    FLAG("found", "Whether an evaluation has failed in this session"),
    STRING("type", "The name of the condition's class"),
    STRING("message", "Its message"),
    STRING("form", "The form that was evaluated"),
    { "restarts", MISHAP_ARRAY, .items = &a_restart, .help = "The restarts that there were" },
    STRINGS("backtrace", "The frames, the innermost first"),
    MISHAP_SESSION_ANSWER,
    { 0 },
};
static const mishap_param backtrace[] = {
    FLAG("found", "Whether an evaluation has failed in this session"),
    STRINGS("backtrace", "The frames, the innermost first"),
    MISHAP_SESSION_ANSWER,
    { 0 },
};
static const mishap_param a_definition[] = {
    STRING("package", "The package"),
    STRING("name", "The name"),
    STRINGS("kinds", "What it names"),
    { 0 },
};
static const mishap_param found_definition = { "definition", MISHAP_OBJECT,
                                               .members = a_definition };
static const mishap_param definitions[] = {
    { "definitions", MISHAP_ARRAY, .items = &found_definition, .help = "By package and name" },
    MISHAP_SESSION_ANSWER,
    { 0 },
};
static const mishap_param reset[] = { FLAG("reset", "true"), MISHAP_SESSION_ANSWER, { 0 } };
static const mishap_param limits[] = {
    { "timeout", MISHAP_NUMBER, .help = "Seconds of an evaluation" },
    COUNT("stdout", "Characters of captured output"),
    COUNT("value", "Characters of a printed value"),
    COUNT("frames", "Frames of a backtrace"),
    MISHAP_SESSION_ANSWER,
    { 0 },
};

static const char about_evaluating[] =
    "The code is Common Lisp (SBCL). It runs in a sandbox: it cannot use the network, start "
    "programs "
    "or read other files than those that the operator allows. A session keeps its definitions from "
    "call to call: an MCP conversation has one session until it ends; reset-session empties it. A "
    "failed evaluation leaves the session as it is.";
static const char about_repl[] =
    "The REPL reads Lisp forms, evaluates each of them in one session, and prints the values. A "
    "form may have several lines. If libedit is installed, lines can be edited, and the REPL keeps "
    "a history.\n\n"
    "An error suspends the evaluation, and the REPL lists the restarts. Type the number of a "
    "restart to continue with it, or q to abort. Ctrl-C stops an evaluation; the session keeps its "
    "definitions. Ctrl-D leaves. :help lists the commands.\n\n"
    "If standard input or output is not a terminal, the REPL prints no prompts and does not "
    "suspend. The command then fails if the last form failed.";
static const mishap_example evaluate_examples[] = {
    { "lisp evaluate '(+ 1 2)'", "Evaluate a form in a new session" },
    { "lisp evaluate - < program.lisp", "Evaluate the forms of a file" },
    { "lisp evaluate '(+ 1 2)' --server http://127.0.0.1:8080",
      "Evaluate in a session of a server; the answer has its ID, for --session" },
    { 0 },
};
static const mishap_example load_examples[] = {
    { "lisp load rt/rt.lisp", "Load a file of Debian's package cl-rt" },
    { "lisp load /srv/lisp/start.lisp --lisp-folder /srv/lisp", "Load a file of your own" },
    { 0 },
};
static const mishap_example repl_examples[] = {
    { "lisp repl", "Start the REPL" },
    { "lisp repl < program.lisp", "Evaluate the forms of a file, one after the other" },
    { 0 },
};

/* -- the operations ---------------------------------------------------------------------------- */

const mishap_operation lisp_operations[] = {
    { "lisp.evaluate", "Evaluate Lisp forms in a session", code_to_run,
      .route = "POST /lisp/evaluate", .tool = "evaluate-lisp",
      .tool_example = "{\"code\":\"(+ 1 2)\"}", .answers = evaluated, LONG, BY_LISP,
      .examples = evaluate_examples, .description = about_evaluating },
    { "lisp.validate", "Check the syntax of code without evaluating it", code_to_see,
      .route = "POST /lisp/validate", .tool = "validate-syntax", .danger = MISHAP_SAFE,
      .answers = validated, BY_LISP,
      .description = "It says whether Common Lisp code can be read, and where it cannot.",
      .tool_example = "{\"code\":\"(defun f (x\"}" },
    { "lisp.compile", "Compile code and list the warnings, without running it", code_to_see,
      .route = "POST /lisp/compile", .tool = "compile-form", .answers = compiled, BY_LISP,
      .tool_example = "{\"code\":\"(defun f (x) y)\"}" },
    { "lisp.macroexpand", "Expand the macros of a form", form_to_expand,
      .route = "POST /lisp/macroexpand", .tool = "macroexpand-form", .answers = expanded, BY_LISP,
      .tool_example = "{\"code\":\"(when a b)\"}" },
    { "lisp.describe", "Describe a symbol", a_symbol, .route = "POST /lisp/describe",
      .tool = "describe-symbol", .danger = MISHAP_SAFE, .answers = described, BY_LISP,
      .tool_example = "{\"symbol\":\"mapcar\"}" },
    { "lisp.apropos", "Find symbols by a part of their names", a_part_of_a_name,
      .route = "POST /lisp/apropos", .tool = "apropos-search", .danger = MISHAP_SAFE,
      .answers = found_symbols, BY_LISP, .tool_example = "{\"text\":\"string-\"}" },
    { "lisp.last-error", "Describe the last failure of a session, with its restarts", a_session,
      .route = "POST /lisp/last-error", .tool = "describe-last-error", .danger = MISHAP_SAFE,
      .answers = last_error, BY_LISP },
    { "lisp.backtrace", "Show the frames of the last failure of a session", some_frames,
      .route = "POST /lisp/backtrace", .tool = "get-backtrace", .danger = MISHAP_SAFE,
      .answers = backtrace, BY_LISP, .tool_example = "{\"max_frames\":5}" },
    { "lisp.definitions", "List the functions, variables and classes that a session has defined",
      a_session, .route = "POST /lisp/definitions", .tool = "list-definitions",
      .danger = MISHAP_SAFE, .answers = definitions, BY_LISP },
    { "lisp.reset", "Reset a session: all its definitions are lost", a_session,
      .route = "POST /lisp/reset", .tool = "reset-session", .danger = MISHAP_DESTRUCTIVE,
      .answers = reset, BY_LISP },
    { "lisp.limits", "Show or change the limits of a session", new_limits,
      .route = "POST /lisp/limits", .tool = "configure-limits", .answers = limits, BY_LISP,
      .tool_example = "{\"timeout\":5}" },
    { "lisp.time", "Evaluate Lisp forms and measure time and memory", code_to_run,
      .route = "POST /lisp/time", .tool = "time-execution", .answers = timed, LONG, BY_LISP,
      .tool_example = "{\"code\":\"(loop repeat 1000 sum 1)\"}" },
    { "lisp.load", "Load a source file from a folder that is allowed", a_file,
      .route = "POST /lisp/load", .tool = "load-file", .tool_example = "{\"file\":\"rt/rt.lisp\"}",
      .answers = evaluated, LONG, BY_LISP, .examples = load_examples },
    { "lisp.repl", "Start a read-eval-print loop at the terminal", .run = lisp_repl,
      .service = &lisp_service, .group = "Lisp", .danger = MISHAP_MUTATING,
      .description = about_repl, .examples = repl_examples, .local = true, .resident = true },
    { 0 },
};
