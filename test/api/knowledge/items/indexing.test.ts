import { describe, expect, it } from 'vitest';
import { makePdf } from '../../../support/knowledge/documents.ts';
import { addFile, indexed, itemsOf, longText, searchLimits, searchOf } from '../../../support/knowledge/knowledge.ts';
import { docx, pptx, pptxShape, wordParagraph, xlsx } from '../../../support/knowledge/office.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();

const ann = await make.person();
const agent = await make.agent({ owner: ann });

const search = async (dataSourceIds: readonly string[], question: string, orgId = ann.orgId) =>
  (await searchOf(service, { ...ann, orgId }, dataSourceIds, question)).passages;

async function added(filename: string, content: string | Uint8Array) {
  const { body } = await addFile(ann, agent.id, filename, content);
  return indexed(ann, body.id);
}

describe('from bytes to passages', () => {
  it('Markdown: the passage is exactly the text between its offsets, under its headings', async () => {
    const text = `# Handbook\n\nWelcome.\n\n## Leave\n\n${'Everybody has holidays. '.repeat(20)}\n\n### Parental leave\n\nA parent may stay at home for fourteen months.\n\n## Travel\n\nTrains before planes.\n`;
    const source = await added('handbook.md', text);
    const [best] = await search([source.id], 'How long may a parent stay at home?');
    expect(best).toMatchObject({
      dataSourceId: source.id,
      headingPath: expect.stringContaining('Parental leave'),
      mayCite: true,
    });
    expect(best?.text).toContain('fourteen months');
    expect(text.slice(best?.charStart, best?.charEnd)).toBe(best?.text);
    expect(best?.url.split('?')[0]).toBe(
      `${service.url}/api/v1/data-sources/${source.id}/knowledge/${best?.knowledgeItemId}/content`,
    );
  });

  it.each([
    ['plain text', 'notes.txt', 'The lighthouse keeper feeds seven cats.\n\nNobody knows why.', 'who feeds cats'],
    [
      'HTML',
      'page.html',
      '<html><body><h1>Pets</h1><p>The lighthouse keeper feeds seven cats.</p></body></html>',
      'who feeds cats',
    ],
    ['CSV', 'pets.csv', 'person,animals\nlighthouse keeper,seven cats\nbaker,one dog\n', 'cats of the lighthouse keeper'],
    ['JSON', 'pets.json', '{"people":[{"name":"lighthouse keeper","animals":"seven cats"}]}', 'cats of the lighthouse keeper'],
  ])('%s is found', async (_format, filename, content, question) => {
    const source = await added(filename, content);
    const [best] = await search([source.id], question);
    expect(best?.text).toContain('seven cats');
  });

  it.each<[string, string, () => Uint8Array | string, string]>([
    [
      'a second sheet of XLSX',
      'pets.xlsx',
      () =>
        xlsx([
          {
            name: 'Hours',
            rows: '<row><c t="str"><v>day</v></c><c t="str"><v>hours</v></c></row><row><c t="str"><v>Monday</v></c><c><v>8</v></c></row>',
          },
          {
            name: 'Pets',
            rows: '<row><c t="str"><v>person</v></c><c t="str"><v>animals</v></c></row><row><c t="str"><v>lighthouse keeper</v></c><c t="str"><v>seven cats</v></c></row>',
          },
        ]),
      'Pets',
    ],
    [
      'a table of DOCX',
      'pets.docx',
      () =>
        docx(
          `${wordParagraph('Pets', 'Titel')}${wordParagraph('Animals', 'berschrift1')}<w:tbl>${[
            ['Who', 'What'],
            ['lighthouse keeper', 'seven cats'],
          ]
            .map((row) => `<w:tr>${row.map((cell) => `<w:tc>${wordParagraph(cell)}</w:tc>`).join('')}</w:tr>`)
            .join('')}</w:tbl>`,
        ),
      'Animals',
    ],
    [
      'speaker notes of PPTX',
      'pets.pptx',
      () =>
        pptx([
          { shapes: pptxShape(['Pets'], 'title') },
          { shapes: pptxShape(['Animals'], 'title'), notes: 'The lighthouse keeper feeds seven cats.' },
        ]),
      'Animals',
    ],
    [
      'an attachment of a mail',
      'pets.eml',
      () =>
        `Subject: Pets\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\n${'See what is below. '.repeat(20)}\r\n--x\r\nContent-Type: text/csv; name=pets.csv\r\nContent-Disposition: attachment; filename=pets.csv\r\n\r\nperson,animals\r\nlighthouse keeper,seven cats\r\n--x--\r\n`,
      'Attachment: pets.csv',
    ],
  ])('%s is found', async (_what, filename, content, headingPath) => {
    const source = await added(filename, content());
    const [best] = await search([source.id], 'cats of the lighthouse keeper');
    expect(best?.text).toContain('seven cats');
    expect(best?.headingPath).toContain(headingPath);
  });

  it('a PDF is found, with its page', async () => {
    const pdf = await makePdf([
      { columns: ['Nothing of interest stands here.'] },
      { columns: ['The lighthouse keeper feeds seven cats.'] },
    ]);
    const source = await added('report.pdf', pdf);
    const [best] = await search([source.id], 'who feeds cats');
    expect(best).toMatchObject({ page: 2, title: 'report.pdf' });
  });

  it('a payload is found by its members', async () => {
    const source = await make.apiDataSource({ owner: ann, agentId: agent.id, data: { opening: { monday: 'nine to five' } } });
    await indexed(ann, source.id);
    expect((await search([source.id], 'opening on monday'))[0]?.text).toContain('nine to five');
  });

  it('a typing error still finds passages', async () => {
    const source = await added('birds.txt', 'The cormorant dries its wings in the wind.');
    expect(await search([source.id], 'comorant')).toHaveLength(1);
    expect(await search([source.id], 'zyzzyva')).toEqual([]);
  });

  it('a typing error, and the spelling of another country, find passages among sources of many languages', async () => {
    const texts = {
      'en.txt': 'The tenant pays the rent at the beginning of each month, and the landlord repairs what is broken.',
      'fr.txt': 'Le locataire paie le loyer au début de chaque mois, et le propriétaire répare ce qui est cassé.',
      'es.txt': 'El inquilino paga el alquiler al principio de cada mes, y el propietario repara lo que está roto.',
      'it.txt': "L'inquilino paga l'affitto all'inizio di ogni mese, e il proprietario ripara quello che è rotto.",
      'ru.txt': 'Арендатор платит за квартиру в начале каждого месяца, а хозяин чинит то, что сломано.',
      'simple.txt': 'Straßenbeleuchtung kaputt',
      'de.txt':
        'Der Mieter zahlt die Miete am Anfang jedes Monats, und der Vermieter repariert, was mit dem Fahrradkeller nicht stimmt.',
    };
    const ids: string[] = [];
    for (const [name, text] of Object.entries(texts)) ids.push((await added(name, text)).id);
    const found = async (question: string) => (await search(ids, question)).map(({ title }) => title);
    expect(await found('Fahradkeler')).toEqual(['de.txt']);
    expect(await found('locatairre')).toContain('fr.txt');
    expect(await found('кварртиру')).toEqual(['ru.txt']);
    // As it is written in Switzerland.
    expect(await found('Strassenbeleuchtung')).toEqual(['simple.txt']);
  });

  it('Japanese, which has no spaces, is found by a part of a sentence', async () => {
    const source = await added('inu.txt', '東京の犬は公園で遊んでいます。\n\n猫は家で寝ています。');
    expect((await search([source.id], '公園の犬'))[0]?.text).toContain('公園');
  });
});

