/* The Lisp service in a program of its own, for tests. */
#include <mishap/main.h>

#include "lisp/lisp.h"

int main(int argc, char **argv)
{
    static const mishap_app app = {
        .name = "lisper", .version = "1.0", .summary = "Lisp", .operations = lisp_operations
    };
    return mishap_main(argc, argv, &app);
}
