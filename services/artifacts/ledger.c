/* genesis_ledger: the scrip of each principal, and the owner of each artifact. */
#include "artifacts/request.h"

enum { MOST_BALANCES = 1000 };

mishap *artifacts_ledger_balance(artifacts_request *r)
{
    mishap_json_put(&r->answer, "agent_id", r->args[0].text);
    return artifacts_put_account(r, r->args[0].text);
}

mishap *artifacts_ledger_balances(artifacts_request *r)
{
    mishap_query query;
    mishap_page page;
    mishap_query_begin(&query, r->store, ARTIFACTS_ACCOUNT_LIST);
    mishap_json_put_object(&r->answer, "balances");
    for (mishap_page_begin(&page, &query, 1, MOST_BALANCES); mishap_page_step(&page, &query);) {
        mishap_text id = mishap_query_text(&query, 0);
        mishap_value balance = mishap_value_of_int(mishap_query_integer(&query, 1));
        mishap_json_put_value(&r->answer, id, balance);
    }
    mishap_json_put_end(&r->answer, '}');
    if (page.more)
        mishap_json_put(&r->answer, "cut", true);
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
        return mishap_tell(mishap_validation("A principal cannot transfer to itself"), "to_id", to);
    MISHAP_TRY(artifacts_principal_must_exist(r, to));
    MISHAP_TRY(artifacts_move(r, from, to, amount, &left, &there, &short_of));
    if (short_of) /* the failure also undoes the credit */
        return artifacts_too_little(r, MISHAP_PERMISSION, "needed", amount, false);
    mishap_json_put(&r->answer, "from_id", from);
    mishap_json_put(&r->answer, "to_id", to);
    mishap_json_put(&r->answer, "amount", amount);
    mishap_json_put(&r->answer, "from_balance", left);
    mishap_json_put(&r->answer, "to_balance", there);
    return NULL;
}

mishap *artifacts_ledger_give(artifacts_request *r)
{
    mishap_text id = r->args[0].text, to = r->args[1].text;
    MISHAP_TRY(artifacts_must_own(r, id, "transfer"));
    MISHAP_TRY(artifacts_principal_must_exist(r, to));
    MISHAP_TRY(artifacts_must_not_be_bid_with(r, id));
    MISHAP_TRY(artifacts_give(r, id, to));
    mishap_json_put(&r->answer, "artifact_id", id);
    mishap_json_put(&r->answer, "from_id", r->caller);
    mishap_json_put(&r->answer, "to_id", to);
    return NULL;
}

/* The id of the call makes the name unique. */
mishap *artifacts_ledger_spawn(artifacts_request *r)
{
    mishap_query query;
    const char *id = mishap_call_print(r->call, "principal_%s", mishap_call_id(r->call));
    mishap_query_begin(&query, r->store, ARTIFACTS_ACCOUNT_ADD);
    mishap_query_bind_text(&query, 1, mishap_text_of(id));
    mishap_query_bind_integer(&query, 2, 0);
    mishap_query_bind_text(&query, 3, (mishap_text)MISHAP_TEXT("principal"));
    MISHAP_TRY(artifacts_run(&query, NULL));
    mishap_json_put(&r->answer, "principal_id", id);
    mishap_json_put(&r->answer, "balance", 0);
    return NULL;
}
