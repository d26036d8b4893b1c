/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parsed form of an expression, shared by the parser, the evaluator and the printer and private
 * to them. Leaves (counters) and constants are listed once each, so that the evaluator can ask for
 * them by number instead of by name; reductions over dispatches are listed innermost first.
 */
#ifndef RETALLY_MODEL_EXPR_NODE_H
#define RETALLY_MODEL_EXPR_NODE_H

#include "model/expr.h"

#define EXPR_TEXT_MAX  65536 /* bytes */
#define EXPR_NODES_MAX 4096  /* also bounds the depth of a chain such as a + b + c ... */
#define EXPR_DEPTH_MAX 200   /* nesting of parentheses, calls and conditions */
#define EXPR_INDEX_MAX 65535

#define EXPR_ALL_INSTANCES (-2) /* NAME[] */

enum expr_op {
	EXPR_NUMBER,
	EXPR_NONE,
	EXPR_COUNTER,  /* leaf */
	EXPR_CONSTANT, /* constant */
	/* operators, in order of expr_op_text */
	EXPR_ADD,
	EXPR_SUBTRACT,
	EXPR_MULTIPLY,
	EXPR_DIVIDE,
	EXPR_LESS,
	EXPR_LESS_EQUAL,
	EXPR_GREATER,
	EXPR_GREATER_EQUAL,
	EXPR_EQUAL,
	EXPR_NOT_EQUAL,
	EXPR_NEGATE,
	EXPR_IF, /* a if b else c */
	/* element by element */
	EXPR_MIN2,
	EXPR_MAX2,
	EXPR_ROUND,
	EXPR_MOD,
	EXPR_ABS,
	EXPR_TO_INT,
	EXPR_CONCAT,
	/* over instances: leaf */
	EXPR_INSTANCES_SUM,
	EXPR_INSTANCES_MIN,
	EXPR_INSTANCES_MAX,
	EXPR_INSTANCES_AVG,
	EXPR_INSTANCES_STD,
	/* over dispatches: a; number is the q of QUANTILE */
	EXPR_SUM,
	EXPR_AVG,
	EXPR_MIN,
	EXPR_MAX,
	EXPR_MEDIAN,
	EXPR_STD,
	EXPR_QUANTILE,
};

struct expr_node {
	enum expr_op op;
	uint32_t index; /* of the leaf, the constant or the reduction */
	double number;
	const struct expr_node *a, *b, *c;
};

struct expr_leaf {
	const char *name;
	int32_t instance; /* -1: summed over instances; EXPR_ALL_INSTANCES */
	const char *full; /* as expr_names reports it: NAME, NAME[3] or NAME[] */
	bool bare;        /* used outside of every reduction over dispatches */
};

struct expr_constant {
	const char *name; /* without the '$' */
	bool adds_up;     /* per dispatch: summed where counters are */
	bool dispatches;  /* $dispatches, which the evaluator knows itself */
	bool bare;
};

struct expr_mention { /* for expr_names: in order of appearance */
	bool is_constant;
	uint32_t index;
};

struct expr {
	const struct expr_node *root;
	uint32_t n_nodes;
	uint32_t n_leaves, n_constants, n_reductions, n_mentions;
	const struct expr_leaf *leaves;
	const struct expr_constant *constants;
	const struct expr_node **reductions;
	const struct expr_mention *mentions;
};

struct expr_function {
	const char *name;
	enum expr_op op;
	int n_arguments;
};

/* The functions of an expression; NULL when there is none of that name (and number of arguments,
 * when n_arguments is not negative). */
const struct expr_function *expr_function_find(const char *name, int n_arguments);
/* The name under which an operator is called, or NULL for what is no function. */
const char *expr_function_name(enum expr_op op);
bool expr_is_reserved(const char *word);
/* Reads a number, alike in every locale. False when text is not one, or not finite. */
bool expr_number(const char *text, double *number_out);

#endif
