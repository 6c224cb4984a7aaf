/* One dialect in, another out. */
#include "dialect/dialect.h"
#include "mishap/bind.h"

mishap *mishap_translate(const mishap_dialect *from, const mishap_dialect *to, mishap_text document,
                         mishap_buffer *out)
{
    mishap *told = NULL;
    mishap *failure = mishap_parse(from, document, &told);
    if (failure)
        return failure;
    to->render(mishap_told(told), out);
    mishap_free(told);
    if (!out->failed)
        return NULL;
    mishap_buffer_release(out);
    return mishap_out_of_memory();
}
