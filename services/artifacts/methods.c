/* The artifacts that exist from the beginning, their methods, and the arguments of each method. The
 * table finds arguments that are missing or have the wrong type. */
#include <stdio.h>

#include "artifacts/request.h"

/* clang-format off */
#define NAME(n) { n, ARTIFACTS_NAME, false }
#define NAME_OR_NOT(n) { n, ARTIFACTS_NAME, true }
#define TEXT(n) { n, ARTIFACTS_TEXT, false }
#define TEXT_OR_NOT(n) { n, ARTIFACTS_TEXT, true }
#define WORD(n) { n, ARTIFACTS_WORD, false }
#define WORD_OR_NOT(n) { n, ARTIFACTS_WORD, true }
#define INTEGER(n) { n, ARTIFACTS_INTEGER, false }
#define INTEGER_OR_NOT(n) { n, ARTIFACTS_INTEGER, true }
#define FILTER_OR_NOT(n) { n, ARTIFACTS_FILTER, true }
/* clang-format on */

static const artifacts_method ledger[] = {
    { "balance", { NAME("agent_id") }, .run = artifacts_ledger_balance },
    { "all_balances", { { 0 } }, .run = artifacts_ledger_balances },
    { "transfer",
      { NAME("from_id"), NAME("to_id"), INTEGER("amount") },
      .run = artifacts_ledger_transfer,
      .writes = true },
    { "transfer_ownership",
      { NAME("artifact_id"), NAME("to_id") },
      .run = artifacts_ledger_give,
      .writes = true },
    { "spawn_principal", { { 0 } }, artifacts_ledger_spawn, .writes = true },
    { 0 },
};

static const artifacts_method mint[] = {
    { "status", { { 0 } }, artifacts_mint_status, .tends = true },
    { "bid",
      { NAME("artifact_id"), INTEGER("amount") },
      .run = artifacts_mint_bid,
      .writes = true,
      .tends = true },
    { "check", { NAME("artifact_id") }, artifacts_mint_check, .tends = true },
    { "resolve", { { 0 } }, artifacts_mint_resolve, .writes = true, .system = true },
    { 0 },
};

static const artifacts_method escrow[] = {
    { "deposit",
      { NAME("artifact_id"), INTEGER("price"), NAME_OR_NOT("buyer") },
      .run = artifacts_escrow_deposit,
      .writes = true },
    { "purchase",
      { NAME("artifact_id"), INTEGER_OR_NOT("price"), INTEGER_OR_NOT("version") },
      .run = artifacts_escrow_purchase,
      .writes = true },
    { "cancel", { NAME("artifact_id") }, artifacts_escrow_cancel, .writes = true },
    { "check", { NAME("artifact_id") }, .run = artifacts_escrow_check },
    { "list_active", { { 0 } }, .run = artifacts_escrow_list },
    { 0 },
};

static mishap *get_artifact(artifacts_request *r);

static const artifacts_method store[] = {
    { "list", { FILTER_OR_NOT("filter") }, .run = artifacts_store_list },
    { "get", { NAME("id") }, .run = get_artifact },
    { "search",
      { WORD("query"), WORD_OR_NOT("field"), INTEGER_OR_NOT("limit") },
      .run = artifacts_store_search,
      .apart = true },
    { "list_by_type", { NAME("type") }, .run = artifacts_store_list_type },
    { "list_by_owner", { NAME("owner") }, .run = artifacts_store_list_owner },
    { "count", { FILTER_OR_NOT("filter") }, .run = artifacts_store_count, .apart = true },
    { "create",
      { NAME("id"), NAME("type"), TEXT("content"), TEXT_OR_NOT("code") },
      .run = artifacts_store_create,
      .writes = true },
    { "update",
      { NAME("id"), TEXT("content"), TEXT_OR_NOT("code") },
      .run = artifacts_store_update,
      .writes = true },
    { "delete", { NAME("id") }, artifacts_store_delete, .writes = true },
    { 0 },
};

static const artifacts_method event_log[] = {
    { "read", { INTEGER_OR_NOT("after"), INTEGER_OR_NOT("limit") }, .run = artifacts_log_read },
    { 0 },
};

static const artifacts_genesis genesis[] = {
    { "genesis_ledger", ledger }, { ARTIFACTS_MINT, mint },           { ARTIFACTS_ESCROW, escrow },
    { "genesis_store", store },   { "genesis_event_log", event_log },
};

/* -- finding ----------------------------------------------------------------------------------- */