describe('what a search returns', () => {
  it('nothing of another organization, nor of a source that was not allowed', async () => {
    const other = await make.person();
    const theirs = await make.agent({ owner: other });
    const source = await make.apiDataSource({
      owner: other,
      agentId: theirs.id,
      data: { secret: 'The vault opens with the word marzipan' },
    });
    await indexed(other, source.id);
    expect(await search([source.id], 'marzipan', other.orgId)).toHaveLength(1);
    expect(await search([source.id], 'marzipan')).toEqual([]);
    expect(await search([], 'marzipan', other.orgId)).toEqual([]);
  });

  it('the same text once, with every place where it stands', async () => {
    const text = 'Quarterly figures of the submarine department are confidential.';
    const one = await added('one.txt', text);
    const two = await added('two.txt', text);
    const [best, ...more] = await search([one.id, two.id], 'submarine figures');
    expect(more).toEqual([]);
    expect([best?.dataSourceId, ...(best?.copies ?? []).map(({ dataSourceId }) => dataSourceId)].toSorted()).toEqual(
      [one.id, two.id].toSorted(),
    );
  });

  it('neighbours joined, within the tokens allowed', async () => {
    const source = await added('long.txt', longText(12));
    const passages = await search([source.id], 'paragraph number three four five six seven');
    expect(passages.reduce((sum, { tokenCount }) => sum + tokenCount, 0)).toBeLessThanOrEqual(searchLimits.tokensMax);
    for (const passage of passages) expect(longText(12).slice(passage.charStart, passage.charEnd)).toBe(passage.text);
  });

  it('an item or source that must not be cited says so', async () => {
    const source = await added('quiet.txt', 'The hedgehog hibernates until April.');
    await ann.patch(`/api/v1/data-sources/${source.id}`, { cite: false });
    expect(await search([source.id], 'hedgehog')).toMatchObject([{ mayCite: false }]);
  });

  it('nothing of a source from the moment it is deleted', async () => {
    const source = await added('gone.txt', 'The walrus sings at midnight.');
    await ann.delete(`/api/v1/data-sources/${source.id}`);
    expect(await search([source.id], 'walrus')).toEqual([]);
  });
});

