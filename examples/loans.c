/*
 * Books that are lent to members: a whole service on SQLite, to copy from.
 *
 *     loans books add --title Emma --author "Jane Austen"
 *     loans lend --member-id 1 --books '[{"book_id":1}]' --due 2030-02-28
 *
 * Its operations are declared at the end. loans_codes.txt has codes of its own, loans_test.c tests.
 */
#include <mishap/main.h>

#include <sqlite3.h>

#include "loans_codes.h"

/* -- the store: each process that runs handlers opens it --------------------------------------- */

/* The key of `lent` lets a book be lent once. AUTOINCREMENT: no loan gets the id of another. */
static const char tables[] =
    "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;"
    "CREATE TABLE IF NOT EXISTS books (id INTEGER PRIMARY KEY, title, author);"
    "CREATE TABLE IF NOT EXISTS members (id INTEGER PRIMARY KEY, name, email UNIQUE, address);"
    "CREATE TABLE IF NOT EXISTS loans (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " member_id REFERENCES members, due, note, reminded);"
    "CREATE TABLE IF NOT EXISTS lent (book_id INTEGER PRIMARY KEY REFERENCES books, condition,"
    " loan_id REFERENCES loans ON DELETE CASCADE);";

static mishap *open_store(const mishap_setup *setup, void **state)
{
    /* Only the first process may create it: a running server must not go on with an empty one. */
    int how = SQLITE_OPEN_READWRITE | (setup->identity ? 0 : SQLITE_OPEN_CREATE);
    char path[4096];
    sqlite3 *db = NULL;
    sqlite3_snprintf(sizeof path, path, "%s/loans.sqlite", setup->data);
    if (sqlite3_open_v2(path, &db, how, NULL) == SQLITE_OK &&
        sqlite3_exec(db, tables, NULL, NULL, NULL) == SQLITE_OK) {
        *state = db;
        return NULL;
    }
    mishap *cause = mishap_raise_errno(sqlite3_system_errno(db), "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    return mishap_because(mishap_raise(NOT_CONFIGURED, "The database cannot be opened."), cause);
}

static void close_store(void *db)
{
    sqlite3_close(db);
}

static const mishap_service service = { "loans", "Books that are lent", .open = open_store,
                                        .close = close_store };

static void finalize(void *statement)
{
    sqlite3_finalize(statement);
}

/* A statement in which `:title` is the argument `title`, of the call or of a part of it, and NULL
 * if it was not given. However the call ends, the statement is finalized then. */
static sqlite3_stmt *prepare(mishap_call *call, const mishap_call *part, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(mishap_state(call), sql, -1, &statement, NULL);
    mishap_call_defer(call, finalize, statement);
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
        const char *name = sqlite3_bind_parameter_name(statement, i);
        mishap_kind kind = mishap_kind_of(part, ++name); /* without the colon */
        if (kind == MISHAP_KIND_INT)
            sqlite3_bind_int64(statement, i, mishap_integer(part, name));
        else if (kind == MISHAP_KIND_TEXT)
            sqlite3_bind_text(statement, i, mishap_string(part, name), -1, SQLITE_STATIC);
        else if (kind == MISHAP_KIND_JSON)
            sqlite3_bind_text(statement, i, mishap_json(part, name), -1, SQLITE_STATIC);
    }
    return statement;
}

/* One step. What SQLite says of a failure goes to the log, never to the caller. */
static mishap *step(mishap_call *call, sqlite3_stmt *statement)
{
    sqlite3 *db = mishap_state(call);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW || result == SQLITE_DONE)
        return NULL;
    if (result == SQLITE_BUSY)
        return mishap_raise(UNAVAILABLE, "The database is locked.");
    if (sqlite3_extended_errcode(db) == SQLITE_CONSTRAINT_FOREIGNKEY)
        return mishap_raise(UNKNOWN_ID, NULL); /* NULL: the sentence of the catalog */
    if (result == SQLITE_CONSTRAINT)
        return mishap_raise(ALREADY_EXISTS, NULL);
    return mishap_raise(INTERNAL_ERROR, "SQLite: %s", sqlite3_errmsg(db));
}

static mishap *run(mishap_call *call, const mishap_call *part, const char *sql)
{
    return step(call, prepare(call, part, sql));
}

static void roll_back(void *db)
{
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL); /* after a COMMIT there is nothing to do */
}

/* Rows of an id and an object, which SQLite writes. There is one row more than `limit` if another
 * page follows; then `next` says where it begins. */