const artifacts_genesis *artifacts_genesis_find(const char *id)
{
    for (size_t i = 0; i < sizeof genesis / sizeof *genesis; i++)
        if (strcmp(genesis[i].id, id) == 0)
            return &genesis[i];
    return NULL;
}

/* The methods and their arguments: {"transfer":["from_id","to_id","amount"],…}. */
static void put_methods(mishap_buffer *b, const char *key, const artifacts_genesis *of)
{
    mishap_json_put_object(b, key);
    for (const artifacts_method *m = of->methods; m->name; m++) {
        if (m->system)
            continue;
        mishap_json_put_array(b, m->name);
        for (const artifacts_argument *a = m->arguments; a->name; a++) {
            char name[80];
            snprintf(name, sizeof name, "%s%s", a->name, a->optional ? "?" : "");
            mishap_json_put(b, NULL, name);
        }
        mishap_json_put_end(b, ']');
    }
    mishap_json_put_end(b, '}');
}

static mishap *show_genesis(artifacts_request *r, const artifacts_genesis *of)
{
    mishap_json_put(&r->answer, "id", of->id);
    mishap_json_put(&r->answer, "type", "genesis");
    mishap_json_put(&r->answer, "owner", "system");
    put_methods(&r->answer, "methods", of);
    return NULL;
}

/* genesis_store.get, of a genesis artifact or one of the store. */
static mishap *get_artifact(artifacts_request *r)
{
    const artifacts_genesis *of = artifacts_genesis_find(r->args[0].text.data);
    return of ? show_genesis(r, of) : artifacts_store_get(r);
}

static void put_names(mishap_buffer *b, const artifacts_argument *arguments, bool all)
{
    mishap_buffer_add(b, "[", 1);
    for (; arguments->name; arguments++)
        if (all || !arguments->optional)
            mishap_json_put(b, NULL, arguments->name);
    mishap_buffer_add(b, "]", 1);
}

/* Tell a piece of JSON, and free it. */
static mishap *tell_json(mishap *m, const char *key, mishap_buffer *json)
{
    mishap_buffer_add(json, "", 1);
    if (!json->failed)
        m = mishap_tell(m, key, mishap_value_of_json(json->data));
    mishap_buffer_release(json);
    return m;
}

mishap *artifacts_method_find(const artifacts_genesis *of, const char *name,
                              const artifacts_method **method)
{
    mishap_buffer names = { 0 };
    for (*method = of->methods; (*method)->name; (*method)++)
        if (strcmp((*method)->name, name) == 0)
            return NULL;
    *method = NULL;
    mishap_buffer_add(&names, "[", 1);
    for (const artifacts_method *m = of->methods; m->name; m++)
        if (!m->system)
            mishap_json_put(&names, NULL, m->name);
    mishap_buffer_add(&names, "]", 1);
    mishap *m = mishap_resource("The artifact %s has no method %s.", of->id, name);
    return mishap_suggest(tell_json(m, "methods", &names),
                          "genesis_store.get with the id of a genesis artifact lists its methods.");
}

/* -- what is wrong with arguments -------------------------------------------------------------- */

/* "transfer requires [from_id, to_id, amount]" */
static mishap *missing(const artifacts_method *method)
{
    char list[200];
    size_t length = 0;
    mishap_buffer required = { 0 };
    list[0] = '\0';
    for (const artifacts_argument *a = method->arguments; a->name; a++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s%s",
                                   length ? ", " : "", a->name, a->optional ? "?" : "");
    put_names(&required, method->arguments, false);
    return tell_json(mishap_validation_as(MISSING_ARGUMENT, "%s requires [%s]", method->name, list),
                     "required", &required);
}

static const char *word_of(const mishap_call *call, const char *path)
{
    switch (mishap_kind_of(call, path)) {
    case MISHAP_KIND_BOOL:
        return "boolean";
    case MISHAP_KIND_INT:
    case MISHAP_KIND_UINT:
    case MISHAP_KIND_REAL:
        return "number";
    case MISHAP_KIND_TEXT:
        return "string";
    case MISHAP_KIND_JSON: {
        char first = *mishap_json(call, path);
        return first == '{' ? "object" : first == '[' ? "array" : "number";
    }
    default:
        return "null";
    }
}

static const char *article(const char *noun)
{
    return strchr("aio", *noun) ? "an" : "a";
}

