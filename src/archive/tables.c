/*
 * The tables of the archive and its statements.
 *
 *     servers       journals, and up to where each was read
 *     parts         partitions: a day, or a part of a day that became large
 *     kinds         what failures have in common; its key is a hash of all of it
 *     incidents     one row an incident; a whole one has its record, and `sum` is a hash of that,
 * else 0: two records with one id are both kept, and a line that comes again is not minutes, hours,
 * caller_hours   counts; partitions, too groups, history, totals        as groups.sqlite has them
 * (src/index)
 *
 * The four tables with partitions are partitioned by the same number: day × 1,000,000 + part. A
 * part is made and dropped by functions, since PostgreSQL takes no values in such statements.
 */
#include "archive/archive.h"

#define PARTS "1000000"

/* clang-format off */
static const char first_version[] =
    "CREATE TABLE servers (n integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " identity text NOT NULL, host text NOT NULL, journal text NOT NULL, program text NOT NULL,"
    " device bigint NOT NULL, inode bigint NOT NULL, mark bigint NOT NULL, at bigint NOT NULL,"
    " UNIQUE (identity, host, journal));"
    "CREATE TABLE parts (p bigint PRIMARY KEY, analyzed numeric NOT NULL DEFAULT 0);"
    "CREATE TABLE kinds (hash bigint PRIMARY KEY, grp bigint NOT NULL, operation text, code text,"
    " category text, service text, boundary text, last bigint NOT NULL);"
    "CREATE INDEX kinds_group ON kinds (grp);"
    "CREATE TABLE incidents (p bigint NOT NULL, id uuid NOT NULL, sum bigint NOT NULL,"
    " kind bigint NOT NULL,"
    " server integer NOT NULL, caller text, status bigint, us bigint, alike uuid, trace uuid,"
    " message text, words tsvector, record text, PRIMARY KEY (id, sum, p)) PARTITION BY LIST (p);"
    "CREATE INDEX incidents_kind ON incidents (kind, id);"
    "CREATE INDEX incidents_caller ON incidents (caller, id);"
    "CREATE INDEX incidents_trace ON incidents (trace) WHERE trace IS NOT NULL;"
    "CREATE INDEX incidents_words ON incidents USING gin (words);"
    "CREATE TABLE minutes (p bigint NOT NULL, at integer NOT NULL, kind bigint NOT NULL,"
    " count bigint NOT NULL, PRIMARY KEY (at, kind, p)) PARTITION BY LIST (p);"
    "CREATE TABLE hours (p bigint NOT NULL, at integer NOT NULL, kind bigint NOT NULL,"
    " count bigint NOT NULL, PRIMARY KEY (at, kind, p)) PARTITION BY LIST (p);"
    "CREATE INDEX hours_kind ON hours (kind);"
    "CREATE TABLE caller_hours (p bigint NOT NULL, at integer NOT NULL, caller text NOT NULL,"
    " count bigint NOT NULL, PRIMARY KEY (at, caller, p)) PARTITION BY LIST (p);"
    "CREATE TABLE groups (grp bigint PRIMARY KEY, operation text, code text, category text,"
    " service text, message text, place text, first bigint NOT NULL, last bigint NOT NULL,"
    " state integer NOT NULL, changed bigint NOT NULL, newest uuid);"
    "CREATE INDEX groups_last ON groups (last, grp);"
    "CREATE TABLE history (grp bigint NOT NULL, time bigint NOT NULL, state integer NOT NULL,"
    " PRIMARY KEY (grp, time, state));"
    "CREATE TABLE totals (one integer PRIMARY KEY, fresh bigint NOT NULL,"
    " regressed bigint NOT NULL);"
    "INSERT INTO totals VALUES (1, 0, 0);"

    "CREATE FUNCTION part_bytes(which bigint) RETURNS numeric LANGUAGE sql AS $$"
    " SELECT coalesce(sum(pg_total_relation_size(to_regclass(name || '_' || which))), 0)"
    " FROM unnest(ARRAY['incidents', 'minutes', 'hours', 'caller_hours']) name $$;"

    "CREATE FUNCTION part_drop(which bigint) RETURNS void LANGUAGE plpgsql AS $$"
    " DECLARE name text;"
    " BEGIN"
    "  FOREACH name IN ARRAY ARRAY['incidents', 'minutes', 'hours', 'caller_hours'] LOOP"
    "   EXECUTE format('DROP TABLE IF EXISTS %I', name || '_' || which);"
    "  END LOOP;"
    "  DELETE FROM parts WHERE p = which;"
    " END $$;"

    /* The part of a day that is written to. Only one process at a time makes one. One that has grown
     * is analyzed: until PostgreSQL does that by itself it would read all rows for a list of some. */
    "CREATE FUNCTION part_of_day(day bigint, most bigint) RETURNS bigint LANGUAGE plpgsql AS $$"
    " DECLARE newest bigint; known numeric; size numeric; name text;"
    " BEGIN"
    "  FOR tries IN 1..2 LOOP"
    "   SELECT p, analyzed INTO newest, known FROM parts"
    "    WHERE p >= day * " PARTS " AND p < (day + 1) * " PARTS " ORDER BY p DESC LIMIT 1;"
    "   size := part_bytes(newest);"
    "   IF newest IS NOT NULL AND (most = 0 OR size <= most) THEN"
    "    IF size > 4 * known + 1000000 THEN"
    "     UPDATE parts SET analyzed = size WHERE p = newest;"
    "     EXECUTE format('ANALYZE %I', 'incidents_' || newest);"
    "    END IF;"
    "    RETURN newest;"
    "   END IF;"
    "   PERFORM pg_advisory_xact_lock(hashtext('mishap'), hashtext('incidents parts'));"
    "  END LOOP;"
    "  newest := coalesce(newest + 1, day * " PARTS " + 1);"
    "  FOREACH name IN ARRAY ARRAY['incidents', 'minutes', 'hours', 'caller_hours'] LOOP"
    "   EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES IN (%s)',"
    "    name || '_' || newest, name, newest);"
    "  END LOOP;"
    "  INSERT INTO parts VALUES (newest);"
    "  RETURN newest;"
    " END $$;"

    /* Days that are too old, then the oldest beyond the size, those of a wrong clock first; the
     * newest part stays. */
    "CREATE FUNCTION part_retain(today bigint, keep bigint, most bigint) RETURNS void"
    " LANGUAGE plpgsql AS $$"
    " DECLARE victim bigint; oldest bigint;"
    " BEGIN"
    "  PERFORM pg_advisory_xact_lock(hashtext('mishap'), hashtext('incidents parts'));"
    "  LOOP"
    "   SELECT min(p) INTO victim FROM parts WHERE keep > 0 AND p / " PARTS " <= today - keep;"
    "   IF victim IS NULL THEN"
    "    SELECT p INTO victim FROM parts WHERE most > 0 AND (SELECT count(*) FROM parts) > 1"
    "     AND (SELECT sum(part_bytes(p)) FROM parts) > most"
    "     ORDER BY p / " PARTS " > today + 1 DESC, p LIMIT 1;"
    "   END IF;"
    "   EXIT WHEN victim IS NULL;"
    "   PERFORM part_drop(victim);"
    "  END LOOP;"
    "  SELECT min(p) / " PARTS " * 86400000 INTO oldest FROM parts;"
    "  IF keep > 0 THEN"
    "   DELETE FROM groups WHERE last < (today - keep) * 86400000 AND state IN (0, 1);"
    "  END IF;"
    "  DELETE FROM kinds WHERE last < oldest AND last < (today - 1) * 86400000;"
    " END $$;";

