/* A stack as text: which names it has, and what becomes of it on the way to another process. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "mishap/inside.h"
#include "mishap/symbols.h"
#include "operation/contain.h"
#include "testing.h"

/* -- helpers ----------------------------------------------------------------------------------- */

static bool has_libdw(void)
{
    return dlopen("libdw.so.1", RTLD_LAZY) != NULL;
}

/* Not exported, and each with a frame of its own. */
static int raised_at, called_at;

static __attribute__((noinline)) mishap *raise_unseen(void)
{
    mishap *m = mishap_raise(INTERNAL_ERROR, "Raised in a static function.");
    raised_at = __LINE__ - 1;
    return mishap_note(m, "a", "b");
}

static inline __attribute__((always_inline)) mishap *raise_inlined(void)
{
    mishap *m = raise_unseen();
    called_at = __LINE__ - 1;
    return mishap_note(m, "c", "d");
}

mishap *call_inlined(void);

/* This one is exported. */
__attribute__((noinline)) mishap *call_inlined(void)
{
    mishap *m = raise_inlined();
    return mishap_note(m, "e", "f");
}

static char *text_of(mishap_buffer *buffer)
{
    mishap_buffer_put_char(buffer, '\0');
    char *text = strdup(buffer->data);
    mishap_buffer_release(buffer);
    return text;
}

static char *account_of(const mishap *m)
{
    mishap_buffer account = { 0 };
    mishap_account(m, &account);
    return text_of(&account);
}

/* -- names ------------------------------------------------------------------------------------- */

static void static_and_inlined_functions_have_names_and_lines(void **state)
{
    (void)state;
    char first[300], second[300];
    if (!has_libdw())
        return;
    mishap *m = call_inlined();
    char *text = account_of(m);
    snprintf(first, sizeof first, "trace_test.c:%d\n", raised_at);
    snprintf(second, sizeof second, "trace_test.c:%d\n", called_at);
    const char *unseen = strstr(text, "    #0 raise_unseen+0x");
    const char *inlined = strstr(text, "\n    #1 raise_inlined (inlined) at ");
    const char *outer = strstr(text, "\n    #2 call_inlined+0x");
    assert_non_null(unseen);
    assert_non_null(inlined);
    assert_non_null(outer);
    assert_non_null(strstr(unseen, first));
    assert_true(strstr(unseen, first) < inlined);
    assert_non_null(strstr(inlined, second));
    assert_true(strstr(inlined, second) < outer);
    free(text);
    mishap_free(m);
}

/* The first test, since what is found is kept. */
static void without_another_process_exported_functions_have_names(void **state)
{
    (void)state;
    mishap *m = call_inlined();
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, 0 });
        char *text = account_of(m);
        _exit(!strstr(text, "#0 +0x") || strstr(text, "raise_unseen+") ||
              strstr(text, "raise_inlined") || !strstr(text, "#1 call_inlined+0x"));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    mishap_free(m);
}

/* The function at an address of another file than this program, as it is found behind a function of
 * this one in a stack. */
static const char *name_behind(const void *function, const void *address)
{
    mishap_symbol symbols[] = { { .address = (const char *)function + 1 },
                                { .address = (const char *)address + 1 } };
    mishap_symbols_find(symbols, 2);
    assert_non_null(symbols[0].name);
    assert_non_null(symbols[1].file);
    return symbols[1].name;
}

/* Where the code of a file lies. */
struct code {
    const char *base, *start;
    size_t size;
};

static int find_code(struct dl_phdr_info *file, size_t size, void *state)
{
    struct code *code = state;
    (void)size;
    for (size_t i = 0; i < file->dlpi_phnum; i++)
        if ((const char *)file->dlpi_addr == code->base && file->dlpi_phdr[i].p_type == PT_LOAD &&
            file->dlpi_phdr[i].p_flags & PF_X) {
            code->start = code->base + file->dlpi_phdr[i].p_vaddr;
            code->size = file->dlpi_phdr[i].p_memsz;
        }
    return 0;
}

