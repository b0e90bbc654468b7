import { Page } from '../../ui/page.tsx';

export function Chat(_props: { readonly id?: string }) {
  return <Page title="Chat">…</Page>;
}
