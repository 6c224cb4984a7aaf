/*
 * The C library's mathematics, loaded when it is first used.
 *
 * SQLite refers to it for functions such as sin() in SQL, which hardly any statement calls. Linked
 * as usual, the library would be mapped and relocated by every command: `mishap --version` then
 * takes 1.14 times as long (docs/performance.md; `make bench` measures it). These definitions are
 * what SQLite gets instead.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>

static void *find_function(const char *name)
{
    static _Atomic(void *) library;
    void *found = atomic_load(&library);
    if (!found) {
        found = dlopen("libm.so.6", RTLD_LAZY | RTLD_LOCAL); /* twice is the same one */
        atomic_store(&library, found);
    }
    return found ? dlsym(found, name) : NULL;
}

typedef union function {
    void *address;
    double (*of_one)(double);
    double (*of_two)(double, double);
} function;

#define OF_ONE(name)                                                                               \
    __attribute__((visibility("hidden"))) double name(double x)                                    \
    {                                                                                              \
        static _Atomic(void *) real;                                                               \
        function call = { atomic_load(&real) };                                                    \
        if (!call.address)                                                                         \
            atomic_store(&real, call.address = find_function(#name));                              \
        return call.address ? call.of_one(x) : NAN;                                                \
    }
#define OF_TWO(name)                                                                               \
    __attribute__((visibility("hidden"))) double name(double x, double y)                          \
    {                                                                                              \
        static _Atomic(void *) real;                                                               \
        function call = { atomic_load(&real) };                                                    \
        if (!call.address)                                                                         \
            atomic_store(&real, call.address = find_function(#name));                              \
        return call.address ? call.of_two(x, y) : NAN;                                             \
    }

OF_ONE(acos)
OF_ONE(acosh)
OF_ONE(asin)
OF_ONE(asinh)
OF_ONE(atan)
OF_TWO(atan2)
OF_ONE(atanh)
OF_ONE(ceil)
OF_ONE(cos)
OF_ONE(cosh)
OF_ONE(exp)
OF_ONE(floor)
OF_TWO(fmod)
OF_ONE(log)
OF_ONE(log10)
OF_ONE(log2)
OF_TWO(pow)
OF_ONE(sin)
OF_ONE(sinh)
OF_ONE(sqrt)
OF_ONE(tan)
OF_ONE(tanh)
OF_ONE(trunc)
