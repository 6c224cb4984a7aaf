"""What real databases and their drivers say: SQLite, PostgreSQL and MariaDB, through Python, PHP, Perl, Ruby, Java and their own clients."""
import os
import shutil
import subprocess
import time

STATEMENTS = {
    "syntax": "SELEC id FROM orders",
    "no-table": "SELECT total FROM invoices WHERE id = 7",
    "no-column": "SELECT price FROM orders WHERE id = 7",
    "unique": "INSERT INTO orders (id, name) VALUES (1, 'a')",
    "not-null": "INSERT INTO orders (id, name) VALUES (9, NULL)",
    "foreign-key": "INSERT INTO items (id, order_id) VALUES (1, 999)",
    "unterminated": "SELECT * FROM orders WHERE name = 'O'Neill'",
}
TABLES = ["CREATE TABLE orders (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL)", "CREATE TABLE items (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders (id))",
          "INSERT INTO orders (id, name) VALUES (1, 'a')"]
MARIA_TABLES = [TABLES[0], "CREATE TABLE items (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, FOREIGN KEY (order_id) REFERENCES orders (id))", TABLES[2]]

# What a handler answers that passes a driver's message on: no trace, only what the driver said.
PYTHON = """
import json, sys
statement = open('statement.sql').read()
link = None
try:
    {connect}
    {execute}
except Exception as failure:
    form = sys.argv[1]
    if form == 'repr':
        print(repr(failure))
    elif form == 'json':
        print(json.dumps({{'error': {{'code': 500, 'message': '%s.%s: %s' % (type(failure).__module__, type(failure).__name__, failure)}}}}))
    else:
        print(type(failure).__module__ + '.' + type(failure).__name__ + ': ' + str(failure))
"""
PHP = """<?php
try {{ $db = new PDO({connect}); $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION); $db->exec('{pragma}'); $db->query(file_get_contents('statement.sql')); }}
catch (PDOException $e) {{ echo $e->getMessage(), "\\n"; }}
"""
PERL = """
use DBI;
my $db = DBI->connect({connect}, {{ RaiseError => 1, PrintError => 0 }});
open(my $f, '<', 'statement.sql'); my $s = <$f>;
eval {{ $db->do('{pragma}') if '{pragma}'; $db->do($s); }};
print $@;
"""
RUBY = """
begin
  {connect}
rescue StandardError => e
  puts "#{{e.class}}: #{{e.message}}"
end
"""


def forms(case):
    """A form for each case, so that the corpus has all of them without every pair."""
    return ["str", "json", "repr"][list(STATEMENTS).index(case) % 3]


def sqlite(corpus, at):
    def fresh(case):
        at.fresh()
        at.put_file("statement.sql", STATEMENTS[case])
        at.put_file("t.sql", ";\n".join(TABLES) + ";\n")
        at.out_of("rm -f orders.db; python3 -c \"import sqlite3; d = sqlite3.connect('orders.db'); d.executescript(open('t.sql').read())\"")
    for case in STATEMENTS:
        fresh(case)
        at.put_file("a.py", PYTHON.format(connect="import sqlite3; link = sqlite3.connect('/srv/app/orders.db'); link.execute('PRAGMA foreign_keys = on')",
                                          execute="link.execute(statement)"))
        corpus.put(f"leaks/sql/sqlite-python-{case}", at.out_of(f"python3 a.py {forms(case)}")[0])
        at.put_file("b.py", PYTHON.format(connect="import sqlalchemy; link = sqlalchemy.create_engine('sqlite:////srv/app/orders.db').connect(); link.exec_driver_sql('PRAGMA foreign_keys = on')",
                                          execute="link.exec_driver_sql(statement)"))
        corpus.put(f"leaks/sql/sqlite-sqlalchemy-{case}", at.out_of(f"python3 b.py {forms(case)}")[0])
        at.put_file("a.php", PHP.format(connect="'sqlite:/srv/app/orders.db'", pragma="PRAGMA foreign_keys = on"))
        corpus.put(f"leaks/sql/sqlite-php-{case}", at.out_of("php a.php")[0])
        if case in ("syntax", "no-table", "unique"):
            at.put_file("a.pl", PERL.format(connect="'dbi:SQLite:dbname=/srv/app/orders.db', '', ''", pragma=""))
            corpus.put(f"leaks/sql/sqlite-perl-{case}", at.out_of("perl a.pl")[0])
            at.put_file("a.rb", RUBY.format(connect="require 'sqlite3'; SQLite3::Database.new('/srv/app/orders.db').execute(File.read('statement.sql'))"))
            corpus.put(f"leaks/sql/sqlite-ruby-{case}", at.out_of("ruby a.rb")[0])
            corpus.put(f"leaks/sql-hint/sqlite-shell-{case}", at.out_of("sqlite3 orders.db < statement.sql")[0])


