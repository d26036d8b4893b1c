/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two small kernels of our own, in PTX that every driver since CUDA 11 compiles (compute capability
 * 5.2 and later):
 *
 *   retally_compare(a, b, bytes, chunk, bits)  one block of threads a chunk: sets the chunk's bit
 * when its bytes in a and b differ retally_hash(a, bytes, sum)                adds a mix of every
 * 8-byte word and its place to *sum; the order of the additions does not matter
 *
 * Both read 16 bytes a thread and step where the addresses allow that, single bytes elsewhere.
 */
#include "runtime/cuda/checks.h"

#include "runtime/cuda/arrays.h"
#include "runtime/cuda/drain.h"
#include "runtime/cuda/stores.h"

#include <string.h>

#define BLOCK   256
#define SCRATCH (1u << 20) /* bits of 8 Mi chunks; larger comparisons go in pieces */
/* Of an array so much at a time is copied to where our kernels can read it. */
#define STAGE (64ull << 20)

static const char checks_ptx[] =
	".version 7.0\n"
	".target sm_52\n"
	".address_size 64\n"
	".visible .entry retally_compare(.param .u64 pa, .param .u64 pb, .param .u64 pn,\n"
	"                                .param .u64 pchunk, .param .u64 pbits)\n"
	"{\n"
	"  .reg .pred p, q, differs;\n"
	"  .reg .b32 t, c, x, y, one;\n"
	"  .reg .b64 a, b, n, chunk, bits, at, end, u0, u1, v0, v1, pu, pv, w;\n"
	"  ld.param.u64 a, [pa]; ld.param.u64 b, [pb]; ld.param.u64 n, [pn];\n"
	"  ld.param.u64 chunk, [pchunk]; ld.param.u64 bits, [pbits];\n"
	"  cvta.to.global.u64 a, a; cvta.to.global.u64 b, b; cvta.to.global.u64 bits, bits;\n"
	"  mov.u32 t, %tid.x; mov.u32 c, %ctaid.x;\n"
	"  cvt.u64.u32 at, c; mul.lo.u64 at, at, chunk;\n"
	"  add.u64 end, at, chunk; min.u64 end, end, n;\n"
	"  setp.ne.u64 differs, at, at;\n" /* false */
	"  or.b64 w, a, b; or.b64 w, w, at; and.b64 w, w, 15; setp.ne.u64 p, w, 0;\n"
	"  cvt.u64.u32 w, t;\n"
	"  @p bra bytes_begin;\n"
	"  shl.b64 w, w, 4; add.u64 at, at, w;\n"
	"words:\n"
	"  add.u64 w, at, 16; setp.gt.u64 p, w, end; @p bra words_end;\n"
	"  add.u64 pu, a, at; add.u64 pv, b, at;\n"
	"  ld.global.v2.u64 {u0, u1}, [pu]; ld.global.v2.u64 {v0, v1}, [pv];\n"
	"  setp.ne.u64 p, u0, v0; setp.ne.u64 q, u1, v1; or.pred p, p, q;\n"
	"  or.pred differs, differs, p;\n"
	"  add.u64 at, at, 4096;\n"
	"  bra words;\n"
	"words_end:\n" /* the last, short word: its bytes one by one, by the thread it falls to */
	"  setp.ge.u64 p, at, end; @p bra join;\n"
	"tail:\n"
	"  add.u64 pu, a, at; add.u64 pv, b, at;\n"
	"  ld.global.u8 x, [pu]; ld.global.u8 y, [pv];\n"
	"  setp.ne.u32 p, x, y; or.pred differs, differs, p;\n"
	"  add.u64 at, at, 1; setp.lt.u64 p, at, end; @p bra tail;\n"
	"  bra join;\n"
	"bytes_begin:\n"
	"  add.u64 at, at, w;\n"
	"bytes:\n"
	"  setp.ge.u64 p, at, end; @p bra join;\n"
	"  add.u64 pu, a, at; add.u64 pv, b, at;\n"
	"  ld.global.u8 x, [pu]; ld.global.u8 y, [pv];\n"
	"  setp.ne.u32 p, x, y; or.pred differs, differs, p;\n"
	"  add.u64 at, at, 256;\n"
	"  bra bytes;\n"
	"join:\n"
	"  bar.red.or.pred p, 0, differs;\n"
	"  setp.ne.u32 q, t, 0; @q ret;\n"
	"  @!p ret;\n"
	"  and.b32 x, c, 31; mov.u32 one, 1; shl.b32 one, one, x;\n"
	"  shr.u32 y, c, 5; mul.wide.u32 w, y, 4; add.u64 bits, bits, w;\n"
	"  red.global.or.b32 [bits], one;\n"
	"  ret;\n"
	"}\n"
	".visible .entry retally_hash(.param .u64 pa, .param .u64 pn, .param .u64 psum)\n"
	"{\n"
	"  .reg .pred p;\n"
	"  .reg .b32 t, c, k, x, y;\n"
	"  .reg .b64 a, n, sum, at, step, w, h, i, pu, full, acc;\n"
	"  ld.param.u64 a, [pa]; ld.param.u64 n, [pn]; ld.param.u64 sum, [psum];\n"
	"  cvta.to.global.u64 a, a; cvta.to.global.u64 sum, sum;\n"
	"  mov.u32 t, %tid.x; mov.u32 c, %ctaid.x; mov.u32 k, %nctaid.x;\n"
	"  mul.wide.u32 at, c, 256; cvt.u64.u32 w, t; add.u64 at, at, w;\n" /* thread in the grid */
	"  mul.wide.u32 step, k, 2048; shl.b64 at, at, 3;\n"
	"  mov.u64 acc, 0; and.b64 full, n, -8;\n"
	"  and.b64 w, a, 7; setp.ne.u64 p, w, 0; @p mov.u64 full, 0;\n"
	"loop:\n"
	"  setp.ge.u64 p, at, n; @p bra done;\n"
	"  add.u64 pu, a, at;\n"
	"  setp.lt.u64 p, at, full; @!p bra single;\n"
	"  ld.global.u64 w, [pu];\n"
	"  bra mix;\n"
	"single:\n" /* up to 8 bytes, one by one */
	"  mov.u64 w, 0; mov.u32 y, 0;\n"
	"one:\n"
	"  ld.global.u8 x, [pu]; cvt.u64.u32 i, x; shl.b64 i, i, y; or.b64 w, w, i;\n"
	"  add.u32 y, y, 8; add.u64 pu, pu, 1; sub.u64 i, pu, a;\n"
	"  setp.lt.u64 p, i, n; setp.lt.and.u32 p, y, 64, p; @p bra one;\n"
	"mix:\n"
	"  mul.lo.u64 i, at, 0x9e3779b97f4a7c15; xor.b64 h, w, i;\n"
	"  shr.u64 i, h, 32; xor.b64 h, h, i; mul.lo.u64 h, h, 0xd6e8feb86659fd93;\n"
	"  shr.u64 i, h, 32; xor.b64 h, h, i; mul.lo.u64 h, h, 0xd6e8feb86659fd93;\n"
	"  shr.u64 i, h, 32; xor.b64 h, h, i;\n"
	"  add.u64 acc, acc, h;\n"
	"  add.u64 at, at, step;\n"
	"  bra loop;\n"
	"done:\n"
	"  red.global.add.u64 [sum], acc;\n"
	"  ret;\n"
	"}\n";

