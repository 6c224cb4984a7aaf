/* The value: raising a mishap, adding to both of its sides, freeing it. The texts of the public
 * side are in part.c. */
#include <errno.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/base.h"
#include "guard/guard.h"
#include "mishap/inside.h"

/* -- making and freeing ------------------------------------------------------------------------ */

/* For failures that must be told when malloc has nothing left. Each block is taken and given back
 * atomically. */
enum { RESERVE = 8 };
static struct {
    atomic_flag taken;
    alignas(max_align_t) char block[MISHAP_BLOCK];
} reserve[RESERVE] = { [0 ... RESERVE - 1] = { .taken = ATOMIC_FLAG_INIT } };

/* Stands for every mishap for which there was no memory at all. Never written to. */
static struct mishap last_resort = {
    .told = { .code = MISHAP_CODE_INTERNAL_ERROR,
              .category = MISHAP_SYSTEM,
              .retry_stated = true,
              .retry_after_ms = -1 },
    .constant = true,
    .reserve = -1,
};

mishap *mishap_out_of_memory(void)
{
    return &last_resort;
}

static mishap *take_block(int *from)
{
    *from = -1;
    mishap *m = mishap_allocate(MISHAP_BLOCK);
    for (int i = 0; !m && i < RESERVE; i++) {
        if (!atomic_flag_test_and_set(&reserve[i].taken)) {
            m = (mishap *)(void *)reserve[i].block;
            *from = i;
        }
    }
    return m;
}

mishap *mishap_make(const mishap_code *code)
{
    int from;
    mishap *m = take_block(&from);
    if (!m)
        return &last_resort;
    /* The trace is left as it is: its count says how much of it counts. */
    memset(m, 0, offsetof(struct mishap, trace));
    m->trace.count = 0;
    m->restored = m->constant = m->status_known = m->of_worker = false;
    m->incomplete = from >= 0;
    m->reserve = from;
    m->told.code = code;
    m->told.category = code->category;
    m->told.retryable = code->retry == MISHAP_RETRY_YES;
    m->told.retry_after_ms = code->retry_after_ms;
    mishap_arena_init(&m->arena, m + 1, MISHAP_BLOCK - sizeof *m);
    return m;
}

void mishap_free(mishap *m)
{
    while (m && !m->constant) {
        mishap *cause = m->cause;
        int from = m->reserve;
        mishap_arena_release(&m->arena);
        if (from >= 0)
            atomic_flag_clear(&reserve[from].taken);
        else
            mishap_release(m);
        m = cause;
    }
}

/* -- raising ----------------------------------------------------------------------------------- */

mishap_text mishap_keep_printed(mishap *m, const char *format, va_list arguments)
{
    /* Most messages are constant or handed over whole, and need no printf. */
    if (!strchr(format, '%'))
        return mishap_keep(m, mishap_text_of(format));
    if (strcmp(format, "%s") == 0) {
        const char *whole = va_arg(arguments, const char *);
        return mishap_keep(m, mishap_text_of(whole ? whole : "(null)"));
    }
    char printed[512];
    int error = errno; /* %m is the same in both attempts, even if the allocator changes errno */
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(printed, sizeof printed, format, arguments);
    mishap_text text = { printed, length > 0 ? (size_t)length : 0 };
    if (text.length >= sizeof printed) {
        char *longer = mishap_arena_take(&m->arena, text.length + 1);
        if (longer) {
            errno = error;
            vsnprintf(longer, text.length + 1, format, again);
            text.data = longer;
        } else {
            m->incomplete = true;
            text.length = sizeof printed - 1;
        }
    }
    va_end(again);
    return mishap_keep(m, text);
}

/* `error` is what a format may ask for: %m */
static inline __attribute__((always_inline, format(printf, 4, 0))) mishap *
raise_with(const mishap_code *code, mishap_place place, int error, const char *format,
           va_list arguments)
{
    int before = errno;
    mishap *m = mishap_make(code ? code : MISHAP_CODE_INTERNAL_ERROR);
    if (!m->constant) {
        m->place = place;
        mishap_trace_take(&m->trace);
        errno = error;
        if (format)
            mishap_set_message(m, mishap_keep_printed(m, format, arguments));
    }
    errno = before;
    return m;
}

