#!/usr/bin/env bash
# scimmy: a PATCH that removes a member by `value` together with the `$ref`, `display` or `type` that an identity provider knows changes nothing, without an
# error, unless the stored member has the very same sub-attributes: all of them are compared. RFC 7643, section 4.2, identifies a member by `value`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent scimmy@1.3.5
cat >check.mjs <<'EOF'
import { readFileSync } from 'node:fs';
import SCIMMY from 'scimmy';

const { version } = JSON.parse(readFileSync('node_modules/scimmy/package.json', 'utf8'));
const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
async function left(member) {
  const group = new SCIMMY.Schemas.Group({ id: 'g1', displayName: 'Writers', members: [{ value: 'u1', display: 'Ann' }, { value: 'u2', display: 'Bob' }] });
  const patch = new SCIMMY.Messages.PatchOp({ schemas, Operations: [{ op: 'remove', path: 'members', value: [member] }] });
  const changed = await patch.apply(group).catch((error) => error);
  if (changed instanceof Error) return changed.message;
  return (changed ?? group).members.map(({ value }) => value).join(' ');
}
const byValue = await left({ value: 'u1' });
const withRef = await left({ value: 'u1', $ref: 'https://example.com/scim/v2/Users/u1' });
const withDisplay = await left({ value: 'u1', display: 'Ann Smith' });
console.log(`scimmy ${version}, left after removing u1: by value "${byValue}", with $ref "${withRef}", with another display "${withDisplay}"`);
if (byValue !== 'u2' || withRef !== 'u1 u2' || withDisplay !== 'u1 u2') process.exit(1);
EOF
node check.mjs
