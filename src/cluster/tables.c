/*
 * The tables and statements.
 *
 *     state    one row: what counts for all keys
 *     keys     API keys: names, SHA-256 of the keys, scopes
 *     blocks   callers that are refused
 *     secrets  what proves the ids of MCP sessions
 *     timelines  the highest timeline of each PostgreSQL that a server has used
 *     servers  who is alive, the number of its last notice, and its part of what is divided
 *     divided  since when the parts in `servers` are complete
 *     leases   for each caller the time up to which it has used its allowance (server/rate.c)
 *     notices  the addresses that have changed at a server, each with a NUL behind it; a notice has
 *              the changes behind the number `since`, up to the number `changes`
 *     used     states of questions of destructive operations that were used
 *     sessions the level and the subscriptions of MCP sessions
 *     events   the events of their streams
 *
 * Servers, divided, leases, notices and events are not logged: writing them waits for no disk and
 * no standby. After a crash or a failover they are empty, which readers notice by the numbers.
 */
#include "cluster/inside.h"

/* clang-format off */
static const char *const postgresql[] = {
    "CREATE TABLE state (one integer PRIMARY KEY CHECK (one = 1), keys_version bigint NOT NULL,"
    " keys_used boolean NOT NULL, keys_disabled boolean NOT NULL);"
    "INSERT INTO state VALUES (1, 1, false, false);"
    "CREATE TABLE keys (name text PRIMARY KEY, hash bytea NOT NULL UNIQUE,"
    " created timestamptz NOT NULL DEFAULT now(), scopes text NOT NULL);"
    "CREATE TABLE secrets (purpose text PRIMARY KEY, secret bytea NOT NULL);"
    "CREATE UNLOGGED TABLE servers (id bigint PRIMARY KEY, name text NOT NULL,"
    " last bigint NOT NULL, begun timestamptz NOT NULL DEFAULT now(),"
    " seen timestamptz NOT NULL DEFAULT now());"
    "CREATE UNLOGGED TABLE notices (server bigint NOT NULL, n bigint NOT NULL,"
    " made timestamptz NOT NULL DEFAULT now(), addresses bytea NOT NULL,"
    " PRIMARY KEY (server, n))",
    "CREATE TABLE timelines (system text COLLATE \"C\" PRIMARY KEY, timeline bigint NOT NULL)",
    /* The server that makes the tables knows that no other has a part. */
    "ALTER TABLE servers ADD COLUMN part bigint NOT NULL DEFAULT 0;"
    "CREATE UNLOGGED TABLE divided (one integer PRIMARY KEY CHECK (one = 1),"
    " since timestamptz NOT NULL DEFAULT now());"
    "INSERT INTO divided VALUES (1, '-infinity');"
    "CREATE UNLOGGED TABLE leases (place bigint PRIMARY KEY, used bigint NOT NULL,"
    " asked bigint NOT NULL, granted bigint NOT NULL) WITH (fillfactor = 50)",
    "CREATE TABLE blocks (name text PRIMARY KEY, since timestamptz NOT NULL DEFAULT now())",
    "ALTER TABLE servers ADD COLUMN changes bigint NOT NULL DEFAULT 0;"
    "ALTER TABLE notices ADD COLUMN since bigint NOT NULL DEFAULT 0;"
    "ALTER TABLE notices ADD COLUMN changes bigint NOT NULL DEFAULT 0;"
    "CREATE TABLE sessions (key bytea PRIMARY KEY, holder bigint NOT NULL,"
    " state bytea NOT NULL, seen timestamptz NOT NULL DEFAULT now());"
    "CREATE INDEX sessions_of_holder ON sessions (holder, seen);"
    "CREATE UNLOGGED TABLE events (session bytea, stream bigint, place bigint,"
    " holder bigint NOT NULL, server bigint NOT NULL, flags bigint NOT NULL,"
    " scopes bigint NOT NULL, data bytea NOT NULL, made timestamptz NOT NULL DEFAULT now(),"
    " PRIMARY KEY (session, stream, place));"
    "CREATE INDEX events_by_time ON events (made)",
    "CREATE TABLE used (number bigint, expires bigint, made timestamptz NOT NULL DEFAULT now(),"
    " PRIMARY KEY (number, expires))",
    NULL,
};

