import { Page } from '../../ui/page.tsx';

export function Usage() {
  return <Page title="Usage">…</Page>;
}
