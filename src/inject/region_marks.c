/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that marks in a program (include/retally.h, retally.f90) find when this library is
 * there: for regions that CPU counters see, and for ranges of devices. */
#include "inject/regions.h"
#include "inject/replay_session.h"
#include "runtime/region/region.h"

#define HOOK __attribute__((visibility("default"), noinline))

void retally_region_begin(const char *name);
void retally_region_end(const char *name);

HOOK void retally_region_begin(const char *name)
{
	/* What devices still have to do for the program is done before the region counts. */
	replay_session_mark(name, true);
	regions_meet_mark();
	if (replay_session_takes_range(name))
		region_begin(name, __builtin_return_address(0), __builtin_frame_address(0));
}

HOOK void retally_region_end(const char *name)
{
	if (replay_session_takes_range(name))
		region_end(name, __builtin_return_address(0), __builtin_frame_address(0));
	replay_session_mark(name, false);
}
