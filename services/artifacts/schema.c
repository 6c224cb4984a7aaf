/* Tables and SQL statements, as data. */
#include "artifacts/schema.h"

/* In version 1 all bids were in the account of the mint, and a bidder could give its artifact away:
 * such bids, which did not count, are paid back. */
#define VOID_BID                                                                                   \
    " WHERE NOT EXISTS (SELECT 1 FROM artifacts a WHERE a.id = bids.artifact"                      \
    " AND a.owner = bids.bidder)"
#define HOLD_BIDS                                                                                  \
    "UPDATE accounts SET balance = balance - (SELECT coalesce(sum(amount), 0) FROM bids)"          \
    " WHERE id = 'genesis_mint';"                                                                  \
    "UPDATE accounts SET balance = balance + (SELECT amount FROM bids WHERE bidder = accounts.id)" \
    " WHERE id IN (SELECT bidder FROM bids" VOID_BID ");"                                          \
    "DELETE FROM bids" VOID_BID ";"                                                                \
    "UPDATE accounts SET held = (SELECT amount FROM bids WHERE bidder = accounts.id)"              \
    " WHERE id IN (SELECT bidder FROM bids);"

/* Answers of version 1 expire after a day, so their sizes may be wrong until then. */
#define KEPT_SIZES                                                                                 \
    "ALTER TABLE kept ADD COLUMN size INTEGER NOT NULL DEFAULT 1000;"                              \
    "CREATE INDEX kept_by_caller ON kept (caller, at, size);"

/*
 * All scrip is in `accounts`: `balance` can be spent, `held` is the bid of a principal until the
 * auction ends. What others are told of an account is the sum of the two, which a bid does not
 * change. So no other caller sees a bid, and the sum of all accounts changes only when the mint
 * makes scrip.
 *
 * The table `words` has no triggers that keep it up to date: SQLite lets none of them write to a
 * virtual table while it does not trust the schema of a file.
 */
