import { Page } from '../../ui/page.tsx';

export function Installation() {
  return <Page title="Installation">…</Page>;
}
