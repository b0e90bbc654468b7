import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import * as engine from '@prisma/schema-engine-wasm/schema_engine_bg';
import { Pool, type PoolConfig, type QueryResult } from 'pg';

const schemaPath = 'prisma/schema.prisma';

/** The SQL that changes the database to match prisma/schema.prisma; '' when it matches already. */
export async function schemaChanges(connection: PoolConfig): Promise<string> {
  const files = [{ path: schemaPath, content: readFileSync(schemaPath, 'utf8') }];
  await loadEngine();
  const pool = catalogPool(connection);
  const schemaEngine = await engine.SchemaEngine.new(
    { datamodels: files.map(({ path, content }) => [path, content]) },
    () => {},
    bindMigrationAwareSqlAdapterFactory(new CatalogAdapter(pool)),
  );
  const { stdout } = await schemaEngine.diff({
    from: { tag: 'schemaDatasource', files, configDir: process.cwd() },
    to: { tag: 'schemaDatamodel', files },
    script: true,
    exitCode: null,
    filters: {
      externalTables: ['public.parley_migrations', 'public.chunk_embeddings', 'public.chunk_sketches'],
      externalEnums: [],
    },
  });
  await pool.end();
  const sql = stdout ?? '';
  return sql.includes('-- This is an empty migration.') ? '' : sql;
}

/**
 * The engine reads catalog columns of type "char", which the adapter refuses. They are sent under a type that no catalog query uses, and get their
 * real type after the adapter.
 */
const quotedCharOid = 18;
const uuidOid = 2950;

function catalogPool(connection: PoolConfig): Pool {
  const pool = new Pool(connection);
  const query: (...parameters: unknown[]) => Promise<QueryResult> = pool.query.bind(pool);
  const patched = async (...parameters: unknown[]) => {
    const result = await query(...parameters);
    for (const field of result.fields) if (field.dataTypeID === quotedCharOid) field.dataTypeID = uuidOid;
    return result;
  };
  return Object.assign(pool, { query: patched });
}

class CatalogAdapter extends PrismaPg {
  override async connect() {
    const adapter = await super.connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      const result = await queryRaw(query);
      const columnTypes = result.columnTypes.map((type) => (type === ColumnTypeEnum.Uuid ? ColumnTypeEnum.Character : type));
      return { ...result, columnTypes };
    };
    return adapter;
  }
}

/** Node has this global; the types of Node leave it to the browser's. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ readonly instance: { readonly exports: unknown } }>;
};

/** The package imports its WebAssembly as a module, which Node supports only with a flag; this function loads it directly. */
async function loadEngine(): Promise<void> {
  const wasmPath = createRequire(import.meta.url)
    .resolve('@prisma/schema-engine-wasm')
    .replace(/\.js$/, '_bg.wasm');
  const { instance } = await WebAssembly.instantiate(readFileSync(wasmPath), { './schema_engine_bg.js': { ...engine } });
  // The engine stores the message of a panic here before it traps.
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: (message: string) => console.error(message) } });
  const exports = instance.exports as { __wbindgen_start(): void };
  engine.__wbg_set_wasm(exports);
  exports.__wbindgen_start();
}