static const char *const sqlite[] = {
    "CREATE TABLE accounts ("
    " id TEXT PRIMARY KEY,"
    " balance INTEGER NOT NULL CHECK (balance >= 0),"
    " kind TEXT NOT NULL"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE artifacts ("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " id TEXT NOT NULL UNIQUE,"
    " type TEXT NOT NULL,"
    " owner TEXT NOT NULL,"
    " content TEXT NOT NULL,"
    " code TEXT,"
    " created INTEGER NOT NULL,"
    " changed INTEGER NOT NULL"
    ") STRICT;"
    "CREATE INDEX artifacts_by_type ON artifacts (type, seq);"
    "CREATE INDEX artifacts_by_owner ON artifacts (owner, seq);"
    "CREATE VIRTUAL TABLE words USING fts5 (id, type, content, code,"
    " content = 'artifacts', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 0');"

    "CREATE TABLE listings ("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " artifact TEXT NOT NULL UNIQUE REFERENCES artifacts (id),"
    " seller TEXT NOT NULL,"
    " price INTEGER NOT NULL CHECK (price > 0),"
    " buyer TEXT,"
    " at INTEGER NOT NULL"
    ") STRICT;"

    "CREATE TABLE auction ("
    " one INTEGER PRIMARY KEY CHECK (one = 1),"
    " closes INTEGER,"
    " minted INTEGER NOT NULL"
    ") STRICT;"
    "INSERT INTO auction VALUES (1, NULL, 0);"
    "CREATE TABLE bids ("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " bidder TEXT NOT NULL UNIQUE,"
    " artifact TEXT NOT NULL,"
    " amount INTEGER NOT NULL CHECK (amount > 0)"
    ") STRICT;"
    "CREATE TABLE minted ("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " artifact TEXT NOT NULL UNIQUE,"
    " winner TEXT NOT NULL,"
    " price INTEGER NOT NULL,"
    " score INTEGER NOT NULL,"
    " amount INTEGER NOT NULL,"
    " at INTEGER NOT NULL"
    ") STRICT;"

    "CREATE TABLE events ("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " at INTEGER NOT NULL,"
    " caller TEXT,"
    " artifact TEXT NOT NULL,"
    " method TEXT NOT NULL,"
    " result TEXT NOT NULL"
    ") STRICT;"

    "CREATE TABLE kept ("
    " caller TEXT NOT NULL,"
    " key TEXT NOT NULL,"
    " request TEXT NOT NULL,"
    " answer TEXT NOT NULL,"
    " at INTEGER NOT NULL,"
    " PRIMARY KEY (caller, key)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE INDEX kept_by_time ON kept (at);"
    "CREATE TABLE calls ("
    " id TEXT PRIMARY KEY,"
    " answer TEXT NOT NULL,"
    " at INTEGER NOT NULL"
    ") STRICT, WITHOUT ROWID;"
    "CREATE INDEX calls_by_time ON calls (at);",

    "ALTER TABLE accounts ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0);" HOLD_BIDS
        KEPT_SIZES,
    NULL,
};

/* PostgreSQL takes words with punctuation in them for hosts, paths and numbers; SQLite does not. */
#define WORDS_OF(column, weight)                                                                   \
    " setweight(to_tsvector('simple', translate(" column ","                                       \
    " '!\"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~', repeat(' ', 32))), '" weight "')"
/* clang-format off */
#define WORDS                                                                                      \
    WORDS_OF("id", "A") " ||" WORDS_OF("type", "B") " ||" WORDS_OF("content", "C") " ||"           \
    WORDS_OF("coalesce(code, '')", "D")
/* clang-format on */

static const char *const postgresql[] = {
    "CREATE TABLE accounts ("
    " id text PRIMARY KEY,"
    " balance bigint NOT NULL CHECK (balance >= 0),"
    " kind text NOT NULL"
    ");"

    "CREATE TABLE artifacts ("
    " seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " id text NOT NULL UNIQUE,"
    " type text NOT NULL,"
    " owner text NOT NULL,"
    " content text NOT NULL,"
    " code text,"
    " created bigint NOT NULL,"
    " changed bigint NOT NULL,"
    " words tsvector NOT NULL GENERATED ALWAYS AS (" WORDS ") STORED"
    ");"
    "CREATE INDEX artifacts_by_type ON artifacts (type, seq);"
    "CREATE INDEX artifacts_by_owner ON artifacts (owner, seq);"
    "CREATE INDEX artifacts_by_words ON artifacts USING gin (words);"

    "CREATE TABLE listings ("
    " seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " artifact text NOT NULL UNIQUE REFERENCES artifacts (id),"
    " seller text NOT NULL,"
    " price bigint NOT NULL CHECK (price > 0),"
    " buyer text,"
    " at bigint NOT NULL"
    ");"

    "CREATE TABLE auction ("
    " one int PRIMARY KEY CHECK (one = 1),"
    " closes bigint,"
    " minted bigint NOT NULL"
    ");"
    "INSERT INTO auction VALUES (1, NULL, 0);"
    "CREATE TABLE bids ("
    " seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " bidder text NOT NULL UNIQUE,"
    " artifact text NOT NULL,"
    " amount bigint NOT NULL CHECK (amount > 0)"
    ");"
    "CREATE TABLE minted ("
    " seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " artifact text NOT NULL UNIQUE,"
    " winner text NOT NULL,"
    " price bigint NOT NULL,"
    " score bigint NOT NULL,"
    " amount bigint NOT NULL,"
    " at bigint NOT NULL"
    ");"

    "CREATE TABLE events ("
    " seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " at bigint NOT NULL,"
    " caller text,"
    " artifact text NOT NULL,"
    " method text NOT NULL,"
    " result text NOT NULL"
    ");"

    "CREATE TABLE kept ("
    " caller text NOT NULL,"
    " key text NOT NULL,"
    " request text NOT NULL,"
    " answer text NOT NULL,"
    " at bigint NOT NULL,"
    " PRIMARY KEY (caller, key)"
    ");"
    "CREATE INDEX kept_by_time ON kept (at);"
    "CREATE TABLE calls ("
    " id text PRIMARY KEY,"
    " answer text NOT NULL,"
    " at bigint NOT NULL"
    ");"
    "CREATE INDEX calls_by_time ON calls (at);",

    "ALTER TABLE accounts ADD COLUMN held bigint NOT NULL DEFAULT 0 CHECK (held >= 0);"
    "ALTER TABLE accounts SET (fillfactor = 20);" HOLD_BIDS KEPT_SIZES,
    NULL,
};

/* -- statements -------------------------------------------------------------------------------- */

/* clang-format off */
#define READ(sql) { .text = sql }
#define READ_AS(sql, other) { .text = sql, .postgresql = other }
#define CHANGE(sql) { .text = sql, .writes = true }
#define CHANGE_AS(sql, other) { .text = sql, .postgresql = other, .writes = true }
#define CHANGE_LATER(sql) { .text = sql, .writes = true, .later = true }
#define NO_CHANGE "SELECT ?1::text" /* the column `words` is generated by the database */
#define ROW "seq, id, type, owner, created"
#define ROW_OF_HIT "a.seq, a.id, a.type, a.owner, a.created"
#define LIST(by) READ("SELECT " ROW " FROM artifacts WHERE " by "seq < ?1 ORDER BY seq DESC LIMIT ?2")
#define COUNT(by) READ("SELECT count(*) FROM artifacts WHERE " by "TRUE")
#define LISTING "artifact, seller, price, buyer, at, seq"
#define MINTED "artifact, winner, price, score, amount, at"
/* On PostgreSQL hits are sorted by one number that combines rank and `seq`, since sorting rows
 * takes far longer. The query is made once, not for each hit. */
#define SHIFT "4398046511104"
#define ONE_QUERY "(SELECT to_tsquery('simple', ?1))"
#define SURELY_MANY "200" /* hits in every 200th page: about 40,000 in all */
/* clang-format on */

static const mishap_statement statements[ARTIFACTS_STATEMENTS] = {
    [ARTIFACTS_ACCOUNT_ADD] = CHANGE("INSERT INTO accounts (id, balance, kind) VALUES (?1, ?2, ?3)"
                                     " ON CONFLICT (id) DO NOTHING RETURNING id"),
    [ARTIFACTS_ACCOUNT_GET] = READ("SELECT balance + held, held, kind FROM accounts WHERE id = ?1"),
    [ARTIFACTS_ACCOUNT_LIST] = READ_AS(
        "SELECT id, balance + held FROM accounts ORDER BY id LIMIT ?1",
        "SELECT id, balance + held FROM accounts ORDER BY id COLLATE \"C\" LIMIT ?1"),
    [ARTIFACTS_ACCOUNT_DEBIT] = CHANGE("UPDATE accounts SET balance = balance - ?2"
                                       " WHERE id = ?1 AND balance >= ?2 RETURNING balance + held"),
    [ARTIFACTS_ACCOUNT_CREDIT] = CHANGE(
        "UPDATE accounts SET balance = balance + ?2"
        " WHERE id = ?1 AND balance + held <= 9223372036854775807 - ?2 RETURNING balance + held"),
    [ARTIFACTS_ACCOUNT_HOLD] = CHANGE("UPDATE accounts SET balance = balance + held - ?2, held = ?2"
                                      " WHERE id = ?1 AND balance + held >= ?2 RETURNING id"),
    [ARTIFACTS_ACCOUNT_RELEASE] = CHANGE("UPDATE accounts SET balance = balance + held, held = 0"
                                         " WHERE id IN (SELECT bidder FROM bids)"),

    [ARTIFACTS_ADD] = CHANGE(
        "INSERT INTO artifacts (id, type, owner, content, code, created, changed)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) ON CONFLICT (id) DO NOTHING RETURNING seq"),
    [ARTIFACTS_GET] = READ("SELECT id, type, owner, content, code, created, changed"
                           " FROM artifacts WHERE id = ?1"),
    [ARTIFACTS_OWNER] = READ("SELECT owner FROM artifacts WHERE id = ?1"),
    [ARTIFACTS_UPDATE] = CHANGE("UPDATE artifacts SET content = ?2, code = coalesce(?3, code),"
                                " changed = ?4 WHERE id = ?1"),
    [ARTIFACTS_DELETE] = CHANGE("DELETE FROM artifacts WHERE id = ?1"),
    [ARTIFACTS_GIVE] = CHANGE("UPDATE artifacts SET owner = ?2 WHERE id = ?1"),
    [ARTIFACTS_LIST] = LIST(""),
    [ARTIFACTS_LIST + ARTIFACTS_BY_TYPE] = LIST("type = ?3 AND "),
    [ARTIFACTS_LIST + ARTIFACTS_BY_OWNER] = LIST("owner = ?4 AND "),
    [ARTIFACTS_LIST + ARTIFACTS_BY_TYPE +
        ARTIFACTS_BY_OWNER] = LIST("type = ?3 AND owner = ?4 AND "),
    [ARTIFACTS_COUNT] = COUNT(""),
    [ARTIFACTS_COUNT + ARTIFACTS_BY_TYPE] = COUNT("type = ?3 AND "),
    [ARTIFACTS_COUNT + ARTIFACTS_BY_OWNER] = COUNT("owner = ?4 AND "),
    [ARTIFACTS_COUNT + ARTIFACTS_BY_TYPE +
        ARTIFACTS_BY_OWNER] = COUNT("type = ?3 AND owner = ?4 AND "),
    [ARTIFACTS_WORDS_ADD] = CHANGE_AS("INSERT INTO words (rowid, id, type, content, code) SELECT"
                                      " seq, id, type, content, code FROM artifacts WHERE id = ?1",
                                      NO_CHANGE),
    [ARTIFACTS_WORDS_REMOVE] = CHANGE_AS(
        "INSERT INTO words (words, rowid, id, type, content, code) SELECT"
        " 'delete', seq, id, type, content, code FROM artifacts WHERE id = ?1",
        NO_CHANGE),
    [ARTIFACTS_HITS] = READ_AS(
        "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT ?2)",
        "SELECT CASE WHEN count(*) >= " SURELY_MANY " THEN ?2::bigint ELSE 0 END"
        " FROM artifacts TABLESAMPLE SYSTEM (0.5) REPEATABLE (1)"
        " WHERE words @@ to_tsquery('simple', ?1)"),
    [ARTIFACTS_BEST] = READ_AS(
        "SELECT " ROW_OF_HIT " FROM (SELECT hit, worth FROM (SELECT rowid AS hit, rank AS worth"
        " FROM words WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT ?3)"
        " ORDER BY worth, hit DESC LIMIT ?2) JOIN artifacts a ON a.seq = hit"
        " ORDER BY worth, hit DESC",
        "SELECT " ROW_OF_HIT ", hits FROM (SELECT count(*) AS hits, array_agg(key ORDER BY key"
        " DESC) AS keys FROM (SELECT (ts_rank(words, " ONE_QUERY ") * 1048575)::bigint * " SHIFT
        " + seq AS key FROM artifacts WHERE words @@ " ONE_QUERY " LIMIT ?3) hit) best,"
        " unnest(keys[1:?2]) AS key JOIN artifacts a ON a.seq = key % " SHIFT " ORDER BY key DESC"),
    [ARTIFACTS_RECENT] = READ_AS(
        "SELECT 0 WHERE ?1 IS NULL AND ?2 IS NULL AND ?3 IS NULL",
        "SELECT " ROW_OF_HIT " FROM (SELECT * FROM artifacts ORDER BY seq DESC LIMIT ?3) a"
        " WHERE a.words @@ to_tsquery('simple', ?1) ORDER BY a.seq DESC LIMIT ?2"),
    [ARTIFACTS_NEWEST] = READ_AS(
        "SELECT " ROW_OF_HIT " FROM words JOIN artifacts a ON a.seq = words.rowid"
        " WHERE words MATCH ?1 AND words.rowid < ?3 ORDER BY words.rowid DESC LIMIT ?2",
        "SELECT " ROW_OF_HIT " FROM artifacts a WHERE a.words @@ to_tsquery('simple', ?1)"
        " AND a.seq < ?3 ORDER BY a.seq + 0 DESC LIMIT ?2"),

    [ARTIFACTS_LISTING_ADD] = CHANGE("INSERT INTO listings (artifact, seller, price, buyer, at)"
                                     " VALUES (?1, ?2, ?3, ?4, ?5)"),
    [ARTIFACTS_LISTING_GET] = READ("SELECT " LISTING " FROM listings WHERE artifact = ?1"),
    [ARTIFACTS_LISTING_REMOVE] = CHANGE("DELETE FROM listings WHERE artifact = ?1"),
    [ARTIFACTS_LISTING_LIST] = READ("SELECT " LISTING " FROM listings ORDER BY seq DESC LIMIT ?1"),

    [ARTIFACTS_AUCTION_GET] = READ("SELECT closes, minted, (SELECT count(*) FROM bids)"
                                   " FROM auction"),
    [ARTIFACTS_AUCTION_CLOSE] = CHANGE("UPDATE auction SET closes = ?1"),
    [ARTIFACTS_AUCTION_MINT] = CHANGE("UPDATE auction SET minted = minted + ?1"),
    [ARTIFACTS_BID_ADD] = CHANGE("INSERT INTO bids (bidder, artifact, amount) VALUES (?1, ?2, ?3)"),
    [ARTIFACTS_BID_WITH] = READ("SELECT 1 FROM bids b JOIN artifacts a ON a.owner = b.bidder"
                                " WHERE a.id = ?1 AND b.artifact = ?1"),
    [ARTIFACTS_BID_REMOVE] = CHANGE("DELETE FROM bids WHERE bidder = ?1"),
    [ARTIFACTS_BID_BEST] = READ("SELECT bidder, artifact, amount FROM bids"
                                " ORDER BY amount DESC, seq LIMIT 2"),
    [ARTIFACTS_BID_CLEAR] = CHANGE("DELETE FROM bids"),
    [ARTIFACTS_MINTED_ADD] = CHANGE("INSERT INTO minted (" MINTED
                                    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6)"),
    [ARTIFACTS_MINTED_GET] = READ("SELECT " MINTED " FROM minted WHERE artifact = ?1"),
    [ARTIFACTS_MINTED_LAST] = READ("SELECT " MINTED " FROM minted ORDER BY seq DESC LIMIT 1"),

    [ARTIFACTS_EVENT_ADD] = CHANGE_LATER("INSERT INTO events (at, caller, artifact, method, result)"
                                         " VALUES (?1, ?2, ?3, ?4, ?5)"),
    [ARTIFACTS_EVENT_ENDS] = READ("SELECT min(seq), (SELECT max(seq) FROM events) FROM events"),
    [ARTIFACTS_EVENT_OLD] = READ("SELECT max(seq) FROM events WHERE seq < ?1 AND at < ?2"),
    [ARTIFACTS_EVENT_PURGE] = CHANGE("DELETE FROM events WHERE seq <= ?1"),
    [ARTIFACTS_EVENT_LIST] = READ("SELECT seq, at, caller, artifact, method, result FROM events"
                                  " WHERE seq > ?1 ORDER BY seq LIMIT ?2"),

    [ARTIFACTS_KEPT_ADD] = CHANGE("INSERT INTO kept (caller, key, request, answer, at, size)"
                                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
                                  " ON CONFLICT (caller, key) DO NOTHING RETURNING key"),
    [ARTIFACTS_KEPT_GET] = READ("SELECT request, answer FROM kept WHERE caller = ?1 AND key = ?2"),
    [ARTIFACTS_KEPT_PURGE] = CHANGE("DELETE FROM kept WHERE at < ?1"),
    [ARTIFACTS_KEPT_CALLERS] = READ("SELECT count(DISTINCT caller) FROM kept"),
    [ARTIFACTS_KEPT_OVER] = READ("SELECT caller FROM kept GROUP BY caller HAVING sum(size) > ?1"
                                 " ORDER BY sum(size) DESC LIMIT ?2"),
    [ARTIFACTS_KEPT_CUT] = CHANGE(
        "DELETE FROM kept WHERE caller = ?1 AND at <= (SELECT max(at) FROM (SELECT at, sum(size)"
        " OVER (ORDER BY at DESC, key ROWS UNBOUNDED PRECEDING) AS newer FROM kept"
        " WHERE caller = ?1) AS one WHERE newer > ?2)"),
    [ARTIFACTS_CALL_ADD] = CHANGE_LATER("INSERT INTO calls (id, answer, at) VALUES (?1, ?2, ?3)"),
    [ARTIFACTS_CALL_GET] = READ("SELECT answer FROM calls WHERE id = ?1"),
    [ARTIFACTS_CALL_PURGE] = CHANGE("DELETE FROM calls WHERE at < ?1"),
};

const mishap_store_schema artifacts_schema = {
    .name = "artifacts",
    .sqlite = sqlite,
    .postgresql = postgresql,
    .statements = statements,
    .statement_count = ARTIFACTS_STATEMENTS,
};
