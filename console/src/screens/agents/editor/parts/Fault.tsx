import { useFaultWords } from '../../../../ui/form/faults/words.ts';
import type { FieldError } from '../../../../ui/form/field.tsx';
import styles from '../editor.module.css';

/** Why a value was refused, for what is not inside a Field. */
export function Fault({ error }: { readonly error: FieldError }) {
  const { describeFault } = useFaultWords();
  return error === undefined ? null : (
    <p className={styles.fault} role="alert">
      {typeof error === 'string' ? error : describeFault(error)}
    </p>
  );
}
