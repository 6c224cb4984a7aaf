/* What can be typed at the cursor of a command line: the answer of __complete. */
#include "cli/manual/complete.h"

/* The words before the cursor, as far as they matter. */
struct typed {
    const mishap_app *app;
    const mishap_operation *operation; /* the command that they name so far; NULL: none */
    const char *stem;                  /* name[0…length) is spelled by the first words */
    size_t length;
    const mishap_param *flag; /* the flag that needs a value; NULL: none */
    size_t place; /* the position of the word at the cursor among those that are no flags */
    bool helped;  /* `help` came first */
    bool naming;  /* words of a command may follow */
    bool ended;   /* `--`: no flags follow */
};

/* -- the words of commands --------------------------------------------------------------------- */

static size_t segment_end(const char *name, size_t from)
{
    return from + strcspn(name + from, ".");
}

/* Does a name start with the first `length` bytes of another, as whole segments? */
static bool starts_with(const char *name, const char *other, size_t length)
{
    return length == 0 ||
           (strncmp(name, other, length) == 0 && (name[length] == '.' || name[length] == '\0'));
}

/* True if no command before this one starts with the same segments: each is listed once. */
static bool is_first(const mishap_app *app, const mishap_operation *operation, size_t length)
{
    const mishap_operation *o = NULL;
    while ((o = mishap_cli_next_command(app, o)) != operation)
        if (starts_with(o->name, operation->name, length))
            return false;
    return true;
}

/* The next command whose name continues behind the stem; its next word is name[*from…*to). */
static const mishap_operation *next_word(const struct typed *t, const mishap_operation *before,
                                         size_t *from, size_t *to)
{
    const mishap_operation *o = before;
    while ((o = mishap_cli_next_command(t->app, o))) {
        if (!starts_with(o->name, t->stem, t->length) || (t->length && o->name[t->length] == '\0'))
            continue;
        *from = t->length ? t->length + 1 : 0;
        *to = segment_end(o->name, *from);
        if (is_first(t->app, o, *to))
            return o;
    }
    return NULL;
}

static const mishap_operation *find_command(const struct typed *t)
{
    const mishap_operation *o = NULL;
    while ((o = mishap_cli_next_command(t->app, o)))
        if (starts_with(o->name, t->stem, t->length) && o->name[t->length] == '\0')
            break;
    return o;
}

/* A word of a command's name, or the first that is none. */
static void read_name(struct typed *t, const char *word)
{
    const mishap_operation *o = NULL;
    size_t from, to;
    while (t->naming && (o = next_word(t, o, &from, &to)))
        if (strlen(word) == to - from && memcmp(word, o->name + from, to - from) == 0)
            break;
    if (!o) {
        t->naming = false;
        t->place++;
        return;
    }
    t->stem = o->name;
    t->length = to;
    t->operation = t->helped ? NULL : find_command(t);
    if (t->operation == mishap_cli_builtins) { /* help: any command can follow it */
        t->helped = true;
        t->length = 0;
    }
}

/* -- flags ------------------------------------------------------------------------------------- */

/* The parameter of one value: of an array, its items. */
static const mishap_param *one_of(const mishap_param *param)
{
    return param->type == MISHAP_ARRAY && param->items ? param->items : param;
}

/* True if a value can be the name of a file, or come from one. */
static bool may_be_file(const mishap_param *param)
{
    mishap_type_of_param type = one_of(param)->type;
    return type == MISHAP_STRING || type >= MISHAP_BYTES;
}

/* The flag that a word spells, up to its equals sign: --role, -r. NULL: none. */
static const mishap_param *find_flag(const mishap_operation *operation, const char *word)
{
    size_t length = strcspn(word, "=");
    const mishap_param *flag = NULL;
    while ((flag = mishap_cli_next_flag(operation, flag))) {
        char letter = mishap_cli_letter(operation, flag);
        if (word[1] == '-' ? length > 2 && mishap_cli_spells(word + 2, length - 2, flag->name)
                           : letter && word[1] == letter && !word[2])
            break;
    }
    return flag;
}

static void read_word(struct typed *t, const char *word)
{
    if (t->flag) {
        t->flag = NULL;
    } else if (!t->ended && strcmp(word, "--") == 0) {
        t->ended = true;
        t->naming = false;
    } else if (!t->ended && word[0] == '-' && word[1]) {
        t->naming = false;
        if (!strchr(word, '='))
            t->flag = find_flag(t->operation, word);
        if (t->flag && t->flag->type == MISHAP_BOOLEAN)
            t->flag = NULL;
    } else {
        read_name(t, word);
    }
}

/* -- offers ------------------------------------------------------------------------------------ */

