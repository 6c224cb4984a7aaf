/* Attempts on files that are not named, and on the temporary folder. */
#include "attacker.h"

static const char *in_folder(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", outside, name);
    return path;
}

bool read_file(void)
{
    return opens(in_folder("victim"), O_RDONLY);
}

bool read_openat2(void)
{
    uint64_t how[3] = { O_RDONLY, 0, 0 };
    return syscall(SYS_openat2, AT_FDCWD, in_folder("victim"), how, sizeof how) >= 0;
}

bool read_by_link(void)
{
    return symlink(in_folder("victim"), "link") == 0 && opens("link", O_RDONLY);
}

bool read_by_hard_link(void)
{
    return link(in_folder("victim"), "link") == 0 && opens("link", O_RDONLY);
}

/* What is mounted over the root folder is entered on the way up, not on the way down. */
bool read_above(void)
{
    char path[4200];
    snprintf(path, sizeof path, "/..%s", in_folder("victim"));
    return opens(path, O_RDONLY);
}

bool read_by_handle(void)
{
    union {
        struct file_handle handle;
        char room[sizeof(struct file_handle) + 128];
    } file = { .handle = { .handle_bytes = 128 } };
    int mount_id, folder = open("/", O_PATH | O_DIRECTORY);
    if (name_to_handle_at(AT_FDCWD, in_folder("victim"), &file.handle, &mount_id, 0) != 0)
        return false;
    int above = open(outside, O_RDONLY | O_DIRECTORY);
    return open_by_handle_at(above >= 0 ? above : folder, &file.handle, O_RDONLY) >= 0;
}

bool read_device(void)
{
    return opens("/dev/null", O_RDWR);
}

bool read_kernel(void)
{
    return opens("/proc/sys/kernel/ostype", O_RDONLY);
}

bool list_folder(void)
{
    return opendir(outside) != NULL;
}

bool see_file(void)
{
    struct stat status;
    return stat(in_folder("victim"), &status) == 0;
}

bool watch_folder(void)
{
    int watcher = inotify_init1(IN_CLOEXEC);
    return watcher >= 0 && inotify_add_watch(watcher, outside, IN_CREATE) >= 0;
}

bool write_file(void)
{
    return opens(in_folder("made"), O_WRONLY | O_CREAT);
}

bool write_root(void)
{
    return opens("/mishap-made", O_WRONLY | O_CREAT);
}

bool write_readable(void)
{
    return opens("/etc/ld.so.cache", O_RDWR) || opens(itself, O_RDWR | O_APPEND);
}

bool truncate_file(void)
{
    return truncate(in_folder("victim"), 10) == 0;
}

bool truncate_by_open(void)
{
    return opens(in_folder("victim"), O_RDONLY | O_TRUNC);
}

bool unlink_file(void)
{
    return unlink(in_folder("victim")) == 0;
}

bool rename_file(void)
{
    char from[4096];
    snprintf(from, sizeof from, "%s", in_folder("victim"));
    return rename(from, in_folder("moved")) == 0;
}

bool make_folder(void)
{
    return mkdir(in_folder("made"), 0700) == 0;
}

bool make_device(void)
{
    return mknod("device", S_IFCHR | 0600, makedev(1, 3)) == 0;
}

bool change_mode(void)
{
    return chmod(in_folder("victim"), 0640) == 0;
}

bool change_owner(void)
{
    return syscall(SYS_fchownat, AT_FDCWD, in_folder("victim"), -1, -1, 0) == 0;
}

bool change_times(void)
{
    return utimensat(AT_FDCWD, in_folder("victim"), NULL, 0) == 0;
}

bool change_attribute(void)
{
    int result = setxattr(in_folder("victim"), "user.mishap", "1", 1, 0);
    if (result != 0 && errno == EOPNOTSUPP)
        exit(NOT_HERE);
    return result == 0;
}

bool change_kernel(void)
{
    return opens("/proc/sys/kernel/core_pattern", O_WRONLY);
}

/* The limit of the temporary folder is 4 MB. */
static bool fill(int files, int mb_each)
{
    static char block[MB];
    for (int i = 0; i < files; i++) {
        char name[20];
        snprintf(name, sizeof name, "full-%d", i);
        int file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        for (int mb = 0; mb < mb_each; mb++)
            if (write(file, block, sizeof block) != (ssize_t)sizeof block)
                return false;
        close(file);
    }
    return true;
}

bool fill_folder(void)
{
    return fill(8, 1);
}

bool fill_file(void)
{
    signal(SIGXFSZ, SIG_IGN);
    return fill(1, 8);
}
