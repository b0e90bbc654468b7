import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };

it('the committed Prisma client is of this schema and this version (make it with: npm run db:generate)', () => {
  const client = readFileSync('src/storage/generated/internal/class.ts', 'utf8');
  expect(client).toContain(JSON.stringify(readFileSync('prisma/schema.prisma', 'utf8')));
  expect(client).toContain(`"clientVersion": "${packageJson.dependencies['@prisma/client']}"`);
});