static const char *const postgresql[] = { first_version, NULL };

/* A row of a list: see rows.c. */
#define ROW                                                                                        \
    "SELECT i.id, k.operation, k.boundary, k.service, i.caller, k.code, k.category, i.message,"    \
    " k.grp, i.status, i.us, i.alike, replace(i.trace::text, '-', ''),"                            \
    " i.record IS NOT NULL, s.host"
#define BETWEEN                                                                                    \
    " i.p >= ?1::bigint AND i.p < ?2::bigint AND i.id < ?3::uuid AND i.id >= ?4::uuid"             \
    " AND (?17::bigint IS NULL OR i.status = ?17::bigint)"
#define NEWEST " ORDER BY i.id DESC LIMIT ?5::bigint"
#define RECORD ", CASE WHEN ?6::boolean THEN i.record END"
#define OF_KIND                                                                                    \
    " AND (?7::text IS NULL OR k.code = ?7::text) AND (?8::text IS NULL OR k.category = ?8::text)" \
    " AND (?9::text IS NULL OR k.operation = ?9::text)"                                            \
    " AND (?10::bigint IS NULL OR k.grp = ?10::bigint)"                                            \
    " AND (?14::text IS NULL OR k.boundary = ?14::text)"                                           \
    " AND (?15::text IS NULL OR k.service = ?15::text)"                                            \
    " AND (?16::text IS NULL OR k.operation IS NULL OR NOT starts_with(k.operation, ?16::text))"
