/*
 * services/artifacts: a ledger, a mint, an escrow and a store of artifacts whose code can be run
 * (docs/artifacts.md). An ordinary user of the public headers.
 *
 *     service.c     settings, opening, and how calls are settled in batches
 *     operations.c  the operations: invoke, and the log of events
 *     invoke.c      one invoke: the caller, the method, the transaction around it
 *     caller.c      … who calls, and whether that is a principal
 *     request.c     … what every method uses: arguments, statements, reserved names
 *     record.c      … the transaction of a change, its event and its answer
 *     methods.c     which artifacts have which methods, and the checks of their arguments
 *     ledger.c      genesis_ledger: balances, transfers, owners
 *     accounts.c    … the scrip of each principal, and what of it is held
 *     escrow.c      genesis_escrow: artifacts for sale
 *     mint.c        genesis_mint: auctions that make new scrip
 *     score.c       … and the score of an artifact
 *     store.c       genesis_store: the artifacts themselves
 *     owners.c      … whose they are, and a row of a list
 *     search.c      … and words in them
 *     executor.c    the code of an artifact
 *     events.c      genesis_event_log: what happened
 *     kept.c        stored answers: for idempotency keys, and for calls that are run again
 *     purge.c       … and when old ones are removed
 *     genesis.c     the first principals and their scrip in a new store
 *     answer.c      JSON of answers
 *     schema.c      tables and statements
 */
#ifndef SERVICES_ARTIFACTS_H
#define SERVICES_ARTIFACTS_H

#include <mishap/operation.h>

/* Not const: the kind of store decides how its calls are settled. */
extern mishap_service artifacts_service;

/* The list ends with { 0 }. */
extern const mishap_operation artifacts_operations[];

#endif
