#!/bin/sh
# Removes from node_modules what no running Parley reads: source maps, types, Prisma's compilers for databases other than PostgreSQL, builds of
# SQLite for browsers and debuggers, sources and manuals of the AI SDK, and just-bash's own commands.
set -eu
find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
find node_modules/@prisma/client/runtime -type f -name 'query_compiler_*' ! -name '*postgresql*' -delete
find node_modules/sql.js/dist -type f ! -name 'sql-wasm.js' ! -name 'sql-wasm.wasm' -delete
find node_modules -path '*/@ai-sdk/*' -type d \( -name src -o -name docs \) -prune -exec rm -rf {} +
rm -rf node_modules/just-bash/dist/bin
