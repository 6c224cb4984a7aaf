/* genesis_ledger: who has how much scrip, and which artifact is whose. */
#include "artifacts/request.h"

enum { MOST_BALANCES = 1000 };

mishap *artifacts_run(mishap_query *query, bool *found)
{
    bool any = false;
    while (mishap_query_step(query))
        any = true;
    if (found)
        *found = any;
    return mishap_query_end(query);
}

static mishap *no_principal(mishap_text id)
{
    return mishap_tell(mishap_resource("There is no principal %.*s.", (int)id.length, id.data),
                       "principal", id);
}

/* -- accounts ---------------------------------------------------------------------------------- */

static mishap *look(artifacts_request *r, mishap_text id, bool *found, bool *is_principal,
                    int64_t *balance)
{
    mishap_query query;
    *found = *is_principal = false;
    mishap_query_begin(&query, r->store, ARTIFACTS_ACCOUNT_GET);
    mishap_query_bind_text(&query, 1, id);
    while (mishap_query_step(&query)) {
        *found = true;
        *balance = mishap_query_integer(&query, 0);
        *is_principal = mishap_text_equal(mishap_query_text(&query, 1),
                                          (mishap_text)MISHAP_TEXT("principal"));
    }
    return mishap_query_end(&query);
}

mishap *artifacts_principal_must_exist(artifacts_request *r, mishap_text id)
{
    bool found, is_principal;
    int64_t balance;
    MISHAP_TRY(look(r, id, &found, &is_principal, &balance));
    return is_principal ? NULL : no_principal(id);
}

static mishap *change(artifacts_request *r, artifacts_statement how, mishap_text id, int64_t amount,
                      int64_t *balance, bool *done)
{
    mishap_query query;
    *done = false;
    mishap_query_begin(&query, r->store, how);
    mishap_query_bind_text(&query, 1, id);
    mishap_query_bind_integer(&query, 2, amount);
    while (mishap_query_step(&query)) {
        *done = true;
        if (balance)
            *balance = mishap_query_integer(&query, 0);
    }
    return mishap_query_end(&query);
}

mishap *artifacts_debit(artifacts_request *r, mishap_text id, int64_t amount, int64_t *balance,
                        bool *short_of)
{
    bool done, found, is_principal;
    *short_of = false;
    MISHAP_TRY(change(r, ARTIFACTS_ACCOUNT_DEBIT, id, amount, balance, &done));
    if (done)
        return NULL;
    MISHAP_TRY(look(r, id, &found, &is_principal, balance));
    *short_of = found;
    return found ? NULL : no_principal(id);
}

mishap *artifacts_credit(artifacts_request *r, mishap_text id, int64_t amount, int64_t *balance)
{
    bool done, found, is_principal;
    int64_t before;
    MISHAP_TRY(change(r, ARTIFACTS_ACCOUNT_CREDIT, id, amount, balance, &done));
    if (done)
        return NULL;
    MISHAP_TRY(look(r, id, &found, &is_principal, &before));
    return found ? mishap_validation("The balance of %.*s would be too large", (int)id.length,
                                     id.data)
                 : no_principal(id);
}

/* PostgreSQL locks a row when it is changed. If every movement changes the account with the lesser
 * name first, two between the same accounts wait for each other in turn. Otherwise each could hold
 * what the other needs, which PostgreSQL looks for only after a second. */
mishap *artifacts_move(artifacts_request *r, mishap_text from, mishap_text to, int64_t amount,
                       int64_t *left, int64_t *there, bool *short_of)
{
    bool credit_first = strcmp(to.data, from.data) < 0;
    if (credit_first)
        MISHAP_TRY(artifacts_credit(r, to, amount, there));
    MISHAP_TRY(artifacts_debit(r, from, amount, left, short_of));
    return credit_first || *short_of ? NULL : artifacts_credit(r, to, amount, there);
}

/* -- the methods ------------------------------------------------------------------------------- */

