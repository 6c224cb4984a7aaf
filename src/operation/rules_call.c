/*
 * The functions among the rules of an operation. They see the parameters through a call of their
 * own, which has no answer, and run inside containment like a handler.
 */
#include "operation/rules.h"

#include "operation/call.h"
#include "operation/running.h"

static bool has_function(const mishap_relation *rules)
{
    while (rules && rules->kind && rules->kind != MISHAP_RELATION_FUNCTION)
        rules++;
    return rules && rules->kind;
}

/* The parameters that were refused count as not given: "lines[2].count" is about `lines`. */
static void drop_refused(mishap_call *call, const mishap *failure)
{
    const mishap_field *field = failure ? mishap_told(failure)->fields : NULL;
    for (; field; field = field->next) {
        size_t length = 0;
        while (length < field->field.length && field->field.data[length] != '.' &&
               field->field.data[length] != '[')
            length++;
        const mishap_param *params = call->operation->params;
        const mishap_param *param = mishap_param_find(params,
                                                      (mishap_text){ field->field.data, length });
        if (param)
            call->values[param - params] = NULL;
    }
}

/* Findings that are left out do not say which parameters they are about: a function could get a
 * value that was refused. */
static bool has_all_findings(const mishap *failure)
{
    size_t count = 0;
    for (const mishap_field *field = failure ? mishap_told(failure)->fields : NULL; field;
         field = field->next)
        count++;
    return count < MISHAP_MOST_FINDINGS;
}

/* The rule that runs. */
struct rule_running {
    mishap_running running; /* the first member */
    const mishap_relation *rule;
};

static void run_rule(void *state)
{
    struct rule_running *of = state;
    of->running.outcome = of->rule->check(of->running.call);
}

/* Add the findings of a rule to those before. Any other failure takes their place. */
static mishap *add_findings(mishap *failure, mishap *found)
{
    const mishap_public *told = mishap_told(found);
    if (!failure || told->code != MISHAP_CODE_VALIDATION_ERROR) {
        mishap_free(failure);
        return found;
    }
    for (const mishap_field *field = told->fields; field; field = field->next)
        mishap_field_add(failure, field);
    mishap_free(found);
    return failure;
}

mishap *mishap_rules_call(const mishap_app *app, const mishap_operation *operation,
                          yyjson_val *object, mishap *failure)
{
    mishap_call *call;
    if (!has_function(operation->rules) || !has_all_findings(failure) ||
        (failure && mishap_told(failure)->code != MISHAP_CODE_VALIDATION_ERROR))
        return failure;
    mishap *trouble = mishap_call_view(app, operation, object, &call);
    if (trouble) {
        mishap_free(failure);
        return trouble;
    }
    drop_refused(call, failure);
    for (const mishap_relation *rule = operation->rules; rule->kind; rule++) {
        struct rule_running of = {
            .running = { .call = call, .what = "rule", .entry = (uintptr_t)rule->check },
            .rule = rule
        };
        if (rule->kind != MISHAP_RELATION_FUNCTION)
            continue;
        mishap *ended = mishap_running_contain(&of.running, run_rule);
        mishap *found = ended ? ended : of.running.outcome;
        if (!found)
            continue;
        failure = add_findings(failure, found);
        if (mishap_told(failure)->code != MISHAP_CODE_VALIDATION_ERROR)
            break;
    }
    mishap_call_end(call);
    return failure;
}
