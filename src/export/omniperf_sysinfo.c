/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysinfo.csv of an Omniperf directory: what rocprof-compute's formulas need to know of the chip,
 * from the chip file of the plan.
 */
#include "export/parts.h"
#include "model/catalog_load.h"

#include <string.h>

/* Those with analysis files in rocprof-compute 3.3. */
static const char *const chips[] = {"gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"};
/* Whose analysis files were tried with what is written here. */
#define OMNIPERF_VERSION "3.3.0"
/* All blocks but the roofline, for which there is no file. */
#define OMNIPERF_BLOCKS "SQ|LDS|SQC|TA|TD|TCP|TCC|SPI|CPC|CPF"

static const struct {
	const char *column;
	const char *constant; /* of data/chips */
} columns[] = {
	{"se_per_gpu", "se_per_gpu"},
	{"pipes_per_gpu", "pipes_per_gpu"},
	{"cu_per_gpu", "cu_per_gpu"},
	{"simd_per_cu", "simd_per_cu"},
	{"sqc_per_gpu", "sqc_per_gpu"},
	{"lds_banks_per_cu", "lds_banks_per_cu"},
	{"cur_sclk", "max_sclk"}, /* the clock of the run is not recorded */
	{"cur_mclk", "max_mclk"},
	{"max_sclk", "max_sclk"},
	{"max_mclk", "max_mclk"},
	{"max_waves_per_cu", "max_waves_per_cu"},
	/* A memory channel for each of L2, as on undivided devices of these families. */
	{"num_hbm_channels", "total_l2_chan"},
	{"total_l2_chan", "total_l2_chan"},
	{"num_xcd", "num_xcd"},
	{"wave_size", "wave_size"},
};
#define N_COLUMNS (sizeof(columns) / sizeof(*columns))

bool omniperf_knows_chip(const char *chip)
{
	for (size_t i = 0; i < sizeof(chips) / sizeof(*chips); i++) {
		if (!strcmp(chips[i], chip))
			return true;
	}
	return false;
}

int omniperf_sysinfo(const char *chip, const char *data_dir, struct str *out, struct error *err)
{
	struct catalog c = {0};
	int rc = catalog_load_chip(&c, data_dir, chip, err);

	str_add(out, "version,gpu_arch,ip_blocks");
	for (size_t i = 0; i < N_COLUMNS; i++)
		str_addf(out, ",%s", columns[i].column);
	str_addf(out, "\n%s,%s,%s", OMNIPERF_VERSION, chip, OMNIPERF_BLOCKS);
	for (size_t i = 0; !rc && i < N_COLUMNS; i++) {
		uint32_t at = catalog_find_constant(&c, columns[i].constant);

		if (at == UINT32_MAX) {
			rc = error_set(err, RC_INVALID, "the chip file of %s has no constant '%s'",
				       chip, columns[i].constant);
			break;
		}
		str_add_char(out, ',');
		number_print(NUMBER_F64(c.constants.items[at].value), out);
	}
	str_add(out, "\n");
	catalog_release(&c);
	return rc;
}
