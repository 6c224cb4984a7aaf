/* Check the questions that an operation declares: what a client can show as a form, and no
 * secret. */
#include "operation/asking.h"
#include "operation/declare.h"
#include "operation/upload.h"

static bool is_flat(const mishap_param *param)
{
    switch (param->type) {
    case MISHAP_STRING:
    case MISHAP_INTEGER:
    case MISHAP_NUMBER:
    case MISHAP_BOOLEAN:
    case MISHAP_ENUM:
    case MISHAP_TIMESTAMP:
    case MISHAP_DATE:
        return true;
    case MISHAP_ARRAY:
        return param->items && param->items->type == MISHAP_ENUM;
    default:
        return false;
    }
}

static mishap *check_params(const mishap_declared *what, const mishap_question *question)
{
    for (const mishap_param *p = question->params; p && p->name; p++) {
        if (p->secret || (p->items && p->items->secret))
            return mishap_declared_wrongly(
                what, "asks `%s` for `%s`, which is secret: questions are no place for secrets",
                question->name, p->name);
        if (!is_flat(p))
            return mishap_declared_wrongly(
                what,
                "asks `%s` for `%s`, which is none of a string, a number, a boolean, an enum, a "
                "date, a timestamp and an array of enums",
                question->name, p->name);
        if (p->nullable || p->file || p->rest || p->environment || p->letter || p->positional)
            return mishap_declared_wrongly(
                what,
                "asks `%s` for `%s`, which must not be nullable, nor say how a command gets it",
                question->name, p->name);
    }
    return mishap_params_declared(what, question->params);
}

static mishap *check_question(const mishap_declared *what, const mishap_question *question)
{
    if (!mishap_words_valid(question->name, '_', ""))
        return mishap_declared_wrongly(what, "has a question whose name is not lower_snake");
    for (const mishap_question *q = what->operation->asks; q != question; q++)
        if (strcmp(q->name, question->name) == 0)
            return mishap_declared_wrongly(what, "asks `%s` twice", question->name);
    if (question->method)
        return question->params || strchr(question->method, '/') == NULL
                   ? mishap_declared_wrongly(
                         what, "asks the client `%s` with parameters, or without a method",
                         question->name)
                   : NULL;
    if (!question->params || !question->params->name)
        return mishap_declared_wrongly(what, "asks `%s` without parameters for the answer",
                                       question->name);
    return check_params(what, question);
}

mishap *mishap_asks_declared(const mishap_declared *what)
{
    const mishap_operation *operation = what->operation;
    size_t count = 0;
    if (!operation->asks)
        return NULL;
    if (operation->resident || operation->relays)
        return mishap_declared_wrongly(what, "is resident and asks questions");
    if (mishap_streamed_param(operation))
        return mishap_declared_wrongly(
            what, "asks questions and has a file that is streamed, which cannot be read again");
    for (const mishap_question *q = operation->asks; q->name; q++) {
        if (++count > MISHAP_ASKING_QUESTIONS)
            return mishap_declared_wrongly(what, "has more than %d questions",
                                           (int)MISHAP_ASKING_QUESTIONS);
        MISHAP_TRY(check_question(what, q));
    }
    return NULL;
}
