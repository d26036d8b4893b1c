/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SQLite database in the schema of rocprofiler-sdk's rocpd, version 3: tables whose names end
 * with an id of the run, views without it, and the view counters_collection that readers of
 * counters use. Tables that a run of retally has nothing for are there and empty. Names and types
 * of the columns are those of rocm-systems,
 * projects/rocprofiler-sdk/source/share/rocprofiler-sdk-rocpd.
 *
 * The database is made in memory order: ids are indexes plus 1.
 */
#include "base/hash.h"
#include "export/parts.h"
#include "store/sql.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What each table has between `guid` and `extdata`. */
static const char *const tables[][2] = {
	{"string", "string TEXT NOT NULL UNIQUE"},
	{"info_node",
	 "hash BIGINT NOT NULL UNIQUE, machine_id TEXT NOT NULL UNIQUE, system_name TEXT,"
	 " hostname TEXT, release TEXT, version TEXT, hardware_name TEXT, domain_name TEXT"},
	{"info_process", "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, init BIGINT,"
			 " fini BIGINT, start BIGINT, \"end\" BIGINT, command TEXT,"
			 " environment JSONB DEFAULT '{}' NOT NULL"},
	{"info_thread", "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL,"
			" tid INTEGER NOT NULL, name TEXT, start BIGINT, \"end\" BIGINT"},
	{"info_agent",
	 "nid INTEGER NOT NULL, pid INTEGER NOT NULL, type TEXT, absolute_index INTEGER,"
	 " logical_index INTEGER, type_index INTEGER, uuid INTEGER, name TEXT,"
	 " model_name TEXT, vendor_name TEXT, product_name TEXT, user_name TEXT"},
	{"info_queue", "nid INTEGER NOT NULL, pid INTEGER NOT NULL, name TEXT"},
	{"info_stream", "nid INTEGER NOT NULL, pid INTEGER NOT NULL, name TEXT"},
	{"info_pmc",
	 "nid INTEGER NOT NULL, pid INTEGER NOT NULL, agent_id INTEGER, target_arch TEXT,"
	 " event_code INT, instance_id INTEGER, name TEXT NOT NULL, symbol TEXT NOT NULL,"
	 " description TEXT, long_description TEXT DEFAULT '', component TEXT,"
	 " units TEXT DEFAULT '', value_type TEXT, block TEXT, expression TEXT,"
	 " is_constant INTEGER, is_derived INTEGER"},
	{"info_code_object",
	 "nid INTEGER NOT NULL, pid INTEGER NOT NULL, agent_id INTEGER, uri TEXT,"
	 " load_base BIGINT, load_size BIGINT, load_delta BIGINT,"
	 " storage_type TEXT"},
	{"info_kernel_symbol",
	 "nid INTEGER NOT NULL, pid INTEGER NOT NULL, code_object_id INTEGER NOT NULL,"
	 " kernel_name TEXT, display_name TEXT, kernel_object INTEGER, kernarg_segment_size "
	 "INTEGER,"
	 " kernarg_segment_alignment INTEGER, group_segment_size INTEGER,"
	 " private_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER,"
	 " accum_vgpr_count INTEGER"},
	{"track", "nid INTEGER NOT NULL, pid INTEGER, tid INTEGER, name_id INTEGER"},
	{"event", "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER,"
		  " correlation_id INTEGER, call_stack JSONB DEFAULT '{}' NOT NULL,"
		  " line_info JSONB DEFAULT '{}' NOT NULL"},
	{"arg", "event_id INTEGER NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL,"
		" name TEXT NOT NULL, value TEXT"},
	{"pmc_event", "event_id INTEGER, pmc_id INTEGER NOT NULL, value REAL DEFAULT 0.0"},
	{"region", "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL,"
		   " start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, name_id INTEGER NOT NULL,"
		   " event_id INTEGER"},
	{"sample", "track_id INTEGER NOT NULL, timestamp BIGINT NOT NULL, event_id INTEGER"},
	{"kernel_dispatch",
	 "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER NOT NULL,"
	 " kernel_id INTEGER NOT NULL, dispatch_id INTEGER NOT NULL, queue_id INTEGER NOT NULL,"
	 " stream_id INTEGER NOT NULL, start BIGINT NOT NULL, \"end\" BIGINT NOT NULL,"
	 " private_segment_size INTEGER, group_segment_size INTEGER,"
	 " workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL,"
	 " workgroup_size_z INTEGER NOT NULL, grid_size_x INTEGER NOT NULL,"
	 " grid_size_y INTEGER NOT NULL, grid_size_z INTEGER NOT NULL, region_name_id INTEGER,"
	 " event_id INTEGER"},
	{"memory_copy", "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER,"
			" start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, name_id INTEGER NOT NULL,"
			" dst_agent_id INTEGER, dst_address INTEGER, src_agent_id INTEGER,"
			" src_address INTEGER, size INTEGER NOT NULL, queue_id INTEGER,"
			" stream_id INTEGER, region_name_id INTEGER, event_id INTEGER"},
	{"memory_allocate", "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER,"
			    " agent_id INTEGER, type TEXT, level TEXT, start BIGINT NOT NULL,"
			    " \"end\" BIGINT NOT NULL, address INTEGER, size INTEGER NOT NULL,"
			    " queue_id INTEGER, stream_id INTEGER, event_id INTEGER"},
};
#define N_TABLES (sizeof(tables) / sizeof(*tables))