describe('while indexing', () => {
  it('statistics add up at every instant and the percentage never falls', async () => {
    const { body: source } = await addFile(ann, agent.id, 'large.txt', longText(400));
    let percentages: number[] = [];
    const follow = async () => {
      const statistics = (await ann.get(`/api/v1/data-sources/${source.id}/indexing-statistics`)).body;
      const { doneCount, failedCount, pendingCount, indexingCount, totalCount } = statistics;
      if (doneCount + failedCount + pendingCount + indexingCount !== totalCount || totalCount !== 1) {
        throw new Error(JSON.stringify(statistics), { cause: 'final' });
      }
      percentages.push(Number((await ann.get(`/api/v1/data-sources/${source.id}`)).body.indexPercentage));
      expect(doneCount).toBe(1);
    };
    for (;;) {
      await eventually(follow);
      expect(percentages).toEqual(percentages.toSorted((a, b) => a - b));
      expect(percentages.at(-1)).toBe(100);
      if (percentages.some((percentage) => percentage > 0 && percentage < 100)) break;
      // It was indexed before the test looked.
      await ann.post(`/api/v1/data-sources/${source.id}/refresh?forceRefresh=true`);
      percentages = [];
    }
  });

  it('the old generation answers until the new one is complete, and no passage comes twice', async () => {
    const source = await added('stable.txt', `${longText(150)}\n\nThe albatross never lands.`);
    // Once more if it was indexed before the test looked.
    for (let searches = 0; searches <= 1; ) {
      searches = 0;
      await ann.post(`/api/v1/data-sources/${source.id}/refresh?forceRefresh=true`);
      await eventually(async () => {
        const found = await search([source.id], 'albatross');
        searches += 1;
        if (found.length !== 1) throw new Error(`found ${found.length} times`, { cause: 'final' });
        const { body } = await ann.get(`/api/v1/data-sources/${source.id}`);
        expect(body.indexStatus).toBe('INDEXED');
      });
    }
    const [item] = await itemsOf(ann, source.id);
    await eventually(async () => expect(await chunkRows(item.id)).toBe(item.documentCount));
    await expectExactCounts(source.id);
  });

  it('a source can be followed: it yields what changes and ends when it is deleted', async () => {
    const { body: source } = await addFile(ann, agent.id, 'followed.txt', longText(60));
    const document = `subscription ($id: ID!) { dataSourceUpdated(dataSourceId: $id) { indexStatus indexPercentage statistics { doneCount totalCount } } }`;
    const seen: string[] = [];
    for await (const { data } of ann.subscribe(document, { id: source.id })) {
      const { indexStatus } = data.dataSourceUpdated;
      seen.push(indexStatus);
      if (indexStatus !== 'INDEXED') continue;
      // It may have been indexed before the test followed it.
      if (new Set(seen).size > 1) await ann.delete(`/api/v1/data-sources/${source.id}`);
      else await ann.post(`/api/v1/data-sources/${source.id}/refresh?forceRefresh=true`);
    }
    expect(seen.at(-1)).toBe('INDEXED');
    expect(new Set(seen).size).toBeGreaterThan(1);
  });
});

