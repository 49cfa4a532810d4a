import type { ComponentChildren } from 'preact';

interface FieldProps {
  name: string;
  label: string;
  value?: string;
  defaultValue?: string;
  placeholder?: string;
  maxLength?: number;
  required?: boolean;
  onInput?: (event: { readonly currentTarget: HTMLInputElement }) => void;
  /** For a number: the least and the most. */
  range?: readonly [min: number, max: number];
  /** Why the value is not accepted. */
  problem?: string | undefined;
}

/** A text field with its label. */
export function Field({ name, label, problem, range, ...rest }: FieldProps) {
  return (
    <label class="form-row">
      {label}
      <input
        name={name}
        {...(range && ({ type: 'number', min: range[0], max: range[1] } as const))}
        class="field"
        spellcheck={false}
        autoComplete="off"
        aria-invalid={problem !== undefined}
        aria-description={problem}
        {...rest}
      />
      {problem !== undefined && <span class="hint bad">{problem}</span>}
    </label>
  );
}

interface SelectProps<Value extends string> {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  /** Texts by value. */
  options: readonly (readonly [value: Value, text: ComponentChildren])[];
}

export const Select = <Value extends string>({ label, value, onChange, options }: SelectProps<Value>) => (
  <label class="form-row">
    {label}
    <select
      class="field"
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}
    >
      {options.map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

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