static const char collection_view[] =
	"CREATE VIEW counters_collection AS SELECT min(v.id) AS id, v.guid, d.dispatch_id, "
	"d.kernel_id,"
	" e.id AS event_id, e.correlation_id, e.stack_id, e.parent_stack_id, p.pid, t.tid, "
	"d.agent_id,"
	" a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index,"
	" a.type_index AS agent_type_index, a.type AS agent_type, d.queue_id, d.grid_size_x,"
	" d.grid_size_y, d.grid_size_z, d.grid_size_x * d.grid_size_y * d.grid_size_z AS grid_size,"
	" k.display_name AS kernel_name, NULL AS kernel_region, d.workgroup_size_x,"
	" d.workgroup_size_y, d.workgroup_size_z,"
	" d.workgroup_size_x * d.workgroup_size_y * d.workgroup_size_z AS workgroup_size,"
	" d.group_segment_size AS lds_block_size, d.private_segment_size AS scratch_size,"
	" k.arch_vgpr_count AS vgpr_count, k.accum_vgpr_count, k.sgpr_count, c.name AS "
	"counter_name,"
	" c.symbol AS counter_symbol, c.component, c.description, c.block, c.expression, "
	"c.value_type,"
	" c.id AS counter_id, sum(v.value) AS value, d.start, d.\"end\", c.is_constant, "
	"c.is_derived,"
	" d.\"end\" - d.start AS duration, NULL AS category, d.nid, e.extdata, k.code_object_id"
	" FROM rocpd_pmc_event v JOIN rocpd_info_pmc c ON c.id = v.pmc_id"
	" JOIN rocpd_event e ON e.id = v.event_id JOIN rocpd_kernel_dispatch d ON d.event_id = e.id"
	" JOIN rocpd_info_agent a ON a.id = d.agent_id"
	" JOIN rocpd_info_kernel_symbol k ON k.id = d.kernel_id"
	" JOIN rocpd_info_process p ON p.id = d.pid JOIN rocpd_info_thread t ON t.id = d.tid"
	" GROUP BY v.guid, d.dispatch_id, c.name, d.agent_id";

struct rocpd {
	sqlite3 *db;
	const struct plan *plan;
	const struct export_kernels *k;
	struct join j;
	char id[HASH_TEXT_SIZE], guid[40];
	VEC(const struct store_spool *) processes; /* index + 1: node, process and thread */
	struct id_map agents, symbols, queues;     /* (process, number) to id */
	uint64_t n_agents, n_symbols, n_queues, n_values;
};

