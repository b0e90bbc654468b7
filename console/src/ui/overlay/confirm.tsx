import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { useText } from '../../text/text.ts';
import { Button } from '../form/button.tsx';
import { Dialog } from './dialog.tsx';

interface Question {
  readonly title: string;
  /** What happens, and whether it can be undone. */
  readonly body: ReactNode;
  /** The word on the button that does it, such as "Delete". */
  readonly action: string;
  readonly isDanger?: boolean;
}

const ConfirmContext = createContext<(question: Question) => Promise<boolean>>(() => Promise.resolve(false));

/** Asks before something that is not easily undone. Resolves to whether the reader wants it. */
export const useConfirm = () => useContext(ConfirmContext);

export function ConfirmProvider({ children }: { readonly children: ReactNode }) {
  const { t } = useText();
  const [asked, setAsked] = useState<{ readonly question: Question; readonly answer: (isConfirmed: boolean) => void }>();
  const ask = useCallback((question: Question) => new Promise<boolean>((answer) => setAsked({ question, answer })), []);
  const answer = (isConfirmed: boolean) => {
    asked?.answer(isConfirmed);
    setAsked(undefined);
  };
  return (
    <ConfirmContext value={ask}>
      {children}
      <Dialog
        title={asked?.question.title ?? ''}
        size="small"
        isOpen={asked !== undefined}
        onClose={() => answer(false)}
        actions={
          <>
            <Button onClick={() => answer(false)}>{t('Cancel')}</Button>
            <Button variant={asked?.question.isDanger === true ? 'danger' : 'primary'} onClick={() => answer(true)}>
              {asked?.question.action}
            </Button>
          </>
        }
      >
        <div>{asked?.question.body}</div>
      </Dialog>
    </ConfirmContext>
  );
}
