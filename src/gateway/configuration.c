/*
 * The configuration of nginx. It is one text in which each @NAME@ is replaced.
 *
 * The gateway is to be invisible to a request that works: nothing is buffered, compressed, limited
 * or left out, and the path is passed on as it was written.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/buffer.h"
#include "gateway/gateway.h"

enum { MOST_CONNECTIONS = 16384, OTHER_FILES = 64 };

static const char whole[] =
    "# Written by `mishap gateway`, which removes it at its end.\n"
    "daemon off;\n"
    "worker_processes auto;\n"
    "pid @FOLDER/pid@;\n"
    "error_log stderr warn;\n"
    "load_module @MODULE@;\n"
    "events { worker_connections @CONNECTIONS@; }\n"
    "http {\n"
    "    access_log off;\n"
    "    client_body_temp_path @FOLDER/body@; proxy_temp_path @FOLDER/proxy@;\n"
    "    fastcgi_temp_path @FOLDER/fastcgi@; uwsgi_temp_path @FOLDER/uwsgi@;\n"
    "    scgi_temp_path @FOLDER/scgi@;\n"
    "    mishap on; mishap_dialect @DIALECT@; mishap_incidents @INCIDENTS@;\n"
    "\n"
    "    # Requests of clients. Their limits are those of the servers.\n"
    "    ignore_invalid_headers off; underscores_in_headers on; merge_slashes off;\n"
    "    large_client_header_buffers 4 32k; client_max_body_size 0;\n"
    "    client_header_timeout 60s; client_body_timeout 60s; send_timeout 60s;\n"
    "    keepalive_timeout 75s; keepalive_requests 100000; tcp_nodelay on; server_tokens off;\n"
    "\n"
    "    # Connections that wait for the next request. Node closes its own after 5 seconds: the\n"
    "    # gateway is earlier, so that no request meets a connection that is being closed.\n"
    "    upstream mishap_behind {\n"
    "        zone mishap_behind 256k;\n"
    "@SERVERS@"
    "        keepalive 64; keepalive_timeout 4s; keepalive_requests 100000;\n"
    "    }\n"
    "    map $http_upgrade $mishap_connection { '' ''; default upgrade; }\n"
    "    proxy_http_version 1.1; proxy_buffering off; proxy_request_buffering off;\n"
    "    proxy_buffer_size 32k; proxy_buffers 8 32k; proxy_redirect off;\n"
    "    proxy_connect_timeout 5s; proxy_read_timeout @TIMEOUT@; proxy_send_timeout @TIMEOUT@;\n"
    "    proxy_set_header Host @HOST@;\n"
    "    proxy_set_header Connection $mishap_connection; proxy_set_header Upgrade $http_upgrade;\n"
    "    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n"
    "    proxy_set_header X-Forwarded-Host $http_host; proxy_set_header X-Forwarded-Proto http;\n"
    "    # Some servers read these names as those above.\n"
    "    proxy_set_header X_Forwarded_For ''; proxy_set_header X_Forwarded_Host '';\n"
    "    proxy_set_header X_Forwarded_Proto '';\n"
    "    proxy_pass_header Server; proxy_pass_header Date;\n"
    "    proxy_ignore_headers X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;\n"
    "    proxy_intercept_errors off;\n"
    "@TLS@"
    "\n"
    "    # nginx never sends a POST, PATCH or LOCK again that a server may have seen. It would "
    "send\n"
    "    # again the methods that are not listed here, such as PUT and DELETE.\n"
    "    map $request_method $mishap_once { ~^(GET|HEAD|OPTIONS|POST|PATCH|LOCK)$ ''; default 1; "
    "}\n"
    "    server {\n"
    "@LISTEN@"
    "        error_page 599 = @once;\n"
    "        location / {\n"
    "            if ($mishap_once) { return 599; }\n"
    "            proxy_next_upstream error timeout; proxy_next_upstream_tries 3;\n"
    "            proxy_pass @SCHEME@://mishap_behind;\n"
    "        }\n"
    "        location @once {\n"
    "            proxy_next_upstream off;\n"
    "            proxy_pass @SCHEME@://mishap_behind;\n"
    "        }\n"
    "    }\n"
    "}\n";

static const char least[] = "daemon off;\n"
                            "pid @FOLDER/pid@;\n"
                            "error_log stderr warn;\n"
                            "load_module @MODULE@;\n"
                            "events {}\n";

bool mishap_gateway_can_quote(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return false;
    return true;
}

/* -- values ------------------------------------------------------------------------------------ */

