/* genesis_escrow: it owns what is for sale, from the deposit to the purchase or the cancellation.
 * Only an owner can deposit, so an artifact that the escrow holds cannot be deposited again. It
 * cannot be changed there, either: so the version of an offer, a number of its own, identifies its
 * price and its artifact. */
#include "artifacts/request.h"

struct listing {
    bool found;
    char seller[ARTIFACTS_LONGEST_NAME + 1], buyer[ARTIFACTS_LONGEST_NAME + 1];
    int64_t price, version;
};

/* -- listings ---------------------------------------------------------------------------------- */

static void begin_find(artifacts_request *r, mishap_query *query)
{
    mishap_query_begin(query, r->store, ARTIFACTS_LISTING_GET);
    mishap_query_bind_text(query, 1, r->args[0].text);
}

static mishap *find_listing(artifacts_request *r, struct listing *listing)
{
    mishap_query query;
    listing->found = false;
    begin_find(r, &query);
    while (mishap_query_step(&query)) {
        listing->found = true;
        artifacts_copy_name(listing->seller, mishap_query_text(&query, 1));
        listing->price = mishap_query_integer(&query, 2);
        artifacts_copy_name(listing->buyer, mishap_query_text(&query, 3));
        listing->version = mishap_query_integer(&query, 5);
    }
    return mishap_query_end(&query);
}

static mishap *not_listed(artifacts_request *r)
{
    return mishap_tell(mishap_resource("The artifact %s is not for sale.", r->args[0].text.data),
                       "artifact_id", r->args[0].text);
}

static mishap *must_be_listed(artifacts_request *r, struct listing *listing)
{
    MISHAP_TRY(find_listing(r, listing));
    return listing->found ? NULL : not_listed(r);
}

/* Give an artifact of the escrow to a new owner. */
static mishap *release_artifact(artifacts_request *r, mishap_text owner)
{
    mishap_query query;
    mishap_query_begin(&query, r->store, ARTIFACTS_LISTING_REMOVE);
    mishap_query_bind_text(&query, 1, r->args[0].text);
    MISHAP_TRY(artifacts_run(&query, NULL));
    return artifacts_give(r, r->args[0].text, owner);
}

static void put_row(mishap_buffer *b, mishap_query *query)
{
    mishap_json_put(b, "artifact_id", mishap_query_text(query, 0));
    mishap_json_put(b, "seller", mishap_query_text(query, 1));
    mishap_json_put(b, "price", mishap_query_integer(query, 2));
    mishap_json_put(b, "buyer", mishap_query_text(query, 3));
    artifacts_put_time(b, "listed_at", mishap_query_integer(query, 4));
    mishap_json_put(b, "version", mishap_query_integer(query, 5));
}

/* -- the methods ------------------------------------------------------------------------------- */

mishap *artifacts_escrow_deposit(artifacts_request *r)
{
    mishap_text id = r->args[0].text, buyer = r->args[2].text;
    int64_t price = r->args[1].integer;
    struct listing listing;
    mishap_query query;
    if (price <= 0)
        return mishap_tell(mishap_validation("Price must be positive"), "price", price);
    MISHAP_TRY(find_listing(r, &listing));
    if (listing.found)
        return mishap_tell(
            mishap_resource_as(ALREADY_LISTED, "The artifact %s is already for sale.", id.data),
            "artifact_id", id);
    MISHAP_TRY(artifacts_must_own(r, id, "sell"));
    if (r->args[2].given)
        MISHAP_TRY(artifacts_principal_must_exist(r, buyer));
    if (r->args[2].given && mishap_text_equal(buyer, mishap_text_of(r->caller)))
        return mishap_tell(mishap_validation("A principal cannot sell to itself"), "buyer", buyer);
    MISHAP_TRY(artifacts_must_not_be_bid_with(r, id));
    MISHAP_TRY(artifacts_give(r, id, (mishap_text)MISHAP_TEXT(ARTIFACTS_ESCROW)));
    mishap_query_begin(&query, r->store, ARTIFACTS_LISTING_ADD);
    mishap_query_bind_text(&query, 1, id);
    mishap_query_bind_text(&query, 2, mishap_text_of(r->caller));
    mishap_query_bind_integer(&query, 3, price);
    mishap_query_bind_text(&query, 4, buyer);
    mishap_query_bind_integer(&query, 5, r->now);
    MISHAP_TRY(artifacts_run(&query, NULL));
    MISHAP_TRY(find_listing(r, &listing));
    mishap_json_put(&r->answer, "artifact_id", id);
    mishap_json_put(&r->answer, "seller", r->caller);
    mishap_json_put(&r->answer, "price", price);
    mishap_json_put(&r->answer, "buyer", buyer);
    mishap_json_put(&r->answer, "version", listing.version);
    return NULL;
}

