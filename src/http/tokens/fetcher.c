/* The process `mishap-issuers`: when it fetches; and the supervisor, which starts it again. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/shared.h"
#include "base/signals.h"
#include "http/tokens/fetch.h"
#include "incident/logs.h"

enum { TURN_MS = 250, END_MS = 2000, AGAIN_NS = 500000000 };

/* How many tokens had a key that is not in the set of their issuer; written by loops. */
struct wanted {
    _Atomic uint32_t of[MISHAP_HTTP_MOST_ISSUERS];
};

static struct {
    const mishap_http_issuers *issuers; /* NULL: nothing is fetched */
    const char *program;
    struct wanted *wanted;
    pid_t parent, pid; /* 0: none runs */
    int64_t start_at_ns;
} fetcher;

static volatile sig_atomic_t asked_to_end;

void mishap_http_want_keys(size_t issuer)
{
    if (fetcher.wanted)
        atomic_fetch_add_explicit(&fetcher.wanted->of[issuer], 1, memory_order_relaxed);
}

/* -- the process ------------------------------------------------------------------------------- */

/* The state of one issuer. */
struct source {
    uint32_t seen; /* … of `wanted` */
    int64_t fetched_ns, due_ns;
    bool failing;
};

static void on_end(int number)
{
    (void)number;
    asked_to_end = 1;
}

/* Only standard error stays open. Nothing that an issuer sends may leave a core file. */
static void begin_process(void)
{
    const struct rlimit none = { 0, 0 };
    sigset_t nothing;
    int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(file, STDIN_FILENO);
    dup2(file, STDOUT_FILENO);
    close_range(3, ~0U, 0);
    mishap_logs_forget();
    mishap_signals_survive();
    signal(SIGUSR2, on_end);
    sigemptyset(&nothing);
    sigprocmask(SIG_SETMASK, &nothing, NULL);
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_NAME, "mishap-issuers");
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    prctl(PR_SET_PDEATHSIG, SIGUSR2);
    if (getppid() != fetcher.parent)
        asked_to_end = 1;
}

/* A line when trouble begins, and one when it ends. */
static void tell(struct source *source, const struct mishap_http_issuer *issuer,
                 const mishap *failure)
{
    if (failure && !source->failing)
        mishap_log_say("%s: the key set of the issuer %.*s could not be fetched: %s The last good "
                       "one is used until it can be.\n",
                       fetcher.program, (int)issuer->url.length, issuer->url.data,
                       mishap_told(failure)->message.data);
    else if (!failure && source->failing)
        mishap_log_say("%s: the key set of the issuer %.*s was fetched\n", fetcher.program,
                       (int)issuer->url.length, issuer->url.data);
    source->failing = failure;
}

static bool is_due(const struct source *source, uint32_t wanted, int64_t now_ns)
{
    const int64_t pause_ns = MISHAP_FETCH_UNKNOWN_S * INT64_C(1000000000);
    return now_ns >= source->due_ns ||
           (wanted != source->seen && now_ns - source->fetched_ns >= pause_ns);
}

static void look_at_source(struct source *source, mishap_client *client, size_t i)
{
    const struct mishap_http_issuer *issuer = &fetcher.issuers->list[i];
    uint32_t wanted = atomic_load_explicit(&fetcher.wanted->of[i], memory_order_relaxed);
    int64_t now_ns = mishap_clock_monotonic_ns(), for_s;
    if (!issuer->fetched || !is_due(source, wanted, now_ns))
        return;
    mishap *failure = mishap_fetch_keys(client, issuer, &for_s);
    tell(source, issuer, asked_to_end ? NULL : failure);
    mishap_free(failure);
    source->seen = wanted;
    source->fetched_ns = now_ns;
    source->due_ns = now_ns + for_s * INT64_C(1000000000);
}

static _Noreturn void run_fetcher(void)
{
    struct source sources[MISHAP_HTTP_MOST_ISSUERS] = { 0 };
    const mishap_client_settings settings = { .agent = "mishap", .stop = &asked_to_end };
    mishap_client *client = NULL;
    begin_process();
    mishap *failure = mishap_client_open(&settings, &client);
    if (failure) {
        mishap_log_say("%s: key sets of issuers cannot be fetched: %s\n", fetcher.program,
                       mishap_told(failure)->message.data);
        while (!asked_to_end)
            poll(NULL, 0, TURN_MS); /* another process would lack the same */
    }
    while (!asked_to_end) {
        for (size_t i = 0; i < fetcher.issuers->count && !asked_to_end; i++)
            look_at_source(&sources[i], client, i);
        if (!asked_to_end)
            poll(NULL, 0, TURN_MS);
    }
    _exit(0);
}

/* -- the supervisor ---------------------------------------------------------------------------- */

mishap *mishap_http_fetcher_prepare(const mishap_http_settings *settings, void **shared)
{
    const mishap_http_issuers *issuers = settings->issuers;
    bool any = false;
    *shared = NULL;
    for (size_t i = 0; issuers && i < issuers->count; i++)
        any = any || issuers->list[i].fetched;
    if (!any)
        return NULL;
    fetcher.wanted = mishap_shared_map(sizeof *fetcher.wanted);
    if (!fetcher.wanted)
        return mishap_out_of_memory();
    fetcher.issuers = issuers;
    fetcher.program = settings->program;
    fetcher.parent = getpid();
    *shared = &fetcher;
    return NULL;
}

void mishap_http_fetcher_look(void *shared)
{
    if (!shared || fetcher.pid || mishap_clock_monotonic_ns() < fetcher.start_at_ns)
        return;
    pid_t pid = fork();
    if (pid == 0)
        run_fetcher();
    fetcher.pid = pid > 0 ? pid : 0;
    fetcher.start_at_ns = mishap_clock_monotonic_ns() + AGAIN_NS;
}

bool mishap_http_fetcher_ended(void *shared, int pid, int status)
{
    if (!shared || pid <= 0 || pid != fetcher.pid)
        return false;
    if (WIFSTOPPED(status))
        mishap_signal_process(pid, SIGKILL);
    else
        fetcher.pid = 0;
    mishap_http_fetcher_look(shared);
    return true;
}

void mishap_http_fetcher_dismiss(void *shared)
{
    if (!shared)
        return;
    if (fetcher.pid)
        mishap_signal_process(fetcher.pid, SIGUSR2);
    for (int i = 0; fetcher.pid && i < END_MS; i++) {
        if (i == END_MS / 2)
            mishap_signal_process(fetcher.pid, SIGKILL);
        if (waitpid(fetcher.pid, NULL, WNOHANG) != 0)
            fetcher.pid = 0;
        else
            poll(NULL, 0, 1);
    }
    mishap_shared_unmap(fetcher.wanted, sizeof *fetcher.wanted);
    fetcher.wanted = NULL;
}