def postgres(corpus, at):
    folder = "/var/lib/postgresql/15/main"
    start = "runuser -u postgres -- /usr/lib/postgresql/15/bin/pg_ctl -w -D " + folder + " -o '-c config_file=/etc/postgresql/15/main/postgresql.conf -c listen_addresses=127.0.0.1 -c port=5499' {}"
    if not os.path.isdir(folder):
        print("not installed: PostgreSQL")
        return
    subprocess.run(start.format("start"), shell=True, stdout=subprocess.DEVNULL, check=False)
    try:
        for statement in ["CREATE ROLE app LOGIN PASSWORD 'invented'", "CREATE DATABASE shop OWNER app"]:
            subprocess.run(["runuser", "-u", "postgres", "--", "psql", "-q", "-p", "5499", "-c", statement], check=False)
        uri = "postgresql://app:invented@127.0.0.1:5499/shop"
        for statement in TABLES:
            subprocess.run(["psql", "-q", uri, "-c", statement], check=False)
        for case in [*STATEMENTS, "denied"]:
            at.fresh()
            at.put_file("statement.sql", STATEMENTS.get(case, "SELECT * FROM pg_authid"))
            form = forms(case) if case in STATEMENTS else "str"
            at.put_file("a.py", PYTHON.format(connect=f"import psycopg2; link = psycopg2.connect('{uri}')", execute="link.cursor().execute(statement)"))
            corpus.put(f"leaks/sql/postgresql-psycopg2-{case}", at.out_of(f"python3 a.py {form}")[0])
            at.put_file("b.py", PYTHON.format(connect=f"import sqlalchemy; link = sqlalchemy.create_engine('{uri}').connect()", execute="link.exec_driver_sql(statement)"))
            corpus.put(f"leaks/sql/postgresql-sqlalchemy-{case}", at.out_of(f"python3 b.py {form}")[0])
            at.put_file("a.php", PHP.format(connect="'pgsql:host=127.0.0.1;port=5499;dbname=shop', 'app', 'invented'", pragma="SELECT 1"))
            corpus.put(f"leaks/sql/postgresql-php-{case}", at.out_of("php a.php")[0])
            if case in ("syntax", "no-column", "unique", "denied"):
                at.put_file("a.pl", PERL.format(connect="'dbi:Pg:dbname=shop;host=127.0.0.1;port=5499', 'app', 'invented'", pragma=""))
                corpus.put(f"leaks/sql/postgresql-perl-{case}", at.out_of("perl a.pl")[0])
                at.put_file("a.rb", RUBY.format(connect=f"require 'pg'; PG.connect('{uri}').exec(File.read('statement.sql'))"))
                corpus.put(f"leaks/sql/postgresql-ruby-{case}", at.out_of("ruby a.rb")[0])
                corpus.put(f"leaks/sql/postgresql-psql-{case}", at.out_of(f"psql {uri} -f statement.sql")[0])
        at.fresh()
        at.put_file("statement.sql", "SELECT 1")
        for case, link in {"wrong-password": "host=127.0.0.1 port=5499 user=app password=other dbname=shop", "no-database": "host=127.0.0.1 port=5499 user=app password=invented dbname=orders",
                           "refused": "host=127.0.0.1 port=5498 user=app dbname=shop"}.items():
            at.put_file("a.py", PYTHON.format(connect=f"import psycopg2; link = psycopg2.connect('{link}')", execute="link.cursor().execute(statement)"))
            corpus.put(f"leaks/sql/postgresql-connect-{case}", at.out_of("python3 a.py str")[0])
    finally:
        subprocess.run(start.format("stop -m fast"), shell=True, stdout=subprocess.DEVNULL, check=False)


