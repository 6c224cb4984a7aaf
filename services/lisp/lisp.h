/*
 * services/lisp: sessions of Lisp, each a process of SBCL in a sandbox (docs/lisp.md).
 *
 *     lisp.c     every operation and its rules
 *     session.c  the program that runs a session: its path, its sandbox, how it ends
 *     repl.c     the REPL for a person: see repl.h
 *     prelude/   the Lisp code that runs in a session
 */
#ifndef LISP_H
#define LISP_H

#include <mishap/operation.h>

#include "parts.h"

/* SBCL runs its calls. Agents get failures as condition reports. */
extern const mishap_service lisp_service;

/* All operations of the service; the list ends with { 0 }. */
extern const mishap_operation lisp_operations[];

/* The programs and libraries that the service uses. */
extern const service_part lisp_parts[];

/* The path of the core that sessions are started from; NULL: it is missing, and the operations
 * answer NOT_CONFIGURED. */
const char *lisp_core(void);

/* The handler of `lisp repl`. */
mishap *lisp_repl(mishap_call *call);

#endif
