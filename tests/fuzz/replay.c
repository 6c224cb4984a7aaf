/*
 * Runs a harness over the files below the folders that are named, without libFuzzer: what fuzzing
 * once found stays found. Speaks TAP, one case a file; a case that fails ends the program, after
 * the line with its name.
 */
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

static size_t cases;

static void run(const char *name, const uint8_t *data, size_t size)
{
    printf("# %s\n", name);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    printf("ok %zu - %s\n", ++cases, name);
}

static void run_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size); /* not a byte more, so that reading beyond the end shows */
    if (!file || !data || fread(data, 1, size, file) != size) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    run(path, data, size);
    free(data);
}

static void run_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char below[4096];
        struct stat status;
        snprintf(below, sizeof below, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && stat(below, &status) == 0) {
            if (S_ISDIR(status.st_mode))
                run_folder(below);
            else if (status.st_size)
                run_file(below, (size_t)status.st_size);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* replay FOLDER…: a folder that does not exist has no files. */
int main(int argc, char **argv)
{
    run("nothing at all", NULL, 0);
    for (int i = 1; i < argc; i++)
        run_folder(argv[i]);
    printf("1..%zu\n", cases);
    return 0;
}
