/* Every operation of the symbolic service, with its rules, its answers and its failures. */
#include "symbolic/symbolic.h"

/* clang-format off */
#define CODE                                                                                       \
    { "code", MISHAP_STRING, .required = true, .positional = true,                                 \
      .length = { 1, SYMBOLIC_MOST_CODE }, .placeholder = "CODE",                                  \
      .help = "The Python source, at most 64 KB; on a command line also @FILE" }
#define NAME(name, shown, what)                                                                    \
    { name, MISHAP_STRING, .required = true, .positional = true, .length = { 1, 200 },             \
      .placeholder = shown, .help = what }
#define SECONDS(usual)                                                                             \
    { "timeout_seconds", MISHAP_NUMBER, .range = { 0.1, SYMBOLIC_MOST_SECONDS }, .initial = usual, \
      .help = "Seconds after which the analysis gives up; null is the default" }
#define INPUT                                                                                      \
    { "args", MISHAP_OBJECT, .required = true, .help = "The arguments by their names" },           \
    { "kwargs", MISHAP_OBJECT, .required = true, .help = "Those that can be given by name only" }, \
    { "call", MISHAP_STRING, .required = true, .help = "The call, as Python writes it" }
#define CONDITION                                                                                  \
    { "path_condition", MISHAP_STRING, .required = true,                                           \
      .help = "What all inputs of this path have in common, as Python writes it" }
#define COUNT(name, what) { name, MISHAP_INTEGER, .required = true, .help = what }
#define TEXT(name, what)  { name, MISHAP_STRING, .required = true, .help = what }
#define NUMBER(name, what) { name, MISHAP_NUMBER, .required = true, .help = what }
#define STATUS(...)                                                                                \
    { "status", MISHAP_ENUM, .required = true, .choices = MISHAP_CHOICES(__VA_ARGS__),             \
      .help = "What was found" }
#define TIME NUMBER("time_seconds", "Seconds that the analysis took")
#define ASSUMED                                                                                    \
    { "assumptions", MISHAP_STRING, .help = "What was taken for granted, if anything was" }
#define METHOD                                                                                     \
    { "method", MISHAP_ENUM, .required = true,                                                     \
      .choices = MISHAP_CHOICES("paths", "enumeration", "both"),                                   \
      .help = "What the answer rests on: paths that were explored, calls of all inputs, or both" },\
    { "inputs_called", MISHAP_INTEGER,                                                             \
      .help = "How many inputs were called, if there are so few that all could be" }
#define VACUOUS                                                                                    \
    { "vacuous", MISHAP_BOOLEAN,                                                                   \
      .help = "True if no input satisfies the preconditions, so that nothing is said of any call" }
#define WITHDRAWN                                                                                  \
    { "withdrawn", MISHAP_STRING,                                                                  \
      .help = "Why no path counts as verified, if CPython did not confirm an input of one" }
#define EXAMPLES(...) (const mishap_example[]){ __VA_ARGS__, { 0 } }
#define OF_SERVICE .service = &symbolic_service, .group = "Symbolic analysis"
#define BY_ENGINE                                                                                  \
    .run = symbolic_run, .danger = MISHAP_SAFE,                                                    \
    .timeout_ms = (SYMBOLIC_MOST_SECONDS + 5) * 1000,                                              \
    .raises = MISHAP_RAISES(INVALID_ARGUMENT, SYNTAX_ERROR, IMPORT_ERROR, RUNTIME_ERROR), OF_SERVICE
#define PROMPT                                                                                     \
    .description = "A prompt that asks a model to use the tools of this service. On the command "  \
                   "line it prints the text of the prompt.",                                       \
    .run = symbolic_plan, .quick = true, OF_SERVICE
/* clang-format on */

/* -- what calls are made with ------------------------------------------------------------------ */

