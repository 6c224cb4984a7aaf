/*
 * Books that are lent to members: a whole service on SQLite or PostgreSQL, to copy from.
 *
 *     loans books add --title Emma --author "Jane Austen"
 *     loans lend --member-id 1 --books '[{"book_id":1}]' --due 2030-02-28
 *
 * Its operations are declared at the end. loans_codes.txt has codes of its own, loans_test.c tests.
 */
#include <mishap/main.h>
#include <mishap/store.h>

#include "loans_codes.h"

/* -- the store: tables for both engines, and every statement ----------------------------------- */

/* The key of `lent` lets a book be lent once. AUTOINCREMENT: no loan gets the id of another. */
static const char *const sqlite_tables[] = {
    "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, author TEXT);"
    "CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT, email TEXT UNIQUE, address TEXT);"
    "CREATE TABLE loans (id INTEGER PRIMARY KEY AUTOINCREMENT, member_id INTEGER REFERENCES"
    " members, due TEXT, note TEXT, reminded TEXT);"
    "CREATE TABLE lent (book_id INTEGER PRIMARY KEY REFERENCES books, condition TEXT,"
    " loan_id INTEGER REFERENCES loans ON DELETE CASCADE)",
    NULL,
};
#define SERIAL "id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
static const char *const postgresql_tables[] = {
    "CREATE TABLE books (" SERIAL ", title text, author text);"
    "CREATE TABLE members (" SERIAL ", name text, email text UNIQUE, address text);"
    "CREATE TABLE loans (" SERIAL ", member_id bigint REFERENCES members, due date, note text,"
    " reminded date);"
    "CREATE TABLE lent (book_id bigint PRIMARY KEY REFERENCES books, condition text,"
    " loan_id bigint REFERENCES loans ON DELETE CASCADE)",
    NULL,
};

/* clang-format off */
enum { ADD_BOOK, LIST_BOOKS, ADD_MEMBER, LIST_MEMBERS, COUNT_LOANS, LEND, LEND_BOOK, RETURN_BOOKS,
       LIST_LOANS, COUNT_DUE, REMIND, END_LOANS, REMOVE_MEMBER, STATEMENTS };
#define DUE " FROM loans WHERE due < ?1 AND (reminded IS NULL OR reminded <> ?1)"
#define BOOKS(array, object) "SELECT id, member_id, due, note, (SELECT " array "(" object           \
    "('book_id', book_id, 'condition', condition)) FROM lent WHERE loan_id = id) FROM loans"       \
    " WHERE id > ?1 ORDER BY id LIMIT ?2"
static const mishap_statement statements[STATEMENTS] = {
    [ADD_BOOK] = { .text = "INSERT INTO books (title, author) VALUES (?1, ?2) RETURNING id",
                   .writes = true },
    [LIST_BOOKS] = { .text = "SELECT id, title, author, loan_id FROM books LEFT JOIN lent ON"
                             " book_id = id WHERE id > ?1 ORDER BY id LIMIT ?2" },
    [ADD_MEMBER] = { .text = "INSERT INTO members (name, email, address) VALUES (?1, ?2, ?3)"
                             " RETURNING id", .writes = true },
    [LIST_MEMBERS] = { .text = "SELECT id, name, email, address FROM members WHERE id > ?1"
                               " ORDER BY id LIMIT ?2" },
    [COUNT_LOANS] = { .text = "SELECT count(*) FROM loans WHERE member_id = ?1" },
    [LEND] = { .text = "INSERT INTO loans (member_id, due, note) VALUES (?1, ?2, ?3) RETURNING id",
               .writes = true },
    [LEND_BOOK] = { .text = "INSERT INTO lent (book_id, condition, loan_id) VALUES (?1, ?2, ?3)",
                    .writes = true },
    [RETURN_BOOKS] = { .text = "DELETE FROM loans WHERE id = ?1 RETURNING id", .writes = true },
    [LIST_LOANS] = { .text = BOOKS("json_group_array", "json_object"),
                     .postgresql = BOOKS("json_agg", "json_build_object") },
    [COUNT_DUE] = { .text = "SELECT count(*)" DUE },
    [REMIND] = { .text = "UPDATE loans SET reminded = ?1 WHERE id = (SELECT min(id)" DUE ")",
                 .writes = true },
    [END_LOANS] = { .text = "DELETE FROM loans WHERE member_id = ?1", .writes = true },
    [REMOVE_MEMBER] = { .text = "DELETE FROM members WHERE id = ?1 RETURNING id", .writes = true },
};
static const mishap_store_schema schema = { "loans", sqlite_tables, postgresql_tables, statements,
                                            STATEMENTS };
