/* Checks for connection strings, internal hosts and private addresses. */
#include "guard/rules.h"

/* -- what stands in place of a password -------------------------------------------------------- */

static bool is_one_of(const char *from, size_t length, const char *const *words)
{
    for (; *words && length; words++) {
        if ((**words | 32) != (*from | 32) || strlen(*words) != length)
            continue;
        size_t i = 0;
        while (i < length && (from[i] | 32) == ((*words)[i] | 32))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

/* Does it say what is wrong with a value: `too-short`, `TooShort`? Only its letters count. */
static bool is_verdict(const char *from, const char *to)
{
    static const char *const verdicts[] = {
        "tooshort",   "toolong",   "tooweak",   "toocommon", "toosimple", "tooeasy",   "required",
        "isrequired", "invalid",   "missing",   "weak",      "empty",     "blank",     "incorrect",
        "expired",    "mismatch",  "notmatch",  "rejected",  "forbidden", "unchanged", "istooshort",
        "istoolong",  "minlength", "maxlength", "mandatory", NULL
    };
    char letters[16];
    size_t length = 0;
    for (; from < to; from++) {
        if (length == sizeof letters || !(leak_letter(*from) || *from == '-' || *from == '_'))
            return false;
        if (leak_letter(*from))
            letters[length++] = *from;
    }
    return is_one_of(letters, length, verdicts);
}

/* ***, [redacted], <password>, ${PASSWORD}, %s, xxxx: no password, but the place of one. */
bool mishap_leak_placeholder(const char *from, const char *to)
{
    static const char *const words[] = {
        "redacted",  "password",      "pass",         "passwd",        "pwd",        "secret",
        "hidden",    "removed",       "filtered",     "masked",        "null",       "none",
        "undefined", "your-password", "yourpassword", "your_password", "mypassword", "string",
        "changeme",  "example",       "true",         "false",         NULL
    };
    size_t length = (size_t)(to - from);
    if (length == 0)
        return true;
    if (memchr("<[{$%*", *from, 6) || (unsigned char)*from == 0xE2) /* … and • */
        return true;
    bool same = true;
    for (size_t i = 1; i < length; i++)
        same = same && from[i] == from[0];
    if (same && length > 1 && (strchr("*.xX-_#?", *from)))
        return true;
    if ((leak_letter(*from) && is_one_of(from, length, words)) || is_verdict(from, to))
        return true;
    return leak_search(from, to, "edacted", 7) || leak_search(from, to, "EDACTED", 7) ||
           leak_search(from, to, "***", 3);
}

/* -- addresses with a scheme ------------------------------------------------------------------- */

static bool in_scheme(char c)
{
    return leak_letter(c) || leak_digit(c) || c == '+' || c == '.' || c == '-';
}

static bool in_authority(char c)
{
    return leak_kinds(c) & LEAK_AUTHORITY;
}

static bool in_address(char c)
{
    return leak_kinds(c) & LEAK_ADDRESS;
}

/* `scheme://user:PASSWORD@host`; the literal is `s://` and a character. A password may have an @ in
 * it, so the last one counts. */
bool mishap_leak_password_in_address(mishap_leak_place *place)
{
    const char *begin = place->behind - 1;
    const char *end = leak_skip(place, begin, in_authority, LEAK_FAR);
    if (end - begin == LEAK_FAR) {
        place->limit = true;
        return true;
    }
    const char *sign = memrchr(begin, '@', (size_t)(end - begin));
    if (!sign)
        return false;
    const char *colon = memchr(begin, ':', (size_t)(sign - begin));
    if (!colon || mishap_leak_placeholder(colon + 1, sign))
        return false;
    place->from = leak_skip_back(place, place->at + 1, in_scheme, 32);
    place->to = end;
    place->secret = colon + 1;
    place->secret_end = sign;
    return true;
}

/* `postgresql://host/db`, `mongodb+srv://…`, `jdbc:…`: a database by its address, without a
 * password. */
bool mishap_leak_database_address(mishap_leak_place *place)
{
    if (leak_word(leak_char(place, place->at - 1)))
        return false;
    const char *end = leak_skip(place, place->behind, in_address, 300);
    const char *sign = memrchr(place->behind, '@', (size_t)(end - place->behind));
    if (sign) {
        const char *colon = memchr(place->behind, ':', (size_t)(sign - place->behind));
        if (colon && colon + 1 < sign) { /* with a password: the other rule, or redacted */
            if (mishap_leak_placeholder(colon + 1, sign))
                return false;
            place->secret = colon + 1;
            place->secret_end = sign;
            place->confidence = MISHAP_LEAK_HIGH;
        }
        const char *slash = memchr(place->behind, '/', (size_t)(sign - place->behind));
        if (leak_is(place, place->at, "jdbc:oracle") && slash && slash + 1 < sign) {
            place->secret = slash + 1; /* thin:scott/tiger@ */
            place->secret_end = sign;
            place->confidence = MISHAP_LEAK_HIGH;
        }
    }
    if (end - place->behind < 3 ||
        !(leak_word(*place->behind) || *place->behind == '/' || place->secret))
        return false;
    static const char *const local[] = { "localhost", "127.0.0.1", "example.", "host", NULL };
    for (size_t i = 0; !sign && local[i]; i++)
        if (leak_is(place, place->behind, local[i]))
            return false;
    place->to = end;
    return true;
}

static bool in_pairs(char c)
{
    return leak_kinds(c) & LEAK_PAIRS;
}

static bool in_pair(char c)
{
    return in_pairs(c) && c != ';' && c != '\'';
}

/* The password in pairs; NULL if they have none. */
static const char *password_of_pairs(mishap_leak_place *place, const char *from, const char *to)
{
    static const char *const names[] = { "assword=",    "ASSWORD=",         "Pwd=", "pwd=", "PWD=",
                                         "AccountKey=", "SharedAccessKey=", NULL };
    for (size_t i = 0; names[i]; i++) {
        const char *name = leak_find(place, from, to, names[i]);
        if (name)
            return name + strlen(names[i]);
    }
    return NULL;
}

/* `Server=db;Database=x;User Id=u;Password=p`, `mysql:host=h;dbname=d`: pairs with semicolons. */
bool mishap_leak_connection_pairs(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, in_pairs, 300);
    const char *from = leak_skip_back(place, place->at, in_pairs, 200);
    const char *value = leak_skip(place, place->behind, in_pair, 128);
    if (value == place->behind ||
        (!memchr(from, ';', (size_t)(place->at + 1 - from)) && leak_char(place, value) != ';'))
        return false;
    const char *password = password_of_pairs(place, from, end);
    const char *password_end = password ? leak_skip(place, password, in_pair, 128) : NULL;
    if (password && password_end > password && !mishap_leak_placeholder(password, password_end)) {
        place->secret = password;
        place->secret_end = password_end;
    } else if (password) {
        return false;
    } else {
        place->confidence = MISHAP_LEAK_MEDIUM;
    }
    place->from = from;
    place->to = end;
    return true;
}

/* A password by its name, beside words of a connection: `host=db user=app password=x`. */
bool mishap_leak_connection_password(mishap_leak_place *place)
{
    static const char *const words[] = {
        "host=",      "host:",       "'HOST'", "\"host\"",     "jdbc:", "adapter:", "dbname",
        "datasource", "LoginModule", "ENGINE", "DB_HOST",      "HOST=", "server=",  "Server=",
        "'host'",     ":6379",       ":6380",  "abortConnect", ":5432", ":3306",    ":27017",
        "psql",       " -h ",        "smtp",   "SMTP",         "dsn",   "DSN",      "host\\\"",
        "HOST:",      "hostname",    NULL
    };
    if (!mishap_leak_any_password(place))
        return false;
    const char *from = place->at - place->start > 140 ? place->at - 140 : place->start;
    const char *to = place->end - place->to > 80 ? place->to + 80 : place->end;
    place->steps += 60; /* so many searches begin */
    for (size_t i = 0; words[i]; i++)
        if (leak_find(place, from, to, words[i]))
            return true;
    return false;
}

static bool in_user(char c)
{
    return in_address(c) && c != '(' && c != '=' && c != ',';
}

/* `user:PASSWORD@tcp(host:3306)/db` as programs in Go write it; the literal is `@tcp(`. */
bool mishap_leak_go_dsn(mishap_leak_place *place)
{
    const char *from = leak_skip_back(place, place->at, in_user, 128);
    const char *colon = memchr(from, ':', (size_t)(place->at - from));
    if (!colon || mishap_leak_placeholder(colon + 1, place->at))
        return false;
    place->from = from;
    place->secret = colon + 1;
    place->secret_end = place->at;
    return true;
}

/* `host:5432:db:user:PASSWORD`, a line of .pgpass; the literal is `:5432:`. */
bool mishap_leak_pgpass(mishap_leak_place *place)
{
    const char *from = leak_line_start(place, place->at),
               *end = leak_line_end(place, place->behind);
    const char *database = memchr(place->behind, ':', (size_t)(end - place->behind));
    const char *user = database ? memchr(database + 1, ':', (size_t)(end - database - 1)) : NULL;
    if (!user || end - user < 4 || memchr(from, ' ', (size_t)(end - from)))
        return false;
    place->from = from;
    place->to = place->secret_end = end;
    place->secret = user + 1;
    return true;
}

/* `the --password option is required`: a word of a sentence. */
static bool is_small_word(const char *from, const char *to)
{
    while (from < to && (leak_lower(*from) || ((*from == '.' || *from == ',') && from + 1 == to)))
        from++;
    return from == to;
}

/* `mysql -u root -pPASSWORD`, `curl -u name:PASSWORD`; the literal is the option. */
bool mishap_leak_option_password(mishap_leak_place *place)
{
    const char *value = place->behind;
    if (!leak_blank(value[-1]) && value[-1] != '=')
        value--; /* the literal ends with the first character of it */
    const char *end = leak_skip(place, value, in_user, 80);
    if (leak_ends(place, value, " -u ") || leak_ends(place, value, "--user ")) {
        const char *colon = memchr(value, ':', (size_t)(end - value));
        if (!colon || leak_is(place, colon, "://"))
            return false;
        value = colon + 1;
    } else if (leak_ends(place, value, " -p")) {
        const char *near = place->at - place->start > 60 ? place->at - 60 : place->start;
        if (!leak_find(place, near, place->at, "mysql"))
            return false;
    } else if (leak_ends(place, value, " -p ") || leak_ends(place, value, " -P ") ||
               leak_ends(place, value, " -w ")) {
        const char *near = place->at - place->start > 80 ? place->at - 80 : place->start;
        if (!leak_find(place, near, place->at, "login ") &&
            !leak_find(place, near, place->at, "sqlcmd ") &&
            !leak_find(place, near, place->at, "ldap"))
            return false;
    } else if (leak_is(place, place->at, "sqlplus ")) { /* name/PASSWORD@place */
        const char *slash = memchr(value, '/', (size_t)(end - value));
        const char *sign = memchr(value, '@', (size_t)(end - value));
        if (!slash || !sign || sign < slash)
            return false;
        value = slash + 1;
        end = sign;
    }
    if (end - value < 4 || mishap_leak_placeholder(value, end) || leak_is(place, value, "-") ||
        (value[-1] == ' ' && is_small_word(value, end)))
        return false;
    place->to = place->secret_end = end;
    place->secret = value;
    return true;
}

/* -- hosts ------------------------------------------------------------------------------------- */

/* A number of an address, 0 to 255; NULL if there is none. */
static const char *octet(mishap_leak_place *place, const char *at, unsigned *value)
{
    const char *end = leak_skip(place, at, leak_digit, 4);
    *value = 0;
    for (const char *c = at; c < end; c++)
        *value = *value * 10 + (unsigned)(*c - '0');
    return end == at || end - at > 3 || *value > 255 || (*at == '0' && end - at > 1) ? NULL : end;
}

/* 10.x.x.x, 172.16.x.x to 172.31.x.x, 192.168.x.x, 169.254.x.x. A version, a network and a part of
 * a longer number are none. */
bool mishap_leak_private_address(mishap_leak_place *place)
{
    const char *at = place->at;
    if (!leak_digit(leak_char(place, at)))
        at++;
    unsigned parts[4];
    const char *from = at;
    char before = leak_char(place, from - 1);
    bool named = false; /* kafka-1/10.0.0.7:9092, but no Name/10.0.0.7 */
    if (leak_word(before) || before == '.' || before == '-' || before == '/') {
        if (before != '/')
            return false;
        named = leak_char(place, from - 2) != '/' && leak_word(leak_char(place, from - 2));
    }
    for (int i = 0; i < 4; i++) {
        if (!(at = octet(place, at, &parts[i])))
            return false;
        if (i < 3 && leak_char(place, at++) != '.')
            return false;
    }
    char next = leak_char(place, at);
    if (named && (next != ':' || !leak_digit(leak_char(place, at + 1))))
        return false;
    if (leak_word(next) || next == '-' || next == '/' ||
        (next == '.' && leak_word(leak_char(place, at + 1))))
        if (next != '/')
            return false;
    bool private = parts[0] == 10 || (parts[0] == 192 && parts[1] == 168) ||
                   (parts[0] == 172 && parts[1] >= 16 && parts[1] <= 31) ||
                   (parts[0] == 169 && parts[1] == 254) ||
                   (parts[0] == 100 && parts[1] >= 64 && parts[1] <= 127);
    if (!private || leak_ends(place, from, "elease ") || leak_ends(place, from, "ersion ") ||
        leak_ends(place, from, "ersion: ") || leak_ends(place, from, "ersion\":\"") ||
        leak_ends(place, from, "ersion\": \""))
        return false;
    place->from = from;
    place->to = at;
    return true;
}

static bool not_upper(char c)
{
    return !leak_upper(c);
}

/* Neither - nor a digit. */
static bool in_plain_name(char c)
{
    return c != '-' && !leak_digit(c);
}

/* `db-1.prod.internal`; the literal is the last part with the point before it. */
bool mishap_leak_internal_host(mishap_leak_place *place)
{
    if (!leak_word(place->behind[-1]) && place->behind[-1] != '.')
        place->behind--;
    char next = leak_char(place, place->behind);
    bool inside = place->behind[-1] == '.'; /* db.internal.example.com */
    if (inside)
        place->behind = leak_skip(place, place->behind, leak_host, 100);
    if (leak_word(next) != inside || next == '-' || next == '(' || next == '=' || next == '[' ||
        (next == '.' && leak_word(leak_char(place, place->behind + 1))))
        return false;
    next = leak_char(place, place->behind);
    const char *from = leak_skip_back(place, place->at, leak_host, 200);
    char before = leak_char(place, from - 1);
    if (from == place->at || *from == '.' || before == '$' || before == '\\')
        return false;
    /* An address of mail and a name in a program (`a.b.local`) are no hosts; a host stands in an
     * address, behind @ of a connection, or alone as a name with - or digits or two points. */
    if (before == '/' && leak_char(place, from - 2) != '/')
        return false;
    if (!leak_upper(*from) && leak_run_end(place, from, not_upper, place->at) != place->at)
        return false;
    bool odd = leak_ends(place, from, "://") || next == ':' || before == '@' ||
               leak_run_end(place, from, in_plain_name, place->at) != place->at;
    static const char *const sure[] = { ".internal", ".home.arpa",   ".lan", ".corp",
                                        ".intra",    ".localdomain", NULL };
    bool clear = odd || memchr(from, '.', (size_t)(place->at - from)) || leak_quote(before) ||
                 leak_ends(place, from, "host ") || leak_ends(place, from, "ENOTFOUND ");
    for (size_t i = 0; !clear && sure[i]; i++)
        clear = leak_is(place, place->at, sure[i]);
    if (!clear)
        return false;
    place->from = from;
    place->to = place->behind;
    return true;
}

static bool in_address_6(char c)
{
    return leak_hex(c) || c == ':';
}

/* `fd12:3456::20`, `fe80::1`: an address of IPv6 that only its network knows. */
bool mishap_leak_private_address_6(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->at, in_address_6, 40);
    char before = leak_char(place, place->at - 1);
    size_t colons = 0;
    for (const char *c = place->at; c < end; c++)
        colons += *c == ':';
    if (colons < 2 || leak_word(leak_char(place, end)) || leak_word(before) || before == ':' ||
        before == '-' || (colons < 7 && !leak_find(place, place->at, end, "::")))
        return false;
    place->to = end;
    return true;
}

