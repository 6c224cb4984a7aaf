/* The tables of the store and every statement that is ever run on them. */
#ifndef ARTIFACTS_SCHEMA_H
#define ARTIFACTS_SCHEMA_H

#include <mishap/store.h>

extern const mishap_store_schema artifacts_schema;

/* Statements take their values by number, ?1 and so on. Times are milliseconds since 1970. */
typedef enum artifacts_statement {
    /* Accounts: of principals, and one of the mint. A balance includes what is held. */
    ARTIFACTS_ACCOUNT_ADD,    /* 1 id, 2 balance, 3 kind → id, unless it exists */
    ARTIFACTS_ACCOUNT_GET,    /* 1 id → balance, how much of it is held, kind */
    ARTIFACTS_ACCOUNT_LIST,   /* 1 limit → id, balance */
    ARTIFACTS_ACCOUNT_DEBIT,  /* 1 id, 2 amount → balance, if enough of it is not held */
    ARTIFACTS_ACCOUNT_CREDIT, /* 1 id, 2 amount → balance, if it exists and does not overflow */
    ARTIFACTS_ACCOUNT_HOLD, /* 1 id, 2 amount instead of what is held → id, if there is enough */
    ARTIFACTS_ACCOUNT_RELEASE, /* of all who have bid */

    ARTIFACTS_ADD,   /* 1 id, 2 type, 3 owner, 4 content, 5 code, 6 now → seq, unless it exists */
    ARTIFACTS_GET,   /* 1 id → id, type, owner, content, code, created, changed */
    ARTIFACTS_OWNER, /* 1 id → owner */
    ARTIFACTS_UPDATE, /* 1 id, 2 content, 3 code (NULL: as it is), 4 now */
    ARTIFACTS_DELETE, /* 1 id */
    ARTIFACTS_GIVE,   /* 1 id, 2 owner */
    ARTIFACTS_LIST,   /* 1 before, 2 limit → seq, id, type, owner, created; by filters: add … */
    ARTIFACTS_COUNT = ARTIFACTS_LIST + 4,      /* the same filters */
    ARTIFACTS_WORDS_ADD = ARTIFACTS_COUNT + 4, /* 1 id, after it was added or changed */
    ARTIFACTS_WORDS_REMOVE,                    /* 1 id, before it is changed or deleted */
    ARTIFACTS_HITS, /* 1 words, 2 most → how many, at most; PostgreSQL: 0 if it may be fewer */
    ARTIFACTS_BEST, /* 1 words, 2 limit → as ARTIFACTS_LIST, the best first; PostgreSQL: 3 most →
                       and how many there are, at most */
    ARTIFACTS_RECENT, /* 1 words, 2 limit, 3 among so many of the newest; PostgreSQL */
    ARTIFACTS_NEWEST, /* 1 words, 2 limit, 3 before → the newest first */

    ARTIFACTS_LISTING_ADD,    /* 1 artifact, 2 seller, 3 price, 4 buyer, 5 now */
    ARTIFACTS_LISTING_GET,    /* 1 artifact → artifact, seller, price, buyer, at, seq */
    ARTIFACTS_LISTING_REMOVE, /* 1 artifact */
    ARTIFACTS_LISTING_LIST,   /* 1 limit → as ARTIFACTS_LISTING_GET */

    ARTIFACTS_AUCTION_GET,   /* → closes, minted, bidders */
    ARTIFACTS_AUCTION_CLOSE, /* 1 when it closes; NULL: none is open */
    ARTIFACTS_AUCTION_MINT,  /* 1 amount that was made */
    ARTIFACTS_BID_ADD,       /* 1 bidder, 2 artifact, 3 amount */
    ARTIFACTS_BID_WITH,      /* 1 artifact → a row, if its owner bids with it */
    ARTIFACTS_BID_REMOVE,    /* 1 bidder */
    ARTIFACTS_BID_BEST,      /* → bidder, artifact, amount: the two best */
    ARTIFACTS_BID_CLEAR,
    ARTIFACTS_MINTED_ADD,  /* 1 artifact, 2 winner, 3 price, 4 score, 5 amount, 6 now */
    ARTIFACTS_MINTED_GET,  /* 1 artifact → artifact, winner, price, score, amount, at */
    ARTIFACTS_MINTED_LAST, /* the same of the last one */

    ARTIFACTS_EVENT_ADD,   /* 1 now, 2 caller, 3 artifact, 4 method, 5 result */
    ARTIFACTS_EVENT_ENDS,  /* → the first seq, the last; no row or NULL if there is none */
    ARTIFACTS_EVENT_OLD,   /* 1 seq, 2 time → the last seq before both, or NULL */
    ARTIFACTS_EVENT_PURGE, /* 1 seq: it and all before it */
    ARTIFACTS_EVENT_LIST,  /* 1 after, 2 limit → seq, at, caller, artifact, method, result */

    ARTIFACTS_KEPT_ADD, /* 1 caller, 2 key, 3 request, 4 answer, 5 now, 6 bytes of all that → key,
                           unless it exists */
    ARTIFACTS_KEPT_GET, /* 1 caller, 2 key → request, answer */
    ARTIFACTS_KEPT_PURGE,   /* 1 those before this time */
    ARTIFACTS_KEPT_CALLERS, /* → how many there are */
    ARTIFACTS_KEPT_OVER,    /* 1 bytes, 2 limit → caller, of those that have more */
    ARTIFACTS_KEPT_CUT,     /* 1 caller, 2 bytes: all but the newest so many */
    ARTIFACTS_CALL_ADD,     /* 1 id, 2 answer, 3 now */
    ARTIFACTS_CALL_GET,     /* 1 id → answer */
    ARTIFACTS_CALL_PURGE,   /* 1 those before this time */
    ARTIFACTS_STATEMENTS,
} artifacts_statement;

/* Filters for lists and counts of artifacts. */
enum {
    ARTIFACTS_BY_TYPE = 1,  /* 3 type */
    ARTIFACTS_BY_OWNER = 2, /* 4 owner */
};

#endif
