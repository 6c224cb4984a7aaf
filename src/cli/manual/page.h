/*
 * A page for a terminal: words in lines of at most 80 columns, unless one word alone is longer;
 * headings, paragraphs, entries in two columns.
 */
#ifndef MISHAP_CLI_MANUAL_PAGE_H
#define MISHAP_CLI_MANUAL_PAGE_H

#include "base/base.h"
#include "operation/operation.h"

/* A blank at which a line must not be broken. */
#define MISHAP_CLI_NO_BREAK '\x1f'

enum { MISHAP_CLI_LEAST_COLUMN = 8 }; /* the leftmost column of the text on the right */

/* Starts as { .out = …, .app = …, .color = … }. */
typedef struct mishap_cli_page {
    mishap_buffer *out;
    const mishap_app *app; /* which it is about */
    bool color;
    bool failed;
    mishap_buffer left, right; /* the two columns of the entry that is being made */
} mishap_cli_page;

/* The text of one of the columns. If that buffer has failed, the page fails. */
mishap_text mishap_cli_page_text(mishap_cli_page *page, const mishap_buffer *aside);

/*
 * Words in lines, the first from the current column on, the others indented; ends with a line feed.
 * A broken line ends with `mark`.
 */
void mishap_cli_page_wrap(mishap_cli_page *page, mishap_text text, size_t column, size_t indent,
                          const char *mark);

/* Paragraphs, which stand between empty lines. The text may be NULL. */
void mishap_cli_page_paragraphs(mishap_cli_page *page, const char *text);

void mishap_cli_page_bold(mishap_cli_page *page, mishap_text text);
void mishap_cli_page_heading(mishap_cli_page *page, const char *heading);

/* Move the column of the text on the right behind the left text, unless that is too wide for a
 * column; the left text is cleared. */
void mishap_cli_page_widen(mishap_cli_page *page, size_t *column);

/* Write the left and the right text as one entry. */
void mishap_cli_page_entry(mishap_cli_page *page, size_t column);

/* Finish the page. If something was lost, `out` has failed. */
void mishap_cli_page_finish(mishap_cli_page *page);

#endif
