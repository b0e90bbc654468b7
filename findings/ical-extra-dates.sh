#!/usr/bin/env bash
# An event with further dates (`RDATE`), as calendars export a course or a series whose dates were moved by hand: by RFC 5545 (3.8.5.2) it takes place at
# its start, by its rule, and at each further date. The iterator of ical.js 2.2.1 leaves out the start of an event that has further dates and no rule;
# with a rule it gives it. `expandRecurringEvent` of node-ical 0.27.2 leaves out all further dates, with or without a rule; they stand in `rdate` as
# they were written. Excluded dates (`EXDATE`) are right in both, and none raises an error. So an agent that answers "when is it next?" from a calendar
# misses dates with either package, other ones with each.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical.js@2.2.1 node-ical@0.27.2 >/dev/null
cat >probe.mjs <<'JS'
import ICAL from 'ical.js';
import nodeIcal from 'node-ical';

const calendar = (...lines) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//probe//EN', 'BEGIN:VEVENT', 'UID:1', 'DTSTAMP:20260101T000000Z', 'DTSTART:20260701T100000Z', ...lines,
    'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n');
const days = (dates) => dates.map((date) => date.toISOString().slice(8, 10)).join(' ');
const readers = {
  'ical.js': (text) => {
    const iterator = new ICAL.Event(new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent')).iterator();
    const dates = [];
    for (let date = iterator.next(); date; date = iterator.next()) dates.push(date.toJSDate());
    return days(dates);
  },
  'node-ical': (text) => {
    const event = Object.values(nodeIcal.sync.parseICS(text)).find(({ type }) => type === 'VEVENT');
    const occurrences = nodeIcal.expandRecurringEvent(event, { from: new Date('2026-06-01'), to: new Date('2026-08-01') });
    return days(occurrences.map(({ start }) => start));
  },
};
const cases = {
  'two further dates': [['RDATE:20260705T100000Z,20260709T100000Z'], '01 05 09'],
  'a rule and a further date': [['RRULE:FREQ=DAILY;COUNT=2', 'RDATE:20260709T100000Z'], '01 02 09'],
  'a rule and an excluded date': [['RRULE:FREQ=DAILY;COUNT=3', 'EXDATE:20260702T100000Z'], '01 03'],
};
const seen = [];
for (const [name, [lines, right]] of Object.entries(cases)) {
  for (const [reader, read] of Object.entries(readers)) {
    seen.push(read(calendar(...lines)));
    console.log(`${name}, ${reader}: ${seen.at(-1)} (by the standard ${right})`);
  }
}
const expected = ['05 09', '01', '01 02 09', '01 02', '01 03', '01 03'];
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in ical.js node-ical; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   two further dates, ical.js: 05 09 (by the standard 01 05 09)
#   two further dates, node-ical: 01 (by the standard 01 05 09)
#   a rule and a further date, ical.js: 01 02 09 (by the standard 01 02 09)
#   a rule and a further date, node-ical: 01 02 (by the standard 01 02 09)
#   a rule and an excluded date, ical.js: 01 03 (by the standard 01 03)
#   a rule and an excluded date, node-ical: 01 03 (by the standard 01 03)
