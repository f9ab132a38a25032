// The least possible client: one thread that waits (epoll), reads, looks for line ends and reads the clock once per read. It keeps
// STREAMS requests in flight against 127.0.0.1:PORT, as the native client does in a closed loop, and prints the processor time of
// SECONDS, SETTLE seconds after every stream has had an event. What it cannot do: say what it read.
//
//   cc -O2 -o floor floor.c && ./floor PORT STREAMS TOKENS SETTLE SECONDS
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct stream {
	int fd;
	long long bytes; // of the present answer
	char tail[5];    // its last bytes
};

static long long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long cpu(void) {
	struct rusage r;
	getrusage(RUSAGE_SELF, &r);
	return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000LL + (r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000LL;
}

static void fail(const char *what) {
	perror(what);
	exit(1);
}

static int tokens, streams, issued;

// ask sends the next request; reply lengths are those of the native client's prompts.
static void ask(struct stream *s) {
	char body[512], message[1024];
	int least = issued < streams ? 2 : tokens / 2, most = tokens + tokens / 2;
	int length = least + (int)((long long)issued * 7919 % (most - least + 1));
	issued++;
	int n = snprintf(body, sizeof body,
		"{\"model\":\"paced\",\"messages\":[{\"role\":\"user\",\"content\":\"%d word word word word word word word word word word word word word word word word\"}],"
		"\"max_tokens\":%d,\"stream\":true,\"stream_options\":{\"include_usage\":true}}", issued, length);
	n = snprintf(message, sizeof message,
		"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", n, body);
	if (write(s->fd, message, n) != n)
		fail("write");
	s->bytes = 0;
}

static void open_stream(struct stream *s, int port, int epoll) {
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int one = 1;
	if ((s->fd = socket(AF_INET, SOCK_STREAM, 0)) < 0)
		fail("socket");
	setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (connect(s->fd, (void *)&a, sizeof a))
		fail("connect");
	ask(s);
	fcntl(s->fd, F_SETFL, O_NONBLOCK);
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, s->fd, &e))
		fail("epoll_ctl");
}

// ended keeps the last bytes of an answer and says whether they are the end of its body.
static int ended(struct stream *s, const char *b, int n) {
	if (n >= 5) {
		memcpy(s->tail, b + n - 5, 5);
	} else {
		memmove(s->tail, s->tail + n, 5 - n);
		memcpy(s->tail + 5 - n, b, n);
	}
	return !memcmp(s->tail, "0\r\n\r\n", 5);
}

int main(int argc, char **argv) {
	static char buffer[1 << 16];
	static struct epoll_event ready[4096];
	if (argc != 6)
		return fprintf(stderr, "usage: floor PORT STREAMS TOKENS SETTLE SECONDS\n"), 2;
	int port = atoi(argv[1]), started = 0, begun = 0;
	streams = atoi(argv[2]), tokens = atoi(argv[3]);
	struct stream *all = calloc(streams, sizeof *all);
	int epoll = epoll_create1(0);
	long long settle = (long long)(atof(argv[4]) * 1e9), length = (long long)(atof(argv[5]) * 1e9), begin = 0, from = 0, to = 0, cpu0 = 0, lines = 0, reads = 0;
	char *seen = calloc(streams, 1);
	for (;;) {
		for (int i = 0; i < 64 && started < streams; i++)
			open_stream(&all[started++], port, epoll);
		int n = epoll_wait(epoll, ready, 4096, started < streams ? 0 : 1000);
		for (int i = 0; i < n; i++) {
			struct stream *s = ready[i].data.ptr;
			int r = read(s->fd, buffer, sizeof buffer);
			if (r < 0 && errno == EAGAIN)
				continue;
			if (r <= 0)
				fail("read");
			reads++;
			s->bytes += r;
			volatile long long at = now();
			(void)at;
			for (char *p = buffer, *e = buffer + r; (p = memchr(p, '\n', e - p)); p++)
				lines++;
			if (!seen[s - all] && s->bytes > 600) { // head, role and a token
				seen[s - all] = 1;
				begun++;
			}
			if (ended(s, buffer, r))
				ask(s);
		}
		if (!begin && begun == streams)
			begin = now() + settle;
		if (!from && begin && now() >= begin)
			cpu0 = cpu(), from = now();
		if (from && (to = now()) >= from + length)
			break;
	}
	printf("{\"from_ns\":%lld,\"to_ns\":%lld,\"cpu_ns\":%lld,\"reads\":%lld,\"lines\":%lld}\n", from, to, cpu() - cpu0, reads, lines);
	return 0;
}
