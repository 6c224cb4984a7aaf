/* The tool that is measured: it says what it was told. */
#include <mishap/main.h>

static const mishap_param params[] = {
    { "text", MISHAP_STRING, .required = true, .length = { 1, 1000 }, .help = "What to say" },
    { 0 },
};

static mishap *echo(mishap_call *call)
{
    return mishap_answer_member(call, "text", mishap_string(call, "text"));
}

static const mishap_param answers[] = { { "text", MISHAP_STRING, .required = true }, { 0 } };

static const mishap_operation operations[] = {
    { .name = "echo",
      .summary = "Say it again",
      .params = params,
      .answers = answers,
      .run = echo,
      .route = "POST /echo",
      .quick = true },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "echo", .version = "1.0", .operations = operations });
}
