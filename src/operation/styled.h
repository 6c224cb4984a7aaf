/*
 * A text for readers with styles, for commands of this tree: mishap_answer_text() with these escape
 * sequences in it. A terminal that wants colour gets them; everywhere else they are left out. All
 * other control characters are replaced as in any text. Text of others must be made printable
 * before (base/printable.h), or it could have styles, too.
 */
#ifndef MISHAP_OPERATION_STYLED_H
#define MISHAP_OPERATION_STYLED_H

#include "mishap/call.h"

#define MISHAP_STYLE_BOLD   "\033[1m"
#define MISHAP_STYLE_DIM    "\033[2m"
#define MISHAP_STYLE_RED    "\033[1;31m"
#define MISHAP_STYLE_GREEN  "\033[1;32m"
#define MISHAP_STYLE_YELLOW "\033[1;33m"
#define MISHAP_STYLE_END    "\033[0m"

mishap *mishap_answer_styled(mishap_call *call, mishap_text text);

/* The bytes of the style at the beginning of a text; 0: there is none. */
size_t mishap_style_length(mishap_text text);

#endif
