import { describe, expect, it } from 'vitest';
import { documentReader } from '../../support/knowledge/documents.ts';

const { extract } = documentReader();

describe('RSS and Atom', () => {
  it('of RSS have titles, links, dates and texts of entries', async () => {
    const document = await extract(
      'news.xml',
      `<?xml version="1.0" encoding="UTF-8"?><!-- made by hand -->
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom">
<channel><title>News of the workshop</title><atom:link href="https://shop.example/feed" rel="self"/><link>https://shop.example/</link>
<description>What is new</description><image><title>Logo</title></image>
<item><title>New prices &amp; hours</title><link>https://shop.example/1</link><pubDate>Fri, 20 Nov 2026 10:00:00 GMT</pubDate>
<description>Short.</description><content:encoded><![CDATA[<p>A tube costs <b>9 €</b>.</p><script>no()</script><ul><li>Open until 6</li></ul>]]></content:encoded></item>
<item><description>&lt;p&gt;Without a title&lt;/p&gt;</description><link>https://shop.example/2</link></item>
</channel></rss>`,
    );
    expect(document).toMatchObject({ title: 'News of the workshop', mimeType: 'application/rss+xml', firstLine: null });
    expect(document.text.split('\n').filter((line) => line !== '')).toEqual([
      ...[
        '# News of the workshop',
        'Link: https://shop.example/',
        'What is new',
        '## New prices & hours',
        'Link: https://shop.example/1',
      ],
      ...['Date: Fri, 20 Nov 2026 10:00:00 GMT', 'A tube costs **9 €**.', '-   Open until 6', '## https://shop.example/2'],
      ...['Link: https://shop.example/2', 'Without a title'],
    ]);
  });

  it('of Atom have plain text where they say so, and no tag is read out of it', async () => {
    const { text } = await extract(
      'feed.atom',
      `<feed xmlns="http://www.w3.org/2005/Atom"><title>Notes</title>
<entry><title type="text">Use &lt;b&gt; &amp;amp; &lt;i&gt;</title><content type="text">If a&lt;b&gt;c, then
x &lt; y &amp;amp; z.</content></entry>
<entry><title>Two</title><summary>No type: &lt;b&gt;bold&lt;/b&gt;</summary></entry></feed>`,
    );
    expect(text.split('\n').filter((line) => line !== '')).toEqual([
      ...['# Notes', '## Use <b> &amp; <i>', 'If a<b>c, then  ', 'x < y &amp; z.', '## Two', 'No type: **bold**'],
    ]);
  });

  it('of Atom too, with content in elements', async () => {
    const { title, mimeType, text } = await extract(
      'feed.atom',
      `<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">Notes &amp;amp; &lt;i&gt;drafts&lt;/i&gt;</title>
<entry><title>One</title><link rel="edit" href="https://a.example/edit"/><link href="https://a.example/1"/><published>2026-11-20T10:00:00Z</published><updated>2026-11-21T10:00:00Z</updated>
<author><name>Ann</name><email>ann@example.com</email></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>See <a href="https://b.example/">b &lt;c&gt;</a>.</p><p>Then this.</p></div></content></entry></feed>`,
    );
    expect([title, mimeType]).toEqual(['Notes & *drafts*', 'application/atom+xml']);
    expect(
      text
        .split('\n')
        .filter((line) => line !== '')
        .slice(1),
    ).toEqual([
      ...['## One', 'Link: https://a.example/1', 'Date: 2026-11-20T10:00:00Z', 'Author: Ann ann@example.com'],
      ...['See [b <c>](https://b.example/).', 'Then this.'],
    ]);
  });

  it('leaves other XML, and feeds that say nothing, as they are', async () => {
    for (const text of [
      '<feed><cow>Hay</cow></feed>',
      '<rss version="2.0"><channel></channel></rss>',
      '<rdf:RDF xmlns:rdf="x"/>',
    ])
      expect(await extract('x.xml', text)).toMatchObject({ text, firstLine: 1 });
  });
});

describe('SRT and WebVTT', () => {
  it('of SRT has paragraphs with their times', async () => {
    const { text } = await extract(
      'talk.srt',
      '1\r\n00:00:01,000 --> 00:00:03,500\r\n<i>Welcome</i> to\r\nthe {\\an8}workshop.\r\n\r\n2\r\n00:00:03,600 --> 00:00:05,000\r\nToday: tubes.\r\n\r\n3\r\n01:02:09,000 --> 01:02:10,000\r\nAfter the break &amp; tea.\r\n',
    );
    expect(text).toBe('[0:00:01] Welcome to the workshop. Today: tubes.\n\n[1:02:09] After the break & tea.');
  });

  it('of WebVTT has speakers, and no notes, styles or repeated lines', async () => {
    const { text } = await extract(
      'talk.vtt',
      `WEBVTT - Talk

STYLE
::cue { color: red }

NOTE 00:00 is the start

intro
00:01.000 --> 00:03.000 align:start
<v.loud Ann Lee>Hello <00:02.000><c.red>there</c></v>

00:03.000 --> 00:04.000
<v Ann Lee>Hello there
<v Ann Lee>and welcome

00:04.000 --> 00:05.000
<v Bob>Thanks!`,
    );
    expect(text).toBe('[0:00:01] Ann Lee: Hello there and welcome\n\n[0:00:04] Bob: Thanks!');
  });

  it('ends a paragraph with a sentence, so that a citation names a time near the words', async () => {
    const cues = Array.from({ length: 40 }, (_, place) => {
      const clock = (second: number) => `00:0${Math.floor(second / 60)}:${String(second % 60).padStart(2, '0')},000`;
      return `${place + 1}\n${clock(place * 5)} --> ${clock(place * 5 + 5)}\nThis is what is said in cue number ${place}.`;
    });
    const { text } = await extract('long.srt', cues.join('\n\n'));
    const paragraphs = text.split('\n\n');
    expect(paragraphs.length).toBeGreaterThan(5);
    for (const paragraph of paragraphs) {
      const [, minutes = '', seconds = '', first = ''] =
        /^\[0:(\d\d):(\d\d)\] This is what is said in cue number (\d+)\./.exec(paragraph) ?? [];
      expect(Number(minutes) * 60 + Number(seconds)).toBe(Number(first) * 5);
    }
    expect(text.match(/cue number/g)).toHaveLength(40);
  });

  it('leaves text alone that only mentions times', async () => {
    const text = 'At 00:00:01,000 --> 00:00:02,000 nothing was said.';
    expect((await extract('notes.txt', text)).text).toBe(text);
    expect((await extract('empty.vtt', 'WEBVTT\n\nNOTE nothing')).text).toBe('WEBVTT\n\nNOTE nothing');
  });
});
