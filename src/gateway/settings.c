/* What was asked for becomes a plan. Each check goes on after a finding, so that all of them are
 * told at once. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/search.h"
#include "base/system.h"
#include "gateway/gateway.h"
#include "mishap/dialect.h"

enum { FIELD = 24 };

void mishap_gateway_find(mishap **found, const char *field, const char *format, ...)
{
    char sentence[PATH_MAX + 512];
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    if (!*found)
        *found = mishap_raise(NOT_CONFIGURED, "The gateway cannot be started with these settings.");
    mishap_field_add(*found, &(mishap_field){ .field = mishap_text_of(field),
                                              .error = MISHAP_TEXT("invalid_value") });
    mishap_field_says(*found, "%s", sentence);
}

/* -- the servers behind ------------------------------------------------------------------------ */

/* nginx would stop at the first name that it cannot find. */
static void check_name(const mishap_gateway_target *target, const char *field, mishap **found)
{
    struct addrinfo *addresses = NULL;
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    int error = target->local ? 0 : getaddrinfo(target->host, target->port, &hints, &addresses);
    if (error)
        mishap_gateway_find(found, field, "The host %s cannot be found: %s.", target->host,
                            gai_strerror(error));
    else if (addresses)
        freeaddrinfo(addresses);
}

/* nginx has one proxy_pass for all of them: one scheme, and one name in the certificates. */
static void check_alike(const mishap_gateway_plan *plan, const mishap_gateway_target *target,
                        const char *field, mishap **found)
{
    const mishap_gateway_target *first = &plan->targets[0];
    if (target->tls != first->tls)
        mishap_gateway_find(found, field,
                            "All URLs must have the same scheme: the first one is %s.",
                            first->tls ? "https" : "http");
    else if (target->tls && strcmp(target->host, first->host) != 0)
        mishap_gateway_find(found, field,
                            "All URLs with https must have the same host, which is the name in "
                            "their certificates.");
}

static void read_target(mishap_gateway_plan *plan, mishap_text url, size_t number, mishap **found)
{
    char field[FIELD];
    snprintf(field, sizeof field, "to[%zu]", number);
    mishap_gateway_target *target = &plan->targets[plan->target_count];
    const char *wrong = mishap_gateway_target_read(url, target);
    if (wrong) {
        mishap_gateway_find(found, field, "The URL `%.*s` %s.",
                            (int)(url.length < 300 ? url.length : 300), url.data, wrong);
        return;
    }
    check_alike(plan, target, field, found);
    check_name(target, field, found);
    plan->target_count++;
}

static void read_targets(const char *to, mishap_gateway_plan *plan, mishap **found)
{
    size_t number = 0;
    for (const char *end; to; to = end ? end + 1 : NULL, number++) {
        end = strchr(to, ',');
        if (number == MISHAP_GATEWAY_TARGETS) {
            mishap_gateway_find(found, "to", "There can be at most %d servers.",
                                MISHAP_GATEWAY_TARGETS);
            return;
        }
        read_target(plan, (mishap_text){ to, end ? (size_t)(end - to) : strlen(to) }, number,
                    found);
    }
}

/* -- where it listens -------------------------------------------------------------------------- */

static void open_sockets(const mishap_gateway_wish *wish, mishap_gateway_plan *plan, mishap **found)
{
    char port[MISHAP_GATEWAY_PORT];
    if (!mishap_gateway_read_address(mishap_text_of(wish->listen), NULL, plan->host,
                                     sizeof plan->host, port)) {
        mishap_gateway_find(found, "listen",
                            "The value `%.300s` is not HOST:PORT, such as 127.0.0.1:8080 or "
                            "[::1]:8080.",
                            wish->listen);
        return;
    }
    plan->port = (int)strtol(port, NULL, 10);
    const mishap_http_settings settings = { .host = plan->host, .port = plan->port };
    mishap *failure = mishap_http_listen(&settings, &plan->sockets, 1, &plan->port);
    if (!failure)
        return;
    const mishap_public *told = mishap_told(failure);
    mishap_text message = mishap_public_message(told);
    mishap_gateway_find(found, "listen", "%.*s %.*s.", (int)message.length, message.data,
                        (int)told->cause.length, told->cause.data);
    mishap_free(failure);
}

/* -- the filter -------------------------------------------------------------------------------- */