static void begin_offers(mishap_buffer *b, const char *kind, const char *prefix, size_t length)
{
    mishap_cli_put(b, kind);
    MISHAP_PUT(b, "\n");
    mishap_buffer_put(b, prefix, length);
    MISHAP_PUT(b, "\n");
}

static void put_plain(mishap_buffer *b, mishap_text text)
{
    for (size_t i = 0; i < text.length; i++)
        mishap_buffer_put_char(b, (unsigned char)text.data[i] < ' ' ? ' ' : text.data[i]);
}

/* The description of an offer, which may be NULL, and the end of its line. */
static void end_offer(mishap_buffer *b, const char *meaning)
{
    if (meaning) {
        MISHAP_PUT(b, "\t");
        put_plain(b, mishap_text_of(meaning));
    }
    MISHAP_PUT(b, "\n");
}

static void offer_names(mishap_buffer *b, const struct typed *t)
{
    const mishap_operation *o = NULL;
    size_t from, to;
    while ((o = next_word(t, o, &from, &to))) {
        mishap_buffer_put(b, o->name + from, to - from);
        end_offer(b, o->name[to] ? NULL : o->summary);
    }
}

/* Single letters, too, unless two hyphens were typed. */
static void offer_flags(mishap_buffer *b, const struct typed *t, bool letters)
{
    const mishap_param *flag = NULL;
    begin_offers(b, "flags", "", 0);
    while ((flag = mishap_cli_next_flag(t->operation, flag))) {
        char letter = mishap_cli_letter(t->operation, flag);
        if (letters && letter) {
            MISHAP_PUT(b, "-");
            mishap_buffer_put_char(b, letter);
            end_offer(b, flag->help);
        }
        MISHAP_PUT(b, "--");
        mishap_cli_put_flag(b, flag->name);
        end_offer(b, flag->help);
        if (mishap_cli_can_be_off(flag)) {
            MISHAP_PUT(b, "--no-");
            mishap_cli_put_flag(b, flag->name);
            end_offer(b, flag->help);
        }
    }
}

/* Begin the values of a parameter that can stand behind the first bytes of a word; it may be NULL.
 * The name of a file may stand behind an @. */
static void begin_values(mishap_buffer *b, const mishap_param *param, const char *word,
                         size_t before)
{
    bool file = param && may_be_file(param);
    begin_offers(b, file ? "files" : "words", word,
                 param ? before + (file && word[before] == '@') : 0);
}

static void offer_values(mishap_buffer *b, const mishap_param *param)
{
    static const char *const booleans[] = { "true", "false", NULL };
    const mishap_param *one = param ? one_of(param) : NULL;
    const char *const *values = NULL;
    if (one && one->type == MISHAP_ENUM)
        values = one->choices;
    else if (one && one->type == MISHAP_BOOLEAN)
        values = booleans;
    for (; values && *values; values++) {
        put_plain(b, mishap_text_of(*values));
        end_offer(b, NULL);
    }
}

/* The positional parameter of the word at the cursor; NULL: none. Commands follow help. */
static const mishap_param *find_place(const struct typed *t)
{
    const mishap_param *param = NULL;
    size_t place = 0;
    if (t->operation == mishap_cli_builtins)
        return NULL;
    for (param = t->ended && t->operation ? t->operation->params : NULL; param && param->name;
         param++)
        if (param->rest)
            return param;
    param = NULL;
    while ((param = mishap_cli_next_own(t->operation, param)))
        if (param->positional && place++ == t->place)
            break;
    return param;
}

void mishap_cli_put_offers(mishap_buffer *b, const mishap_app *app, const char *const *words,
                           size_t count)
{
    struct typed t = { .app = app, .stem = "", .naming = true };
    const char *word = count ? words[count - 1] : "", *equals = strchr(word, '=');
    for (size_t i = 0; i + 1 < count; i++)
        read_word(&t, words[i]);
    bool flag = !t.flag && !t.ended && word[0] == '-', valued = flag && word[1] == '-' && equals;
    if (flag && !valued) {
        offer_flags(b, &t, word[1] != '-');
        return;
    }
    const mishap_param *param = t.flag   ? t.flag
                                : valued ? find_flag(t.operation, word)
                                         : find_place(&t);
    if (valued && param && param->type == MISHAP_BOOLEAN &&
        !mishap_cli_has_param(t.operation, param->name))
        param = NULL; /* --help and --detach have no value */
    begin_values(b, param, word, valued ? (size_t)(equals + 1 - word) : 0);
    if (!t.flag && !valued && t.naming)
        offer_names(b, &t);
    offer_values(b, param);
}
