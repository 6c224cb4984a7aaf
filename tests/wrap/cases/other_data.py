"""The second corpus: databases and documents."""
from labels import (ABSENT, CONFIG, DENIED, EXISTS, FILE, FULL, FUNCTION, MALFORMED, NOT_ALLOWED, OPERAND, OPTION, PATTERN, RANGE, REFUSED, STATE, SYNTAX, TYPES, VALUE,
                    answer, case)
from cases.data import DB, JSON, MISSING, VIOLATED


def psql(name, sql, label, **more):
    case("psql-" + name, ["psql", "-X", "-v", "ON_ERROR_STOP=1", "-d", "shop", "-c", sql], label, needs="database", **more)


def sqlite(name, sql, label, setup=DB, **more):
    case("sqlite-" + name, ["sqlite3", "a.db", sql], label, setup=setup, **more)


psql("no-schema", "SELECT * FROM audit.log", MISSING)
psql("too-long", "SELECT 'abcdef'::varchar(3) || x FROM (SELECT cast('abcdef' AS varchar(3)) x) y; CREATE TEMP TABLE t (a varchar(3)); INSERT INTO t VALUES ('abcdef')", ("INVALID_LENGTH", "VALIDATION_ERROR", "VALUE_OUT_OF_RANGE", "INVALID_ARGUMENT"))
psql("ambiguous", "SELECT id FROM item, part", ("PROGRAM_ERROR", "SYNTAX_ERROR", "INVALID_ARGUMENT", "CONFLICT", "UNBOUND_VARIABLE"))
psql("group-by", "SELECT name, count(*) FROM item", ("PROGRAM_ERROR", "SYNTAX_ERROR", "INVALID_ARGUMENT", "CONFLICT"))
psql("division-in-transaction", "BEGIN; SELECT 1 / 0", ("DIVISION_BY_ZERO",))
psql("json", "SELECT '{a'::json", MALFORMED + PATTERN[:1])
psql("date", "SELECT '2024-13-45'::date", RANGE + ("PATTERN_MISMATCH",))
psql("regex", "SELECT 'a' ~ '('", SYNTAX + ("INVALID_ARGUMENT", "PATTERN_MISMATCH"))
psql("copy-missing", "COPY item FROM '/mnt/none.csv'", FILE)
psql("copy-denied", "COPY item TO '/etc/item.csv'", DENIED + ("OUTPUT_FAILED",))
psql("duplicate-column", "ALTER TABLE item ADD COLUMN name text", EXISTS)
psql("no-extension", "CREATE EXTENSION nothing", ABSENT + ("NOT_CONFIGURED", "PRECONDITION"))
psql("negative-limit", "SELECT * FROM item LIMIT -1", RANGE)
psql("setting", "SET work_memory = 5", ABSENT + VALUE + ("UNKNOWN_OPTION",))
psql("unterminated", "SELECT 'abc", SYNTAX)
psql("cast", "SELECT 'maybe'::boolean", PATTERN)
case("psql-create-denied", ["psql", "-X", "-d", "shop", "-U", "reader", "-v", "ON_ERROR_STOP=1", "-c", "CREATE TABLE public.x (a int)"], NOT_ALLOWED, needs="database")
case("psql-bad-uri", "psql -X 'postgresql://role@127.0.0.1:port/shop' -c 'SELECT 1'", PATTERN)
case("psql-service", "psql -X service=shop -c 'SELECT 1'", ABSENT + CONFIG)
case("pg-dump-refused", "pg_dump -h 127.0.0.1 -p 9 shop", REFUSED, retry=True)
case("pg-restore-missing", "pg_restore -d shop dump", FILE, needs="database")
case("createuser-exists", "createuser reader", EXISTS, needs="database")
case("vacuumdb-no-table", "vacuumdb -t orders shop", ABSENT, needs="database")
case("dropdb-in-use", "dropdb shop", STATE + ("LOCKED",), needs="database", retry=None, setup="psql -X -d shop -c 'SELECT pg_sleep(15)' >/dev/null 2>&1 &\nsleep 2")

sqlite("foreign-key", "PRAGMA foreign_keys = on; CREATE TABLE part (item REFERENCES item); INSERT INTO part VALUES (9)", VIOLATED + ("FAILED_DEPENDENCY", "NOT_FOUND"))
sqlite("mismatch", "INSERT INTO item VALUES ('a', 'b', 1)", TYPES + ("VALIDATION_ERROR", "CONFLICT"))
sqlite("function", "SELECT total2(1)", FUNCTION + ("NOT_FOUND",))
sqlite("columns", "INSERT INTO item VALUES (1, 2)", ("ARG_ERROR", "PROGRAM_ERROR", "SYNTAX_ERROR", "INVALID_ARGUMENT", "MISSING_ARGUMENT", "VALIDATION_ERROR"))
sqlite("corrupt", "SELECT count(*) FROM item", MALFORMED, setup="sqlite3 a.db 'CREATE TABLE item (a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO item SELECT i FROM n'; dd if=/dev/urandom of=a.db bs=4096 seek=1 count=4 conv=notrunc")
sqlite("no-space", "CREATE TABLE b (c); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) INSERT INTO b SELECT i FROM n", FULL, setup="mkdir small; mount -t tmpfs -o size=64k tmpfs small; ln -s small/a.db a.db")
sqlite("unknown-dot", ".tabels", ("UNKNOWN_COMMAND", "ARG_ERROR", "INVALID_ARGUMENT"))
sqlite("denied", "SELECT 1 FROM item", DENIED + ("INPUT_UNREADABLE",), setup=DB + "chmod 600 a.db", user=True)
case("jq-divide", ["jq", "1 / .list[5]", "a.json"], TYPES, setup=JSON)
case("jq-index", ["jq", ".list.name", "a.json"], TYPES, setup=JSON)
case("jq-tonumber", ["jq", "\"ten\" | tonumber", "a.json"], PATTERN + TYPES, setup=JSON)
case("jq-folder", "jq . folder", ("INVALID_ARGUMENT", "ARG_ERROR", "VALUE_ERROR", "INPUT_UNREADABLE", "GENERAL_ERROR"), setup="mkdir folder")
case("jq-slurpfile", "jq --slurpfile a none.json . a.json", FILE + MALFORMED[:1], setup=JSON)
case("jq-open-bracket", ["jq", ".a[", "a.json"], SYNTAX, setup=JSON)
case("jq-from-file", "jq -f filter.jq a.json", FILE, setup=JSON)
case("jq-arg-missing", "jq --arg x", OPERAND, setup=JSON)
case("xmllint-schema", "xmllint --noout --schema a.xsd a.xml", ("NONCONFORMING", "VALIDATION_ERROR", "MALFORMED_INPUT"), setup=(
    "echo '<a/>' > a.xml; echo '<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\"><xs:element name=\"b\"/></xs:schema>' > a.xsd"))
case("xmllint-xpath", ["xmllint", "--xpath", "//a[", "a.xml"], SYNTAX, setup="echo '<a/>' > a.xml")
case("xmllint-option", "xmllint --pretty a.xml", OPTION, setup="echo '<a/>' > a.xml")
case("yq-malformed", "yq . a.yaml", MALFORMED + ("SYNTAX_ERROR",), setup="printf 'a: [1\\nb: }\\n' > a.yaml")
case("yq-missing", "yq . a.yaml", FILE)
answer("jq-e-empty", ["jq", "-e", ".list[] | select(. > 5)", "a.json"], setup=JSON)