static bool in_label(char c)
{
    return leak_lower(c) || leak_digit(c) || c == '-';
}

/* `http://intranet/wiki`: a host without a domain. */
bool mishap_leak_short_host(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind - 1, in_label, 64);
    char next = leak_char(place, end);
    static const char *const words[] = { "localhost", "host", "hostname", "server", "example",
                                         "domain",    "url",  "api",      "site",   "test",
                                         "my-",       "your", "www",      "path",   "foo",
                                         "bar",       "user", "unix",     "ip",     "address",
                                         NULL };
    if (end - place->behind < 2 || (next != '/' && next != ':') || leak_digit(place->behind[-1]))
        return false;
    for (size_t i = 0; words[i]; i++)
        if (leak_is(place, place->behind - 1, words[i]))
            return false;
    place->to = end;
    return true;
}

/* `ECONNREFUSED 127.0.0.1:5432`, `ENOTFOUND db`: what a program could not reach. */
bool mishap_leak_unreached_host(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, in_address, 120);
    char first = leak_char(place, place->behind);
    if (end - place->behind < 2 || !(leak_word(first) || first == ':' || first == '['))
        return false;
    const char *at = place->behind;
    bool dotted = false;
    for (; at < end; at++)
        dotted = dotted || *at == '.' || *at == ':' || *at == '-';
    if (!dotted && !leak_is(place, place->at, "ENOTFOUND") &&
        !leak_is(place, place->at, "EAI_AGAIN") &&
        !(leak_is(place, place->at, "connect to host") && leak_is(place, end, " port ")))
        return false;
    place->to = end;
    return true;
}

