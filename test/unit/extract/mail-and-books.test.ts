import { describe, expect, it } from 'vitest';
import { chunkDocument } from '../../../src/engine/knowledge/index/chunk.ts';
import { documentReader } from '../../support/knowledge/documents.ts';
import { docx, epub, wordParagraph } from '../../support/knowledge/office.ts';

const { extract } = documentReader();

const base64 = (content: string | Uint8Array) => Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\r\n');

function mail(parts: readonly string[], boundary = 'cut'): string {
  return [
    'From: =?utf-8?Q?J=C3=BCrgen_Wei=C3=9F?= <juergen@example.com>',
    'To: Ann Lee <ann@example.com>, desk@example.com',
    'Subject: =?utf-8?B?TWlldHZlcnRyYWcgZsO8ciBkaWUgV2Vya3N0YXR0?=',
    'Date: Fri, 20 Nov 2026 10:00:00 +0100',
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    ...parts.flatMap((part) => [`--${boundary}`, part]),
    `--${boundary}--`,
    '',
  ].join('\r\n');
}

function attachment(filename: string, type: string, content: string | Uint8Array): string {
  return `Content-Type: ${type}; name="${filename}"\r\nContent-Disposition: attachment; filename="${filename}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(content)}`;
}

const head =
  '# Mietvertrag für die Werkstatt\n\nFrom: Jürgen Weiß <juergen@example.com>\nTo: Ann Lee <ann@example.com>, desk@example.com\nDate: Fri, 20 Nov 2026 10:00:00 +0100';

