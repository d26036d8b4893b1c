/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagnostics, always to stderr, never to stdout. RETALLY_LOG=LEVEL[,DOMAIN=LEVEL...] chooses what
 * is shown (error, warn, info, debug, trace; default warn). A .c file defines LOG_DOMAIN before the
 * include. Thread-safe; one write(2) a line; no allocation. errno is preserved.
 */
#ifndef RETALLY_BASE_LOG_H
#define RETALLY_BASE_LOG_H

#include <stdbool.h>

enum log_level {
	LOG_ERROR,
	LOG_WARN,
	LOG_INFO,
	LOG_DEBUG,
	LOG_TRACE
};

#ifndef LOG_DOMAIN
#define LOG_DOMAIN "retally"
#endif

bool log_is_on(const char *domain, enum log_level level);
void log_write(const char *domain, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define log_at(level, ...)                                         \
	do {                                                       \
		if (log_is_on(LOG_DOMAIN, level))                  \
			log_write(LOG_DOMAIN, level, __VA_ARGS__); \
	} while (0)
#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)
#define log_trace(...) log_at(LOG_TRACE, __VA_ARGS__)

#endif
