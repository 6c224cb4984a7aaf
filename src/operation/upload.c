/* Files that are streamed to handlers: see upload.h. */
#include "operation/upload.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "mishap/mishap.h"

const mishap_param *mishap_streamed_param(const mishap_operation *operation)
{
    for (const mishap_param *param = operation->params; param && param->name; param++)
        if (param->streamed)
            return param;
    return NULL;
}

mishap *mishap_upload_too_large(const mishap_param *param, size_t most)
{
    mishap *m = mishap_raise(CONTENT_TOO_LARGE, "The file `%s` can have at most %zu bytes.",
                             param->name, most);
    return mishap_tell(mishap_tell(m, "parameter", param->name), "limit_bytes", (uint64_t)most);
}

mishap *mishap_upload_check(const mishap_upload *upload, const mishap_operation *operation)
{
    const mishap_param *param = mishap_streamed_param(operation);
    struct stat found;
    bool large = param && fstat(upload->file, &found) == 0 && S_ISREG(found.st_mode) &&
                 (uint64_t)found.st_size > param->length.max;
    return large ? mishap_upload_too_large(param, param->length.max) : NULL;
}

/* What the handler returns, too. The caller is told the exact reason by the process that has read
 * its bytes. */
static mishap *explain_end(mishap_upload_end end, const mishap_param *param)
{
    switch (end) {
    case MISHAP_UPLOAD_WHOLE:
        return NULL;
    case MISHAP_UPLOAD_TOO_LARGE:
        return mishap_upload_too_large(param, param->length.max);
    case MISHAP_UPLOAD_MALFORMED:
        return mishap_raise(BAD_REQUEST, "The request that contains the file `%s` is malformed.",
                            param->name);
    case MISHAP_UPLOAD_TOO_SLOW:
        return mishap_raise(REQUEST_TIMEOUT, "The file `%s` took too long to arrive.", param->name);
    case MISHAP_UPLOAD_CUT:
        return mishap_raise(CANCELLED, "The caller has left before the file `%s` was complete.",
                            param->name);
    case MISHAP_UPLOAD_OPEN:
    case MISHAP_UPLOAD_ENDS:
        break;
    }
    return mishap_raise(CANCELLED, "The process that received the file `%s` has ended.",
                        param->name);
}

mishap *mishap_upload_read(mishap_upload *upload, const mishap_param *param, void *to, size_t size,
                           size_t *got)
{
    size_t most = param->length.max;
    *got = 0;
    while (size) {
        ssize_t count = upload->channel ? mishap_channel_read(upload->channel, to, size)
                                        : read(upload->file, to, size);
        if (count > 0 && most && (size_t)count > most - upload->got)
            return mishap_upload_too_large(param, most);
        if (count > 0) {
            *got = (size_t)count;
            upload->got += (size_t)count;
            return NULL;
        }
        if (count == 0)
            return upload->ended ? explain_end(upload->ended(upload), param) : NULL;
        if (errno == EAGAIN && upload->wait)
            upload->wait(upload);
        else if (errno != EINTR)
            return mishap_note(
                mishap_raise(INTERNAL_ERROR, "The file `%s` could not be read.", param->name),
                "error", strerror(errno));
    }
    return NULL;
}
