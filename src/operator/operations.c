/* The declarations of `incidents`. */
#include "operator/inside.h"

/* -- parameters -------------------------------------------------------------------------------- */

#define NAME_FILTERS                                                                               \
    { "code", MISHAP_STRING, .length = { 1, 100 }, .placeholder = "CODE",                          \
      .help = "Only this code, such as NOT_FOUND" },                                               \
        { "category", MISHAP_STRING, .length = { 1, 40 }, .placeholder = "NAME",                   \
          .help = "Only this category: validation, permission, resource, execution or system" },   \
    {                                                                                              \
        "operation", MISHAP_STRING, .length = { 1, 200 }, .placeholder = "NAME",                   \
                                    .help = "Only this operation, such as todos.get"               \
    }
#define SERVICE_FILTER                                                                             \
    {                                                                                              \
        "service", MISHAP_STRING, .length = { 1, 100 }, .placeholder = "NAME",                     \
                                  .help = "Only operations of this service, such as todo"          \
    }
#define OWN_FILTER                                                                                 \
    {                                                                                              \
        "own", MISHAP_BOOLEAN,                                                                     \
            .help = "Also failures of the `incidents` operations, such as a misspelled filter"     \
    }
#define OTHER_FILTERS                                                                              \
    { "caller", MISHAP_STRING, .length = { 1, 255 }, .placeholder = "NAME",                        \
      .help = "Only this caller: the name of a key, or an address" },                              \
        { "group", MISHAP_STRING, .length = { 1, 40 }, .placeholder = "GROUP",                     \
          .help = "Only this group: 16 hexadecimal digits" },                                      \
        { "trace", MISHAP_STRING, .length = { 1, 80 }, .placeholder = "TRACE",                     \
          .help = "Only this trace: 32 hexadecimal digits" },                                      \
        { "text", MISHAP_STRING, .length = { 1, 200 }, .placeholder = "WORDS",                     \
          .help = "Only messages with these words, of failures that were "                         \
                  "written in full" },                                                             \
        SERVICE_FILTER,                                                                            \
        { "boundary", MISHAP_STRING, .length = { 1, 20 }, .placeholder = "NAME",                   \
          .help = "Only calls that came in this way: cli, http, mcp or c" },                       \
        { "status", MISHAP_INTEGER, .range = { -99999, 99999 }, .placeholder = "N",                \
          .help = "Only this status: of HTTP, the exit code of a command, or the code of "         \
                  "JSON-RPC" },                                                                    \
        OWN_FILTER
#define TIME_FILTERS                                                                               \
    { "from", MISHAP_STRING, .length = { 1, 40 }, .placeholder = "TIME",                           \
      .help = "From this time on: 2026-11-17T16:00:00Z, 2026-11-17, or an age: 15m, 6h, 7d" },     \
    {                                                                                              \
        "to", MISHAP_STRING, .length = { 1, 40 }, .placeholder = "TIME",                           \
                             .help = "Before this time"                                            \
    }
#define PAGE_PARAMS                                                                                \
    { "limit",         MISHAP_INTEGER,     .range = { 1, MISHAP_INDEX_MOST_ROWS },                 \
      .initial = "50", .placeholder = "N", .help = "How many at most" },                           \
    {                                                                                              \
        "cursor", MISHAP_STRING, .length = { 1, 500 }, .placeholder = "CURSOR",                    \
                                 .help = "`next` of the page before"                               \
    }

static const mishap_param list_params[] = {
    TIME_FILTERS, NAME_FILTERS, OTHER_FILTERS, PAGE_PARAMS, { 0 }
};

static const mishap_param show_params[] = {
    { "id", MISHAP_STRING, .required = true, .positional = true, .length = { 1, 1000000 },
      .placeholder = "ID",
      .help = "The id that the caller got, or any text with it, such as a mail; - reads standard "
              "input" },
    { 0 },
};

