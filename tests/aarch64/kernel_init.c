/* The first process of the machine that tests/aarch64/kernel.py starts: runs the lines of /commands, one after the other, tells how each
 * ended, and turns the machine off. */
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 32, MOST_BYTES = 1024 };

static void mount_at(const char *path, const char *type)
{
    mkdir(path, 0755);
    mount(type, path, type, 0, NULL);
}

static void connect_loopback(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    ioctl(fd, SIOCSIFFLAGS, &request);
    close(fd);
}

static int run(char *line)
{
    char *words[MOST_WORDS + 1] = {strtok(line, " ")};
    for (int i = 1; i < MOST_WORDS && (words[i] = strtok(NULL, " ")); i++)
        continue;
    pid_t child = fork();
    if (child == 0) {
        execvp(words[0], words);
        perror(words[0]);
        _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

int main(void)
{
    char line[MOST_BYTES], copy[MOST_BYTES];
    mount_at("/proc", "proc");
    mount_at("/sys", "sysfs");
    mount_at("/dev", "devtmpfs");
    mount_at("/dev/shm", "tmpfs");
    mount_at("/tmp", "tmpfs");
    connect_loopback();
    int console = open("/dev/console", O_RDWR);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        dup2(console, fd);
    setenv("PATH", "/bin", 1);
    setenv("HOME", "/tmp", 1);
    FILE *commands = fopen("/commands", "r");
    while (commands && fgets(line, sizeof(line), commands)) {
        line[strcspn(line, "\n")] = '\0';
        strcpy(copy, line);
        printf("kernel: %d: %s\n", run(copy), line);
        fflush(stdout);
    }
    sync();
    reboot(RB_POWER_OFF);
    return 1;
}
