import type { Pool } from 'pg';

export interface WatchedStatement {
  readonly buffers: number;
  readonly ms: number;
  readonly plan: string;
}

/** Counts the buffers of all statements on a pool that reach a table of Parley, by auto_explain. Opens all connections of the pool. */
export async function watchStatements(pool: Pool) {
  let statements: WatchedStatement[] = [];
  const clients = await Promise.all(Array.from({ length: pool.options.max ?? 1 }, () => pool.connect()));
  for (const client of clients) {
    await client.query(`load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on;
      set auto_explain.log_timing = off; set auto_explain.log_buffers = on; set auto_explain.log_level = 'notice'; set client_min_messages = notice`);
    client.on('notice', ({ message = '' }) => {
      const buffers = /^ *Buffers: shared (?:hit=(\d+))?(?: ?read=(\d+))?/m.exec(message);
      const ms = Number(/duration: ([\d.]+) ms/.exec(message)?.[1] ?? 0);
      if (/pgboss/.test(message)) return;
      statements.push({ buffers: Number(buffers?.[1] ?? 0) + Number(buffers?.[2] ?? 0), ms, plan: message });
    });
  }
  for (const client of clients) client.release();
  return {
    /** What was read since the last time. */
    take() {
      const taken = statements;
      statements = [];
      const sum = (of: (statement: WatchedStatement) => number) => taken.reduce((total, one) => total + of(one), 0);
      return { statements: taken, buffers: sum(({ buffers }) => buffers), ms: sum(({ ms }) => ms) };
    },
  };
}
