/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the passes print: the first pass writes to our stdout and stderr as they are, each later one
 * to FOLDER/pass-K.stdout and pass-K.stderr, and the streams of passes are compared.
 *
 * The first pass is never looked at through something that it could notice. Where its stdout (or
 * stderr) is a regular file, the part of the file that was written meanwhile is read back and every
 * later pass is compared with it; when both are the same file, later passes write both into
 * pass-K.stdout. Where it is a terminal or a pipe, the bytes are gone, and the second pass is what
 * the third and later ones are compared with.
 */
#ifndef RETALLY_LAUNCH_OUTPUT_H
#define RETALLY_LAUNCH_OUTPUT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct output_stream {
	const char *name; /* "stdout", "stderr" */
	int fd;           /* 1 or 2 */
	int seen;         /* the first pass's file, opened for reading; -1: not seen */
	int kept;         /* a duplicate of fd, for its offset; -1 unless a regular file */
	off_t begin, end; /* its part */
	bool append;
	int reference; /* what later passes are compared with; -1: none yet */
	off_t reference_begin, reference_size;
	uint32_t reference_pass;
	int current; /* the running pass's file, -1 */
};
struct output {
	struct output_stream streams[2];
	bool joined; /* both are one regular file */
	int folder;  /* DIR/output/LAUNCH, made when first needed; -1 */
};

/* closed[i] says that descriptor i was closed when we started: then it is closed in every pass. */
void output_init(struct output *o, const bool closed[3]);
/* After the first pass. */
void output_end_first(struct output *o, uint32_t pass);
/* Opens the files of a later pass: fds_out[0], [1] become the child's stdout and stderr (the same
 * number twice when joined); they stay owned by o. `parent` is the run directory. */
int output_begin_pass(struct output *o, int parent, const char *launch, uint32_t pass,
		      int fds_out[2], struct error *err);
/* Compares; appends to text (size bytes) a sentence for each stream that differs. True when one
 * does. */
bool output_end_pass(struct output *o, uint32_t pass, char *text, size_t size);
void output_release(struct output *o);

#endif