struct source {
    const mishap_gateway_plan *plan;
    const char *folder, *module;
};

static void put(mishap_buffer *text, const char *words)
{
    mishap_buffer_put_text(text, mishap_text_of(words));
}

/* In quotes nginx gives no character a meaning but these two. */
static void put_escaped(mishap_buffer *text, const char *words)
{
    for (; *words; words++) {
        if (*words == '"' || *words == '\\')
            mishap_buffer_put_char(text, '\\');
        mishap_buffer_put_char(text, *words);
    }
}

static void put_quoted(mishap_buffer *text, const char *words, const char *more)
{
    mishap_buffer_put_char(text, '"');
    put_escaped(text, words);
    put_escaped(text, more);
    mishap_buffer_put_char(text, '"');
}

static void put_server(mishap_buffer *text, const mishap_gateway_target *target)
{
    bool brackets = strchr(target->host, ':');
    put(text, "        server ");
    if (target->local) {
        put_quoted(text, "unix:", target->path);
    } else {
        put(text, brackets ? "[" : "");
        put(text, target->host);
        put(text, brackets ? "]:" : ":");
        put(text, target->port);
    }
    put(text, " max_fails=1 fail_timeout=2s;\n");
}

static void put_servers(mishap_buffer *text, const struct source *from)
{
    for (size_t i = 0; i < from->plan->target_count; i++)
        put_server(text, &from->plan->targets[i]);
}

/* nginx knows its inherited sockets by their addresses. */
static void put_listen(mishap_buffer *text, const struct source *from)
{
    const mishap_http_sockets *sockets = &from->plan->sockets;
    for (int i = 0; i < sockets->count; i++) {
        struct sockaddr_storage address = { 0 };
        socklen_t size = sizeof address;
        char host[INET6_ADDRSTRLEN] = "";
        getsockname(sockets->files[i], (struct sockaddr *)&address, &size);
        bool six = address.ss_family == AF_INET6;
        const void *at = six ? (const void *)&((struct sockaddr_in6 *)&address)->sin6_addr
                             : (const void *)&((struct sockaddr_in *)&address)->sin_addr;
        inet_ntop(address.ss_family, at, host, sizeof host);
        put(text, six ? "        listen [" : "        listen ");
        put(text, host);
        put(text, six ? "]:" : ":");
        mishap_buffer_put_int(text, from->plan->port);
        put(text, " backlog=");
        mishap_buffer_put_int(text, MISHAP_HTTP_BACKLOG);
        put(text, ";\n");
    }
}

/* As many as there can be files: a request has two connections. */
static void put_connections(mishap_buffer *text, const struct source *from)
{
    struct rlimit limit = { .rlim_cur = 1024 };
    (void)from;
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t most = limit.rlim_cur > 2 * OTHER_FILES ? limit.rlim_cur - OTHER_FILES : OTHER_FILES;
    mishap_buffer_put_uint(text, most < MOST_CONNECTIONS ? most : MOST_CONNECTIONS);
}

/* A server with TLS usually has several names, and must be asked by its own. */
static void put_host(mishap_buffer *text, const struct source *from)
{
    const mishap_gateway_target *first = &from->plan->targets[0];
    bool brackets = strchr(first->host, ':');
    if (!first->tls) {
        put(text, "$http_host");
        return;
    }
    put(text, brackets ? "\"[" : "\"");
    put(text, first->host);
    put(text, brackets ? "]" : "");
    if (strcmp(first->port, "443") != 0) {
        put(text, ":");
        put(text, first->port);
    }
    put(text, "\"");
}