static const mishap_statement statements[CLUSTER_STATEMENTS] = {
    [CLUSTER_STATE] = { .text = "SELECT keys_version, keys_used, keys_disabled FROM state"
                        " WHERE one = 1" },
    [CLUSTER_KEYS] = { .text = "SELECT name, hash, to_char(created AT TIME ZONE 'UTC',"
                       " 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'), scopes FROM keys"
                       " ORDER BY name LIMIT ?1::bigint" },
    /* One statement each, so that the version and the rows change together. */
    [CLUSTER_KEY_ADD] = { .text = "WITH added AS (INSERT INTO keys (name, hash, created, scopes)"
                          " VALUES (?1::text, ?2::bytea, coalesce(?3::timestamptz, now()), ?4::text)"
                          " ON CONFLICT DO NOTHING RETURNING name)"
                          " UPDATE state SET keys_version = keys_version + 1, keys_used = true,"
                          " keys_disabled = false WHERE one = 1 AND EXISTS (SELECT FROM added)"
                          " RETURNING keys_version", .writes = true },
    [CLUSTER_KEY_IS] = { .text = "SELECT 1 FROM keys WHERE name = ?1::text AND hash = ?2::bytea"
                         " AND scopes = ?3::text" },
    [CLUSTER_KEY_REMOVE] = { .text = "WITH gone AS (DELETE FROM keys WHERE name = ?1::text"
                             " RETURNING name)"
                             " UPDATE state SET keys_version = keys_version + 1, keys_used = true,"
                             " keys_disabled = false WHERE one = 1 AND EXISTS (SELECT FROM gone)"
                             " RETURNING keys_version", .writes = true },
    [CLUSTER_KEYS_DISABLE] = { .text = "UPDATE state SET keys_version = keys_version + 1,"
                               " keys_disabled = true WHERE one = 1 AND NOT EXISTS"
                               " (SELECT FROM keys) RETURNING keys_version", .writes = true },
    [CLUSTER_BLOCKS] = { .text = "SELECT name, to_char(since AT TIME ZONE 'UTC',"
                         " 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') FROM blocks"
                         " ORDER BY name LIMIT ?1::bigint" },
    [CLUSTER_BLOCK] = { .text = "WITH added AS (INSERT INTO blocks (name) VALUES (?1::text)"
                        " ON CONFLICT DO NOTHING RETURNING name)"
                        " UPDATE state SET keys_version = keys_version + 1"
                        " WHERE one = 1 AND EXISTS (SELECT FROM added)"
                        " RETURNING keys_version", .writes = true },
    [CLUSTER_UNBLOCK] = { .text = "WITH gone AS (DELETE FROM blocks WHERE name = ?1::text"
                          " RETURNING name)"
                          " UPDATE state SET keys_version = keys_version + 1"
                          " WHERE one = 1 AND EXISTS (SELECT FROM gone)"
                          " RETURNING keys_version", .writes = true },
    [CLUSTER_SECRET_ADD] = { .text = "INSERT INTO secrets VALUES ('mcp sessions', ?1::bytea)"
                             " ON CONFLICT DO NOTHING", .writes = true },
    [CLUSTER_SECRET] = { .text = "SELECT secret FROM secrets WHERE purpose = 'mcp sessions'" },
    [CLUSTER_TIMELINES] = { .text = "SELECT system, timeline FROM timelines LIMIT ?1::bigint" },
    /* It waits for no standby: directly after a failover there may be none, and what is lost is
     * told again. */
    [CLUSTER_TIMELINE_KEEP] = { .text = "WITH quick AS (SELECT set_config('synchronous_commit',"
                                " 'local', true)) INSERT INTO timelines AS t SELECT ?1::text,"
                                " ?2::bigint FROM quick ON CONFLICT (system) DO UPDATE"
                                " SET timeline = excluded.timeline"
                                " WHERE t.timeline < excluded.timeline", .writes = true },
    /* The first row of an empty table: servers that are alive may not have told their parts yet. */
    [CLUSTER_PARTS] = { .text = "SELECT count(*) FILTER (WHERE alive OR id = ?1::bigint),"
                        " coalesce(sum(part) FILTER (WHERE alive AND id <> ?1::bigint), 0)::bigint,"
                        " coalesce((SELECT since < now() - ?2::bigint * interval '1 ms'"
                        " FROM divided WHERE one = 1), false) FROM (SELECT id, part,"
                        " seen > now() - ?2::bigint * interval '1 ms' AS alive FROM servers) AS s" },
    [CLUSTER_PART_KEEP] = { .text = "UPDATE servers SET part = ?2::bigint WHERE id = ?1::bigint"
                            " RETURNING id", .writes = true },
    [CLUSTER_DIVIDED] = { .text = "INSERT INTO divided VALUES (1) ON CONFLICT DO NOTHING",
                          .writes = true },
    /* The word of rate.c. Rows are locked in the order of their places. A word that lies far ahead
     * is none: the clock of the database was set back. Directly after the table was emptied words
     * are missing, so nothing is leased for two seconds. */
    [CLUSTER_LEASE] = { .text = "INSERT INTO leases AS l (place, used, asked, granted)"
                        " SELECT place, asked + least(wanted, ?4::bigint / ?3::bigint)"
                        " * ?3::bigint, asked, least(wanted, ?4::bigint / ?3::bigint)"
                        " FROM (SELECT place, wanted, (extract(epoch FROM clock_timestamp())"
                        " * 1000000)::bigint * 1000 AS asked FROM unnest(?1::bigint[],"
                        " ?2::bigint[]) AS k(place, wanted) WHERE EXISTS (SELECT FROM divided"
                        " WHERE since < now() - interval '2 seconds') ORDER BY place) AS k"
                        " ON CONFLICT (place) DO UPDATE SET asked = excluded.asked,"
                        " granted = least(excluded.granted, (excluded.asked + ?4::bigint"
                        " - least(greatest(l.used, excluded.asked), excluded.asked"
                        " + ?4::bigint)) / ?3::bigint),"
                        " used = least(greatest(l.used, excluded.asked), excluded.asked"
                        " + ?4::bigint) + least(excluded.granted, (excluded.asked + ?4::bigint"
                        " - least(greatest(l.used, excluded.asked), excluded.asked"
                        " + ?4::bigint)) / ?3::bigint) * ?3::bigint"
                        " RETURNING l.place, l.granted", .writes = true },
    [CLUSTER_BEAT] = { .text = "INSERT INTO servers (id, name, last, part, changes)"
                       " VALUES (?1::bigint, ?2::text, ?3::bigint, ?4::bigint, ?5::bigint)"
                       " ON CONFLICT (id) DO UPDATE SET seen = now(), last = ?3::bigint,"
                       " changes = ?5::bigint, part = least(servers.part, ?4::bigint)"
                       " RETURNING substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)",
                       .writes = true },
    [CLUSTER_PEERS] = { .text = "SELECT id, last, seen < now() - interval '5 seconds', changes FROM servers"
                        " WHERE id <> ?1::bigint ORDER BY servers.seen DESC, id LIMIT ?2::bigint" },
    [CLUSTER_LEAVE] = { .text = "DELETE FROM servers WHERE id = ?1::bigint", .writes = true },
    [CLUSTER_PUBLISH] = { .text = "INSERT INTO notices (server, n, addresses, since, changes)"
                          " VALUES (?1::bigint, ?2::bigint, ?3::bytea, ?4::bigint, ?5::bigint)",
                          .writes = true },
    /* A server that is not named counts if it is alive: then its notices are those that the client
     * cannot know. What is known is read too, once: so a reader sees that nothing is missing. */
    [CLUSTER_HEAR_SINCE] = { .text = "SELECT t.server, t.n, t.addresses, t.since, t.changes"
                             " FROM notices t LEFT JOIN unnest(?1::bigint[], ?2::bigint[])"
                             " AS k(server, changes) ON k.server = t.server & 4294967295"
                             " WHERE t.changes >= k.changes OR (k.server IS NULL"
                             " AND t.server IN (SELECT id FROM servers))"
                             " ORDER BY t.server, t.n LIMIT ?3::bigint" },
    [CLUSTER_HEAR] = { .text = "SELECT t.server, t.n, t.addresses, t.since, t.changes"
                       " FROM unnest(?1::bigint[], ?2::bigint[]) AS k(server, last)"
                       " JOIN notices t ON t.server = k.server AND t.n > k.last"
                       " ORDER BY t.server, t.n LIMIT ?3::bigint" },
    [CLUSTER_PRUNE] = { .text = "DELETE FROM notices WHERE server = ?1::bigint"
                        " AND n <= ?2::bigint", .writes = true },
    [CLUSTER_PRUNE_SERVERS] = { .text = "DELETE FROM servers"
                                " WHERE seen < now() - interval '1 hour'", .writes = true },
    [CLUSTER_PRUNE_GONE] = { .text = "DELETE FROM notices WHERE made < now() - interval '1 hour'",
                             .writes = true },
    /* It waits for the standby: after a failover a state must not be used once more. */
    [CLUSTER_CLAIM] = { .text = "INSERT INTO used (number, expires) SELECT number, expires"
                        " FROM unnest(?1::bigint[], ?2::bigint[]) AS k(number, expires)"
                        " ORDER BY number, expires ON CONFLICT DO NOTHING"
                        " RETURNING number, expires", .writes = true },
    /* Clocks of servers differ. It waits for no standby. */
    [CLUSTER_PRUNE_CLAIMS] = { .text = "WITH quick AS (SELECT set_config('synchronous_commit',"
                               " 'local', true)) DELETE FROM used USING quick"
                               " WHERE made < now() - interval '1 hour' AND expires <"
                               " (extract(epoch FROM now()) * 1000)::bigint - 3600000",
                               .writes = true },
    /* It waits for no standby: a subscription that is lost with a primary is made again by its
     * client. */
    [CLUSTER_SESSION_KEEP] = { .text = "WITH quick AS (SELECT set_config('synchronous_commit',"
                               " 'local', true)) INSERT INTO sessions (key, holder, state)"
                               " SELECT ?1::bytea, ?2::bigint, ?3::bytea FROM quick"
                               " ON CONFLICT (key) DO UPDATE SET holder = excluded.holder,"
                               " state = excluded.state, seen = now()", .writes = true },
    [CLUSTER_SESSION_TRIM] = { .text = "WITH quick AS (SELECT set_config('synchronous_commit',"
                               " 'local', true)) DELETE FROM sessions USING quick"
                               " WHERE key IN (SELECT key FROM sessions WHERE holder = ?1::bigint"
                               " ORDER BY seen DESC OFFSET ?2::bigint)", .writes = true },
    [CLUSTER_SESSION] = { .text = "SELECT state FROM sessions WHERE key = ?1::bytea" },
    [CLUSTER_EVENT_KEEP] = { .text = "INSERT INTO events (session, stream, place, holder, server,"
                             " flags, scopes, data) VALUES (?1::bytea, ?2::bigint, ?3::bigint,"
                             " ?4::bigint, ?5::bigint, ?6::bigint, ?7::bigint, ?8::bytea)"
                             " ON CONFLICT DO NOTHING", .writes = true, .later = true },
    [CLUSTER_EVENTS] = { .text = "SELECT stream, place, holder, server, flags, scopes, data"
                         " FROM events WHERE session = ?1::bytea AND stream = ?2::bigint"
                         " AND (place = 0 OR place > ?3::bigint) ORDER BY place LIMIT ?4::bigint" },
    [CLUSTER_PRUNE_SESSIONS] = { .text = "DELETE FROM sessions"
                                 " WHERE seen < now() - interval '1 day'", .writes = true },
    [CLUSTER_PRUNE_EVENTS] = { .text = "DELETE FROM events"
                               " WHERE made < now() - interval '5 minutes'", .writes = true },
    /* A caller has four megabytes of events. */
    [CLUSTER_TRIM_EVENTS] = { .text = "DELETE FROM events e USING (SELECT session, stream, place,"
                              " sum(length(data)) OVER (PARTITION BY holder ORDER BY made DESC,"
                              " stream DESC, place DESC) AS bytes FROM events) AS k"
                              " WHERE k.bytes > 4194304 AND e.session = k.session"
                              " AND e.stream = k.stream AND e.place = k.place", .writes = true },
};
/* clang-format on */

const mishap_store_schema mishap_cluster_schema = {
    .name = "mishap",
    .postgresql = postgresql,
    .statements = statements,
    .statement_count = CLUSTER_STATEMENTS,
};
