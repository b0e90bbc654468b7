import { PDFDocument } from 'pdf-lib';
import { describe, expect, it } from 'vitest';
import { makePdf } from '../../../support/knowledge/documents.ts';
import { addFile, indexed, itemsOf } from '../../../support/knowledge/knowledge.ts';
import { docx, pptx, pptxShape, wordParagraph, xlsx } from '../../../support/knowledge/office.ts';
import { withService } from '../../../support/service.ts';

/** What readers leave out of a document, they count. */
const { make, upstream } = await withService('model');

const ann = await make.person();
const agent = await make.agent({ owner: ann });

const itemOmissions =
  'query($id: ID!) { dataSource(id: $id) { items(first: 1) { nodes { omissions { kind count total text } } } } }';

async function omissionsOf(id: string) {
  const data = await ann.ask(itemOmissions, { id });
  return data.dataSource.items.nodes[0].omissions;
}

async function added(filename: string, content: string | Uint8Array) {
  return indexed(ann, (await addFile(ann, agent.id, filename, content)).body.id);
}

/** A PDF whose other pages are pictures. */
async function partlyScanned(textPages: number, pictures: number): Promise<Uint8Array> {
  const page = { columns: ['The workshop opens at nine in the morning and closes at six in the evening.'] };
  const document = await PDFDocument.load(await makePdf(Array.from({ length: textPages }, () => page)));
  for (let count = 0; count < pictures; count += 1) {
    document.addPage([300, 300]).drawRectangle({ x: 10, y: 10, width: 200, height: 200 });
  }
  return document.save();
}

function mailWith(filename: string, content: Uint8Array): string {
  return [
    'Subject: Report\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=cut\r\n',
    '--cut\r\nContent-Type: text/plain\r\n\r\nHere it is.',
    `--cut\r\nContent-Type: application/octet-stream; name="${filename}"\r\nContent-Disposition: attachment; filename="${filename}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(content).toString('base64')}`,
    '--cut--\r\n',
  ].join('\r\n');
}

const sheet = '<row r="1"><c r="A1" t="inlineStr"><is><t>words</t></is></c></row>';

describe('an item', () => {
  it.each<[string, string, () => string | Uint8Array | Promise<Uint8Array>, readonly object[]]>([
    [
      'scanned pages',
      'scan.pdf',
      () => partlyScanned(2, 3),
      [{ kind: 'PAGES_WITHOUT_TEXT', count: 3, total: 5, text: '3 of 5 pages have no text' }],
    ],
    [
      'one page',
      'one.pdf',
      () => partlyScanned(1, 1),
      [{ kind: 'PAGES_WITHOUT_TEXT', count: 1, total: 2, text: '1 of 2 pages has no text' }],
    ],
    [
      'hidden slides, and slides of pictures',
      'show.pptx',
      () =>
        pptx([
          { shapes: pptxShape(['Tides'], 'title') },
          { shapes: pptxShape(['Draft'], 'title'), isHidden: true },
          { shapes: '<p:pic/>' },
        ]),
      [
        { kind: 'HIDDEN_SLIDES', count: 1, total: null, text: '1 hidden slide was left out' },
        { kind: 'PAGES_WITHOUT_TEXT', count: 1, total: 3, text: '1 of 3 pages has no text' },
      ],
    ],
    [
      'hidden sheets, and charts',
      'book.xlsx',
      () =>
        xlsx(
          [
            { name: 'Open', rows: sheet },
            { name: 'Secret', rows: sheet, isHidden: true },
          ],
          [],
          { 'xl/charts/chart1.xml': '<c:chartSpace/>', 'xl/charts/chart2.xml': '<c:chartSpace/>' },
        ),
      [
        { kind: 'HIDDEN_SHEETS', count: 1, total: null, text: '1 hidden sheet was left out' },
        { kind: 'CHARTS', count: 2, total: null, text: '2 charts were left out' },
      ],
    ],
    [
      'attachments, and what is left out of them',
      'report.eml',
      async () => Buffer.from(mailWith('scan.pdf', await partlyScanned(1, 2))),
      [{ kind: 'PAGES_WITHOUT_TEXT', count: 2, total: 3, text: '2 of 3 pages have no text' }],
    ],
    [
      'attachments that cannot be read',
      'picture.eml',
      () => mailWith('photo.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')),
      [{ kind: 'ATTACHMENTS', count: 1, total: null, text: '1 attachment could not be read' }],
    ],
    ['nothing', 'whole.docx', () => docx(wordParagraph('All of it.')), []],
  ])('says how much its text leaves out: %s', async (_what, filename, content, omissions) => {
    const source = await added(filename, await content());
    expect(source.indexStatus).toBe('INDEXED');
    expect(await omissionsOf(source.id)).toEqual(omissions);
  });

  it('of REST has no more members than before', async () => {
    const { id } = await added('scan.pdf', await partlyScanned(1, 1));
    expect(Object.keys((await itemsOf(ann, id))[0])).not.toContain('omissions');
  });
});

it('a model is told what the text of an attached file leaves out', async () => {
  const { id: chatId } = await make.chat({ owner: ann, agentId: agent.id });
  const form = new FormData();
  form.append('file', new Blob([(await partlyScanned(1, 2)) as BlobPart]), 'scan.pdf');
  const { body: file } = await ann.post(`/api/v1/chats/${chatId}/files`, form);
  const { status } = await ann.post(`/api/v1/chats/${chatId}/messages`, {
    prompt: [
      { type: 'text', text: 'When does it open?' },
      { type: 'id', id: file.id },
    ],
  });
  expect(status).toBe(200);
  expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('2 of 3 pages have no text');
});