static int checks_load(struct cuda_context *c, struct error *err)
{
	const struct cuda_driver *d = &cuda_session.driver;
	cu_result result = CU_OK;

	if (c->hash)
		return 0;
	if (!c->checks)
		result = d->module_load(&c->checks, checks_ptx);
	if (!result && !c->scratch)
		result = d->alloc(&c->scratch, SCRATCH);
	if (!result && !c->scratch_host)
		result = d->host_alloc(&c->scratch_host, SCRATCH, 0);
	if (!result)
		result = d->module_function(&c->compare, c->checks, "retally_compare");
	if (!result)
		result = d->module_function(&c->hash, c->checks, "retally_hash");
	return result ? cuda_drain_fail("loading our kernels", result, err) : 0;
}

/* Results: scratch to the host, waited for. */
static cu_result checks_fetch(struct cuda_context *c, size_t bytes)
{
	const struct cuda_driver *d = &cuda_session.driver;
	cu_result result;

	result = d->copy((cu_ptr)(uintptr_t)c->scratch_host, c->scratch, bytes, c->own);
	if (!result)
		result = d->stream_wait(c->own);
	c->own_busy = false;
	return result;
}

/* A place of ours for parts of the array. NULL in *stage_out for other memory. */
static int stage_get(struct cuda_context *c, const struct runtime_memory *m, void **stage_out,
		     struct error *err)
{
	uint64_t size = m->size < STAGE ? m->size : STAGE;

	*stage_out = NULL;
	if (!cuda_array_is(m->address))
		return 0;
	if (!cuda_store_get(c, size, RUNTIME_STORE_DEVICE, stage_out, NULL))
		return 0;
	return cuda_store_get(c, size, RUNTIME_STORE_HOST, stage_out, err);
}

static void stage_put(struct cuda_context *c, void *stage, cu_result result)
{
	if (!stage)
		return;
	if (result) /* a copy may be under way */
		cuda_session.driver.stream_wait(c->own);
	cuda_store_put(c, stage);
}

/* Where our kernels find a part of memory, with the stage of an array as much as fits. */
static cu_result stage_fill(struct cuda_context *c, const struct runtime_memory *m, uint64_t offset,
			    uint64_t bytes, void *stage, cu_ptr *at_out)
{
	*at_out = stage ? cuda_store_address(stage) : m->address + offset;
	return stage ? cuda_array_copy(m->address, offset, bytes, *at_out, false, c->own) : CU_OK;
}

