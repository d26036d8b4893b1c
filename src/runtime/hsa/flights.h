/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work on its way to an end that we can wait for: a signal of ours in the place of the program's.
 * The program's is decremented once (hsa_flight_deliver), with the times of the work: at once when
 * it ends (hsa_flight_forward), or later, when whoever holds it back says so. Signals are reused.
 */
#ifndef RETALLY_RUNTIME_HSA_FLIGHTS_H
#define RETALLY_RUNTIME_HSA_FLIGHTS_H

#include "runtime/hsa/session.h"

struct hsa_flight {
	struct hsa_flight *next; /* in the list of its device */
	struct hsa_flight *next_free;
	uint64_t signal;           /* ours: 1, and 0 or less when it is over */
	uint64_t program;          /* the program's, 0: none */
	const struct hsa_tap *tap; /* NULL: a copy, or a queue of ours */
	_Atomic unsigned references;
	_Atomic bool delivered;
};

/* With one reference. NULL: no signal or no memory. */
struct hsa_flight *hsa_flight_new(uint64_t program, const struct hsa_tap *tap);
void hsa_flight_ref(struct hsa_flight *f);
void hsa_flight_unref(struct hsa_flight *f);
/* From now on the device is not idle before it is over. */
void hsa_flight_track(struct hsa_device *d, struct hsa_flight *f);
bool hsa_flight_over(const struct hsa_flight *f);
/* Waits until it is over; false: not within bound_ns. */
bool hsa_flight_wait(const struct hsa_flight *f, uint64_t bound_ns);
void hsa_flight_deliver(struct hsa_flight *f);
/* The program's signal follows as soon as it is over, whoever waits for that or not. */
void hsa_flight_forward(struct hsa_flight *f);
/* Waits for all of the device; false: not within bound_ns. */
bool hsa_flights_wait(struct hsa_device *d, uint64_t bound_ns);
/* A queue is gone: nothing of it will end any more. */
void hsa_flights_forget(struct hsa_device *d, const struct hsa_tap *tap);
/* Gives the unused signals back. */
void hsa_flights_release(void);

#endif