static void put_tls(mishap_buffer *text, const struct source *from)
{
    const mishap_gateway_target *first = &from->plan->targets[0];
    if (!first->tls)
        return;
    put(text, "    proxy_ssl_server_name on; proxy_ssl_verify on; proxy_ssl_verify_depth 8;\n"
              "    proxy_ssl_protocols TLSv1.2 TLSv1.3; proxy_ssl_name ");
    put_quoted(text, first->host, "");
    put(text, ";\n    proxy_ssl_trusted_certificate ");
    put_quoted(text, from->plan->authorities, "");
    put(text, ";\n");
}

static void put_module(mishap_buffer *text, const struct source *from)
{
    put_quoted(text, from->module, "");
}

static void put_dialect(mishap_buffer *text, const struct source *from)
{
    put(text, from->plan->dialect);
}

static void put_incidents(mishap_buffer *text, const struct source *from)
{
    put_quoted(text, *from->plan->incidents ? from->plan->incidents : "off", "");
}

static void put_timeout(mishap_buffer *text, const struct source *from)
{
    mishap_buffer_put_int(text, from->plan->timeout_s);
    put(text, "s");
}

static void put_scheme(mishap_buffer *text, const struct source *from)
{
    put(text, from->plan->targets[0].tls ? "https" : "http");
}

static const struct {
    mishap_text name;
    void (*put)(mishap_buffer *text, const struct source *from);
} values[] = {
    { MISHAP_TEXT("MODULE"), put_module },   { MISHAP_TEXT("CONNECTIONS"), put_connections },
    { MISHAP_TEXT("DIALECT"), put_dialect }, { MISHAP_TEXT("INCIDENTS"), put_incidents },
    { MISHAP_TEXT("SERVERS"), put_servers }, { MISHAP_TEXT("TIMEOUT"), put_timeout },
    { MISHAP_TEXT("HOST"), put_host },       { MISHAP_TEXT("TLS"), put_tls },
    { MISHAP_TEXT("LISTEN"), put_listen },   { MISHAP_TEXT("SCHEME"), put_scheme },
};

/* -- the text ---------------------------------------------------------------------------------- */

/* @FOLDER/NAME@ is a file of nginx. False: the name is none of ours. */
static bool put_value(mishap_buffer *text, mishap_text name, const struct source *from)
{
    static const char folder[] = "FOLDER";
    char file[16];
    size_t length = sizeof folder - 1;
    if (name.length > length && name.length - length < sizeof file &&
        memcmp(name.data, folder, length) == 0) {
        memcpy(file, name.data + length, name.length - length);
        file[name.length - length] = '\0';
        put_quoted(text, from->folder, file);
        return true;
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (mishap_text_equal(values[i].name, name)) {
            values[i].put(text, from);
            return true;
        }
    return false;
}

static void fill(mishap_buffer *text, const char *form, const struct source *from)
{
    const char *at, *end;
    while ((at = strchr(form, '@')) && (end = strchr(at + 1, '@'))) {
        mishap_buffer_put(text, form, (size_t)(at - form));
        if (put_value(text, (mishap_text){ at + 1, (size_t)(end - at) - 1 }, from)) {
            form = end + 1;
        } else { /* @once is a name of nginx */
            mishap_buffer_put_char(text, '@');
            form = at + 1;
        }
    }
    put(text, form);
}

void mishap_gateway_configure(const mishap_gateway_plan *plan, const char *folder,
                              mishap_buffer *text)
{
    fill(text, whole, &(struct source){ plan, folder, plan->module });
}

void mishap_gateway_configure_least(const char *module, const char *folder, mishap_buffer *text)
{
    fill(text, least, &(struct source){ NULL, folder, module });
}
