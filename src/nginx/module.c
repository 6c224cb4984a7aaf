/* The directives, and the module as nginx loads it. */
#include "nginx/nginx.h"

#include <nginx.h> /* the version of nginx */

/* -- directives -------------------------------------------------------------------------------- */

static char *read_dialect(ngx_conf_t *cf, ngx_command_t *command, void *data)
{
    mishap_nginx_conf *conf = data;
    const ngx_str_t *value = cf->args->elts;
    (void)command;
    if (conf->dialect)
        return "is duplicate";
    conf->dialect = mishap_dialect_find((const char *)value[1].data); /* nginx ends it with a NUL */
    if (conf->dialect)
        return NGX_CONF_OK;

    mishap_buffer names = { 0 };
    for (const mishap_dialect *const *each = mishap_dialects(); *each; each++) {
        const char *name = mishap_dialect_name(*each);
        mishap_buffer_add(&names, " ", 1);
        mishap_buffer_add(&names, name, ngx_strlen(name));
    }
    ngx_str_t list = { names.length, (u_char *)names.data };
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "mishap: no dialect is named \"%V\"; there are:%V",
                       &value[1], &list);
    mishap_buffer_release(&names);
    return NGX_CONF_ERROR;
}

/* 422, 500-504, 4xx. */
static ngx_int_t read_range(ngx_str_t word, mishap_nginx_range *range)
{
    ngx_int_t first, last;
    if (word.len == 3 && ngx_strncasecmp(word.data + 1, (u_char *)"xx", 2) == 0) {
        first = ngx_atoi(word.data, 1) * 100;
        last = first + 99;
    } else if (word.len == 7 && word.data[3] == '-') {
        first = ngx_atoi(word.data, 3);
        last = ngx_atoi(word.data + 4, 3);
    } else {
        first = last = word.len == 3 ? ngx_atoi(word.data, 3) : NGX_ERROR;
    }
    if (first < NGX_HTTP_BAD_REQUEST || last < first || last > 999)
        return NGX_ERROR;
    *range = (mishap_nginx_range){ (ngx_uint_t)first, (ngx_uint_t)last };
    return NGX_OK;
}

static char *read_statuses(ngx_conf_t *cf, ngx_command_t *command, void *data)
{
    mishap_nginx_conf *conf = data;
    const ngx_str_t *value = cf->args->elts;
    (void)command;
    if (conf->statuses != NGX_CONF_UNSET_PTR)
        return "is duplicate";
    conf->statuses = ngx_array_create(cf->pool, cf->args->nelts, sizeof(mishap_nginx_range));
    if (!conf->statuses)
        return NGX_CONF_ERROR;
    for (ngx_uint_t i = 1; i < cf->args->nelts; i++) {
        mishap_nginx_range *range = ngx_array_push(conf->statuses);
        if (!range)
            return NGX_CONF_ERROR;
        if (read_range(value[i], range) != NGX_OK) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "mishap: \"%V\" is no status of an error; write 422, 500-504 or 4xx",
                               &value[i]);
            return NGX_CONF_ERROR;
        }
    }
    return NGX_CONF_OK;
}

/* nginx would let all users read a new file. A failure shows when nginx opens it. */
static void make_private(const ngx_open_file_t *file)
{
    int made = open((const char *)file->name.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made != -1)
        close(made);
}

/* nginx opens the file before it gives up its rights, and again on `nginx -s reopen`. */
static char *read_incidents(ngx_conf_t *cf, ngx_command_t *command, void *data)
{
    mishap_nginx_conf *conf = data;
    ngx_str_t *value = cf->args->elts;
    (void)command;
    if (conf->has_incidents)
        return "is duplicate";
    conf->has_incidents = 1;
    if (ngx_strcmp(value[1].data, "off") == 0)
        return NGX_CONF_OK;
    conf->incidents = ngx_conf_open_file(cf->cycle, &value[1]);
    if (!conf->incidents)
        return NGX_CONF_ERROR;
    make_private(conf->incidents);
    return NGX_CONF_OK;
}

enum { ANYWHERE = NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF };

static ngx_command_t commands[] = {
    { ngx_string("mishap"), ANYWHERE | NGX_CONF_FLAG, ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET, offsetof(mishap_nginx_conf, on), NULL },
    { ngx_string("mishap_dialect"), ANYWHERE | NGX_CONF_TAKE1, read_dialect,
      NGX_HTTP_LOC_CONF_OFFSET, 0, NULL },
    { ngx_string("mishap_statuses"), ANYWHERE | NGX_CONF_1MORE, read_statuses,
      NGX_HTTP_LOC_CONF_OFFSET, 0, NULL },
    { ngx_string("mishap_incidents"), ANYWHERE | NGX_CONF_TAKE1, read_incidents,
      NGX_HTTP_LOC_CONF_OFFSET, 0, NULL },
    ngx_null_command,
};

static void *create_conf(ngx_conf_t *cf)
{
    mishap_nginx_conf *conf = ngx_pcalloc(cf->pool, sizeof *conf);
    if (!conf)
        return NULL;
    conf->on = NGX_CONF_UNSET;
    conf->statuses = NGX_CONF_UNSET_PTR;
    return conf;
}

static char *merge_conf(ngx_conf_t *cf, void *above, void *here)
{
    const mishap_nginx_conf *from = above;
    mishap_nginx_conf *conf = here;
    (void)cf;
    ngx_conf_merge_value(conf->on, from->on, 0);
    ngx_conf_merge_ptr_value(conf->statuses, from->statuses, NULL);
    if (!conf->dialect)
        conf->dialect = from->dialect ? from->dialect : mishap_dialect_find("http-api");
    if (!conf->has_incidents) {
        conf->has_incidents = from->has_incidents;
        conf->incidents = from->incidents;
    }
    return NGX_CONF_OK;
}

/* -- the module -------------------------------------------------------------------------------- */

static ngx_http_module_t http_module = {
    .postconfiguration = mishap_nginx_filter_init,
    .create_loc_conf = create_conf,
    .merge_loc_conf = merge_conf,
};

ngx_module_t ngx_http_mishap_module = {
    NGX_MODULE_V1,
    .ctx = &http_module,
    .commands = commands,
    .type = NGX_HTTP_MODULE,
};

/* What nginx looks for in a file that it loads. The filter sits where nginx puts those of others:
 * error bodies are in memory, compression and `add_header … always` come after it. */
#pragma GCC visibility push(default)
extern ngx_module_t *ngx_modules[];
extern char *ngx_module_names[];
extern char *ngx_module_order[];
#pragma GCC visibility pop

ngx_module_t *ngx_modules[] = { &ngx_http_mishap_module, NULL };
char *ngx_module_names[] = { "ngx_http_mishap_module", NULL };
char *ngx_module_order[] = { "ngx_http_mishap_module", "ngx_http_copy_filter_module", NULL };
