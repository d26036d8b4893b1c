/* SPDX-License-Identifier: Apache-2.0 */
/* Demangling through the C++ run-time library, and cutting names short. */
#include "report/kernel_name.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Longer ones are shown as they are: a name can stand for one of exponential length. */
#define MANGLED_MAX 32768

typedef char *demangle_function(const char *mangled, char *buffer, size_t *size, int *status);

static demangle_function *open_demangler(void)
{
	static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
	static demangle_function *found;
	static bool tried;

	for (size_t i = 0; !tried && !found && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);

		if (library)
			*(void **)(void *)&found = dlsym(library, "__cxa_demangle");
	}
	tried = true;
	return found;
}

/* ---- the short form ---- */

/* Length of a piece in brackets that is part of a name, not of its parameters. */
static size_t bracketed_word(const char *at)
{
	static const char *const words[] = {"(anonymous namespace)", "{lambda", "{unnamed"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]), depth = 1;

		if (strncmp(at, words[i], n) != 0)
			continue;
		if (*at == '(')
			return n;
		for (; at[n] && depth; n++)
			depth += (at[n] == '{') - (size_t)(at[n] == '}');
		return n;
	}
	return 0;
}

/* "operator()", "operator<<", "operator new": length of the whole. */
static size_t operator_word(const char *start, const char *at)
{
	static const char *const signs[] = {"()", "[]", "<<=", ">>=", "<=>", "->*", "<<",
					    ">>", "<=", ">=",  "->",  "<",   ">"};
	size_t n = strlen("operator");

	if (strncmp(at, "operator", n) != 0 || (at > start && at[-1] != ' ' && at[-1] != ':'))
		return 0;
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (!strncmp(at + n, signs[i], strlen(signs[i])))
			return n + strlen(signs[i]);
	}
	if (at[n] == ' ') /* "operator new", or a conversion: up to the parameters */
		return strcspn(at, "(");
	return n + strcspn(at + n, "(<");
}

/* Behind the bracket that closes the one at `at`. */
static const char *skip_template(const char *at)
{
	size_t angle = 0, round = 0;

	for (; *at; at++) {
		if (*at == '(')
			round++;
		else if (*at == ')' && round)
			round--;
		else if (*at == '<' && !round)
			angle++;
		else if (*at == '>' && !round && !--angle)
			return at + 1;
	}
	return at;
}

const char *kernel_name_shorten(struct arena *arena, const char *full)
{
	char *out = arena_alloc(arena, strlen(full) + 1);
	const char *at = full;
	size_t n = 0, word;

	if (!out)
		return NULL;
	while (*at) {
		word = bracketed_word(at);
		if (!word)
			word = operator_word(full, at);
		if (word) {
			memcpy(out + n, at, word);
			n += word;
			at += word;
		} else if (*at == '(') {
			break;
		} else if (*at == '<') {
			at = skip_template(at);
		} else if (at[0] == ':' && at[1] == ':') {
			n = 0;
			at += 2;
		} else if (at[0] == ' ' && at[1] == '<') { /* "operator<< <int>" */
			at++;
		} else if (*at == ' ') { /* behind the result's type */
			n = 0;
			at++;
		} else {
			out[n++] = *at++;
		}
	}
	out[n] = '\0';
	return n ? out : full;
}

const char *kernel_name_show(struct arena *arena, const char *name, enum kernel_name_style style)
{
	demangle_function *demangle;
	size_t n = strlen(name);
	char *mangled, *text;
	const char *full;
	int status = 0;

	if (style == KERNEL_NAME_MANGLED || strncmp(name, "_Z", 2) != 0 || n > MANGLED_MAX)
		return name;
	demangle = open_demangler();
	if (!demangle)
		return name;
	if (n > 3 && !strcmp(name + n - 3, ".kd")) /* AMD's name of a kernel's descriptor */
		n -= 3;
	mangled = strndup(name, n);
	text = mangled ? demangle(mangled, NULL, NULL, &status) : NULL;
	free(mangled);
	if (!text)
		return name;
	full = arena_strdup(arena, text);
	free(text);
	return full && style == KERNEL_NAME_SHORT ? kernel_name_shorten(arena, full) : full;
}
