/*
 * Capture text that a handler, or a library that it calls, writes directly to descriptor 1, because
 * it must not mix with the envelope. While a handler runs, descriptor 1 is a file in memory; the
 * real descriptor is saved.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/run.h"

enum {
    SHOWN = 2000,          /* bytes of it that are reported */
    SEARCHED = 256 * 1024, /* … and bytes that are searched for secrets before, since one may lie
                              across the end */
};

mishap *mishap_cli_capture(mishap_cli *cli)
{
    int memory = memfd_create("stdout", MFD_CLOEXEC);
    int real = cli->out < 0 ? -1 : fcntl(cli->out, F_DUPFD_CLOEXEC, 3);
    /* Without it the answer is still printed; only stray output is not caught. */
    if (memory >= 0 && (real >= 0 || cli->out < 0) && dup2(memory, STDOUT_FILENO) >= 0)
        cli->out = real;
    else if (real >= 0)
        close(real);
    if (memory >= 0)
        close(memory);
    return NULL;
}

bool mishap_cli_captured(mishap_buffer *buffer, const mishap_secrets *secrets)
{
    mishap_buffer bytes = { 0 };
    struct stat file;
    fflush(stdout);
    if (fstat(STDOUT_FILENO, &file) != 0 || file.st_size == 0)
        return false;
    size_t most = mishap_secrets_none(secrets) ? SHOWN : SEARCHED;
    ssize_t count = mishap_buffer_reserve(&bytes, most) ? pread(STDOUT_FILENO, bytes.data, most, 0)
                                                        : -1;
    bytes.length = count > 0 ? (size_t)count : 0;
    if (count > 0)
        mishap_secrets_put_hidden(buffer, secrets, mishap_buffer_text(&bytes));
    if (buffer->length > SHOWN)
        buffer->length = mishap_utf8_cut(mishap_buffer_text(buffer), SHOWN);
    mishap_buffer_release(&bytes);
    return count > 0 && !buffer->failed;
}

bool mishap_cli_put_captured(mishap_buffer *warning, const mishap_cli *cli)
{
    mishap_buffer caught = { 0 };
    bool any = cli->out != STDOUT_FILENO && mishap_cli_captured(&caught, cli->secrets);
    if (any) {
        mishap_arena arena;
        mishap_arena_init(&arena, NULL, 0);
        mishap_json_string(warning, mishap_utf8_clean(&arena, mishap_buffer_text(&caught)));
        mishap_arena_release(&arena);
    }
    mishap_buffer_release(&caught);
    return any;
}
