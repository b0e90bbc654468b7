import { describe, expect, it } from 'vitest';
import type { ExtractedDocument } from '../../../src/engine/knowledge/extract/extract.ts';
import { documentReader } from '../../support/knowledge/documents.ts';

const { extract } = documentReader();

function blocksOf({ text, blocks }: ExtractedDocument) {
  return blocks.map(({ kind, charStart, charEnd }) => [kind, text.slice(charStart, charEnd)]);
}

describe('Markdown', () => {
  it('is kept as it is, its blocks found', async () => {
    const markdown =
      '# Guide\n\nIntro line one\nline two.\n\nSetext\n---\n\n- a\n- b\n\n  more of b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```js\n# no heading\n\nlet a;\n```\nLast.';
    const document = await extract('guide.md', markdown);
    expect(document).toMatchObject({ title: 'Guide', mimeType: 'text/markdown', pageCount: null, text: markdown });
    expect(blocksOf(document)).toEqual([
      ['heading', '# Guide'],
      ['paragraph', 'Intro line one\nline two.'],
      ['heading', 'Setext\n---'],
      ['list', '- a\n- b\n\n  more of b'],
      ['table', '| x | y |\n|---|---|\n| 1 | 2 |'],
      ['code', '```js\n# no heading\n\nlet a;\n```'],
      ['paragraph', 'Last.'],
    ]);
    expect(document.blocks.map(({ level }) => level).filter((level) => level !== null)).toEqual([1, 2]);
  });
  it('keeps its front matter without the rules around it, line by line, and takes the title in it', async () => {
    const document = await extract(
      'page.md',
      '---\r\nlayout: post\r\ntitle: "A: good day"\r\ntags:\r\n  - tide\r\n# a comment\r\n---\r\n# Other\r\n\r\nBody.\r\n',
    );
    const matter = 'layout: post\ntitle: "A: good day"\ntags:\n  - tide\n# a comment';
    expect(document).toMatchObject({ title: 'A: good day', text: `${matter}\n\n# Other\n\nBody.`, firstLine: 2 });
    expect(blocksOf(document)).toEqual([
      ['table', matter],
      ['heading', '# Other'],
      ['paragraph', 'Body.'],
    ]);
    expect(await extract('toml.md', '+++\ntitle = "Tides"\n[extra]\nmood = 1\n+++\nBody.')).toMatchObject({
      title: 'Tides',
      text: 'title = "Tides"\n[extra]\nmood = 1\n\nBody.',
    });
    expect(await extract('empty.md', '---\n---\nBody.')).toMatchObject({ text: 'Body.', firstLine: 3 });
  });
  it('between two rules at its start is no front matter when it is not written like it', async () => {
    const text = '---\n# Minutes\n\nThe crane is sold.\n\n---\n\nLater.';
    expect(await extract('rules.md', text)).toMatchObject({ text, title: 'Minutes', firstLine: 1 });
  });
  it('that opens with a rule is not taken for front matter', async () => {
    expect((await extract('rule.md', '---\n\nBody.')).text).toBe('---\n\nBody.');
  });
});

describe('addresses that hold their content', () => {
  const picture = `data:image/png;base64,${'iVBORw0KGgo'.repeat(20_000)}==`;
  it.each([
    [
      'Markdown',
      'a.md',
      `# Plan\n\nFirst ![a map][image1] and ![a chart](${picture} "Chart").\n\nLast.\n\n[image1]: <${picture}>\n`,
    ],
    [
      'HTML',
      'a.html',
      `<h1>Plan</h1><p>First a map <img src="${picture}"> and <a href="${picture}">a chart</a>.</p><p>Last.</p>`,
    ],
    ['plain text', 'a.txt', `Plan\n\nFirst a map ${picture} and a chart.\n\nLast.`],
    ['CSV', 'a.csv', `what,picture\nFirst a map,"${picture}"\nLast.,"${picture}"\n`],
    ['JSON', 'a.json', JSON.stringify({ first: 'First a map', picture, last: 'Last.' })],
    ['an address without base64', 'b.md', 'First a map ![icon](data:image/svg+xml;charset=utf-8,%3Csvg%20xmlns%3D%22http) Last.'],
  ])('are left out of %s', async (_format, name, content) => {
    const { text } = await extract(name, content);
    expect(text).not.toMatch(/base64|iVBOR|data:|svg/);
    expect(text.length).toBeLessThan(120);
    expect(text).toMatch(/First a map[\s\S]*Last\./);
  });
  it('leave lines and words about data as they are', async () => {
    const markdown =
      '# Data\n\nSee data:\n\n- data: text/plain, as MIME types\n- metadata:a/b\n- [link](https://example.com/data:x)\n';
    expect((await extract('c.md', markdown)).text).toBe(markdown.trimEnd());
    const { text } = await extract('d.md', `One.\n\n[a]: <${picture}>\n\nTwo.`);
    expect(text).toBe('One.\n\n\n\nTwo.');
  });
});

