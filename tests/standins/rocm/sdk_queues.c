/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SDK's hand in the program's queues: every queue becomes an intercept queue, and each dispatch
 * of an active counting context
 *
 *   [wait for the dispatch counted before, on any queue of the agent] [start counters] kernel
 *   [the program's completion signal, before the counters are read] [read] [done]
 *
 * so that the program sees its kernel as done before there is a record, as with the real library.
 * Once a context counted, the other dispatches are followed to their ends, too.
 */
#include "sdk_standin.h"

#include <stdlib.h>
#include <string.h>

struct sdk_queue {
	struct hsa_queue *queue;
	struct sdk_agent *agent;
	struct sdk_queue *next;
	uint32_t taken; /* dispatches that have not completed */
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sdk_queue *queues;
static bool followed;             /* a context was started once */
static unsigned ending, starting; /* dispatches that the count of those under way is wrong about */
struct hsa_core_table sdk_core;
struct hsa_amd_table sdk_amd;
bool sdk_hsa_known;
uint64_t sdk_dispatches_counted;

static uint64_t new_signal(int64_t value)
{
	uint64_t s = 0;
	/* a fault on demand is for the tool's calls, not ours */
	for (int i = 0; i < 3 && sdk_core.hsa_signal_create(value, 0, NULL, &s) != HSA_OK; i++)
		s = 0;
	if (!s)
		t0_abort("the SDK cannot create a signal");
	return s;
}

void session_free(struct session *s)
{
	if (s->waits_for)
		sdk_core.hsa_signal_destroy(s->waits_for);
	sdk_core.hsa_signal_destroy(s->kernel_signal);
	for (unsigned i = 0; i < s->n_counted; i++)
		config_done(s->counted[i].config);
	free(s);
}

static bool completed(int64_t value, void *data)
{
	struct session *s = data;
	struct hsa_dispatch_time time = {0};
	(void)value;
	sdk_amd.hsa_amd_profiling_get_dispatch_time(s->agent->hsa, s->kernel_signal, &time);
	s->data.start_ns = time.start;
	s->data.end_ns = time.end;
	struct sdk_queue *q = s->queue;
	__atomic_add_fetch(&ending, 1, __ATOMIC_SEQ_CST);
	if (s->n_counted)
		records_take(s);
	else
		session_free(s);
	t0_sleep_us(t0_random(200)); /* whoever has the record may be fast */
	__atomic_sub_fetch(&ending, 1, __ATOMIC_SEQ_CST);
	/* not before: whoever waits for all dispatches wants their records, too */
	__atomic_sub_fetch(&q->taken, 1, __ATOMIC_RELEASE);
	return false;
}

void queues_change(void)
{
	if (__atomic_load_n(&ending, __ATOMIC_SEQ_CST))
		t0_abort("a context was started or stopped while the end of a dispatch is "
			 "handled: the real library's queue hangs");
	if (__atomic_load_n(&starting, __ATOMIC_SEQ_CST))
		t0_abort("a context was started or stopped while a dispatch is submitted: the real "
			 "library's queue hangs");
	__atomic_store_n(&followed, true, __ATOMIC_SEQ_CST);
}

/* ---- packets ---- */

static struct hsa_packet barrier(uint64_t dependency, uint64_t completion)
{
	union {
		struct hsa_packet any;
		struct hsa_barrier_packet and;
	} p = {.and = {.header = HSA_PACKET_BARRIER_AND | HSA_PACKET_BARRIER,
		       .dependency = {dependency},
		       .completion = completion}};
	return p.any;
}

static struct hsa_packet vendor(uint8_t op, struct t0_counts *out, uint64_t completion)
{
	union {
		struct hsa_packet any;
		struct t0_vendor_packet vendor;
	} p = {.vendor = {.header = HSA_PACKET_VENDOR | HSA_PACKET_BARRIER,
			  .format = HSA_VENDOR_PM4,
			  .op = op,
			  .magic = T0_VENDOR_MAGIC,
			  .out = out,
			  .completion = completion}};
	return p.any;
}

struct longer { /* RETALLY_T0_MUTATE=sizes */
	struct rocp_dispatch_data data;
	uint8_t more[64];
};
typedef void (*longer_dispatch)(struct longer data, uint64_t *config, union rocp_user_data *user,
				void *arg);

static void ask(const struct counting *c, const struct rocp_dispatch_data *data, uint64_t *config,
		union rocp_user_data *user)
{
	sdk_inside = SDK_IN_DISPATCH;
	if (t0_config()->mutate & T0_SIZES) {
		struct longer l = {.data = *data};
		l.data.size += sizeof l.more;
		memset(l.more, 0xee, sizeof l.more);
		((longer_dispatch)(uintptr_t)c->dispatch)(l, config, user, c->dispatch_arg);
	} else {
		c->dispatch(*data, config, user, c->dispatch_arg);
	}
	sdk_inside = SDK_OUTSIDE;
	if (sdk_touched_context)
		t0_abort("a context was started or stopped in a dispatch callback: the real "
			 "library says 0, and then the queue hangs");
}

static void choose(struct session *s, struct context *c)
{
	for (unsigned i = 0; i < c->n_counting; i++) {
		uint64_t id = 0;
		union rocp_user_data user = {0};
		if (c->counting[i].late)
			continue;
		ask(&c->counting[i], &s->data, &id, &user);
		if (!id)
			continue;
		struct config *config = config_use(id);
		if (!config)
			t0_abort("the dispatch callback chose configuration %llu, which does not "
				 "exist: std::out_of_range in the real library",
				 (unsigned long long)id);
		if (config->agent != s->agent)
			t0_abort("the dispatch callback chose a configuration of another agent");
		if (!config_buildable(config))
			t0_abort("the packets of a configuration cannot be built: an accumulator "
				 "without its level counter needs two slots");
		s->counted[s->n_counted].counting = &c->counting[i];
		s->counted[s->n_counted].config = config;
		s->counted[s->n_counted++].user_data = user;
	}
}

static struct rocp_dispatch_info describe(const struct sdk_queue *q,
					  const struct hsa_kernel_packet *k)
{
	return (struct rocp_dispatch_info){
		.size = offsetof(struct rocp_dispatch_info, reserved),
		.agent = q->agent->public->id,
		.queue = q->queue->id,
		.kernel_id = code_kernel_id(k->kernel_object),
		.private_segment_size = k->private_bytes,
		.group_segment_size = k->group_bytes,
		.workgroup = {k->workgroup[0], k->workgroup[1], k->workgroup[2]},
		.grid = {k->grid[0], k->grid[1], k->grid[2]}};
}

static struct session *take(struct sdk_queue *q, const struct hsa_kernel_packet *k,
			    struct context *c)
{
	static uint64_t dispatches;
	struct session *s = calloc(1, sizeof *s);
	if (!s)
		t0_abort("no memory");
	s->queue = q;
	s->agent = q->agent;
	s->context = c;
	s->data.size = sizeof s->data;
	s->data.correlation.internal = __atomic_add_fetch(&dispatches, 1, __ATOMIC_RELAXED);
	s->data.dispatch = describe(q, k);
	s->data.dispatch.dispatch_id = s->data.correlation.internal;
	s->kernel_signal = new_signal(1);
	__atomic_add_fetch(&starting, 1, __ATOMIC_SEQ_CST);
	if (c)
		choose(s, c);
	__atomic_sub_fetch(&starting, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&q->taken, 1, __ATOMIC_RELAXED);
	if (s->n_counted)
		__atomic_add_fetch(&sdk_dispatches_counted, 1, __ATOMIC_RELAXED);
	return s;
}

struct submission {
	struct sdk_queue *queue;
	struct context *counting;
	hsa_packet_writer writer;
};

/* One kernel with what belongs around it. */
static void submit(void *arg, struct hsa_kernel_packet *packet)
{
	const struct submission *to = arg;
	struct sdk_queue *q = to->queue;
	struct session *s = take(q, packet, to->counting);
	struct hsa_packet out[6];
	size_t m = 0;
	union {
		struct hsa_packet any;
		struct hsa_kernel_packet kernel;
	} p = {.kernel = *packet};
	p.kernel.completion = s->kernel_signal;
	p.kernel.header |= HSA_PACKET_BARRIER;
	/* One counted dispatch after the other, whatever the queue. The signal of each is
	 * destroyed by the one that waited for it. */
	s->done_signal = new_signal(2);
	pthread_mutex_lock(&q->agent->serial_lock);
	s->waits_for = q->agent->last_done;
	q->agent->last_done = s->done_signal;
	pthread_mutex_unlock(&q->agent->serial_lock);
	if (s->waits_for)
		out[m++] = barrier(s->waits_for, 0);
	if (s->n_counted)
		out[m++] = vendor(T0_COUNT_START, NULL, 0);
	out[m++] = p.any;
	if (packet->completion)
		out[m++] = barrier(0, packet->completion);
	if (s->n_counted)
		out[m++] = vendor(T0_COUNT_READ, &s->counts, s->done_signal);
	else
		out[m++] = barrier(0, s->done_signal);
	out[m++] = barrier(0, s->done_signal);
	sdk_amd.hsa_amd_signal_async_handler(s->done_signal, HSA_EQ, 0, completed, s);
	to->writer(out, m);
}

/* Not while a context counts: followed only. */
static void follow(struct sdk_queue *q, const struct hsa_kernel_packet *packet,
		   hsa_packet_writer writer)
{
	struct session *s = take(q, packet, NULL);
	union {
		struct hsa_packet any;
		struct hsa_kernel_packet kernel;
	} p = {.kernel = *packet};
	struct hsa_packet out[2];
	size_t m = 0;
	p.kernel.completion = s->kernel_signal;
	out[m++] = p.any;
	if (packet->completion)
		out[m++] = barrier(0, packet->completion);
	sdk_amd.hsa_amd_signal_async_handler(s->kernel_signal, HSA_EQ, 0, completed, s);
	writer(out, m);
}

static void intercept(const void *packets, uint64_t n, uint64_t index, void *data,
		      hsa_packet_writer writer)
{
	struct submission to = {.queue = data, .writer = writer};
	const struct hsa_packet *in = packets;
	(void)index;
	if (sdk_fini_status() > 0 ||
	    (!contexts_counting() && !__atomic_load_n(&followed, __ATOMIC_SEQ_CST))) {
		writer(packets, n);
		return;
	}
	for (unsigned i = 0; i < sdk_n_contexts; i++)
		if (sdk_contexts[i].n_counting && sdk_contexts[i].active)
			to.counting = &sdk_contexts[i];
	for (uint64_t i = 0; i < n; i++) {
		union {
			struct hsa_packet any;
			struct hsa_kernel_packet kernel;
		} p = {.any = in[i]};
		struct rocp_dispatch_info info;
		if ((in[i].header & HSA_PACKET_KIND_MASK) != HSA_PACKET_KERNEL) {
			writer(&in[i], 1);
			continue;
		}
		if (!to.counting) {
			follow(to.queue, &p.kernel, writer);
			continue;
		}
		info = describe(to.queue, &p.kernel);
		if (n > 1 || !replay_take(&info, &p.kernel, submit, &to))
			submit(&to, &p.kernel);
	}
}

/* ---- queues ---- */

static uint32_t queue_create(uint64_t handle, uint32_t size, uint32_t type,
			     hsa_queue_callback callback, void *data, uint32_t private_bytes,
			     uint32_t group_bytes, struct hsa_queue **queue_out)
{
	struct sdk_agent *agent = agent_by_hsa(handle);
	struct sdk_queue *q = calloc(1, sizeof *q);
	if (!agent || !q) {
		free(q);
		return HSA_INVALID_AGENT;
	}
	uint32_t status = sdk_amd.hsa_amd_queue_intercept_create(
		handle, size, type, callback, data, private_bytes, group_bytes, &q->queue);
	if (status != HSA_OK) {
		free(q);
		return status;
	}
	q->agent = agent;
	sdk_amd.hsa_amd_profiling_set_profiler_enabled(q->queue, 1);
	sdk_amd.hsa_amd_queue_intercept_register(q->queue, intercept, q);
	pthread_mutex_lock(&lock);
	q->next = queues;
	queues = q;
	pthread_mutex_unlock(&lock);
	*queue_out = q->queue;
	return HSA_OK;
}

static void sync(const struct sdk_queue *q)
{
	/* A dispatch that hangs is not waited for for ever: the process has to end. */
	for (int i = 0; i < 20000 && __atomic_load_n(&q->taken, __ATOMIC_ACQUIRE); i++)
		t0_sleep_us(i < 100 ? 20 : 500);
}

static uint32_t queue_destroy(struct hsa_queue *queue)
{
	struct sdk_queue *q = NULL;
	pthread_mutex_lock(&lock);
	for (struct sdk_queue **at = &queues; *at; at = &(*at)->next)
		if ((*at)->queue == queue) {
			q = *at;
			*at = q->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	if (!q)
		return sdk_core.hsa_queue_destroy(queue);
	sync(q);
	/* q stays: a session may still name it */
	return sdk_core.hsa_queue_destroy(queue);
}

void queues_sync(void)
{
	pthread_mutex_lock(&lock);
	for (const struct sdk_queue *q = queues; q; q = q->next)
		sync(q);
	pthread_mutex_unlock(&lock);
}

void queues_patch(struct hsa_core_table *core)
{
	core->hsa_queue_create = queue_create;
	core->hsa_queue_destroy = queue_destroy;
}
