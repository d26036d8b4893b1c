/* SPDX-License-Identifier: Apache-2.0 */
/* Getting packets to the device: see submit.h. */
#include "runtime/hsa/submit.h"

#include "runtime/hsa/events.h"

#include <string.h>
#include <time.h>

#define OWN_SIZE    1024u
#define FULL_NS     10000000000u
#define THROTTLE_NS 1000000000u
/* Packets that the SDK makes of one that is counted: before it a barrier and the start, behind it
 * the end, the reading and barriers. */
#define PACKETS 16u

void hsa_submit_throttle(struct hsa_tap *tap, struct hsa_flight *f)
{
	unsigned most = tap->size / PACKETS;
	struct hsa_flight **at, *oldest;

	if (most > HSA_RECENT)
		most = HSA_RECENT;
	if (!most)
		most = 1;
	at = &tap->recent[tap->at++ % most];
	oldest = *at;
	hsa_flight_ref(f);
	*at = f;
	if (!oldest)
		return;
	(void)hsa_flight_wait(oldest, THROTTLE_NS);
	hsa_flight_unref(oldest);
}

void hsa_submit_forget(struct hsa_tap *tap)
{
	for (unsigned i = 0; i < HSA_RECENT; i++) {
		hsa_flight_unref(tap->recent[i]);
		tap->recent[i] = NULL;
	}
}

static int open_own(struct hsa_device *d, struct error *err)
{
	uint32_t status;

	if (d->own)
		return 0;
	status = hsa_session.core.hsa_queue_create(d->agent, OWN_SIZE, HSA_QUEUE_MULTI, NULL, NULL,
						   UINT32_MAX, UINT32_MAX, &d->own);
	if (!status)
		return 0;
	d->own = NULL;
	return hsa_fail(status, "making a queue of our own", err);
}

/* Nobody else writes into it. */
static int put(struct hsa_queue *q, const void *packet, struct error *err)
{
	const struct hsa_core_table *c = &hsa_session.core;
	struct timespec pause = {0, 100000};
	char *slot;
	uint64_t index = c->hsa_queue_load_write_index_relaxed(q);
	uint32_t head;

	for (uint64_t waited = 0;
	     index - c->hsa_queue_load_read_index_scacquire(q) >= q->size / PACKETS;
	     waited += 100000) {
		if (waited > FULL_NS)
			return error_set(err, RC_TIMEOUT, "the queue of the device stays full");
		nanosleep(&pause, NULL);
	}
	(void)c->hsa_queue_add_write_index_relaxed(q, 1);
	slot = (char *)q->base + (index & (q->size - 1)) * sizeof(struct hsa_packet);
	memcpy(&head, packet, sizeof(head));
	memcpy(slot + sizeof(head), (const char *)packet + sizeof(head),
	       sizeof(struct hsa_packet) - sizeof(head));
	/* header and setup together, last */
	__atomic_store_n((uint32_t *)(void *)slot, head, __ATOMIC_RELEASE);
	hsa_ring(q->doorbell, index);
	return 0;
}

int hsa_submit(struct hsa_device *d, const void *packet, struct hsa_flight *f, struct error *err)
{
	int rc;

	if (hsa_here.writer && hsa_here.tap->device == d) {
		hsa_submit_throttle(hsa_here.tap, f);
		hsa_write(hsa_here.writer, packet, 1);
		return 0;
	}
	rc = open_own(d, err);
	return rc ? rc : put(d->own, packet, err);
}

void hsa_submit_close(struct hsa_device *d)
{
	if (d->own && !atomic_load(&hsa_session.closed))
		(void)hsa_session.core.hsa_queue_destroy(d->own);
	d->own = NULL;
}
