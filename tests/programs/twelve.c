/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twelve functions, function fK called K * 10 times, and a variable written 30 times: the truth for
 * tests that count over several passes. Prints one line. `twelve N` multiplies every count by N.
 * `twelve pass` by the number of the pass. `twelve 1 STATUS` exits with STATUS.
 * `twelve 1 STATUS PASS FILE` hangs at its end in pass PASS, unless there is a FILE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __clang__
#define KEEP __attribute__((noinline, used, visibility("default")))
#else
#define KEEP __attribute__((noinline, noclone, noipa, used, visibility("default")))
#endif

volatile long watched;
static volatile long sink;

#define FUNCTION(k)           \
	KEEP void f##k(void); \
	KEEP void f##k(void)  \
	{                     \
		sink += k;    \
	}
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)
FUNCTION(6)
FUNCTION(7)
FUNCTION(8)
FUNCTION(9)
FUNCTION(10)
FUNCTION(11)
FUNCTION(12)

int main(int argc, char **argv)
{
	static void (*const functions[])(void) = {f1, f2, f3, f4,  f5,  f6,
						  f7, f8, f9, f10, f11, f12};
	const char *pass = getenv("RETALLY_PASS");
	int times = argc <= 1                      ? 1
		    : strcmp(argv[1], "pass") == 0 ? atoi(pass ? pass : "1")
						   : atoi(argv[1]);

	for (int n = 0; n < times; n++) {
		for (int k = 1; k <= 12; k++)
			for (int i = 0; i < 10 * k; i++)
				functions[k - 1]();
		for (int i = 0; i < 30; i++)
			watched = i;
	}
	printf("twelve %ld\n", sink);
	if (argc > 4 && pass && atoi(pass) == atoi(argv[3]) && access(argv[4], F_OK))
		sleep(300);
	return argc > 2 ? atoi(argv[2]) : 0;
}
