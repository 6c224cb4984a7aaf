/*
 * A program of the past: it is compiled with the headers of the last release (abi/include) and runs
 * with the library of today. It reads what the library makes and hands over what it makes itself,
 * so that a code at another address, a member at another place or a number with another meaning
 * changes what it prints. It prints no sentence of the catalog: these may change.
 */
#include <mishap/bind.h>
#include <mishap/json.h>
#include <stdio.h>
#include <string.h>

#include "old_codes.h"

/* The address of a code is a constant. */
static const mishap_code *const raises[] = { MISHAP_CODE_NOT_FOUND, MISHAP_CODE_TIMEOUT,
                                             MISHAP_CODE_CART_EMPTY, NULL };

/* What the program holds on its own, with something behind it that nothing may write to. */
static struct held {
    mishap_buffer buffer;
    unsigned char behind[64];
} held;

static void print_text(const char *name, mishap_text text)
{
    printf("%s=%.*s ", name, (int)text.length, text.data ? text.data : "");
}

static void print_value(const char *name, mishap_value value)
{
    if (value.kind == MISHAP_KIND_TEXT || value.kind == MISHAP_KIND_JSON)
        print_text(name, value.text);
    else if (value.kind == MISHAP_KIND_REAL)
        printf("%s=%g ", name, value.real);
    else
        printf("%s=%d:%lld ", name, (int)value.kind, (long long)value.integer);
}

static void print_code(const mishap_code *code)
{
    print_text("name", code->name);
    print_text("condition", code->condition);
    print_text("snake", code->snake);
    print_text("http", code->http_name);
    print_text("tool", code->tool_type);
    printf("category=%d retry=%d status=%d exit=%d rpc=%d masked=%d\n", (int)code->category,
           (int)code->retry, code->http_status, code->exit_code, code->rpc_code, code->masked);
}

static void print_told(const mishap_public *told)
{
    printf("code=%s category=%d retryable=%d stated=%d after=%lld ", told->code->name.data,
           (int)told->category, told->retryable, told->retry_stated,
           (long long)told->retry_after_ms);
    print_text("message", told->message);
    print_text("cause", told->cause);
    print_text("suggestion", told->suggestion);
    print_text("docs", told->docs_url);
    print_text("incident", told->incident);
    print_text("type", told->type);
    print_text("output", told->output);
    printf("fields=%zu frames=%zu\n", told->field_count, told->frame_count);
    for (const mishap_member *member = told->context; member; member = member->next) {
        print_text("  key", member->key);
        print_value("value", member->value);
        printf("\n");
    }
    for (const mishap_field *field = told->fields; field; field = field->next) {
        print_text("  field", field->field);
        print_text("error", field->error);
        print_value("expected", field->expected);
        print_value("actual", field->actual);
        print_value("min", field->min);
        print_value("max", field->max);
        print_text("message", field->message);
        printf("\n");
    }
    for (const mishap_frame *frame = told->frames; frame; frame = frame->next) {
        print_text("  frame", frame->text);
        printf("\n");
    }
}

static void print_finding(void *state, const mishap_finding *finding)
{
    if (strcmp(finding->rule, "wrong-type") != 0)
        return; /* there may be more rules today */
    (*(int *)state)++;
    printf("rule=%s severity=%d ", finding->rule, (int)finding->severity);
    print_text("place", finding->place);
    printf("sentence=%d\n", finding->sentence.length > 0);
}

/* Each code by its address: what the library says of it, and what comes back from a document. */
static void use_codes(const mishap_dialect *canonical)
{
    for (size_t i = 0; raises[i]; i++) {
        mishap *m = mishap_raise_at(raises[i], MISHAP_HERE, NULL), *read = NULL;
        mishap_buffer_reset(&held.buffer);
        mishap_text text = mishap_render(canonical, m, &held.buffer);
        mishap *failure = mishap_parse(canonical, text, &read);
        printf("%s %d %d %d\n", mishap_told(m)->code->name.data, mishap_has_code(m, raises[i]),
               mishap_code_find(raises[i]->name) == raises[i],
               !failure && mishap_told(read)->code == raises[i]);
        print_code(raises[i]);
        mishap_free(failure);
        mishap_free(read);
        mishap_free(m);
    }
    mishap *m = mishap_raise_errno(2, "It is gone."); /* the library's own NOT_FOUND */
    printf("%d %d\n", mishap_is(m, NOT_FOUND), mishap_is(m, UNAVAILABLE_FOR_LEGAL_REASONS));
    mishap_free(m);
}

