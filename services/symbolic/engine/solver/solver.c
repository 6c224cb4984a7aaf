/* Z3 with a deadline, and the second opinion: see solver.h. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "solver/letters.h"
#include "solver/second.h"
#include "solver/solver.h"

/* Then a fresh context, since terms are only released with their context. */
enum { MOST_ANALYSES = 64 };

static int64_t time_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_ns(void)
{
    return time_of(CLOCK_MONOTONIC);
}

int64_t processor_ns(void)
{
    return time_of(CLOCK_THREAD_CPUTIME_ID);
}

/* -- a thread that interrupts Z3 when a question takes too long ---------------------------------
 */

static struct watch {
    pthread_mutex_t lock;
    pthread_cond_t began;
    Z3_context z;
    int64_t until_ns;     /* 0: no question is open */
    clockid_t processor;  /* the processor time of the thread that asks */
    int64_t processor_ns; /* … when the question has had enough of it */
    bool started, fired;
} watch = { .lock = PTHREAD_MUTEX_INITIALIZER, .began = PTHREAD_COND_INITIALIZER };

static volatile sig_atomic_t interrupted;

void solver_interrupt(void)
{
    interrupted = 1;
}

bool solver_interrupted(void)
{
    return interrupted != 0;
}

static void *watch_over(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_mutex_lock(&watch.lock);
    for (;;) {
        while (watch.until_ns == 0)
            pthread_cond_wait(&watch.began, &watch.lock);
        if (interrupted || clock_ns() > watch.until_ns ||
            time_of(watch.processor) > watch.processor_ns) {
            watch.fired = true;
            Z3_interrupt(watch.z);
        }
        pthread_mutex_unlock(&watch.lock);
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
        pthread_mutex_lock(&watch.lock);
    }
    return unused;
}

/* A question has so much processor time, until the deadline: a busy machine changes no answer. */
static void question_begins(Z3_context z, int64_t until_ns, int limit_ms)
{
    pthread_mutex_lock(&watch.lock);
    if (!watch.started) {
        pthread_t thread;
        pthread_attr_t small;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 128 * 1024);
        watch.started = pthread_create(&thread, &small, watch_over, NULL) == 0;
        pthread_attr_destroy(&small);
    }
    watch.z = z;
    watch.fired = false;
    watch.until_ns = until_ns;
    if (pthread_getcpuclockid(pthread_self(), &watch.processor) != 0)
        watch.processor = CLOCK_MONOTONIC;
    watch.processor_ns = time_of(watch.processor) + (int64_t)limit_ms * 1000000;
    pthread_cond_signal(&watch.began);
    pthread_mutex_unlock(&watch.lock);
}

/* Was it interrupted? */
static bool question_ends(void)
{
    pthread_mutex_lock(&watch.lock);
    watch.until_ns = 0;
    bool fired = watch.fired;
    pthread_mutex_unlock(&watch.lock);
    return fired;
}

/* -- contexts ---------------------------------------------------------------------------------- */

static void ignore(Z3_context z, Z3_error_code code)
{
    (void)z;
    (void)code; /* the answer is then NULL or unknown, which each caller handles */
}

/* A product of many choices has as many cases as all of them multiplied: Z3 would expand them, and
 * no deadline stops it there. */
static void limit_steps(solver *s)
{
    enum { MOST_STEPS = 20000 };
    s->brief = Z3_mk_params(s->z);
    Z3_params_inc_ref(s->z, s->brief);
    Z3_params_set_uint(s->z, s->brief, Z3_mk_string_symbol(s->z, "max_steps"), MOST_STEPS);
}

static void make_context(solver *s)
{
    Z3_config config = Z3_mk_config();
    Z3_set_param_value(config, "model", "true");
    s->z = Z3_mk_context(config);
    Z3_del_config(config);
    Z3_set_error_handler(s->z, ignore);
    limit_steps(s);
    s->bools = Z3_mk_bool_sort(s->z);
    s->ints = Z3_mk_int_sort(s->z);
    s->floats = Z3_mk_fpa_sort_64(s->z);
    s->strings_sort = Z3_mk_string_sort(s->z);
    s->yes = Z3_mk_true(s->z);
    s->no = Z3_mk_false(s->z);
    s->zero = Z3_mk_int(s->z, 0, s->ints);
    s->one = Z3_mk_int(s->z, 1, s->ints);
    s->nearest = Z3_mk_fpa_rne(s->z);
    s->s = NULL;
    s->analyses = 0;
    letters_open(s);
}

void solver_open(solver *s)
{
    *s = (solver){ 0 };
    unsigned major, minor, build, revision;
    Z3_get_version(&major, &minor, &build, &revision);
    bool newer = major > 4 || minor > 8 || build > 12;
    Z3_global_param_set(newer ? "encoding" : "unicode", newer ? "unicode" : "true");
    Z3_global_param_set("memory_max_size", "1200"); /* MB: a question that takes more is unknown */
    make_context(s);
}