static void read_dialect(const char *name, mishap_gateway_plan *plan, mishap **found)
{
    char names[400] = "";
    size_t length = 0;
    mishap_guess guess = { .word = mishap_text_of(name) };
    const mishap_dialect *dialect = mishap_dialect_find(name);
    if (dialect) {
        plan->dialect = mishap_dialect_name(dialect);
        return;
    }
    for (const mishap_dialect *const *each = mishap_dialects(); *each; each++) {
        const char *one = mishap_dialect_name(*each);
        mishap_guess_weigh(&guess, mishap_text_of(one));
        if (length < sizeof names)
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                       length ? ", " : "", one);
    }
    if (guess.name.data)
        mishap_gateway_find(found, "dialect", "No dialect is named `%.100s`. Did you mean `%.*s`?",
                            name, (int)guess.name.length, guess.name.data);
    else
        mishap_gateway_find(found, "dialect", "No dialect is named `%.100s`. There are: %s.", name,
                            names);
}

static bool choose_log(const mishap_gateway_wish *wish, char *path, size_t size)
{
    char above[PATH_MAX];
    int length = 0;
    if (!wish->incidents) {
        if (mishap_system_user_folder("XDG_STATE_HOME", ".local/state", above, sizeof above))
            length = snprintf(path, size, "%s/%s/gateway.log", above, wish->program);
        if (length > 0 && (size_t)length < size)
            mishap_system_make_above(path);
        return length > 0 && (size_t)length < size;
    }
    return mishap_search_absolute(wish->incidents, path, size);
}

/* Nothing is made before the gateway is sure to start. */
static bool can_write(const char *path)
{
    char folder[PATH_MAX];
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0)
        return close(file) == 0;
    if (errno != ENOENT)
        return false;
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    return access(folder, W_OK | X_OK) == 0;
}

static void check_log(const mishap_gateway_wish *wish, mishap_gateway_plan *plan, mishap **found)
{
    char why[128];
    if (wish->incidents && strcmp(wish->incidents, "off") == 0)
        return;
    if (!choose_log(wish, plan->incidents, sizeof plan->incidents) ||
        !mishap_gateway_can_quote(plan->incidents)) {
        mishap_gateway_find(found, "incident_log",
                            "There is no place for the log of incidents: name a file, or `off`.");
        return;
    }
    if (can_write(plan->incidents))
        return;
    mishap_system_error(errno, why, sizeof why);
    mishap_gateway_find(found, "incident_log", "The log %s cannot be written: %s.", plan->incidents,
                        why);
}

static void find_authorities(mishap_gateway_plan *plan, mishap **found)
{
    const char *given = getenv("SSL_CERT_FILE");
    const char *file = given && *given ? given : "/etc/ssl/certs/ca-certificates.crt";
    if (!plan->target_count || !plan->targets[0].tls)
        return;
    if (access(file, R_OK) != 0 || !mishap_gateway_can_quote(file) ||
        !mishap_search_absolute(file, plan->authorities, sizeof plan->authorities))
        mishap_gateway_find(found, "to",
                            "The certificates in %s, which https needs, cannot be read: install "
                            "ca-certificates, or name a file with SSL_CERT_FILE.",
                            file);
}

static void find_nginx(const mishap_gateway_wish *wish, mishap_gateway_plan *plan, mishap **found)
{
    if (!mishap_gateway_find_nginx(wish->nginx, plan->nginx, sizeof plan->nginx))
        mishap_gateway_find(found, "nginx",
                            wish->nginx ? "`%.300s` is no program that can be executed."
                                        : "There is no %s: install it (Debian: nginx-light), or "
                                          "name the program with --nginx.",
                            wish->nginx ? wish->nginx : "nginx");
    if (!mishap_gateway_find_module(wish->module, plan->module, sizeof plan->module) ||
        !mishap_gateway_can_quote(plan->module))
        mishap_gateway_find(found, "module",
                            wish->module ? "The module `%.300s` cannot be read."
                                         : "There is no %s: install nginx-dev and build Mishap, "
                                           "or name the file with --module.",
                            wish->module ? wish->module : "ngx_http_mishap_module.so");
}

mishap *mishap_gateway_plan_make(const mishap_gateway_wish *wish, mishap_gateway_plan *plan)
{
    mishap *found = NULL;
    *plan = (mishap_gateway_plan){ .timeout_s = wish->timeout_s, .stop_s = wish->stop_s };
    read_targets(wish->to, plan, &found);
    open_sockets(wish, plan, &found);
    read_dialect(wish->dialect, plan, &found);
    check_log(wish, plan, &found);
    find_authorities(plan, &found);
    find_nginx(wish, plan, &found);
    return found;
}
