/*
 * genesis_mint: an auction in which principals bid for new scrip with artifacts of theirs. The best
 * bid wins and pays the second best, or 1 if there is no other; the artifact is scored, and the
 * winner gets score / 10 of new scrip. All other bids are paid back.
 *
 * A bid is held in the account of its bidder until the auction ends. Others see the same balance as
 * before, so the bid stays secret, and it cannot be spent meanwhile. The artifact cannot be given
 * away, sold or deleted meanwhile, so a bidder cannot avoid paying. An auction begins with its
 * first bid and ends when its time is over, or when as many principals have bid as the operator has
 * configured.
 */
#include "artifacts/request.h"

#define MINT ((mishap_text)MISHAP_TEXT(ARTIFACTS_MINT))

struct auction {
    bool open;
    int64_t closes, minted, bidders;
};

struct bid {
    char bidder[ARTIFACTS_LONGEST_NAME + 1], artifact[ARTIFACTS_LONGEST_NAME + 1];
    int64_t amount;
};

static mishap *run_statement(artifacts_request *r, artifacts_statement statement)
{
    mishap_query query;
    mishap_query_begin(&query, r->store, statement);
    return artifacts_run(&query, NULL);
}

static mishap *run_with(artifacts_request *r, artifacts_statement statement, int64_t integer)
{
    mishap_query query;
    mishap_query_begin(&query, r->store, statement);
    mishap_query_bind_integer(&query, 1, integer);
    return artifacts_run(&query, NULL);
}

static mishap *look_up_auction(artifacts_request *r, struct auction *auction)
{
    mishap_query query;
    *auction = (struct auction){ 0 };
    mishap_query_begin(&query, r->store, ARTIFACTS_AUCTION_GET);
    while (mishap_query_step(&query)) {
        auction->open = !mishap_query_is_null(&query, 0);
        auction->closes = mishap_query_integer(&query, 0);
        auction->minted = mishap_query_integer(&query, 1);
        auction->bidders = mishap_query_integer(&query, 2);
    }
    return mishap_query_end(&query);
}

/* -- the end of an auction --------------------------------------------------------------------- */

static mishap *find_best(artifacts_request *r, struct bid best[2], int *count)
{
    mishap_query query;
    *count = 0;
    mishap_query_begin(&query, r->store, ARTIFACTS_BID_BEST);
    while (mishap_query_step(&query) && *count < 2) {
        artifacts_copy_name(best[*count].bidder, mishap_query_text(&query, 0));
        artifacts_copy_name(best[*count].artifact, mishap_query_text(&query, 1));
        best[(*count)++].amount = mishap_query_integer(&query, 2);
    }
    return mishap_query_end(&query);
}

static mishap *score(artifacts_request *r, const char *artifact, int *points)
{
    mishap_query query;
    *points = 0;
    mishap_query_begin(&query, r->store, ARTIFACTS_GET);
    mishap_query_bind_text(&query, 1, mishap_text_of(artifact));
    while (mishap_query_step(&query))
        *points = artifacts_score(mishap_query_text(&query, 3), mishap_query_text(&query, 4));
    return mishap_query_end(&query);
}

/* The bid was released before, and is not less than the price. */
static mishap *pay_winner(artifacts_request *r, const struct bid *winner, int64_t price, int points)
{
    enum { POINTS_FOR_ONE = 10 };
    int64_t left, made = points / POINTS_FOR_ONE;
    bool short_of;
    mishap_query query;
    MISHAP_TRY(artifacts_debit(r, mishap_text_of(winner->bidder), price, &left, &short_of));
    if (short_of)
        return mishap_raise(INTERNAL_ERROR, "A bid of %s was not in its account.", winner->bidder);
    MISHAP_TRY(artifacts_credit(r, MINT, price, NULL));
    if (made) {
        MISHAP_TRY(artifacts_credit(r, mishap_text_of(winner->bidder), made, NULL));
        MISHAP_TRY(run_with(r, ARTIFACTS_AUCTION_MINT, made));
    }
    mishap_query_begin(&query, r->store, ARTIFACTS_MINTED_ADD);
    mishap_query_bind_text(&query, 1, mishap_text_of(winner->artifact));
    mishap_query_bind_text(&query, 2, mishap_text_of(winner->bidder));
    mishap_query_bind_integer(&query, 3, price);
    mishap_query_bind_integer(&query, 4, points);
    mishap_query_bind_integer(&query, 5, made);
    mishap_query_bind_integer(&query, 6, r->now);
    return artifacts_run(&query, NULL);
}