/* Z3 would catch SIGINT itself, and go on with the next question. */
static void leave_signals(solver *s, Z3_solver of)
{
    Z3_params params = Z3_mk_params(s->z);
    Z3_params_inc_ref(s->z, params);
    Z3_params_set_bool(s->z, params, Z3_mk_string_symbol(s->z, "ctrl_c"), false);
    Z3_solver_set_params(s->z, of, params);
    Z3_params_dec_ref(s->z, params);
}

/* One question gets a fifth of the time: a caller that gives more time gets more answers. */
static int question_ms(int64_t deadline_ns)
{
    enum { LEAST_MS = 3000, MOST_MS = 600000, PART = 5 };
    int64_t part = (deadline_ns - clock_ns()) / 1000000 / PART;
    return part < LEAST_MS ? LEAST_MS : part > MOST_MS ? MOST_MS : (int)part;
}

void solver_begin(solver *s, int64_t deadline_ns)
{
    if (s->broken || ++s->analyses > MOST_ANALYSES || Z3_get_estimated_alloc_size() > 300u << 20) {
        Z3_del_context(s->z);
        make_context(s);
    }
    s->s = Z3_mk_simple_solver(s->z);
    Z3_solver_inc_ref(s->z, s->s);
    leave_signals(s, s->s);
    Z3_solver plain = Z3_mk_simple_solver(s->z);
    Z3_solver_inc_ref(s->z, plain);
    leave_signals(s, plain);
    letters_begin(s, plain);
    Z3_solver_dec_ref(s->z, plain);
    s->strings = s->floats_used = s->contradiction = s->broken = false;
    s->deadline_ns = deadline_ns;
    s->check_ms = question_ms(deadline_ns);
    s->scopes = 0;
    s->checks = s->second_checks = 0;
    interrupted = 0;
}

void solver_end(solver *s)
{
    letters_end(s);
    if (s->s)
        Z3_solver_dec_ref(s->z, s->s);
    s->s = NULL;
}

void solver_push(solver *s)
{
    Z3_solver_push(s->z, s->s);
    s->scopes++;
}

void solver_pop_to(solver *s, unsigned scopes)
{
    if (s->scopes > scopes)
        Z3_solver_pop(s->z, s->s, s->scopes - scopes);
    s->scopes = scopes;
    letters_pop_to(s, scopes);
}

void solver_assert(solver *s, Z3_ast condition)
{
    letters_tell(s, condition);
    Z3_solver_assert(s->z, s->s, condition);
}

/* -- questions --------------------------------------------------------------------------------- */

static int left_ms(const solver *s, int most)
{
    int64_t left = (s->deadline_ns - clock_ns()) / 1000000;
    return interrupted || left <= 0 ? 0 : left < most ? (int)left : most;
}

/* An interruption that comes just before or after a question stays in the context, which then
 * answers no question any more. */
static bool still_answers(solver *s)
{
    Z3_solver plain = Z3_mk_simple_solver(s->z);
    if (!plain)
        return false;
    Z3_solver_inc_ref(s->z, plain);
    bool good = Z3_solver_check(s->z, plain) == Z3_L_TRUE;
    Z3_solver_dec_ref(s->z, plain);
    return good;
}

static answer ask_z3(solver *s, Z3_solver of, int limit_ms, Z3_model *model)
{
    if (limit_ms <= 0)
        return ANSWER_UNKNOWN;
    question_begins(s->z, s->deadline_ns, limit_ms);
    Z3_lbool found = Z3_solver_check(s->z, of);
    if (question_ends() && !still_answers(s))
        s->broken = true;
    if (found == Z3_L_TRUE && model) {
        *model = Z3_solver_get_model(s->z, of);
        if (*model)
            Z3_model_inc_ref(s->z, *model);
    }
    return found == Z3_L_TRUE ? ANSWER_SAT : found == Z3_L_FALSE ? ANSWER_UNSAT : ANSWER_UNKNOWN;
}

/* Z3's other solver, which chooses its tactics by the question. */
static answer ask_afresh(solver *s, Z3_ast_vector assertions, int limit_ms, Z3_model *model)
{
    Z3_solver other = Z3_mk_solver(s->z);
    if (!other || limit_ms <= 0)
        return ANSWER_UNKNOWN;
    Z3_solver_inc_ref(s->z, other);
    leave_signals(s, other);
    for (unsigned i = 0; i < Z3_ast_vector_size(s->z, assertions); i++)
        Z3_solver_assert(s->z, other, Z3_ast_vector_get(s->z, assertions, i));
    answer found = ask_z3(s, other, limit_ms, model);
    Z3_solver_dec_ref(s->z, other);
    return found;
}

