#!/usr/bin/env bash
# The packages for writing a SCIM service compare letters otherwise than the standard. By RFC 7643 `userName` and the addresses of `emails` are the same
# in any case, and so are the names of attributes. scim2-parse-filter 0.2.10 takes the name in any case but compares values letter by letter: a provider
# that looks for "ann@example.com" does not find "Ann@example.com", and creates her once more. scim-patch 0.8.3 writes a path in another case beside the
# attribute that is there, as a second one, which a filter then never finds. And a second `primary` that is added leaves the first, where RFC 7644 (3.5.2)
# wants it withdrawn. So a service on them must bring addresses to one case, names to those of the schema, and count what is primary.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund scim-patch@0.8.3 scim2-parse-filter@0.2.10 >/dev/null
cat >probe.mjs <<'JS'
import { scimPatch } from 'scim-patch';
import { filter, parse } from 'scim2-parse-filter';

const user = () => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  id: '1',
  meta: { resourceType: 'User' },
  userName: 'Ann@example.com',
  emails: [{ type: 'work', value: 'Ann@example.com', primary: true }],
});
const isFound = (text) => filter(parse(text))(user());
const seen = {
  'userName eq "Ann@example.com"': isFound('userName eq "Ann@example.com"'),
  'USERNAME eq "Ann@example.com"': isFound('USERNAME eq "Ann@example.com"'),
  'userName eq "ann@example.com"': isFound('userName eq "ann@example.com"'),
  'emails.value eq "ann@example.com"': isFound('emails.value eq "ann@example.com"'),
};
const { userName, username } = scimPatch(user(), [{ op: 'replace', path: 'username', value: 'bea@example.com' }]);
seen['replace of username'] = `userName ${userName}, username ${username}`;
const { emails } = scimPatch(user(), [{ op: 'add', path: 'emails', value: [{ type: 'home', value: 'ann@home.example', primary: true }] }]);
seen['addresses that are primary'] = emails.filter(({ primary }) => primary).length;
for (const [name, what] of Object.entries(seen)) console.log(`${name}: ${what}`);
const expected = [true, true, false, false, 'userName Ann@example.com, username bea@example.com', 2];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in scim-patch scim2-parse-filter; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   userName eq "Ann@example.com": true
#   USERNAME eq "Ann@example.com": true
#   userName eq "ann@example.com": false
#   emails.value eq "ann@example.com": false
#   replace of username: userName Ann@example.com, username bea@example.com
#   addresses that are primary: 2