#define OF_CALLER " AND (?11::text IS NULL OR i.caller = ?11::text)"
#define JOINED                                                                                     \
    " FROM incidents i JOIN kinds k ON k.hash = i.kind JOIN servers s ON s.n = i.server WHERE"

#define GROUP "SELECT grp, operation, service, code, category, message, place, first, last, state,"\
              " newest FROM groups"

/* Rows of a batch, without those that are there, and the counts of those that were not. The ids
 * give the time: their first 48 bits are milliseconds. */
#define PUT_ROWS(more)                                                                             \
    "WITH r AS (SELECT (?1::bigint[])[d] AS p, id, sum, (?2::bigint[])[k] AS kind, caller,"        \
    "  status, us, alike, trace, message, words, record FROM unnest(?4::uuid[], ?5::bigint[],"     \
    "  ?6::integer[], ?7::integer[], ?8::text[], ?9::bigint[], ?10::bigint[], ?11::uuid[],"        \
    "  ?12::uuid[], ?13::text[], ?14::text[], ?15::text[])"                                        \
    "  u(id, sum, d, k, caller, status, us, alike, trace, message, words, record)),"               \
    " new AS (INSERT INTO incidents (p, id, sum, kind, server, caller, status, us, alike, trace,"  \
    "  message, words, record) SELECT p, id, sum, kind, ?3::integer, caller, status, us, alike,"   \
    "  trace, message, to_tsvector('simple', words), record FROM r" more                           \
    "  ORDER BY id ON CONFLICT DO NOTHING RETURNING p, id, kind, caller),"                         \
    " timed AS (SELECT p, kind, caller, (('x' || translate(left(id::text, 13), '-', ''))::bit(48)" \
    "  ::bigint % 86400000 / 60000)::integer AS at FROM new),"                                     \
    " m AS (INSERT INTO minutes AS t SELECT p, at, kind, count(*) FROM timed GROUP BY p, at, kind" \
    "  ON CONFLICT (at, kind, p) DO UPDATE SET count = t.count + excluded.count),"                 \
    " h AS (INSERT INTO hours AS t SELECT p, at / 60, kind, count(*) FROM timed"                   \
    "  GROUP BY p, at / 60, kind"                                                                  \
    "  ON CONFLICT (at, kind, p) DO UPDATE SET count = t.count + excluded.count),"                 \
    " c AS (INSERT INTO caller_hours AS t SELECT p, at / 60, caller, count(*) FROM timed"          \
    "  WHERE caller IS NOT NULL GROUP BY p, at / 60, caller"                                       \
    "  ON CONFLICT (at, caller, p) DO UPDATE SET count = t.count + excluded.count)"                \
    " SELECT count(*) FROM new"

