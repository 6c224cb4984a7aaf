/* Reads lines: with libedit at a terminal, otherwise as they come: see line.h. */
#include "lisp/line.h"

#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

#include <mishap/memory.h>

#include "lisp/history.h"
#include "services_found.h"

#if LISP_LIBEDIT
#include <histedit.h>
#endif

enum { REMEMBERED = 1000, PIECE = 4096 };

struct lisp_lines {
    bool person;
    const char *history; /* the path; NULL: none */
    mishap_buffer in;    /* input that was read and not used yet, from `at` on */
    size_t at;
    bool dropped; /* Ctrl-C */
    bool over;
#if LISP_LIBEDIT
    EditLine *editor; /* NULL: there is none */
    HistoryW *past;
    locale_t locale;
    wchar_t prompt[200];
#endif
};

/* -- input ------------------------------------------------------------------------------------- */

/* Wait for input. A signal is noticed even if it came just before. False: there was one. */
static bool wait_for_input(lisp_lines *l)
{
    sigset_t blocked, usual;
    struct pollfd file = { .fd = STDIN_FILENO, .events = POLLIN };
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &blocked, &usual);
    do {
        l->over |= lisp_signals_ended();
        l->dropped |= lisp_signals_interrupted();
    } while (!l->over && !l->dropped && ppoll(&file, 1, NULL, &usual) < 0 && errno == EINTR);
    pthread_sigmask(SIG_SETMASK, &usual, NULL);
    return !l->over && !l->dropped;
}

/* Read more, at most `most` bytes. False: there is no more, or a signal came. */
static bool read_more(lisp_lines *l, size_t most)
{
    char piece[PIECE];
    if (!wait_for_input(l))
        return false;
    ssize_t count = read(STDIN_FILENO, piece, most);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (l->at == l->in.length) {
        mishap_buffer_reset(&l->in);
        l->at = 0;
    }
    if (count > 0)
        mishap_buffer_add(&l->in, piece, (size_t)count);
    l->over |= count <= 0 || l->in.failed;
    return !l->over;
}

static mishap_text rest_of(const lisp_lines *l)
{
    return (mishap_text){ l->in.data + l->at, l->in.length - l->at };
}

static void put_character(mishap_buffer *out, uint32_t c)
{
    char bytes[4];
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    for (size_t i = length; i-- > 1; c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3F));
    bytes[0] = (char)(leads[length] | c);
    mishap_buffer_add(out, bytes, length);
}

static void put_clean(mishap_buffer *out, mishap_text text)
{
    uint32_t c;
    for (size_t length; (length = mishap_text_character(text, &c)) > 0;
         text = (mishap_text){ text.data + length, text.length - length })
        put_character(out, c ? c : MISHAP_NO_CHARACTER);
}

/* Read a line without editing: from a pipe, or from a terminal that edits lines itself. */
static lisp_line_end read_plain(lisp_lines *l, const char *prompt, mishap_buffer *out)
{
    const char *feed = NULL;
    if (l->person) {
        fputs(prompt, stdout);
        fflush(stdout);
    }
    for (;;) {
        mishap_text rest = rest_of(l);
        feed = rest.length ? memchr(rest.data, '\n', rest.length) : NULL;
        /* Ctrl-D in the middle of a line ends it without a line feed: that counts as a line,
         * too. */
        if (feed || !read_more(l, PIECE))
            break;
    }
    mishap_text rest = rest_of(l);
    if (l->dropped) {
        l->at = l->in.length;
        l->dropped = false;
        if (l->person)
            fputs("\n", stdout);
        return LISP_LINE_DROPPED;
    }
    if (!feed && !rest.length) {
        if (l->person)
            fputs("\n", stdout);
        return LISP_LINE_OVER;
    }
    size_t length = feed ? (size_t)(feed - rest.data) : rest.length;
    put_clean(out, (mishap_text){ rest.data, length });
    mishap_buffer_add(out, "\n", 1);
    l->at += length + (feed != NULL);
    return LISP_LINE_READ;
}

/* -- editing ----------------------------------------------------------------------------------- */

#if LISP_LIBEDIT

/* The functions of libedit that are used, as its header declares them. */
static struct {
    __typeof__(el_init) *init;
    __typeof__(el_end) *end;
    __typeof__(el_source) *source;
    __typeof__(el_resize) *resize;
    __typeof__(el_wset) *set;
    __typeof__(el_wget) *get;
    __typeof__(el_wgets) *gets;
    __typeof__(history_winit) *past_init;
    __typeof__(history_wend) *past_end;
    __typeof__(history_w) *past;
} edit;

static bool load_libedit(void)
{
    static const char *const names[] = { "el_init",      "el_end",   "el_source", "el_resize",
                                         "el_wset",      "el_wget",  "el_wgets",  "history_winit",
                                         "history_wend", "history_w" };
    void *library = edit.past ? NULL : dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    void *found[sizeof names / sizeof *names];
    if (!library)
        return edit.past != NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!(found[i] = dlsym(library, names[i])))
            return false;
    _Static_assert(sizeof found == sizeof edit, "a pointer for each name");
    memcpy(&edit, found, sizeof edit);
    return true;
}

static lisp_lines *lines_of(EditLine *editor)
{
    void *lines = NULL;
    edit.get(editor, EL_CLIENTDATA, &lines);
    return lines;
}

static wchar_t *prompt_of(EditLine *editor)
{
    return lines_of(editor)->prompt;
}

/* The next character for the editor. libedit's own function would go on after a first signal. Bytes
 * are read one by one: what follows the line may be meant for another program. */
