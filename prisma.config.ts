import { defineConfig } from 'prisma/config';

// `prisma generate` needs no engine, but its CLI tries to download one first and fails without internet.
// Naming any existing file here makes it skip the download; migrations run through the WebAssembly engine instead.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({ schema: 'prisma/schema.prisma' });