def mariadb(corpus, at):
    if not shutil.which("mariadbd"):
        print("not installed: MariaDB")
        return
    folder = "/var/lib/corpus-mariadb"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.chown(folder, "mysql", "mysql")
    subprocess.run(["mariadb-install-db", "--user=mysql", "--datadir=" + folder, "--auth-root-authentication-method=socket"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    socket = folder + "/socket"
    server = subprocess.Popen(["mariadbd", "--no-defaults", "--user=mysql", "--datadir=" + folder, "--socket=" + socket, "--port=3399", "--bind-address=127.0.0.1"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            if subprocess.run(["mariadb", "--no-defaults", "-S", socket, "-e", "SELECT 1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
                break
            time.sleep(0.2)
        setting = "CREATE DATABASE shop; CREATE USER 'app'@'%' IDENTIFIED BY 'invented'; GRANT ALL ON shop.* TO 'app'@'%'; DROP USER IF EXISTS ''@'localhost'; DROP USER IF EXISTS ''@'app-1'; FLUSH PRIVILEGES; USE shop; " + "; ".join(MARIA_TABLES)
        subprocess.run(["mariadb", "--no-defaults", "-S", socket, "-e", setting], check=False)
        for case in [*STATEMENTS, "denied"]:
            at.fresh()
            at.put_file("statement.sql", STATEMENTS.get(case, "SELECT * FROM mysql.user"))
            form = forms(case) if case in STATEMENTS else "str"
            at.put_file("a.py", PYTHON.format(connect="import pymysql; link = pymysql.connect(host='127.0.0.1', port=3399, user='app', password='invented', database='shop')",
                                              execute="link.cursor().execute(statement)"))
            corpus.put(f"leaks/sql/mariadb-pymysql-{case}", at.out_of(f"python3 a.py {form}")[0])
            at.put_file("b.py", PYTHON.format(connect="import sqlalchemy; link = sqlalchemy.create_engine('mysql+pymysql://app:invented@127.0.0.1:3399/shop').connect()", execute="link.exec_driver_sql(statement)"))
            corpus.put(f"leaks/sql/mariadb-sqlalchemy-{case}", at.out_of(f"python3 b.py {form}")[0])
            at.put_file("a.php", PHP.format(connect="'mysql:host=127.0.0.1;port=3399;dbname=shop', 'app', 'invented'", pragma="SET @a = 1"))
            corpus.put(f"leaks/sql/mariadb-php-{case}", at.out_of("php a.php")[0])
            corpus.put(f"leaks/sql/mariadb-client-{case}", at.out_of("mariadb --no-defaults -h127.0.0.1 -P3399 -uapp -pinvented shop < statement.sql")[0])
        at.fresh()
        corpus.put("leaks/sql/mariadb-connect-wrong-password", at.out_of("mariadb --no-defaults -h127.0.0.1 -P3399 -uapp -pother shop")[0])
        corpus.put("leaks/sql/mariadb-connect-refused", at.out_of("mariadb --no-defaults -h127.0.0.1 -P3398 -uapp -pother shop")[0])
    finally:
        server.terminate()
        server.wait()


def make(corpus, at):
    sqlite(corpus, at)
    postgres(corpus, at)
    mariadb(corpus, at)
