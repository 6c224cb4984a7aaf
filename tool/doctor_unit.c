/*
 * Is this process one of a unit of systemd, and which options of the unit cost it something?
 *
 * The name of the unit is in the path of the control group. Where that cannot be seen, a unit is
 * assumed if systemd has set INVOCATION_ID and the process has no_new_privs or a filter of system
 * calls: a shell of a desktop inherits the variable, but not these.
 *
 * An option is not read anywhere. It is concluded from the system call that was refused when a
 * layer of the sandbox was tried, and how: a filter of a unit answers EPERM, a kernel without the
 * call something else.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/json_write.h"
#include "base/system.h"
#include "doctor.h"

enum {
    NAMESPACES = MISHAP_LAYER_MOUNTS | MISHAP_LAYER_PROCESSES | MISHAP_LAYER_NETWORK |
                 MISHAP_LAYER_IPC | MISHAP_LAYER_HOST | MISHAP_LAYER_USERS
};

/* A layer that is missing, the step at which it was refused, and the option that does so. */
static const struct cost {
    unsigned layers;
    const char *step; /* NULL: any */
    bool filter;      /* the option is a filter of system calls: EPERM, and there is one */
    const char *option, *advice;
} costs[] = {
    { MISHAP_LAYER_SECCOMP, NULL, true, "SystemCallFilter=", "Add seccomp to it." },
    { MISHAP_LAYER_LANDLOCK, "landlock", true, "SystemCallFilter=",
      "Add landlock_create_ruleset landlock_add_rule landlock_restrict_self to it." },
    { MISHAP_LAYER_MOUNTS, "mount", true, "SystemCallFilter=", "Add @mount to it." },
    { MISHAP_LAYER_HOST, "sethostname", true, "SystemCallFilter=, ProtectHostname=",
      "Add sethostname setdomainname to the first, and set the second to no." },
    { NAMESPACES, "clone", true, "RestrictNamespaces=", "Set it to no." },
    { MISHAP_LAYER_GROUPS, NULL, false,
      "Delegate=", "Set Delegate=pids memory and DelegateSubgroup=server, which systemd 254 has." },
};
enum { COSTS = sizeof costs / sizeof *costs };

/* -- the unit ---------------------------------------------------------------------------------- */

/* The last part of a path of control groups that is the name of a service. */
static bool find_service(char *groups, char *name, size_t size)
{
    static const char ending[] = ".service";
    bool found = false;
    for (char *part = strtok(groups, "/\n"); part; part = strtok(NULL, "/\n")) {
        size_t length = strlen(part), end = sizeof ending - 1;
        if (length > end && strcmp(part + length - end, ending) == 0)
            found = (size_t)snprintf(name, size, "%s", part) < size;
    }
    return found;
}

static bool has_status(const char *status, const char *line)
{
    const char *found = strstr(status, line);
    return found && (found == status || found[-1] == '\n');
}

void doctor_find_unit(doctor_unit *unit)
{
    char status[4096] = "", groups[4096] = "", user_namespaces[8] = "";
    const char *id = getenv("INVOCATION_ID");
    *unit = (doctor_unit){ .found = false };
    mishap_system_read(AT_FDCWD, "/proc/self/status", status, sizeof status);
    unit->filtered = has_status(status, "Seccomp:\t2");
    if (mishap_system_read(AT_FDCWD, "/proc/self/cgroup", groups, sizeof groups))
        unit->found = find_service(groups, unit->name, sizeof unit->name);
    unit->found = unit->found ||
                  (id && *id && (unit->filtered || has_status(status, "NoNewPrivs:\t1")));
    /* Debian has a switch of its own for all users, which answers EPERM, too. */
    unit->switched_off = mishap_system_read(AT_FDCWD, "/proc/sys/kernel/unprivileged_userns_clone",
                                            user_namespaces, sizeof user_namespaces) &&
                         user_namespaces[0] == '0';
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                      -1, 0);
    unit->no_code = page == MAP_FAILED && (errno == EPERM || errno == EACCES);
    if (page != MAP_FAILED)
        munmap(page, 4096);
}

/* -- its options ------------------------------------------------------------------------------- */

