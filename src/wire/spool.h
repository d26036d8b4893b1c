/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool: one append-only file per process and launch, spool/<launch>.<host>.<rank>.<pid>.rts,
 * that holds everything one process measured. A fixed header, then length-prefixed checksummed
 * records.
 *
 * The writer copies into a mapped, allocated window of the file and writes a full window away in
 * one go (a full disk is an error from spool_append, never a signal); a record is published by
 * storing its length last, so that a process killed at any moment loses at most the record it was
 * writing. No allocation, no lock and no system call on the append path except when the window is
 * full (64 KiB) or a record is larger. One writer thread at a time: the caller serialises. libc
 * only; usable in the injected object.
 *
 * The reader treats the file as hostile: it never reads outside, never loops, and says at which
 * offset and why it stopped. All integers are little-endian; a header of the other byte order is
 * refused.
 */
#ifndef RETALLY_WIRE_SPOOL_H
#define RETALLY_WIRE_SPOOL_H

#include "base/error.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_MAGIC      "retally\x1a"
#define SPOOL_VERSION    1
#define SPOOL_BYTE_ORDER 0x01020304u
#define SPOOL_ID_SIZE    33 /* text ids: up to 32 characters and a NUL */
#define SPOOL_HOST_SIZE  64
#define SPOOL_RANK_NONE  (-1)
#define SPOOL_RECORD_MAX (1u << 24) /* bytes of one record's payload */

/* 256 bytes at offset 0; the checksum covers every byte before it. */
struct spool_header {
	char magic[8];
	uint32_t version;
	uint32_t byte_order;
	char collection[SPOOL_ID_SIZE]; /* what may be merged */
	char launch[SPOOL_ID_SIZE];     /* this start of the command */
	char plan_hash[SPOOL_ID_SIZE];
	char host[SPOOL_HOST_SIZE];
	uint8_t pad[5];
	int32_t rank;       /* SPOOL_RANK_NONE: unknown */
	int32_t size;       /* number of ranks, or SPOOL_RANK_NONE */
	int32_t local_rank; /* or SPOOL_RANK_NONE */
	int32_t pid;
	uint64_t start_ns; /* CLOCK_REALTIME */
	uint8_t reserved[40];
	uint64_t checksum;
};
_Static_assert(sizeof(struct spool_header) == 256, "file format");

enum spool_type {
	SPOOL_PASS_BEGIN =
		1,          /* struct spool_pass_begin, then the unit's name (not NUL-terminated) */
	SPOOL_PASS_END = 2, /* struct spool_pass_end */
	SPOOL_KERNEL = 3,   /* struct spool_kernel, then the name (mangled, not NUL-terminated) */
	SPOOL_DISPATCH = 4, /* struct spool_dispatch */
	SPOOL_SAMPLES = 5,  /* struct spool_samples, then n struct spool_sample */
	SPOOL_NOTE = 6,     /* struct spool_note, then the sentence */
	SPOOL_CARRY = 7,    /* struct spool_carry, then n struct spool_sample; not for reports */
	SPOOL_WINDOW = 8,   /* struct spool_window, then why it ended (not NUL-terminated) */
	SPOOL_DECLINE = 9,  /* struct spool_decline, then the reason (not NUL-terminated) */
	SPOOL_LEFT = 10,    /* struct spool_left */
};

