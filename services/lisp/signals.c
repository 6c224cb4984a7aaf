/* The signals of the REPL: Ctrl-C stops an evaluation or drops a line, but does not end the
 * REPL. */
#include <signal.h>
#include <stdatomic.h>

#include "lisp/line.h"

static const int minded[] = { SIGINT, SIGTERM, SIGHUP };
enum { MINDED = sizeof minded / sizeof *minded };

static struct sigaction before[MINDED];
static atomic_uchar interrupted;
static atomic_bool ended;

static void on_signal(int number)
{
    if (number != SIGINT)
        atomic_store(&ended, true);
    atomic_store(&interrupted, 1);
}

void lisp_signals_mind(void)
{
    /* Without SA_RESTART, so that system calls that wait are interrupted. */
    struct sigaction action = { .sa_handler = on_signal };
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < MINDED; i++)
        sigaction(minded[i], &action, &before[i]);
}

void lisp_signals_leave(void)
{
    for (size_t i = 0; i < MINDED; i++)
        sigaction(minded[i], &before[i], NULL);
}

bool lisp_signals_interrupted(void)
{
    return atomic_exchange(&interrupted, 0);
}

bool lisp_signals_ended(void)
{
    return atomic_load(&ended);
}

const unsigned char *lisp_signals_cancel(void)
{
    const void *flag = &interrupted;
    return flag;
}
