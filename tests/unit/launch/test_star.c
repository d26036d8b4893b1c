/* SPDX-License-Identifier: Apache-2.0 */
/* The star: rounds, aborts, losses, strangers at the door, old files, and ranks that never come.
 * Ranks other than 0 are forked processes, which tell by their exit status what they saw. */
#include "../test.h"
#include "launch/star.h"
#include "launch/star_auth.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int folder;
static char folder_name[] = "/tmp/retally-star.XXXXXX";

static int open_star(struct star **s, int rank, int size, double wait, struct error *err)
{
	char host[16];

	snprintf(host, sizeof(host), "node%d", rank / 2);
	return star_open(s,
			 &(struct star_request){
				 .rank = rank,
				 .size = size,
				 .folder = folder,
				 .job = "job 1",
				 .host = host,
				 /* All addresses are bound, since "node1" is another host. */
				 .one_host = false,
				 .wait_seconds = wait,
			 },
			 err);
}

/* The next piece of news, within 20 s. */
static enum star_event next(struct star *s, struct star_news *news)
{
	for (int i = 0; i < 200; i++) {
		struct pollfd p = {.fd = star_fd(s), .events = POLLIN};
		enum star_event e = star_pump(s, news);

		if (e != STAR_NOTHING)
			return e;
		poll(&p, 1, 100);
	}
	return STAR_NOTHING;
}

static pid_t start_rank(int rank, int size, int (*body)(struct star *s, int rank))
{
	pid_t pid = fork();

	if (!pid) {
		struct star *s;
		struct error err = {0};

		alarm(60);
		if (open_star(&s, rank, size, 20, &err)) {
			fprintf(stderr, "# rank %d: %s\n", rank, err.message);
			_exit(90);
		}
		_exit(body(s, rank));
	}
	return pid;
}

