/* A loop's end of the connection to one worker: see link.h. */
#include "worker/loop/link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "operation/upload.h"

enum {
    KEPT = 64 * 1024, /* bytes of a buffer that stay for the next call */
    /* After so long without a call, the time of its silence starts anew. */
    FORGIVEN_NS = 1000000000,
};

mishap_link *mishap_link_make(mishap_runner *runner, size_t group, uint32_t worker,
                              const int *files)
{
    mishap_link *link = mishap_allocate(sizeof *link);
    void *page = mmap(NULL, sizeof *link->page, PROT_READ | PROT_WRITE, MAP_SHARED, files[1], 0);
    close(files[1]);
    if (!link || page == MAP_FAILED) {
        mishap_release(link);
        close(files[0]);
        return NULL;
    }
    *link = (mishap_link){ .runner = runner,
                           .group = group,
                           .worker = worker,
                           .socket = files[0],
                           .page = page,
                           .file = -1 };
    return link;
}

mishap_link *mishap_link_make_foreign(mishap_runner *runner, size_t group, uint32_t worker,
                                      int socket, const mishap_foreign *foreign)
{
    mishap_link *link = mishap_allocate(sizeof *link);
    mishap_worker_page *page = mishap_allocate(sizeof *page);
    if (!link || !page) {
        mishap_release(link);
        mishap_release(page);
        close(socket);
        return NULL;
    }
    memset(page, 0, sizeof *page);
    *link = (mishap_link){ .runner = runner,
                           .group = group,
                           .worker = worker,
                           .socket = socket,
                           .page = page,
                           .file = -1,
                           .foreign = foreign };
    return link;
}

void mishap_link_free(mishap_link *link)
{
    if (link->socket >= 0)
        close(link->socket);
    if (link->file >= 0)
        close(link->file);
    for (unsigned i = 0; i < MISHAP_SLOTS; i++)
        mishap_call_end(link->slots[i].call);
    if (link->foreign)
        mishap_release(link->page);
    else
        munmap(link->page, sizeof *link->page);
    mishap_buffer_release(&link->in);
    mishap_buffer_release(&link->out);
    mishap_release(link);
}

/* -- slots ------------------------------------------------------------------------------------- */

static int64_t limit_of(const mishap_call *call)
{
    return call->limit_ms > 0 ? call->limit_ms : INT32_MAX;
}

static void drop_file(mishap_link *link)
{
    close(link->file);
    link->file = -1;
}

/* The channel of a streamed file is sent with the first byte of its call. The link has a descriptor
 * of its own: the call may be gone before that byte is sent. False: no descriptor is left. */
static bool take_file(mishap_link *link, const mishap_upload *upload)
{
    int file = fcntl(upload->file, F_DUPFD_CLOEXEC, 0);
    if (file < 0)
        return false;
    link->file = file;
    link->file_at = link->out.length;
    return true;
}

bool mishap_link_hand(mishap_link *link, mishap_run *run, int64_t now_ns)
{
    unsigned slot = (unsigned)__builtin_ctzll(~link->used);
    size_t before = link->out.length;
    uint32_t number = ++link->last_number;
    bool was_used = link->used != 0;
    const mishap_upload *upload = run->call->upload;
    if (upload && !take_file(link, upload))
        return false;
    if (link->foreign) {
        link->told = 0;
        link->strays = 0;
        mishap_foreign_shorten(link->foreign, run->call);
        number = link->last_number = number <= MISHAP_FOREIGN_IDS ? number : 1;
        if (!mishap_foreign_put_call(&link->out, run->call, number, run->call->limit_ms)) {
            link->too_long = !link->out.failed;
            link->out.failed = false;
            return false;
        }
    } else {
        mishap_frame_put_call(&link->out, slot, number, run->call, (uint32_t)limit_of(run->call));
    }
    if (link->out.failed) {
        link->out.failed = false;
        link->out.length = before;
        if (upload)
            drop_file(link);
        return false;
    }
    atomic_store(&link->page->uploads[slot], (unsigned char)(upload ? upload->end : 0));
    atomic_store(&link->page->cancelled[slot],
                 run->cancelled ? MISHAP_CALLER_LEFT : MISHAP_CALLER_THERE);
    atomic_store(&link->page->ran_us[slot], 0);
    atomic_store(&link->page->slots[slot],
                 mishap_slot_word(number, link->foreign ? MISHAP_SLOT_BEGUN : MISHAP_SLOT_HANDED));
    link->slots[slot] = (mishap_link_slot){ .run = run,
                                            .number = number,
                                            .handed_ns = now_ns,
                                            .begun_ns = link->foreign ? now_ns : 0,
                                            .streamed = upload != NULL };
    link->used |= UINT64_C(1) << slot;
    link->idle_since_ns = 0;
    /* The silence goes on while all calls were only taken back from the worker. */
    if (!link->silent_since_ns || (!was_used && now_ns - link->handed_ns > FORGIVEN_NS))
        link->silent_since_ns = now_ns;
    link->handed_ns = now_ns;
    run->link = link;
    run->slot = slot;
    return true;
}

void mishap_link_clear(mishap_link *link, unsigned slot)
{
    link->used &= ~(UINT64_C(1) << slot);
    link->slots[slot] = (mishap_link_slot){ 0 };
}

int64_t mishap_link_begun(mishap_link *link, unsigned slot, int64_t now_ns)
{
    mishap_link_slot *s = &link->slots[slot];
    if (!s->begun_ns && mishap_link_state(link, slot) >= MISHAP_SLOT_BEGUN) {
        int64_t said = atomic_load(&link->page->begun_ns);
        s->begun_ns = said < s->handed_ns ? s->handed_ns : said > now_ns ? now_ns : said;
    }
    return s->begun_ns;
}

bool mishap_link_take_back(mishap_link *link, unsigned slot)
{
    return mishap_slot_change(link->page, slot, link->slots[slot].number, MISHAP_SLOT_HANDED,
                              MISHAP_SLOT_TAKEN);
}

/* -- bytes ------------------------------------------------------------------------------------- */

/* Send bytes, those before a descriptor without it. */
static ssize_t send_some(mishap_link *link)
{
    size_t left = link->out.length - link->sent;
    bool with_file = link->file >= 0 && link->sent == link->file_at;
    if (link->file >= 0 && link->sent < link->file_at)
        left = link->file_at - link->sent;
    struct iovec bytes = { link->out.data + link->sent, left };
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };
    if (with_file) {
        message.msg_control = control.room;
        message.msg_controllen = sizeof control.room;
        control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
                                         .cmsg_level = SOL_SOCKET,
                                         .cmsg_type = SCM_RIGHTS };
        memcpy(CMSG_DATA(&control.head), &link->file, sizeof link->file);
    }
    ssize_t count = sendmsg(link->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0 && with_file)
        drop_file(link);
    return count;
}

bool mishap_link_flush(mishap_link *link)
{
    if (link->foreign) {
        if (!mishap_foreign_send(link->socket, &link->out, &link->sent))
            return false;
        if (link->sent == link->out.length) {
            mishap_buffer_reset_within(&link->out, KEPT);
            link->sent = 0;
        }
        return true;
    }
    while (link->sent < link->out.length) {
        ssize_t count = send_some(link);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return errno == EAGAIN;
        link->sent += (size_t)count;
    }
    mishap_buffer_reset_within(&link->out, KEPT);
    link->sent = 0;
    return true;
}
