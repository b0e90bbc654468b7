#!/usr/bin/env bash
# ical.js 2.2.1 gives wrong dates for common yearly rules and for BYSETPOS, without an error. By RFC 5545 (3.3.10) a day that a month does not have is left
# out: a birthday on 29 February comes on 1 March instead. "Every year in week 20", "the 20th Monday of the year" and "the first Monday of the year"
# (BYSETPOS=1) come every week from then on. "The 31st, or else the last day" (BYMONTHDAY=28,29,30,31;BYSETPOS=-1, the usual rule for the
# last day of a month) comes several times a month from the second on. rrule 2.8.1 gives all of them right. So an agent that reads calendars with it
# names meetings that do not exist: expand the rules with another package.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1 rrule@2.8.1 >/dev/null
cat >probe.mjs <<'JS'
import ICAL from 'ical.js';
import rruleModule from 'rrule';

const readers = {
  'ical.js': (start, rule) => {
    const iterator = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromString(`${start}T10:00:00Z`));
    return [1, 2, 3, 4].map(() => iterator.next().toJSDate());
  },
  rrule: (start, rule) => rruleModule.rrulestr(`DTSTART:${start.replaceAll('-', '')}T100000Z\nRRULE:${rule}`).all((_, index) => index < 4),
};
const rules = [
  ['2024-02-29', 'FREQ=YEARLY', '2024-02-29 2025-03-01 2026-03-01 2027-03-01', '2024-02-29 2028-02-29 2032-02-29 2036-02-29'],
  ['2026-05-11', 'FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO', '2026-05-18 2026-05-25 2026-06-01 2026-06-08', '2026-05-11 2027-05-17 2028-05-15 2029-05-14'],
  ['2026-05-18', 'FREQ=YEARLY;BYDAY=20MO', '2026-05-18 2026-05-25 2026-06-01 2026-06-08', '2026-05-18 2027-05-17 2028-05-15 2029-05-14'],
  ['2026-01-05', 'FREQ=YEARLY;BYDAY=MO;BYSETPOS=1', '2026-01-05 2026-01-12 2026-01-19 2026-01-26', '2026-01-05 2027-01-04 2028-01-03 2029-01-01'],
  ['2026-01-31', 'FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1', '2026-01-31 2026-02-28 2026-03-28 2026-03-29', '2026-01-31 2026-02-28 2026-03-31 2026-04-30'],
  // Two that both give right, so the comparison is fair.
  ['2026-05-10', 'FREQ=YEARLY;BYMONTH=5;BYDAY=2SU', '2026-05-10 2027-05-09 2028-05-14 2029-05-13', '2026-05-10 2027-05-09 2028-05-14 2029-05-13'],
  ['2026-01-30', 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1', '2026-01-30 2026-02-27 2026-03-31 2026-04-30', '2026-01-30 2026-02-27 2026-03-31 2026-04-30'],
];
let isAsStated = true;
for (const [start, rule, ...expected] of rules) {
  console.log(`${rule} from ${start}`);
  for (const [index, [name, read]] of Object.entries(readers).entries()) {
    const dates = read(start, rule).map((date) => date.toISOString().slice(0, 10)).join(' ');
    console.log(`  ${name}: ${dates}`);
    isAsStated &&= dates === expected[index];
  }
}
if (!isAsStated) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in ical.js rrule; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen, and the like for the other rules:
#   FREQ=YEARLY from 2024-02-29
#     ical.js: 2024-02-29 2025-03-01 2026-03-01 2027-03-01
#     rrule: 2024-02-29 2028-02-29 2032-02-29 2036-02-29
#   FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO from 2026-05-11
#     ical.js: 2026-05-18 2026-05-25 2026-06-01 2026-06-08
#     rrule: 2026-05-11 2027-05-17 2028-05-15 2029-05-14