static cu_result compare(struct cuda_context *c, cu_ptr a, cu_ptr b, uint64_t bytes, uint64_t chunk,
			 uint64_t n_chunks, uint64_t *bitmap)
{
	const struct cuda_driver *d = &cuda_session.driver;
	uint64_t size = (n_chunks + 63) / 64 * 8;
	void *arguments[] = {&a, &b, &bytes, &chunk, &c->scratch};
	cu_result result = d->set8(c->scratch, 0, size, c->own);

	if (!result)
		result = d->launch(c->compare, (unsigned)n_chunks, 1, 1, BLOCK, 1, 1, 0, c->own,
				   arguments, NULL);
	if (!result)
		result = checks_fetch(c, size);
	if (!result)
		memcpy(bitmap, c->scratch_host, size);
	return result;
}

int cuda_check_compare(void *device, const struct runtime_memory *m, uint64_t offset,
		       uint64_t bytes, void *store, uint64_t store_offset, uint64_t chunk,
		       uint64_t *bitmap, struct error *err)
{
	struct cuda_context *c = device;
	uint64_t n_chunks = (bytes + chunk - 1) / chunk, most = (uint64_t)SCRATCH * 8;
	cu_result result = CU_OK;
	void *stage = NULL;
	int rc = checks_load(c, err);

	if (!rc && cuda_array_is(m->address) && chunk > STAGE / 64)
		rc = error_set(err, RC_UNSUPPORTED, "comparing an array in chunks over 1 MiB");
	rc = rc ? rc : stage_get(c, m, &stage, err);
	if (rc)
		return rc;
	if (stage) /* whole words of the bitmap */
		most = STAGE / chunk / 64 * 64;
	for (uint64_t first = 0; first < n_chunks && !result; first += most) {
		uint64_t n = n_chunks - first < most ? n_chunks - first : most;
		uint64_t at = first * chunk, left = bytes - at;
		cu_ptr a, b = cuda_store_address(store) + store_offset + at;

		if (left > n * chunk)
			left = n * chunk;
		result = stage_fill(c, m, offset + at, left, stage, &a);
		result = result ? result : compare(c, a, b, left, chunk, n, bitmap + first / 64);
	}
	stage_put(c, stage, result);
	return result ? cuda_drain_fail("comparing memory", result, err) : 0;
}

/* The sum over the words of a part of memory, in c->scratch_host. */
static cu_result checks_sum(struct cuda_context *c, uint64_t address, uint64_t size)
{
	const struct cuda_driver *d = &cuda_session.driver;
	uint64_t blocks = (size + 8 * BLOCK - 1) / (8 * BLOCK);
	void *arguments[] = {&address, &size, &c->scratch};
	cu_result result;

	if (blocks > 4096)
		blocks = 4096;
	result = d->set8(c->scratch, 0, 8, c->own);
	if (!result)
		result = d->launch(c->hash, (unsigned)blocks, 1, 1, BLOCK, 1, 1, 0, c->own,
				   arguments, NULL);
	return result ? result : checks_fetch(c, 8);
}

int cuda_check_hash(void *device, const struct runtime_memory *m, uint64_t *hash_out,
		    struct error *err)
{
	struct cuda_context *c = device;
	uint64_t hash = 0, n, sum;
	cu_result result = CU_OK;
	void *stage = NULL;
	int rc = checks_load(c, err);

	rc = rc ? rc : stage_get(c, m, &stage, err);
	if (rc)
		return rc;
	for (uint64_t done = 0; done < m->size && !result; done += n) {
		cu_ptr at;

		n = stage && m->size - done > STAGE ? STAGE : m->size - done;
		result = stage_fill(c, m, done, n, stage, &at);
		result = result ? result : checks_sum(c, at, n);
		if (result)
			break;
		memcpy(&sum, c->scratch_host, 8);
		hash = hash * 0x9e3779b97f4a7c15u + sum;
	}
	stage_put(c, stage, result);
	if (result)
		return cuda_drain_fail("hashing memory", result, err);
	*hash_out = hash;
	return 0;
}

int cuda_check_flush(void *device, struct error *err)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct cuda_context *c = device;
	int rc = checks_load(c, err), bytes = 0;
	cu_result result = CU_OK;

	if (rc)
		return rc;
	if (!c->flush) {
		result = d->device_attribute(&bytes, CU_DEVICE_L2_BYTES, c->ordinal);
		if (!result && bytes <= 0)
			return error_set(err, RC_UNSUPPORTED, "the device has no L2 to empty");
		c->flush_size = 2 * (size_t)bytes;
		if (!result)
			result = d->alloc(&c->flush, c->flush_size);
		if (!result)
			result = d->set8(c->flush, 0, c->flush_size, c->own);
	}
	if (!result)
		result = checks_sum(c, c->flush, c->flush_size);
	return result ? cuda_drain_fail("emptying the L2", result, err) : 0;
}
