/* A fault inside of a solver's library: the operator is told which library it was. */
#ifndef SYMBOLIC_FAULT_H
#define SYMBOLIC_FAULT_H

/* Call it once, when the libraries are loaded. A signal such as SIGSEGV then writes a line to
 * standard error, if the instruction lies in the library of Z3 or cvc5, and ends the process as it
 * would without this. */
void fault_watch(void);

#endif
