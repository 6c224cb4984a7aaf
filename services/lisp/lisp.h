/*
 * services/lisp: sessions of Lisp, each a process of SBCL in a sandbox (docs/lisp.md).
 *
 *     lisp.c     every operation and its rules
 *     session.c  the program that runs a session: where it is, what it may do, how it ends
 *     repl.c     a person's REPL, with what repl.h names
 *     prelude/   what runs in it
 */
#ifndef LISP_H
#define LISP_H

#include <mishap/operation.h>

#include "parts.h"

/* Its calls are run by SBCL. Failures are told to agents as condition reports. */
extern const mishap_service lisp_service;

/* All operations of the service; the list ends with { 0 }. */
extern const mishap_operation lisp_operations[];

/* What the service uses. */
extern const service_part lisp_parts[];

/* The path of the core that sessions are started from; NULL: it is not there, and the operations
 * answer NOT_CONFIGURED. */
const char *lisp_core(void);

/* The handler of `lisp repl`. */
mishap *lisp_repl(mishap_call *call);

#endif