mishap *mishap_raise_at(const mishap_code *code, mishap_place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    mishap *m = raise_with(code, place, errno, format, arguments);
    va_end(arguments);
    return m;
}

/* What an errno means to a caller. All others are nothing that a caller can do anything about. */
static const mishap_code *code_of_errno(int error)
{
    static const struct {
        int error;
        const mishap_code *code;
    } known[] = {
        { ENOENT, MISHAP_CODE_NOT_FOUND },        { ENOTDIR, MISHAP_CODE_NOT_FOUND },
        { EEXIST, MISHAP_CODE_ALREADY_EXISTS },   { EACCES, MISHAP_CODE_NOT_AUTHORIZED },
        { EPERM, MISHAP_CODE_NOT_AUTHORIZED },    { EROFS, MISHAP_CODE_NOT_AUTHORIZED },
        { ETIMEDOUT, MISHAP_CODE_TIMEOUT },       { EAGAIN, MISHAP_CODE_UNAVAILABLE },
        { EBUSY, MISHAP_CODE_UNAVAILABLE },       { ENOSPC, MISHAP_CODE_UNAVAILABLE },
        { EDQUOT, MISHAP_CODE_UNAVAILABLE },      { EMFILE, MISHAP_CODE_UNAVAILABLE },
        { ENFILE, MISHAP_CODE_UNAVAILABLE },      { ECONNREFUSED, MISHAP_CODE_UNAVAILABLE },
        { ECONNRESET, MISHAP_CODE_UNAVAILABLE },  { ECONNABORTED, MISHAP_CODE_UNAVAILABLE },
        { EPIPE, MISHAP_CODE_UNAVAILABLE },       { EHOSTUNREACH, MISHAP_CODE_UNAVAILABLE },
        { ENETUNREACH, MISHAP_CODE_UNAVAILABLE }, { ENETDOWN, MISHAP_CODE_UNAVAILABLE },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].error == error)
            return known[i].code;
    return MISHAP_CODE_INTERNAL_ERROR;
}

mishap *mishap_raise_errno_at(int error, mishap_place place, const char *format, ...)
{
    int before = errno;
    const char *name = strerrorname_np(error);
    va_list arguments;
    va_start(arguments, format);
    mishap *m = raise_with(code_of_errno(error), place, error, format, arguments);
    va_end(arguments);
    m = mishap_note(m, "errno", name ? name : "unknown");
    errno = before;
    return m;
}

bool mishap_has_code(const mishap *m, const mishap_code *code)
{
    return m && m->told.code == code;
}

/* -- telling ----------------------------------------------------------------------------------- */

const mishap_public *mishap_told(const mishap *m)
{
    return m ? &m->told : NULL;
}

const mishap_member *mishap_public_member(const mishap_public *told, const char *name)
{
    const mishap_member *member = told->context;
    while (member && !mishap_text_equal(member->key, mishap_text_of(name)))
        member = member->next;
    return member;
}

/* One of the two lists of a mishap. */
typedef struct member_list {
    const mishap_member **first;
    mishap_member **last;
    size_t keys; /* which of m->keys */
} member_list;

/* A member at the end of a list, or the one of this key that is there already. NULL without memory.
 */
static mishap_member *member_for(mishap *m, const member_list *list, mishap_text key)
{
    /* In a document that was read no key stands twice. A key with a password in it is left out
     * there: redacted, it could become the same as another. */
    if (m->restored && mishap_guard_has_password(key))
        return NULL;
    bool failed = false;
    key = mishap_keep(m, key);
    mishap_member *member = m->restored ? NULL
                                        : mishap_keys_find(&m->keys, list->keys, &m->arena,
                                                           *list->first, key, &failed);
    if (member)
        return member;
    member = failed ? NULL : mishap_arena_take(&m->arena, sizeof *member);
    if (!member) {
        m->incomplete = true;
        return NULL;
    }
    *member = (mishap_member){ NULL, key, mishap_value_none() };
    if (*list->last)
        (*list->last)->next = member;
    else
        *list->first = member;
    *list->last = member;
    return member;
}