/* Sizes are multiples of 8; readers accept a payload that is longer than the struct they know. */
struct spool_pass_begin {
	uint32_t pass;    /* from 1 */
	uint32_t passes;  /* in the plan */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t pid;     /* of the measured process */
	uint32_t attempt; /* n-th time this pass ran in this launch, from 1 (--repeat) */
};
struct spool_pass_end {
	uint32_t pass;
	int32_t exit_code; /* -1 when killed by a signal */
	int32_t signal;    /* 0 when it exited */
	uint32_t flags;    /* enum spool_pass_flag */
	uint64_t time_ns;
	uint64_t wall_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t max_rss_bytes;
};
enum spool_pass_flag {
	SPOOL_PASS_OUTPUT_DIFFERS = 1 << 0, /* stdout or stderr is not that of pass 1 */
	SPOOL_PASS_TIMED_OUT = 1 << 1,
	SPOOL_PASS_INCOMPLETE = 1 << 2, /* counting stopped before the end */
};
struct spool_kernel {
	uint32_t kernel; /* id used by the records that follow; unique in this file */
	uint32_t pad;
};
/* What was measured: a kernel dispatch, a region, or the whole process (kernel 0 then). */
enum spool_unit {
	SPOOL_UNIT_PROCESS = 1,
	SPOOL_UNIT_DISPATCH = 2,
	SPOOL_UNIT_RANGE = 3
};
struct spool_dispatch {
	uint64_t dispatch; /* ordinal in this process and pass, from 0 */
	uint32_t kernel;   /* id of a SPOOL_KERNEL record before this one, 0 for the process */
	uint32_t unit;     /* enum spool_unit */
	uint32_t pass;     /* 0: the program's own, uncounted execution */
	uint32_t device;
	uint32_t grid[3]; /* in work-groups; 0 where it has no meaning */
	uint32_t block[3];
	uint64_t queue;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint32_t registers;
	uint32_t shared_bytes;
	uint32_t attempt; /* n-th time this pass ran for this dispatch, from 1 (--repeat) */
	uint32_t flags;   /* enum spool_dispatch_flag */
};
enum spool_dispatch_flag {
	SPOOL_DISPATCH_REPLAYED = 1 << 0, /* from memory as the program's own execution had it */
	SPOOL_DISPATCH_VARYING =
		1 << 1, /* the passes of its window did not all end in the same memory */
	SPOOL_DISPATCH_NO_RESTORE = 1 << 2, /* nothing had to be put back, proven for this window */
};
enum sample_status { /* a value that was not collected is never 0 */
	SAMPLE_OK = 0,
	SAMPLE_NOT_COLLECTED = 1,
	SAMPLE_OVERFLOWED = 2,
	SAMPLE_MULTIPLEXED = 3, /* value is the raw count; running/enabled tell the share */
	SAMPLE_NOT_MATCHED = 4,
	SAMPLE_DECLINED = 5,
	SAMPLE_INCOMPLETE = 6, /* counted until the time limit ended the pass; no part of any sum */
};
#define SAMPLE_STATUS_MAX SAMPLE_INCOMPLETE
enum sample_kind {
	SAMPLE_U64 = 0,
	SAMPLE_F64 = 1
};
struct spool_sample {
	uint32_t counter;  /* index into the plan's counters */
	uint16_t instance; /* of the block; 0xffff: summed over instances by the source */
	uint8_t status;    /* enum sample_status */
	uint8_t kind;      /* enum sample_kind */
	union {
		uint64_t u64;
		double f64;
	} value;
};
_Static_assert(sizeof(struct spool_sample) == 16, "file format");
#define SPOOL_INSTANCE_ALL 0xffffu
struct spool_samples {
	uint32_t pass;
	uint32_t n;
	uint64_t dispatch;
	uint64_t enabled_ns; /* of the group; 0 when the source has no such figure */
	uint64_t running_ns;
};
/* What a process counted before it replaced itself by another program in the middle of a pass. The
 * image that ends the pass adds it to its own counts; the last one of a pass holds the sum of all
 * before. Of use only to that process, and to whoever wants to see what a killed one had counted.
 */
struct spool_carry {
	uint32_t pass;
	uint32_t n;             /* samples */
	uint64_t user_begin_ns; /* CPU time of the process at the begin of the pass */
	uint64_t system_begin_ns;
	uint64_t enabled_ns;
	uint64_t running_ns;
};
/* A window of replayed dispatches and what it cost; written once it is over. Times are of the host,
 * CLOCK_MONOTONIC. */
