/* Attempts to reach another process or machine: by the network, sockets, and what processes
 * share. */
#include "attacker.h"

static struct sockaddr_in local(void)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

bool connect_tcp(void)
{
    struct sockaddr_in to = local();
    return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof to) == 0;
}

bool send_udp(void)
{
    struct sockaddr_in to = local();
    return sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (struct sockaddr *)&to, sizeof to) ==
           1;
}

bool bind_tcp(void)
{
    struct sockaddr_in at = local();
    at.sin_port = 0;
    int file = socket(AF_INET, SOCK_STREAM, 0);
    return bind(file, (struct sockaddr *)&at, sizeof at) == 0 && listen(file, 1) == 0;
}

bool socket_inet6(void)
{
    return socket(AF_INET6, SOCK_STREAM, 0) >= 0;
}

bool socket_netlink(void)
{
    return socket(AF_NETLINK, SOCK_RAW, 0) >= 0;
}

bool socket_packet(void)
{
    return socket(AF_PACKET, SOCK_RAW, htons(3)) >= 0;
}

bool socket_raw(void)
{
    return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0;
}

bool socket_vsock(void)
{
    return socket(AF_VSOCK, SOCK_STREAM, 0) >= 0;
}

bool socket_crypto(void)
{
    return socket(AF_ALG, SOCK_SEQPACKET, 0) >= 0;
}

bool socket_pair(void)
{
    int ends[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0;
}

bool connect_unix(void)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    snprintf(to.sun_path, sizeof to.sun_path, "%.80s/socket", outside);
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof to) == 0;
}

bool connect_abstract(void)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int length = snprintf(to.sun_path + 1, sizeof to.sun_path - 1, "mishap-%d", (int)parent);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&to, size) == 0;
}

/* That the system finds fault with a second address comes after the check. */
bool send_elsewhere(void)
{
    struct sockaddr_un path = { .sun_family = AF_UNIX };
    snprintf(path.sun_path, sizeof path.sun_path, "%s/socket", outside);
    return permitted(
        sendto(OWN_SOCKET, "x", 1, MSG_NOSIGNAL, (struct sockaddr *)&path, sizeof path));
}

bool send_file(void)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    char byte = 'x';
    struct iovec data = { &byte, 1 };
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    int file = STDIN_FILENO;
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(&control.head), &file, sizeof file);
    return sendmsg(OWN_SOCKET, &message, 0) == 1;
}

/* -- what processes share -----------------------------------------------------------------------
 */

bool shared_memory(void)
{
    int id = shmget(parent, 0, 0);
    return id >= 0 && shmat(id, NULL, 0) != (void *)-1;
}

bool shared_messages(void)
{
    return msgget(parent, 0) >= 0;
}

bool shared_semaphores(void)
{
    return semget(parent, 0, 0) >= 0;
}

bool posix_queue(void)
{
    char name[40];
    snprintf(name, sizeof name, "/mishap-%d", (int)parent);
    return mq_open(name, O_RDONLY) >= 0;
}
