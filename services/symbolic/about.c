/* What an agent can read before it sends code: the rules for code, the limits, what is
 * supported. */
#include "symbolic/symbolic.h"

/* -- config://security ------------------------------------------------------------------------- */

/* The lists come from the validator itself, which is a part of the engine. */
mishap *symbolic_security(mishap_call *call)
{
    static const char *const lists[] = { "allowed_modules",     "blocked_modules",
                                         "blocked_builtins",    "blocked_attributes",
                                         "blocked_names",       "blocked_members",
                                         "allowed_dunder_names" };
    mishap_answered *answered;
    MISHAP_TRY(symbolic_analyse(call, "rules", &answered));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        mishap_answer_json(call, lists[i], mishap_json(answered->json, lists[i]));
    mishap_answered_free(answered);
    mishap_answer_member(call, "imports",
                         "Modules that are not allowed are refused, wherever they are imported.");
    mishap_answer_member(call, "builtins",
                         "The code may have names of its own that are those of blocked builtins.");
    mishap_answer_member(call, "names",
                         "Blocked names are refused as names and as attributes, and so are names "
                         "with two underscores on both sides that are not allowed.");
    mishap_answer_object(call, "limits");
    mishap_answer_member(call, "code_bytes", (int)SYMBOLIC_MOST_CODE);
    mishap_answer_member(call, "memory_mb", (int)SYMBOLIC_MOST_MEMORY_MB);
    mishap_answer_member(call, "timeout_seconds", (int)SYMBOLIC_MOST_SECONDS);
    return mishap_answer_end(call);
}

/* -- config://server --------------------------------------------------------------------------- */

/* The tools as they are declared. */
static void put_tool(mishap_call *call, const mishap_operation *operation)
{
    mishap_answer_object(call, NULL);
    mishap_answer_member(call, "tool", operation->tool);
    mishap_answer_member(call, "summary", operation->summary);
    for (const mishap_param *p = operation->params; p && p->name; p++)
        if (p->initial)
            mishap_answer_json(call, p->name, p->initial);
    mishap_answer_end(call);
}

mishap *symbolic_server(mishap_call *call)
{
    mishap_answer_member(call, "name", symbolic_service.name);
    mishap_answer_member(call, "version", mishap_app_of(call)->version);
    mishap_answer_array(call, "tools");
    for (const mishap_operation *o = symbolic_operations; o->name; o++)
        if (o->tool && *o->tool)
            put_tool(call, o);
    mishap_answer_end(call);
    mishap_answer_object(call, "limits");
    mishap_answer_member(call, "code_bytes", (int)SYMBOLIC_MOST_CODE);
    mishap_answer_member(call, "memory_mb", (int)SYMBOLIC_MOST_MEMORY_MB);
    mishap_answer_member(call, "timeout_seconds", (int)SYMBOLIC_MOST_SECONDS);
    return mishap_answer_end(call);
}

/* -- info://capabilities ----------------------------------------------------------------------- */

static const struct chapter {
    const char *name;
    const char *const *words;
} chapters[] = {
    { "types", MISHAP_CHOICES("int without bounds", "bool", "float (IEEE)", "str", "bytes", "None",
                              "tuple", "list", "dict", "set", "frozenset", "Optional and unions",
                              "Literal", "dataclasses", "plain classes", "exceptions of the code",
                              "*args and **kwargs of the function") },
    { "statements", MISHAP_CHOICES("all but async") },
    { "modules",
      MISHAP_CHOICES("math", "collections: Counter, defaultdict, OrderedDict, deque", "bisect",
                     "datetime: date, timedelta", "functools: reduce, partial, cache, lru_cache",
                     "heapq", "itertools", "operator", "re: what is regular", "string",
                     "dataclasses", "enum", "typing") },
    { "contracts",
      MISHAP_CHOICES("pre: lines of a docstring hold before a call",
                     "post: lines hold after it; _ and __return__ are the result, __old__ the "
                     "arguments as they were",
                     "raises: names exceptions that are allowed",
                     "leading asserts are preconditions, later ones must hold") },
    { "not_supported",
      MISHAP_CHOICES("random, the current time and the like", "coroutines",
                     "other modules; for money ints of cents take the place of decimal",
                     "on values that are not known: most methods of str, functions of math, ** and "
                     "shifts by a number") },
    { "answers_rest_on",
      MISHAP_CHOICES("verified, unreachable and equivalent: every path was explored",
                     "… or, if at most 20000 inputs are possible, all were called in CPython",
                     "every input that is told was called in CPython",
                     "what rests on strings: two solvers agree",
                     "a limit or a deadline is a timeout, never a proof") },
};

mishap *symbolic_capabilities(mishap_call *call)
{
    for (size_t i = 0; i < sizeof chapters / sizeof *chapters; i++) {
        mishap_answer_array(call, chapters[i].name);
        for (const char *const *word = chapters[i].words; *word; word++)
            mishap_answer_item(call, *word);
        mishap_answer_end(call);
    }
    return NULL;
}
