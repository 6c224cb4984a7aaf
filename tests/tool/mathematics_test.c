/* The mathematics that SQLite gets in the program: loaded when used, and the C library's own. */
#include <dlfcn.h>
#include <math.h>

#include "testing.h"

/* Not known to the compiler, which would work the results out by itself. */
static volatile double half = 0.5, two = 2, three = 3, ten = 10;

static void the_library_is_loaded_when_it_is_first_used(void **state)
{
    (void)state;
    void *before = dlopen("libm.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (before) /* a sanitizer has it already */
        return;
    assert_true(fabs(sinh(half) - 0.5210953054937474) < 1e-15);
    void *after = dlopen("libm.so.6", RTLD_LAZY | RTLD_NOLOAD);
    assert_non_null(after);
    dlclose(after);
}

static void each_function_is_the_one_of_its_name(void **state)
{
    (void)state;
    const struct {
        double found, expected;
    } rows[] = {
        { acos(half), 1.0471975511965979 },
        { acosh(two), 1.3169578969248166 },
        { asin(half), 0.5235987755982989 },
        { asinh(half), 0.48121182505960347 },
        { atan(half), 0.4636476090008061 },
        { atan2(half, two), 0.24497866312686414 },
        { atanh(half), 0.5493061443340548 },
        { ceil(half), 1 },
        { cos(half), 0.8775825618903728 },
        { cosh(half), 1.1276259652063807 },
        { exp(half), 1.6487212707001282 },
        { floor(half), 0 },
        { fmod(ten, three), 1 },
        { log(two), 0.6931471805599453 },
        { log10(two), 0.3010299956639812 },
        { log2(ten), 3.321928094887362 },
        { pow(two, half), 1.4142135623730951 },
        { sin(half), 0.479425538604203 },
        { sinh(half), 0.5210953054937474 },
        { sqrt(two), 1.4142135623730951 },
        { tan(half), 0.5463024898437905 },
        { tanh(half), 0.46211715726000973 },
        { trunc(-half), -0.0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(fabs(rows[i].found - rows[i].expected) < 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_library_is_loaded_when_it_is_first_used),
        TEST(each_function_is_the_one_of_its_name),
    };
    return RUN(tests);
}
