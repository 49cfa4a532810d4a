import type { ComponentChildren } from 'preact';

interface FieldProps {
  name: string;
  label: string;
  defaultValue?: string;
  placeholder?: string;
  maxLength?: number;
  /** For a number: the least and the most. */
  range?: readonly [min: number, max: number];
}

/** A required text field with its label. */
export function Field({ label, range, ...rest }: FieldProps) {
  return (
    <label class="form-row">
      {label}
      <input
        {...(range && ({ type: 'number', min: range[0], max: range[1] } as const))}
        class="field"
        spellcheck={false}
        autoComplete="off"
        required
        {...rest}
      />
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
  /** Name for screen readers, if there is no text. */
  name?: string;
  children?: string;
}

export const CheckBox = ({ checked, onChange, name, children }: CheckBoxProps) => (
  <label class="check">
    <input
      type="checkbox"
      aria-label={name}
      checked={checked}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    {children}
  </label>
);