static const char *const states[] = { "new", "known", "resolved", "regressed", "muted", NULL };
static const mishap_param state_item = { "item", MISHAP_ENUM, .choices = states };
static const mishap_param groups_params[] = {
    { "state", MISHAP_ARRAY, .items = &state_item, .length = { 0, 5 }, .placeholder = "STATE",
      .help = "Only groups in this state: new, known, resolved, regressed or muted; may be given "
              "several times" },
    NAME_FILTERS,
    SERVICE_FILTER,
    OWN_FILTER,
    PAGE_PARAMS,
    { 0 },
};

static const mishap_param group_params[] = {
    { "group", MISHAP_STRING, .required = true, .positional = true, .length = { 1, 40 },
      .placeholder = "GROUP", .help = "The group: 16 hexadecimal digits" },
    { "undo", MISHAP_BOOLEAN, .help = "Take it back: the group has the state from before" },
    { 0 },
};

static const mishap_param one_group_params[] = {
    { "group", MISHAP_STRING, .required = true, .positional = true, .length = { 1, 40 },
      .placeholder = "GROUP", .help = "The group: 16 hexadecimal digits" },
    { 0 },
};

static const char *const steps[] = { "minute", "hour", "day", NULL };
static const mishap_param stats_params[] = {
    TIME_FILTERS,
    { "step", MISHAP_ENUM, .choices = steps, .help = "The time that one count stands for" },
    NAME_FILTERS,
    { 0 },
};

static const char *const tail_formats[] = { "lines", "jsonl", NULL };
static const mishap_param tail_params[] = {
    NAME_FILTERS,
    OTHER_FILTERS,
    { "seconds", MISHAP_INTEGER, .range = { 0, 25 }, .initial = "0", .placeholder = "N",
      .help = "Stop after so many seconds; 0: never. An agent gets all at the end, after 5 seconds "
              "by default" },
    { "format", MISHAP_ENUM, .choices = tail_formats, .initial = "\"lines\"",
      .help =
          "Of a command: lines for a person, or JSON lines. Over HTTP it is a stream of events" },
    { 0 },
};

static const char *const export_formats[] = { "jsonl", "csv", NULL };
static const mishap_param export_params[] = {
    { "format", MISHAP_ENUM, .choices = export_formats, .initial = "\"jsonl\"",
      .help = "JSON lines with whole records, or CSV" },
    TIME_FILTERS,
    NAME_FILTERS,
    OTHER_FILTERS,
    { 0 },
};

/* -- examples ---------------------------------------------------------------------------------- */

static const mishap_example list_examples[] = {
    { "incidents list", "The newest failures" },
    { "incidents list --from 1h --category system", "The last hour, only failures of the server" },
    { 0 },
};
static const mishap_example show_examples[] = {
    { "incidents show 0192f7a0-5d2b-7c3e-8f10-2b6a4c8d9e01", "All about this failure" },
    { "incidents show @mail.txt", "About the first known id in a mail" },
    { 0 },
};
static const mishap_example groups_examples[] = {
    { "incidents groups --state new --state regressed", "What is new, or has come back" },
    { 0 },
};
static const mishap_example group_examples[] = {
    { "incidents group 6f1c0e5a9b2d4477", "Its state, counts by day and what was decided" },
    { 0 },
};
static const mishap_example resolve_examples[] = {
    { "incidents resolve 6f1c0e5a9b2d4477", "Mark this group as repaired" },
    { 0 },
};
static const mishap_example mute_examples[] = {
    { "incidents mute 6f1c0e5a9b2d4477", "Mark this group as one that needs no attention" },
    { 0 },
};
static const mishap_example stats_examples[] = {
    { "incidents stats --from 7d --step day", "Failures of the last week, by day" },
    { 0 },
};
static const mishap_example tail_examples[] = {
    { "incidents tail", "Show failures when they happen, until Ctrl-C" },
    { 0 },
};
static const mishap_example export_examples[] = {
    { "incidents export --format csv --from 1d > failures.csv",
      "The failures of the last day, for a spreadsheet" },
    { 0 },
};

