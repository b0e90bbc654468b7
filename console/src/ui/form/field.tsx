import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes, useId } from 'react';
import styles from './field.module.css';

interface FieldProps {
  /** Of the control; default: one of its own. */
  readonly id?: string;
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with the value, in words. */
  readonly error?: string | undefined;
  readonly children: (control: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': true | undefined;
  }) => ReactNode;
}

/** A labelled control with its hint and its error. Spread `control` on the control. */
export function Field({ id: chosenId, label, hint, error, children }: FieldProps) {
  const ownId = useId();
  const id = chosenId ?? ownId;
  const hasNote = hint !== undefined || error !== undefined;
  return (
    <div className={styles.field}>
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
