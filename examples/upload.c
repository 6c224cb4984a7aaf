/*
 * Large files, read while they arrive: a file that is `streamed` is never in memory as a whole, so
 * it may be larger than the memory of the machine. The handler is the same on every boundary.
 *
 *     cc -o upload upload.c $(pkg-config --cflags --libs mishap)
 *     ./upload files measure /var/log/syslog
 *     tar c . | ./upload files measure -
 *     ./upload serve
 *     curl -F label=backup -F file=@backup.tar localhost:8080/files
 *     curl -H 'Content-Type: application/octet-stream' -T backup.tar -X POST localhost:8080/files
 */
#include <mishap/main.h>
#include <stdlib.h>

#define MOST_BYTES (UINT64_C(8) << 30)

/* Reads the file to its end. If it does not arrive as a whole, mishap_file_read() says why, and the
 * handler returns that. */
static mishap *measure(mishap_call *call)
{
    enum { PIECE = 256 * 1024 };
    unsigned char *piece = mishap_call_take(call, PIECE);
    uint64_t bytes = 0, lines = 0;
    uint32_t sum = 1, second = 0; /* Adler-32, as zlib has it */
    size_t got;
    do {
        mishap *m = mishap_file_read(call, "file", piece, PIECE, &got);
        if (m)
            return m;
        for (size_t i = 0; i < got; i++) {
            sum += piece[i];
            second += sum;
            lines += piece[i] == '\n';
            if ((i & 4095) == 4095 || i + 1 == got) {
                sum %= 65521;
                second %= 65521;
            }
        }
        bytes += got;
    } while (got);
    mishap_answer_member(call, "label", mishap_string(call, "label"));
    mishap_answer_member(call, "name", mishap_file_name(call, "file"));
    mishap_answer_member(call, "type", mishap_file_type(call, "file"));
    mishap_answer_member(call, "bytes", bytes);
    mishap_answer_member(call, "lines", lines);
    return mishap_answer_member(call, "adler32", (uint64_t)second << 16 | sum);
}

static const mishap_operation *const operations = MISHAP_OPERATIONS(
    { "files.measure", "Measure a file while it arrives",
      MISHAP_PARAMS({ .name = "label", .type = MISHAP_STRING, .length = { 0, 100 } },
                    { .name = "file",
                      .type = MISHAP_FILE,
                      .required = true,
                      .positional = true,
                      .streamed = true,
                      .length = { 0, MOST_BYTES },
                      .help = "The file; - is standard input" }),
      measure, .route = "POST /files", .danger = MISHAP_SAFE, .stateless = true });

int main(int argc, char **argv)
{
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "upload",
                                      .version = "1.0",
                                      .summary = "Large files",
                                      .operations = operations });
}
