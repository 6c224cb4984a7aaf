/* Accounts: the scrip of each principal, and what of it is held. */
#include "artifacts/request.h"

static mishap *no_principal(mishap_text id)
{
    return mishap_tell(mishap_resource("There is no principal %.*s.", (int)id.length, id.data),
                       "principal", id);
}

struct account {
    bool found, is_principal;
    int64_t balance, held; /* the balance includes what is held */
};

static mishap *look_up_account(artifacts_request *r, mishap_text id, struct account *account)
{
    mishap_query query;
    *account = (struct account){ 0 };
    mishap_query_begin(&query, r->store, ARTIFACTS_ACCOUNT_GET);
    mishap_query_bind_text(&query, 1, id);
    while (mishap_query_step(&query)) {
        account->found = true;
        account->balance = mishap_query_integer(&query, 0);
        account->held = mishap_query_integer(&query, 1);
        account->is_principal = mishap_text_equal(mishap_query_text(&query, 2),
                                                  (mishap_text)MISHAP_TEXT("principal"));
    }
    return mishap_query_end(&query);
}

mishap *artifacts_principal_must_exist(artifacts_request *r, mishap_text id)
{
    struct account account;
    MISHAP_TRY(look_up_account(r, id, &account));
    return account.is_principal ? NULL : no_principal(id);
}

static mishap *change_account(artifacts_request *r, artifacts_statement how, mishap_text id,
                              int64_t amount, int64_t *balance, bool *done)
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
    struct account account;
    bool done;
    *short_of = false;
    MISHAP_TRY(change_account(r, ARTIFACTS_ACCOUNT_DEBIT, id, amount, balance, &done));
    if (done)
        return NULL;
    MISHAP_TRY(look_up_account(r, id, &account));
    *short_of = account.found;
    return account.found ? NULL : no_principal(id);
}

mishap *artifacts_credit(artifacts_request *r, mishap_text id, int64_t amount, int64_t *balance)
{
    struct account account;
    bool done;
    MISHAP_TRY(change_account(r, ARTIFACTS_ACCOUNT_CREDIT, id, amount, balance, &done));
    if (done)
        return NULL;
    MISHAP_TRY(look_up_account(r, id, &account));
    return account.found ? mishap_validation("The balance of %.*s would be too large",
                                             (int)id.length, id.data)
                         : no_principal(id);
}

mishap *artifacts_hold(artifacts_request *r, int64_t amount, bool *short_of)
{
    bool done;
    MISHAP_TRY(
        change_account(r, ARTIFACTS_ACCOUNT_HOLD, mishap_text_of(r->caller), amount, NULL, &done));
    *short_of = !done;
    return NULL;
}

/* "Balance is 100, of which 60 are held for a bid, needed 50" */
mishap *artifacts_too_little(artifacts_request *r, mishap_category category, const char *needed_as,
                             int64_t needed, bool also_held)
{
    struct account account;
    MISHAP_TRY(look_up_account(r, mishap_text_of(r->caller), &account));
    if (also_held)
        account.held = 0;
    const char *held = account.held
                           ? mishap_call_print(r->call, ", of which %lld are held for a bid",
                                               (long long)account.held)
                           : "";
    mishap *m = MISHAP_RAISE_IN(category, INSUFFICIENT_FUNDS, "Balance is %lld%s, %s %lld",
                                (long long)account.balance, held, needed_as, (long long)needed);
    m = mishap_tell(m, "balance", account.balance);
    if (account.held)
        m = mishap_tell(m, "held", account.held);
    return mishap_tell(m, "needed", needed);
}

static bool is_before(mishap_text a, mishap_text b)
{
    int order = memcmp(a.data, b.data, a.length < b.length ? a.length : b.length);
    return order ? order < 0 : a.length < b.length;
}

/* PostgreSQL locks a row when it is changed. Each movement changes the account with the lesser name
 * first, so two movements between the same accounts wait for each other in turn. Otherwise each
 * could hold the lock that the other needs: PostgreSQL looks for such a deadlock only after a
 * second. */
mishap *artifacts_move(artifacts_request *r, mishap_text from, mishap_text to, int64_t amount,
                       int64_t *left, int64_t *there, bool *short_of)
{
    bool credit_first = is_before(to, from);
    if (credit_first)
        MISHAP_TRY(artifacts_credit(r, to, amount, there));
    MISHAP_TRY(artifacts_debit(r, from, amount, left, short_of));
    return credit_first || *short_of ? NULL : artifacts_credit(r, to, amount, there);
}

/* Only its owner may see how much of it is held. */
mishap *artifacts_put_account(artifacts_request *r, mishap_text id)
{
    struct account account;
    MISHAP_TRY(look_up_account(r, id, &account));
    if (!account.found)
        return no_principal(id);
    mishap_json_put(&r->answer, "balance", account.balance);
    if (account.held && r->caller && mishap_text_equal(id, mishap_text_of(r->caller)))
        mishap_json_put(&r->answer, "held", account.held);
    return NULL;
}