describe('plain text', () => {
  it.each([
    ['UTF-8 with a byte order mark', Buffer.from('\ufeffGrüße aus Köln, schöne Grüße.')],
    ['UTF-16 little-endian with a byte order mark', Buffer.from('\ufeffGrüße aus Köln, schöne Grüße.', 'utf16le')],
    ['UTF-16 without one', Buffer.from('Grüße aus Köln, schöne Grüße.', 'utf16le')],
    ['Windows-1252', Buffer.from('Grüße aus Köln, schöne Grüße.', 'latin1')],
  ])('is read in %s', async (_charset, bytes) => {
    expect((await extract('letter.txt', bytes)).text).toBe('Grüße aus Köln, schöne Grüße.');
  });
  it.each([
    ['Russian, little-endian', 'Привет, мир. Это письмо о погоде.\nВторая строка.', false],
    ['Japanese, big-endian', '工房は火曜日から営業しています。\n修理は 2026 年から予約できます。', true],
    ['English, little-endian', 'No mark, and no umlaut.', false],
  ])('is read in UTF-16 without a mark: %s', async (_script, text, isBigEndian) => {
    const bytes = Buffer.from(text, 'utf16le');
    expect((await extract('letter.txt', isBigEndian ? bytes.swap16() : bytes)).text).toBe(text);
  });
  it('is read in Shift_JIS', async () => {
    const { default: iconv } = await import('iconv-lite');
    const text = '工房は火曜日から土曜日まで営業しています。修理はオンラインまたは電話で予約できます。';
    expect((await extract('letter.txt', iconv.encode(text, 'shift_jis'))).text).toBe(text);
  });
  it('has its paragraphs as blocks', async () => {
    expect(blocksOf(await extract('a.txt', 'One\ntwo.\n\n \nThree.\n'))).toEqual([
      ['paragraph', 'One\ntwo.'],
      ['paragraph', 'Three.'],
    ]);
  });
  it('reaches the database without NUL and lone surrogates', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${'Some text. '.repeat(50)}a`),
      Buffer.from([0, 0xed, 0xa0, 0x80]),
      Buffer.from('b'),
    ]);
    const { text } = await extract('a.txt', bytes);
    expect(text.includes('\0')).toBe(false);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toMatch(/^Some text\..*b$/);
  });
});

describe('HTML', () => {
  it('of a mail keeps what is deleted, and what is done', async () => {
    const html = '<p>Open <s>at nine</s> at ten.</p><ul><li><input type=checkbox checked>Paid<li><input type=checkbox>Sent</ul>';
    const { text } = await extract('list.eml', `Subject: list\nContent-Type: text/html\n\n${html}`);
    expect(text).toMatch(/Open ~at nine~ at ten\.\n\n- +\[x\] +Paid\n- +\[ \] +Sent/);
  });
  const page = `<!doctype html><html><head><title>Shop &amp; Co</title><style>p{}</style></head><body>
    <nav><a href="/">Home</a> <a href="/about">About</a></nav>
    <h1>Opening</h1><p>We are <b>open</b> from 9 to 5. See <a href="https://example.com/map">the map</a> and <a href="/x">this</a>.</p>
    <table><tr><td>Day</td><td>Hours</td></tr><tr><td>Monday</td><td>9 to 5</td></tr></table>
    <ul><li>One</li><li>Two</li></ul><pre><code>x = 1</code></pre><img src="data:image/png;base64,AAAA" alt="A shop">
    <p hidden>Hidden words</p><script>alert("script words")</script><footer>Footer words</footer></body></html>`;
  it('becomes Markdown: headings, lists, code, and tables without a marked head', async () => {
    const document = await extract('shop.html', page);
    expect(document).toMatchObject({ title: 'Shop & Co', mimeType: 'text/html' });
    expect(document.blocks.map(({ kind }) => kind)).toEqual(['heading', 'paragraph', 'table', 'list', 'code', 'paragraph']);
    expect(document.text).toContain('| Day | Hours |\n| --- | --- |\n| Monday | 9 to 5 |');
    expect(document.text).toContain('We are **open** from 9 to 5. See [the map](https://example.com/map) and this.');
  });
  it('leaves out menus, scripts, styles, hidden parts and pictures', async () => {
    const { text } = await extract('shop.html', page);
    expect(text).not.toMatch(/Home|About|script words|p\{\}|Hidden words|Footer words|base64/);
  });
  const textOf = async (html: string) => (await extract('page.html', html)).text;
  it('keeps words of different lines, cells and boxes apart', async () => {
    const text = await textOf(
      '<h1>Ferry<br>times</h1><table><tr><th>Day<th>Boats<tr><td>Monday<td>Kestrel<br>Plover<ul><li>Dunlin<li>Ruff</ul><tr><td>Tuesday<td><p>Curlew</p><p>Redshank</p><img alt="full" src=x></table>' +
        '<details><summary>Are dogs taken?</summary>They are.</details><fieldset><legend>Fares</legend>Two crowns</fieldset><button>Show</button><button>Hide</button>' +
        '<select><option>Paris<option selected>Rome</select>',
    );
    expect(text).toBe(
      '# Ferry times\n\n| Day | Boats |\n| --- | --- |\n| Monday | Kestrel Plover Dunlin Ruff |\n| Tuesday | Curlew Redshank full |\n\nAre dogs taken?\n\nThey are.\n\nFares\n\nTwo crowns\n\nShow\n\nHide\n\nRome',
    );
  });
  it.each([
    ['br elements', '<pre><code><span>npm install<br></span><span>npm start<br></span></code></pre>'],
    ['blocks', '<pre class="language-sh"><code><div>npm install</div><div>npm start</div></code></pre>'],
    ['line ends', '<pre>\n<code>npm install\nnpm start\n</code></pre>'],
    ['a table with numbers', '<table><tr><td><pre>1\n2</pre><td><pre><code>npm install\nnpm start</code></pre></table>'],
  ])('keeps the lines of code that %s make', async (_what, html) => {
    expect(await textOf(html)).toMatch(/```(?:sh)?\nnpm install\nnpm start\n```$/);
  });
  it('keeps every value of a table under its own head, also where cells span', async () => {
    const text = await textOf(
      '<table><thead><tr><th rowspan=2>Day<th colspan=2>Fare<tr><th>Adult<th>Child</thead>' +
        '<tr><td rowspan="2">Monday<td>4<td>2<tr><td>5<td>3<tr><td>Tuesday<td colspan=2>free<tr><td>Friday<td>6<td>4</table>',
    );
    expect(text).toBe(
      '| Day | Fare Adult | Fare Child |\n| --- | --- | --- |\n| Monday | 4 | 2 |\n| Monday | 5 | 3 |\n| Tuesday | free |  |\n| Friday | 6 | 4 |',
    );
  });
  it('takes a span of no rows for all rows below', async () => {
    const text = await textOf('<table><tr><th>Pier<th>Boat<tr><td rowspan=0>North<td>Kestrel<tr><td>Plover<tr><td>Ruff</table>');
    expect(text).toMatch(/\| North \| Kestrel \|\n\| North \| Plover \|\n\| North \| Ruff \|$/);
  });
  it('does not let spans make a small table large', async () => {
    const text = await textOf(`<table>${'<tr><td rowspan=60000 colspan=1000>x<td>y'.repeat(500)}</table>`);
    expect(text.length).toBeLessThan(2_000_000);
  });
  it('loses nothing that is written as text: threads, asides, quotes, forms, shadow roots', async () => {
    const article = `<article><h2>Story</h2>${`<p>${'A long story about the harbour and its boats. '.repeat(30)}</p>`.repeat(4)}</article>`;
    const text = await textOf(
      `<html><head><title>Harbour</title><body><nav><a href=/>Home</a></nav><div class="sidebar-menu"><ul><li><a href=/a>Alpha</a><li><a href=/b>Beta</a><li><a href=/c>Gamma</a></ul></div>
      <aside>Closed on Mondays.</aside>${article}<div class="comment">First answer.</div><blockquote>To be.<footer>Hamlet</footer></blockquote>
      <form id=aspnet><p>Inside the form.</p></form><main><p>Short main.</p></main>
      <my-card><template shadowrootmode="open"><p>Shadow words <slot></slot>, <slot name="end">nothing</slot></p></template>light words<b slot="end">the end</b></my-card>
      <footer>Imprint</footer></body></html>`,
    );
    for (const words of ['Closed on Mondays.', 'First answer.', 'Hamlet', 'Inside the form.', 'Short main.', 'A long story'])
      expect(text).toContain(words);
    expect(text).toContain('Shadow words light words, **the end**');
    expect(text).not.toMatch(/Home|Alpha|Imprint|nothing/);
  });
  it('shows nothing that the page hides, and counts it', async () => {
    const { text, omissions } = await extract(
      'short.html',
      '<p>Shown.</p><p hidden>one</p><div style="color:red; DISPLAY : none !important">two</div><p style="visibility:hidden">three</p><dialog>four</dialog><p style="display:none;display:block">Also shown.</p><p hidden="until-found">Found.</p><dialog open>Open.</dialog><p hidden> </p>',
    );
    expect(text).toBe('Shown.\n\nAlso shown.\n\nFound.\n\nOpen.');
    expect(omissions).toEqual([{ kind: 'HIDDEN_PARTS', count: 4, total: null }]);
  });
  it('has what stands before and behind its body, and every page of a file', async () => {
    const page = (words: string) => `<html><head><title>T</title></head><body><p>${words}</p></body></html>`;
    const html = `<p>Sent to all members.</p>${page('The pier is closed.')}\n<p>Unsubscribe by mail.</p>${page('The gate is open.')}`;
    expect((await extract('a.html', html)).text).toBe(
      'Sent to all members.\n\nThe pier is closed.\n\nUnsubscribe by mail.\n\nThe gate is open.',
    );
  });
  it('with its head left open is read', async () => {
    expect(await textOf('<html><head><title>Harbour</title><h1>Hours</h1><p>Open at nine.')).toBe('# Hours\n\nOpen at nine.');
  });
  it.each([
    ['a page', 'a.html', '<p>Schiff&shy;fahrts&ZeroWidthSpace;amt</p>'],
    ['plain text', 'a.txt', 'Schiff\u00adfahrts\u200bamt'],
    ['CSV', 'a.csv', 'office\nSchiff\u00adfahrts\u2060amt\n'],
  ])('marks that divide words are left out of %s', async (_what, name, content) => {
    expect((await extract(name, content)).text).toMatch(/Schifffahrtsamt$/);
  });
  it('spaces of no width stay in scripts without other spaces', async () => {
    expect((await extract('a.txt', 'ភាសា\u200bខ្មែរ')).text).toBe('ភាសា\u200bខ្មែរ');
  });
  it('has the words of its drawings, and not their titles', async () => {
    const svg =
      '<svg><title>Icon</title><text><tspan x="1">Sluice</tspan><tspan x="1" dy="9">gate</tspan></text><text>Weir</text><path d="M0"/></svg>';
    expect(await extract('a.html', `<title>Plan</title><p>See:</p>${svg}`)).toMatchObject({
      title: 'Plan',
      text: 'See:\n\nSluice gate\n\nWeir',
    });
    expect(await extract('b.html', `${svg}<h1>Plan</h1>`)).toMatchObject({ title: 'Plan' });
  });
  it('is known without a name, and read as a fragment', async () => {
    expect(await extract('download', '<!DOCTYPE html><p>Hello <i>you</i></p>')).toMatchObject({
      mimeType: 'text/html',
      text: 'Hello *you*',
    });
    expect(await extract('part.htm', '<h2>Part</h2><p>Only a part.</p>')).toMatchObject({
      title: 'Part',
      text: '## Part\n\nOnly a part.',
    });
  });
  it('is decoded as it declares', async () => {
    const html = '<html><head><meta charset="iso-8859-2"></head><body><p>\xb1 \xb3</p></body></html>';
    expect((await extract('pl.html', Buffer.from(html, 'latin1'))).text).toBe('ą ł');
  });
});

describe('CSV', () => {
  it('with one column of sentences is not divided at their commas', async () => {
    expect((await extract('a.csv', 'remark\nHello, you\nBye, all of you\nPlain\n')).text).toBe(
      '- remark: Hello, you\n- remark: Bye, all of you\n- remark: Plain',
    );
  });
  it('names the column of every cell, so a row is understood alone', async () => {
    const document = await extract(
      'stock.csv',
      'part;usual stock;delivery\nbrake pads;120;"2 days;\nor 3"\nchains;;3 days;extra\n',
    );
    expect(document.mimeType).toBe('text/csv');
    expect(document.text).toBe(
      '- part: brake pads; usual stock: 120; delivery: 2 days; or 3\n- part: chains; delivery: 3 days; column 4: extra',
    );
    expect(document.blocks.map(({ kind }) => kind)).toEqual(['table']);
  });
  it('is divided by the sign that gives its rows the same number of cells', async () => {
    const text = 'id;remark;price\n1;Fine rope, tarred, long, new;12,50\n2;Old rope, short, dry;3,20\n';
    expect((await extract('a.csv', text)).text).toBe(
      '- id: 1; remark: Fine rope, tarred, long, new; price: 12,50\n- id: 2; remark: Old rope, short, dry; price: 3,20',
    );
    expect((await extract('b.csv', 'a|b\n1, 2|3\n"x|y, z"|4\n')).text).toBe('- a: 1, 2; b: 3\n- a: x|y, z; b: 4');
  });
  it.each(['sep=;\r\n', '\ufeffSEP=;\n'])('may name its delimiter in a first line of its own (%j)', async (line) => {
    expect((await extract('a.csv', `${line}a,b;c\n1;2\n`)).text).toBe('- a,b: 1; c: 2');
  });
  it.each(['Prices of 2026, all sites\n\n', 'Prices of 2026, all sites;;\n;;\n'])(
    'has its head below its title (%j)',
    async (title) => {
      const { text, blocks } = await extract('a.csv', `${title}id;remark;price\n1;Rope;3\n2;Buoy;4\n`);
      expect(text).toBe('Prices of 2026, all sites\n\n- id: 1; remark: Rope; price: 3\n- id: 2; remark: Buoy; price: 4');
      expect(blocks.map(({ kind }) => kind)).toEqual(['paragraph', 'table']);
    },
  );
  it('of one column, or of a head alone, is read', async () => {
    expect((await extract('a.csv', 'word\nrope\nbuoy\n')).text).toBe('- word: rope\n- word: buoy');
    expect((await extract('b.csv', 'id;remark\n')).text).toBe('id; remark');
  });
  it('with a quote that never closes is still read', async () => {
    expect((await extract('a.csv', 'a,b\n1,"two\n3,4\n')).text).toContain('- a: 3; b: 4');
  });
});

describe('JSON', () => {
  it('becomes lines of path and value, one block an object, in the order of its members', async () => {
    const { text, title, blocks } = await extract(
      'prices.json',
      JSON.stringify({
        name: 'Prices',
        open: false,
        note: null,
        services: [
          { name: 'Full service', priceEuro: 89, tags: ['a', 'b'], at: { city: 'Bonn' }, parts: [{ id: 1, count: 0 }] },
          { name: 'Puncture repair', priceEuro: 15 },
        ],
      }),
    );
    expect(title).toBe('Prices');
    expect(text).toBe(
      [
        'name: Prices\nopen: false',
        'services[0]\nname: Full service\npriceEuro: 89\ntags: a, b\nat.city: Bonn',
        'services[0] "Full service" > parts[0]\nid: 1\ncount: 0',
        'services[1]\nname: Puncture repair\npriceEuro: 15',
      ].join('\n\n'),
    );
    expect(blocks).toHaveLength(4);
  });
  it('keeps every digit', async () => {
    expect((await extract('a.json', '{"id": 12345678901234567890, "x": 0.1234567890123456789}')).text).toBe(
      'id: 12345678901234567890\nx: 0.1234567890123456789',
    );
  });
  it('is read a value a line, and by its content without a name', async () => {
    expect((await extract('log.jsonl', '{"a":1}\n{"a":2}\n')).text).toBe('[0]\na: 1\n\n[1]\na: 2');
    expect(await extract('payload', '[{"a":1}]', 'text/plain')).toMatchObject({
      mimeType: 'application/json',
      text: '[0]\na: 1',
    });
  });
  it('that is cut short stays text', async () => {
    expect((await extract('broken.json', '{"a": 1, "b": ')).text).toBe('{"a": 1, "b":');
  });
});
