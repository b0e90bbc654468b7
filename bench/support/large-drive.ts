import { GoogleDrive } from '../../test/fixtures/upstreams/google-drive.ts';

/** A process of its own, so that only the service's memory is measured: a drive with one folder of `process.argv[2]` small files. */
const count = Number(process.argv[2] ?? 1_000);
const drive = await GoogleDrive.start();
drive.pageSize = 1_000;
drive.folder('shelf');
for (let index = 0; index < count; index += 1) {
  const text = `# File ${index}\n\nThe lamp number ${index} hangs in hall ${index % 97}. It is checked by group ${index % 31} each month.\n`;
  drive.add({ id: `file-${index}`, name: `file-${index}.md`, parents: ['shelf'], text });
}
process.send?.({ url: drive.url, ...{ access: drive.tokens.access, refresh: drive.tokens.refresh } });
process.on('message', () => {
  process.send?.({ fetched: fetched() });
});

let counted = 0;
/** Forgets requests that were counted: they are not what is measured. */
function fetched(): number {
  for (const { query } of drive.server.requests.splice(0)) if (query.get('alt') === 'media') counted += 1;
  return counted;
}