static void put_result(mishap_buffer *b, mishap_query *query)
{
    mishap_json_put(b, "artifact_id", mishap_query_text(query, 0));
    mishap_json_put(b, "winner", mishap_query_text(query, 1));
    mishap_json_put(b, "price", mishap_query_integer(query, 2));
    mishap_json_put(b, "score", mishap_query_integer(query, 3));
    mishap_json_put(b, "minted", mishap_query_integer(query, 4));
}

static mishap *put_last(artifacts_request *r, mishap_buffer *b, const char *key)
{
    mishap_query query;
    bool any = false;
    mishap_query_begin(&query, r->store, ARTIFACTS_MINTED_LAST);
    while (mishap_query_step(&query)) {
        any = true;
        mishap_json_put_object(b, key);
        put_result(b, &query);
        mishap_json_put_end(b, '}');
    }
    if (!any)
        mishap_json_put_json(b, key, (mishap_text){ NULL, 0 });
    return mishap_query_end(&query);
}

static mishap *log_result(artifacts_request *r, bool won)
{
    mishap_buffer text = { 0 };
    mishap_json_put_object(&text, NULL);
    mishap *failure = won ? put_last(r, &text, "auction") : NULL;
    if (!won)
        mishap_json_put_json(&text, "auction", (mishap_text){ NULL, 0 });
    mishap_json_put_end(&text, '}');
    if (!failure)
        failure = text.failed ? mishap_out_of_memory()
                              : artifacts_event_add(r, "system", ARTIFACTS_MINT, "resolve",
                                                    mishap_buffer_text(&text));
    mishap_buffer_release(&text);
    return failure;
}

static mishap *resolve(artifacts_request *r)
{
    struct bid best[2];
    int count, points = 0;
    mishap_query query;
    MISHAP_TRY(find_best(r, best, &count));
    MISHAP_TRY(run_statement(r, ARTIFACTS_ACCOUNT_RELEASE));
    MISHAP_TRY(run_statement(r, ARTIFACTS_BID_CLEAR));
    if (count) {
        MISHAP_TRY(score(r, best[0].artifact, &points));
        MISHAP_TRY(pay_winner(r, &best[0], count > 1 ? best[1].amount : 1, points));
    }
    mishap_query_begin(&query, r->store, ARTIFACTS_AUCTION_CLOSE);
    mishap_query_bind_null(&query, 1);
    MISHAP_TRY(artifacts_run(&query, NULL));
    return log_result(r, count > 0);
}

mishap *artifacts_mint_is_due(artifacts_request *r, bool *due)
{
    struct auction auction;
    MISHAP_TRY(look_up_auction(r, &auction));
    *due = auction.open && auction.closes <= r->now;
    return NULL;
}

mishap *artifacts_mint_tend(artifacts_request *r)
{
    bool due = false;
    MISHAP_TRY(artifacts_mint_is_due(r, &due));
    return due ? resolve(r) : NULL;
}

/* -- bids -------------------------------------------------------------------------------------- */

static mishap *is_bid_with(artifacts_request *r, mishap_text id, bool *pending)
{
    mishap_query query;
    mishap_query_begin(&query, r->store, ARTIFACTS_BID_WITH);
    mishap_query_bind_text(&query, 1, id);
    return artifacts_run(&query, pending);
}

/* If the time of the auction is over, it ends first. */
mishap *artifacts_must_not_be_bid_with(artifacts_request *r, mishap_text id)
{
    struct auction auction;
    bool pending;
    MISHAP_TRY(is_bid_with(r, id, &pending));
    if (pending)
        MISHAP_TRY(artifacts_mint_tend(r));
    if (pending)
        MISHAP_TRY(is_bid_with(r, id, &pending));
    if (!pending)
        return NULL;
    MISHAP_TRY(look_up_auction(r, &auction));
    mishap_buffer when = { 0 };
    artifacts_put_time(&when, NULL, auction.closes);
    mishap_buffer_add(&when, "", 1);
    mishap *m = mishap_tell(mishap_resource_as(CONFLICT, "The artifact %.*s is in an auction.",
                                               (int)id.length, id.data),
                            "artifact_id", id);
    if (!when.failed)
        m = mishap_tell(m, "closes_at", mishap_value_of_json(when.data));
    mishap_buffer_release(&when);
    return mishap_suggest(m, "Wait until the auction ends: genesis_mint.status tells when. A bid "
                             "with another artifact takes the place of this one.");
}

static mishap *was_minted(artifacts_request *r, mishap_text id, bool *minted)
{
    mishap_query query;
    mishap_query_begin(&query, r->store, ARTIFACTS_MINTED_GET);
    mishap_query_bind_text(&query, 1, id);
    return artifacts_run(&query, minted);
}

