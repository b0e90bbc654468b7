import type { Fault } from '@parley/client';
import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from 'react';
import { useFaultWords } from './faults/words.ts';
import styles from './field.module.css';

/** What is wrong with a value: words, or what the service said. */
export type FieldError = Fault | string | undefined;

export interface FieldProps {
  /** Of the control; default: one of its own. */
  readonly id?: string | undefined;
  readonly label: string;
  readonly hint?: ReactNode;
  /** It goes when the reader changes the value. */
  readonly error?: FieldError;
  readonly children: (control: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': true | undefined;
  }) => ReactNode;
}

/** A labelled control with its hint and its error. Spread `control` on the control. */
export function Field({ id: chosenId, label, hint, error: shownError, children }: FieldProps) {
  const ownId = useId();
  const id = chosenId ?? ownId;
  const { error, onChange } = useMendedFault(shownError);
  const hasNote = hint !== undefined || error !== undefined;
  return (
    <div className={styles.field} onChange={onChange}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': hasNote ? `${id}-note` : undefined,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {hasNote ? (
        <div id={`${id}-note`} className={styles.notes}>
          {error === undefined ? null : <p className={styles.error}>{error}</p>}
          {hint === undefined ? null : <div className={styles.hint}>{hint}</div>}
        </div>
      ) : null}
    </div>
  );
}

/** The words of a fault, until the reader changes the value that it is about. */
export function useMendedFault(fault: FieldError) {
  const { describeFault } = useFaultWords();
  const [mended, setMended] = useState<FieldError>();
  // Another try may be refused in the same words.
  if (mended !== undefined && fault === undefined) setMended(undefined);
  const isShown = fault !== undefined && fault !== mended;
  return {
    error: isShown ? (typeof fault === 'string' ? fault : describeFault(fault)) : undefined,
    onChange: isShown ? () => setMended(fault) : undefined,
  };
}

export function TextInput(props: InputHTMLAttributes<HTMLInputElement> & { readonly ref?: React.Ref<HTMLInputElement> }) {
  return <input type="text" {...props} className={styles.input} />;
}

export function TextArea(props: TextareaHTMLAttributes<HTMLTextAreaElement> & { readonly ref?: React.Ref<HTMLTextAreaElement> }) {
  return <textarea rows={4} {...props} className={`${styles.input} ${styles.area}`} />;
}

export function Select(props: SelectHTMLAttributes<HTMLSelectElement> & { readonly ref?: React.Ref<HTMLSelectElement> }) {
  return <select {...props} className={`${styles.input} ${styles.select}`} />;
}

/** A box to tick, with its words beside it. */
export function Checkbox({
  label,
  hint,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly ref?: React.Ref<HTMLInputElement>;
}) {
  const id = useId();
  return (
    <div className={styles.check}>
      <input type="checkbox" {...rest} id={id} aria-describedby={hint === undefined ? undefined : `${id}-note`} />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint === undefined ? null : (
          <div id={`${id}-note`} className={styles.hint}>
            {hint}
          </div>
        )}
      </div>
    </div>
  );
}

/** Turns something on or off at once. */
export function Switch({
  label,
  isOn,
  onChange,
  hint,
  disabled,
}: {
  readonly label: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly hint?: ReactNode;
  readonly disabled?: boolean;
}) {
  const id = useId();
  return (
    <div className={styles.check}>
      <input
        type="checkbox"
        role="switch"
        aria-checked={isOn}
        id={id}
        className={styles.switch}
        checked={isOn}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-note`}
        onChange={(event) => onChange(event.target.checked)}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint === undefined ? null : (
          <div id={`${id}-note`} className={styles.hint}>
            {hint}
          </div>
        )}
      </div>
    </div>
  );
}

/** A box for words that narrow a list. Its label is its name; the words in it show what they do. */
export function SearchInput({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  return (
    <input
      type="search"
      className={`${styles.input} ${styles.search}`}
      aria-label={label}
      placeholder={label}
      value={value}
      maxLength={200}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