static int next_character(EditLine *editor, wchar_t *out)
{
    lisp_lines *l = lines_of(editor);
    for (;;) {
        uint32_t c;
        mishap_text rest = rest_of(l);
        size_t length = mishap_text_character(rest, &c);
        bool whole = length > 0 && (c != MISHAP_NO_CHARACTER || rest.length >= 4 ||
                                    !((unsigned char)rest.data[0] & 0x80));
        if (whole) {
            l->at += length;
            *out = (wchar_t)c;
            return 1;
        }
        if (!read_more(l, 1)) {
            l->at = l->in.length;
            return l->dropped ? -1 : 0;
        }
    }
}

static void put_wide(mishap_buffer *out, const wchar_t *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        put_character(out, text[i] ? (uint32_t)text[i] : MISHAP_NO_CHARACTER);
}

static void widen(mishap_text text, wchar_t *out, size_t size)
{
    uint32_t c;
    size_t count = 0;
    for (size_t length; count + 1 < size && (length = mishap_text_character(text, &c)) > 0;
         text = (mishap_text){ text.data + length, text.length - length })
        out[count++] = (wchar_t)c;
    out[count] = L'\0';
}

static void recall(void *state, mishap_text entry)
{
    lisp_lines *l = state;
    HistEventW event;
    size_t size = entry.length + 1;
    wchar_t *wide = mishap_allocate(size * sizeof *wide);
    if (wide) {
        widen(entry, wide, size);
        edit.past(l->past, &event, H_ENTER, wide);
    }
    mishap_release(wide);
}

static void open_editor(lisp_lines *l)
{
    HistEventW event;
    const char *terminal = getenv("TERM");
    if (!terminal || !*terminal || strcmp(terminal, "dumb") == 0 || !load_libedit())
        return;
    /* Characters are UTF-8, for this thread, in any locale. */
    l->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t usual = l->locale ? uselocale(l->locale) : (locale_t)0;
    l->past = edit.past_init();
    l->editor = l->past ? edit.init("mishap", stdin, stdout, stderr) : NULL;
    if (l->editor) {
        edit.past(l->past, &event, H_SETSIZE, REMEMBERED);
        edit.past(l->past, &event, H_SETUNIQUE, 1);
        edit.set(l->editor, EL_CLIENTDATA, (void *)l);
        edit.set(l->editor, EL_PROMPT, prompt_of);
        edit.set(l->editor, EL_EDITOR, L"emacs");
        edit.set(l->editor, EL_SIGNAL, 0);
        edit.set(l->editor, EL_HIST, edit.past, l->past);
        edit.set(l->editor, EL_GETCFN, next_character);
        edit.source(l->editor, NULL);
        if (l->history)
            lisp_history_load(l->history, recall, l);
    }
    if (usual)
        uselocale(usual);
}

static void close_editor(lisp_lines *l)
{
    if (l->editor)
        edit.end(l->editor);
    if (l->past)
        edit.past_end(l->past);
    if (l->locale)
        freelocale(l->locale);
}

static lisp_line_end read_edited(lisp_lines *l, const char *prompt, mishap_buffer *out)
{
    int count = 0;
    locale_t usual = l->locale ? uselocale(l->locale) : (locale_t)0;
    widen(mishap_text_of(prompt), l->prompt, sizeof l->prompt / sizeof *l->prompt);
    fflush(stdout);
    edit.resize(l->editor);
    edit.set(l->editor, EL_PREP_TERM, 1); /* before the prompt, so that typed text is echoed once */
    const wchar_t *line = edit.gets(l->editor, &count);
    lisp_line_end end = l->dropped          ? LISP_LINE_DROPPED
                        : line && count > 0 ? LISP_LINE_READ
                                            : LISP_LINE_OVER;
    l->dropped = false;
    if (end != LISP_LINE_READ)
        fputs("\n", stdout);
    else
        put_wide(out, line, (size_t)count);
    if (end == LISP_LINE_READ && line[count - 1] != L'\n')
        mishap_buffer_add(out, "\n", 1);
    fflush(stdout);
    if (usual)
        uselocale(usual);
    return end;
}

#endif

/* -- lines ------------------------------------------------------------------------------------- */

lisp_lines *lisp_lines_open(bool person, const char *history)
{
    lisp_lines *l = mishap_allocate(sizeof *l);
    if (!l)
        return NULL;
    *l = (lisp_lines){ .person = person, .history = history };
#if LISP_LIBEDIT
    if (person)
        open_editor(l);
#endif
    return l;
}

void lisp_lines_close(lisp_lines *l)
{
    if (!l)
        return;
#if LISP_LIBEDIT
    close_editor(l);
#endif
    mishap_buffer_release(&l->in);
    mishap_release(l);
}

lisp_line_end lisp_lines_read(lisp_lines *l, const char *prompt, mishap_buffer *out)
{
    if (l->over && l->at == l->in.length)
        return LISP_LINE_OVER;
#if LISP_LIBEDIT
    if (l->editor)
        return read_edited(l, prompt, out);
#endif
    return read_plain(l, prompt, out);
}

void lisp_lines_remember(lisp_lines *l, mishap_text typed)
{
    while (typed.length && typed.data[typed.length - 1] == '\n')
        typed.length--;
    if (!l->person || !typed.length)
        return;
#if LISP_LIBEDIT
    if (l->editor)
        recall(l, typed);
#endif
    if (l->history)
        lisp_history_add(l->history, typed);
}
