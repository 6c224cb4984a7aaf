/* Check the declaration of rules across parameters. */
#include "operation/declare.h"
#include "operation/rules.h"
#include "operation/type.h"

static const char *name_of(mishap_relation_kind kind)
{
    static const char *const names[] = {
        [MISHAP_RELATION_AFTER] = "MISHAP_AFTER",
        [MISHAP_RELATION_NOT_BEFORE] = "MISHAP_NOT_BEFORE",
        [MISHAP_RELATION_EXACTLY_ONE] = "MISHAP_EXACTLY_ONE",
        [MISHAP_RELATION_AT_LEAST_ONE] = "MISHAP_AT_LEAST_ONE",
        [MISHAP_RELATION_REQUIRED_IF] = "MISHAP_REQUIRED_IF",
        [MISHAP_RELATION_FUNCTION] = "MISHAP_CHECK",
    };
    return kind > 0 && kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

static bool has_order(mishap_type_of_param type)
{
    return type == MISHAP_INTEGER || type == MISHAP_NUMBER || type == MISHAP_TIMESTAMP ||
           type == MISHAP_DATE || mishap_type_is_decimal(type);
}

static mishap *check_function(const mishap_declared *what, const mishap_relation *rule, bool inner)
{
    const char *flaw = rule->words ? mishap_line_flaw(rule->words) : NULL;
    if (inner)
        return mishap_declared_wrongly(what, "has a rule MISHAP_CHECK, which is only for the rules "
                                             "of an operation");
    if (!rule->check)
        return mishap_declared_wrongly(what, "has a rule MISHAP_CHECK without a function");
    return flaw ? mishap_declared_wrongly(what, "has a rule MISHAP_CHECK whose words are %s", flaw)
                : NULL;
}

static mishap *check_types(const mishap_declared *what, const mishap_relation *rule,
                           const mishap_param *a, const mishap_param *b)
{
    if (rule->kind == MISHAP_RELATION_REQUIRED_IF)
        return a->required ? mishap_declared_wrongly(what,
                                                     "has a rule that requires `%s`, which is "
                                                     "always required",
                                                     a->name)
                           : NULL;
    if (a->type != b->type || !has_order(a->type))
        return mishap_declared_wrongly(what,
                                       "has a rule %s for `%s` and `%s`, which are not of one type "
                                       "that has an order",
                                       name_of(rule->kind), a->name, b->name);
    return NULL;
}

static mishap *check_rule(const mishap_declared *what, const mishap_param *params,
                          const mishap_relation *rule, bool inner)
{
    const mishap_param *found[2] = { NULL, NULL };
    size_t count = 0;
    bool pair = rule->kind < MISHAP_RELATION_EXACTLY_ONE ||
                rule->kind == MISHAP_RELATION_REQUIRED_IF;
    if (!name_of(rule->kind))
        return mishap_declared_wrongly(what, "has a rule of an unknown kind");
    if (rule->kind == MISHAP_RELATION_FUNCTION)
        return check_function(what, rule, inner);
    for (; count <= MISHAP_RELATION_FIELDS && rule->fields[count]; count++) {
        const char *name = rule->fields[count];
        const mishap_param *param = mishap_param_find(params, mishap_text_of(name));
        if (!param)
            return mishap_declared_wrongly(what, "has a rule %s for `%s`, which is not declared",
                                           name_of(rule->kind), name);
        for (size_t i = 0; i < count; i++)
            if (strcmp(rule->fields[i], name) == 0)
                return mishap_declared_wrongly(what, "has a rule %s with `%s` twice",
                                               name_of(rule->kind), name);
        if (!pair && (param->required || param->initial))
            return mishap_declared_wrongly(what, "has a rule %s for `%s`, which is always given",
                                           name_of(rule->kind), name);
        if (count < 2)
            found[count] = param;
    }
    if (count > MISHAP_RELATION_FIELDS || count < 2 || (pair && count != 2))
        return mishap_declared_wrongly(what, "has a rule %s with %zu names", name_of(rule->kind),
                                       count);
    return pair ? check_types(what, rule, found[0], found[1]) : NULL;
}

mishap *mishap_rules_declared(const mishap_declared *what, const mishap_param *params,
                              const mishap_relation *rules, bool inner)
{
    mishap *m = NULL;
    for (; rules && (rules->kind || rules->fields[0] || rules->check) && !m; rules++)
        m = check_rule(what, params, rules, inner);
    return m;
}
