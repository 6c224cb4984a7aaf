/* Landlock: which files can be read, executed and written. The headers of Debian 12 have only its
 * first versions, so later constants are defined here. */
#include <fcntl.h>
#include <link.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "sandbox/inside.h"

/* The newest version that is used here. */
struct ruleset {
    uint64_t files, network, scopes;
};

enum { KNOWN = 9 };

#define READ     (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define EXECUTE  (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE)
#define TRUNCATE (UINT64_C(1) << 14) /* from version 3 on */
#define IOCTL    (UINT64_C(1) << 15) /* of devices; from 5 on */
#define NETWORK  (UINT64_C(3))       /* bind and connect of TCP; from 4 on */
#define SCOPES   (UINT64_C(3))       /* abstract sockets and signals; from 6 on */
#define FIRST    ((UINT64_C(1) << 13) - 1)
#define WRITE                                                                                      \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                               \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG)

/* The rights that each version added. A right that is handled and not granted is refused
 * everywhere. */
static struct ruleset handled(int version)
{
    struct ruleset all = { .files = FIRST };
    if (version >= 2)
        all.files |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3)
        all.files |= TRUNCATE;
    if (version >= 4)
        all.network = NETWORK;
    if (version >= 5)
        all.files |= IOCTL;
    if (version >= 6)
        all.scopes = SCOPES;
    return all;
}

static size_t size_of(int version)
{
    return version >= 6 ? 24 : version >= 4 ? 16 : 8;
}

int mishap_sandbox_landlock_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version < 0 ? 0 : version > KNOWN ? KNOWN : (int)version;
}

/* A path that does not exist needs no rule. Rights of folders cannot be granted for a file. */
static bool grant(int rules, uint64_t rights, const char *path)
{
    struct stat status;
    int file = open(path, O_PATH | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    bool done = fstat(file, &status) == 0;
    if (done && !S_ISDIR(status.st_mode))
        rights &= EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE | IOCTL;
    struct landlock_path_beneath_attr rule = { .allowed_access = rights, .parent_fd = file };
    done = done && syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    int error = errno;
    close(file);
    errno = error;
    return done;
}

/* The dynamic loader is executed with a program that names it. False: it names none. */
static bool find_loader(const char *program, char *loader, size_t size)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) part;
    bool found = false;
    int file = open(program, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (pread(file, &head, sizeof head, 0) == sizeof head && head.e_phentsize == sizeof part)
        for (unsigned i = 0; i < head.e_phnum && !found; i++)
            found = pread(file, &part, sizeof part, (off_t)(head.e_phoff + i * sizeof part)) ==
                        sizeof part &&
                    part.p_type == PT_INTERP && part.p_filesz > 0 && part.p_filesz <= size &&
                    pread(file, loader, part.p_filesz, (off_t)part.p_offset) ==
                        (ssize_t)part.p_filesz &&
                    loader[part.p_filesz - 1] == '\0';
    close(file);
    return found;
}

bool mishap_sandbox_restrict(const char *const *readable, const char *program, const char *folder)
{
    char loader[256];
    int version = mishap_sandbox_landlock_version();
    struct ruleset all = handled(version);
    int rules = version ? (int)syscall(SYS_landlock_create_ruleset, &all, size_of(version), 0) : -1;
    if (rules < 0)
        return false;
    bool done = true;
    for (size_t i = 0; readable && readable[i] && done; i++)
        done = grant(rules, READ, readable[i]);
    done = done && grant(rules, EXECUTE, program);
    if (done && find_loader(program, loader, sizeof loader))
        done = grant(rules, EXECUTE, loader);
    if (done && folder)
        done = grant(rules, (READ | WRITE | TRUNCATE) & all.files, folder);
    done = done && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    int error = errno;
    close(rules);
    errno = error;
    return done;
}
