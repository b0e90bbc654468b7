#!/usr/bin/env bash
# zod 4.6.7 between its schemas and JSON Schema. `z.fromJSONSchema` raises an error for some keywords (`if`, `not`, `dependentRequired`), so silence
# looks like support. But it takes no notice of `required` for a member that `properties` does not name beside it, as where one of two members must
# be there (`anyOf` of two `required`), nor of any keyword of a schema without `type`; and an object or a list in `enum` or `const` matches nothing,
# not even itself. `z.toJSONSchema` drops the flags of a regular expression: `/^[a-z]{2}$/i` becomes a pattern without i, so a model that is held to
# the schema cannot give what zod would take. ajv 8.20.0 tells right from wrong in each case. The documentation calls fromJSONSchema experimental and
# names none of these. So check arguments of tools with a validator of JSON Schema, not with zod.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund zod@4.6.7 ajv@8.20.0 >/dev/null
cat >probe.mjs <<'JS'
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as z from 'zod';

const ajv = new Ajv2020({ strict: false });
const contact = { type: 'object', properties: { email: { type: 'string' }, phone: { type: 'string' } } };
const cases = [
  ['one of two members', { ...contact, anyOf: [{ required: ['email'] }, { required: ['phone'] }] }, {}],
  ['a required member without a schema', { type: 'object', properties: {}, required: ['id'] }, {}],
  ['members without a type', { properties: { age: { type: 'number' } } }, { age: 'old' }],
  ['a minimum without a type', { minimum: 5 }, 3],
  ['an object in enum', { enum: [{ size: 'L' }] }, { size: 'L' }],
  ['a list as const', { const: [1, 2] }, [1, 2]],
  // Where zod is right, so the comparison is fair.
  ['a list of equal items', { type: 'array', items: { type: 'number' }, uniqueItems: true }, [1, 1]],
  ['a member of the wrong type', contact, { email: 5 }],
];
const word = (isValid) => (isValid ? 'valid' : 'invalid');
const seen = [];
for (const [name, schema, value] of cases) {
  const found = [word(z.fromJSONSchema(schema).safeParse(value).success), word(ajv.validate(schema, value))];
  console.log(`${name}: zod ${found[0]}, ajv ${found[1]}`);
  seen.push(found.join(' '));
}
const code = z.string().regex(/^[a-z]{2}$/i);
const { pattern } = z.toJSONSchema(code);
console.log(`${JSON.stringify(code.parse('DE'))} for /^[a-z]{2}$/i: zod valid, ajv with the pattern ${pattern} ${word(ajv.validate(z.toJSONSchema(code), 'DE'))}`);
const refused = [{ if: {} }, { not: { type: 'string' } }, { type: 'object', dependentRequired: {} }].filter((schema) => {
  try {
    z.fromJSONSchema(schema);
    return false;
  } catch {
    return true;
  }
});
console.log(`keywords that raise an error: ${refused.length} of 3`);
const [missed, refusesItself, both] = ['valid invalid', 'invalid valid', 'invalid invalid'];
const expected = [missed, missed, missed, missed, refusesItself, refusesItself, both, both];
if (JSON.stringify(seen) !== JSON.stringify(expected) || ajv.validate(z.toJSONSchema(code), 'DE') || refused.length !== 3) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in zod ajv; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   one of two members: zod valid, ajv invalid
#   a required member without a schema: zod valid, ajv invalid
#   members without a type: zod valid, ajv invalid
#   a minimum without a type: zod valid, ajv invalid
#   an object in enum: zod invalid, ajv valid
#   a list as const: zod invalid, ajv valid
#   a list of equal items: zod invalid, ajv invalid
#   a member of the wrong type: zod invalid, ajv invalid
#   "DE" for /^[a-z]{2}$/i: zod valid, ajv with the pattern ^[a-z]{2}$ invalid
#   keywords that raise an error: 3 of 3