/* clang-format on */

static mishap *open_store(const mishap_setup *setup, void **state)
{
    mishap_store *store;
    mishap *failure = mishap_store_open_service(setup, &schema, &store);
    *state = store;
    return failure;
}

static void close_store(void *store)
{
    mishap_store_close(store);
}

static const char *identify_store(void *store)
{
    return mishap_store_identity(store);
}

static const mishap_service service = { "loans",
                                        "Books that are lent",
                                        .open = open_store,
                                        .close = close_store,
                                        .identity = identify_store,
                                        .settings = MISHAP_PARAMS(MISHAP_STORE_SETTING) };

/* -- queries ----------------------------------------------------------------------------------- */

/* A value is an argument of the call, or of a part of it; NULL if it was not given. */
static void bind(mishap_query *query, int place, const mishap_call *part, const char *name)
{
    mishap_kind kind = mishap_kind_of(part, name);
    if (kind == MISHAP_KIND_INT)
        mishap_query_bind_integer(query, place, mishap_integer(part, name));
    else if (kind == MISHAP_KIND_TEXT)
        mishap_query_bind_text(query, place, mishap_text_of(mishap_string(part, name)));
    else if (kind == MISHAP_KIND_JSON)
        mishap_query_bind_text(query, place, mishap_text_of(mishap_json(part, name)));
    else
        mishap_query_bind_null(query, place);
}

/* The store says only that something is taken or missing; the service knows what that means. */
static mishap *replace(mishap *failure, const mishap_code *code)
{
    mishap_free(failure);
    return mishap_raise_at(code, MISHAP_HERE, NULL); /* NULL: the sentence of the catalog */
}

/* A query that has one number as its result, or none; `names` are its values. */
static mishap *ask(mishap_store *store, size_t statement, const mishap_call *part,
                   const char *const *names, int64_t *number)
{
    mishap_query query;
    *number = 0;
    mishap_query_begin(&query, store, statement);
    for (int i = 0; names[i]; i++)
        bind(&query, i + 1, part, names[i]);
    while (mishap_query_step(&query))
        *number = mishap_query_integer(&query, 0);
    mishap *m = mishap_query_end(&query);
    return query.dangling ? replace(m, MISHAP_CODE_UNKNOWN_ID) : m;
}
#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Rows, each an object that a function writes behind its id. If another page follows, `next` says
 * where it begins. */
static mishap *answer_page(mishap_call *call, size_t statement,
                           void (*write)(mishap_call *, mishap_query *))
{
    int64_t last = 0;
    mishap_query query;
    mishap_page page;
    mishap_query_begin(&query, mishap_store_of(call), statement);
    bind(&query, 1, call, "after");
    mishap_answer_array(call, "items");
    mishap_page_begin(&page, &query, 2, mishap_integer(call, "limit"));
    while (mishap_page_step(&page, &query)) {
        last = mishap_query_integer(&query, 0);
        mishap_answer_object(call, NULL);
        mishap_answer_member(call, "id", last);
        write(call, &query);
        mishap_answer_end(call);
    }
    mishap_answer_end(call);
    if (page.more)
        mishap_answer_member(call, "next", last);
    return mishap_query_end(&query);
}

/* A column that has JSON, or nothing. */
static void write_json(mishap_call *call, mishap_query *query, int column, const char *key)
{
    mishap_text json = mishap_query_text(query, column);
    mishap_answer_json(
        call, key, json.data ? mishap_call_print(call, "%.*s", (int)json.length, json.data) : NULL);
}

/* -- handlers ---------------------------------------------------------------------------------- */

static mishap *add_book(mishap_call *call)
{
    int64_t id;
    MISHAP_TRY(ask(mishap_store_of(call), ADD_BOOK, call, NAMES("title", "author"), &id));
    return mishap_answer_member(call, "id", id);
}

static void write_book(mishap_call *call, mishap_query *query)
{
    mishap_answer_member(call, "title", mishap_query_text(query, 1));
    mishap_answer_member(call, "author", mishap_query_text(query, 2));
    write_json(call, query, 3, "loan_id");
}

static mishap *list_books(mishap_call *call)
{
    return answer_page(call, LIST_BOOKS, write_book);
}

