/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns on the thread that calls the handlers of signals, the SDK's among them.
 *
 * rocprofiler-sdk counts the dispatches of a queue that are under way. A change of the counting
 * context waits for as many ends as it counts, with a barrier in every queue. The handler of an
 * end first reports it and then takes the dispatch off the count, and an interceptor first adds the
 * dispatch and then asks for the barrier. A change in between counts one end too many or one whose
 * dispatch is behind the barrier, and the queues stand still for ever (rocprofiler-sdk 1.0.0,
 * hsa/queue.cpp, hsa/hsa_barrier.cpp; seen above a model GPU). So contexts are changed between two
 * handlers, on their own thread, and while no packet is on its way through the SDK.
 */
#ifndef RETALLY_RUNTIME_HSA_EVENTS_H
#define RETALLY_RUNTIME_HSA_EVENTS_H

#include "runtime/hsa/session.h"

/* call(data) on that thread, between handlers, with no packet inside hsa_write; returns when it was
 * done. false: it was not and never will be, because the thread does not answer within some seconds
 * or the runtime is gone. */
bool hsa_events_turn(void (*call)(void *data), void *data);
/* So that the thread is known from now on (hsa_here.events). */
void hsa_events_meet(void);
/* At the end: its signal. */
void hsa_events_release(void);
/* Gets packets on; every packet goes through here. */
void hsa_write(hsa_packet_writer writer, const void *packets, uint64_t n);
/* The same for a packet in a queue of our own: its doorbell. */
void hsa_ring(uint64_t doorbell, uint64_t index);

#endif
