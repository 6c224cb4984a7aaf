"""The third corpus: psql, sqlite3, jq."""
from labels import FILE, MALFORMED, NOT_ALLOWED, OPTION, PATTERN, PROGRAM, RANGE, STATE, SYNTAX, TYPES, answer, case
from cases.data import DB, JSON, MISSING, VIOLATED


def psql(name, sql, label, **more):
    case("psql-" + name, ["psql", "-X", "-v", "ON_ERROR_STOP=1", "-d", "shop", "-c", sql], label, needs="database", **more)


def sqlite(name, sql, label, setup=DB, **more):
    case("sqlite-" + name, ["sqlite3", "a.db", sql], label, setup=setup, **more)


psql("double-quotes", 'SELECT * FROM item WHERE name = "lamp"', MISSING + ("SYNTAX_ERROR",))
psql("no-relation-update", "UPDATE orders SET paid = true", MISSING)
psql("drop-missing", "DROP TABLE orders", MISSING)
psql("more-values", "INSERT INTO item (id, name) VALUES (7, 'a', 5)", SYNTAX + ("ARG_ERROR", "INVALID_ARGUMENT", "VALIDATION_ERROR"))
psql("from-missing", "SELECT o.id FROM item i", MISSING + PROGRAM)
psql("uuid", "SELECT 'abc'::uuid", PATTERN)
psql("vacuum-in-transaction", "BEGIN; VACUUM item", STATE)
psql("aggregate-in-where", "SELECT name FROM item WHERE count(*) > 1", PROGRAM + ("INVALID_ARGUMENT",))
psql("numeric-overflow", "SELECT 12345.67::numeric(5, 2)", RANGE)
case("psql-script-error", "psql -X -v ON_ERROR_STOP=1 -d shop -f schema.sql", SYNTAX, needs="database", setup="printf 'CREATE TABLE a (\\n  id int,\\n);\\n' > schema.sql")
case("psql-drop-role", ["psql", "-X", "-d", "shop", "-U", "reader", "-v", "ON_ERROR_STOP=1", "-c", "DROP TABLE item"], NOT_ALLOWED + ("NOT_OWNER",), needs="database")
case("psql-copy-local-missing", ["psql", "-X", "-v", "ON_ERROR_STOP=1", "-d", "shop", "-c", "\\copy item FROM items.csv CSV"], FILE, needs="database")
case("psql-copy-bad-row", ["psql", "-X", "-v", "ON_ERROR_STOP=1", "-d", "shop", "-c", "\\copy item FROM items.csv CSV"], PATTERN + ("NONCONFORMING", "VALIDATION_ERROR", "TYPE_ERROR"), needs="database", setup="printf 'id,name,price\\n9,a,5\\n' > items.csv")

sqlite("near-order", "SELECT * FROM order", SYNTAX)
sqlite("ambiguous", "SELECT id FROM item a, item b", PROGRAM + ("INVALID_ARGUMENT", "CONFLICT", "UNBOUND_VARIABLE"))
sqlite("duplicate-column", "ALTER TABLE item ADD COLUMN name text", ("ALREADY_EXISTS", "CONFLICT"))
sqlite("unique-index", "CREATE UNIQUE INDEX one ON item (name); INSERT INTO item VALUES (2, 0, 1)", ("ALREADY_EXISTS", *VIOLATED))
sqlite("drop-missing", "DROP TABLE orders", MISSING)
sqlite("aggregate", "SELECT name FROM item WHERE count(*) > 1", PROGRAM + ("INVALID_ARGUMENT",))
sqlite("json", "SELECT json_extract('{a', '$.b')", MALFORMED)
case("sqlite-script-missing", ["sqlite3", "-bail", "a.db", ".read schema.sql"], FILE, setup=DB)

case("jq-hyphen-key", ["jq", ".user-id", "a.json"], SYNTAX + ("UNDEFINED_FUNCTION", "UNBOUND_VARIABLE"), setup=JSON)
case("jq-quoted-shell", ["jq", ".[name]", "a.json"], ("UNDEFINED_FUNCTION", "PROGRAM_ERROR", "UNBOUND_VARIABLE", "SYNTAX_ERROR"), setup=JSON)
case("jq-null-iterate", ["jq", ".items[]", "a.json"], TYPES, setup=JSON)
case("jq-string-number", ["jq", ".a + \" items\"", "a.json"], TYPES, setup=JSON)
case("jq-keys-of-number", ["jq", ".a | keys", "a.json"], TYPES, setup=JSON)
case("jq-single-quotes", "jq . a.json", MALFORMED, setup="echo \"{'a': 1}\" > a.json")
case("jq-argjson", "jq --argjson n ten .a a.json", PATTERN, setup=JSON)
case("jq-if-open", ["jq", "if .a then 1", "a.json"], SYNTAX, setup=JSON)
case("jq-short-option", "jq -x . a.json", OPTION, setup=JSON)
answer("jq-e-select-none", ["jq", "-e", ".list | index(7)", "a.json"], setup=JSON)