static int create(struct rocpd *r, struct error *err)
{
	int rc = sql_executef(r->db, err,
			      "CREATE TABLE \"rocpd_metadata_%s\"(id INTEGER NOT NULL PRIMARY KEY,"
			      " tag TEXT NOT NULL, value TEXT NOT NULL);"
			      "INSERT INTO \"rocpd_metadata_%s\"(tag, value)"
			      " VALUES('schema_version', '3'), ('uuid', '_%s'), ('guid', '%s');"
			      "CREATE VIEW rocpd_metadata AS SELECT * FROM \"rocpd_metadata_%s\"",
			      r->id, r->id, r->id, r->guid, r->id);

	for (size_t i = 0; !rc && i < N_TABLES; i++) {
		/* Only the string table has no extdata. */
		rc = sql_executef(r->db, err,
				  "CREATE TABLE \"rocpd_%s_%s\"(id INTEGER NOT NULL PRIMARY KEY,"
				  " guid TEXT DEFAULT '%s' NOT NULL, %s%s);"
				  "CREATE VIEW rocpd_%s AS SELECT * FROM \"rocpd_%s_%s\"",
				  tables[i][0], r->id, r->guid, tables[i][1],
				  i ? ", extdata JSONB DEFAULT '{}' NOT NULL" : "", tables[i][0],
				  tables[i][0], r->id);
	}
	return rc ? rc : sql_execute(r->db, collection_view, err);
}

static int prepare(struct rocpd *r, const char *table, const char *columns, sqlite3_stmt **out,
		   struct error *err)
{
	char sql[700];
	size_t n = 1;

	for (const char *c = columns; *c; c++)
		n += *c == ',';
	sqlite3_snprintf(sizeof(sql), sql, "INSERT INTO \"rocpd_%s_%s\"(%s) VALUES(?%.*s)", table,
			 r->id, columns, (int)(2 * (n - 1)),
			 ",?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?");
	return sql_prepare(r->db, sql, out, err);
}

/* Runs an insertion of a few numbers and texts: 'i' takes a uint64_t, 's' a text. */
static int insert(struct rocpd *r, const char *table, const char *columns, const char *kinds,
		  const uint64_t *numbers, const char *const *texts, struct error *err)
{
	sqlite3_stmt *s = NULL;
	int rc = prepare(r, table, columns, &s, err);

	for (int i = 0; !rc && kinds[i]; i++) {
		if (kinds[i] == 's')
			sql_bind_text(s, i + 1, *texts++);
		else
			sql_bind_u64(s, i + 1, *numbers++);
	}
	if (!rc)
		rc = sql_run(s, err);
	sqlite3_finalize(s);
	return rc;
}

/* A process with its node and its one thread; all have one number. */
static int process_of(struct rocpd *r, const struct store_spool *spool, uint64_t *id_out,
		      struct error *err)
{
	char machine[400];
	uint64_t id;
	int rc;

	vec_for_each (&r->processes, one) {
		if (*one == spool) {
			*id_out = (uint64_t)(one - r->processes.items) + 1;
			return 0;
		}
	}
	if (!vec_push(&r->processes, spool))
		return error_set(err, RC_NO_MEMORY, "out of memory for the database");
	*id_out = id = r->processes.n;
	snprintf(machine, sizeof(machine), "%s#%llu", spool->host, (unsigned long long)id);
	rc = insert(r, "info_node", "id,hash,machine_id,hostname,system_name", "iisss",
		    (uint64_t[]){id, id}, (const char *[]){machine, spool->host, "Linux"}, err);
	if (!rc)
		rc = insert(r, "info_process", "id,nid,pid,command", "iiis",
			    (uint64_t[]){id, id, (uint32_t)spool->pid},
			    (const char *[]){store_info(r->j.store)->program}, err);
	if (!rc)
		rc = insert(r, "info_thread", "id,nid,pid,tid", "iiii",
			    (uint64_t[]){id, id, id, (uint32_t)spool->pid}, NULL, err);
	if (!rc)
		rc = insert(r, "info_stream", "id,nid,pid,name", "iiis", (uint64_t[]){id, id, id},
			    (const char *[]){"default"}, err);
	return rc;
}

