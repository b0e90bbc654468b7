#!/usr/bin/env bash
# Packages that read PDFs, each with a version of pdf.js of its own, disturb each other in one process. pdf.js keeps its worker in a global member
# (`globalThis.pdfjsWorker`) where it runs without one, as on a server, and whoever loads later takes it. Once unpdf 1.8.1 or pdf-parse 2.4.5 has read
# a document, officeparser 8.1.1 refuses every PDF from then on: "The API version does not match the Worker version". Asked first, it works,
# and so do the others after it. So a service that adds a second reader fails or works by the order of its first requests, and each package passes
# its own tests. Their documentation is silent. So keep each in a process or a worker thread of its own.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund pdf-parse@2.4.5 unpdf@1.8.1 officeparser@8.1.1 pdf-lib@1.17.1 >/dev/null
cat >probe.mjs <<'JS'
import { parseOffice } from 'officeparser';
import { PDFDocument } from 'pdf-lib';
import { PDFParse } from 'pdf-parse';
import { extractText, getDocumentProxy } from 'unpdf';

const document = await PDFDocument.create();
document.addPage([400, 300]).drawText('Hello', { x: 20, y: 250, size: 12 });
const bytes = await document.save();
console.warn = () => {};
const readers = {
  officeparser: async () => JSON.stringify((await parseOffice(Buffer.from(bytes.slice().buffer))).content),
  unpdf: async () => (await extractText(await getDocumentProxy(bytes.slice()), { mergePages: true })).text,
  'pdf-parse': async () => (await new PDFParse({ data: bytes.slice() }).getText()).text,
};
const seen = [];
for (const name of process.argv.slice(2)) {
  const found = await readers[name]().then((text) => (text.includes('Hello') ? 'reads' : 'reads nothing'), (error) => (/does not match/.test(error.message) ? 'refuses' : error.message));
  seen.push(`${name} ${found}`);
}
process.stdout.write(`${seen.join(', ')}\n`, () => process.exit(0));
JS
for name in officeparser unpdf pdf-parse; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
expect() {
  local seen
  seen=$(node probe.mjs $1 2>/dev/null)
  echo "$seen"
  [ "$seen" = "$2" ] || { echo 'It behaves otherwise now.' >&2; exit 1; }
}
expect 'officeparser officeparser unpdf' 'officeparser reads, officeparser reads, unpdf reads'
expect 'officeparser pdf-parse' 'officeparser reads, pdf-parse reads'
expect 'unpdf officeparser officeparser' 'unpdf reads, officeparser refuses, officeparser refuses'
expect 'pdf-parse officeparser' 'pdf-parse reads, officeparser refuses'
# Seen:
#   officeparser reads, officeparser reads, unpdf reads
#   officeparser reads, pdf-parse reads
#   unpdf reads, officeparser refuses, officeparser refuses
#   pdf-parse reads, officeparser refuses
