#!/bin/sh
# Removes from node_modules what no running Parley reads: source maps, types, and Prisma's compilers for databases other than PostgreSQL.
set -eu
find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
find node_modules/@prisma/client/runtime -type f -name 'query_compiler_*' ! -name '*postgresql*' -delete
