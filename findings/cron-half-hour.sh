#!/usr/bin/env bash
# cron-parser reads the times of a zone. Where the clock of the zone jumps by half an hour (Australia/Lord_Howe, on 4 October 2026 from 02:00 to 02:30),
# it loses times: "15 2 * * *" has no time on that day, though a time that an hour's jump skips comes an hour later (Europe/Berlin), and "*/10 * * * *"
# pauses for 40 minutes, although the clock shows 02:30, 02:40 and 02:50. And where the clock shows a time twice, it gives only the first to who asks
# before it, but the second too to who asks between the two: a loop that asks "what comes after now" runs such a job twice when it is late.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent cron-parser@5.10.5
cat >ask.mjs <<'EOF'
import { CronExpressionParser } from 'cron-parser';
import { readFileSync } from 'node:fs';

function times(cron, tz, from, count) {
  const expression = CronExpressionParser.parse(cron, { tz, currentDate: new Date(from) });
  return Array.from({ length: count }, () => expression.next().toDate().toISOString().slice(0, 16));
}
const cases = [
  ['a jump of an hour: comes an hour later', ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 1], '2026-03-29T01:30'],
  ['a jump of half an hour: that day is left out', ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', 1], '2026-10-04T15:15'],
  ['every ten minutes: 40 minutes without one', ['*/10 * * * *', 'Australia/Lord_Howe', '2026-10-03T15:15:00Z', 2], '2026-10-03T15:20 2026-10-03T16:00'],
  ['a doubled time, asked at its first second', ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:30:03Z', 1], '2026-10-26T01:30'],
  ['the same, asked 35 minutes later', ['30 2 * * *', 'Europe/Berlin', '2026-10-25T01:05:00Z', 1], '2026-10-25T01:30'],
];
console.log(`cron-parser ${JSON.parse(readFileSync('node_modules/cron-parser/package.json', 'utf8')).version}`);
let differs = 0;
for (const [name, [cron, tz, from, count], seen] of cases) {
  const found = times(cron, tz, from, count).join(' ');
  if (found !== seen) differs += 1;
  console.log(`${found === seen ? 'as stated' : `DIFFERS (stated ${seen})`}: ${name}: ${cron} in ${tz} after ${from}: ${found}`);
}
process.exit(differs === 0 ? 0 : 1);
EOF
node ask.mjs

# Output seen:
# cron-parser 5.10.5
# as stated: a jump of an hour: comes an hour later: 30 2 * * * in Europe/Berlin after 2026-03-28T12:00:00Z: 2026-03-29T01:30
# as stated: a jump of half an hour: that day is left out: 15 2 * * * in Australia/Lord_Howe after 2026-10-03T00:00:00Z: 2026-10-04T15:15
# as stated: every ten minutes: 40 minutes without one: */10 * * * * in Australia/Lord_Howe after 2026-10-03T15:15:00Z: 2026-10-03T15:20 2026-10-03T16:00
# as stated: a doubled time, asked at its first second: 30 2 * * * in Europe/Berlin after 2026-10-25T00:30:03Z: 2026-10-26T01:30
# as stated: the same, asked 35 minutes later: 30 2 * * * in Europe/Berlin after 2026-10-25T01:05:00Z: 2026-10-25T01:30
