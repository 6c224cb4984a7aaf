/*
 * docs/metrics.md is made from the table of metrics:
 *
 *     metrics_page_test FILE     is this the page?
 *     metrics_page_test          print it, to replace the page
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/metrics.h"

static bool is_page(const char *path, mishap_text page)
{
    FILE *file = fopen(path, "r");
    char *found = calloc(1, page.length + 2);
    size_t length = file && found ? fread(found, 1, page.length + 1, file) : 0;
    bool same = length == page.length && memcmp(found, page.data, length) == 0;
    free(found);
    if (file)
        fclose(file);
    return same;
}

int main(int count, char **words)
{
    mishap_buffer page = { 0 };
    mishap_metrics_put_page(&page);
    if (count < 2) {
        fwrite(page.data, 1, page.length, stdout);
    } else {
        bool same = is_page(words[1], mishap_buffer_text(&page));
        if (!same)
            printf("# write what %s prints to docs/metrics.md\n", words[0]);
        printf("%sok 1 the_page_of_metrics_is_that_of_the_table\n1..1\n", same ? "" : "not ");
    }
    mishap_buffer_release(&page);
    return 0;
}
