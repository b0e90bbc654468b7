#!/usr/bin/env bash
# just-bash 3.4.2, a simulated shell for agents: common forms of awk and sed are taken without an error and do something else. `awk -v OFS=,` keeps the
# separator a space (set in BEGIN it works), RS="" does not read paragraphs, \U and \u of sed's replacement become letters of the text, and a
# back-reference within sed's pattern never matches, because the expressions run on an engine without them. A tab file "converted" to CSV so is none.
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
// [command, what bash and GNU tools print, what this prints]
const cases = [
  [`printf 'a:b\\n' | awk -F: -v OFS=, '{print $1, $2}'`, 'a,b', 'a b'],
  [`printf 'a:b\\n' | awk -F: 'BEGIN{OFS=","}{print $1, $2}'`, 'a,b', 'a,b'],
  [`printf 'a\\n\\nb\\nc\\n' | awk 'BEGIN{RS=""} END{print NR}'`, '2', '4'],
  [`printf 'hello\\n' | sed 's/h/\\U&/'`, 'Hello', 'Uhello'],
  [`printf 'the the end\\n' | sed 's/\\(the\\) \\1/\\1/'`, 'the end', 'the the end'],
];
let differs = 0;
for (const [command, usual, stated] of cases) {
  const { stdout, exitCode } = await new Bash().exec(command);
  const isAsStated = stdout.trim() === stated && exitCode === 0;
  if (!isAsStated) differs += 1;
  console.log(`${isAsStated ? 'as stated' : `DIFFERS (stated ${stated})`}: ${command}: ${stdout.trim()} with status ${exitCode}; usual: ${usual}`);
}
process.exit(differs === 0 ? 0 : 1);
JS
node run.mjs

# Output seen:
# just-bash 3.4.2
# as stated: printf 'a:b\n' | awk -F: -v OFS=, '{print $1, $2}': a b with status 0; usual: a,b
# as stated: printf 'a:b\n' | awk -F: 'BEGIN{OFS=","}{print $1, $2}': a,b with status 0; usual: a,b
# as stated: printf 'a\n\nb\nc\n' | awk 'BEGIN{RS=""} END{print NR}': 4 with status 0; usual: 2
# as stated: printf 'hello\n' | sed 's/h/\U&/': Uhello with status 0; usual: Hello
# as stated: printf 'the the end\n' | sed 's/\(the\) \1/\1/': the the end with status 0; usual: the end
