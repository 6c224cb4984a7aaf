"""Databases and documents: psql, pg_dump, createdb, sqlite3, jq, xmllint."""
from labels import (CONFIG, DENIED, EXISTS, FILE, FUNCTION, KIND, LOCK, LOGIN, MALFORMED, NAME, NOT_ALLOWED, NO_CONNECT, NO_HOST, OPTION, PATTERN, RANGE,
                    REFUSED, STATE, SYNTAX, TYPES, case)

MISSING = ("NOT_FOUND", "UNBOUND_VARIABLE")  # a table or column that is not there
VIOLATED = ("CONFLICT", "VALIDATION_ERROR", "PRECONDITION")


def psql(name, sql, label, **more):
    case("psql-" + name, ["psql", "-X", "-v", "ON_ERROR_STOP=1", "-d", "shop", "-c", sql], label, needs="database", **more)


psql("syntax", "SELEC 1", SYNTAX)
psql("no-table", "SELECT * FROM orders", MISSING)
psql("no-column", "SELECT colour FROM item", MISSING)
psql("no-function", "SELECT total(1)", FUNCTION + ("NOT_FOUND",))
psql("unique", "INSERT INTO item VALUES (1, 'other', 1)", ("ALREADY_EXISTS", "CONFLICT"))
psql("not-null", "INSERT INTO item VALUES (2, NULL, 1)", ("FIELD_REQUIRED", "VALIDATION_ERROR", "MISSING_ARGUMENT", "CONFLICT"))
psql("check", "INSERT INTO item VALUES (2, 'a', -1)", ("VALIDATION_ERROR", "CONFLICT", "VALUE_ERROR", "VALUE_OUT_OF_RANGE", "INVALID_ARGUMENT"))
psql("foreign-key", "INSERT INTO part VALUES (2, 99)", VIOLATED + ("FAILED_DEPENDENCY", "NOT_FOUND"))
psql("delete-referenced", "DELETE FROM item WHERE id = 1", VIOLATED + ("FAILED_DEPENDENCY",))
psql("division", "SELECT 1 / 0", ("DIVISION_BY_ZERO",))
psql("bad-integer", "SELECT 'ten'::int", PATTERN)
psql("range", "SELECT 99999999999::int", RANGE)
psql("type", "SELECT 1 + 'a'::text", TYPES + FUNCTION)
psql("exists", "CREATE TABLE item (id int)", EXISTS)
psql("timeout", "SET statement_timeout = 100; SELECT pg_sleep(9)", ("TIMEOUT", "CANCELLED"), retry=None)
psql("drop-needed", "DROP TABLE item", VIOLATED + ("FAILED_DEPENDENCY",))
psql("lock-timeout", "SET lock_timeout = 200; ALTER TABLE item ADD COLUMN x int", LOCK + ("TIMEOUT",), retry=True, setup=(
    "psql -X -d shop -c 'BEGIN; LOCK TABLE item; SELECT pg_sleep(9)' >/dev/null 2>&1 &\nsleep 1"))
case("psql-no-permission", ["psql", "-X", "-d", "shop", "-U", "reader", "-v", "ON_ERROR_STOP=1", "-c", "SELECT * FROM item"], NOT_ALLOWED, needs="database")
case("psql-no-database", "psql -X -d warehouse -c 'SELECT 1'", ("NOT_FOUND",), needs="database")
case("psql-no-role", "psql -X -d shop -U stranger -c 'SELECT 1'", ("NOT_FOUND", "UNAUTHORIZED", "AUTH_REQUIRED", "NOT_AUTHORIZED"), needs="database")
case("psql-role-no-login", "psql -X -d shop -U locked -c 'SELECT 1'", NOT_ALLOWED + ("UNAUTHORIZED", "AUTH_REQUIRED"), needs="database")
case("psql-password-wrong", "psql -X -d shop -U guarded -c 'SELECT 1'", LOGIN, needs="database", env={"PGPASSWORD": "wrong"})
case("psql-password-missing", "psql -X -w -d shop -U guarded -c 'SELECT 1'", LOGIN, needs="database")
case("psql-hba", "psql -X -h 127.0.0.1 -d postgres -U role -c 'SELECT 1'", NOT_ALLOWED + CONFIG, needs="database")
case("psql-refused", "psql -X -h 127.0.0.1 -p 9 -d shop -c 'SELECT 1'", REFUSED, retry=True)
case("psql-no-socket", "psql -X -h /mnt/dir -d shop -c 'SELECT 1'", ("CONNECTION_REFUSED", "NOT_FOUND", "UNAVAILABLE", "SERVICE_UNAVAILABLE"), retry=True)
case("psql-no-host", "psql -X -h nowhere.example -d shop -c 'SELECT 1'", NO_HOST, retry=True)
case("psql-connect-timeout", "psql -X -h 127.0.0.1 -p 8099 -d shop -c 'SELECT 1'", NO_CONNECT, retry=True, env={"PGCONNECT_TIMEOUT": "2"})
case("psql-file-missing", "psql -X -d shop -f schema.sql", FILE, needs="database")
case("psql-unknown-option", "psql --databse shop", OPTION)
case("psql-no-ssl", "psql -X -d 'host=127.0.0.1 dbname=shop sslmode=require' -c 'SELECT 1'", ("NOT_CONFIGURED", "PRECONDITION", "UPGRADE_REQUIRED", "NOT_IMPLEMENTED"), needs="database")
case("psql-too-many", "psql -X -d shop -U reader -c 'SELECT 1'", ("UNAVAILABLE", "SERVICE_UNAVAILABLE", "RATE_LIMITED", "TOO_MANY_REQUESTS"), retry=True, needs="database", setup=(
    "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do psql -X -d shop -U reader -c 'SELECT pg_sleep(15)' >/dev/null 2>&1 & done\nfor i in $(seq 100); do psql -X -d shop -U reader -c 'SELECT 1' >/dev/null 2>&1 || break; sleep 0.1; done"))