/* Stacks of some addresses of the C library, close together and far apart. */
static void functions_are_those_that_the_loader_finds(void **state)
{
    (void)state;
    enum { STACKS = 100, DEPTH = 12 };
    struct code code = { 0 };
    Dl_info loader;
    size_t named = 0;
    uint64_t random = 7;
    assert_true(dladdr(dlsym(RTLD_DEFAULT, "getenv"), &loader));
    code.base = loader.dli_fbase;
    dl_iterate_phdr(find_code, &code);
    assert_true(code.size > 100000);
    for (size_t i = 0; i < STACKS; i++) {
        mishap_symbol symbols[DEPTH];
        size_t span = code.size >> i % 10;
        for (size_t at = 0; at < DEPTH; at++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            symbols[at].address = code.start + (random >> 33) % span + 1;
        }
        mishap_symbols_find(symbols, DEPTH);
        for (size_t at = 0; at < DEPTH; at++) {
            assert_true(dladdr((const char *)symbols[at].address - 1, &loader));
            assert_int_equal(loader.dli_sname != NULL, symbols[at].name != NULL);
            if (symbols[at].name)
                assert_ptr_equal(loader.dli_saddr, (void *)symbols[at].start);
            named += symbols[at].name != NULL;
        }
    }
    assert_true(named > STACKS);
}

static void no_symbols_are_read_for_what_has_called_main(void **state)
{
    (void)state;
    void *raise = dlsym(RTLD_DEFAULT, "call_inlined"), *start = dlsym(RTLD_DEFAULT, "main"),
         *library = dlsym(RTLD_DEFAULT, "getenv");
    assert_true(raise && start && library);
    assert_string_equal(name_behind(raise, library), "getenv");
    assert_null(name_behind(start, library));
}

/* More places than are remembered, a few in each stack: the place that is in all of them keeps its
 * name, though it is the oldest at some time. */
static void a_place_keeps_its_name_when_others_are_forgotten(void **state)
{
    (void)state;
    enum { STACKS = 30 };
    static char places[STACKS * MISHAP_TRACE_MAX]; /* no code: nothing is known of them */
    if (!has_libdw())
        return;
    mishap *m = call_inlined();
    mishap_trace trace = { .addresses = { m->trace.addresses[0] }, .count = MISHAP_TRACE_MAX };
    for (size_t i = 0; i < STACKS; i++) {
        mishap_buffer text = { 0 };
        for (size_t k = 1; k < MISHAP_TRACE_MAX; k++)
            trace.addresses[k] = &places[i * MISHAP_TRACE_MAX + k];
        mishap_trace_put(&text, &trace);
        char *shown = text_of(&text);
        assert_non_null(strstr(shown, "#0 raise_unseen+0x"));
        assert_non_null(strstr(shown, "trace_test.c:"));
        free(shown);
    }
    mishap_free(m);
}

/* Recursion: the same place is many times in a stack, and takes one place of those that are kept.
 * Else a later stack that has all places that are kept would leave no room for a new one. */
static void a_place_is_kept_once_however_often_it_is_in_a_stack(void **state)
{
    (void)state;
    static char places[MISHAP_TRACE_MAX + 1];
    mishap_trace trace = { .count = MISHAP_TRACE_MAX };
    mishap_buffer text = { 0 };
    for (size_t i = 0; i < MISHAP_TRACE_MAX; i++) {
        for (size_t k = 0; k < MISHAP_TRACE_MAX; k++)
            trace.addresses[k] = &places[i];
        mishap_trace_put(&text, &trace);
        mishap_buffer_release(&text);
    }
    for (size_t k = 0; k < MISHAP_TRACE_MAX; k++)
        trace.addresses[k] = &places[k + 1];
    mishap_trace_put(&text, &trace);
    char *shown = text_of(&text);
    assert_non_null(strstr(shown, "#23 "));
    free(shown);
}

/* -- signed addresses ---------------------------------------------------------------------------
 */

