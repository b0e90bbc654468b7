#!/usr/bin/env bash
# Turndown 7.2.5: lines of a fenced code block that are divided by <br> or by blocks are joined into one line without a space, though the same
# elements divide lines everywhere else. The rule takes the text content of <code>, in which such elements are nothing. Docusaurus writes code so.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund turndown@7.2.5 >/dev/null
cat > run.cjs <<'JS'
const Turndown = require('turndown');
console.log('turndown', require('turndown/package.json').version);
const markdown = (html) => new Turndown({ codeBlockStyle: 'fenced' }).turndown(html);
const byBreak = markdown('<pre><code><span>npm install</span><br><span>npm start</span><br></code></pre>');
const byBlock = markdown('<pre><code><div>npm install</div><div>npm start</div></code></pre>');
const outside = markdown('<p>npm install<br>npm start</p>');
console.log('divided by br:   ', JSON.stringify(byBreak));
console.log('divided by div:  ', JSON.stringify(byBlock));
console.log('outside of code: ', JSON.stringify(outside));
const isAsStated = [byBreak, byBlock].every((text) => text.includes('npm installnpm start')) && outside === 'npm install  \nnpm start';
console.log(isAsStated ? 'as stated: the lines are joined' : 'otherwise than stated');
process.exit(isAsStated ? 0 : 1);
JS
node run.cjs
