/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics to stderr; the level table is read once from RETALLY_LOG. */
#include "base/log.h"

#include "base/str.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const level_names[] = {"error", "warn", "info", "debug", "trace"};

#define LOG_DOMAINS_MAX 16
struct log_domain {
	char name[24];
	enum log_level level;
};

static pthread_once_t log_once = PTHREAD_ONCE_INIT;
static enum log_level default_level = LOG_WARN;
static struct log_domain domains[LOG_DOMAINS_MAX];
static int n_domains;

static int log_parse_level(const char *s, size_t n)
{
	for (int i = 0; i <= LOG_TRACE; i++)
		if (strlen(level_names[i]) == n && !strncmp(s, level_names[i], n))
			return i;
	return -1;
}

static void log_read_environment(void)
{
	const char *s = getenv("RETALLY_LOG");

	while (s && *s) {
		size_t n = strcspn(s, ",");
		const char *eq = memchr(s, '=', n);
		int level = eq ? log_parse_level(eq + 1, n - (size_t)(eq + 1 - s))
			       : log_parse_level(s, n);

		if (level < 0) {
			char word[200];

			snprintf(word, sizeof(word), "%.*s", (int)n, s);
			str_tame_line(word);
			fprintf(stderr,
				"retally: RETALLY_LOG: '%s' is not LEVEL or DOMAIN=LEVEL "
				"with a level of error, warn, info, debug, trace\n",
				word);
		} else if (!eq) {
			default_level = (enum log_level)level;
		} else if (n_domains < LOG_DOMAINS_MAX) {
			struct log_domain *d = &domains[n_domains++];

			snprintf(d->name, sizeof(d->name), "%.*s", (int)(eq - s), s);
			d->level = (enum log_level)level;
		}
		s += n;
		if (*s == ',')
			s++;
	}
}

bool log_is_on(const char *domain, enum log_level level)
{
	pthread_once(&log_once, log_read_environment);
	for (int i = 0; i < n_domains; i++)
		if (!strcmp(domains[i].name, domain))
			return level <= domains[i].level;
	return level <= default_level;
}

void log_write(const char *domain, enum log_level level, const char *fmt, ...)
{
	int saved = errno;
	char line[1024];
	va_list ap;
	int n;

	if (level >= LOG_DEBUG)
		n = snprintf(line, sizeof(line), "retally[%d] %s: ", (int)getpid(), domain);
	else
		n = snprintf(line, sizeof(line), "retally: %s",
			     level == LOG_ERROR  ? "error: "
			     : level == LOG_WARN ? "warning: "
						 : "");
	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
	va_end(ap);
	str_tame_line(line);
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n] = '\n';
	if (write(STDERR_FILENO, line, (size_t)n + 1) < 0) {
		/* nowhere left to say it */
	}
	errno = saved;
}
