/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Getting packets to the device. Inside a handler of ours through the writer that it was given,
 * which leads through the SDK's interceptor into the program's queue; else into a queue of our own,
 * which the SDK intercepts as well. (A doorbell that is rung inside a handler is answered by
 * another thread, later.)
 */
#ifndef RETALLY_RUNTIME_HSA_SUBMIT_H
#define RETALLY_RUNTIME_HSA_SUBMIT_H

#include "runtime/hsa/flights.h"

/* With the replay lock of the device. f: of the packet, for the throttle. */
int hsa_submit(struct hsa_device *d, const void *packet, struct hsa_flight *f, struct error *err);
/* Inside the handler of tap: waits until what it submits fits into the ring although the SDK puts
 * packets around it; packets that do not fit wait for a lock that we hold. f: what comes next. */
void hsa_submit_throttle(struct hsa_tap *tap, struct hsa_flight *f);
void hsa_submit_forget(struct hsa_tap *tap);
/* At the end: our own queue. */
void hsa_submit_close(struct hsa_device *d);

#endif