/* All that a mishap can have, there and back. */
static void use_mishap(const mishap_dialect *canonical)
{
    static const mishap_field wrong = {
        .field = { "seats", 5 },
        .error = { "value_out_of_range", 18 },
        .expected = { .kind = MISHAP_KIND_TEXT, .text = { "integer", 7 } },
        .actual = { .kind = MISHAP_KIND_INT, .integer = 9 },
        .min = { .kind = MISHAP_KIND_INT, .integer = 1 },
        .max = { .kind = MISHAP_KIND_INT, .integer = 8 },
        .message = { "There are 8 seats.", 18 },
    };
    mishap *m = mishap_validation_as(VALIDATION_ERROR, "There is no train %d.", 7), *read = NULL;
    m = mishap_tell(m, "train", 7);
    m = mishap_tell(m, "late", true);
    m = mishap_tell(m, "speed", 2.5);
    m = mishap_tell_json(m, mishap_text_of("stops"), mishap_text_of("[1,2]"));
    m = mishap_field_add(m, &wrong);
    m = mishap_field_put(m, mishap_text_of("day"), mishap_text_of("field_required"),
                         mishap_text_of("Say the day."));
    m = mishap_field_put_expected(m, mishap_value_of_string("date"));
    m = mishap_tell_cause(mishap_suggest(mishap_docs(m, "https://example.org/"), "Walk."), "Snow.");
    m = mishap_incident(mishap_retry_after(m, 1500), "42");
    m = mishap_frame_add(mishap_output(mishap_type(m, "train-error"), mishap_text_of("Hoo")),
                         mishap_text_of("0: (go)"));
    m = mishap_note(mishap_because(m, mishap_raise(TIMEOUT, "It took long.")), "driver", "Ada");
    print_told(mishap_told(m));
    printf("cause=%s\n", mishap_told(mishap_cause(m))->code->name.data);
    mishap_buffer_reset(&held.buffer);
    mishap *failure = mishap_parse(canonical, mishap_render(canonical, m, &held.buffer), &read);
    if (!failure)
        print_told(mishap_told(read));
    printf("%d failed=%d heap=%d\n",
           held.buffer.length > 100 && held.buffer.length <= held.buffer.capacity,
           held.buffer.failed, held.buffer.on_heap);
    mishap_free(failure);
    mishap_free(read);
    mishap_free(m);
}

int main(void)
{
    const mishap_dialect *canonical = mishap_dialect_find("canonical");
    int found = 0;
    memset(held.behind, 0xA5, sizeof held.behind);
    mishap_catalog_add(&old_code_table);
    use_codes(canonical);
    use_mishap(canonical);
    mishap *failure = mishap_verify(mishap_dialect_find("problem"),
                                    mishap_text_of("{\"status\": \"404\", \"type\": 1}"), true,
                                    print_finding, &found);
    printf("%d findings\n", found > 0 && !failure);
    for (const mishap_rule *rule = mishap_rules(); rule->name; rule++)
        if (strcmp(rule->name, "missing-member") == 0)
            printf("rule %s %d %d\n", rule->name, (int)rule->severity, rule->strict);
    mishap_buffer_release(&held.buffer);
    for (size_t i = 0; i < sizeof held.behind; i++)
        if (held.behind[i] != 0xA5)
            return printf("something was written behind the buffer\n"), 1;
    printf("%d\n", mishap_version_number() >= MISHAP_VERSION_NUMBER);
    return 0;
}
