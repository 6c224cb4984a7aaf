/*
 * Write an answer as readable text: a list of objects as a table, an object as names and values, a
 * list of other values with one value per line.
 *
 *     readable.c  any JSON value as lines
 *     table.c     a list of objects as a table
 *     short.c     a value in a few words, for a cell of a table
 *     next.c      how to get the next page of a list
 */
#ifndef MISHAP_CLI_SCREEN_READABLE_H
#define MISHAP_CLI_SCREEN_READABLE_H

#include "cli/screen/width.h"
#include "mishap/operation.h"

/* The terminal or file that shows it. */
typedef struct mishap_cli_look {
    size_t width; /* columns; MISHAP_CLI_ANY_WIDTH: nothing is cut or wrapped */
    bool styles;  /* escape sequences for bold and faint are understood */
} mishap_cli_look;

/* The command that is answered; all of it may be NULL or 0. */
typedef struct mishap_cli_asked {
    const char *program;
    const mishap_operation *operation;
    const char *const *words; /* behind the name of the program */
    size_t word_count;
} mishap_cli_asked;

/*
 * Write a value as text that ends with a line feed, or nothing for null and {}. `remarks` is for
 * lines that are not part of the answer: that a list is empty, how to get its next page. Without
 * memory, a buffer has failed.
 */
void mishap_cli_put_readable(mishap_buffer *out, mishap_buffer *remarks, yyjson_val *value,
                             const mishap_cli_asked *asked, mishap_cli_look look);

/*
 * Put a list of objects as a table, each line behind `indent` blanks: a column for each name, in
 * the order in which names first appear. Numbers stand to the right and are never cut. False, and
 * nothing is put: the list is empty, not all of it are objects, there are more columns than fit, or
 * cells of a short list with an indent would be cut.
 */
bool mishap_cli_put_table(mishap_buffer *out, yyjson_val *list, size_t indent,
                          mishap_cli_look look);

/*
 * Put a value on one line, in at most `most` columns: a string or number as it is, a list of them
 * with commas between, of anything else how many items it has, an object as `name: value`. Returns
 * how many columns it takes.
 */
size_t mishap_cli_put_short(mishap_buffer *out, yyjson_val *value, size_t most);

/* True for a value that is neither an object nor a list; for a non-empty list of only such items;
 * of only objects. */
bool mishap_cli_is_scalar(yyjson_val *value);
bool mishap_cli_lists_scalars(yyjson_val *list);
bool mishap_cli_lists_objects(yyjson_val *list);

/* True if a command lists page by page: it has a parameter for the start of a page. */
bool mishap_cli_has_pages(const mishap_operation *operation);

/*
 * If a member of a page says where the next page begins (`next`), and the operation has a parameter
 * that takes it (`after`), put the command line that lists the next page. False, and nothing is
 * put: it is no such member.
 */
bool mishap_cli_put_next(mishap_buffer *remarks, mishap_text name, yyjson_val *value,
                         const mishap_cli_asked *asked);

/* Bold and faint, and the end of both. */
#define MISHAP_CLI_BOLD  "\033[1m"
#define MISHAP_CLI_FAINT "\033[2m"
#define MISHAP_CLI_PLAIN "\033[0m"

#endif
