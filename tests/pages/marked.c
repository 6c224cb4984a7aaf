/*
 * A program with markup in every text that a person could see on a page. browser_test.py sees that
 * it is shown and never run. It is linked with the pages of a build without uPlot.
 *
 *     marked serve --listen 127.0.0.1:0
 */
#include <mishap/main.h>

#define MARK(place)                                                                                \
    "<img src=x onerror=\"window.planted='" place "'\"><script>window.planted=1</script>" place

static const char *const choices[] = { MARK("choice"), "other", NULL };
static const mishap_param params[] = {
    { "word", MISHAP_STRING, .required = true, .help = MARK("help") },
    { "choice", MISHAP_ENUM, .choices = choices },
    { 0 },
};
static const mishap_param answers[] = { { "word", MISHAP_STRING, .help = MARK("answer") }, { 0 } };

static mishap *run_planted(mishap_call *call)
{
    const char *word = mishap_string(call, "word");
    mishap_tell_operator(call, "%s", MARK("line"));
    mishap *cause = mishap_note(mishap_raise(RUNTIME_ERROR, "%s", MARK("cause")), "cause_note",
                                MARK("cause note"));
    mishap *m = mishap_raise(CONFLICT, "%s %s", MARK("message"), word);
    m = mishap_note(m, "inside", "only-for-the-operator-7c1f");
    m = mishap_tell(mishap_note(m, "note", MARK("note")), "told", MARK("told"));
    return mishap_because(mishap_suggest(m, MARK("suggestion")), cause);
}

static const mishap_operation operations[] = {
    { .name = "planted.fail",
      .summary = MARK("summary"),
      .description = MARK("description"),
      .params = params,
      .answers = answers,
      .run = run_planted,
      .route = "GET /planted",
      .raises = MISHAP_RAISES(CONFLICT) },
    { 0 },
};

static const mishap_app app = {
    .name = "marked", .version = "1", .summary = MARK("program"), .operations = operations
};

int main(int argc, char **argv)
{
    return mishap_main(argc, argv, &app);
}
