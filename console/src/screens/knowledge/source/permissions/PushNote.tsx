import { useText } from '../../../../text/text.ts';
import { Section } from '../../../../ui/page.tsx';
import { CodeBox } from '../../../../ui/small.tsx';

/** How a program pushes the documents of a source, with those who may open each. */
export function PushNote({ sourceId }: { readonly sourceId: string }) {
  const { t } = useText();
  const base = `${window.location.origin}/api/v1/data-sources/${sourceId}`;
  const toCommand = (path: string, body: object) =>
    [
      `curl -X PUT ${base}/${path} \\`,
      `  -H "Authorization: Bearer $PARLEY_API_KEY" -H 'Content-Type: application/json' \\`,
      `  -d '${JSON.stringify(body, null, 2)}'`,
    ].join('\n');
  const groups = [{ key: 'staff', name: 'Staff', members: ['user:ann@example.org'] }];
  const items = [{ uniqueId: 'handbook/1', name: 'Handbook', text: '# Holidays\n\nThirty days.', acl: ['group:staff'] }];
  return (
    <Section
      title={t('A program pushes the documents')}
      lead={t(
        'First who is in which group, then the documents with those who may open each. Nobody finds what has no such list.',
      )}
    >
      <CodeBox label={t('Who is in which group')} text={toCommand('principals', { groups })} />
      <CodeBox label={t('Documents with those who may open them')} text={toCommand('items', { items })} />
    </Section>
  );
}
