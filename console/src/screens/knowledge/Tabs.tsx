import { useText } from '../../text/text.ts';
import { TabLinks } from '../../ui/tabs.tsx';

/** The two parts of the screen above single sources. */
export function KnowledgeTabs({ current }: { readonly current: '/knowledge' | '/knowledge/search' }) {
  const { t } = useText();
  return (
    <TabLinks
      label={t('Parts of knowledge')}
      current={current}
      tabs={[
        { href: '/knowledge', label: t('Sources') },
        { href: '/knowledge/search', label: t('Try a question') },
      ]}
    />
  );
}