static bool is_new(struct id_map *map, uint64_t a, uint32_t process, uint64_t *n, uint64_t *id_out)
{
	if (id_map_get(map, a, process, id_out))
		return false;
	*id_out = ++*n;
	return id_map_set(map, a, process, *id_out);
}

/* The agent and its counters: counter c of agent a is number (a - 1) * counters + c + 1. */
static int agent_of(struct rocpd *r, uint64_t process, uint32_t device, uint64_t *id_out,
		    struct error *err)
{
	uint64_t n = r->plan->n_counters;
	int rc;

	if (!is_new(&r->agents, device, (uint32_t)process, &r->n_agents, id_out))
		return 0;
	rc = insert(r, "info_agent", "id,nid,pid,absolute_index,logical_index,type_index,type,name",
		    "iiiiiiss", (uint64_t[]){*id_out, process, process, device, device, device},
		    (const char *[]){"GPU", r->plan->chip}, err);
	for (uint64_t c = 0; !rc && c < n; c++) {
		const struct plan_counter *k = &r->plan->counters[c];

		rc = insert(
			r, "info_pmc",
			"id,nid,pid,agent_id,is_constant,is_derived,target_arch,name,symbol,units,"
			"block,value_type",
			"iiiiiissssss",
			(uint64_t[]){(*id_out - 1) * n + c + 1, process, process, *id_out, 0, 0},
			(const char *[]){"GPU", k->name, k->name, k->unit, k->block, "ABS"}, err);
	}
	return rc;
}

static int symbol_of(struct rocpd *r, uint64_t process, const struct join_row *row,
		     uint64_t *id_out, struct error *err)
{
	int rc;

	if (!is_new(&r->symbols, row->kernel, (uint32_t)process, &r->n_symbols, id_out))
		return 0;
	rc = insert(r, "info_code_object", "id,nid,pid", "iii",
		    (uint64_t[]){*id_out, process, process}, NULL, err);
	if (!rc)
		rc = insert(r, "info_kernel_symbol",
			    "id,nid,pid,code_object_id,arch_vgpr_count,kernel_name,display_name",
			    "iiiiiss",
			    (uint64_t[]){*id_out, process, process, *id_out, row->registers},
			    (const char *[]){values_kernel_name(r->j.store, row->kernel),
					     r->k->names[row->kernel]},
			    err);
	return rc;
}

static int add_dispatch(struct rocpd *r, sqlite3_stmt *event, sqlite3_stmt *dispatch,
			sqlite3_stmt *value, uint64_t id, struct error *err)
{
	const struct join_row *row = &r->j.rows.items[id - 1];
	uint64_t process = 0, agent = 0, symbol = 0, queue = 0;
	char matched[128];
	int rc = process_of(r, row->spool, &process, err), at = 1;

	if (!rc)
		rc = agent_of(r, process, row->device, &agent, err);
	if (!rc)
		rc = symbol_of(r, process, row, &symbol, err);
	if (!rc && is_new(&r->queues, row->queue, (uint32_t)process, &r->n_queues, &queue))
		rc = insert(r, "info_queue", "id,nid,pid,name", "iiis",
			    (uint64_t[]){queue, process, process}, (const char *[]){"queue"}, err);
	if (rc)
		return rc;
	sql_bind_u64(event, 1, id);
	sql_bind_u64(event, 2, id);
	rc = sql_run(event, err);
	for (size_t i = 0; i < 12; i++) {
		const uint64_t head[] = {id,      process,       process,     process,
					 agent,   symbol,        id - 1,      queue,
					 process, row->begin_ns, row->end_ns, row->shared_bytes};

		sql_bind_u64(dispatch, at++, head[i]);
	}
	for (int i = 0; i < 3; i++)
		sqlite3_bind_int64(dispatch, at++, row->block[i] ? row->block[i] : 1);
	for (int i = 0; i < 3; i++) /* in work-items */
		sqlite3_bind_int64(dispatch, at++,
				   (int64_t)(row->grid[i] ? row->grid[i] : 1) *
					   (row->block[i] ? row->block[i] : 1));
	sql_bind_u64(dispatch, at++, id);
	snprintf(matched, sizeof(matched), "{}");
	if (row->match.compared)
		snprintf(matched, sizeof(matched),
			 "{\"executions\": %u, \"of_executions\": %u, \"confidence\": %.6g}",
			 row->match.executions, row->match.of_executions, row->match.lowest);
	sql_bind_text(dispatch, at, matched);
	if (!rc)
		rc = sql_run(dispatch, err);
	for (uint32_t c = 0; !rc && c < r->plan->n_counters; c++) {
		const struct join_cell *v = join_counter(&r->j, row, c);

		if (!v)
			continue;
		sql_bind_u64(value, 1, ++r->n_values);
		sql_bind_u64(value, 2, id);
		sql_bind_u64(value, 3, (agent - 1) * r->plan->n_counters + c + 1);
		sqlite3_bind_double(value, 4, number_f64(join_number(v)));
		rc = sql_run(value, err);
	}
	return rc;
}

