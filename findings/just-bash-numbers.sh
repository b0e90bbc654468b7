#!/usr/bin/env bash
# just-bash 3.4.2, a simulated shell for agents: numbers come out wrong, with status 0. printf '%g' cuts the zeros off a whole number (100000 becomes 1),
# awk prints 1e20 as 1e+2 and 0.0000000001 as 1e-1, integers are rounded beyond 2^53 (two different ids are "equal" to `[ -eq ]`, and 2^53+1 is another
# number as text than in a variable), and shifts have 32 bits. So an agent that computes with it gets figures that look like figures.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --ignore-scripts just-bash@3.4.2 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { Bash } from 'just-bash';

console.log('just-bash', JSON.parse(readFileSync('node_modules/just-bash/package.json', 'utf8')).version);
// [command, what bash and gawk print, what this prints]
const cases = [
  [`printf '%g' 100000`, '100000', '1'],
  [`awk 'BEGIN{print 10000000000 * 10000000000}'`, '1e+20', '1e+2'],
  [`awk 'BEGIN{print 0.0000000001}'`, '1e-10', '1e-1'],
  ['[ 1234567890123456789 -eq 1234567890123456788 ] && echo same || echo other', 'other', 'same'],
  ['id=9007199254740993; echo $((id)) $((9007199254740993))', '9007199254740993 9007199254740993', '9007199254740992 9007199254740991'],
  ['echo $((1 << 40))', '1099511627776', '256'],
];
let differs = 0;
for (const [command, usual, stated] of cases) {
  const { stdout, exitCode } = await new Bash().exec(command);
  const isAsStated = stdout.trim() === stated && exitCode === 0;
  if (!isAsStated) differs += 1;
  console.log(`${isAsStated ? 'as stated' : `DIFFERS (stated ${stated})`}: ${command}: ${stdout.trim()} with status ${exitCode}; bash: ${usual}`);
}
process.exit(differs === 0 ? 0 : 1);
JS
node run.mjs

# Output seen:
# just-bash 3.4.2
# as stated: printf '%g' 100000: 1 with status 0; bash: 100000
# as stated: awk 'BEGIN{print 10000000000 * 10000000000}': 1e+2 with status 0; bash: 1e+20
# as stated: awk 'BEGIN{print 0.0000000001}': 1e-1 with status 0; bash: 1e-10
# as stated: [ 1234567890123456789 -eq 1234567890123456788 ] && echo same || echo other: same with status 0; bash: other
# as stated: id=9007199254740993; echo $((id)) $((9007199254740993)): 9007199254740992 9007199254740991 with status 0; bash: 9007199254740993 9007199254740993
# as stated: echo $((1 << 40)): 256 with status 0; bash: 1099511627776