const mishap_param symbolic_to_check[] = {
    CODE,
    NAME("function_name", "FUNCTION", "The function to check"),
    SECONDS("30"),
    { 0 },
};
const mishap_param symbolic_to_find[] = {
    CODE,
    NAME("function_name", "FUNCTION", "The function to search"),
    NAME("exception_type", "EXCEPTION",
         "The exception to search for; classes derived from it count as well"),
    SECONDS("30"),
    { 0 },
};
const mishap_param symbolic_to_compare[] = {
    CODE,
    NAME("function_a", "FUNCTION", "The first function"),
    NAME("function_b", "OTHER", "The second function"),
    SECONDS("60"),
    { 0 },
};
const mishap_param symbolic_to_branch[] = {
    CODE,
    NAME("function_name", "FUNCTION", "The function to analyse"),
    SECONDS("30"),
    { "symbolic_reachability", MISHAP_BOOLEAN, .initial = "true",
      .help = "Find out which sides can be reached; without it the branches are only listed" },
    { 0 },
};

/* -- what they are answered with --------------------------------------------------------------- */

static const mishap_param a_counterexample[] = {
    INPUT,
    TEXT("violation", "What is wrong with this call"),
    TEXT("actual_result", "What the call returned or raised in CPython"),
    CONDITION,
    { 0 },
};
static const mishap_param counterexample = { "counterexample", MISHAP_OBJECT,
                                             .members = a_counterexample };
static const mishap_param checked[] = {
    STATUS("verified", "counterexample"),
    { "counterexamples", MISHAP_ARRAY, .required = true, .items = &counterexample,
      .help = "Calls that break the contract, each tried in CPython" },
    COUNT("paths_explored", "Paths of the function that were explored"),
    COUNT("paths_verified", "Paths that keep the contract"),
    TIME,
    NUMBER("coverage_estimate", "Explored paths as a fraction of all known ones"),
    METHOD,
    ASSUMED,
    VACUOUS,
    WITHDRAWN,
    { 0 },
};

static const mishap_param a_trigger[] = {
    INPUT,
    TEXT("exception", "What the call raised in CPython"),
    COUNT("line", "The line of the code that raised it; 0: none"),
    CONDITION,
    { 0 },
};
static const mishap_param trigger = { "input", MISHAP_OBJECT, .members = a_trigger };
static const mishap_param found[] = {
    STATUS("found", "unreachable"),
    { "triggering_inputs", MISHAP_ARRAY, .required = true, .items = &trigger,
      .help = "Calls that raise the exception, each tried in CPython" },
    COUNT("paths_to_exception", "Paths that raise it"),
    COUNT("total_paths_explored", "Paths of the function that were explored"),
    TIME,
    METHOD,
    ASSUMED,
    VACUOUS,
    WITHDRAWN,
    { 0 },
};

static const mishap_param a_difference[] = {
    INPUT,
    TEXT("result_a", "What the first function returned or raised in CPython"),
    TEXT("result_b", "What the second function returned or raised in CPython"),
    CONDITION,
    { 0 },
};
static const mishap_param compared[] = {
    STATUS("equivalent", "different"),
    { "distinguishing_input", MISHAP_OBJECT, .members = a_difference,
      .help = "A call for which the functions differ, tried in CPython; null if they do not" },
    COUNT("paths_compared", "Pairs of paths that were compared"),
    { "confidence", MISHAP_ENUM, .required = true,
      .choices = MISHAP_CHOICES("proven", "replayed", "none"),
      .help = "What the answer rests on: a proof, or a call" },
    TIME,
    METHOD,
    ASSUMED,
    VACUOUS,
    WITHDRAWN,
    { 0 },
};