/* The seller may have withdrawn the offer meanwhile, changed the artifact and offered it anew. So a
 * buyer can say at which price, and in which version, it has seen the offer. */
static mishap *must_be_as_seen(artifacts_request *r, const struct listing *listing)
{
    const artifacts_value *price = &r->args[1], *version = &r->args[2];
    mishap *m = NULL;
    if (price->given && price->integer != listing->price)
        m = mishap_resource_as(CONFLICT, "The price of %s is %lld, not %lld.", r->args[0].text.data,
                               (long long)listing->price, (long long)price->integer);
    else if (version->given && version->integer != listing->version)
        m = mishap_resource_as(CONFLICT, "The offer of %s has version %lld, not %lld.",
                               r->args[0].text.data, (long long)listing->version,
                               (long long)version->integer);
    if (!m)
        return NULL;
    m = mishap_tell(m, "artifact_id", r->args[0].text);
    m = mishap_tell(mishap_tell(m, "price", listing->price), "version", listing->version);
    return mishap_suggest(m, "Look at the artifact and its offer again: genesis_store.get and "
                             "genesis_escrow.check.");
}

mishap *artifacts_escrow_purchase(artifacts_request *r)
{
    mishap_text caller = mishap_text_of(r->caller), id = r->args[0].text;
    struct listing listing;
    int64_t left = 0;
    bool short_of;
    MISHAP_TRY(must_be_listed(r, &listing));
    if (strcmp(listing.seller, r->caller) == 0)
        return mishap_tell(
            mishap_validation("A principal cannot buy from itself; cancel the sale instead"),
            "artifact_id", id);
    if (listing.buyer[0] && strcmp(listing.buyer, r->caller) != 0)
        return mishap_tell(
            mishap_permission("The artifact %s is for sale to %s only", id.data, listing.buyer),
            "buyer", (const char *)listing.buyer);
    MISHAP_TRY(must_be_as_seen(r, &listing));
    MISHAP_TRY(artifacts_move(r, caller, mishap_text_of(listing.seller), listing.price, &left, NULL,
                              &short_of));
    if (short_of)
        return artifacts_too_little(r, MISHAP_RESOURCE, "the price is", listing.price, false);
    MISHAP_TRY(release_artifact(r, caller));
    mishap_json_put(&r->answer, "artifact_id", id);
    mishap_json_put(&r->answer, "seller", listing.seller);
    mishap_json_put(&r->answer, "buyer", r->caller);
    mishap_json_put(&r->answer, "price", listing.price);
    mishap_json_put(&r->answer, "balance", left);
    return NULL;
}

mishap *artifacts_escrow_cancel(artifacts_request *r)
{
    struct listing listing;
    MISHAP_TRY(must_be_listed(r, &listing));
    if (strcmp(listing.seller, r->caller) != 0)
        return mishap_tell(
            mishap_permission_as(NOT_OWNER, "Only %s can cancel this sale", listing.seller),
            "seller", (const char *)listing.seller);
    MISHAP_TRY(release_artifact(r, mishap_text_of(r->caller)));
    mishap_json_put(&r->answer, "artifact_id", r->args[0].text);
    mishap_json_put(&r->answer, "seller", r->caller);
    return NULL;
}

mishap *artifacts_escrow_check(artifacts_request *r)
{
    bool found = false;
    mishap_query query;
    begin_find(r, &query);
    while (mishap_query_step(&query)) {
        found = true;
        put_row(&r->answer, &query);
    }
    MISHAP_TRY(mishap_query_end(&query));
    return found ? NULL : not_listed(r);
}

mishap *artifacts_escrow_list(artifacts_request *r)
{
    mishap_query query;
    mishap_page page;
    mishap_query_begin(&query, r->store, ARTIFACTS_LISTING_LIST);
    mishap_json_put_array(&r->answer, "listings");
    for (mishap_page_begin(&page, &query, 1, ARTIFACTS_MOST_LISTED);
         mishap_page_step(&page, &query);) {
        mishap_json_put_object(&r->answer, NULL);
        put_row(&r->answer, &query);
        mishap_json_put_end(&r->answer, '}');
    }
    mishap_json_put_end(&r->answer, ']');
    if (page.more)
        mishap_json_put(&r->answer, "cut", true);
    return mishap_query_end(&query);
}