static mishap *answer_page(mishap_call *call, const char *sql)
{
    sqlite3_stmt *rows = prepare(call, call, sql);
    int64_t left = mishap_integer(call, "limit"), last = 0;
    mishap_answer_array(call, "items");
    MISHAP_TRY(step(call, rows));
    while (sqlite3_data_count(rows) && left-- > 0) {
        last = sqlite3_column_int64(rows, 0);
        mishap_answer_json(call, NULL, (const char *)sqlite3_column_text(rows, 1));
        MISHAP_TRY(step(call, rows));
    }
    mishap_answer_end(call);
    return sqlite3_data_count(rows) ? mishap_answer_member(call, "next", last) : NULL;
}

/* -- handlers ---------------------------------------------------------------------------------- */

static mishap *add_book(mishap_call *call)
{
    MISHAP_TRY(run(call, call, "INSERT INTO books VALUES (NULL, :title, :author)"));
    return mishap_answer_member(call, "id", sqlite3_last_insert_rowid(mishap_state(call)));
}

static mishap *list_books(mishap_call *call)
{
    return answer_page(call, "SELECT id, json_object('id', id, 'title', title, 'author', author,"
                             " 'loan_id', loan_id) FROM books LEFT JOIN lent ON book_id = id"
                             " WHERE id > :after ORDER BY id LIMIT :limit + 1");
}

static mishap *add_member(mishap_call *call)
{
    mishap *m = run(call, call, "INSERT INTO members VALUES (NULL, :name, :email, :address)");
    MISHAP_TRY(mishap_tell(m, "email", mishap_string(call, "email"))); /* NULL stays NULL */
    return mishap_answer_member(call, "id", sqlite3_last_insert_rowid(mishap_state(call)));
}

static mishap *list_members(mishap_call *call)
{
    return answer_page(
        call, "SELECT id, json_object('id', id, 'name', name, 'email', email, 'address',"
              " json(address)) FROM members WHERE id > :after ORDER BY id LIMIT :limit + 1");
}

/* All books or none: what is not committed is rolled back when the call ends. */
static mishap *lend_books(mishap_call *call)
{
    sqlite3 *db = mishap_state(call);
    mishap_call_defer(call, roll_back, db);
    MISHAP_TRY(run(call, call, "BEGIN IMMEDIATE"));
    mishap *m = run(call, call,
                    "INSERT INTO loans SELECT NULL, :member_id, :due, :note, NULL WHERE"
                    " (SELECT count(*) FROM loans WHERE member_id = :member_id) < 5");
    MISHAP_TRY(mishap_tell(m, "member_id", mishap_integer(call, "member_id")));
    if (sqlite3_changes(db) == 0)
        return mishap_raise(LOAN_LIMIT, NULL);
    mishap_answer_member(call, "id", sqlite3_last_insert_rowid(db));
    for (const mishap_call *book = mishap_first(call, "books"); book; book = mishap_next(book)) {
        m = run(call, book, "INSERT INTO lent SELECT :book_id, :condition, max(id) FROM loans");
        if (mishap_is(m, ALREADY_EXISTS))
            m = mishap_because(mishap_raise(BOOK_LENT, NULL), m);
        MISHAP_TRY(mishap_tell(m, "book_id", mishap_integer(book, "book_id")));
    }
    return run(call, call, "COMMIT");
}

static mishap *return_books(mishap_call *call)
{
    MISHAP_TRY(run(call, call, "DELETE FROM loans WHERE id = :id"));
    if (sqlite3_changes(mishap_state(call)) == 0)
        return mishap_tell(mishap_raise(UNKNOWN_ID, NULL), "id", mishap_integer(call, "id"));
    return mishap_no_content(call);
}

static mishap *list_loans(mishap_call *call)
{
    return answer_page(
        call, "SELECT id, json_object('id', id, 'member_id', member_id, 'due', due, 'note', note,"
              " 'books', (SELECT json_group_array(json_object('book_id', book_id,"
              " 'condition', condition)) FROM lent WHERE loan_id = id)) FROM loans"
              " WHERE id > :after ORDER BY id LIMIT :limit + 1");
}

/* A long operation tells how far it is, and ends early if its caller does not wait any more. Each
 * loan is a transaction of its own: the next run goes on where this one has ended. */
