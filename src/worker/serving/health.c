/* What services report about themselves in /health. Runs once, in the supervisor. */
#include "sandbox/sandbox.h"
#include "worker/serving/served.h"

struct mishap_health {
    mishap_buffer *json; /* the object of the service */
    const mishap_setup *setup;
};

void mishap_health_member_value(mishap_health *health, const char *key, mishap_value value)
{
    if (value.kind == MISHAP_KIND_NONE)
        return;
    mishap_json_key(health->json, mishap_text_of(key));
    mishap_json_value(health->json, &value);
}

void mishap_health_json(mishap_health *health, const char *key, const char *json)
{
    mishap_json_key(health->json, mishap_text_of(key));
    mishap_buffer_put_text(health->json, mishap_text_of(json ? json : "null"));
}

static void put_names(mishap_buffer *json, const mishap_sandbox_report *report, unsigned layers)
{
    mishap_json_open(json, '[');
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++)
        if (report->offers[i].layer & layers)
            mishap_json_string(json, mishap_text_of(report->offers[i].name));
    mishap_json_close(json, ']');
}

void mishap_health_sandbox(mishap_health *health)
{
    const mishap_sandbox_report *report = mishap_sandbox_probe();
    mishap_buffer *json = health->json;
    MISHAP_JSON_KEY(json, "sandbox");
    mishap_json_open(json, '{');
    MISHAP_JSON_KEY(json, "mode");
    mishap_json_string(json, mishap_text_of(mishap_sandbox_words[health->setup->sandbox]));
    MISHAP_JSON_KEY(json, "layers");
    put_names(json, report, report->layers);
    if (report->missing) {
        MISHAP_JSON_KEY(json, "missing");
        put_names(json, report, report->missing);
    }
    mishap_json_close(json, '}');
}

void mishap_health_collect(const mishap_worker_groups *groups, const mishap_setup *setup,
                           mishap_buffer *json)
{
    for (size_t i = 0; i < groups->count; i++) {
        const mishap_service *service = groups->groups[i].service;
        if (i && groups->groups[i - 1].service == service)
            continue; /* the group of its calls that are apart: its service is listed already */
        if (!service || !service->health)
            continue;
        if (!json->length)
            mishap_json_open(json, '{');
        mishap_json_key(json, mishap_text_of(service->name));
        mishap_json_open(json, '{');
        service->health(setup, &(mishap_health){ json, setup });
        mishap_json_close(json, '}');
    }
    if (json->length)
        mishap_json_close(json, '}');
}