static mishap *add_member(mishap_call *call)
{
    int64_t id;
    mishap *m = ask(mishap_store_of(call), ADD_MEMBER, call, NAMES("name", "email", "address"),
                    &id);
    MISHAP_TRY(mishap_tell(m, "email", mishap_string(call, "email"))); /* NULL stays NULL */
    return mishap_answer_member(call, "id", id);
}

static void write_member(mishap_call *call, mishap_query *query)
{
    mishap_answer_member(call, "name", mishap_query_text(query, 1));
    mishap_answer_member(call, "email", mishap_query_text(query, 2));
    write_json(call, query, 3, "address");
}

static mishap *list_members(mishap_call *call)
{
    return answer_page(call, LIST_MEMBERS, write_member);
}

static mishap *lend_book(mishap_store *store, const mishap_call *book, int64_t loan)
{
    mishap_query query;
    mishap_query_begin(&query, store, LEND_BOOK);
    bind(&query, 1, book, "book_id");
    bind(&query, 2, book, "condition");
    mishap_query_bind_integer(&query, 3, loan);
    mishap_query_step(&query);
    mishap *m = mishap_query_end(&query);
    if (query.taken)
        m = replace(m, MISHAP_CODE_BOOK_LENT);
    else if (query.dangling)
        m = replace(m, MISHAP_CODE_UNKNOWN_ID);
    return mishap_tell(m, "book_id", mishap_integer(book, "book_id"));
}

/* All books or none: a failure rolls the transaction back. It may be run several times. */
static mishap *lend_all(mishap_store *store, void *state)
{
    mishap_call *call = state;
    int64_t id, loans;
    MISHAP_TRY(ask(store, COUNT_LOANS, call, NAMES("member_id"), &loans));
    if (loans >= 5)
        return mishap_raise(LOAN_LIMIT, NULL);
    mishap *m = ask(store, LEND, call, NAMES("member_id", "due", "note"), &id);
    MISHAP_TRY(mishap_tell(m, "member_id", mishap_integer(call, "member_id")));
    for (const mishap_call *book = mishap_first(call, "books"); book; book = mishap_next(book))
        MISHAP_TRY(lend_book(store, book, id));
    return mishap_answer(call, mishap_call_print(call, "{\"id\":%lld}", (long long)id));
}

static mishap *lend_books(mishap_call *call)
{
    return mishap_store_transact(mishap_store_of(call),
                                 &(mishap_transaction){ .work = lend_all, .state = call });
}

static mishap *return_books(mishap_call *call)
{
    int64_t id;
    MISHAP_TRY(ask(mishap_store_of(call), RETURN_BOOKS, call, NAMES("id"), &id));
    if (id == 0)
        return mishap_tell(mishap_raise(UNKNOWN_ID, NULL), "id", mishap_integer(call, "id"));
    return mishap_no_content(call);
}

/* A person decides: the run ends and is rolled back, and with the answer it begins anew. */
static mishap *remove_all(mishap_store *store, void *state)
{
    mishap_call *call = state;
    const mishap_call *reply = mishap_reply(call, "end_loans");
    int64_t id, loans;
    MISHAP_TRY(ask(store, COUNT_LOANS, call, NAMES("member_id"), &loans));
    if (loans && !reply)
        return mishap_ask(call, "end_loans", NULL, "Also end its loans (%lld)?", (long long)loans);
    if (loans && !mishap_boolean(reply, "sure"))
        return mishap_raise(CANCELLED, "The member has loans, and was not removed.");
    MISHAP_TRY(ask(store, END_LOANS, call, NAMES("member_id"), &id));
    MISHAP_TRY(ask(store, REMOVE_MEMBER, call, NAMES("member_id"), &id));
    if (id == 0)
        return mishap_tell(mishap_raise(UNKNOWN_ID, NULL), "member_id",
                           mishap_integer(call, "member_id"));
    return mishap_no_content(call);
}

static mishap *remove_member(mishap_call *call)
{
    return mishap_store_transact(mishap_store_of(call),
                                 &(mishap_transaction){ .work = remove_all, .state = call });
}

static void write_loan(mishap_call *call, mishap_query *query)
{
    mishap_answer_member(call, "member_id", mishap_query_integer(query, 1));
    mishap_answer_member(call, "due", mishap_query_text(query, 2));
    mishap_answer_member(call, "note", mishap_query_text(query, 3));
    write_json(call, query, 4, "books");
}

