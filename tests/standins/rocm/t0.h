/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stand-ins for AMD's libraries share (README.md): settings from the environment, seeded
 * random numbers, faults on demand and the report of what was done wrong. Each library has its own
 * copy of this; the counters of faults are per library.
 *
 * RETALLY_T0_AGENTS=gfx90a,gfx942   the GPUs (default gfx90a)
 * RETALLY_T0_SEED=N                 of all delays and choices (default 1)
 * RETALLY_T0_KERNEL_US=N            a kernel takes up to N us more (default 0)
 * RETALLY_T0_RECORD_US=N            a record comes up to N us late (default 200)
 * RETALLY_T0_RECORDS=event          records come on the runtime's event thread (default: the SDK's)
 * RETALLY_T0_STRICT=1               what the real SDK forgives is an error (see sdk_*.c)
 * RETALLY_T0_REPORT=FILE            the report is appended there instead of stderr
 * RETALLY_T0_VRAM=BYTES             device memory of each GPU (default 256 MiB)
 * RETALLY_T0_MUTATE=WORD,...        another version of the SDK: sizes minor dimension ids major old
 *                                   replay
 * RETALLY_T0_FAULTS=NAME:N,...      the Nth time NAME fails; NAME:N+ from then on:
 *   exceeds       a counter configuration that fits is refused (38)
 *   record_lost   a record is never delivered
 *   record_late   a record comes RETALLY_T0_LATE_MS (default 3000) later
 *   copy          a copy (hsa_memory_copy, async) fails half-way
 *   alloc         device memory cannot be allocated
 *   signal        a signal cannot be created
 *   unreplayed    the kernel replay of the SDK leaves a dispatch out
 *   hang          a kernel does not end before the process does
 */
#ifndef RETALLY_TESTS_STANDINS_T0_H
#define RETALLY_TESTS_STANDINS_T0_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum t0_fault {
	T0_EXCEEDS,
	T0_RECORD_LOST,
	T0_RECORD_LATE,
	T0_COPY,
	T0_ALLOC,
	T0_SIGNAL,
	T0_HANG,
	T0_UNREPLAYED,
	T0_N_FAULTS
};
enum t0_mutation {
	T0_SIZES = 1 << 0,     /* every struct of the SDK is longer and says so */
	T0_MINOR = 1 << 1,     /* version 1.9.7 */
	T0_DIMENSION = 1 << 2, /* counters have a dimension nobody knows */
	T0_IDS = 1 << 3,       /* counter and record ids are encoded in another way */
	T0_MAJOR = 1 << 4,     /* version 2.0.0 */
	T0_OLD = 1 << 5,       /* version 0.5.0 */
	T0_REPLAY = 1 << 6,    /* version 1.4.1, with kernel replay */
};
#define T0_MAX_AGENTS 8
enum t0_gfx {
	T0_GFX90A,
	T0_GFX942
};
struct t0_config {
	enum t0_gfx gpu[T0_MAX_AGENTS];
	unsigned n_gpus;
	uint64_t seed;
	unsigned kernel_us, record_us, late_ms;
	bool records_on_event_thread, strict;
	unsigned mutate;
	uint64_t vram;
};

/* Read once, by the first call. */
const struct t0_config *t0_config(void);
/* Whether this is the time it fails. Counts the calls. */
bool t0_fails(enum t0_fault fault);
/* 0 <= result < n; n 0: 0. Thread-safe; deterministic for one order of calls. */
uint64_t t0_random(uint64_t n);
void t0_sleep_us(uint64_t us);
uint64_t t0_now(void); /* ns, CLOCK_BOOTTIME like ROCr's system clock */
/* One line "t0: ..." in the report. */
void t0_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Something that a tool or program must not do: a line "t0: MISUSE: ...", counted. */
void t0_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and the end of the process by SIGABRT: what the real library would not survive. */
_Noreturn void t0_abort(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned t0_misuses(void);

#endif
