/* SPDX-License-Identifier: Apache-2.0 */
/* Functions f1 to f10 for mpi_calls.py to call, in a library of their own. */
static volatile long sink;

#define FUNCTION(k)        \
	void f##k(void);   \
	void f##k(void)    \
	{                  \
		sink += k; \
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
