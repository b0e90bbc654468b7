import { Component, type ReactNode } from 'react';
import { useText } from '../text/text.ts';
import { EmptyState } from '../ui/feedback.tsx';
import { Button } from '../ui/form/button.tsx';

/** Shows words where a screen cannot be drawn, in place of a blank page. `resetKey`: another one tries again. */
export class Boundary extends Component<
  { readonly children: ReactNode; readonly resetKey: string },
  { readonly error: Error | undefined }
> {
  override readonly state: { readonly error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override componentDidUpdate({ resetKey }: { readonly resetKey: string }) {
    if (this.state.error !== undefined && resetKey !== this.props.resetKey) this.setState({ error: undefined });
  }

  override render() {
    return this.state.error === undefined ? this.props.children : <Failure error={this.state.error} />;
  }
}

function Failure({ error }: { readonly error: Error }) {
  const { t } = useText();
  // After an update of the service the file of a screen has another name.
  const isOutdated = /dynamically imported module|Importing a module/.test(error.message);
  return (
    <EmptyState
      isScreen
      title={isOutdated ? t('A new version of the console is there') : t('This screen could not be shown')}
      action={
        <Button variant="primary" onClick={() => location.reload()}>
          {t('Load the page again')}
        </Button>
      }
    >
      {isOutdated ? t('Or the service cannot be reached.') : error.message}
    </EmptyState>
  );
}