static int fill(struct rocpd *r, struct error *err)
{
	sqlite3_stmt *event = NULL, *dispatch = NULL, *value = NULL;
	int rc = prepare(r, "event", "id,correlation_id", &event, err);

	if (!rc)
		rc = prepare(
			r, "kernel_dispatch",
			"id,nid,pid,tid,agent_id,kernel_id,dispatch_id,queue_id,stream_id,start,"
			"\"end\",group_segment_size,workgroup_size_x,workgroup_size_y,"
			"workgroup_size_z,grid_size_x,grid_size_y,grid_size_z,event_id,extdata",
			&dispatch, err);
	if (!rc)
		rc = prepare(r, "pmc_event", "id,event_id,pmc_id,value", &value, err);
	for (size_t i = 1; !rc && i <= r->j.rows.n; i++)
		rc = add_dispatch(r, event, dispatch, value, i, err);
	sqlite3_finalize(event);
	sqlite3_finalize(dispatch);
	sqlite3_finalize(value);
	return rc;
}

int export_rocpd(struct store *s, const struct export_options *o, const struct export_kernels *k,
		 struct error *err)
{
	struct join_options jo = {.kernels = k->chosen, .units = 1u << SPOOL_UNIT_DISPATCH};
	struct rocpd r = {.plan = store_plan(s), .k = k};
	const char *id;
	struct str nothing = STR_INIT;
	bool made;
	int rc;

	if (!o->out)
		return error_set(err, RC_INVALID, "export: a rocpd database needs -o OUT");
	/* The same run has the same id, so that the file is the same. */
	id = store_info(s)->collection ? store_info(s)->collection : r.plan->hash;
	hash_text(id, strlen(id), r.id);
	snprintf(r.guid, sizeof(r.guid), "%.8s-%.4s-%.4s-%.4s-%.12s", r.id, r.id + 8, r.id + 12,
		 r.id + 16, r.id + 20);
	rc = join_collect(&r.j, s, &jo, err);
	if (!rc)
		rc = export_write_file(o->out, &nothing, err); /* here its path is judged */
	made = !rc;
	if (!rc && sqlite3_open(o->out, &r.db) != SQLITE_OK)
		rc = sql_error(r.db, err);
	if (!rc)
		rc = sql_execute(r.db, "PRAGMA journal_mode = OFF; BEGIN", err);
	if (!rc)
		rc = create(&r, err);
	if (!rc)
		rc = fill(&r, err);
	if (!rc)
		rc = sql_execute(r.db, "COMMIT", err);
	if (r.db && sqlite3_close(r.db) != SQLITE_OK && !rc)
		rc = error_set(err, RC_IO, "'%s' could not be closed", o->out);
	if (rc && made)
		unlink(o->out);
	join_release(&r.j);
	vec_release(&r.processes);
	id_map_release(&r.agents);
	id_map_release(&r.symbols);
	id_map_release(&r.queues);
	return rc;
}