#define DUE " FROM loans WHERE due < :day AND reminded IS NOT :day"
static mishap *remind_members(mishap_call *call)
{
    sqlite3_stmt *count = prepare(call, call, "SELECT count(*)" DUE);
    sqlite3_stmt *next = prepare(
        call, call, "UPDATE loans SET reminded = :day WHERE id = (SELECT id" DUE " LIMIT 1)");
    MISHAP_TRY(step(call, count));
    int64_t done = 0, total = sqlite3_column_int64(count, 0);
    sqlite3_reset(count); /* a statement that reads on would hold up the writing */
    while (done < total && !mishap_cancelled(call)) {
        MISHAP_TRY(step(call, next)); /* a real library would send a letter, too */
        mishap_progress(call, (double)++done, (double)total, "Reminding members");
    }
    return mishap_answer_member(call, "reminded", done);
}

/* -- declarations ------------------------------------------------------------------------------ */

/* clang-format off */
#define ID(name, what) { name, MISHAP_INTEGER, .required = true, .help = what }
#define TEXT(name)     { name, MISHAP_STRING, .required = true, .length = { 1, 200 } }
#define DATE(name, what) { name, MISHAP_STRING, .required = true, .format = "date", .help = what }
#define LIST(name, least, ...) { name, MISHAP_ARRAY, .required = true, .length = { least, 100 }, \
      .items = MISHAP_ITEM(MISHAP_OBJECT, .members = MISHAP_PARAMS(__VA_ARGS__)) }
#define PAGE MISHAP_PARAMS( \
      { "limit", MISHAP_INTEGER, .range = { 1, 100 }, .initial = "20", .help = "Page size" }, \
      { "after", MISHAP_INTEGER, .initial = "0", .help = "`next` of the last page" })
#define PAGE_OF(...) MISHAP_PARAMS(LIST("items", 0, ID("id", "Id of the entry"), __VA_ARGS__), \
      { "next", MISHAP_INTEGER, .help = "`after` of the next page; absent on the last page" })
#define BOOK TEXT("title"), TEXT("author")
#define MEMBER TEXT("name"), { "email", MISHAP_STRING, .required = true, .format = "email" }, \
      { "address", MISHAP_OBJECT, .members = MISHAP_PARAMS(TEXT("street"), TEXT("city")) }
#define LOAN ID("member_id", "Id of the member"), DATE("due", "Last day to return"), \
      LIST("books", 1, ID("book_id", "Id of the book"), \
        { "condition", MISHAP_ENUM, .choices = MISHAP_CHOICES("new", "good", "worn") }), \
      { "note", MISHAP_STRING, .length = { 0, 80 }, .help = "For the staff" }
#define CREATES .status = 201, .answers = MISHAP_PARAMS(ID("id", "Id of the new entry"))
#define RUN(function, at) .run = function, .tool = #function, .route = at, .service = &service

static const mishap_app app = { "loans", "1.0", .operations = MISHAP_OPERATIONS(
    { "books.add", "Add a book", MISHAP_PARAMS(BOOK), RUN(add_book, "POST /books"), CREATES },
    { "books.list", "List books", PAGE, RUN(list_books, "GET /books"),
      .answers = PAGE_OF(BOOK, { "loan_id", MISHAP_INTEGER, .help = "Loan id, if lent" }) },
    { "members.add", "Add a member", MISHAP_PARAMS(MEMBER), RUN(add_member, "POST /members"),
      .raises = MISHAP_RAISES(ALREADY_EXISTS), CREATES },
    { "members.list", "List members", PAGE, RUN(list_members, "GET /members"),
      .answers = PAGE_OF(MEMBER) },
    { "lend", "Lend books to a member", MISHAP_PARAMS(LOAN), RUN(lend_books, "POST /loans"),
      .raises = MISHAP_RAISES(UNKNOWN_ID, BOOK_LENT, LOAN_LIMIT), CREATES },
    { "return", "Return the books of a loan", MISHAP_PARAMS(ID("id", "Id of the loan")),
      RUN(return_books, "DELETE /loans/:id"), .raises = MISHAP_RAISES(UNKNOWN_ID), .status = 204 },
    { "list", "List loans", PAGE, RUN(list_loans, "GET /loans"), .answers = PAGE_OF(LOAN) },
    { "remind", "Remind members of due loans", MISHAP_PARAMS(DATE("day", "Loans due before this")),
      RUN(remind_members, "POST /reminders") }) };
/* clang-format on */

int main(int argc, char **argv)
{
    mishap_catalog_add(&loans_code_table);
    return mishap_main(argc, argv, &app);
}