/* -- the operations ---------------------------------------------------------------------------- */

#define OF_OPERATOR .service = &mishap_operator_service, .operator_only = true, .group = "Incidents"

const mishap_operation mishap_operator_operations[MISHAP_OPERATOR_COUNT + 1] = {
    { "incidents.list", "List failures, the newest first", list_params, mishap_operator_list,
      .description = "Failures of all boundaries: commands, HTTP and MCP. A failure of which there "
                     "are many is listed even if only some of them were recorded in full.",
      .raises = MISHAP_RAISES(VALIDATION_ERROR), .examples = list_examples,
      .route = "GET /incidents", OF_OPERATOR },
    { "incidents.show", "Show all about one failure, by its id", show_params, mishap_operator_show,
      .description =
          "What the caller saw, beside what happened: causes, stack, arguments without secrets, "
          "source lines where they are at hand; other failures of the same trace, and of the same "
          "caller near that time; the history of its group. The text may be a whole mail: the "
          "first known id in it is shown.",
      .raises = MISHAP_RAISES(VALIDATION_ERROR, NOT_FOUND), .examples = show_examples,
      .route = "GET /incidents/:id", OF_OPERATOR },
    { "incidents.groups", "List groups of similar failures", groups_params, mishap_operator_groups,
      .description = "Failures of the same operation, code and place are a group. A group is new "
                     "for 24 hours, and regressed if it fails again after it was resolved.",
      .raises = MISHAP_RAISES(VALIDATION_ERROR), .examples = groups_examples,
      .route = "GET /incidents/groups", OF_OPERATOR },
    { "incidents.group", "Show one group of similar failures", one_group_params,
      mishap_operator_group,
      .description = "Its state, counts by hour and by day, and what was decided about it.",
      .raises = MISHAP_RAISES(VALIDATION_ERROR, NOT_FOUND), .examples = group_examples,
      .route = "GET /incidents/groups/:group", OF_OPERATOR },
    { "incidents.resolve", "Mark a group of failures as repaired", group_params,
      mishap_operator_resolve,
      .description = "If the group fails again, its state becomes `regressed`.",
      .raises = MISHAP_RAISES(VALIDATION_ERROR, NOT_FOUND), .examples = resolve_examples,
      .danger = MISHAP_MUTATING, .route = "POST /incidents/groups/:group/resolve", OF_OPERATOR },
    { "incidents.mute", "Mark a group of failures as one that needs no attention", group_params,
      mishap_operator_mute, .description = "Failures of the group are still recorded and counted.",
      .raises = MISHAP_RAISES(VALIDATION_ERROR, NOT_FOUND), .examples = mute_examples,
      .danger = MISHAP_MUTATING, .route = "POST /incidents/groups/:group/mute", OF_OPERATOR },
    { "incidents.stats", "Count failures by time, code, operation and caller", stats_params,
      mishap_operator_stats, .raises = MISHAP_RAISES(VALIDATION_ERROR), .examples = stats_examples,
      .route = "GET /incidents/stats", OF_OPERATOR },
    { "incidents.tail", "Show failures when they happen", tail_params, mishap_operator_tail,
      .description = "A command runs until Ctrl-C. Over HTTP this is a stream of server-sent "
                     "events: one event `incident` for each failure.",
      .raises = MISHAP_RAISES(VALIDATION_ERROR), .examples = tail_examples,
      .answers_type = "text/event-stream", .timeout_ms = 2000000000, .route = "GET /incidents/tail",
      OF_OPERATOR },
    { "incidents.export", "Write failures as JSON lines or CSV", export_params,
      mishap_operator_export,
      .description = "JSON lines have the whole records. In CSV, a text that a spreadsheet would "
                     "run as a formula begins with an apostrophe.",
      .raises = MISHAP_RAISES(VALIDATION_ERROR), .examples = export_examples,
      .answers_type = "application/x-ndjson", .timeout_ms = 600000,
      .route = "GET /incidents/export", OF_OPERATOR },
    { 0 },
};
