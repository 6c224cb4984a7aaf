/* A count of the addresses that Python has written into texts. Two programs have it: mishap-python
 * and the symbolic engine, whose replay driver asks for it as the module `_mishap_addresses`. */
#ifndef MISHAP_PYTHON_ADDRESSES_H
#define MISHAP_PYTHON_ADDRESSES_H

#include <stdbool.h>

/* Offer the module; before the interpreter starts. False: there is no memory for it. */
bool addresses_offer(void);

#endif
