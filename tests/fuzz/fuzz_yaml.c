/* SPDX-License-Identifier: Apache-2.0 */
/* Data files from anyone: as a chip, as metrics of a chip, and as metrics of the machine at hand.
 */
#include "fuzz.h"
#include "model/catalog_load.h"

#include <stdlib.h>
#include <string.h>

static const char chip[] =
	"chip: toy\n"
	"title: Toy chip\n"
	"vendor: none\n"
	"source: sim\n"
	"constants: [{name: num_xcd, value: 2}]\n"
	"blocks:\n"
	"  - {name: SQ, slots: 8, scope: per-XCC, reference: r, confidence: measured}\n"
	"  - {name: TCC, slots: 4, instances: 3, reference: r, confidence: inferred}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct catalog c = {0};
	struct error err = {0};
	/* a copy of its own, so that a read past its end is found */
	char *text = malloc(size ? size : 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	if (catalog_load_chip_text(&c, "fuzz", text, size, &err))
		fuzz_assert(*err.message);
	catalog_release(&c);
	fuzz_assert(!catalog_load_chip_text(&c, "chip", chip, sizeof(chip) - 1, &err));
	err = (struct error){0};
	if (catalog_load_text(&c, "fuzz", text, size, &err))
		fuzz_assert(*err.message);
	catalog_release(&c);
	c.chip = "cpu";
	err = (struct error){0};
	if (catalog_load_text(&c, "fuzz", text, size, &err))
		fuzz_assert(*err.message);
	catalog_release(&c);
	free(text);
	return 0;
}
