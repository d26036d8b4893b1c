/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner against an independent solver, GLPK's branch and cut. The model: x[i][k] puts item i
 * into pass k, y[e][k] counts event e there. GLPK is asked for a plan of one pass fewer than the
 * planner's; where it finishes it must say that there is none. GLPK is bounded by nodes, not by
 * time.
 */
#include "../test.h"
#include "planner_instances.h"

#include <glpk.h>
#include <stdlib.h>

#define GLPK_NODES 60

enum answer {
	NO_PLAN,
	PLAN,
	NOT_FINISHED
};

struct oracle {
	glp_prob *lp;
	uint32_t n_items, n_events, n_passes;
};

static int x(const struct oracle *o, uint32_t item, uint32_t pass)
{
	return (int)(1 + item * o->n_passes + pass);
}

static int y(const struct oracle *o, uint32_t event, uint32_t pass)
{
	return (int)(1 + (o->n_items + event) * o->n_passes + pass);
}

static void add_row(glp_prob *lp, int type, double bound, int n, const int *columns,
		    const double *factors)
{
	int row = glp_add_rows(lp, 1);

	glp_set_row_bnds(lp, row, type, bound, bound);
	glp_set_mat_row(lp, row, n, columns, factors);
}

static void build(struct oracle *o, const struct planner_problem *p)
{
	int most = (int)(p->n_events + p->n_items + o->n_passes + 2);
	int *columns = calloc((size_t)most, sizeof(*columns));
	double *factors = calloc((size_t)most, sizeof(*factors));

	glp_add_cols(o->lp, (int)((o->n_items + o->n_events) * o->n_passes));
	for (uint32_t i = 0; i < p->n_items; i++) {
		for (uint32_t k = 0; k < o->n_passes; k++) {
			glp_set_col_kind(o->lp, x(o, i, k), GLP_BV);
			/* passes are alike: item i may open pass i at the latest */
			if (k > i)
				glp_set_col_bnds(o->lp, x(o, i, k), GLP_FX, 0, 0);
			columns[k + 1] = x(o, i, k);
			factors[k + 1] = 1;
		}
		add_row(o->lp, GLP_FX, 1, (int)o->n_passes, columns, factors);
		for (uint32_t j = 0; j < p->items[i].n_events; j++)
			for (uint32_t k = 0; k < o->n_passes; k++) {
				columns[1] = y(o, p->items[i].events[j], k);
				columns[2] = x(o, i, k);
				factors[1] = 1;
				factors[2] = -1;
				add_row(o->lp, GLP_LO, 0, 2, columns, factors);
			}
	}
	for (uint32_t e = 0; e < p->n_events; e++)
		for (uint32_t k = 0; k < o->n_passes; k++)
			glp_set_col_kind(o->lp, y(o, e, k), GLP_BV);
	for (uint32_t b = 0; b < p->n_blocks; b++)
		for (uint32_t k = 0; k < o->n_passes; k++) {
			int n = 0;

			for (uint32_t e = 0; e < p->n_events; e++)
				if (p->events[e].block == b) {
					columns[++n] = y(o, e, k);
					factors[n] = p->events[e].cost;
				}
			if (n)
				add_row(o->lp, GLP_UP, p->slots[b], n, columns, factors);
		}
	free(columns);
	free(factors);
}

static void stop_after_nodes(glp_tree *tree, void *data)
{
	int *nodes_left = data;

	if (glp_ios_reason(tree) == GLP_ISELECT && --*nodes_left < 0)
		glp_ios_terminate(tree);
}

static enum answer ask(const struct planner_problem *p, uint32_t n_passes, int nodes)
{
	struct oracle o = {.n_items = p->n_items, .n_events = p->n_events, .n_passes = n_passes};
	enum answer answer = NOT_FINISHED;
	glp_iocp parameters;
	int rc;

