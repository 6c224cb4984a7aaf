/* What runs Python in a program of its own, for tests. */
#include <mishap/main.h>

#include "python/python.h"

int main(int argc, char **argv)
{
    static const mishap_app app = {
        .name = "snake", .version = "1.0", .summary = "Python", .operations = python_operations
    };
    return mishap_main(argc, argv, &app);
}
