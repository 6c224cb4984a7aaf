// A program in C++: values of every kind are told, an operation is declared, called and tested.
#include <mishap/test.h>

#include <string>
#include <string_view>

static mishap *greet(mishap_call *call)
{
    const char *name = mishap_string(call, "name");
    std::string hello = std::string("Hello, ") + name;
    if (mishap_boolean(call, "fail")) {
        mishap *m = mishap_raise(NOT_FOUND, "There is no %s.", name);
        mishap_tell(m, "text", "told");
        mishap_tell(m, "string", hello);
        mishap_tell(m, "view", std::string_view(hello).substr(0, 5));
        mishap_tell(m, "yes", true);
        mishap_tell(m, "flag", hello.empty());
        mishap_tell(m, "number", 7);
        mishap_tell(m, "size", hello.size());
        mishap_tell(m, "real", 1.5);
        return mishap_note(m, "private", "noted");
    }
    mishap_answer_member(call, "hello", hello);
    mishap_answer_array(call, "tags");
    for (const mishap_call *tag = mishap_first(call, "tags"); tag; tag = mishap_next(tag))
        mishap_answer_item(call, mishap_string(tag, ""));
    mishap_answer_end(call);
    return mishap_answer_member(call, "long", hello.size() > 20);
}

static mishap_param param(const char *name, mishap_type_of_param type)
{
    mishap_param made = mishap_param();
    made.name = name;
    made.type = type;
    return made;
}

static mishap_param list_of(const char *name, const mishap_param *items)
{
    mishap_param made = param(name, MISHAP_ARRAY);
    made.items = items;
    return made;
}

static mishap_operation operation(const char *name, const mishap_param *params)
{
    mishap_operation made = mishap_operation();
    made.name = name;
    made.summary = "Greet";
    made.params = params;
    made.run = greet;
    made.raises = MISHAP_RAISES(NOT_FOUND, UNAVAILABLE);
    return made;
}

static const mishap_param *const params = MISHAP_PARAMS(
    param("name", MISHAP_STRING), param("fail", MISHAP_BOOLEAN),
    list_of("tags", MISHAP_PARAMS(param("item", MISHAP_STRING))));
static const mishap_operation *const operations = MISHAP_OPERATIONS(operation("greet", params));

int main()
{
    mishap_app app = mishap_app();
    app.name = "greeter";
    app.operations = operations;
    mishap_test *t = mishap_test_begin(&app);
    std::string name = "A\"da";
    mishap_test_call_with(t, "greet", MISHAP_PAIRS({ "name", MISHAP_VALUE(name) },
                                                   { "tags", mishap_value_of_json("[\"a\",\"b\"]") }));
    mishap_expect_value(t, "hello", "Hello, A\"da");
    mishap_expect_value(t, "tags[1]", "b");
    mishap_expect_value(t, "long", false);
    mishap_test_call(t, "greet", "{\"name\":\"Ada\",\"fail\":true}");
    mishap_expect_code(t, NOT_FOUND);
    mishap_expect_told(t, "text", "told");
    mishap_expect_told(t, "string", std::string("Hello, Ada"));
    mishap_expect_told(t, "view", "Hello");
    mishap_expect_told(t, "yes", true);
    mishap_expect_told(t, "flag", false);
    mishap_expect_told(t, "number", 7);
    mishap_expect_told(t, "size", 10);
    mishap_expect_told(t, "real", 1.5);
    mishap_expect(t, mishap_is(mishap_test_failure(t), NOT_FOUND), "mishap_is() knows it");
    mishap_test_call(t, "greet", "{\"name\":7}");
    mishap_expect_field(t, "name", "invalid_type");
    return mishap_test_end(t);
}