#if defined(__aarch64__)
#define SIGNED __attribute__((noinline, target("branch-protection=pac-ret+leaf")))
#else
#define SIGNED __attribute__((noinline))
#endif

/* Each keeps a return address that the processor has signed, if it can. */
SIGNED mishap *raise_signed(int depth);
SIGNED mishap *raise_signed(int depth)
{
    mishap *m = depth ? raise_signed(depth - 1) : mishap_raise(INTERNAL_ERROR, "Raised.");
    return mishap_note(m, "depth", depth);
}

static void return_addresses_that_are_signed_lead_to_functions(void **state)
{
    (void)state;
    mishap *m = raise_signed(5);
    char *text = account_of(m);
    for (int i = 0; i <= 5; i++) {
        char line[40];
        snprintf(line, sizeof line, "    #%d raise_signed+0x", i);
        assert_non_null(strstr(text, line));
    }
    assert_null(strstr(text, "(?)")); /* no place is outside of all code */
    free(text);
    mishap_free(m);
}

static void what_is_no_signature_stays(void **state)
{
    (void)state;
    void *code = (void *)(uintptr_t)&call_inlined;
    assert_ptr_equal(mishap_trace_strip(code), code);
    assert_ptr_equal(mishap_trace_strip(NULL), NULL);
}

/* -- in a signal handler ------------------------------------------------------------------------
 */

/* A stack that ran over: its pointer is in the page that guards it. */
static void a_stack_pointer_that_leads_nowhere_is_not_followed(void **state)
{
    (void)state;
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *page = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED && page < (char *)__builtin_frame_address(0));
    mishap_trace trace;
    mishap_trace_take_from(&trace, &(mishap_trace_start){ .instruction = (void *)&call_inlined,
                                                          .stack = page + size / 2 });
    assert_int_equal(trace.count, 1);
    munmap(page, size);
}

static sem_t holding, crashing;
static _Atomic int holder;
static void *returned_to;

static void *crash_later(void *unused)
{
    (void)unused;
    sem_wait(&crashing);
    raise(SIGSEGV);
    return NULL;
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    mishap_trace trace;
    (void)number;
    (void)info;
    mishap_trace_at(&trace, context);
    mishap_trace_start start = { (void *)&call_inlined, __builtin_frame_address(0),
                                 __builtin_frame_address(0), returned_to };
    mishap_trace_take_from(&trace, &start);
    syscall(SYS_exit_group,
            trace.count > 1 ? 0 : 1); /* no lock is taken by a sanitizer's _exit() */
}

static int hold_loader(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)info;
    (void)size;
    (void)unused;
    holder = gettid();
    sem_post(&holding);
    pause(); /* for as long as the process lives */
    return 0;
}

static void *use_loader(void *unused)
{
    dl_iterate_phdr(hold_loader, unused);
    return NULL;
}

/* It writes while it has the lock of the heap, into a pipe that is full. The heaps of sanitizers
 * have no such lock. */
static void *use_heap(void *unused)
{
    holder = gettid();
    sem_post(&holding);
    malloc_stats();
    pause();
    return unused;
}

static void fill_stderr(void)
{
    int ends[2];
    char bytes[512] = "";
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    while (write(ends[1], bytes, sizeof bytes) > 0)
        continue;
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], STDERR_FILENO);
}

static bool waits(int thread)
{
    char path[50], status[200];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    int file = open(path, O_RDONLY);
    ssize_t length = read(file, status, sizeof status - 1);
    close(file);
    status[length > 0 ? length : 0] = '\0';
    return strstr(status, ") S ") != NULL;
}

