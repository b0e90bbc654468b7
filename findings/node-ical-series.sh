#!/usr/bin/env bash
# `expandRecurringEvent` of node-ical 0.27.2 gives other times than a calendar shows, without an error. Of a series whose rest was moved ("this and following
# events", `RECURRENCE-ID;RANGE=THISANDFUTURE`, RFC 5545, 3.2.13) it moves one event and leaves all later ones at the old hour. Further dates of a series
# (`RDATE`, 3.8.5.2) it does not give, though it does leave out those that are cancelled (`EXDATE`). So whoever shows a calendar or answers from it sends
# people two hours too early from the second week on, or tells them that nothing is on. ical.js 2.2.1 has both right here. Whoever stays with node-ical has
# to look for `RANGE` and `RDATE` in the file.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node-ical@0.27.2 ical.js@2.2.1 >/dev/null
cat >probe.mjs <<'JS'
import ICAL from 'ical.js';
import ical from 'node-ical';

const event = (...lines) => ['BEGIN:VEVENT', 'UID:series', 'DTSTAMP:20260101T000000Z', 'SUMMARY:Round', ...lines, 'END:VEVENT'];
const calendar = (...lines) => ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//example//EN', ...lines, 'END:VCALENDAR', ''].join('\r\n');
const weekly = event('DTSTART:20260601T080000Z', 'DTEND:20260601T083000Z', 'RRULE:FREQ=WEEKLY;COUNT=4');
const moved = event('RECURRENCE-ID;RANGE=THISANDFUTURE:20260608T080000Z', 'DTSTART:20260608T100000Z', 'DTEND:20260608T103000Z');
const cases = {
  'the rest moved by two hours': calendar(...weekly, ...moved),
  'a further date': calendar(...event('DTSTART:20260601T080000Z', 'DTEND:20260601T083000Z', 'RRULE:FREQ=WEEKLY;COUNT=2', 'RDATE:20260605T080000Z')),
  'a cancelled date': calendar(...event('DTSTART:20260601T080000Z', 'DTEND:20260601T083000Z', 'RRULE:FREQ=WEEKLY;COUNT=3', 'EXDATE:20260608T080000Z')),
};
const minute = (date) => date.toISOString().slice(5, 16);
function byNodeIcal(text) {
  const [series] = Object.values(ical.sync.parseICS(text)).filter(({ type }) => type === 'VEVENT');
  const range = { from: new Date('2026-01-01'), to: new Date('2026-12-31') };
  return ical.expandRecurringEvent(series, range).map(({ start }) => minute(start));
}
function byIcalJs(text) {
  const root = new ICAL.Component(ICAL.parse(text));
  const [series, ...exceptions] = root.getAllSubcomponents('vevent').map((one) => new ICAL.Event(one));
  for (const exception of exceptions) series.relateException(exception);
  const times = [];
  const next = series.iterator();
  for (let time = next.next(); time; time = next.next()) times.push(minute(series.getOccurrenceDetails(time).startDate.toJSDate()));
  return times;
}
const seen = Object.entries(cases).map(([name, text]) => {
  const found = [byNodeIcal(text).join(' '), byIcalJs(text).join(' ')];
  console.log(`${name}:\n  node-ical ${found[0]}\n  ical.js   ${found[1]}`);
  return found;
});
const stated = [
  ['06-01T08:00 06-08T10:00 06-15T08:00 06-22T08:00', '06-01T08:00 06-08T10:00 06-15T10:00 06-22T10:00'],
  ['06-01T08:00 06-08T08:00', '06-01T08:00 06-05T08:00 06-08T08:00'],
  ['06-01T08:00 06-15T08:00', '06-01T08:00 06-15T08:00'],
];
if (JSON.stringify(seen) !== JSON.stringify(stated)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in node-ical ical.js; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   node-ical 0.27.2
#   ical.js 2.2.1
#   the rest moved by two hours:
#     node-ical 06-01T08:00 06-08T10:00 06-15T08:00 06-22T08:00
#     ical.js   06-01T08:00 06-08T10:00 06-15T10:00 06-22T10:00
#   a further date:
#     node-ical 06-01T08:00 06-08T08:00
#     ical.js   06-01T08:00 06-05T08:00 06-08T08:00
#   a cancelled date:
#     node-ical 06-01T08:00 06-15T08:00
#     ical.js   06-01T08:00 06-15T08:00
