import { describe, expect, it } from 'vitest';
import { adfMarkdown } from '../../../src/engine/knowledge/connectors/atlassian/adf/markdown.ts';
import { readAdf } from '../../../src/engine/knowledge/connectors/atlassian/adf/node.ts';
import { driveLinksIn } from '../../../src/engine/knowledge/connectors/confluence/drive-files.ts';
import { pageMarkdown } from '../../../src/engine/knowledge/connectors/confluence/page-markdown.ts';

const markdown = (...content: readonly object[]) => adfMarkdown(readAdf({ type: 'doc', version: 1, content }));
const text = (words: string, ...marks: readonly object[]) => ({ type: 'text', text: words, marks });
const paragraph = (...content: readonly object[]) => ({ type: 'paragraph', content });
const item = (...content: readonly object[]) => ({ type: 'listItem', content });

describe('the Atlassian Document Format', () => {
  it('becomes paragraphs with marks that enclose words only, and links', () => {
    const link = { type: 'link', attrs: { href: 'https://example.com/rules' } };
    expect(
      markdown(
        paragraph(
          text('The '),
          text('three rules ', { type: 'strong' }),
          text('and '),
          text('the code', { type: 'code' }),
          text(': '),
          text('rules', link),
        ),
        paragraph(text('one'), { type: 'hardBreak' }, text('two')),
      ),
    ).toBe('The **three rules** and `the code`: [rules](https://example.com/rules)\n\none\ntwo');
  });

  it('writes raised and lowered figures apart from those before them', () => {
    const script = (words: string, type: string) => text(words, { type: 'subsup', attrs: { type } });
    expect(
      markdown(
        paragraph(text('10', { type: 'strong' }), script('6', 'sup'), text(' grains, H'), script('2', 'sub'), text('O, 3')),
        paragraph(text('3'), script('1', 'sup'), text('/'), script('2', 'sub'), text(' miles, 5 m'), script('2', 'sup')),
      ),
    ).toBe('**10**^6 grains, H2O, 3\n\n3 1/2 miles, 5 m2');
  });

  it('gives people, days, states, emoji and cards as words', () => {
    expect(
      markdown(
        paragraph(
          { type: 'mention', attrs: { id: '1', text: '@Ann' } },
          text(' '),
          { type: 'date', attrs: { timestamp: String(Date.UTC(2026, 10, 22)) } },
          text(' '),
          { type: 'status', attrs: { text: 'IN REVIEW' } },
          text(' '),
          { type: 'emoji', attrs: { shortName: ':smile:', text: '😄' } },
          text(' '),
          { type: 'inlineCard', attrs: { url: 'https://example.com/1' } },
        ),
        { type: 'mediaSingle', content: [{ type: 'media', attrs: { type: 'file', id: 'x', alt: 'plan.png' } }] },
      ),
    ).toBe('@Ann 2026-11-22 IN REVIEW 😄 https://example.com/1\n\n(file: plan.png)');
  });

  it('keeps the nesting and the numbers of lists, and what is done', () => {
    const nested = { type: 'bulletList', content: [item(paragraph(text('inner'))), item(paragraph(text('second')))] };
    const task = (words: string, state: string) => ({ type: 'taskItem', attrs: { state }, content: [text(words)] });
    expect(
      markdown(
        {
          type: 'orderedList',
          attrs: { order: 3 },
          content: [item(paragraph(text('outer')), nested), item(paragraph(text('last')))],
        },
        { type: 'taskList', content: [task('paint', 'DONE'), task('dry', 'TODO')] },
      ),
    ).toBe('3. outer\n   - inner\n   - second\n4. last\n\n- [x] paint\n- [ ] dry');
  });

  it('makes tables whose rows are complete, also where cells span rows and columns', () => {
    const cell = (words: string, attrs: object = {}) => ({ type: 'tableCell', attrs, content: [paragraph(text(words))] });
    const row = (...content: readonly object[]) => ({ type: 'tableRow', content });
    expect(
      markdown({
        type: 'table',
        content: [
          row(cell('Site'), cell('Day'), cell('Hours')),
          row(cell('North', { rowspan: 2 }), cell('Monday'), cell('8|9')),
          row(cell('closed', { colspan: 2 })),
        ],
      }),
    ).toBe('| Site | Day | Hours |\n| --- | --- | --- |\n| North | Monday | 8\\|9 |\n| North | closed |  |');
  });

  it('fences code with more backticks than it has, and names panels and parts that open', () => {
    expect(
      markdown(
        { type: 'codeBlock', attrs: { language: 'ts' }, content: [text('a = ```b```;')] },
        { type: 'panel', attrs: { panelType: 'warning' }, content: [paragraph(text('Hot!'))] },
        { type: 'expand', attrs: { title: 'More' }, content: [{ type: 'bulletList', content: [item(paragraph(text('x')))] }] },
        { type: 'somethingNew', content: [paragraph(text('kept'))] },
      ),
    ).toBe('````ts\na = ```b```;\n````\n\n**Warning:** Hot!\n\n**More**\n\n- x\n\nkept');
  });

  it('does not take text for structure, nor members of another type for text', () => {
    expect(markdown(paragraph(text('# no heading')), paragraph(text('``` no fence')))).toBe('\\# no heading\n\n\\``` no fence');
    expect(adfMarkdown(readAdf({ content: [null, 7, { type: 'paragraph', content: 'x' }, { type: 'text', text: 9 }] }))).toBe('');
  });

  it('survives a document of any depth', () => {
    let deep: object = paragraph(text('bottom'));
    for (let depth = 0; depth < 5_000; depth += 1) deep = { type: 'blockquote', content: [deep] };
    expect(markdown(paragraph(text('top')), deep)).toContain('top');
  });
});

