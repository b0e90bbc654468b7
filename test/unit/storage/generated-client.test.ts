import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };

it('the committed Prisma client is of this schema and this version (make it with: npm run db:generate)', () => {
  const client = readFileSync('src/storage/generated/internal/class.ts', 'utf8');
  const [, schema = '""'] = /"inlineSchema": (".*"),$/m.exec(client) ?? [];
  // The generator aligns columns with spaces.
  const words = (text: string) => text.split(/\s+/);
  expect(words(JSON.parse(schema))).toEqual(words(readFileSync('prisma/schema.prisma', 'utf8')));
  expect(client).toContain(`"clientVersion": "${packageJson.dependencies['@prisma/client']}"`);
});
