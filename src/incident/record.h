/* The whole record of a failure as one JSON object: docs/incident.schema.json. */
#ifndef MISHAP_INCIDENT_RECORD_H
#define MISHAP_INCIDENT_RECORD_H

#include "base/id.h"
#include "incident/incident.h"
#include "mishap/symbols.h"

/*
 * How each line of the journal begins. These bytes stand nowhere else in a line: quotes inside of
 * strings are escaped, and a value that is an object with such members gets a space. So a record
 * that was appended to the remains of a torn one is found, and no text of a caller looks like one.
 */
#define MISHAP_RECORD_START "{\"v\":1,\"kind\":\""

/* How the native stacks of a record are written. */
typedef enum mishap_record_stack {
    MISHAP_RECORD_MARKED,    /* as addresses, for another process to name (mishap/trace.h) */
    MISHAP_RECORD_IN_DETAIL, /* with all names: takes milliseconds */
    MISHAP_RECORD_EXPORTED,  /* with those names that the loader knows */
    MISHAP_RECORD_NO_STACK,
} mishap_record_stack;

/* What is known of a record beside its entry. */
typedef struct mishap_record_facts {
    uint64_t group;
    int64_t duration_ns; /* -1: not known */
    const char *role;    /* of this process */
    mishap_record_stack stack;
    const mishap_symbol *symbols; /* the functions in the trace of the failure itself, if they were
                                     found already; else NULL */
} mishap_record_facts;

/*
 * Write the record without a line feed, in one line of at most MISHAP_INCIDENT_LINE - 1 bytes: the
 * longest members are shortened if it would be longer. Stacks that are marked have line feeds in
 * them until they are named. Without memory the buffer has failed.
 */
void mishap_record_put(mishap_buffer *b, const mishap_incident_entry *entry,
                       const mishap_record_facts *facts);

/* The least that there is to say, which needs no memory beyond a kilobyte: so that the id is found
 * when there is no memory. */
void mishap_record_put_least(mishap_buffer *b, const mishap_incident_entry *entry,
                             const mishap_record_facts *facts);

/* Name the functions of a record with marked stacks, and shorten it again if needed. */
void mishap_record_name(mishap_buffer *named, mishap_text record);

/* A line of a handler, or of the program, for the operator. `operation` and `id` may be NULL. */
void mishap_record_put_line(mishap_buffer *b, const char *program, const char *operation,
                            const char *id, mishap_text words);

/* Why the log has refused a record, to be shown below the record: one line, as JSON a line of its
 * own kind. */
void mishap_record_put_reason(mishap_buffer *b, bool json, const char *program,
                              const char *operation, const char *id, mishap_text why);

/* How many incidents were lost. */
void mishap_record_put_lost(mishap_buffer *b, const char *program, uint64_t count);

/* The bytes of an id of 36 characters. False, and zeros: it is none. */
bool mishap_record_read_id(const char *id, unsigned char bytes[16]);

/* The id for the record of a failure that another program has told. If that is one of ours and
 * names an incident, the record has the same id; else a new one. */
void mishap_record_choose_id(const mishap *failure, char id[MISHAP_ID_LENGTH + 1]);

/* The name of a boundary: cli, http, mcp, c. */
const char *mishap_record_boundary(mishap_incident_boundary boundary);

#endif
