import { useId } from 'preact/hooks';

/** A text field with its label, and a hint below it. An error replaces the hint. */
export function Field({ name, label, hint, value, problem, placeholder, onInput }: FieldProps) {
  const id = useId();
  const description = problem ?? hint;
  const common = {
    id,
    name,
    value,
    placeholder,
    class: 'field',
    spellcheck: false,
    autoComplete: 'off',
    'aria-invalid': problem !== undefined,
    'aria-describedby': description === undefined ? undefined : `${id}-description`,
  } as const;
  return (
    <div class="form-row stack">
      <label for={id}>{label}</label>
      <input {...common} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
      {description !== undefined && (
        <p id={`${id}-description`} class={problem === undefined ? 'hint soft' : 'hint bad'}>
          {description}
        </p>
      )}
    </div>
  );
}

interface FieldProps {
  name: string;
  label: string;
  hint?: string;
  value: string;
  problem?: string | undefined;
  placeholder?: string;
  onInput: (value: string) => void;
}

interface CheckBoxProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: string;
}

export const CheckBox = ({ checked, onChange, children }: CheckBoxProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={checked}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    {children}
  </label>
);