static void add_member(mishap *m, const member_list *list, mishap_text key, mishap_value value)
{
    if (mishap_guard_secret_value(key, &value))
        value = mishap_value_of_text(mishap_guard_redacted);
    mishap_member *member = member_for(m, list, key);
    if (member) {
        mishap_keep_value(m, &value);
        member->value = value;
    }
}

mishap *mishap_tell_value(mishap *m, mishap_text key, mishap_value value)
{
    if (!mishap_fixed(m) && key.data && value.kind != MISHAP_KIND_NONE)
        add_member(m, &(member_list){ &m->told.context, &m->last_told, MISHAP_KEYS_TOLD }, key,
                   value);
    return m;
}

mishap *mishap_retryable(mishap *m, bool retryable)
{
    if (!mishap_fixed(m)) {
        m->told.retryable = retryable;
        m->told.retry_stated = true;
        if (!retryable)
            m->told.retry_after_ms = -1;
        else if (m->told.retry_after_ms < 0)
            m->told.retry_after_ms = m->told.code->retry_after_ms;
    }
    return m;
}

mishap *mishap_retry_after(mishap *m, int64_t milliseconds)
{
    if (!mishap_fixed(m) && milliseconds >= 0) {
        mishap_retryable(m, true);
        m->told.retry_after_ms = milliseconds;
    }
    return m;
}

mishap *mishap_file_under(mishap *m, mishap_category category)
{
    if (!mishap_fixed(m) && category <= MISHAP_SYSTEM) {
        m->told.category = category;
        mishap_retryable(m, false);
    }
    return m;
}

mishap *mishap_frame_add(mishap *m, mishap_text text)
{
    if (mishap_fixed(m))
        return m;
    mishap_frame *frame = mishap_arena_take(&m->arena, sizeof *frame);
    if (!frame) {
        m->incomplete = true;
        return m;
    }
    *frame = (mishap_frame){ NULL, mishap_blank(text) ? (mishap_text)MISHAP_TEXT("(...)")
                                                      : mishap_keep(m, text) };
    if (m->last_frame)
        m->last_frame->next = frame;
    else
        m->told.frames = frame;
    m->last_frame = frame;
    m->told.frame_count++;
    return m;
}

/* -- noting ------------------------------------------------------------------------------------ */

mishap *mishap_note_value(mishap *m, mishap_text key, mishap_value value)
{
    if (!mishap_fixed(m) && key.data && value.kind != MISHAP_KIND_NONE)
        add_member(m, &(member_list){ &m->noted, &m->last_noted, MISHAP_KEYS_NOTED }, key, value);
    return m;
}

mishap *mishap_because(mishap *m, mishap *cause)
{
    if (!m || !cause || m == cause)
        return m ? m : cause;
    if (m->constant) {
        mishap_free(cause);
        return m;
    }
    mishap *last = m;
    while (last->cause && !last->cause->constant && last->cause != cause)
        last = last->cause;
    if (last->cause != cause) /* else it is in the chain already */
        last->cause = cause;
    return m;
}

const mishap *mishap_cause(const mishap *m)
{
    return m ? m->cause : NULL;
}

/* -- what is said in the end ------------------------------------------------------------------- */

mishap_text mishap_public_message(const mishap_public *told)
{
    if (!told)
        return (mishap_text){ NULL, 0 };
    return told->message.length ? told->message : told->code->message;
}

mishap_text mishap_public_suggestion(const mishap_public *told)
{
    if (!told)
        return (mishap_text){ NULL, 0 };
    /* What can be retried always has a suggestion, even under a code that usually cannot. */
    if (told->suggestion.length || told->code->suggestion.length || !told->retryable)
        return told->suggestion.length ? told->suggestion : told->code->suggestion;
    return (mishap_text)MISHAP_TEXT("Try again later.");
}

mishap_text mishap_public_docs_url(const mishap_public *told)
{
    if (!told)
        return (mishap_text){ NULL, 0 };
    return told->docs_url.length ? told->docs_url : told->code->docs_url;
}

bool mishap_public_recoverable(const mishap_public *told)
{
    return told && (told->retryable || told->code->retry != MISHAP_RETRY_NEVER);
}
