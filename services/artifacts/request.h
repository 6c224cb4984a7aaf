/* One invoke: the request and its answer. Every file of the service uses it. */
#ifndef ARTIFACTS_REQUEST_H
#define ARTIFACTS_REQUEST_H

#include <mishap/json.h>

#include "artifacts/artifacts.h"
#include "artifacts/schema.h"

enum {
    ARTIFACTS_MOST_ARGUMENTS = 4,
    ARTIFACTS_LONGEST_NAME = 63,
    ARTIFACTS_LONGEST_TEXT = 64 << 10, /* bytes of a content or a code */
    ARTIFACTS_MOST_LISTED = 100,
};

/* The one account that belongs to no principal, and the owner of what is for sale. */
#define ARTIFACTS_MINT   "genesis_mint"
#define ARTIFACTS_ESCROW "genesis_escrow"

/* An argument after the checks. */
typedef struct artifacts_value {
    bool given;
    mishap_text text; /* of a name or a text; ends with NUL */
    int64_t integer;
} artifacts_value;

typedef struct artifacts_request {
    mishap_call *call;
    mishap_store *store;
    const char *artifact;
    const struct artifacts_method *method; /* NULL: the code of an artifact is run */
    const char *method_name;
    const char *caller;  /* NULL: a caller without a name */
    const char *key;     /* idempotency; NULL: none */
    bool store_is_sound; /* the failure came from code, not from the store */
    int64_t now;         /* milliseconds since 1970 */
    artifacts_value args[ARTIFACTS_MOST_ARGUMENTS];
    mishap_buffer answer; /* JSON */
    mishap_buffer event;  /* what the log records of it, if that is not the answer */
} artifacts_request;

/* -- request.c --------------------------------------------------------------------------------- */

/* Make the request of a call: the first step of each handler. */
artifacts_request *artifacts_request_begin(mishap_call *call);

/* Milliseconds since 1970. */
int64_t artifacts_now(void);

/* Run a statement with bound values to its end; *found: it had a row. The values of the last row
 * are not kept. */
mishap *artifacts_run(mishap_query *query, bool *found);

/* True if the name is reserved for genesis artifacts. */
bool artifacts_is_reserved(const char *name);

/* True if the store is SQLite: then calls are settled in batches. The service sets it. */
bool artifacts_is_embedded(void);
void artifacts_embed(bool is_embedded);

/* -- answer.c ---------------------------------------------------------------------------------- */

/* The answer is written with mishap/json.h. A lack of memory is found at its end. */
void artifacts_answer_begin(artifacts_request *r); /* {"success":true */
void artifacts_answer_end(artifacts_request *r);
void artifacts_put_time(mishap_buffer *b, const char *key, int64_t ms); /* RFC 3339 */

/* Keep a name of the store beyond the step of its query. */
static inline void artifacts_copy_name(char to[ARTIFACTS_LONGEST_NAME + 1], mishap_text name)
{
    size_t length = name.length <= ARTIFACTS_LONGEST_NAME ? name.length : ARTIFACTS_LONGEST_NAME;
    if (length)
        memcpy(to, name.data, length);
    to[length] = '\0';
}

/* -- methods.c --------------------------------------------------------------------------------- */

typedef enum artifacts_type {
    ARTIFACTS_NAME,    /* of a principal or an artifact */
    ARTIFACTS_TEXT,    /* up to ARTIFACTS_LONGEST_TEXT bytes */
    ARTIFACTS_WORD,    /* any short text */
    ARTIFACTS_INTEGER, /* of 64 bits */
    ARTIFACTS_FILTER,  /* an object, which its method reads itself */
} artifacts_type;

typedef struct artifacts_argument {
    const char *name;
    artifacts_type type;
    bool optional;
} artifacts_argument;

typedef struct artifacts_method {
    const char *name;
    artifacts_argument arguments[ARTIFACTS_MOST_ARGUMENTS + 1]; /* ends with { 0 } */
    mishap *(*run)(artifacts_request *r);
    bool writes; /* only principals may call it, and it is recorded in the log of events */
    bool tends;  /* an auction whose time is over is ended first */
    bool system; /* only for the program itself */
    bool apart;  /* it only reads, and may take long: no other call should wait for it */
} artifacts_method;

typedef struct artifacts_genesis {
    const char *id;
    const artifacts_method *methods; /* ends with { 0 } */
} artifacts_genesis;

/* The genesis artifact of this id; NULL: it is none. */
const artifacts_genesis *artifacts_genesis_find(const char *id);

/* NOT_FOUND, with the names of those that exist. */
mishap *artifacts_method_find(const artifacts_genesis *genesis, const char *name,
                              const artifacts_method **method);

/* Check the arguments of the call, and read them into the request: MISSING_ARGUMENT, INVALID_TYPE,
 * INVALID_ARGUMENT. */
mishap *artifacts_arguments_read(artifacts_request *r);

/* -- what methods share ------------------------------------------------------------------------ */

/* accounts.c: an account of a principal. NOT_FOUND if there is none. */
mishap *artifacts_principal_must_exist(artifacts_request *r, mishap_text id);

/* accounts.c: take from an account; add to an account. *balance: the balance afterwards, including
 * what is held (may be NULL). If too little of the account is free, *short_of is set and nothing is
 * done: the caller of this function reports it in the right category (artifacts_too_little). */
mishap *artifacts_debit(artifacts_request *r, mishap_text id, int64_t amount, int64_t *balance,
                        bool *short_of);
mishap *artifacts_credit(artifacts_request *r, mishap_text id, int64_t amount, int64_t *balance);