	if (!n_passes)
		return NO_PLAN;
	o.lp = glp_create_prob();
	build(&o, p);
	glp_term_out(GLP_OFF);
	glp_init_iocp(&parameters);
	parameters.presolve = GLP_ON;
	parameters.msg_lev = GLP_MSG_OFF;
	parameters.cb_func = stop_after_nodes;
	parameters.cb_info = &nodes;
	rc = glp_intopt(o.lp, &parameters);
	if (rc == GLP_ENOPFS || (!rc && glp_mip_status(o.lp) == GLP_NOFEAS))
		answer = NO_PLAN;
	else if (glp_mip_status(o.lp) == GLP_OPT || glp_mip_status(o.lp) == GLP_FEAS)
		answer = PLAN;
	glp_delete_prob(o.lp);
	return answer;
}

/* Only the events that items use: the model has no room for the rest. */
static void compact(struct instance *in)
{
	struct planner_problem *p = &in->problem;
	uint32_t *number = arena_array(&in->arena, p->n_events, sizeof(*number));
	struct planner_event *events = arena_array(&in->arena, p->n_events, sizeof(*events));
	struct planner_item *items = arena_array(&in->arena, p->n_items, sizeof(*items));
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_items; i++)
		for (uint32_t k = 0; k < p->items[i].n_events; k++)
			number[p->items[i].events[k]] = 1;
	for (uint32_t e = 0; e < p->n_events; e++)
		if (number[e]) {
			events[n] = p->events[e];
			number[e] = n++;
		}
	for (uint32_t i = 0; i < p->n_items; i++) {
		uint32_t *list = arena_array(&in->arena, p->items[i].n_events + 1, sizeof(*list));

		for (uint32_t k = 0; k < p->items[i].n_events; k++)
			list[k] = number[p->items[i].events[k]];
		items[i].n_events = p->items[i].n_events;
		items[i].events = list;
	}
	p->n_events = n;
	p->events = events;
	p->items = items;
}

static void test_random_instances(void **state)
{
	uint32_t finished = 0, asked = 0, by_search = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		const struct instance_shape shape = {.n_blocks = 10,
						     .n_items = 6 + (uint32_t)(seed % 19),
						     .events_max = 8,
						     .pool = 2 + (uint32_t)(seed % 5),
						     .pairs_of_100 = seed % 4 ? 0 : 20};
		struct planner_solution s;
		struct instance in;
		struct error err = {0};
		enum answer answer;

		instance_make(&in, &shape, seed);
		compact(&in);
		assert_int_equal(planner_solve(&in.problem, &s, &err), 0);
		assert_true(instance_check(&in.problem, s.pass_of_item, s.n_passes));
		/* nothing to ask where counting slots settles it */
		if (s.n_passes > instance_slot_bound(&in.problem)) {
			asked++;
			answer = ask(&in.problem, s.n_passes - 1, GLPK_NODES);
			assert_int_not_equal(answer, PLAN);
			finished += answer == NO_PLAN;
			by_search += s.proven && answer == NO_PLAN;
		}
		planner_solution_release(&s);
		instance_release(&in);
	}
	print_message("# GLPK finished %u of %u, all agree; %u of them proven by both\n", finished,
		      asked, by_search);
	assert_true(finished > 0);
	assert_int_equal(by_search, finished);
}

/* The model itself can say yes, so that its no is worth something. */
static void test_oracle_finds_plans(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		const struct instance_shape shape = {
			.n_blocks = 6, .n_items = 8, .events_max = 6, .pool = 2};
		struct planner_solution s;
		struct instance in;
		struct error err = {0};

		instance_make(&in, &shape, seed);
		compact(&in);
		assert_int_equal(planner_solve(&in.problem, &s, &err), 0);
		assert_int_equal(ask(&in.problem, s.n_passes, GLPK_NODES), PLAN);
		planner_solution_release(&s);
		instance_release(&in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_instances),
		cmocka_unit_test(test_oracle_finds_plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
