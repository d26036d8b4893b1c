/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks for retally: which piece of a program is to be counted by itself.
 *
 *   RETALLY_BEGIN("solve");
 *   ...
 *   RETALLY_END("solve");
 *
 * A program with marks needs no library: without retally a mark is one load and one branch, and a
 * statically linked program keeps that for good. Under retally the marks are found in
 * libretally.so, which retally preloads.
 *
 * Marks may nest, may be passed any number of times and in several threads at once. A name is any
 * text (bytes up to the NUL; the first 1000 count). docs/regions.md says what happens when begin
 * and end do not fit together: never more than a sentence in the report.
 *
 * In C++ RETALLY_SCOPE("solve"); marks the rest of a block, also when an exception leaves it.
 * RETALLY_DISABLE defined before this header removes all marks.
 *
 * C89 and C++98; GCC, Clang and compilers that follow them on ELF systems. Elsewhere the marks are
 * empty.
 */
#ifndef RETALLY_H
#define RETALLY_H

#if defined(__ELF__) && (defined(__GNUC__) || defined(__clang__)) && !defined(RETALLY_DISABLE)

#ifdef __cplusplus
extern "C" {
#endif
extern void retally_region_begin(const char *retally_name) __attribute__((__weak__));
extern void retally_region_end(const char *retally_name) __attribute__((__weak__));
#ifdef __cplusplus
}
#endif

typedef void (*retally_mark_t)(const char *);

/* The address goes through the global offset table, also in a program that is not position
 * independent: there the linker would otherwise decide at once that nobody has the function. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define RETALLY_LOOK_(retally_var, retally_function)                                            \
	__asm__(".weak " #retally_function "\n\tmovq " #retally_function "@GOTPCREL(%%rip), %0" \
		: "=r"(retally_var))
#elif defined(__aarch64__) && !defined(__ILP32__)
#define RETALLY_LOOK_(retally_var, retally_function)                              \
	__asm__(".weak " #retally_function "\n\tadrp %0, :got:" #retally_function \
		"\n\tldr %0, [%0, :got_lo12:" #retally_function "]"               \
		: "=r"(retally_var))
#else
#define RETALLY_LOOK_(retally_var, retally_function) ((retally_var) = &retally_function)
#endif

static __inline__ void retally_begin_(const char *retally_name) __attribute__((__unused__));
static __inline__ void retally_begin_(const char *retally_name)
{
	retally_mark_t retally_var;

	RETALLY_LOOK_(retally_var, retally_region_begin);
	if (retally_var)
		retally_var(retally_name);
}

static __inline__ void retally_end_(const char *retally_name) __attribute__((__unused__));
static __inline__ void retally_end_(const char *retally_name)
{
	retally_mark_t retally_var;

	RETALLY_LOOK_(retally_var, retally_region_end);
	if (retally_var)
		retally_var(retally_name);
}

#define RETALLY_BEGIN(retally_name) retally_begin_(retally_name)
#define RETALLY_END(retally_name)   retally_end_(retally_name)

#else

#define RETALLY_BEGIN(retally_name) ((void)(retally_name))
#define RETALLY_END(retally_name)   ((void)(retally_name))

#endif

#ifdef __cplusplus
class retally_scope_
{
      public:
	explicit retally_scope_(const char *name) : name_(name)
	{
		RETALLY_BEGIN(name_);
	}
	~retally_scope_()
	{
		RETALLY_END(name_);
	}

      private:
	retally_scope_(const retally_scope_ &);
	retally_scope_ &operator=(const retally_scope_ &);
	const char *name_;
};
#define RETALLY_JOIN2_(a, b) a##b
#define RETALLY_JOIN_(a, b)  RETALLY_JOIN2_(a, b)
#define RETALLY_SCOPE(name)  retally_scope_ RETALLY_JOIN_(retally_scope_at_, __LINE__)(name)
#endif

#endif