static mishap *list_loans(mishap_call *call)
{
    return answer_page(call, LIST_LOANS, write_loan);
}

/* It tells how far it is, and ends early if its caller waits no more: the next run goes on there.
 * It asks before it sends many letters; a task holds no process until it is answered. */
static mishap *remind_members(mishap_call *call)
{
    mishap_store *store = mishap_store_of(call);
    int64_t done = 0, total, none;
    MISHAP_TRY(ask(store, COUNT_DUE, call, NAMES("day"), &total));
    const mishap_call *reply = mishap_reply(call, "send");
    if (total > 10 && !reply)
        return mishap_ask(call, "send", NULL, "Send %lld letters?", (long long)total);
    if (reply && !mishap_boolean(reply, "sure"))
        return mishap_answer_member(call, "reminded", 0);
    while (done < total && !mishap_cancelled(call)) {
        MISHAP_TRY(ask(store, REMIND, call, NAMES("day"), &none)); /* … and sends a letter */
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
#define SURE(what) MISHAP_PARAMS({ "sure", MISHAP_BOOLEAN, .required = true, .help = what })
#define BOOK TEXT("title"), TEXT("author")
#define MEMBER TEXT("name"), { "email", MISHAP_STRING, .required = true, .format = "email" }, \
      { "address", MISHAP_OBJECT, .members = MISHAP_PARAMS(TEXT("street"), TEXT("city")) }
#define LOAN ID("member_id", "Id of the member"), DATE("due", "Last day to return"), \
      LIST("books", 1, ID("book_id", "Id of the book"), \
        { "condition", MISHAP_ENUM, .choices = MISHAP_CHOICES("new", "good", "worn") }), \
      { "note", MISHAP_STRING, .length = { 0, 80 }, .help = "For the staff" }
#define CREATES .status = 201, .answers = MISHAP_PARAMS(ID("id", "Id of the new entry"))
#define RUN(function, at) .run = function, .tool = #function, .route = at, .service = &service
#define CHANGE(function, at) RUN(function, at), .scope = "loans:write"

static const mishap_app app = { "loans", "1.0", .task_store = &mishap_tasks_in_store,
  .scopes = MISHAP_SCOPES({ "loans:write", .help = "Change books, members and loans" }),
  .operations = MISHAP_OPERATIONS(
    { "books.add", "Add a book", MISHAP_PARAMS(BOOK), CHANGE(add_book, "POST /books"), CREATES },
    { "books.list", "List books", PAGE, RUN(list_books, "GET /books"),
      .answers = PAGE_OF(BOOK, { "loan_id", MISHAP_INTEGER, .help = "Loan id, if lent" }) },
    { "members.add", "Add a member", MISHAP_PARAMS(MEMBER), CHANGE(add_member, "POST /members"),
      .raises = MISHAP_RAISES(ALREADY_EXISTS), CREATES },
    { "members.list", "List members", PAGE, RUN(list_members, "GET /members"),
      .answers = PAGE_OF(MEMBER) },
    { "members.remove", "Remove a member", MISHAP_PARAMS(ID("member_id", "Id of the member")),
      CHANGE(remove_member, "DELETE /members/:member_id"), .raises = MISHAP_RAISES(UNKNOWN_ID),
      .asks = MISHAP_ASKS({ "end_loans", .params = SURE("End the loans") }), .status = 204 },
    { "lend", "Lend books to a member", MISHAP_PARAMS(LOAN), CHANGE(lend_books, "POST /loans"),
      .raises = MISHAP_RAISES(UNKNOWN_ID, BOOK_LENT, LOAN_LIMIT), CREATES },
    { "return", "Return the books of a loan", MISHAP_PARAMS(ID("id", "Id of the loan")),
      CHANGE(return_books, "DELETE /loans/:id"), .raises = MISHAP_RAISES(UNKNOWN_ID), .status = 204 },
    { "list", "List loans", PAGE, RUN(list_loans, "GET /loans"), .answers = PAGE_OF(LOAN) },
    { "remind", "Remind members of due loans", MISHAP_PARAMS(DATE("day", "Loans due before this")),
      CHANGE(remind_members, "POST /reminders"), .task = true, .idempotent = true,
      .asks = MISHAP_ASKS({ "send", .params = SURE("Send them") }), .timeout_ms = 600000 }) };
/* clang-format on */

int main(int argc, char **argv)
{
    mishap_catalog_add(&loans_code_table);
    return mishap_main(argc, argv, &app);
}
