/* SPDX-License-Identifier: Apache-2.0 */
/* elf_can_preload on this machine's programs and on headers made by hand. */
#include "../test.h"
#include "base/elf_probe.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/retally-elf.XXXXXX";

static void write_file(const void *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* A program with one header and, behind it, the name of an interpreter. */
static void write_elf(unsigned char class, uint16_t machine, uint32_t type, const char *interpreter,
		      size_t n)
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph;
		char name[64];
	} f = {0};

	memcpy(f.eh.e_ident, ELFMAG, SELFMAG);
	f.eh.e_ident[EI_CLASS] = class;
	f.eh.e_machine = machine;
	f.eh.e_phoff = offsetof(__typeof__(f), ph);
	f.eh.e_phentsize = sizeof(f.ph);
	f.eh.e_phnum = 1;
	f.ph.p_type = type;
	f.ph.p_offset = offsetof(__typeof__(f), name);
	f.ph.p_filesz = n;
	memcpy(f.name, interpreter, strlen(interpreter) + 1);
	write_file(&f, sizeof(f));
}

static uint16_t this_machine(void)
{
	FILE *f = fopen("/proc/self/exe", "r");
	Elf64_Ehdr eh;

	assert_non_null(f);
	assert_int_equal(fread(&eh, sizeof(eh), 1, f), 1);
	fclose(f);
	return eh.e_machine;
}

static void refuses(const char *why)
{
	char reason[200] = "";

	assert_false(elf_can_preload(path, reason, sizeof(reason)));
	if (!strstr(reason, why))
		fail_msg("'%s' does not say '%s'", reason, why);
}

static void test_programs_here(void **state)
{
	char reason[200] = "x";

	(void)state;
	assert_true(elf_can_preload("/proc/self/exe", reason, sizeof(reason)));
	assert_string_equal(reason, "");
	assert_true(elf_can_preload("/bin/sh", reason, sizeof(reason)));
	write_file("#!/bin/sh -e\necho\n", 18);
	assert_true(elf_can_preload(path, reason, sizeof(reason)));
}

static void test_refused(void **state)
{
	uint16_t machine = this_machine();
	char loop[80];

	(void)state;
	write_elf(ELFCLASS64, machine, PT_LOAD, "", 0);
	refuses("statically linked");
	write_elf(ELFCLASS64, machine, PT_DYNAMIC, "", 0);
	refuses("static-pie");
	write_elf(ELFCLASS32, machine, PT_INTERP, "/lib/ld-linux.so.2", 19);
	refuses("32-bit");
	write_elf(ELFCLASS64, machine ^ 1, PT_INTERP, "/lib/ld-linux.so.2", 19);
	refuses("another processor");
	write_elf(ELFCLASS64, machine, PT_INTERP, "/lib/ld-musl-x86_64.so.1", 25);
	refuses("musl");
	write_elf(ELFCLASS64, machine, PT_INTERP, "/system/bin/linker64", 21);
	refuses("Android");
	write_elf(ELFCLASS64, machine, PT_INTERP, "/opt/own", 9);
	refuses("'/opt/own'");
	snprintf(loop, sizeof(loop), "#!%s\n", path);
	write_file(loop, strlen(loop));
	refuses("lead to each other");
	write_file("#!\n", 3);
	refuses("no interpreter");
	write_file("text", 4);
	refuses("not an ELF file");
	write_file("", 0);
	refuses("not an ELF file");
	unlink(path);
	refuses("cannot be read");
}

static void test_damaged(void **state)
{
	char reason[200];

	(void)state;
	/* An interpreter without an end, of no length, beyond the file. */
	write_elf(ELFCLASS64, this_machine(), PT_INTERP, "/lib/ld-linux.so.2", 18);
	refuses("interpreter");
	write_elf(ELFCLASS64, this_machine(), PT_INTERP, "", 0);
	refuses("interpreter");
	write_elf(ELFCLASS64, this_machine(), PT_INTERP, "/lib", 200);
	refuses("interpreter");
	/* Every shorter file ends in an answer. */
	write_elf(ELFCLASS64, this_machine(), PT_INTERP, "/lib/ld-linux.so.2", 19);
	assert_true(elf_can_preload(path, reason, sizeof(reason)));
	for (off_t n = (off_t)(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr)); n-- > 0;) {
		assert_int_equal(truncate(path, n), 0);
		assert_false(elf_can_preload(path, reason, sizeof(reason)));
	}
}

static void test_set_user_id(void **state)
{
	char reason[200];

	(void)state;
	write_elf(ELFCLASS64, this_machine(), PT_INTERP, "/lib/ld-linux.so.2", 19);
	assert_int_equal(chmod(path, 04755), 0);
	/* Ours already: it gives us nothing new, and the loader does not mind. */
	assert_true(elf_can_preload(path, reason, sizeof(reason)));
	if (getuid() != 0)
		skip_because("needs root");
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(chmod(path, 04755), 0);
	refuses("set-user-id");
	assert_int_equal(chmod(path, 02755), 0);
	refuses("set-group-id");
}

/* Names of dynamic symbols, whole ones only; files that have none. */
static void test_names(void **state)
{
	(void)state;
	assert_true(elf_names_symbol("/proc/self/exe", "_cmocka_run_group_tests"));
	assert_false(elf_names_symbol("/proc/self/exe", "_cmocka_run_group_test"));
	assert_false(elf_names_symbol("/proc/self/exe", "cmocka_run_group_tests"));
	assert_false(elf_names_symbol("/proc/self/exe", "a_function_that_nobody_has"));
	write_elf(ELFCLASS64, this_machine(), PT_INTERP, "/lib/ld-linux.so.2", 19);
	assert_false(elf_names_symbol(path, "_cmocka_run_group_tests"));
	write_elf(ELFCLASS64, this_machine(), PT_DYNAMIC, "_cmocka_run_group_tests", 24);
	assert_false(elf_names_symbol(path, "_cmocka_run_group_tests"));
	assert_false(elf_names_symbol("/nonexistent", "_cmocka_run_group_tests"));
	assert_false(elf_names_symbol("/dev/null", "_cmocka_run_group_tests"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs_here), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_damaged),       cmocka_unit_test(test_set_user_id),
		cmocka_unit_test(test_names),
	};
	int fd = mkstemp(path), rc;

	if (fd < 0)
		return 99;
	close(fd);
	rc = cmocka_run_group_tests_name("elf probe", tests, NULL, NULL);
	unlink(path);
	return rc;
}
