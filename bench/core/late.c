/* A program that tells one failure. */
#include <mishap/dialect.h>

int main(void)
{
    mishap_buffer buffer = { 0 };
    mishap *m = mishap_raise(NOT_FOUND, "There is no train %d.", 7);
    mishap_text text = mishap_render(mishap_dialect_find("problem"), m, &buffer);
    int failed = text.length == 0;
    mishap_free(m);
    mishap_buffer_release(&buffer);
    return failed;
}