/* accounts.c: both, in an order in which no two calls block each other. *left and *there: the
 * balances afterwards (may be NULL). If *short_of is set, the call must fail: the credit may have
 * been made already, and the failure undoes it. */
mishap *artifacts_move(artifacts_request *r, mishap_text from, mishap_text to, int64_t amount,
                       int64_t *left, int64_t *there, bool *short_of);

/* accounts.c: hold this amount of the caller's account, instead of what was held before. */
mishap *artifacts_hold(artifacts_request *r, int64_t amount, bool *short_of);

/* accounts.c: INSUFFICIENT_FUNDS of the caller. `needed_as`: "needed", "the price is". `also_held`:
 * the held amount could have been used, too. */
mishap *artifacts_too_little(artifacts_request *r, mishap_category category, const char *needed_as,
                             int64_t needed, bool also_held);

/* accounts.c: the members `balance` and, for its owner alone, `held` of an account. */
mishap *artifacts_put_account(artifacts_request *r, mishap_text id);

/* owners.c: an artifact must exist (NOT_FOUND) and be the caller's (NOT_OWNER). */
mishap *artifacts_no_artifact(mishap_text id);
mishap *artifacts_must_own(artifacts_request *r, mishap_text id, const char *what);
mishap *artifacts_owner_of(artifacts_request *r, mishap_text id, char owner[64]);
mishap *artifacts_give(artifacts_request *r, mishap_text id, mishap_text owner);

/* mint.c: CONFLICT if its owner bids with an artifact. */
mishap *artifacts_must_not_be_bid_with(artifacts_request *r, mishap_text id);

/* mint.c: end an auction whose time is over; or say whether it is over. */
mishap *artifacts_mint_is_due(artifacts_request *r, bool *due);
mishap *artifacts_mint_tend(artifacts_request *r);

/* score.c: 0 to 100, by the number of different words in these texts. */
int artifacts_score(mishap_text content, mishap_text code);

/* events.c */
mishap *artifacts_event_add(artifacts_request *r, const char *caller, const char *artifact,
                            const char *method, mishap_text result);
mishap *artifacts_events_answer(artifacts_request *r, int64_t after, int64_t limit);

/* kept.c: find an answer that was given before, by the key of the request or the id of the call.
 * CONFLICT: the key belongs to another request. */
mishap *artifacts_kept_find(artifacts_request *r, bool *found);
mishap *artifacts_kept_find_call(artifacts_request *r, bool *found);
/* … keep one; *stored: its size, if it has a key. */
mishap *artifacts_kept_add(artifacts_request *r, size_t *stored);
void artifacts_kept_purge(mishap_store *store, int64_t now);

/* events.c: remove all events but the newest so many, and all before a time. */
void artifacts_events_purge(mishap_store *store, int64_t most, int64_t before);

/* purge.c: count a call that has stored so many bytes, and remove old rows if it is time to. */
void artifacts_purge_begin(int64_t most_events, int64_t days);
void artifacts_purge_note(size_t bytes);
void artifacts_purge_if_due(mishap_store *store, int64_t now);

/* executor.c: run the code of an artifact, outside of any transaction. */
mishap *artifacts_execute(artifacts_request *r);

/* executor.c: a trial that shows whether code can be run at all. */
mishap *artifacts_try_code(mishap_call *call);

/* caller.c: read who calls. The argument `caller` counts if a caller may name itself; otherwise it
 * must repeat the caller's name. */
mishap *artifacts_caller_read(artifacts_request *r);
mishap *artifacts_caller_must_be_principal(artifacts_request *r);

/* record.c: in a transaction, do the work of the method, write the event and store the answer,
 * which is complete. */
mishap *artifacts_record(artifacts_request *r);

/* genesis.c: the first principals and their scrip in a new store. `path`: a file that lists them;
 * NULL: alice and bob. */
mishap *artifacts_genesis_fill(mishap_store *store, const char *path);

/* The methods. */
mishap *artifacts_ledger_balance(artifacts_request *r);
mishap *artifacts_ledger_balances(artifacts_request *r);
mishap *artifacts_ledger_transfer(artifacts_request *r);
mishap *artifacts_ledger_give(artifacts_request *r);
mishap *artifacts_ledger_spawn(artifacts_request *r);
mishap *artifacts_mint_status(artifacts_request *r);
mishap *artifacts_mint_bid(artifacts_request *r);
mishap *artifacts_mint_check(artifacts_request *r);
mishap *artifacts_mint_resolve(artifacts_request *r);
mishap *artifacts_escrow_deposit(artifacts_request *r);
mishap *artifacts_escrow_purchase(artifacts_request *r);
mishap *artifacts_escrow_cancel(artifacts_request *r);
mishap *artifacts_escrow_check(artifacts_request *r);
mishap *artifacts_escrow_list(artifacts_request *r);
mishap *artifacts_store_list(artifacts_request *r);
mishap *artifacts_store_list_type(artifacts_request *r);
mishap *artifacts_store_list_owner(artifacts_request *r);
mishap *artifacts_store_get(artifacts_request *r);
mishap *artifacts_store_count(artifacts_request *r);
mishap *artifacts_store_search(artifacts_request *r);
mishap *artifacts_store_create(artifacts_request *r);
mishap *artifacts_store_update(artifacts_request *r);
mishap *artifacts_store_delete(artifacts_request *r);
mishap *artifacts_log_read(artifacts_request *r);

/* owners.c: rows of artifacts, as lists show them. */
void artifacts_put_row(mishap_buffer *b, mishap_query *query);

/* -- operations -------------------------------------------------------------------------------- */

mishap *artifacts_invoke(mishap_call *call);
mishap *artifacts_events(mishap_call *call);

#endif
