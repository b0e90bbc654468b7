import { expect, it } from 'vitest';
import { documentReader } from '../../support/knowledge/documents.ts';

/** Calendars and address cards fold their lines in the middle of words, and escape their texts. */
const { extract } = documentReader();
const file = (...lines: readonly string[]) => `${lines.join('\r\n')}\r\n`;

it('a calendar has whole words, its texts as they are meant, and an entry as a paragraph', async () => {
  const zone = ['BEGIN:VTIMEZONE', 'TZID:Europe/Berlin', 'BEGIN:STANDARD', 'TZOFFSETTO:+0100', 'END:STANDARD', 'END:VTIMEZONE'];
  const event = [
    'BEGIN:VEVENT',
    'DTSTART;TZID=Europe/Berlin:20260701T100000',
    'RRULE:FREQ=WEEKLY;BYDAY=WE',
    'SUMMARY:Review\\, part 1',
    'DESCRIPTION:Bring the har',
    ' bour map.\\nTea at four\\; cake too.',
    'ATTENDEE;CN="Berg: Bo";PARTSTAT=DECLINED:mailto:bo@example.com',
    'END:VEVENT',
  ];
  const calendar = file('BEGIN:VCALENDAR', 'VERSION:2.0', ...zone, ...event, ...event, 'END:VCALENDAR');
  const { text, blocks } = await extract('a.ics', calendar, 'text/calendar');
  const shown =
    'BEGIN:VEVENT\nDTSTART;TZID=Europe/Berlin:20260701T100000\nRRULE:FREQ=WEEKLY;BYDAY=WE\nSUMMARY:Review, part 1\n' +
    'DESCRIPTION:Bring the harbour map.\nTea at four; cake too.\nATTENDEE;CN="Berg: Bo";PARTSTAT=DECLINED:mailto:bo@example.com\nEND:VEVENT';
  expect(text).toBe(`BEGIN:VCALENDAR\nVERSION:2.0\n\n${shown}\n\n${shown}\nEND:VCALENDAR`);
  expect(blocks).toHaveLength(3);
});

it('address cards have their letters, and no pictures', async () => {
  const first = file(
    'BEGIN:VCARD',
    'VERSION:2.1',
    'FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Ann M=C3=BCl=',
    'ler',
    'TEL;WORK;VOICE:+49 30 1234',
    'PHOTO;ENCODING=BASE64;JPEG:/9j/4AAQSkZJRgABAQAAAQABAAD',
    ' BwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRT',
    '',
    'END:VCARD',
  );
  const second = file(
    'BEGIN:VCARD',
    'VERSION:4.0',
    'FN:Bo Berg',
    'PHOTO:data:image/jpeg;base64,/9j/4AAQ',
    'NOTE:Rings\\, twice',
    'END:VCARD',
  );
  expect((await extract('a.vcf', first + second)).text).toBe(
    'BEGIN:VCARD\nVERSION:2.1\nFN:Ann Müller\nTEL;WORK;VOICE:+49 30 1234\nEND:VCARD\n\n' +
      'BEGIN:VCARD\nVERSION:4.0\nFN:Bo Berg\nNOTE:Rings, twice\nEND:VCARD',
  );
});

it('a text that names a calendar later keeps its lines and their numbers', async () => {
  const { text, firstLine } = await extract('a.txt', 'A file begins so:\nBEGIN:VCALENDAR\n  folded\n');
  expect(text).toContain('BEGIN:VCALENDAR\n  folded');
  expect(firstLine).toBe(1);
});
