/* The limit: what was read is written, and nothing is understood. */
#include <unistd.h>

int main(void)
{
    static char bytes[64 * 1024];
    for (;;) {
        ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes), done = 0;
        if (count <= 0)
            return 0;
        while (done < count) {
            ssize_t written = write(STDOUT_FILENO, bytes + done, (size_t)(count - done));
            if (written < 0)
                return 1;
            done += written;
        }
    }
}