describe('EML', () => {
  it('has the people, the body in its charset, and the attachments that can be read', async () => {
    const document = await extract(
      'vertrag.eml',
      mail([
        'Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nSch=F6ne Gr=FC=DFe.',
        attachment(
          'vertrag.docx',
          'application/octet-stream',
          docx(wordParagraph('Kaution', 'berschrift1') + wordParagraph('Drei Mieten.')),
        ),
        attachment('foto.png', 'image/png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')),
        attachment('preise.csv', 'text/csv', 'part,price\nchains,60\n'),
      ]),
    );
    expect(document).toMatchObject({ title: 'Mietvertrag für die Werkstatt', mimeType: 'message/rfc822', pageCount: null });
    expect(document.text).toBe(
      [
        head,
        'Schöne Grüße.',
        '## Attachment: vertrag.docx',
        '# Kaution',
        'Drei Mieten.',
        '## Attachment: foto.png',
        expect.anything(),
        '## Attachment: preise.csv',
        '- part: chains; price: 60',
      ]
        .map((part) =>
          typeof part === 'string'
            ? part
            : /Not read\. The file is image\/png, which cannot be read\..*/.exec(document.text)?.[0],
        )
        .join('\n\n'),
    );
    const paths = [...chunkDocument(document)].map(({ headingPath }) => headingPath);
    expect(paths).toContain('Attachment: vertrag.docx > Kaution');
  });
  it.each([
    ['as RFC 3676 writes it', '>> First ', '>> asked.', '> Then ', '> answered.'],
    ['as other programs write it', '> > First ', '> > asked.', '> Then ', '> answered.'],
  ])('joins flowing lines of one depth of quotation, %s', async (_way, ...quoted) => {
    const lines = [...quoted, 'My ', 'words. ', '> Theirs ', 'not mine.', '', ' From here', ' > sign', '-- ', 'Ann'];
    const flowed = 'Content-Type: text/plain; charset=utf-8;\r\n format=flowed';
    const { text } = await extract('flowed.eml', mail([`${flowed}\r\n\r\n${lines.join('\r\n')}`]));
    expect(text.split('\n').slice(6)).toEqual([
      ...['>> First asked.', '> Then answered.', 'My words. ', '> Theirs ', 'not mine.', '', 'From here', '> sign', '-- ', 'Ann'],
    ]);
  });
  it('joins flowing lines that are cut in a word, and no others', async () => {
    const text = async (type: string) =>
      (await extract('flowed.eml', mail([`Content-Type: text/plain; ${type}\r\n\r\n> Zusammen \r\n> gesetzt; format=flowed`])))
        .text;
    expect(await text('format="flowed"; DelSp=Yes')).toContain('\n> Zusammengesetzt; format=flowed');
    expect(await text('charset=utf-8')).toContain('\n> Zusammen \n> gesetzt; format=flowed');
  });
  it('of HTML keeps its tables, and not what is hidden in it', async () => {
    const { text } = await extract(
      'a.eml',
      mail([
        'Content-Type: text/html; charset=utf-8\r\n\r\n<p>Offer</p><table><tr><th>part</th><th>price</th></tr><tr><td>chains</td><td>60</td></tr></table><div style="display: none">hidden words</div><script>script words</script>',
      ]),
    );
    expect(text).toBe(`${head}\n\nOffer\n\n| part | price |\n| --- | --- |\n| chains | 60 |`);
  });
  it('holds forwarded mails as parts, to a depth of three', async () => {
    const inner = 'Subject: Inner\r\nFrom: bo@example.com\r\n\r\nInner words.';
    let message = inner;
    for (let depth = 0; depth < 5; depth += 1) message = mail([`Content-Type: message/rfc822\r\n\r\n${message}`], `cut${depth}`);
    const { text } = await extract('a.eml', message);
    expect(text.match(/^#+ Attachment$/gm)).toHaveLength(4);
    expect(text).toMatch(/Not read\. The file is inside more than 3 other documents\.$/);
    expect((await extract('b.eml', mail([`Content-Type: message/rfc822\r\n\r\n${inner}`]))).text).toContain(
      '# Inner\n\nFrom: bo@example.com\n\nInner words.',
    );
  });
  it('is known by its header without a name, and only so', async () => {
    expect((await extract('download', mail(['\r\nwords']), '')).mimeType).toBe('message/rfc822');
    expect((await extract('notes.txt', 'Subject: not a mail\n\nwords')).mimeType).toBe('text/plain');
    expect(await extract('a.eml', 'only words')).toMatchObject({ mimeType: 'text/plain', text: 'only words' });
  });
});

describe('EPUB', () => {
  it('is read chapter by chapter, with headings and names from its contents', async () => {
    const document = await extract(
      'buch.epub',
      epub(
        {
          'eins%201.xhtml': '',
          'zwei.xhtml': `<h1>Der Mond</h1><p/><p>Er zieht das Meer&#160;an.${' Zweimal am Tag.'.repeat(20)}</p><h2>Nipptide</h2><p>Schwächer.</p>`,
          'drei.xhtml':
            '<p>Ohne Überschrift.</p><table><tr><td>Ort</td><td>Hub</td></tr><tr><td>Husum</td><td>3,5 m</td></tr></table>',
        },
        '<li><a href="text/zwei.xhtml#a">Kapitel eins</a></li><li><a href="text/drei.xhtml">Die <i>Orte</i></a></li>',
      ),
    );
    expect(document).toMatchObject({ title: 'Das Gezeitenbuch', mimeType: 'application/epub+zip', pageCount: null });
    expect(document.text.replaceAll('\u00a0', ' ')).toBe(
      `# Der Mond\n\nEr zieht das Meer an.${' Zweimal am Tag.'.repeat(20)}\n\n## Nipptide\n\nSchwächer.\n\n# Die Orte\n\nOhne Überschrift.\n\n| Ort | Hub |\n| --- | --- |\n| Husum | 3,5 m |`,
    );
    const paths = [...chunkDocument(document)].map(({ headingPath }) => headingPath);
    expect(paths).toEqual(expect.arrayContaining(['Der Mond > Nipptide', 'Die Orte']));
  });
  it('reads drawings, and what stands for chapters in other formats, and counts those that nothing stands for', async () => {
    const item = (id: string, href: string, type: string, more = '') =>
      `<item id="${id}" href="${href}" media-type="${type}" ${more}/>`;
    const items =
      item('draw', 'draw.svg', 'image/svg+xml') +
      item('scan', 'scan.jpg', 'image/jpeg', 'fallback="scan2"') +
      item('scan2', 'scan.pdf', 'application/pdf', 'fallback="words"') +
      item('words', 'words.xhtml', 'application/xhtml+xml') +
      item('lost', 'lost.jpg', 'image/jpeg', 'fallback="lost"') +
      item('gone', 'gone.xhtml', 'application/xhtml+xml');
    const spine = ['draw', 'scan', 'lost', 'gone'].map((id) => `<itemref idref="${id}"/>`).join('');
    const document = await extract(
      'buch.epub',
      epub({}, '', {
        'OEBPS/book.opf': `<package><metadata><title>Pläne</title></metadata><manifest>${items}</manifest><spine>${spine}</spine></package>`,
        'OEBPS/draw.svg':
          '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg xmlns="http://www.w3.org/2000/svg"><title>Plan</title><path d="M0"/><text>Das Siel</text></svg>',
        'OEBPS/scan.jpg': Buffer.from('ffd8ffe000104a464946', 'hex'),
        'OEBPS/scan.pdf': '%PDF-1.4 binary words',
        'OEBPS/words.xhtml': '<html><body><p>Die Seite in Worten.</p></body></html>',
        'OEBPS/lost.jpg': Buffer.from('ffd8ffe000104a464946', 'hex'),
      }),
    );
    expect(document.text).toBe('Das Siel\n\nDie Seite in Worten.');
    expect(document.omissions).toEqual([{ kind: 'CHAPTERS', count: 2, total: null }]);
  });
});
