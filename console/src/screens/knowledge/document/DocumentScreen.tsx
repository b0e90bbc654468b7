import { useText } from '../../../text/text.ts';
import { Page } from '../../../ui/page.tsx';

export function DocumentScreen({ id }: { readonly id: string }) {
  const { t } = useText();
  return <Page title={t('Document')}>{id}</Page>;
}