/* The second solver counts by the clock. Where other processes used the processors meanwhile, it is
 * asked again, for as long as it needs to get its processor time. */
static answer ask_second(solver *s, Z3_ast_vector assertions, int limit_ms, Z3_model *model)
{
    int wait_ms = limit_ms;
    while (wait_ms > 0 && second_is_there()) {
        int64_t begun = clock_ns(), used = processor_ns();
        s->second_checks++;
        answer found = second_check(s->z, assertions, wait_ms, model);
        int took_ms = (int)((clock_ns() - begun) / 1000000);
        int used_ms = (int)((processor_ns() - used) / 1000000);
        if (found != ANSWER_UNKNOWN || took_ms < wait_ms || used_ms >= limit_ms / 10 * 9)
            return found;
        int share = used_ms * 100 / took_ms; /* of a processor, in percent */
        wait_ms = left_ms(s, limit_ms * 100 / (share < 5 ? 5 : share));
    }
    return ANSWER_UNKNOWN;
}

/* Ask all solvers, in the order in which an answer is expected soonest. */
static answer decide(solver *s, Z3_model *model)
{
    Z3_ast_vector assertions = NULL;
    answer found = ANSWER_UNKNOWN;
    if (s->floats_used || s->strings) {
        assertions = Z3_solver_get_assertions(s->z, s->s);
        Z3_ast_vector_inc_ref(s->z, assertions);
    }
    if (s->floats_used && !s->strings)
        found = ask_second(s, assertions, left_ms(s, s->check_ms), model);
    if (found == ANSWER_UNKNOWN || (found == ANSWER_SAT && model && !*model)) {
        answer again = ask_z3(s, s->s, left_ms(s, s->check_ms), model);
        if (again == ANSWER_UNSAT && found == ANSWER_SAT)
            s->contradiction = true;
        if (again != ANSWER_UNKNOWN)
            found = again;
    }
    if (found == ANSWER_UNKNOWN) {
        if (!assertions) {
            assertions = Z3_solver_get_assertions(s->z, s->s);
            Z3_ast_vector_inc_ref(s->z, assertions);
        }
        if (!s->strings)
            found = ask_afresh(s, assertions, left_ms(s, s->check_ms), model);
        if (found == ANSWER_UNKNOWN)
            found = ask_second(s, assertions, left_ms(s, s->check_ms), model);
        if (found == ANSWER_UNSAT && s->strings)
            found = ANSWER_UNKNOWN; /* Z3 had no answer: there is no second opinion */
    } else if (found == ANSWER_UNSAT && s->strings) {
        answer other = ask_second(s, assertions, left_ms(s, s->check_ms), NULL);
        if (other == ANSWER_SAT)
            s->contradiction = true;
        if (other != ANSWER_UNSAT)
            found = ANSWER_UNKNOWN;
    }
    if (assertions)
        Z3_ast_vector_dec_ref(s->z, assertions);
    return found;
}

static answer ask_plain(solver *s, Z3_solver of, Z3_model *model)
{
    return ask_z3(s, of, left_ms(s, s->check_ms), model);
}

answer solver_check(solver *s, Z3_ast condition, Z3_model *model)
{
    if (model)
        *model = NULL;
    s->checks++;
    if (s->strings && !s->floats_used) {
        answer plain = letters_check(s, condition, model, ask_plain);
        if (plain != ANSWER_UNKNOWN)
            return plain;
    }
    Z3_solver_push(s->z, s->s);
    Z3_solver_assert(s->z, s->s, condition);
    answer found = decide(s, model);
    s->undecided |= found == ANSWER_UNKNOWN;
    Z3_solver_pop(s->z, s->s, 1);
    return found;
}

void solver_keep(solver *s, Z3_model model)
{
    if (model)
        Z3_model_inc_ref(s->z, model);
}

void solver_drop(solver *s, Z3_model model)
{
    if (model)
        Z3_model_dec_ref(s->z, model);
}

Z3_ast solver_value(solver *s, Z3_model model, Z3_ast term)
{
    Z3_ast value = NULL;
    return Z3_model_eval(s->z, model, term, true, &value) ? value : NULL;
}

Z3_ast solver_simplify(solver *s, Z3_ast term)
{
    Z3_ast simple = Z3_simplify_ex(s->z, term, s->brief);
    return simple ? simple : term;
}

bool solver_is_true(solver *s, Z3_ast term)
{
    return Z3_get_bool_value(s->z, term) == Z3_L_TRUE;
}

bool solver_is_false(solver *s, Z3_ast term)
{
    return Z3_get_bool_value(s->z, term) == Z3_L_FALSE;
}

const char *solver_version(void)
{
    static char version[48];
    unsigned major, minor, build, revision;
    Z3_get_version(&major, &minor, &build, &revision);
    snprintf(version, sizeof version, "%u.%u.%u", major, minor, build);
    return version;
}
