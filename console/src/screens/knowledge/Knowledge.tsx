import { Page } from '../../ui/page.tsx';

export function Knowledge() {
  return <Page title="Knowledge">…</Page>;
}
