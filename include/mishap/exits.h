/*
 * Exit codes by which a foreign program (mishap/worker.h) says that it failed by itself, and not
 * because of the code that it ran. This is the one table of them; docs/worker-protocol.md explains
 * it.
 *
 * A process that ends with one of these codes while it has a call fails that call with
 * INTERNAL_ERROR. The code of the caller is not blamed. Code that can end its process may choose
 * such a code, too: then its own call fails like this, and nothing else happens.
 *
 * This header stands alone, so that foreign programs can include it.
 */
#ifndef MISHAP_EXITS_H
#define MISHAP_EXITS_H

#define MISHAP_EXITS(X)                                                                            \
    X(MISHAP_EXIT_BROKEN, 70, "it read a message that makes no sense, or its own state does not")  \
    X(MISHAP_EXIT_REFUSED, 71, "the system refused it memory, a timer or a thread")                \
    X(MISHAP_EXIT_CUT_OFF, 74, "it could not read from its socket, or not write to it")

enum {
#define MISHAP_EXIT_NUMBER(name, number, meaning) name = (number),
    MISHAP_EXITS(MISHAP_EXIT_NUMBER)
#undef MISHAP_EXIT_NUMBER
};

#endif