/* `user/PASSWORD@//host` of Oracle; the literal is `@//` with a character on each side. */
bool mishap_leak_oracle_login(mishap_leak_place *place)
{
    const char *sign = place->at + 1;
    const char *from = leak_skip_back(place, sign, in_user, 100);
    const char *slash = memchr(from, '/', (size_t)(sign - from));
    if (!slash || slash == from || slash[1] == '/' || mishap_leak_placeholder(slash + 1, sign))
        return false;
    place->from = from;
    place->secret = slash + 1;
    place->secret_end = sign;
    place->to = leak_skip(place, place->behind, in_address, 100);
    return true;
}

/* `ip-10-0-12-34`. */
bool mishap_leak_host_by_address(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->at, leak_host, 100);
    size_t dashes = 0;
    for (const char *c = place->at; c < end; c++)
        dashes += *c == '-';
    if (dashes < 4 || leak_word(leak_char(place, place->at - 1)))
        return false;
    place->to = end;
    return true;
}

/* `db.example.com:5432`: a host by the port of a database or a queue. */
bool mishap_leak_service_port(mishap_leak_place *place)
{
    const char *from = leak_skip_back(place, place->at, leak_host, 200);
    if (place->at - from < 3 || leak_word(leak_char(place, place->behind)) ||
        !memchr(from, '.', (size_t)(place->at - from)) || leak_digit(place->at[-1]))
        return false;
    place->from = from;
    return true;
}

/* `localhost:5432`, `127.0.0.1:6379`: a service on the same machine. An address of the web is what
 * documentation has. */
bool mishap_leak_local_port(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, leak_digit, 6);
    char before = leak_char(place, place->at - 1);
    if (leak_word(before) || before == '.' || before == '-' || end - place->behind > 5 ||
        end - place->behind < 3)
        return false;
    place->to = end;
    return true;
}
