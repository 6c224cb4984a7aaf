/* Deficit round robin between callers: see turns.h. Runs in a loop. */
#include "worker/loop/turns.h"

#include "base/memory.h"

/* -- callers ----------------------------------------------------------------------------------- */

static mishap_turns_caller **word_of(mishap_turns *t, uint64_t holder)
{
    return &t->words[holder % MISHAP_TURNS_WORDS];
}

static void move(mishap_turns *t, mishap_turns_caller *c, mishap_turns_place place)
{
    struct mishap_turns_list *from = &t->places[c->place], *to = &t->places[place];
    if (c->place != MISHAP_TURNS_NOWHERE) {
        *(c->previous ? &c->previous->next : &from->first) = c->next;
        *(c->next ? &c->next->previous : &from->last) = c->previous;
    }
    c->place = place;
    c->next = c->previous = NULL;
    if (place == MISHAP_TURNS_NOWHERE)
        return;
    c->previous = to->last;
    *(to->last ? &to->last->next : &to->first) = c;
    to->last = c;
}

/* Time that was not used in a round is not saved for later ones, and debts have a limit. */
static void use(const mishap_turns *t, mishap_turns_caller *c, int64_t ns)
{
    int64_t least = t->granted_ns - MISHAP_TURNS_ROUND_NS;
    int64_t most = t->granted_ns + MISHAP_TURNS_DEBT_NS;
    int64_t used = c->used_ns + ns;
    c->used_ns = used < least ? least : used > most ? most : used;
}

/* Move a caller to the end of the list that fits the time it has used. */
static void settle_caller(mishap_turns *t, mishap_turns_caller *c)
{
    move(t, c,
         !c->first                    ? MISHAP_TURNS_NOWHERE
         : c->used_ns < t->granted_ns ? MISHAP_TURNS_IN
                                      : MISHAP_TURNS_SPENT);
}

static mishap_turns_caller *find_caller(mishap_turns *t, uint64_t holder)
{
    mishap_turns_caller *c = *word_of(t, holder);
    while (c && c->holder != holder)
        c = c->chain;
    return c;
}

/* A new caller may use as much time as the others in the current round. */
static mishap_turns_caller *make_caller(mishap_turns *t, uint64_t holder)
{
    mishap_turns_caller *c = t->spare;
    if (c) {
        t->spare = c->chain;
        t->spares--;
    } else {
        c = mishap_allocate(sizeof *c);
    }
    if (!c)
        return &t->others;
    *c = (mishap_turns_caller){ .holder = holder, .chain = *word_of(t, holder) };
    *word_of(t, holder) = c;
    return c;
}

static void forget_if_idle(mishap_turns *t, mishap_turns_caller *c)
{
    mishap_turns_caller **at = word_of(t, c->holder);
    if (c->first || c->running || c == &t->others)
        return;
    while (*at != c)
        at = &(*at)->chain;
    *at = c->chain;
    if (t->spares == MISHAP_TURNS_SPARES) {
        mishap_release(c);
        return;
    }
    c->chain = t->spare;
    t->spare = c;
    t->spares++;
}

void mishap_turns_release(mishap_turns *t)
{
    for (size_t i = 0; i <= MISHAP_TURNS_WORDS; i++) {
        mishap_turns_caller **list = i < MISHAP_TURNS_WORDS ? &t->words[i] : &t->spare;
        while (*list) {
            mishap_turns_caller *c = *list;
            *list = c->chain;
            mishap_release(c);
        }
    }
    *t = (mishap_turns){ 0 };
}

/* -- calls ------------------------------------------------------------------------------------- */

void mishap_turns_add(mishap_turns *t, mishap_turn *turn, uint64_t holder, bool first)
{
    mishap_turns_caller *c = find_caller(t, holder);
    if (!c)
        c = make_caller(t, holder);
    turn->caller = c;
    turn->next = first ? c->first : NULL;
    turn->previous = first ? NULL : c->last;
    *(turn->previous ? &turn->previous->next : &c->first) = turn;
    *(turn->next ? &turn->next->previous : &c->last) = turn;
    t->waiting++;
    if (c->place != MISHAP_TURNS_NOWHERE)
        return;
    use(t, c, 0);
    settle_caller(t, c);
}

static mishap_turns_caller *unlink_turn(mishap_turns *t, mishap_turn *turn)
{
    mishap_turns_caller *c = turn->caller;
    *(turn->previous ? &turn->previous->next : &c->first) = turn->next;
    *(turn->next ? &turn->next->previous : &c->last) = turn->previous;
    *turn = (mishap_turn){ 0 };
    t->waiting--;
    return c;
}

void mishap_turns_remove(mishap_turns *t, mishap_turn *turn)
{
    mishap_turns_caller *c = unlink_turn(t, turn);
    if (!c->first)
        move(t, c, MISHAP_TURNS_NOWHERE);
    forget_if_idle(t, c);
}

/* No waiting caller has time left: begin a round that gives each as much time as the one that has
 * used least needs. */
static void begin_round(mishap_turns *t)
{
    mishap_turns_caller *c = t->places[MISHAP_TURNS_SPENT].first, *next;
    int64_t least = c->used_ns;
    while ((c = c->next))
        least = c->used_ns < least ? c->used_ns : least;
    t->granted_ns = least + MISHAP_TURNS_ROUND_NS; /* more than in the round before */
    for (c = t->places[MISHAP_TURNS_SPENT].first; c; c = next) {
        next = c->next;
        if (c->used_ns < t->granted_ns)
            move(t, c, MISHAP_TURNS_IN);
    }
}

mishap_turn *mishap_turns_next(mishap_turns *t)
{
    if (!t->places[MISHAP_TURNS_IN].first && t->places[MISHAP_TURNS_SPENT].first)
        begin_round(t);
    const mishap_turns_caller *c = t->places[MISHAP_TURNS_IN].first;
    return c ? c->first : NULL;
}

void mishap_turns_set_aside(mishap_turns *t, const mishap_turn *turn)
{
    move(t, turn->caller, MISHAP_TURNS_ASIDE);
}

void mishap_turns_bring_back(mishap_turns *t)
{
    while (t->places[MISHAP_TURNS_ASIDE].first) {
        use(t, t->places[MISHAP_TURNS_ASIDE].first, 0);
        settle_caller(t, t->places[MISHAP_TURNS_ASIDE].first);
    }
}

mishap_turns_caller *mishap_turns_take(mishap_turns *t, mishap_turn *turn, int64_t expected_ns)
{
    mishap_turns_caller *c = unlink_turn(t, turn);
    c->running++;
    use(t, c, expected_ns);
    settle_caller(t, c);
    return c;
}

void mishap_turns_end(mishap_turns *t, mishap_turns_caller *c, int64_t expected_ns, int64_t used_ns)
{
    c->running--;
    use(t, c, used_ns - expected_ns);
    if (c->place == MISHAP_TURNS_IN && c->used_ns >= t->granted_ns)
        move(t, c, MISHAP_TURNS_SPENT);
    else if (c->place == MISHAP_TURNS_SPENT && c->used_ns < t->granted_ns)
        move(t, c, MISHAP_TURNS_IN);
    forget_if_idle(t, c);
}