static mishap *wrong_type(const mishap_call *call, const char *path, const char *name,
                          const char *expected)
{
    const char *actual = word_of(call, path);
    mishap *m = mishap_validation_as(INVALID_TYPE, "%s must be %s %s, not %s %s", name,
                                     article(expected), expected, article(actual), actual);
    return mishap_tell(mishap_tell(mishap_tell(m, "argument", name), "expected", expected),
                       "actual", actual);
}

static mishap *invalid(const char *name, const char *why)
{
    return mishap_tell(mishap_validation("%s %s", name, why), "argument", name);
}

/* -- reading ----------------------------------------------------------------------------------- */

static bool is_name(mishap_text text)
{
    if (!text.length || text.length > ARTIFACTS_LONGEST_NAME)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!letter && (i == 0 || (c != '.' && c != '_' && c != '-')))
            return false;
    }
    return true;
}

static mishap *read_text(artifacts_request *r, const char *path, const artifacts_argument *about,
                         artifacts_value *value)
{
    if (mishap_kind_of(r->call, path) != MISHAP_KIND_TEXT)
        return wrong_type(r->call, path, about->name, "string");
    value->text = (mishap_text){ mishap_string(r->call, path),
                                 mishap_string_length(r->call, path) };
    if (strlen(value->text.data) != value->text.length)
        return invalid(about->name, "must not contain a NUL character");
    if (about->type == ARTIFACTS_NAME && !is_name(value->text))
        return invalid(about->name, "must be 1 to 63 of a-z, 0-9, dot, underscore and hyphen, with "
                                    "a letter or digit first");
    if (about->type == ARTIFACTS_WORD && (!value->text.length || value->text.length > 1000))
        return invalid(about->name, "must have 1 to 1000 bytes");
    if (value->text.length > ARTIFACTS_LONGEST_TEXT)
        return invalid(about->name, "must have at most 65536 bytes");
    return NULL;
}

/* Some clients send every number with a fraction: 3.0 counts as an integer, 2.9 does not. */
static mishap *read_integer(artifacts_request *r, const char *path, const artifacts_argument *about,
                            artifacts_value *value)
{
    enum { EXACT_BITS = 53 };
    double real;
    switch (mishap_kind_of(r->call, path)) {
    case MISHAP_KIND_INT:
        value->integer = mishap_integer(r->call, path);
        return NULL;
    case MISHAP_KIND_REAL:
        real = mishap_number(r->call, path);
        /* A larger number may have been rounded. */
        if (fabs(real) >= (double)(INT64_C(1) << EXACT_BITS))
            return invalid(about->name, "is too large");
        if (real != floor(real))
            return wrong_type(r->call, path, about->name, "integer");
        value->integer = (int64_t)real;
        return NULL;
    case MISHAP_KIND_UINT:
        return invalid(about->name, "is too large");
    case MISHAP_KIND_JSON:
        if (strcmp(word_of(r->call, path), "number") == 0)
            return invalid(about->name, "is too large");
        return wrong_type(r->call, path, about->name, "integer");
    default:
        return wrong_type(r->call, path, about->name, "integer");
    }
}

static mishap *read_one(artifacts_request *r, const char *path, const artifacts_argument *about,
                        artifacts_value *value)
{
    value->given = true;
    switch (about->type) {
    case ARTIFACTS_INTEGER:
        return read_integer(r, path, about, value);
    case ARTIFACTS_FILTER:
        return strcmp(word_of(r->call, path), "object") == 0
                   ? NULL
                   : wrong_type(r->call, path, about->name, "object");
    case ARTIFACTS_NAME:
    case ARTIFACTS_TEXT:
    case ARTIFACTS_WORD:
        return read_text(r, path, about, value);
    }
    return NULL;
}

static mishap *too_many(const artifacts_method *method, size_t most, size_t count)
{
    mishap *m = mishap_validation("%s takes at most %zu arguments", method->name, most);
    return mishap_tell(mishap_tell(m, "most", most), "given", count);
}

mishap *artifacts_arguments_read(artifacts_request *r)
{
    const artifacts_argument *arguments = r->method->arguments;
    size_t count = mishap_count(r->call, "args"), most = 0;
    char path[32];
    for (; arguments[most].name; most++) {
        snprintf(path, sizeof path, "args[%zu]", most);
        if (!arguments[most].optional && (most >= count || !mishap_given(r->call, path)))
            return missing(r->method);
    }
    if (count > most)
        return too_many(r->method, most, count);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "args[%zu]", i);
        r->args[i] = (artifacts_value){ 0 };
        if (mishap_given(r->call, path))
            MISHAP_TRY(read_one(r, path, &arguments[i], &r->args[i]));
    }
    return NULL;
}