#define COUNTS(table, unit)                                                                        \
    "SELECT k.category, k.code, k.operation,"                                                      \
    " (t.p / " PARTS " * 86400 + t.at * " unit ") / ?3::bigint * ?3::bigint AS step, sum(t.count)" \
    " FROM " table " t JOIN kinds k ON k.hash = t.kind WHERE t.p >= ?1::bigint / 86400 * " PARTS   \
    " AND t.p < (?2::bigint + 86399) / 86400 * " PARTS                                             \
    " AND t.p / " PARTS " * 86400 + t.at * " unit " >= ?1::bigint"                                 \
    " AND t.p / " PARTS " * 86400 + t.at * " unit " < ?2::bigint"                                  \
    " AND (?4::text IS NULL OR k.code = ?4::text)"                                                 \
    " AND (?5::text IS NULL OR k.category = ?5::text)"                                             \
    " AND (?6::text IS NULL OR k.operation = ?6::text) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"

static const mishap_statement statements[ARCHIVE_STATEMENTS] = {
    [ARCHIVE_PLACE] = { .text = "SELECT n, device, inode, mark, at FROM servers"
                        " WHERE identity = ?1 AND host = ?2 AND journal = ?3" },
    [ARCHIVE_SERVER_ADD] = { .text = "INSERT INTO servers (identity, host, journal, program, device, inode,"
                             " mark, at) VALUES (?1, ?2, ?3, ?4, 0, 0, 0, 0)"
                             " ON CONFLICT DO NOTHING", .writes = true },
    [ARCHIVE_PLACE_TAKE] = { .text = "SELECT device, inode, mark, at FROM servers WHERE n = ?1::integer"
                             " FOR UPDATE", .writes = true },
    [ARCHIVE_PLACE_SET] = { .text = "UPDATE servers SET device = ?2::bigint, inode = ?3::bigint,"
                            " mark = ?4::bigint, at = ?5::bigint WHERE n = ?1::integer",
                            .writes = true, .later = true },
    [ARCHIVE_LOCK] = { .text = "SELECT pg_try_advisory_lock(hashtext('mishap'),"
                       " hashtext('incidents batch'))", .writes = true },
    [ARCHIVE_UNLOCK] = { .text = "SELECT pg_advisory_unlock(hashtext('mishap'),"
                         " hashtext('incidents batch'))", .writes = true },
    [ARCHIVE_PART] = { .text = "SELECT part_of_day(?1::bigint, ?2::bigint)", .writes = true },
    [ARCHIVE_RETAIN] = { .text = "SELECT part_retain(?1::bigint, ?2::bigint, ?3::bigint)", .writes = true },
    [ARCHIVE_GROUPS_UNKNOWN] = { .text = "SELECT e.grp, (SELECT count(*) FROM groups), (SELECT count(*)"
                                 " FROM groups WHERE category = 'validation') FROM"
                                 " unnest(?1::bigint[]) e(grp) WHERE NOT EXISTS"
                                 " (SELECT 1 FROM groups g WHERE g.grp = e.grp)" },
    [ARCHIVE_REGRESS] = { .text = "WITH again AS (INSERT INTO history SELECT g.grp, e.last, 3"
                          " FROM unnest(?1::bigint[], ?2::bigint[]) e(grp, last)"
                          " JOIN groups g ON g.grp = e.grp WHERE g.state = 2 AND e.last > g.changed"
                          " ON CONFLICT DO NOTHING RETURNING 1)"
                          " UPDATE totals SET regressed = regressed + (SELECT count(*) FROM again)"
                          " WHERE EXISTS (SELECT 1 FROM again)", .writes = true, .later = true },
    [ARCHIVE_GROUPS_PUT] = { .text = "WITH put AS (INSERT INTO groups AS g SELECT grp, operation, code,"
                             " category, service, message, place, first, last, 0, first, newest"
                             " FROM unnest(?1::bigint[], ?2::text[], ?3::text[], ?4::text[],"
                             " ?5::text[], ?6::text[], ?7::text[], ?8::bigint[], ?9::bigint[],"
                             " ?10::uuid[]) e(grp, operation, code, category, service, message,"
                             " place, first, last, newest) ON CONFLICT (grp) DO UPDATE SET"
                             " first = least(g.first, excluded.first),"
                             " last = greatest(g.last, excluded.last),"
                             " message = coalesce(g.message, excluded.message),"
                             " place = CASE WHEN g.message IS NULL THEN excluded.place"
                             "  ELSE g.place END,"
                             " newest = coalesce(excluded.newest, g.newest),"
                             " state = CASE WHEN g.state = 2 AND excluded.last > g.changed THEN 3"
                             "  ELSE g.state END,"
                             " changed = CASE WHEN g.state = 2 AND excluded.last > g.changed"
                             "  THEN excluded.last ELSE g.changed END"
                             " RETURNING g.xmax = 0 AS made)"
                             " UPDATE totals SET fresh = fresh +"
                             " (SELECT count(*) FROM put WHERE made)"
                             " WHERE EXISTS (SELECT 1 FROM put WHERE made)",
                             .writes = true, .later = true },
    /* `last` is rounded up to an hour, so a kind is seldom changed. */
    [ARCHIVE_KINDS_PUT] = { .text = "INSERT INTO kinds SELECT DISTINCT ON (hash) hash, grp, operation, code,"
                            " category, service, boundary, last FROM unnest(?1::bigint[],"
                            " ?2::bigint[], ?3::text[], ?4::text[], ?5::text[], ?6::text[],"
                            " ?7::text[], ?8::bigint[]) e(hash, grp, operation, code, category,"
                            " service, boundary, last) ORDER BY hash, last DESC"
                            " ON CONFLICT (hash) DO UPDATE SET last = excluded.last"
                            " WHERE kinds.last < excluded.last", .writes = true, .later = true },
    [ARCHIVE_ROWS_PUT] = { .text = PUT_ROWS(""), .writes = true },
    [ARCHIVE_ROWS_PUT_ONCE] = { .text = PUT_ROWS(" WHERE (SELECT count(*) FROM incidents i WHERE"
                                         " i.id = r.id AND i.sum = r.sum AND i.p >= r.p / " PARTS " * " PARTS
                                         " AND i.p < r.p) = 0"), .writes = true },
    [ARCHIVE_TOTALS] = { .text = "SELECT fresh, regressed FROM totals" },
    [ARCHIVE_DAYS_ALL] = { .text = "SELECT DISTINCT p / " PARTS " FROM parts WHERE"
                           " p / " PARTS " >= ?1::bigint AND p / " PARTS " <= ?2::bigint"
                           " ORDER BY 1 DESC" },
    [ARCHIVE_FIND] = { .text = ROW ", i.record" JOINED " i.p >= ?1::bigint AND i.p < ?2::bigint"
                       " AND i.id = ?3::uuid ORDER BY i.record IS NULL, i.p, i.sum LIMIT 1" },
    [ARCHIVE_LIST] = { .text = ROW RECORD JOINED BETWEEN OF_KIND NEWEST },
    [ARCHIVE_LIST_KINDS] = { .text = ROW RECORD " FROM kinds k CROSS JOIN LATERAL (SELECT * FROM"
                             " incidents i WHERE i.kind = k.hash AND" BETWEEN NEWEST ") i"
                             " JOIN servers s ON s.n = i.server WHERE k.last >= ?11::bigint"
                             OF_KIND NEWEST },
    [ARCHIVE_LIST_CALLER] = { .text = ROW RECORD JOINED BETWEEN " AND i.caller = ?11::text" OF_KIND NEWEST },
    [ARCHIVE_LIST_TRACE] = { .text = ROW RECORD JOINED BETWEEN " AND i.trace = ?13::uuid" OF_KIND OF_CALLER
                             NEWEST },
    [ARCHIVE_LIST_WORDS] = { .text = ROW RECORD JOINED BETWEEN " AND i.words @@ to_tsquery('simple',"
                             " ?12::text) AND i.record IS NOT NULL" OF_KIND OF_CALLER NEWEST },
    [ARCHIVE_GROUPS_PAGE] = { .text = GROUP " WHERE (last, grp) < (?1::bigint, ?2::bigint)"
                              " AND (?3::integer = 0 OR (?3::integer >> CASE WHEN state = 0 AND"
                              " ?4::bigint - first > 86400000 THEN 1 ELSE state END) & 1 = 1)"
                              " AND (?5::text IS NULL OR code = ?5::text)"
                              " AND (?6::text IS NULL OR category = ?6::text)"
                              " AND (?7::text IS NULL OR operation = ?7::text)"
                              " AND (?9::text IS NULL OR service = ?9::text)"
                              " AND (?10::text IS NULL OR operation IS NULL OR NOT"
                              " starts_with(operation, ?10::text))"
                              " ORDER BY last DESC, grp DESC LIMIT ?8::bigint" },
    [ARCHIVE_GROUP_ONE] = { .text = GROUP " WHERE grp = ?1::bigint" },
    /* Counts of the last 24 hours by hour, and of all before as one. */
    [ARCHIVE_GROUPS_TREND] = { .text = "SELECT k.grp, greatest(h.p / " PARTS " * 24 + h.at - ?2::bigint,"
                               " -1) AS slot, sum(h.count) FROM kinds k JOIN hours h"
                               " ON h.kind = k.hash WHERE k.grp = ANY (?1::bigint[])"
                               " GROUP BY 1, 2" },
    [ARCHIVE_GROUP_DAYS] = { .text = "SELECT h.p / " PARTS ", sum(h.count) FROM kinds k JOIN hours h"
                             " ON h.kind = k.hash WHERE k.grp = ?1::bigint GROUP BY 1"
                             " ORDER BY 1 DESC" },
    [ARCHIVE_HISTORY] = { .text = "SELECT time, state FROM history WHERE grp = ?1::bigint"
                          " ORDER BY time DESC, state DESC LIMIT 100" },
    [ARCHIVE_GROUP_STATE] = { .text = "SELECT state FROM groups WHERE grp = ?1::bigint FOR UPDATE",
                              .writes = true },
    [ARCHIVE_GROUP_SET] = { .text = "UPDATE groups SET state = ?2::integer, changed = ?3::bigint"
                            " WHERE grp = ?1::bigint", .writes = true },
    [ARCHIVE_GROUP_UNDO] = { .text = "DELETE FROM history WHERE grp = ?1::bigint AND time >="
                             " (SELECT max(time) FROM history WHERE grp = ?1::bigint"
                             " AND state = ?2::integer)", .writes = true },
    [ARCHIVE_GROUP_RESTORE] = { .text = "UPDATE groups SET state = coalesce((SELECT h.state FROM history h"
                                " WHERE h.grp = ?1::bigint ORDER BY h.time DESC LIMIT 1), 0),"
                                " changed = coalesce((SELECT max(h.time) FROM history h"
                                " WHERE h.grp = ?1::bigint), first) WHERE grp = ?1::bigint",
                                .writes = true },
    [ARCHIVE_HISTORY_ADD] = { .text = "INSERT INTO history VALUES (?1::bigint, ?3::bigint, ?2::integer)"
                              " ON CONFLICT DO NOTHING", .writes = true },
    [ARCHIVE_MINUTES] = { .text = COUNTS("minutes", "60") },
    [ARCHIVE_HOURS] = { .text = COUNTS("hours", "3600") },
    [ARCHIVE_CALLERS] = { .text = "SELECT caller, sum(count) FROM caller_hours t"
                          " WHERE t.p >= ?1::bigint / 86400 * " PARTS
                          " AND t.p < (?2::bigint + 86399) / 86400 * " PARTS
                          " AND t.p / " PARTS " * 86400 + t.at * 3600 >= ?1::bigint / 3600 * 3600"
                          " AND t.p / " PARTS " * 86400 + t.at * 3600 < ?2::bigint"
                          " GROUP BY caller ORDER BY 2 DESC, 1 LIMIT 200" },
};
/* clang-format on */

const mishap_store_schema mishap_archive_schema = {
    .name = "incidents",
    .postgresql = postgresql,
    .statements = statements,
    .statement_count = ARCHIVE_STATEMENTS,
};
