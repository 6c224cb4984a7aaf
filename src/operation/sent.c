/* What the caller of an operation sent, for the guard (mishap/leaks.h): it is no leak. */
#include "operation/hide.h"

#include "operation/call.h"
#include "operation/secret.h"

static void collect_sent(mishap_leaks_values *values, const void *state)
{
    const mishap_sent *sent = state;
    for (size_t i = 0; i < sent->word_count; i++)
        mishap_leaks_add_value(values, mishap_text_of(sent->words[i]));
    if (sent->call) {
        for (size_t i = 0; sent->call->values && i < sent->call->param_count; i++)
            mishap_leaks_add_json(values, sent->call->values[i]);
        mishap_leaks_add_value(values, sent->call->body);
    }
    mishap_leaks_add_json(values, sent->json);
    mishap_leaks_add_text(values, sent->text);
}

mishap_leaks_known mishap_sent_known(const mishap_sent *sent)
{
    return (mishap_leaks_known){ .collect = sent ? collect_sent : NULL, .sent = sent };
}

mishap *mishap_hide_json(mishap_buffer *json, const mishap_secrets *secrets,
                         const mishap_sent *sent)
{
    mishap_leaks_known known = mishap_sent_known(sent);
    mishap *found = mishap_hide_known_json(json, secrets, &known);
    mishap_leaks_known_release(&known);
    return found;
}

mishap_text mishap_hide_text(mishap_text text, const mishap_sent *sent)
{
    mishap_leaks_known known = mishap_sent_known(sent);
    mishap_text clean = mishap_hide_known_text(text, &known);
    mishap_leaks_known_release(&known);
    return clean;
}

void mishap_hide_failure_leaks(mishap *failure, const mishap_sent *sent)
{
    mishap_leaks_known known = mishap_sent_known(sent);
    mishap_hide_known_failure(failure, &known);
    mishap_leaks_known_release(&known);
}

void mishap_hide_report_leaks(mishap *failure, const mishap_sent *sent)
{
    mishap_leaks_known known = mishap_sent_known(sent);
    mishap_hide_known_report(failure, &known);
    mishap_leaks_known_release(&known);
}