/* A bid replaces the caller's earlier one, and what was held for that. If the new one fails,
 * everything is rolled back, and the old one stays. */
static mishap *place(artifacts_request *r)
{
    mishap_text caller = mishap_text_of(r->caller);
    int64_t amount = r->args[1].integer;
    bool short_of;
    mishap_query query;
    MISHAP_TRY(artifacts_hold(r, amount, &short_of));
    if (short_of)
        return artifacts_too_little(r, MISHAP_RESOURCE, "the bid is", amount, true);
    mishap_query_begin(&query, r->store, ARTIFACTS_BID_REMOVE);
    mishap_query_bind_text(&query, 1, caller);
    MISHAP_TRY(artifacts_run(&query, NULL));
    mishap_query_begin(&query, r->store, ARTIFACTS_BID_ADD);
    mishap_query_bind_text(&query, 1, caller);
    mishap_query_bind_text(&query, 2, r->args[0].text);
    mishap_query_bind_integer(&query, 3, amount);
    return artifacts_run(&query, NULL);
}

/* The first bid opens an auction, and the last expected one ends it. */
static mishap *advance(artifacts_request *r, bool *resolved)
{
    const mishap_call *settings = mishap_settings(r->call);
    int64_t most = mishap_integer(settings, "auction_bidders");
    struct auction auction;
    MISHAP_TRY(look_up_auction(r, &auction));
    if (!auction.open)
        MISHAP_TRY(run_with(r, ARTIFACTS_AUCTION_CLOSE,
                            r->now + 1000 * mishap_integer(settings, "auction_seconds")));
    *resolved = most && auction.bidders >= most;
    return *resolved ? resolve(r) : NULL;
}

/* Other callers must not learn the amount before the auction ends. */
mishap *artifacts_mint_bid(artifacts_request *r)
{
    mishap_text id = r->args[0].text;
    bool minted, resolved;
    if (r->args[1].integer <= 0)
        return mishap_tell(mishap_validation("Amount must be positive"), "amount",
                           r->args[1].integer);
    MISHAP_TRY(artifacts_must_own(r, id, "bid with"));
    MISHAP_TRY(was_minted(r, id, &minted));
    if (minted)
        return mishap_tell(mishap_resource_as(ALREADY_EXISTS,
                                              "The mint has taken the artifact %s before.",
                                              id.data),
                           "artifact_id", id);
    MISHAP_TRY(place(r));
    MISHAP_TRY(advance(r, &resolved));
    mishap_json_put(&r->answer, "artifact_id", id);
    mishap_json_put(&r->answer, "amount", r->args[1].integer);
    MISHAP_TRY(artifacts_put_account(r, mishap_text_of(r->caller)));
    mishap_json_put(&r->answer, "resolved", resolved);
    mishap_json_put_object(&r->event, NULL);
    mishap_json_put(&r->event, "artifact_id", id);
    mishap_json_put_end(&r->event, '}');
    return NULL;
}

/* -- queries ----------------------------------------------------------------------------------- */

mishap *artifacts_mint_status(artifacts_request *r)
{
    struct auction auction;
    MISHAP_TRY(look_up_auction(r, &auction));
    mishap_json_put(&r->answer, "open", auction.open);
    mishap_json_put(&r->answer, "bidders", auction.bidders);
    if (auction.open)
        artifacts_put_time(&r->answer, "closes_at", auction.closes);
    mishap_json_put(&r->answer, "minted", auction.minted);
    return put_last(r, &r->answer, "last");
}

mishap *artifacts_mint_check(artifacts_request *r)
{
    mishap_text id = r->args[0].text;
    mishap_query query;
    bool minted = false, pending = false;
    char owner[64];
    mishap_query_begin(&query, r->store, ARTIFACTS_MINTED_GET);
    mishap_query_bind_text(&query, 1, id);
    while (mishap_query_step(&query)) {
        minted = true;
        put_result(&r->answer, &query);
    }
    MISHAP_TRY(mishap_query_end(&query));
    if (!minted) {
        MISHAP_TRY(artifacts_owner_of(r, id, owner));
        MISHAP_TRY(is_bid_with(r, id, &pending));
        mishap_json_put(&r->answer, "artifact_id", id);
    }
    mishap_json_put(&r->answer, "status", minted ? "minted" : pending ? "pending" : "none");
    return NULL;
}

mishap *artifacts_mint_resolve(artifacts_request *r)
{
    struct auction auction;
    MISHAP_TRY(look_up_auction(r, &auction));
    if (auction.open)
        MISHAP_TRY(resolve(r));
    mishap_json_put(&r->answer, "resolved", auction.open);
    return NULL;
}
