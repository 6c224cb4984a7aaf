/* The operations: their names, parameters and failures. */
#include "artifacts/request.h"

#define NAME_PATTERN "^[a-z0-9][a-z0-9._-]{0,62}$"
#define NAME_LOOKS                                                                                 \
    "a name of up to 63 of a-z, 0-9, dot, underscore and hyphen, with a letter or digit first"

static const mishap_param to_invoke[] = {
    { "artifact", MISHAP_STRING, .required = true, .positional = true, .pattern = NAME_PATTERN,
      .looks = NAME_LOOKS,
      .help = "genesis_ledger, genesis_mint, genesis_escrow, genesis_store, genesis_event_log, or "
              "the id of an artifact, to run its code" },
    { "method", MISHAP_STRING, .required = true, .positional = true, .length = { 1, 63 },
      .help = "The method, such as transfer; run for the code of an artifact" },
    { "args", MISHAP_ARRAY, .length = { 0, 1000 },
      .help = "The arguments of the method, in its order: [\"alice\",\"bob\",5]" },
    { "caller", MISHAP_STRING, .pattern = NAME_PATTERN, .looks = NAME_LOOKS,
      .help = "The principal that calls; only where API keys are not used, else the key says it" },
    { "idempotency_key", MISHAP_STRING, .length = { 1, 200 },
      .help = "A text of the caller's choice: the same request with the same key changes "
              "something only once" },
    { 0 },
};
/* The other members depend on the method. */
static const mishap_param was_invoked[] = {
    { "success", MISHAP_BOOLEAN, .required = true, .help = "true" },
    { 0 },
};

static const mishap_param page_of_events[] = {
    { "after", MISHAP_INTEGER, .range = { 0, 9e15 }, .initial = "0",
      .help = "List events after this id: the value of `next` in the previous page" },
    { "limit", MISHAP_INTEGER, .range = { 1, ARTIFACTS_MOST_LISTED }, .initial = "20",
      .help = "The largest number of events to list" },
    { 0 },
};
static const mishap_param an_event[] = {
    { "id", MISHAP_INTEGER, .required = true, .help = "Number of the event" },
    { "at", MISHAP_STRING, .required = true, .help = "When, as an RFC 3339 timestamp" },
    { "caller", MISHAP_STRING, .help = "The principal that called" },
    { "artifact", MISHAP_STRING, .required = true, .help = "The artifact that was invoked" },
    { "method", MISHAP_STRING, .required = true, .help = "Its method" },
    { "result", MISHAP_OBJECT, .required = true, .help = "What came of it" },
    { 0 },
};
static const mishap_param event_item = { "event", MISHAP_OBJECT, .members = an_event };
static const mishap_param some_events[] = {
    { "success", MISHAP_BOOLEAN, .required = true, .help = "true" },
    { "events", MISHAP_ARRAY, .required = true, .items = &event_item, .help = "From the oldest" },
    { "next", MISHAP_INTEGER, .help = "The value for `after` of the next page" },
    { "cut", MISHAP_BOOLEAN, .help = "true: events right after `after` may have been removed" },
    { 0 },
};

static const char *const headers[] = { "Idempotency-Key", NULL };

const mishap_operation artifacts_operations[] = {
    { "artifacts.invoke", "Invoke a method of an artifact", to_invoke, artifacts_invoke,
      .route = "POST /artifacts/:artifact/:method", .tool = "invoke_artifact",
      .tool_example = "{\"artifact\":\"genesis_ledger\",\"method\":\"transfer\",\"args\":["
                      "\"alice\",\"bob\",5]}",
      .danger = MISHAP_MUTATING, .headers = headers, .answers = was_invoked,
      .raises = MISHAP_RAISES(MISSING_ARGUMENT, INVALID_ARGUMENT, INVALID_TYPE, NOT_OWNER,
                              NOT_AUTHORIZED, INSUFFICIENT_FUNDS, NOT_FOUND, ALREADY_EXISTS,
                              ALREADY_LISTED, RUNTIME_ERROR, SYNTAX_ERROR, CONFLICT),
      .description =
          "Each call changes everything that its method says, or nothing. genesis_store.get with "
          "the id of a genesis artifact lists its methods and their arguments.",
      .examples = MISHAP_EXAMPLES({ "artifacts invoke genesis_ledger transfer --args "
                                    "'[\"alice\",\"bob\",5]' --caller alice",
                                    "Transfer 5 scrip from alice to bob" },
                                  { "artifacts invoke genesis_store get --args "
                                    "'[\"genesis_escrow\"]'",
                                    "List the methods of the escrow" }),
      .group = "Artifacts", .service = &artifacts_service },
    { "artifacts.events", "List what happened", page_of_events, artifacts_events,
      .description = "An event is one call of an artifact. The oldest event is the first.",
      .route = "GET /artifacts/events", .tool = "list_artifact_events",
      .tool_example = "{\"limit\":100}", .answers = some_events,
      .examples = MISHAP_EXAMPLES({ "artifacts events --limit 100", "List the first 100 events" }),
      .group = "Artifacts", .service = &artifacts_service },
    { 0 },
};