static int status_of(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Rank r gives r * 70000 bytes of 'a' + r. */
static int big_round(struct star *s, int rank, enum star_kind kind)
{
	size_t n = (size_t)rank * 70000, at = 0, got;
	char *bytes = malloc(n + 1);
	const unsigned char *part;
	struct star_news news;
	int seen = 0;

	memset(bytes, 'a' + rank, n);
	if (star_send(s, kind, bytes, n, NULL))
		return 1;
	free(bytes);
	/* One at a time of a kind. */
	if (star_send(s, kind, "", 0, NULL) != RC_INVALID)
		return 2;
	if (next(s, &news) != STAR_ROUND || news.kind != kind)
		return 3;
	while (star_part(&news, &at, &part, &got)) {
		if (got != (size_t)seen * 70000)
			return 4;
		for (size_t i = 0; i < got; i++)
			if (part[i] != 'a' + seen)
				return 5;
		seen++;
	}
	return seen == star_size(s) && at == news.size ? 0 : 6;
}

static int rounds_body(struct star *s, int rank)
{
	int rc = 0;

	for (int i = 0; i < 20 && !rc; i++)
		rc = big_round(s, rank, i % 2 ? STAR_PMI : STAR_DECIDE);
	if (!rc && (strcmp(star_host(s, 0), "node0") || strcmp(star_host(s, 3), "node1") ||
		    star_host(s, 99)[0]))
		rc = 7;
	star_close(s);
	return rc;
}

static void test_rounds(void **state)
{
	struct star *s;
	pid_t pids[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		pids[i] = start_rank(i + 1, 4, rounds_body);
	assert_int_equal(open_star(&s, 0, 4, 20, NULL), 0);
	assert_int_equal(rounds_body(s, 0), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(status_of(pids[i]), 0);
}

static int once_body(struct star *s, int rank)
{
	int rc = big_round(s, rank, STAR_DECIDE);

	star_close(s);
	return rc;
}

/* Rank 1 leaves after it was welcomed, while rank 2 is not there, and comes again. */
static void test_one_comes_again(void **state)
{
	pid_t pids[3] = {start_rank(0, 3, once_body)};
	struct star *s;

	(void)state;
	assert_int_equal(open_star(&s, 1, 3, 1, NULL), RC_NOT_FOUND);
	for (int i = 1; i < 3; i++)
		pids[i] = start_rank(i, 3, once_body);
	for (int i = 0; i < 3; i++)
		assert_int_equal(status_of(pids[i]), 0);
}

static void test_one(void **state)
{
	struct star *s;

	(void)state;
	assert_int_equal(open_star(&s, 0, 1, 1, NULL), 0);
	assert_int_equal(big_round(s, 0, STAR_PMIX), 0);
	star_close(s);
}

static int abort_body(struct star *s, int rank)
{
	struct star_news news;

	if (rank == 2) {
		star_abort(s, 7, "MPI_Abort");
		star_close(s);
		return 0;
	}
	star_send(s, STAR_DECIDE, "", 0, NULL);
	return next(s, &news) == STAR_ABORTED && news.rank == 2 && news.status == 7 &&
			       !strcmp(news.text, "MPI_Abort")
		       ? 0
		       : 1;
}

static void test_abort(void **state)
{
	struct star *s;
	pid_t pids[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		pids[i] = start_rank(i + 1, 3, abort_body);
	assert_int_equal(open_star(&s, 0, 3, 20, NULL), 0);
	assert_int_equal(abort_body(s, 0), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(status_of(pids[i]), 0);
	star_close(s);
}

static int killed_body(struct star *s, int rank)
{
	struct star_news news;

	if (rank == 1)
		raise(SIGKILL);
	return next(s, &news) == STAR_LOST && news.rank == 1 ? 0 : 1;
}

static void test_loss(void **state)
{
	struct star *s;
	struct star_news news;
	pid_t pids[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		pids[i] = start_rank(i + 1, 3, killed_body);
	assert_int_equal(open_star(&s, 0, 3, 20, NULL), 0);
	assert_int_equal(next(s, &news), STAR_LOST);
	assert_int_equal(news.rank, 1);
	assert_int_equal(status_of(pids[0]), 1000 + SIGKILL);
	assert_int_equal(status_of(pids[1]), 0);
	star_close(s);
}

static int hub_gone_body(struct star *s, int rank)
{
	struct star_news news;

	(void)rank;
	if (next(s, &news) != STAR_LOST || news.rank)
		return 1;
	return star_send(s, STAR_DECIDE, "", 0, NULL) == RC_END ? 0 : 2;
}

/* Rank 0 is killed: the others notice. */
static void test_hub_lost(void **state)
{
	pid_t hub = fork(), spoke;

	(void)state;
	if (!hub) {
		struct star *s;

		alarm(60);
		if (!open_star(&s, 0, 2, 20, NULL))
			raise(SIGKILL);
		_exit(1);
	}
	spoke = start_rank(1, 2, hub_gone_body);
	assert_int_equal(status_of(hub), 1000 + SIGKILL);
	assert_int_equal(status_of(spoke), 0);
}

static int bye_body(struct star *s, int rank)
{
	int rc = big_round(s, rank, STAR_DECIDE);

	star_close(s);
	return rc;
}

/* Who says good-bye is no loss: nothing is heard of it. */
static void test_bye(void **state)
{
	struct star *s;
	struct star_news news;
	struct pollfd p;
	pid_t pid;

	(void)state;
	pid = start_rank(1, 2, bye_body);
	assert_int_equal(open_star(&s, 0, 2, 20, NULL), 0);
	assert_int_equal(big_round(s, 0, STAR_DECIDE), 0);
	assert_int_equal(status_of(pid), 0);
	p = (struct pollfd){.fd = star_fd(s), .events = POLLIN};
	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_int_equal(star_pump(s, &news), STAR_NOTHING);
	star_close(s);
}

static void test_nobody_comes(void **state)
{
	struct star *s;
	struct error err = {0};
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		alarm(60);
		_exit(open_star(&s, 1, 3, 0.3, NULL) == RC_NOT_FOUND ? 0 : 1);
	}
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(open_star(&s, 0, 3, 0.3, &err), RC_NOT_FOUND);
	assert_null(s);
	assert_non_null(strstr(err.message, "rank 1 and others"));
}

static bool give_up_now(void *context)
{
	(void)context;
	return true;
}

static void test_given_up(void **state)
{
	struct star *s;
	struct star_request q = {.rank = 1,
				 .size = 2,
				 .folder = folder,
				 .job = "x",
				 .host = "h",
				 .wait_seconds = 60,
				 .give_up = give_up_now};

	(void)state;
	assert_int_equal(star_open(&s, &q, NULL), RC_END);
	q.rank = 0;
	assert_int_equal(star_open(&s, &q, NULL), RC_END);
	q.rank = 2;
	assert_int_equal(star_open(&s, &q, NULL), RC_INVALID);
	q.rank = 1;
	q.job = "";
	assert_int_equal(star_open(&s, &q, NULL), RC_INVALID);
}

/* Name of the meeting file once it is there, and its port. */
static int meeting_port(char *name, size_t size)
{
	for (int i = 0; i < 1000; i++) {
		DIR *d = opendir(folder_name);
		struct dirent *e;
		int port = 0;

		while (d && (e = readdir(d))) {
			char text[4096] = "", *at;
			int fd;

			if (strncmp(e->d_name, ".star-", 6) || strchr(e->d_name + 1, '.'))
				continue;
			snprintf(name, size, "%.60s", e->d_name);
			fd = openat(folder, name, O_RDONLY);
			if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 &&
			    (at = strstr(text, "127.0.0.1 ")))
				port = atoi(at + 10);
			close(fd);
		}
		if (d)
			closedir(d);
		if (port)
			return port;
		usleep(10000);
	}
	return 0;
}

/* Strangers: one that says nothing and leaves, one that sends noise, one with a wrong answer of the
 * right size. Then the rank we wait for. */
static void test_strangers(void **state)
{
	pid_t strangers, rank;
	struct star *s;
	struct stat st;
	int gone[2]; /* its end: the strangers have left */

	(void)state;
	assert_int_equal(pipe2(gone, O_CLOEXEC), 0);
	strangers = fork();
	if (!strangers) {
		struct sockaddr_in a = {.sin_family = AF_INET};
		char name[64], noise[96];
		struct sockaddr generic;

		alarm(60);
		a.sin_port = htons((uint16_t)meeting_port(name, sizeof(name)));
		a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		memcpy(&generic, &a, sizeof(generic));
		if (fstatat(folder, name, &st, 0) || (st.st_mode & 0777) != 0600)
			_exit(1);
		memset(noise, 1, sizeof(noise));
		for (int i = 0; i < 3; i++) {
			char answer[128];
			ssize_t n = 1;
			int fd = socket(AF_INET, SOCK_STREAM, 0);

			if (connect(fd, &generic, sizeof(generic)))
				_exit(2);
			if (i && send(fd, noise, i == 1 ? 10 : sizeof(noise), MSG_NOSIGNAL) < 0)
				_exit(3);
			if (i < 2)
				shutdown(fd, SHUT_WR);
			/* The challenge, then the end: never a welcome. */
			for (int total = 0; n > 0; total += (int)n) {
				n = recv(fd, answer, sizeof(answer), 0);
				if (total + n > 24)
					_exit(4);
			}
			close(fd);
		}
		_exit(0);
	}
	rank = fork();
	if (!rank) {
		char byte;

		alarm(60);
		close(gone[1]);
		if (read(gone[0], &byte, 1))
			_exit(2);
		_exit(open_star(&s, 1, 2, 20, NULL) ? 1 : bye_body(s, 1));
	}
	close(gone[0]);
	close(gone[1]);
	assert_int_equal(open_star(&s, 0, 2, 20, NULL), 0);
	assert_int_equal(big_round(s, 0, STAR_DECIDE), 0);
	star_close(s);
	assert_int_equal(status_of(rank), 0);
	assert_int_equal(status_of(strangers), 0);
}

/* A file that a killed rank 0 left behind is replaced; a damaged one too; none stays. */
static void test_old_files(void **state)
{
	static const char *const texts[] = {"",
					    ("retally star 1\nhost node0\nkey "
					     "00112233445566778899aabbccddeeff\nat 127.0.0.1 1\n"),
					    "retally star 1\nhost x\nkey 0011\nat nowhere 99999\n"};
	char name[64];

	(void)state;
	for (int i = 0; i < 3; i++) {
		pid_t hub = fork(), spoke;
		struct star *s;
		int fd;

		if (!hub) {
			alarm(60);
			if (!open_star(&s, 0, 2, 20, NULL))
				_exit(bye_body(s, 0));
			_exit(1);
		}
		if (!i)
			assert_true(meeting_port(name, sizeof(name)) > 0);
		spoke = start_rank(1, 2, bye_body);
		assert_int_equal(status_of(hub), 0);
		assert_int_equal(status_of(spoke), 0);
		assert_int_equal(faccessat(folder, name, F_OK, 0), -1);
		if (i == 2)
			break;
		fd = openat(folder, name, O_WRONLY | O_CREAT, 0600);
		assert_true(write(fd, texts[i + 1], strlen(texts[i + 1])) > 0);
		close(fd);
	}
}

/* Vectors of the SipHash paper's appendix and reference implementation. */
static void test_tag(void **state)
{
	unsigned char key[16], text[15];

	(void)state;
	for (unsigned char i = 0; i < 16; i++)
		key[i] = i;
	for (unsigned char i = 0; i < 15; i++)
		text[i] = i;
	assert_true(star_auth_tag(key, text, 0) == 0x726fdb47dd0e0e31u);
	assert_true(star_auth_tag(key, text, 15) == 0xa129ca6149be45e5u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_comes_again),
		cmocka_unit_test(test_tag),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_hub_lost),
		cmocka_unit_test(test_bye),
		cmocka_unit_test(test_nobody_comes),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_old_files),
	};
	int failed;

	if (!mkdtemp(folder_name))
		return 99;
	folder = open(folder_name, O_RDONLY | O_DIRECTORY);
	alarm(120);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder_name);
	return failed;
}