mishap *artifacts_ledger_balance(artifacts_request *r)
{
    bool found, is_principal;
    int64_t balance;
    MISHAP_TRY(look(r, r->args[0].text, &found, &is_principal, &balance));
    if (!found)
        return no_principal(r->args[0].text);
    artifacts_put_text(&r->answer, "agent_id", r->args[0].text);
    artifacts_put_integer(&r->answer, "balance", balance);
    return NULL;
}

mishap *artifacts_ledger_balances(artifacts_request *r)
{
    mishap_query query;
    mishap_page page;
    char id[ARTIFACTS_LONGEST_NAME + 1];
    mishap_query_begin(&query, r->store, ARTIFACTS_ACCOUNT_LIST);
    artifacts_put_open(&r->answer, "balances", '{');
    for (mishap_page_begin(&page, &query, 1, MOST_BALANCES); mishap_page_step(&page, &query);) {
        mishap_text text = mishap_query_text(&query, 0);
        size_t length = text.length < sizeof id ? text.length : sizeof id - 1;
        memcpy(id, text.data, length);
        id[length] = '\0';
        artifacts_put_integer(&r->answer, id, mishap_query_integer(&query, 1));
    }
    artifacts_put_close(&r->answer, '}');
    if (page.more)
        artifacts_put_boolean(&r->answer, "cut", true);
    return mishap_query_end(&query);
}

mishap *artifacts_ledger_transfer(artifacts_request *r)
{
    mishap_text from = r->args[0].text, to = r->args[1].text;
    int64_t amount = r->args[2].integer, left = 0, there = 0;
    bool short_of;
    if (!mishap_text_equal(from, mishap_text_of(r->caller)))
        return mishap_tell(
            mishap_permission("Only %s can spend the scrip of %s", from.data, from.data), "from_id",
            from);
    if (amount <= 0)
        return mishap_tell(mishap_validation("Amount must be positive"), "amount", amount);
    if (mishap_text_equal(from, to))
        return mishap_tell(mishap_validation("Nobody can transfer to itself"), "to_id", to);
    MISHAP_TRY(artifacts_principal_must_exist(r, to));
    MISHAP_TRY(artifacts_move(r, from, to, amount, &left, &there, &short_of));
    if (short_of) /* which undoes the credit, too */
        return mishap_tell(
            mishap_tell(mishap_permission_as(INSUFFICIENT_FUNDS, "Balance is %lld, needed %lld",
                                             (long long)left, (long long)amount),
                        "balance", left),
            "needed", amount);
    artifacts_put_text(&r->answer, "from_id", from);
    artifacts_put_text(&r->answer, "to_id", to);
    artifacts_put_integer(&r->answer, "amount", amount);
    artifacts_put_integer(&r->answer, "from_balance", left);
    artifacts_put_integer(&r->answer, "to_balance", there);
    return NULL;
}

mishap *artifacts_ledger_give(artifacts_request *r)
{
    mishap_text id = r->args[0].text, to = r->args[1].text;
    MISHAP_TRY(artifacts_must_own(r, id, "transfer"));
    MISHAP_TRY(artifacts_principal_must_exist(r, to));
    MISHAP_TRY(artifacts_give(r, id, to));
    artifacts_put_text(&r->answer, "artifact_id", id);
    artifacts_put_string(&r->answer, "from_id", r->caller);
    artifacts_put_text(&r->answer, "to_id", to);
    return NULL;
}

/* The id of the call is in no other principal's name. */
mishap *artifacts_ledger_spawn(artifacts_request *r)
{
    mishap_query query;
    const char *id = mishap_call_print(r->call, "principal_%s", mishap_call_id(r->call));
    mishap_query_begin(&query, r->store, ARTIFACTS_ACCOUNT_ADD);
    mishap_query_bind_text(&query, 1, mishap_text_of(id));
    mishap_query_bind_integer(&query, 2, 0);
    mishap_query_bind_text(&query, 3, (mishap_text)MISHAP_TEXT("principal"));
    MISHAP_TRY(artifacts_run(&query, NULL));
    artifacts_put_string(&r->answer, "principal_id", id);
    artifacts_put_integer(&r->answer, "balance", 0);
    return NULL;
}