struct spool_window {
	uint64_t window; /* ordinal in this process, from 0 */
	uint32_t device;
	uint32_t dispatches; /* in it */
	uint32_t transfers;  /* device-side copies and fills recorded with them */
	uint32_t passes;     /* counted executions of the whole window; 0: it was not replayed */
	uint64_t begin_ns;   /* of its first dispatch */
	uint64_t end_ns;     /* when the program went on */
	uint64_t save_ns;    /* sums over the passes from here on */
	uint64_t restore_ns;
	uint64_t check_ns;    /* comparing and hashing */
	uint64_t program_ns;  /* programming and reading counters */
	uint64_t run_ns;      /* the dispatches themselves, counted */
	uint64_t live_ns;     /* the window's own execution, until the device was drained */
	uint64_t reach_bytes; /* that the dispatches can reach, each memory once */
	uint64_t saved_bytes;
	uint64_t restored_bytes;
	uint64_t spared_bytes; /* of saved_bytes times passes, that needed no restore */
};
/* Dispatches that were not counted in the wanted way, added up. */
struct spool_decline {
	uint64_t count;
	uint32_t kernel; /* id of a SPOOL_KERNEL record before this one; 0: any */
	uint32_t device;
	uint32_t instead; /* enum spool_instead: what happened to them */
	uint32_t pad;
};
/* Dispatches that ran uncounted because their counts were known well enough (--until), added up by
 * what is alike. */
struct spool_left {
	uint64_t count;
	uint64_t counted; /* of the same kind when the last pass of it was known */
	uint32_t kernel;  /* id of a SPOOL_KERNEL record before this one */
	uint32_t device;
	uint32_t grid[3], block[3]; /* as in spool_dispatch */
	uint32_t precision; /* half the 95 % interval, relative to the mean, in millionths */
	uint32_t pad;
};
enum spool_instead {
	SPOOL_INSTEAD_NOTHING = 0,  /* ran uncounted */
	SPOOL_INSTEAD_ONE_PASS = 1, /* counted live, one pass each */
	SPOOL_INSTEAD_KERNEL = 2,   /* replayed alone instead of in a window */
	SPOOL_INSTEAD_ESTIMATE = 3, /* known from others: of struct spool_left, in no such record */
};
enum spool_note_kind {
	SPOOL_NOTE_DISABLED = 1, /* collection stopped: why */
	SPOOL_NOTE_DECLINED = 2, /* a dispatch or counter was not collected: why */
	SPOOL_NOTE_FINDING = 3,  /* something the user should know, shown in the report */
	SPOOL_NOTE_DETAIL = 4,   /* the same, but not in the summary after the run */
};
struct spool_note {
	uint32_t pass; /* 0: no particular one */
	uint32_t kind; /* enum spool_note_kind */
};

/* ---- writing ---- */
struct spool_writer {
	int fd;
	bool failed;     /* an append failed; all later ones return RC_NO_SPACE or RC_IO at once */
	int failure;     /* that code */
	uint64_t offset; /* end of the last record, counted from the start of the header */
	unsigned char *map;      /* header and both windows, see spool_format.h */
	unsigned char *at, *end; /* free part of the window in use */
	unsigned window;         /* 0 or 1 */
	uint64_t base;           /* offset of the window's first record */
	uint64_t device,
		inode; /* of the file: a program may close our descriptor and reuse its number */
};

/* Creates path (O_EXCL: never another process's file) and writes the header; magic, version, byte
 * order and checksum are filled here. The descriptor has a high number and is closed on exec.
 * RC_EXISTS, RC_NO_SPACE, RC_UNSUPPORTED when the file system cannot map a file for writing, ...; a
 * file that was created but could not be filled is removed again. */
int spool_create(struct spool_writer *w, const char *path, const struct spool_header *header,
		 struct error *err);
/* Appends one record made of two parts (b may be NULL with nb 0). RC_INVALID when it is longer than
 * SPOOL_RECORD_MAX (the spool stays usable), RC_NO_SPACE or RC_IO when the file cannot grow or was
 * found to be cut short. */
int spool_append(struct spool_writer *w, enum spool_type type, const void *a, size_t na,
		 const void *b, size_t nb, struct error *err);
