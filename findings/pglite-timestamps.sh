#!/usr/bin/env bash
# @electric-sql/pglite 0.5.14 does not give back the Date that it was given, where the clock of the machine is not UTC. A Date for a column `timestamp`
# is written in UTC and read as local time: noon in New York comes back five hours later, and five more each time that it is read and saved. `now()` in
# such a column is off by the same, since the database's own zone is UTC whatever TZ says. `timestamptz` is right, and pg 8.23.1 writes and reads local
# time. A `date` is read as midnight in UTC, which is the day before in New York, where pg reads local midnight. So tests on PGlite pass on a server
# in UTC and fail, or store wrong times, at a desk: use `timestamptz`, or give parsers and serializers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.14 pg@8.23.1 >/dev/null
cat >probe.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import utils from 'pg/lib/utils.js';

const noon = new Date('2026-01-15T12:00:00-05:00');
const database = new PGlite();
await database.exec('CREATE TABLE t (plain timestamp, zoned timestamptz, day date)');
const roundTrip = async (plain) => (await database.query('INSERT INTO t VALUES ($1, $2, $3) RETURNING *', [plain, plain, '2026-01-15'])).rows[0];
const first = await roundTrip(noon);
const second = await roundTrip(first.plain);
const { rows } = await database.query('SELECT now() AS zoned, now()::timestamp AS plain');
const hours = (date, from = noon) => `${Math.round((date - from) / 3_600_000)} h`;
/** What pg writes for a Date, and reads of what the database keeps of it: a column without a zone drops the zone. */
const written = utils.prepareValue(noon).replace(/[+-]\d\d:\d\d$/, '').replace('T', ' ');
const seen = {
  'timestamp, written and read': hours(first.plain),
  'timestamp, written and read twice': hours(second.plain),
  'timestamptz, written and read': hours(first.zoned),
  'now() as timestamp': hours(rows[0].plain, rows[0].zoned),
  'date, shown in local time': first.day.toLocaleDateString('sv-SE'),
  'pg: timestamp, written and read': hours(pg.types.getTypeParser(1114)(written)),
  'pg: date, shown in local time': pg.types.getTypeParser(1082)('2026-01-15').toLocaleDateString('sv-SE'),
};
for (const [name, value] of Object.entries(seen)) console.log(`${name}: ${value}`);
if (Object.values(seen).join('; ') !== '5 h; 10 h; 0 h; 5 h; 2026-01-14; 0 h; 2026-01-15') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @electric-sql/pglite pg; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
TZ=America/New_York node probe.mjs
# Seen:
#   timestamp, written and read: 5 h
#   timestamp, written and read twice: 10 h
#   timestamptz, written and read: 0 h
#   now() as timestamp: 5 h
#   date, shown in local time: 2026-01-14
#   pg: timestamp, written and read: 0 h
#   pg: date, shown in local time: 2026-01-15