describe('refreshing', () => {
  const state = async (id: string) => {
    const document = `query ($id: ID!) { knowledgeItems(dataSourceId: $id) { nodes { indexedAt lastCheckedAt passageCount } } }`;
    return (await ann.graphql(document, { id })).data.knowledgeItems.nodes[0];
  };

  it('passes over unchanged content, unless it is forced', async () => {
    const source = await added('same.txt', 'The badger digs at dusk.');
    const before = await state(source.id);
    await ann.post(`/api/v1/data-sources/${source.id}/refresh`);
    await eventually(async () => expect((await state(source.id)).lastCheckedAt).not.toBe(before.lastCheckedAt));
    await indexed(ann, source.id);
    expect((await state(source.id)).indexedAt).toBe(before.indexedAt);
    await ann.post(`/api/v1/data-sources/${source.id}/refresh?forceRefresh=true`);
    await eventually(async () => expect((await state(source.id)).indexedAt).not.toBe(before.indexedAt));
    expect(await search([source.id], 'badger')).toHaveLength(1);
    await expectExactCounts(source.id);
  });

  it('many refreshes at once end well', async () => {
    const source = await added('busy.txt', longText(40));
    await Promise.all(Array.from({ length: 5 }, () => ann.post(`/api/v1/data-sources/${source.id}/refresh?forceRefresh=true`)));
    // One status follows the other: the source is INDEXED in between.
    await eventually(async () => {
      const [item] = await itemsOf(ann, source.id);
      expect(item).toMatchObject({ indexStatus: 'INDEXED' });
      expect(await chunkRows(item.id)).toBe(item.documentCount);
      await expectExactCounts(source.id);
    });
  });
});

async function chunkRows(itemId: string): Promise<number> {
  const { rows } = await service.deps.storage.db.pool.query('select count(*)::int as n from chunks where item_id = $1', [itemId]);
  return rows[0].n;
}

/** The stored counts must equal the counts of the chunks, and the keys of each chunk ascend, for the ranking's binary search. */
async function expectExactCounts(dataSourceId: string): Promise<void> {
  const { rows } = await service.deps.storage.db.pool.query(
    `select (select count(*)::int from chunks where data_source_id = $1) as chunks,
       (select sum(chunks)::int from lexeme_statistics where data_source_id = $1) as counted,
       (select sum(length)::int from chunks where data_source_id = $1) as length,
       (select sum(sum_length)::int from lexeme_statistics where data_source_id = $1) as counted_length,
       (select count(*)::int from (select key, count(*) as n from chunks cross join unnest(term_keys) as key where data_source_id = $1 group by key) real
          full join (select key, df from lexeme_frequencies where data_source_id = $1) kept using (key)
          where real.n is distinct from kept.df) as wrong,
       (select count(*)::int from chunks where data_source_id = $1
          and term_keys is distinct from (select coalesce(array_agg(key order by key), '{}') from unnest(term_keys) as key)) as unsorted`,
    [dataSourceId],
  );
  expect(rows[0]).toMatchObject({ counted: rows[0].chunks, counted_length: rows[0].length, wrong: 0, unsorted: 0 });
}
