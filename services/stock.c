/* Processes in stock: see stock.h. */
#include "stock.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { MOST_JOBS = 16 };

typedef struct job {
    service_shelf *shelf;
    mishap_foreign_process *served;
} job;

static struct stock {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    pid_t owner; /* the process that has the thread; 0: none */
    int users;   /* services that have opened it */
    bool ending, busy;
    job jobs[MOST_JOBS];
    size_t first, count;
} stock = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .owner = 0 };

/* Only the owner may take the lock: in a forked process, a thread that does not exist there may
 * hold it. */
static bool is_open(void)
{
    return stock.owner == getpid();
}

/* -- jobs -------------------------------------------------------------------------------------- */

static int wanted_on(const service_shelf *shelf)
{
    return shelf->wanted ? shelf->wanted : 1;
}

static bool is_full(const service_shelf *shelf)
{
    for (int i = 0; i < wanted_on(shelf); i++)
        if (!service_waiting_is_there(&shelf->places[i]))
            return false;
    return true;
}

static mishap_foreign_process *take_from(service_shelf *shelf)
{
    mishap_foreign_process *process = NULL;
    for (int i = 0; i < SERVICE_SHELF && !process; i++)
        process = service_waiting_take(&shelf->places[i]);
    return process;
}

void service_stock_return(service_shelf *shelf, mishap_foreign_process *process)
{
    for (int i = 0; i < wanted_on(shelf); i++)
        if (!service_waiting_is_there(&shelf->places[i])) {
            service_waiting_keep(&shelf->places[i], process);
            return;
        }
    mishap_foreign_stop(process);
}

static void put_on(service_shelf *shelf)
{
    for (int i = 0; i < wanted_on(shelf); i++) {
        mishap_foreign_process *process = service_waiting_is_there(&shelf->places[i])
                                              ? NULL
                                              : shelf->launch(shelf->context);
        if (process)
            service_waiting_keep(&shelf->places[i], process);
    }
}

/* First start the next process: a call may need it at any time. */
static void do_job(const job *j)
{
    put_on(j->shelf);
    mishap_foreign_stop(j->served);
}

static void *run_thread(void *unused)
{
    pthread_mutex_lock(&stock.lock);
    for (;;) {
        while (stock.count == 0 && !stock.ending)
            pthread_cond_wait(&stock.changed, &stock.lock);
        if (stock.count == 0)
            break;
        job next = stock.jobs[stock.first];
        stock.first = (stock.first + 1) % MOST_JOBS;
        stock.count--;
        stock.busy = true;
        bool ending = stock.ending;
        pthread_mutex_unlock(&stock.lock);
        if (ending)
            mishap_foreign_stop(next.served);
        else
            do_job(&next);
        pthread_mutex_lock(&stock.lock);
        stock.busy = false;
        pthread_cond_broadcast(&stock.changed);
    }
    pthread_mutex_unlock(&stock.lock);
    return unused;
}

/* -- the thread -------------------------------------------------------------------------------- */

/* Signals of the process are blocked here, so that its other threads get them. */
static bool start_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&stock.thread, NULL, run_thread, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void service_stock_open(void)
{
    if (is_open()) {
        stock.users++;
        return;
    }
    stock = (struct stock){ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .users = 1 };
    stock.owner = start_thread() ? getpid() : 0;
}

void service_stock_close(void)
{
    if (!is_open() || --stock.users > 0)
        return;
    pthread_mutex_lock(&stock.lock);
    stock.ending = true;
    pthread_cond_broadcast(&stock.changed);
    pthread_mutex_unlock(&stock.lock);
    pthread_join(stock.thread, NULL);
    stock.owner = 0;
}

/* -- shelves ----------------------------------------------------------------------------------- */

void service_stock_refill(service_shelf *shelf, mishap_foreign_process *served)
{
    job asked = { shelf, served };
    bool put = false;
    if (!served && is_full(shelf))
        return;
    if (is_open()) {
        pthread_mutex_lock(&stock.lock);
        put = stock.count < MOST_JOBS;
        if (put)
            stock.jobs[(stock.first + stock.count++) % MOST_JOBS] = asked;
        pthread_cond_broadcast(&stock.changed);
        pthread_mutex_unlock(&stock.lock);
    }
    if (!put)
        do_job(&asked);
}

mishap_foreign_process *service_stock_take(service_shelf *shelf)
{
    mishap_foreign_process *process = take_from(shelf);
    if (process || !is_open())
        return process;
    pthread_mutex_lock(&stock.lock);
    while (stock.count > 0 || stock.busy)
        pthread_cond_wait(&stock.changed, &stock.lock);
    pthread_mutex_unlock(&stock.lock);
    return take_from(shelf);
}

void service_stock_clear(service_shelf *shelf)
{
    for (int i = 0; i < SERVICE_SHELF; i++)
        mishap_foreign_stop(service_waiting_take(&shelf->places[i]));
}
