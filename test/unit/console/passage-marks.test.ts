import { describe, expect, it } from 'vitest';
import { findWords, passageRanges } from '../../../console/src/screens/knowledge/document/marks.ts';
import { wantedPassage } from '../../../console/src/screens/knowledge/document/place.ts';

const shown = (texts: readonly string[], passage: string) =>
  passageRanges(texts, passage).map(({ index, start, end }) => texts[index]?.slice(start, end));

describe('a passage on a page', () => {
  it('is found in pieces, whatever their spaces and hyphens are', () => {
    const texts = ['Before. The lighthouse shows', 'three white fla-', 'shes every ten seconds', ' during fog. Behind.'];
    const passage = 'The lighthouse shows three white flashes every ten seconds during fog.';
    expect(shown(texts, passage)).toEqual(['The lighthouse shows', 'three white fla', 'shes every ten seconds', 'during fog']);
  });
  it('is found where columns stand in another order', () => {
    const texts = ['the second column speaks of boats', 'and the first one of the harbour'];
    const passage = 'and the first one of the harbour\nthe second column speaks of boats';
    expect(shown(texts, passage)).toEqual(texts);
  });
  it('is found with ligatures, and in other writings', () => {
    expect(shown(['the ﬁrst oﬃce of the harbour master'], 'The first office of the harbour master')).toHaveLength(1);
    expect(shown(['港の規則', '船は停泊する'], '規則 船')).toEqual(['規則', '船']);
  });
  it('is not found where the page says something else', () => {
    expect(passageRanges(['Boats over twelve metres need a pilot.'], 'A berth for one night costs forty crowns.')).toEqual([]);
    expect(passageRanges(['anything'], ' … ')).toEqual([]);
  });
  it('is found as words in a text', () => {
    const text = '# Fees\n\nA berth for one night\ncosts forty crowns.\n';
    const range = findWords(text, 'A berth for one night costs forty crowns');
    expect(text.slice(range?.start, range?.end)).toBe('A berth for one night\ncosts forty crowns');
  });
});

it.each([
  [
    '?citation=chk_1&page=2&passage=10-40',
    { passageId: 'chk_1', page: 2, range: { start: 10, end: 40 }, support: undefined, back: undefined, text: undefined },
  ],
  [
    '?passage=A%20berth',
    { passageId: undefined, page: undefined, range: undefined, support: undefined, back: undefined, text: 'A berth' },
  ],
  [
    '?page=x&passage=40-10',
    { passageId: undefined, page: undefined, range: undefined, support: undefined, back: undefined, text: undefined },
  ],
  [
    '?passage=10-40&support=12-20&chat=chat_1&answer=msg_2&source=3',
    {
      passageId: undefined,
      page: undefined,
      range: { start: 10, end: 40 },
      support: { start: 12, end: 20 },
      back: '/chats/chat_1?answer=msg_2&source=3',
      text: undefined,
    },
  ],
  [
    '?chat=//evil.example',
    { passageId: undefined, page: undefined, range: undefined, support: undefined, back: undefined, text: undefined },
  ],
])('reads the place of a passage: %s', (search, place) => {
  expect(wantedPassage(search)).toEqual(place);
});
