/*
 * The leak detector for tests/guard/corpus_test.py: reads texts from standard input, each as its
 * length in bytes on a line and then the bytes, and writes a line for each finding and a line `end`
 * behind those of each text.
 */
#include <stdio.h>
#include <stdlib.h>

#include "guard/leak.h"

static void write_finding(void *state, const mishap_leak *leak)
{
    (void)state;
    printf("%s\t%s\t%s\t%s\t%zu\t%zu\t%zu\t%.*s\n", mishap_leak_kind_names[leak->kind],
           mishap_leak_confidence_names[leak->confidence], leak->rule, leak->view, leak->line,
           leak->start, leak->length, (int)leak->excerpt.length, leak->excerpt.data);
}

int main(void)
{
    char line[32];
    while (fgets(line, sizeof line, stdin)) {
        size_t length = strtoul(line, NULL, 10);
        char *text = malloc(length + 1);
        if (!text || fread(text, 1, length, stdin) != length)
            return EXIT_FAILURE;
        mishap_leak_scan((mishap_text){ text, length }, NULL, write_finding, NULL);
        puts("end");
        free(text);
    }
    return EXIT_SUCCESS;
}