static const mishap_param a_branch[] = {
    COUNT("line", "The line of the condition"),
    TEXT("condition", "The condition"),
    { "true_reachable", MISHAP_BOOLEAN, .help = "Whether it can be true; null: not known" },
    { "false_reachable", MISHAP_BOOLEAN, .help = "Whether it can be false; null: not known" },
    { "true_example", MISHAP_OBJECT, .help = "Arguments for which it is true" },
    { "false_example", MISHAP_OBJECT, .help = "Arguments for which it is false" },
    { 0 },
};
static const mishap_param branch = { "branch", MISHAP_OBJECT, .members = a_branch };
static const mishap_param dead_line = { "line", MISHAP_INTEGER, .help = "A line" };
static const mishap_param branched[] = {
    STATUS("complete"),
    { "branches", MISHAP_ARRAY, .required = true, .items = &branch,
      .help = "The conditions in the order of their lines" },
    COUNT("total_branches", "How many conditions there are"),
    COUNT("reachable_branches", "How many of them can be reached"),
    { "dead_code_lines", MISHAP_ARRAY, .required = true, .items = &dead_line,
      .help = "Lines that no input reaches" },
    COUNT("cyclomatic_complexity", "1 + ifs + loops + one for each further operand of and, or"),
    TIME,
    METHOD,
    ASSUMED,
    VACUOUS,
    WITHDRAWN,
    { 0 },
};

static const mishap_param healthy[] = {
    STATUS("healthy"),
    TEXT("version", "The version of Mishap"),
    TEXT("python_version", "The version of CPython"),
    TEXT("z3_version", "The version of Z3"),
    TEXT("cvc5_version", "The version of cvc5, the second solver"),
    TEXT("platform", "The operating system and the machine"),
    NUMBER("memory_usage_mb", "The most memory that the engine has used, in MB"),
    { 0 },
};

/* -- prompts ----------------------------------------------------------------------------------- */

static const mishap_param plan_one[] = {
    CODE,
    NAME("function_name", "FUNCTION", "The function"),
    { 0 },
};
static const mishap_param plan_find[] = {
    CODE,
    NAME("function_name", "FUNCTION", "The function"),
    { "exception_type", MISHAP_STRING, .length = { 1, 200 }, .initial = "\"Exception\"",
      .help = "The exception to search for" },
    { 0 },
};
static const mishap_param plan_two[] = {
    CODE,
    NAME("function_a", "FUNCTION", "The function as it was"),
    NAME("function_b", "OTHER", "The function as it is to be"),
    { 0 },
};

/* -- operations -------------------------------------------------------------------------------- */

