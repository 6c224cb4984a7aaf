/* A handler that reads a streamed file to its end and keeps nothing of it: for
 * bench/upload/measure.py. */
#include <mishap/main.h>

static mishap *discard(mishap_call *call)
{
    static char piece[256 * 1024];
    uint64_t bytes = 0;
    size_t got;
    do {
        mishap *m = mishap_file_read(call, "file", piece, sizeof piece, &got);
        if (m)
            return m;
        bytes += got;
    } while (got);
    return mishap_answer_member(call, "bytes", bytes);
}

static const mishap_operation *const operations = MISHAP_OPERATIONS(
    { "discard", "Read a file",
      MISHAP_PARAMS({ .name = "file",
                      .type = MISHAP_FILE,
                      .required = true,
                      .streamed = true,
                      .length = { 0, UINT64_C(1) << 40 } }),
      discard, .route = "POST /discard", .stateless = true });

int main(int argc, char **argv)
{
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "discard",
                                      .version = "1.0",
                                      .summary = "Read a file",
                                      .operations = operations });
}
