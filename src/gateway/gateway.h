/*
 * src/gateway: nginx with the filter of src/nginx, in front of servers that cannot be changed.
 *
 *     settings.c       what was asked for becomes a plan: all findings at once
 *     target.c         one URL of the servers behind the gateway
 *     find.c           where nginx and the module are
 *     configuration.c  the configuration of nginx
 *     process.c        starts nginx, and ends it with all its processes
 *     run.c            the life of a gateway: from the plan to the last signal
 *
 * nginx does the work of a proxy. This process stays its parent: it has opened the listening
 * sockets, passes signals on, and removes what nginx leaves behind.
 */
#ifndef MISHAP_GATEWAY_H
#define MISHAP_GATEWAY_H

#include <limits.h>

#include "mishap/mishap.h"
#include "server/listen.h"

/* What was asked for. A text that may be NULL says so. */
typedef struct mishap_gateway_wish {
    const char *program;   /* the name of this one, for the folder of its incidents */
    const char *to;        /* URLs, separated by commas */
    const char *listen;    /* HOST:PORT */
    const char *dialect;   /* a name */
    const char *incidents; /* a path, or "off"; NULL: gateway.log in the state folder of the user */
    const char *nginx;     /* the program; NULL: it is looked for */
    const char *module;    /* the file; NULL: it is looked for */
    int timeout_s;         /* how long a server behind may be silent */
    int stop_s;            /* how long requests may take when the gateway is told to stop */
} mishap_gateway_wish;

/*
 * Run it until a signal ends it. SIGTERM, SIGINT and SIGQUIT end it when the requests in progress
 * are answered, a second one at once; SIGHUP has nginx read its configuration again, which keeps
 * connections; SIGUSR1 opens the log again.
 *
 * NOT_CONFIGURED: a setting is wrong, or nginx or the module is missing or does not fit; the fields
 * are all findings. UNAVAILABLE: nginx ended by itself, or the system gave no process or no folder.
 */
mishap *mishap_gateway_run(const mishap_gateway_wish *wish);

/* -- settings.c -------------------------------------------------------------------------------- */

enum {
    MISHAP_GATEWAY_TARGETS = 32,
    MISHAP_GATEWAY_HOST = 254, /* with its NUL */
    MISHAP_GATEWAY_PORT = 8,   /* … */
};

/* A server behind the gateway. */
typedef struct mishap_gateway_target {
    bool tls;
    bool local;                     /* a unix socket, `host` is empty */
    char host[MISHAP_GATEWAY_HOST]; /* without the brackets of an IPv6 address */
    char port[MISHAP_GATEWAY_PORT];
    char path[112]; /* of a unix socket */
} mishap_gateway_target;

/* What was asked for, after all checks. */
typedef struct mishap_gateway_plan {
    mishap_gateway_target targets[MISHAP_GATEWAY_TARGETS];
    size_t target_count;
    const char *dialect;
    char host[MISHAP_GATEWAY_HOST]; /* to listen on */
    int port;
    mishap_http_sockets sockets; /* that listen already */
    char incidents[PATH_MAX];    /* "": off */
    char nginx[PATH_MAX];
    char module[PATH_MAX];
    char authorities[PATH_MAX]; /* certificates for TLS; "": not needed */
    int timeout_s, stop_s;
} mishap_gateway_plan;

/*
 * Check the wish. NULL: the plan is complete, its sockets listen, and
 * mishap_http_sockets_close() is due. Else NOT_CONFIGURED with a field for each finding; no socket
 * is open.
 */
mishap *mishap_gateway_plan_make(const mishap_gateway_wish *wish, mishap_gateway_plan *plan);

/* Add a finding about a setting to *found, which is NULL at first. */
__attribute__((format(printf, 3, 4))) void mishap_gateway_find(mishap **found, const char *field,
                                                               const char *format, ...);

/* -- target.c ---------------------------------------------------------------------------------- */

/* Read one URL: http://HOST[:PORT], https://HOST[:PORT] or http://unix:/PATH. NULL: it is right;
 * else what is wrong with it, as the end of a sentence. */
const char *mishap_gateway_target_read(mishap_text url, mishap_gateway_target *target);

/* A host and a port: "[::1]:8080". The port may be left out if there is a `usual` one. False: the
 * text is no such thing. `size` is that of `host`. */
bool mishap_gateway_read_address(mishap_text text, const char *usual, char *host, size_t size,
                                 char *port);

/* -- find.c ------------------------------------------------------------------------------------ */

/* Find a program: a path, or a name in PATH and in the folders of administrators. False: there is
 * none that can be executed. */
bool mishap_gateway_find_nginx(const char *given, char *path, size_t size);

/* Find the module: the given file, or beside this program, or where nginx has its modules. */
bool mishap_gateway_find_module(const char *given, char *path, size_t size);

/* -- configuration.c --------------------------------------------------------------------------- */

/* Add the configuration of nginx, whose own files are below `folder`. */
void mishap_gateway_configure(const mishap_gateway_plan *plan, const char *folder,
                              mishap_buffer *text);

/* Add the shortest configuration that loads the module, to see whether it fits. */
void mishap_gateway_configure_least(const char *module, const char *folder, mishap_buffer *text);

/* True if the text can stand in a configuration: it has no control characters. */
bool mishap_gateway_can_quote(const char *text);

/* -- process.c --------------------------------------------------------------------------------- */

enum { MISHAP_GATEWAY_WORDS = 9 };

/* What is started, all of it made before the fork. */
typedef struct mishap_gateway_start {
    const char *argv[MISHAP_GATEWAY_WORDS];
    const mishap_http_sockets *sockets; /* that it inherits; NULL: none */
    int err;                            /* its stderr; -1: that of this process */
} mishap_gateway_start;

/* Start nginx in a process group of its own, which ends with this process. -1: errno says why. */
int mishap_gateway_start_nginx(const mishap_gateway_start *start);

/* True if it has ended. It is still a zombie then, and the id of its group is its own. */
bool mishap_gateway_has_ended(int process);

/* End what is left of a process and its group, and wait for all of it. The result is the status of
 * the process, as waitpid() has it. */
int mishap_gateway_sweep(int process);

#endif
