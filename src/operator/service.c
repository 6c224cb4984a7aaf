/* The service `incidents`: the index, opened when a process first needs it. */
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "incident/incident.h"
#include "operation/call.h"
#include "operator/inside.h"

enum { LONGEST_PATH = 4096, CATCH_UP_MS = 2000 };

struct service_state {
    mishap_index *index;                          /* NULL: not opened yet */
    char data[LONGEST_PATH], store[LONGEST_PATH]; /* no store: "" */
};

static mishap *open_service(const mishap_setup *setup, void **state)
{
    struct service_state *made = mishap_allocate(sizeof *made);
    if (!made)
        return mishap_out_of_memory();
    made->index = NULL;
    if ((size_t)snprintf(made->data, sizeof made->data, "%s", setup->data) >= sizeof made->data) {
        mishap_release(made);
        return mishap_raise(NOT_CONFIGURED, "The path of the data folder is too long.");
    }
    const char *store = setup->settings ? mishap_string(setup->settings, MISHAP_INDEX_STORE) : NULL;
    snprintf(made->store, sizeof made->store, "%s", store ? store : "");
    mishap *failure = mishap_index_store_check(store);
    if (failure)
        mishap_release(made);
    else
        *state = made;
    return failure;
}

static void close_service(void *state)
{
    struct service_state *made = state;
    mishap_index_close(made->index);
    mishap_release(made);
}

static const mishap_param settings[] = {
    { MISHAP_INDEX_STORE, MISHAP_STRING, .length = { 1, LONGEST_PATH - 1 }, .placeholder = "URL",
      .help = "Keep incidents in PostgreSQL, for several servers together: "
              "postgresql://USER@HOST/DATABASE, or @FILE with that in it; by default in SQLite "
              "files in the data folder" },
    { 0 },
};

const mishap_service mishap_operator_service = {
    .name = MISHAP_INDEX_SERVICE,
    .summary = "Failures of this program, for its operator",
    .settings = settings,
    .open = open_service,
    .close = close_service,
    .raises = MISHAP_RAISES(UNAVAILABLE, NOT_CONFIGURED),
};

static const char *data_of(const mishap_call *call)
{
    const struct service_state *state = mishap_state(call);
    return call->read_data ? call->read_data : state->data;
}

/* What the caller names comes first; then the journal of the server that has the data folder, so
 * that a command needs no more than that folder to be about the same incidents. */
const char *mishap_operator_journal(mishap_call *call)
{
    const char *program = mishap_app_of(call)->name;
    char *path = mishap_call_take(call, LONGEST_PATH);
    bool named = mishap_system_setting(program, "LOG") && !call->read_data;
    if (call->read_log)
        return call->read_log;
    if (named && mishap_incident_log_is_off(program))
        return NULL;
    if (!named && mishap_index_journal_of(data_of(call), path, LONGEST_PATH))
        return path;
    return mishap_incident_log_path(program, path, LONGEST_PATH) ? path : NULL;
}

static mishap *refuse_flag(const char *flag)
{
    return mishap_field_add(
        mishap_raise(VALIDATION_ERROR, NULL),
        &(mishap_field){ .field = mishap_text_of(flag), .error = MISHAP_TEXT("pattern_mismatch") });
}

/* A folder without incidents is most likely a mistake in its name; it is not made for that. */
static mishap *check_named_files(const mishap_call *call)
{
    char path[LONGEST_PATH];
    mishap *m = NULL;
    if (call->read_log && access(call->read_log, R_OK) != 0)
        m = mishap_field_says(refuse_flag("--log"), "--log names no file that can be read.");
    else if (call->read_data && !call->read_log &&
             ((size_t)snprintf(path, sizeof path, "%s/incidents", call->read_data) >= sizeof path ||
              access(path, R_OK) != 0))
        m = mishap_suggest(mishap_field_says(refuse_flag("--data"),
                                             "--data names no folder with incidents in it."),
                           "Give the folder that `serve --data` of the server has.");
    return m;
}

/* The index is opened once in a process. What cannot be read of the journal now does not keep the
 * operator from what was read before. */
mishap *mishap_operator_index(mishap_call *call, mishap_index **out)
{
    struct service_state *state = mishap_state(call);
    mishap *failure = NULL;
    if (!state->index)
        failure = check_named_files(call);
    if (!failure && !state->index)
        failure = mishap_index_open(
            &(mishap_index_plan){ .program = mishap_app_of(call)->name,
                                  .data = data_of(call),
                                  .journal = mishap_operator_journal(call),
                                  .store = state->store[0] ? state->store : NULL,
                                  .days = -1 /* as the last server had it */ },
            &state->index);
    if (failure)
        return failure;
    *out = state->index;
    failure = mishap_index_catch_up(state->index, CATCH_UP_MS);
    if (failure)
        mishap_warn(call, "The newest incidents may be missing: %s",
                    mishap_public_message(mishap_told(failure)).data);
    mishap_free(failure);
    return NULL;
}

static void release_buffer(void *buffer)
{
    mishap_buffer_release(buffer);
}

mishap_buffer *mishap_operator_buffer(mishap_call *call)
{
    mishap_buffer *buffer = mishap_call_take(call, sizeof *buffer);
    *buffer = (mishap_buffer){ 0 };
    mishap_call_defer(call, release_buffer, buffer);
    return buffer;
}

mishap *mishap_operator_answer(mishap_call *call, mishap_buffer *json)
{
    mishap_buffer_put_char(json, '\0');
    return json->failed ? mishap_out_of_memory() : mishap_answer(call, json->data);
}
