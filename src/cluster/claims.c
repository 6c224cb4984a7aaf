/* States of destructive operations that were used, by the numbers that they have. */
#include "base/buffer.h"
#include "cluster/inside.h"

/* While a standby is away, the process has other things to do than to wait for it. */
enum { ANSWER_MS = 3000 };

static void put_array(mishap_buffer *to, const mishap_cluster_claim *claims, size_t count,
                      bool expires)
{
    for (size_t i = 0; i < count; i++) {
        mishap_buffer_put_char(to, i ? ',' : '{');
        mishap_buffer_put_int(to, expires ? claims[i].expires_ms : claims[i].number);
    }
    MISHAP_PUT(to, "}");
}

/* Of two claims of the same state in one call, the row is for one. */
static void grant(mishap_cluster_claim *claims, size_t count, int64_t number, int64_t expires_ms)
{
    for (size_t i = 0; i < count; i++)
        if (claims[i].number == number && claims[i].expires_ms == expires_ms) {
            claims[i].first = true;
            return;
        }
}

mishap *mishap_cluster_claim_states(mishap_cluster *cluster, mishap_cluster_claim *claims,
                                    size_t count)
{
    char room[2][MISHAP_CLUSTER_CLAIMS * 21 + 2];
    mishap_buffer numbers, expiries;
    mishap_query query;
    for (size_t i = 0; i < count; i++)
        claims[i].first = false;
    if (count == 0)
        return NULL;
    mishap_buffer_init(&numbers, room[0], sizeof room[0]);
    mishap_buffer_init(&expiries, room[1], sizeof room[1]);
    put_array(&numbers, claims, count, false);
    put_array(&expiries, claims, count, true);
    mishap_store_limit_answers(cluster->store, ANSWER_MS);
    mishap_query_begin(&query, cluster->store, CLUSTER_CLAIM);
    mishap_query_bind_text(&query, 1, mishap_buffer_text(&numbers));
    mishap_query_bind_text(&query, 2, mishap_buffer_text(&expiries));
    while (mishap_query_step(&query))
        grant(claims, count, mishap_query_integer(&query, 0), mishap_query_integer(&query, 1));
    mishap *failure = mishap_query_end(&query);
    mishap_store_limit_answers(cluster->store, 0);
    for (size_t i = 0; i < count && failure; i++)
        claims[i].first = false;
    mishap_buffer_release(&numbers);
    mishap_buffer_release(&expiries);
    return failure;
}
