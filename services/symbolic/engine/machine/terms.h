/* Small terms of the solver, which most theories need: ints, sums, products, conditions. */
#ifndef SYMBOLIC_TERMS_H
#define SYMBOLIC_TERMS_H

#include "machine/machine.h"

static inline Z3_ast term_int(const machine *m, int64_t n)
{
    return Z3_mk_int64(m->solver->z, n, m->solver->ints);
}

static inline Z3_ast term_float(const machine *m, double x)
{
    return Z3_mk_fpa_numeral_double(m->solver->z, x, m->solver->floats);
}

static inline Z3_ast term_add(const machine *m, Z3_ast l, Z3_ast r)
{
    return Z3_mk_add(m->solver->z, 2, (Z3_ast[]){ l, r });
}

static inline Z3_ast term_sub(const machine *m, Z3_ast l, Z3_ast r)
{
    return Z3_mk_sub(m->solver->z, 2, (Z3_ast[]){ l, r });
}

static inline Z3_ast term_mul(const machine *m, Z3_ast l, Z3_ast r)
{
    return Z3_mk_mul(m->solver->z, 2, (Z3_ast[]){ l, r });
}

static inline Z3_ast term_and(const machine *m, Z3_ast l, Z3_ast r)
{
    return Z3_mk_and(m->solver->z, 2, (Z3_ast[]){ l, r });
}

static inline Z3_ast term_or(const machine *m, Z3_ast l, Z3_ast r)
{
    return Z3_mk_or(m->solver->z, 2, (Z3_ast[]){ l, r });
}

static inline Z3_ast term_if(const machine *m, Z3_ast condition, Z3_ast yes, Z3_ast no)
{
    return Z3_mk_ite(m->solver->z, condition, yes, no);
}

#endif