const page = (storage: string) =>
  pageMarkdown({ title: 'Title', storage })
    .replace(/^# Title\n\n/, '')
    .trimEnd();

describe('the storage format of Confluence', () => {
  it('becomes headings below the title, lists, marks and links', () => {
    expect(
      pageMarkdown({
        title: ' Opening  hours ',
        storage:
          '<h1>Hours &amp; days</h1><p>Open <strong>daily</strong>&nbsp;from <em>nine</em>.<br />Ring twice.</p>' +
          '<ul><li>one<ul><li><p>two</p></li></ul></li></ul><p><a href="https://example.com/a?b=1&amp;c=2">Rules</a></p><p />',
      }),
    ).toBe(
      '# Opening hours\n\n## Hours & days\n\nOpen **daily** from *nine*.\nRing twice.\n\n- one\n  - two\n\n[Rules](https://example.com/a?b=1&c=2)\n',
    );
  });

  it('keeps tables, with the layout that the editor writes around them', () => {
    expect(
      page(
        '<ac:layout><ac:layout-section ac:type="single"><ac:layout-cell><table data-layout="default"><colgroup><col /><col /></colgroup><tbody>' +
          '<tr><th><p>Part</p></th><th><p>Weight</p></th></tr><tr><td><p>Wheel</p></td><td><p>4 kg</p></td></tr></tbody></table></ac:layout-cell></ac:layout-section></ac:layout>',
      ),
    ).toBe('| Part | Weight |\n| --- | --- |\n| Wheel | 4 kg |');
  });

  it('keeps code as it stands, with its language', () => {
    expect(
      page(
        '<ac:structured-macro ac:name="code" ac:schema-version="1"><ac:parameter ac:name="language">py</ac:parameter>' +
          '<ac:plain-text-body><![CDATA[if a < b and c > d:\n    print("<p>&amp;</p>")]]></ac:plain-text-body></ac:structured-macro><p>after</p>',
      ),
    ).toBe('```py\nif a < b and c > d:\n    print("<p>&amp;</p>")\n```\n\nafter');
  });

  it('names panels of both editors', () => {
    const body = (words: string) => `<ac:rich-text-body><p>${words}</p></ac:rich-text-body>`;
    expect(
      page(
        `<ac:structured-macro ac:name="info">${body('Closed in May.')}</ac:structured-macro>` +
          `<ac:structured-macro ac:name="panel"><ac:parameter ac:name="title">Keys</ac:parameter>${body('At the desk.')}</ac:structured-macro>` +
          '<ac:adf-extension><ac:adf-node type="panel"><ac:adf-attribute key="panel-type">note</ac:adf-attribute><ac:adf-content><p>New.</p></ac:adf-content>' +
          '</ac:adf-node><ac:adf-fallback><p>Old.</p></ac:adf-fallback></ac:adf-extension>',
      ),
    ).toBe('**Info:** Closed in May.\n\n**Keys:** At the desk.\n\n**Note:** New.');
  });

  it('says what links, files, people and tasks are called', () => {
    expect(
      page(
        '<p>See <ac:link><ri:page ri:content-title="Safety rules" /></ac:link> and ' +
          '<ac:link><ri:attachment ri:filename="plan.pdf" /><ac:plain-text-link-body><![CDATA[the plan]]></ac:plain-text-link-body></ac:link>, ask ' +
          '<ac:link><ri:user ri:account-id="5b10" /></ac:link> by <time datetime="2026-11-22" />.</p>' +
          '<ac:image ac:alt="Map"><ri:attachment ri:filename="map.png" /></ac:image>' +
          '<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status><ac:task-body>Paint</ac:task-body></ac:task></ac:task-list>' +
          '<ac:structured-macro ac:name="toc" /><p><ac:structured-macro ac:name="status"><ac:parameter ac:name="title">DONE</ac:parameter></ac:structured-macro></p>',
      ),
    ).toBe('See Safety rules and the plan, ask @user by 2026-11-22.\n\n(file: Map)\n\n- [x] Paint\n\nDONE');
  });

  it('writes raised figures apart from those before them', () => {
    expect(page('<p>About 10<sup>6</sup> grains, CO<sub>2</sub></p>')).toBe('About 10^6 grains, CO2');
  });

  it('is read whatever its depth, up to limits that the reader says', () => {
    const nested = (depth: number) => `${'<div><blockquote>'.repeat(depth)}bottom${'</blockquote></div>'.repeat(depth)}`;
    expect(page(`<p>top</p>${nested(500)}<p>end</p>`)).toMatch(/^top[\s\S]*bottom[\s\S]*end$/);
    expect(() => page(nested(50_000))).toThrow('nested too deeply');
    expect(() => page('<p>a</p>'.repeat(250_001))).toThrow('which is the limit');
  });

  it('does not repeat long text for each row that a cell spans', () => {
    const rows = '<tr><td>x</td></tr>'.repeat(400);
    expect(page(`<table><tr><td rowspan="999">${'long '.repeat(200)}</td><td>a</td></tr>${rows}</table>`).length).toBeLessThan(
      10_000,
    );
  });

  it('names the files of Google Drive that it links to, each once', () => {
    expect(
      driveLinksIn(
        '<a href="https://docs.google.com/document/d/1AbCdEfGhIjK/edit?usp=sharing#x">a</a> <ri:url ri:value="https://drive.google.com/file/d/2AbCdEfGhIjK/view" />' +
          ' <a href="https://drive.google.com/open?authuser=0&amp;id=3AbCdEfGhIjK">b</a> <a href="https://docs.google.com/a/acme.com/spreadsheets/d/1AbCdEfGhIjK/edit">c</a>' +
          ' <a href="https://drive.google.com/drive/folders/4AbCdEfGhIjK">folder</a> <a href="https://example.com/file/d/5AbCdEfGhIjK">other</a>',
      ),
    ).toEqual(['1AbCdEfGhIjK', '2AbCdEfGhIjK', '3AbCdEfGhIjK']);
  });
});
