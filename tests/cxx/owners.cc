// mishap/mishap.hpp: owners free what they own, results carry failures, and no exception leaves a
// handler.
#include <mishap/mishap.hpp>
#include <mishap/test.h>

#include <new>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

using mishaps::call;
using mishaps::failure;
using mishaps::result;

static result<int> half_of(int64_t number)
{
    if (number % 2)
        return mishap_tell(mishap_raise(INVALID_ARGUMENT, "%d is odd.", static_cast<int>(number)),
                           "number", number);
    return static_cast<int>(number / 2);
}

static result<void> halve(call call)
{
    result<int> half = half_of(call.integer("number"));
    if (!half)
        return half.failed();
    return call.answer("half", *half);
}

static result<void> quarter(call call)
{
    return half_of(call.integer("number"))
        .and_then([](int half) { return half_of(half); })
        .transform([](int quarter) { return std::to_string(quarter); })
        .and_then(
            [&](const std::string &words) { return result<void>(call.answer("quarter", words)); });
}

static void by_exception(call call)
{
    mishap_answer_array(call, "halves");
    for (mishaps::part item : call.each("numbers"))
        call.answer_item(half_of(item.integer("")).value());
    mishap_answer_end(call);
}

struct odd {
};

static failure throw_it(call call)
{
    std::string_view how = call.string("how");
    std::vector<std::string> owned(100, "freed on every way out, and long enough for the heap");
    if (how == "runtime")
        throw std::runtime_error("secret-of-the-operator");
    if (how == "memory")
        throw std::bad_alloc();
    if (how == "other")
        throw odd();
    if (how == "taken") {
        mishaps::thrown exception(mishap_raise(CONFLICT, "Taken."));
        failure taken = exception.take();
        throw exception;
    }
    failure cause = mishap_raise(UNAVAILABLE, "The shelf is away.");
    return failure(mishap_raise(CONFLICT, "It is lent."))
        .tell("until", std::string("noon"))
        .note("shelf", 7)
        .because(std::move(cause));
}

static const mishap_param number_params[] = {
    { .name = "number", .type = MISHAP_INTEGER, .required = true }, {}
};
static const mishap_param numbers_params[] = { { .name = "numbers",
                                                 .type = MISHAP_ARRAY,
                                                 .items = MISHAP_ITEM(MISHAP_INTEGER,
                                                                      .required = true) },
                                               {} };
static const mishap_param how_params[] = { { .name = "how", .type = MISHAP_STRING }, {} };

static const mishap_operation operations[] = { { .name = "halve",
                                                 .summary = "Halve",
                                                 .params = number_params,
                                                 .run = mishaps::handler<halve>,
                                                 .raises = MISHAP_RAISES(INVALID_ARGUMENT) },
                                               { .name = "quarter",
                                                 .summary = "Quarter",
                                                 .params = number_params,
                                                 .run = mishaps::handler<quarter>,
                                                 .raises = MISHAP_RAISES(INVALID_ARGUMENT) },
                                               { .name = "each",
                                                 .summary = "Halve each",
                                                 .params = numbers_params,
                                                 .run = mishaps::handler<by_exception>,
                                                 .raises = MISHAP_RAISES(INVALID_ARGUMENT) },
                                               { .name = "throw",
                                                 .summary = "Throw",
                                                 .params = how_params,
                                                 .run = mishaps::handler<throw_it>,
                                                 .raises = MISHAP_RAISES(CONFLICT) },
                                               {} };