/* To be called before spool_append, which would be a SIGBUS where somebody has cut the file since:
 * RC_IO then, and the writer has failed; 0 otherwise, also when it failed before. One system call,
 * which spool_append does not make: the place is read by the kernel. errno is kept. What is cut
 * between the two calls is still a SIGBUS. */
int spool_look(struct spool_writer *w, struct error *err);
/* spool_look and then spool_append: for whoever writes while others can reach the file. Errors are
 * those of both. */
int spool_append_checked(struct spool_writer *w, enum spool_type type, const void *a, size_t na,
			 const void *b, size_t nb, struct error *err);
/* Marks the end, cuts the file to its length and closes. Keeps what is there when it fails. A
 * second call does nothing. */
int spool_close(struct spool_writer *w, struct error *err);
/* Opens a file that spool_create of this launch made and that nobody writes any more, and appends
 * behind its last whole record (a torn one is cut off): a process goes on in its own file after an
 * exec. take (may be NULL) sees every record that is there, in order, while it is checked; a code
 * from it ends the call. RC_MISMATCH when the file is of another launch; launch NULL: any. */
struct spool_record;
typedef int spool_take(void *context, const struct spool_record *record, struct error *err);
int spool_resume(struct spool_writer *w, const char *path, const char *launch, spool_take *take,
		 void *context, struct error *err);
/* In a forked child: forgets the file without touching it. */
void spool_abandon(struct spool_writer *w);

/* ---- reading ---- */
/* What a reader read into, for the next one. Zero-initialise. */
struct spool_memory {
	void *map;
	size_t size;
};
struct spool_reader {
	const char *name;
	const unsigned char *bytes;
	size_t size, offset;
	struct spool_header header;
	bool mapped; /* bytes lie in map, which is munmapped on close */
	bool cut; /* something is missing behind bytes; spool_next says what when it gets there */
	void *map;
	size_t mapped_size;
	struct spool_memory *memory; /* that gets map on close; NULL: nobody */
	bool torn;   /* an unfinished record at the end was left out (the process was killed) */
	bool closed; /* reached the end that spool_close wrote; otherwise the process was killed,
		      * the disk was full, or it still runs */
};
struct spool_record {
	uint32_t type; /* enum spool_type, or a newer one: skip it */
	uint32_t size;
	const void *payload; /* into the file, 8-byte aligned */
	uint64_t offset; /* for messages; counts the records in order, see docs/file-formats.md */
};

/* Reads the file into memory, so that nobody can change or cut it under the reader: safe on a file
 * that is still being written (what was published until now is seen). `path` must outlive the
 * reader. RC_CORRUPT for a damaged or unfinished header, RC_MISMATCH for another version or byte
 * order. */
int spool_open(struct spool_reader *r, const char *path, struct error *err);
/* The same for many files one after another, in memory that is kept between them; it must outlive
 * the reader and serves one reader at a time. */
int spool_open_with(struct spool_reader *r, const char *path, struct spool_memory *memory,
		    struct error *err);
/* The same for a file that is open, which stays open; name is for messages. */
int spool_open_fd(struct spool_reader *r, int fd, const char *name, struct spool_memory *memory,
		  struct error *err);
void spool_memory_release(struct spool_memory *m);
/* The header alone, checked as spool_open does: a spool may be large. */
int spool_read_header(int fd, const char *name, struct spool_header *header_out, struct error *err);
/* From memory (fuzzing, tests). bytes must be 8-byte aligned and outlive the reader. */
int spool_open_bytes(struct spool_reader *r, const char *name, const void *bytes, size_t size,
		     struct error *err);
/* 1 and a record, 0 at the end (also when the tail is torn: r->torn), RC_CORRUPT with file and
 * offset when a record in the middle is damaged. The payload's size and inner counts were checked
 * against the type, so casting to the struct above is safe. Payloads stay valid until the reader is
 * closed; an error is returned again by the next call, what was read before it stays good. */
int spool_next(struct spool_reader *r, struct spool_record *record_out, struct error *err);
void spool_close_reader(struct spool_reader *r);

#endif
