#!/usr/bin/env bash
# What people filled into a PDF form, as applications, orders and tax forms come back, reaches no model: pdf-parse 2.4.5, unpdf 1.8.1 and officeparser 8.1.1
# give the labels of the form, "Name of applicant:" and "Plan:", and neither the name nor the chosen plan, without an error or a warning. The values are
# texts of annotations, which pdf.js, on which all three are built, does not count among the text of a page. A form that was flattened (printed to PDF)
# has them. @llamaindex/liteparse-wasm 2.14.7 gives both. The READMEs of the three do not name forms. So
# an agent says that the form is empty: read `getAnnotations()` of each page of pdf.js (`fieldValue`), or `getFieldObjects()`, beside the text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund pdf-parse@2.4.5 unpdf@1.8.1 officeparser@8.1.1 @llamaindex/liteparse-wasm@2.14.7 pdf-lib@1.17.1 >/dev/null
cat >form.mjs <<'JS'
import { writeFileSync } from 'node:fs';
import { PDFDocument, StandardFonts } from 'pdf-lib';

const document = await PDFDocument.create();
const font = await document.embedFont(StandardFonts.Helvetica);
const page = document.addPage([400, 300]);
const form = document.getForm();
page.drawText('Name of applicant:', { x: 20, y: 250, size: 12, font });
const name = form.createTextField('name');
name.setText('Ann Example');
name.addToPage(page, { x: 150, y: 245, width: 150, height: 18 });
page.drawText('Plan:', { x: 20, y: 200, size: 12, font });
const plan = form.createDropdown('plan');
plan.addOptions(['Basic', 'Professional']);
plan.select('Professional');
plan.addToPage(page, { x: 150, y: 195, width: 150, height: 18 });
const filled = await document.save();
writeFileSync('filled.pdf', filled);
const copy = await PDFDocument.load(filled);
copy.getForm().flatten();
writeFileSync('flattened.pdf', await copy.save());
JS
cat >read.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [reader, file] = process.argv.slice(2);
const bytes = new Uint8Array(readFileSync(file));
const readers = {
  'pdf-parse': async () => (await new (await import('pdf-parse')).PDFParse({ data: bytes }).getText()).text,
  async unpdf() {
    const { extractText, getDocumentProxy } = await import('unpdf');
    return (await extractText(await getDocumentProxy(bytes), { mergePages: true })).text;
  },
  officeparser: async () => JSON.stringify(await (await import('officeparser')).parseOffice(readFileSync(file))),
  async '@llamaindex/liteparse-wasm'() {
    const { default: initialize, LiteParse } = await import('@llamaindex/liteparse-wasm');
    await initialize({ module_or_path: readFileSync(createRequire(import.meta.url).resolve('@llamaindex/liteparse-wasm/liteparse_wasm_bg.wasm')) });
    return (await new LiteParse({ ocrEnabled: false, outputFormat: 'markdown', quiet: true }).parse(bytes)).pages[0].markdown;
  },
};
const text = await readers[reader]();
process.stdout.write(['Name of applicant', 'Ann Example', 'Plan', 'Professional'].filter((words) => text.includes(words)).join(', '), () => process.exit(0));
JS
node form.mjs
for name in pdf-parse unpdf officeparser @llamaindex/liteparse-wasm; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
labels='Name of applicant, Plan'
all='Name of applicant, Ann Example, Plan, Professional'
# Each reader in a process of its own: versions of pdf.js disturb each other.
for reader in pdf-parse unpdf officeparser @llamaindex/liteparse-wasm; do
  filled=$(node read.mjs "$reader" filled.pdf 2>/dev/null)
  flattened=$(node read.mjs "$reader" flattened.pdf 2>/dev/null)
  echo "$reader: $filled; flattened: $flattened"
  expected=$labels
  [ "$reader" != @llamaindex/liteparse-wasm ] || expected=$all
  if [ "$filled" != "$expected" ] || [ "$flattened" != "$all" ]; then
    echo 'It behaves otherwise now.' >&2
    exit 1
  fi
done
# Seen:
#   pdf-parse: Name of applicant, Plan; flattened: Name of applicant, Ann Example, Plan, Professional
#   unpdf: Name of applicant, Plan; flattened: Name of applicant, Ann Example, Plan, Professional
#   officeparser: Name of applicant, Plan; flattened: Name of applicant, Ann Example, Plan, Professional
#   @llamaindex/liteparse-wasm: Name of applicant, Ann Example, Plan, Professional; flattened: Name of applicant, Ann Example, Plan, Professional
