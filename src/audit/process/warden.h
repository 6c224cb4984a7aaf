/*
 * The warden of a command: a process that starts it, waits for it, kills all that is left of it and
 * removes its folder. It ends by itself when the audit closes its socket, or dies.
 *
 * The command is not trusted and knows the process id of its parent. So there are two processes:
 *
 *     audit  →  deputy  →  warden  →  command
 *
 * The deputy waits for the warden. If the command kills or stops the warden, the deputy takes its
 * place: it is a child subreaper, so that the command and all its descendants are its children
 * then. If the command kills both, it becomes a child of the audit, which kills it (orphans.h).
 *
 * Where the system allows it, which it does for root, the warden is the first process of a
 * namespace of processes, with a /proc of its own: the command sees none of the three then, and is
 * killed by the kernel when the warden ends. An ordinary user could have one only with a namespace
 * of users, too. In that, files of root seem to belong to another user and programs like sudo do
 * not work: the audit would accuse a command of what is not its fault.
 */
#ifndef MISHAP_AUDIT_PROCESS_WARDEN_H
#define MISHAP_AUDIT_PROCESS_WARDEN_H

#include <stdbool.h>
#include <sys/types.h>

/* Where the command runs, and with what. Made before the fork: afterwards nothing is allocated. */
typedef struct mishap_audit_place {
    char root[200]; /* the temporary folder, which has home, tmp and work in it */
    char home[208]; /* … */
    char work[208]; /* … */
    char program[4096];
    const char *const *argv;
    const char *environment[8];
    const char *folder; /* the working folder; NULL: it is not changed */
    int in, out, err;   /* its standard input and outputs */
    int file;           /* the folder `root`, wherever the command has moved it */
    int socket;         /* the warden's end of the socket to the audit */
    int proc;           /* /proc of the audit, if the command has another one; -1: it has not */
} mishap_audit_place;

/* Messages from the warden, one packet each. */
typedef enum mishap_audit_news {
    MISHAP_AUDIT_NEWS_STARTED, /* value: the process id */
    MISHAP_AUDIT_NEWS_REFUSED, /* value: errno */
    MISHAP_AUDIT_NEWS_ENDED,   /* value: the status of waitpid() */
    MISHAP_AUDIT_NEWS_GONE,    /* value: survivors; and the files */
} mishap_audit_news;
typedef struct mishap_audit_packet {
    mishap_audit_news news;
    int value;
    size_t files;
    char file[128];
} mishap_audit_packet;

/* Messages to the warden, one byte each. */
enum { MISHAP_AUDIT_TERMINATE = 'T', MISHAP_AUDIT_KILL = 'K' };

/* Be the deputy, in a forked child: start the warden. */
_Noreturn void mishap_audit_warden(mishap_audit_place *place);

#endif
