/*
 * URLs of `mishap gateway`, separated by commas, and behind a line feed the path of a log. What is
 * taken for right makes a configuration of nginx that has the same directives as for any other
 * value: outside of quotes no byte ends one or begins a block.
 */
#include "fuzz.h"
#include "gateway/gateway.h"

/* How many bytes with a meaning for nginx stand outside of quotes, for each of them. */
struct counts {
    size_t feeds, ends, opened, closed, comments;
};

static struct counts count(mishap_text text)
{
    struct counts counts = { 0 };
    bool quoted = false, comment = false;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (comment || (!quoted && c == '#')) {
            comment = c != '\n';
            counts.comments += c == '#';
        } else if (quoted && c == '\\') {
            i++;
            continue;
        } else if (c == '"') {
            quoted = !quoted;
        }
        if (quoted)
            continue;
        counts.feeds += c == '\n';
        counts.ends += c == ';';
        counts.opened += c == '{';
        counts.closed += c == '}';
    }
    EXPECT(!quoted, "a quotation mark is open");
    return counts;
}

static struct counts counts_of(const mishap_gateway_plan *plan)
{
    mishap_buffer text = { 0 };
    mishap_gateway_configure(plan, "/tmp/x", &text);
    struct counts counts = count(mishap_buffer_text(&text));
    mishap_buffer_release(&text);
    return counts;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static mishap_gateway_plan plan, harmless;
    mishap_text url = input_text(data, size), path = { "", 0 };
    const char *feed = size ? memchr(data, '\n', size) : NULL;
    if (feed) {
        url.length = (size_t)(feed - url.data);
        path = (mishap_text){ feed + 1, size - url.length - 1 };
    }
    plan = (mishap_gateway_plan){ .dialect = "http-api", .timeout_s = 60 };
    while (plan.target_count < MISHAP_GATEWAY_TARGETS) {
        const char *comma = url.length ? memchr(url.data, ',', url.length) : NULL;
        mishap_text one = { url.data, comma ? (size_t)(comma - url.data) : url.length };
        mishap_gateway_target *target = &plan.targets[plan.target_count];
        plan.target_count += !mishap_gateway_target_read(one, target);
        if (!comma)
            break;
        url = (mishap_text){ comma + 1, url.length - one.length - 1 };
    }
    if (!plan.target_count)
        return 0;
    size_t length = path.length < sizeof plan.incidents ? path.length : sizeof plan.incidents - 1;
    memcpy(plan.incidents, path.data, length);
    if (!mishap_gateway_can_quote(plan.incidents))
        return 0;
    harmless = plan;
    for (size_t i = 0; i < plan.target_count; i++)
        harmless.targets[i] = (mishap_gateway_target){ .tls = plan.targets[i].tls,
                                                       .host = "a",
                                                       .port = "80" };
    harmless.incidents[0] = '\0';
    struct counts found = counts_of(&plan), expected = counts_of(&harmless);
    EXPECT(memcmp(&found, &expected, sizeof found) == 0, "another configuration");
    return 0;
}
