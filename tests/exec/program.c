/*
 * The program that tests/exec.rs has measured: `program DEED ARGUMENT...`.
 *
 * Deeds that "hold" a FIFO keep it open for writing as long as they live, in each of their
 * processes, so that a reader of the FIFO comes to its end when the last of them has died. They end
 * by themselves after a minute, leaving a word in the FIFO, lest a failing test hang.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int fifo;

static void survived(int signal) {
    (void)signal;
    (void)!write(fifo, "survived", 8);
    _exit(0);
}

/* Says into the FIFO who the launcher is, which also shows that the program got this far. */
static void hold(const char *path) {
    fifo = open(path, O_WRONLY);
    dprintf(fifo, "%d\n", getppid());
    signal(SIGALRM, survived);
    alarm(60);
}

static pid_t split(void) {
    pid_t child = fork();
    if (child == 0)
        alarm(60); /* is not inherited */
    return child;
}

static void wait_forever(void) {
    for (;;)
        pause();
}

/* Writes everything a program can find out about what it was given. */
static void describe(int argc, char **argv) {
    char text[4096];
    for (int i = 1; i < argc; i++)
        printf("argument [%s]\n", argv[i]);
    for (char **variable = environ; *variable; variable++)
        printf("variable [%s]\n", *variable);
    printf("directory %s\n", getcwd(text, sizeof text));
    for (int fd = 0; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) != -1)
            printf("descriptor %d\n", fd);
    printf("leads its group %d\n", getpgrp() == getpid());
    printf("is in the launcher's session %d\n", getsid(0) == getppid());
    printf("has a terminal %d\n", open("/dev/tty", O_RDWR) != -1);
    int death_signal = 0;
    prctl(PR_GET_PDEATHSIG, &death_signal);
    printf("dies with its parent by %d\n", death_signal);
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    printf("may write %lu\n", (unsigned long)limit.rlim_max);
    getrlimit(RLIMIT_CORE, &limit);
    printf("may dump %lu\n", (unsigned long)limit.rlim_max);
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(text, sizeof text, status))
        if (!strncmp(text, "SigBlk", 6) || !strncmp(text, "SigIgn", 6) || !strncmp(text, "SigCgt", 6))
            printf("%s", text);
}

static void touch(size_t bytes) {
    volatile char *memory = malloc(bytes);
    for (size_t i = 0; i < bytes; i += 1024)
        memory[i] = 1;
}

static void spin(long microseconds) {
    struct rusage usage;
    do
        getrusage(RUSAGE_SELF, &usage);
    while (usage.ru_utime.tv_sec * 1000000L + usage.ru_utime.tv_usec +
               usage.ru_stime.tv_sec * 1000000L + usage.ru_stime.tv_usec < microseconds);
}

/* Writes a sequence that no two 64 KiB blocks share. */
static void write_much(size_t bytes) {
    static unsigned block[16384];
    for (unsigned count = 0; bytes > 0; count++) {
        for (unsigned i = 0; i < 16384; i++)
            block[i] = count * 16384 + i;
        size_t length = bytes < sizeof block ? bytes : sizeof block;
        ssize_t written = write(1, block, length);
        if (written <= 0)
            _exit(9);
        bytes -= written;
    }
}

static void copy_input(void) {
    static char buffer[65536];
    ssize_t length;
    while ((length = read(0, buffer, sizeof buffer)) > 0)
        if (write(1, buffer, length) != length)
            _exit(9);
}

static void leave_daemon(const char *path) {
    int ready[2];
    char byte;
    hold(path);
    if (pipe(ready) != 0)
        _exit(9);
    if (split() == 0) {
        setsid();
        if (split() != 0)
            _exit(0);
        split();
        (void)!write(ready[1], "", 1);
        wait_forever();
    }
    for (int i = 0; i < 2; i++)
        (void)!read(ready[0], &byte, 1);
}

int main(int argc, char **argv) {
    const char *deed = argc > 1 ? argv[1] : "nothing";
    const char *argument = argc > 2 ? argv[2] : "0";
    if (!strcmp(deed, "exit"))
        return atoi(argument);
    if (!strcmp(deed, "raise"))
        raise(atoi(argument));
    if (!strcmp(deed, "describe"))
        describe(argc, argv);
    if (!strcmp(deed, "touch"))
        touch(atol(argument));
    if (!strcmp(deed, "spin"))
        spin(atol(argument));
    if (!strcmp(deed, "write"))
        write_much(atol(argument));
    if (!strcmp(deed, "complain"))
        for (long i = 0; i < atol(argument); i++)
            fputs("oh\xff" "no\n", stderr);
    if (!strcmp(deed, "copy"))
        copy_input();
    if (!strcmp(deed, "hold")) { /* two processes, for ever */
        hold(argument);
        split();
        wait_forever();
    }
    if (!strcmp(deed, "leave")) { /* a child in the group behind */
        hold(argument);
        if (split() == 0)
            wait_forever();
    }
    if (!strcmp(deed, "daemon")) /* two processes in a session of their own behind */
        leave_daemon(argument);
    if (!strcmp(deed, "betray")) { /* the launcher */
        hold(argument);
        kill(getppid(), SIGKILL);
        wait_forever();
    }
    return 0;
}