static void owners_own(mishap_test *t)
{
    failure first = mishap_raise(NOT_FOUND, "None."), second = std::move(first);
    mishap_expect(t, !first && second && second.is(MISHAP_CODE_NOT_FOUND), "a failure moves");
    second = mishap_raise(CONFLICT, "Other.");
    mishap_expect(t, second.message() == "Other.", "what a failure held before is freed");
    mishap_expect(t, second.render("problem").find("\"Other.\"") != std::string::npos,
                  "it is rendered");
    mishap_expect(t, second.render("none").empty() && failure().render("problem").empty(),
                  "or not");
    mishaps::buffer one;
    mishap_buffer_add(one.get(), "abc", 3);
    mishaps::buffer two = std::move(one);
    mishap_expect(t, two.text() == "abc" && one.text().empty() && !two.failed(), "a buffer moves");
    result<std::string> text = std::string("a"), none = mishap_raise(NOT_FOUND, "None.");
    mishap_expect(t, text->size() == 1 && std::move(none).value_or("b") == "b",
                  "a result has a value, or another one");
    none = std::move(text);
    mishap_expect(t, none && *none == "a", "a result is assigned");
    result<void> done, failed = mishap_raise(CONFLICT, "Twice.");
    bool threw = false;
    done.value();
    try {
        failed.value();
    } catch (const mishaps::thrown &exception) {
        threw = std::string_view(exception.what()) == "Twice." &&
                exception.failed().is(MISHAP_CODE_CONFLICT);
    }
    mishap_expect(t, threw, "a value that is not there throws the failure");
    mishap_expect(t, std::move(done).and_then([] { return result<int>(3); }).value() == 3,
                  "success goes on");
}

int main()
{
    const mishap_app app = { .name = "owners", .operations = operations };
    mishap_test *t = mishap_test_begin(&app);
    owners_own(t);
    mishap_test_call(t, "halve", "{\"number\":8}");
    mishap_expect_value(t, "half", 4);
    mishap_test_call(t, "halve", "{\"number\":7}");
    mishap_expect_code(t, INVALID_ARGUMENT);
    mishap_expect_told(t, "number", 7);
    mishap_test_call(t, "quarter", "{\"number\":8}");
    mishap_expect_value(t, "quarter", "2");
    mishap_test_call(t, "quarter", "{\"number\":6}");
    mishap_expect_told(t, "number", 3);
    mishap_test_call(t, "each", "{\"numbers\":[2,4]}");
    mishap_expect_value(t, "halves[1]", 2);
    mishap_test_call(t, "each", "{\"numbers\":[2,5,9]}");
    mishap_expect_code(t, INVALID_ARGUMENT);
    mishap_expect_told(t, "number", 5);
    mishap_test_call(t, "throw", "{}");
    mishap_expect_code(t, CONFLICT);
    mishap_expect_told(t, "until", "noon");
    mishap_expect(t, mishap_cause(mishap_test_failure(t)), "it has its cause");
    for (const char *how : { "runtime", "memory", "other", "taken" }) {
        mishap_test_call_with(t, "throw", MISHAP_PAIRS({ "how", MISHAP_VALUE(how) }));
        mishap_expect_code(t, INTERNAL_ERROR);
        mishaps::buffer told, account;
        mishap_text text = mishap_render(mishap_dialect_find("problem"), mishap_test_failure(t),
                                         told.get());
        mishap_account(mishap_test_failure(t), account.get());
        mishap_expect(t, mishaps::view(text).find("secret") == std::string_view::npos,
                      "%s: callers learn nothing", how);
        if (std::string_view(how) == "runtime")
            mishap_expect(t,
                          account.text().find("std::runtime_error: secret-of-the-operator") !=
                              std::string_view::npos,
                          "the operator learns all");
        if (std::string_view(how) == "other")
            mishap_expect(t, account.text().find("odd") != std::string_view::npos,
                          "the type of any exception");
    }
    result<mishaps::answered> answer = mishaps::invoke(app, "halve", "{\"number\":8}");
    mishap_expect(t,
                  answer && answer->json().integer("half") == 4 && answer->text() == "{\"half\":4}",
                  "it is called from C++");
    mishap_expect(t, mishaps::invoke(app, "none").error().is(MISHAP_CODE_NOT_FOUND), "or not");
    return mishap_test_end(t);
}
