/* What the OpenAPI document of a program has about tasks (src/task), if one of its operations is
 * `.task`: the endpoints below /tasks, the header that asks for a task, and the response 202. */
#include "http/documents/openapi.h"

#include "operation/schema.h"

static const char *const task_states[] = { "queued",    "running", "succeeded", "failed",
                                           "cancelled", "asking",  NULL };
static const mishap_param task_progress[] = {
    { "done", MISHAP_NUMBER, .required = true },
    { "total", MISHAP_NUMBER, .help = "Absent: it is not known" },
    { "message", MISHAP_STRING, .help = "What it does now" },
    { 0 },
};
static const mishap_param task_answers[] = {
    { "id", MISHAP_STRING, .required = true },
    { "operation", MISHAP_STRING, .required = true, .help = "The name of the operation" },
    { "state", MISHAP_ENUM, .required = true, .choices = task_states },
    { "created", MISHAP_TIMESTAMP, .required = true },
    { "updated", MISHAP_TIMESTAMP, .required = true },
    { "expires", MISHAP_TIMESTAMP,
      .help = "When it is forgotten; of one that asks: when that ends it" },
    { "answer", MISHAP_STRING, .help = "The path of its answer; absent while it has not ended" },
    { "cancelling", MISHAP_BOOLEAN, .help = "It was cancelled, and has not ended yet" },
    { "progress", MISHAP_OBJECT, .members = task_progress },
    { "questions", MISHAP_OBJECT,
      .help = "What it asks, each with its `message` and the `schema` of the answer; absent unless "
              "its state is `asking`" },
    { 0 },
};
static const mishap_param give_params[] = {
    { "id", MISHAP_STRING, .required = true, .help = "The id of the task" },
    { "answers", MISHAP_OBJECT, .required = true,
      .help = "{\"QUESTION\":{…}}, or {\"QUESTION\":null} to decline" },
    { 0 },
};
static const mishap_param task_params[] = {
    { "id", MISHAP_STRING, .required = true, .help = "The id of the task" },
    { 0 },
};
static const mishap_operation described_tasks[] = {
    { .name = "tasks.show",
      .summary = "Show how far a task is",
      .description = "With `Accept: text/event-stream`, a stream: an event `task` with the same "
                     "object whenever it has changed, until the task ends.",
      .route = "GET /tasks/:id",
      .params = task_params,
      .answers = task_answers,
      .raises = MISHAP_RAISES(NOT_FOUND, UNAVAILABLE) },
    { .name = "tasks.answer",
      .summary = "Get the answer of a task that has ended",
      .description = "The status, the body and the headers are those of the call, also if it has "
                     "failed. 409 while the task has not ended.",
      .route = "GET /tasks/:id/answer",
      .params = task_params,
      .raises = MISHAP_RAISES(NOT_FOUND, CONFLICT, UNAVAILABLE) },
    { .name = "tasks.reply",
      .summary = "Answer what a task asks",
      .description =
          "The state of the task. 409 if it asks nothing: another answer came first. 422 "
          "if an answer is not right: the task then asks again.",
      .route = "POST /tasks/:id/answers",
      .params = give_params,
      .answers = task_answers,
      .status = 200,
      .raises = MISHAP_RAISES(NOT_FOUND, CONFLICT, FORBIDDEN, UNAVAILABLE, CONTENT_TOO_LARGE) },
    { .name = "tasks.drop",
      .summary = "Cancel a task, or remove one that has ended",
      .description = "202 with the state of a task that is being cancelled; 204 if it had ended.",
      .route = "DELETE /tasks/:id",
      .params = task_params,
      .answers = task_answers,
      .status = 202,
      .raises = MISHAP_RAISES(NOT_FOUND, UNAVAILABLE) },
    { 0 },
};

const mishap_operation *mishap_http_described_tasks(const mishap_operation *operations)
{
    for (; operations && operations->name; operations++)
        if (operations->task && operations->route)
            return described_tasks;
    return NULL;
}

bool mishap_http_put_preference(mishap_buffer *b, const mishap_operation *operation, bool any)
{
    if (!operation->task)
        return false;
    mishap_buffer_put_text(b, mishap_text_of(any ? "," : ",\"parameters\":["));
    MISHAP_PUT(b, "{\"name\":\"Prefer\",\"in\":\"header\",\"required\":false,"
                  "\"description\":\"`respond-async`: a call that takes long becomes a task; "
                  "`respond-async, wait=N`: after N seconds.\","
                  "\"schema\":{\"type\":\"string\"}}");
    return true;
}

void mishap_http_put_accepted(mishap_buffer *b, const mishap_operation *operation)
{
    if (!operation->task || operation->status == 202)
        return;
    MISHAP_PUT(b, ",\"202\":{\"description\":\"The call has become a task.\",\"headers\":{"
                  "\"X-Request-Id\":");
    mishap_http_put_reference(b, "headers/X-Request-Id");
    MISHAP_PUT(b, ",\"Location\":{\"description\":\"The path of the task.\",\"schema\":{"
                  "\"type\":\"string\",\"format\":\"uri-reference\"}},\"Retry-After\":{"
                  "\"description\":\"Seconds until it is worth asking.\",\"schema\":{"
                  "\"type\":\"integer\"}}},\"content\":{\"application/json\":{\"schema\":");
    mishap_answers_put_schema(b, task_answers);
    MISHAP_PUT(b, "}}}");
}