const mishap_operation symbolic_operations[] = {
    { "symbolic.check", "Prove that a function keeps its contract, or find a call that breaks it",
      symbolic_to_check, .route = "POST /symbolic/check", .tool = "symbolic_check",
      .tool_example = "{\"code\":\"def f(x: int) -> int:\\n    'post: _ >= 0'\\n    return "
                      "abs(x)\",\"function_name\":\"f\"}",
      .answers = checked,
      .description =
          "The code is Python 3 with annotated parameters. It runs only in a sandbox. "
          "The contract is in the docstring of the function: `pre:` lines say what holds before a "
          "call, `post:` lines what holds after it (`_` or `__return__` is the result, `__old__.x` "
          "an argument as it was), `raises:` names exceptions that are allowed. Asserts at the "
          "beginning of the function are preconditions, later ones must hold. An exception that is "
          "not declared breaks the contract.\n\n"
          "`verified` means that every path was explored and no input breaks the contract. A "
          "counterexample was called in CPython before it is told.",
      .examples = EXAMPLES({ "symbolic check --code @f.py --function-name divide",
                             "Check the function divide of the file f.py" },
                           { "symbolic check @f.py divide --timeout-seconds 5",
                             "The same, and give up after five seconds" }),
      BY_ENGINE },
    { "symbolic.find", "Find inputs for which a function raises an exception", symbolic_to_find,
      .route = "POST /symbolic/find", .tool = "find_path_to_exception",
      .tool_example = "{\"code\":\"def f(a: int) -> int:\\n    return 1 // "
                      "a\",\"function_name\":\"f\",\"exception_type\":\"ZeroDivisionError\"}",
      .answers = found,
      .description = "`unreachable` means that every path was explored and no input raises it. An "
                     "input that is told was called in CPython, and did raise it.",
      .examples = EXAMPLES(
          { "symbolic find @f.py divide ZeroDivisionError", "Which inputs make divide fail?" }),
      BY_ENGINE },
    { "symbolic.compare", "Prove that two functions do the same, or find a call that differs",
      symbolic_to_compare, .route = "POST /symbolic/compare", .tool = "compare_functions",
      .tool_example = "{\"code\":\"def f(x: int):\\n    return x + x\\ndef g(x: int):\\n    return "
                      "2 * x\",\"function_a\":\"f\",\"function_b\":\"g\"}",
      .answers = compared,
      .description = "Both functions get the same arguments. They do the same if they return equal "
                     "values, or raise exceptions of the same class. `pre:` lines of the first "
                     "function hold for both. Asserts are compared like all other code.",
      .examples = EXAMPLES({ "symbolic compare @f.py old new",
                             "Has the new version of a function the same results?" }),
      BY_ENGINE },
    { "symbolic.branches", "List the branches of a function and which sides can be reached",
      symbolic_to_branch, .route = "POST /symbolic/branches", .tool = "analyze_branches",
      .tool_example = "{\"code\":\"def f(x: int):\\n    if x > 5 and x < 3:\\n        return "
                      "1\",\"function_name\":\"f\"}",
      .answers = branched,
      .description = "Each condition has an example for each side that can be reached. Lines that "
                     "no input reaches are dead.",
      .examples = EXAMPLES({ "symbolic branches @f.py classify", "Which lines are dead?" },
                           { "symbolic branches @f.py classify --no-symbolic-reachability",
                             "List the conditions only" }),
      BY_ENGINE },
    { "symbolic.health", "Show the versions of the engine and its solvers", NULL, symbolic_health,
      .route = "GET /symbolic/health", .tool = "health_check", .answers = healthy,
      .raises = MISHAP_RAISES(RUNTIME_ERROR),
      .examples = EXAMPLES({ "symbolic health", "Is the engine there?" }), OF_SERVICE },

    { "symbolic.security", "Show what code may import and use", NULL, symbolic_security, .tool = "",
      .resource = "config://security", .raises = MISHAP_RAISES(RUNTIME_ERROR),
      .examples = EXAMPLES({ "symbolic security", "Which modules may code import?" }), OF_SERVICE },
    { "symbolic.server", "Show the tools with their limits", NULL, symbolic_server, .tool = "",
      .resource = "config://server", .quick = true,
      .examples = EXAMPLES({ "symbolic server", "How long may an analysis take?" }), OF_SERVICE },
    { "symbolic.capabilities", "Show which Python the engine understands", NULL,
      symbolic_capabilities, .tool = "", .resource = "info://capabilities", .quick = true,
      .examples = EXAMPLES({ "symbolic capabilities", "Which statements are supported?" }),
      OF_SERVICE },

    { "symbolic.plan-check", "Ask a model to verify a function", plan_one,
      .prompt = "verify_function",
      .examples = EXAMPLES({ "symbolic plan-check @f.py divide", "Print the prompt" }), PROMPT },
    { "symbolic.plan-find", "Ask a model which inputs make a function fail", plan_find,
      .prompt = "find_failing_inputs",
      .examples = EXAMPLES({ "symbolic plan-find @f.py divide", "Print the prompt" }), PROMPT },
    { "symbolic.plan-compare", "Ask a model whether a refactoring changes a function", plan_two,
      .prompt = "check_refactoring",
      .examples = EXAMPLES({ "symbolic plan-compare @f.py old new", "Print the prompt" }), PROMPT },
    { "symbolic.plan-branches", "Ask a model to explain branches and dead code", plan_one,
      .prompt = "explain_branches",
      .examples = EXAMPLES({ "symbolic plan-branches @f.py classify", "Print the prompt" }),
      PROMPT },
    { 0 },
};