case("pg-dump-no-database", "pg_dump warehouse", ("NOT_FOUND",), needs="database")
case("pg-dump-no-table", "pg_dump -t orders shop", ("NOT_FOUND",), needs="database")
case("pg-dump-no-permission", "pg_dump -U reader shop", NOT_ALLOWED, needs="database")
case("createdb-exists", "createdb shop", EXISTS, needs="database")
case("createdb-denied", "createdb -U reader warehouse", NOT_ALLOWED, needs="database")
case("dropdb-missing", "dropdb warehouse", ("NOT_FOUND",), needs="database")
case("pg-restore-not-an-archive", "pg_restore -d shop dump", MALFORMED, needs="database", setup="echo text > dump")

DB = "sqlite3 a.db 'CREATE TABLE item (id integer PRIMARY KEY, name text NOT NULL, price integer CHECK (price > 0)); INSERT INTO item VALUES (1, 0, 1)'\n"


def sqlite(name, sql, label, setup=DB, **more):
    case("sqlite-" + name, ["sqlite3", "a.db", sql], label, setup=setup, **more)


sqlite("syntax", "SELEC 1", SYNTAX)
sqlite("no-table", "SELECT * FROM orders", MISSING)
sqlite("no-column", "SELECT colour FROM item", MISSING)
sqlite("unique", "INSERT INTO item VALUES (1, 'a', 1)", ("ALREADY_EXISTS", "CONFLICT"))
sqlite("not-null", "INSERT INTO item VALUES (2, NULL, 1)", ("FIELD_REQUIRED", "VALIDATION_ERROR", "MISSING_ARGUMENT", "CONFLICT"))
sqlite("check", "INSERT INTO item VALUES (2, 'a', -1)", ("VALIDATION_ERROR", "CONFLICT", "VALUE_ERROR", "VALUE_OUT_OF_RANGE", "INVALID_ARGUMENT"))
sqlite("exists", "CREATE TABLE item (id)", EXISTS)
sqlite("incomplete", "SELECT (1", SYNTAX + ("END_OF_FILE",))
sqlite("not-a-database", "SELECT 1 FROM item", MALFORMED, setup="seq 1 900 > a.db")
sqlite("folder", "SELECT 1", KIND, setup="mkdir a.db")
sqlite("read-only", "INSERT INTO item VALUES (3, 'c', 1)", DENIED + ("OUTPUT_FAILED", "CONFLICT"), setup=DB + "chmod 644 a.db; chmod 755 .", user=True)
sqlite("locked", "INSERT INTO item VALUES (3, 'c', 1)", LOCK, retry=True, setup=DB + (
    "python3 -c 'import sqlite3, time; c = sqlite3.connect(\"a.db\", isolation_level=None); c.execute(\"BEGIN EXCLUSIVE\"); time.sleep(30)' >/dev/null 2>&1 &\nsleep 2"))
case("sqlite-readonly-missing", ["sqlite3", "-readonly", "b.db", "SELECT 1"], FILE)
case("sqlite-unknown-option", "sqlite3 -jsonn a.db", OPTION)
case("sqlite-no-folder", ["sqlite3", "data/a.db", "CREATE TABLE a (b)"], FILE + ("OUTPUT_FAILED",))

JSON = "echo '{\"a\": 1, \"list\": [1]}' > a.json\n"
case("jq-missing-file", "jq . a.json", FILE)
case("jq-malformed", "jq . a.json", MALFORMED, setup="echo '{\"a\": }' > a.json")
case("jq-truncated", "jq . a.json", MALFORMED + ("END_OF_FILE",), setup="echo '{\"a\": [1' > a.json")
case("jq-filter-syntax", ["jq", ".a |", "a.json"], SYNTAX, setup=JSON)
case("jq-no-function", ["jq", "total", "a.json"], FUNCTION + ("NOT_FOUND",), setup=JSON)
case("jq-type", ["jq", ".a.b", "a.json"], TYPES, setup=JSON)
case("jq-iterate", ["jq", ".a[]", "a.json"], TYPES, setup=JSON)
case("jq-unknown-option", "jq --pretty . a.json", OPTION, setup=JSON)
case("jq-html", "jq .", MALFORMED, setup="echo '<html>' > in", stdin="in")
case("jq-error", ["jq", "error(\"no items\")", "a.json"], ("RUNTIME_ERROR", "GENERAL_ERROR", "SIMPLE_ERROR"), setup=JSON)
case("jq-variable", ["jq", ".a + $x", "a.json"], NAME, setup=JSON)
case("xmllint-malformed", "xmllint --noout a.xml", MALFORMED + ("SYNTAX_ERROR",), setup="echo '<a><b></a>' > a.xml")
case("xmllint-missing", "xmllint --noout a.xml", FILE)
case("xmllint-empty", "xmllint --noout a.xml", MALFORMED, setup="touch a.xml")