/* True if this option is why the layer is missing. */
static bool explains(const doctor_unit *unit, const struct cost *cost,
                     const mishap_sandbox_offer *offer)
{
    if (offer->offered || !(cost->layers & offer->layer))
        return false;
    if (cost->step && strcmp(offer->step, cost->step) != 0)
        return false;
    bool clone = cost->layers == NAMESPACES;
    return !cost->filter ||
           (unit->filtered && offer->error == EPERM && !(clone && unit->switched_off));
}

/* The layers that an option costs. */
static unsigned layers_of(const doctor_unit *unit, const struct cost *cost,
                          const mishap_sandbox_report *report)
{
    unsigned layers = 0;
    for (size_t i = 0; unit->found && i < MISHAP_SANDBOX_LAYERS; i++)
        if (explains(unit, cost, &report->offers[i]))
            layers |= report->offers[i].layer;
    return layers;
}

static const char no_code_option[] = "MemoryDenyWriteExecute=";
static const char no_code_advice[] =
    "Set it to no: SBCL makes machine code while it runs, so Lisp does not start.";

/* -- for a program ----------------------------------------------------------------------------- */

static void put_option(mishap_buffer *json, const char *option, const char *advice)
{
    doctor_put_member(json, "option", option);
    doctor_put_member(json, "advice", advice);
    MISHAP_JSON_KEY(json, "costs");
    mishap_json_open(json, '[');
}

static void put_cost(mishap_buffer *json, const struct cost *cost, unsigned layers,
                     const mishap_sandbox_report *report)
{
    mishap_json_open(json, '{');
    put_option(json, cost->option, cost->advice);
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++)
        if (layers & report->offers[i].layer)
            mishap_json_string(json, mishap_text_of(report->offers[i].name));
    mishap_json_close(json, ']');
    mishap_json_close(json, '}');
}

void doctor_put_unit(mishap_buffer *json, const doctor_unit *unit,
                     const mishap_sandbox_report *report)
{
    if (!unit->found) {
        mishap_json_null(json);
        return;
    }
    mishap_json_open(json, '{');
    doctor_put_member(json, "name", *unit->name ? unit->name : NULL);
    MISHAP_JSON_KEY(json, "options");
    mishap_json_open(json, '[');
    for (size_t i = 0; i < COSTS; i++) {
        unsigned layers = layers_of(unit, &costs[i], report);
        if (layers)
            put_cost(json, &costs[i], layers, report);
    }
    if (unit->no_code) {
        mishap_json_open(json, '{');
        put_option(json, no_code_option, no_code_advice);
        mishap_json_string(json, (mishap_text)MISHAP_TEXT("lisp"));
        mishap_json_close(json, ']');
        mishap_json_close(json, '}');
    }
    mishap_json_close(json, ']');
    mishap_json_close(json, '}');
}

/* -- for a person ------------------------------------------------------------------------------ */

static void say_cost(mishap_buffer *text, const struct cost *cost, unsigned layers,
                     const mishap_sandbox_report *report)
{
    const char *before = "  COSTS    ";
    doctor_say(text, "%s%s  layers: ", before, cost->option);
    for (size_t i = 0, named = 0; i < MISHAP_SANDBOX_LAYERS; i++)
        if (layers & report->offers[i].layer)
            doctor_say(text, "%s%s", named++ ? ", " : "", report->offers[i].name);
    doctor_say(text, "\n           try:  %s\n", cost->advice);
}

void doctor_say_unit(mishap_buffer *text, const doctor_unit *unit,
                     const mishap_sandbox_report *report)
{
    size_t told = 0;
    if (!unit->found)
        return;
    doctor_say(text, "\nUnit of systemd: %s\n", *unit->name ? unit->name : "its name is not known");
    for (size_t i = 0; i < COSTS; i++) {
        unsigned layers = layers_of(unit, &costs[i], report);
        if (layers)
            say_cost(text, &costs[i], layers, report);
        told += layers != 0;
    }
    if (unit->no_code)
        doctor_say(text, "  COSTS    %s  Lisp\n           try:  %s\n", no_code_option,
                   no_code_advice);
    if (!told && !unit->no_code)
        doctor_say(text, "  ok       None of its options costs a layer of the sandbox.\n");
}
