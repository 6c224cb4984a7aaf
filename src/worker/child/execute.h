/* A worker that is another program: the process of this one becomes it. */
#ifndef MISHAP_WORKER_CHILD_EXECUTE_H
#define MISHAP_WORKER_CHILD_EXECUTE_H

/* Execute it, with the socket and the page of the worker. The program finds its socket at
 * descriptor 16 and its page at 17. */
_Noreturn void mishap_worker_execute(const char *const *program, const int *files);

#endif