/* In a process of its own: one thread has a lock for ever, and another one crashes. */
static void assert_crash_is_traced(void *(*hold)(void *), bool prepared)
{
    enum { MOST_SECONDS = 60 };
    pthread_t one, other;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct sigaction action = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO };
        alarm(MOST_SECONDS);
        returned_to = __builtin_return_address(0);
        mallopt(M_ARENA_MAX, 1);
        sigaction(SIGSEGV, &action, NULL);
        sem_init(&holding, 0, 0);
        sem_init(&crashing, 0, 0);
        if (prepared)
            mishap_trace_prepare();
        pthread_create(&one, NULL, crash_later, NULL);
        fill_stderr();
        pthread_create(&other, NULL, hold, NULL);
        sem_wait(&holding);
        while (!waits(holder))
            poll(NULL, 0, 1);
        sem_post(&crashing);
        pthread_join(one, NULL);
        _exit(2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_crash_is_traced_while_another_thread_has_the_lock_of_the_heap(void **state)
{
    (void)state;
    assert_crash_is_traced(use_heap, false);
    assert_crash_is_traced(use_heap, true);
}

static void a_crash_is_traced_while_another_thread_has_the_lock_of_the_loader(void **state)
{
    (void)state;
    assert_crash_is_traced(use_loader, false);
    assert_crash_is_traced(use_loader, true);
}

/* -- marks ------------------------------------------------------------------------------------- */

static void a_marked_stack_becomes_text_in_its_place(void **state)
{
    (void)state;
    mishap *m = call_inlined();
    mishap_buffer marked = { 0 }, named = { 0 };
    mishap_buffer_put(&marked, "before\n", 7);
    assert_false(mishap_trace_is_marked(mishap_buffer_text(&marked)));
    mishap_trace_put_marked(&marked, &m->trace);
    mishap_buffer_put(&marked, "after\n", 6);
    assert_true(mishap_trace_is_marked(mishap_buffer_text(&marked)));
    mishap_trace_unmark(&named, mishap_buffer_text(&marked), true);
    char *text = text_of(&named);
    assert_memory_equal(text, "before\n      #0 ", 15);
    assert_string_equal(text + strlen(text) - 7, "\nafter\n");
    assert_null(strchr(text, '\x01'));
    if (has_libdw())
        assert_non_null(strstr(text, "      #1 raise_inlined (inlined) at "));
    free(text);
    mishap_trace_unmark(&named, mishap_buffer_text(&marked), false);
    text = text_of(&named);
    assert_memory_equal(text, "before\n      #0 +0x", 18);
    assert_null(strstr(text, "raise_inlined"));
    free(text);
    mishap_buffer_release(&marked);
    mishap_free(m);
}

static void broken_marks_do_no_harm(void **state)
{
    (void)state;
    static const char *const broken[] = { "\x01",
                                          "\x01\n",
                                          "\x01zz\n",
                                          "\x01"
                                          "1",
                                          "a\x01"
                                          "1\n\x01",
                                          "\x01"
                                          "ffffffffffffffffffffffffff\n" };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        mishap_buffer named = { 0 };
        /* No byte behind it may be read. */
        size_t length = strlen(broken[i]);
        char *copy = malloc(length);
        memcpy(copy, broken[i], length);
        mishap_trace_unmark(&named, (mishap_text){ copy, length }, false);
        assert_false(mishap_trace_is_marked(mishap_buffer_text(&named)));
        mishap_buffer_release(&named);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_another_process_exported_functions_have_names),
        TEST(static_and_inlined_functions_have_names_and_lines),
        TEST(functions_are_those_that_the_loader_finds),
        TEST(no_symbols_are_read_for_what_has_called_main),
        TEST(a_place_keeps_its_name_when_others_are_forgotten),
        TEST(a_place_is_kept_once_however_often_it_is_in_a_stack),
        TEST(return_addresses_that_are_signed_lead_to_functions),
        TEST(what_is_no_signature_stays),
        TEST(a_stack_pointer_that_leads_nowhere_is_not_followed),
        TEST(a_crash_is_traced_while_another_thread_has_the_lock_of_the_heap),
        TEST(a_crash_is_traced_while_another_thread_has_the_lock_of_the_loader),
        TEST(a_marked_stack_becomes_text_in_its_place),
        TEST(broken_marks_do_no_harm),
    };
    return RUN(tests);
}
