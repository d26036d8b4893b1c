/* SPDX-License-Identifier: Apache-2.0 */
/* PMI: framing with every kind of damage, the relay between a played launcher and played programs
 * of several passes, the server's answers. */
#include "../test.h"
#include "launch/pmi_relay.h"
#include "launch/pmi_server.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- helpers ---- */

static void say(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* What is there to read. */
static const char *hear(int fd)
{
	static char text[8192];
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void make_pair(int *ours, int *theirs)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	*ours = ends[0];
	*theirs = ends[1];
}

/* ---- framing ---- */

static void test_framing(void **state)
{
	struct pmi_link l;
	struct error err = {0};
	const char *m;
	int other, fd;

	(void)state;
	make_pair(&fd, &other);
	pmi_link_init(&l, fd);
	say(other, "cmd=init pmi_ver");
	assert_true(pmi_link_read(&l));
	assert_int_equal(pmi_link_take(&l, &m, &err), 0);
	say(other, "sion=2\ncmd=b\n\n    17cmd=fullinit;a=b;");
	assert_true(pmi_link_read(&l));
	assert_int_equal(pmi_link_take(&l, &m, &err), 1);
	assert_string_equal(m, "cmd=init pmi_version=2");
	assert_int_equal(pmi_link_take(&l, &m, &err), 1);
	assert_string_equal(m, "cmd=b");
	assert_int_equal(pmi_link_take(&l, &m, &err), 1);
	assert_string_equal(m, "");
	l.v2 = true;
	assert_int_equal(pmi_link_take(&l, &m, &err), 1);
	assert_string_equal(m, "cmd=fullinit;a=b;");
	assert_int_equal(pmi_link_take(&l, &m, &err), 0);
	assert_int_equal(pmi_link_put(&l, "cmd=x;", &err), 0);
	assert_string_equal(hear(other), "     6cmd=x;");
	l.v2 = false;
	assert_int_equal(pmi_link_put(&l, "cmd=x", &err), 0);
	assert_string_equal(hear(other), "cmd=x\n");
	say(other, "cmd=last\n");
	close(other);
	assert_false(pmi_link_read(&l));
	assert_int_equal(l.fd, -1);
	/* What came before the end is not lost. */
	assert_int_equal(pmi_link_take(&l, &m, &err), 1);
	assert_string_equal(m, "cmd=last");
	assert_int_equal(pmi_link_put(&l, "cmd=x", &err), 0);
	pmi_link_release(&l);
}

static void test_damage(void **state)
{
	static const struct {
		bool v2;
		const char *text;
		size_t size;
	} bad[] = {
		{true, "abcdef", 6},     {true, "12 456", 6},
		{true, "999999", 6},     {true, "    -1", 6},
		{true, "     3a\0b", 9}, {false, "cmd=\0x\n", 7},
		{true, "0x0010", 6},     {true, "\xff\xff\xff\xff\xff\xff", 6},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error err = {0};
		struct pmi_link l;
		const char *m;
		int fd, other;

		make_pair(&fd, &other);
		pmi_link_init(&l, fd);
		l.v2 = bad[i].v2;
		assert_int_equal(write(other, bad[i].text, bad[i].size), (ssize_t)bad[i].size);
		assert_true(pmi_link_read(&l));
		assert_int_equal(pmi_link_take(&l, &m, &err), RC_INVALID);
		assert_memory_equal(err.message, "PMI", 3);
		pmi_link_release(&l);
		close(other);
	}
}

/* A line without an end is refused before it fills the memory. */
static void test_endless(void **state)
{
	struct error err = {0};
	char chunk[4096];
	struct pmi_link l;
	const char *m;
	int fd, other, rc = 0;

	(void)state;
	memset(chunk, 'x', sizeof(chunk));
	make_pair(&fd, &other);
	pmi_link_init(&l, fd);
	for (int i = 0; i < 100 && !rc; i++) {
		(void)send(other, chunk, sizeof(chunk), MSG_DONTWAIT);
		assert_true(pmi_link_read(&l));
		rc = pmi_link_take(&l, &m, &err);
	}
	assert_int_equal(rc, RC_INVALID);
	assert_true(l.in_capacity <= 4 * PMI_MESSAGE_MAX);
	pmi_link_release(&l);
	close(other);
}

/* Random bytes in both framings: an answer or a refusal, never anything else. */
static void test_noise(void **state)
{
	uint64_t x = 7;

	(void)state;
	for (int run = 0; run < 3000; run++) {
		static const char alphabet[] = "cmd=init;key pmi_12 3456\n0 =;value\0endcmd\nm";
		char text[64], buffer[16], *copy;
		struct pmi_link l;
		const char *m;
		int fd, other;

		for (size_t i = 0; i < sizeof(text); i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			text[i] = alphabet[(x >> 33) % sizeof(alphabet)];
		}
		make_pair(&fd, &other);
		pmi_link_init(&l, fd);
		l.v2 = run % 2;
		assert_int_equal(write(other, text, sizeof(text)), (ssize_t)sizeof(text));
		assert_true(pmi_link_read(&l));
		while (pmi_link_take(&l, &m, NULL) > 0) {
			assert_true(strlen(m) < sizeof(text));
			pmi_get(m, l.v2, "key", buffer, sizeof(buffer));
			copy = pmi_with_prefix(m, l.v2, "p1.");
			assert_true(strlen(copy) == strlen(m) || strlen(copy) == strlen(m) + 3);
			free(copy);
		}
		pmi_link_release(&l);
		close(other);
	}
}

static void prefixed(const char *message, bool v2, const char *wanted)
{
	char *copy = pmi_with_prefix(message, v2, "p3.");

	assert_string_equal(copy, wanted);
	free(copy);
}

static void test_words(void **state)
{
	char b[8];

	(void)state;
	assert_true(pmi_is("cmd=get", "get"));
	assert_true(pmi_is("cmd=get kvsname=a", "get"));
	assert_true(pmi_is("cmd=finalize;", "finalize"));
	assert_false(pmi_is("cmd=get_maxes", "get"));
	assert_false(pmi_is("xcmd=get", "get"));
	assert_true(pmi_get("cmd=a  rank=3 b=4", false, "rank", b, sizeof(b)));
	assert_string_equal(b, "3");
	assert_true(pmi_get("cmd=a;v=x;;y;w=1;", true, "v", b, sizeof(b)));
	assert_string_equal(b, "x;y");
	assert_false(pmi_get("cmd=a prank=3", false, "rank", b, sizeof(b)));
	assert_false(pmi_get("cmd=a rank=12345678", false, "rank", b, sizeof(b)));
	prefixed("cmd=put kvsname=k key=P0-card value=key=1", false,
		 "cmd=put kvsname=k key=p3.P0-card value=key=1");
	prefixed("cmd=get kvsname=k key=PMI_process_mapping", false,
		 "cmd=get kvsname=k key=PMI_process_mapping");
	prefixed("cmd=kvs-get;key=a;", true, "cmd=kvs-get;key=p3.a;");
	prefixed("cmd=info-getjobattr;key=universeSize;", true,
		 "cmd=info-getjobattr;key=universeSize;");
	prefixed("cmd=info-getnodeattr;key=localRanksX;", true,
		 "cmd=info-getnodeattr;key=p3.localRanksX;");
	prefixed("cmd=barrier_in", false, "cmd=barrier_in");
}

/* ---- relay ---- */

struct play {
	struct pmi_relay relay;
	int launcher, program;
};

static void play_open(struct play *p)
{
	char number[16];
	int fd;

	make_pair(&fd, &p->launcher);
	snprintf(number, sizeof(number), "%d", fd);
	assert_int_equal(pmi_relay_open(&p->relay, number, NULL, NULL, NULL), 0);
	/* The program must not inherit it. */
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void play_begin(struct play *p, unsigned index, bool last)
{
	int fd;

	make_pair(&fd, &p->program);
	pmi_relay_begin(&p->relay, fd, index, last);
}

/* One side says something; what the other then hears. "" when it hears nothing. */
static const char *from_program(struct play *p, const char *text)
{
	say(p->program, text);
	assert_int_equal(pmi_relay_pump(&p->relay, NULL), 0);
	return hear(p->launcher);
}

static const char *from_launcher(struct play *p, const char *text)
{
	say(p->launcher, text);
	assert_int_equal(pmi_relay_pump(&p->relay, NULL), 0);
	return hear(p->program);
}

static bool play_end(struct play *p, bool well)
{
	close(p->program);
	return pmi_relay_end(&p->relay, well);
}

#define INIT  "cmd=init pmi_version=1 pmi_subversion=1\n"
#define REPLY "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"

static void test_relay(void **state)
{
	struct play p;

	(void)state;
	play_open(&p);
	for (unsigned pass = 0; pass < 3; pass++) {
		play_begin(&p, pass, pass == 2);
		if (!pass) {
			assert_string_equal(from_program(&p, INIT), INIT);
			assert_string_equal(from_launcher(&p, REPLY), REPLY);
			assert_string_equal(from_program(&p, "cmd=put kvsname=k key=a value=b\n"),
					    "cmd=put kvsname=k key=a value=b\n");
		} else {
			/* From memory: the launcher hears nothing. */
			assert_string_equal(from_program(&p, INIT), "");
			assert_string_equal(hear(p.program), REPLY);
			assert_string_equal(from_program(&p, "cmd=put kvsname=k key=a value=b\n"),
					    pass == 1 ? "cmd=put kvsname=k key=p1.a value=b\n"
						      : "cmd=put kvsname=k key=p2.a value=b\n");
		}
		assert_string_equal(from_launcher(&p, "cmd=put_result rc=0 msg=success\n"),
				    "cmd=put_result rc=0 msg=success\n");
		assert_string_equal(
			from_launcher(&p,
				      "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"),
			"cmd=maxes kvsname_max=256 keylen_max=58 vallen_max=1024\n");
		assert_string_equal(from_program(&p, "cmd=barrier_in\n"), "cmd=barrier_in\n");
		if (pass < 2) {
			assert_string_equal(from_program(&p, "cmd=finalize\n"), "");
			assert_string_equal(hear(p.program), "cmd=finalize_ack\n");
		} else {
			assert_string_equal(from_program(&p, "cmd=finalize\n"), "cmd=finalize\n");
		}
		assert_true(play_end(&p, true));
	}
	/* It finalized itself: nothing more is said. */
	pmi_relay_finish(&p.relay);
	assert_string_equal(hear(p.launcher), "");
	pmi_relay_release(&p.relay);
	close(p.launcher);
}

static void test_relay_v2(void **state)
{
	static const char *const reply =
		"cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n";
	struct play p;

	(void)state;
	play_open(&p);
	play_begin(&p, 0, false);
	assert_string_equal(from_program(&p, "cmd=init pmi_version=2 pmi_subversion=0\n"),
			    "cmd=init pmi_version=2 pmi_subversion=0\n");
	assert_string_equal(from_launcher(&p, reply), reply);
	assert_string_equal(from_program(&p, "    24cmd=fullinit;pmirank=0;x"),
			    "    24cmd=fullinit;pmirank=0;x");
	assert_string_equal(from_launcher(&p, "    27cmd=fullinit-response;rc=0;"),
			    "    27cmd=fullinit-response;rc=0;");
	assert_string_equal(from_program(&p, "    13cmd=finalize;"), "");
	assert_string_equal(hear(p.program), "    27cmd=finalize-response;rc=0;");
	assert_true(play_end(&p, true));
	play_begin(&p, 1, true);
	assert_string_equal(from_program(&p, "cmd=init pmi_version=2 pmi_subversion=0\n"), "");
	assert_string_equal(hear(p.program), reply);
	assert_string_equal(from_program(&p, "    24cmd=fullinit;pmirank=0;x"), "");
	assert_string_equal(hear(p.program), "    27cmd=fullinit-response;rc=0;");
	assert_string_equal(from_program(&p, "    28cmd=kvs-put;key=a;value=1;;;"),
			    "    31cmd=kvs-put;key=p1.a;value=1;;;");
	assert_true(play_end(&p, true));
	/* It never finalized: the relay does, and waits for the answer. */
	say(p.launcher, "    20cmd=kvs-put-response    27cmd=finalize-response;rc=0;");
	pmi_relay_finish(&p.relay);
	assert_string_equal(hear(p.launcher), "    13cmd=finalize;");
	pmi_relay_release(&p.relay);
	close(p.launcher);
}

static void test_relay_ends(void **state)
{
	struct play p;

	(void)state;
	play_open(&p);
	/* A program without MPI: nothing was said, nothing will be. */
	play_begin(&p, 0, false);
	assert_true(play_end(&p, false));
	pmi_relay_finish(&p.relay);
	assert_string_equal(hear(p.launcher), "");
	/* One that began and crashed: the launcher must see it. */
	play_begin(&p, 1, false);
	from_program(&p, INIT);
	from_launcher(&p, REPLY);
	assert_false(play_end(&p, false));
	/* One that aborts just before it ends. */
	play_begin(&p, 2, false);
	from_program(&p, INIT);
	say(p.program, "cmd=abort exitcode=7\n");
	assert_false(play_end(&p, true));
	assert_string_equal(hear(p.launcher), "cmd=abort exitcode=7\n");
	/* One that starts others. */
	play_begin(&p, 3, false);
	assert_string_equal(from_program(&p, "mcmd=spawn\nkey=x\nendcmd\ncmd=get key=x\n"),
			    "mcmd=spawn\nkey=x\nendcmd\ncmd=get key=p3.x\n");
	assert_true(p.relay.spawned);
	/* One that speaks nonsense loses its connection; the launcher hears nothing of it. */
	say(p.program, "cmd=\n");
	assert_int_equal(write(p.program, "\0\n", 2), 2);
	assert_int_equal(pmi_relay_pump(&p.relay, NULL), RC_INVALID);
	assert_int_equal(p.relay.down.fd, -1);
	assert_string_equal(hear(p.launcher), "cmd=\n");
	close(p.program);
	pmi_relay_release(&p.relay);
	close(p.launcher);
}

static void test_relay_refuses(void **state)
{
	static const char *const fds[] = {"", "x", "-1", "3x", "99999", "9999999999999", " 3"};
	static const char *const ports[] = {"", "host", ":", "no.such.host.invalid:1"};
	struct pmi_relay r;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
		err = (struct error){0};
		assert_int_equal(pmi_relay_open(&r, fds[i], NULL, NULL, &err), RC_INVALID);
		assert_non_null(strstr(err.message, "PMI_FD"));
	}
	for (size_t i = 0; i < sizeof(ports) / sizeof(*ports); i++) {
		err = (struct error){0};
		assert_true(pmi_relay_open(&r, NULL, ports[i], "0", &err) < 0);
		assert_non_null(strstr(err.message, "PMI_PORT"));
	}
}

/* ---- server ---- */

static const char *ask(struct pmi_server *s, int program, const char *text)
{
	struct star_news news;

	say(program, text);
	assert_int_equal(pmi_server_pump(s, NULL), 0);
	while (star_pump(s->star, &news) == STAR_ROUND)
		assert_int_equal(pmi_server_round(s, &news, NULL), 0);
	return hear(program);
}

static void test_server(void **state)
{
	struct star_request q = {
		.size = 1, .folder = -1, .job = "j", .host = "h", .wait_seconds = 1};
	struct pmi_server s;
	struct star *star;
	int fd, program;

	(void)state;
	assert_int_equal(star_open(&star, &q, NULL), 0);
	assert_int_equal(pmi_server_init(&s, star, NULL), 0);
	for (unsigned pass = 0; pass < 2; pass++) {
		make_pair(&fd, &program);
		pmi_server_begin(&s, fd, pass);
		assert_string_equal(ask(&s, program, INIT), REPLY);
		assert_string_equal(ask(&s, program, "cmd=get_appnum\n"), "cmd=appnum appnum=0\n");
		assert_string_equal(ask(&s, program, "cmd=get_universe_size\n"),
				    "cmd=universe_size size=1\n");
		assert_string_equal(ask(&s, program, "cmd=get kvsname=k key=a\n"),
				    "cmd=get_result rc=-1 msg=key_a_not_found value=unknown\n");
		assert_string_equal(ask(&s, program, "cmd=put kvsname=k key=a value=x=y;z\n"),
				    "cmd=put_result rc=0 msg=success\n");
		/* Seen after the barrier, not before. */
		assert_string_equal(ask(&s, program, "cmd=get kvsname=k key=a\n"),
				    "cmd=get_result rc=-1 msg=key_a_not_found value=unknown\n");
		assert_string_equal(ask(&s, program, "cmd=barrier_in\n"), "cmd=barrier_out\n");
		assert_string_equal(ask(&s, program, "cmd=get kvsname=k key=a\n"),
				    "cmd=get_result rc=0 msg=success value=x=y;z\n");
		assert_string_equal(ask(&s, program, "cmd=get kvsname=k key=PMI_process_mapping\n"),
				    "cmd=get_result rc=0 msg=success value=(vector,(0,1,1))\n");
		assert_string_equal(ask(&s, program, "cmd=put kvsname=k key=\n"),
				    "cmd=put_result rc=-1 msg=bad_key_or_value\n");
		assert_string_equal(ask(&s, program, "cmd=who_knows\n"), "");
		assert_string_equal(ask(&s, program, "cmd=finalize\n"), "cmd=finalize_ack\n");
		close(program);
		assert_true(pmi_server_end(&s, false));
	}
	make_pair(&fd, &program);
	pmi_server_begin(&s, fd, 2);
	say(program, INIT "cmd=abort exitcode=7\n");
	close(program);
	assert_false(pmi_server_end(&s, true));
	assert_int_equal(s.abort_status, 7);
	pmi_server_release(&s);
	star_close(star);
}

static const char *letter_host(const void *context, int rank)
{
	static char names[2][2];
	static int turn;
	char *name = names[turn = !turn];

	name[0] = ((const char *)context)[rank];
	return name;
}

static void test_mapping(void **state)
{
	static const char *const cases[][2] = {
		{"a", "(vector,(0,1,1))"},
		{"aaaa", "(vector,(0,1,4))"},
		{"aabb", "(vector,(0,2,2))"},
		{"abab", "(vector,(0,2,1),(0,2,1))"},
		{"aabbb", "(vector,(0,1,2),(1,1,3))"},
		{"aabbccddd", "(vector,(0,3,2),(3,1,3))"},
		{"aabbbb", "(vector,(0,1,2),(1,1,4))"},
		{"abc", "(vector,(0,3,1))"},
		{"abba", "(vector,(0,1,1),(1,1,2),(0,1,1))"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str s = STR_INIT;

		pmi_server_mapping(letter_host, cases[i][0], (int)strlen(cases[i][0]), &s);
		assert_string_equal(str_text(&s), cases[i][1]);
		str_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_framing),       cmocka_unit_test(test_damage),
		cmocka_unit_test(test_endless),       cmocka_unit_test(test_noise),
		cmocka_unit_test(test_words),         cmocka_unit_test(test_relay),
		cmocka_unit_test(test_relay_v2),      cmocka_unit_test(test_relay_ends),
		cmocka_unit_test(test_relay_refuses), cmocka_unit_test(test_server),
		cmocka_unit_test(test_mapping),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
