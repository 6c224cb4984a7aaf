/* What is shown of a finding. */
#ifndef MISHAP_GUARD_EXCERPT_H
#define MISHAP_GUARD_EXCERPT_H

#include "guard/rules.h"

/* Write the excerpt of a matched text, whose bytes from `secret` to `secret_end` are never shown
 * (0, 0: none). Returns its length, at most MISHAP_LEAK_EXCERPT. */
size_t mishap_leak_excerpt(char *to, const mishap_leak_rule *rule, mishap_text text, size_t secret,
                           size_t secret_end);

#endif
