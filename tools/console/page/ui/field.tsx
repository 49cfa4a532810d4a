interface SelectProps<Value extends string> {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  /** Texts by value. */
  options: readonly (readonly [value: Value, text: string | undefined])[];
}

export const Select = <Value extends string>({ label, value, onChange, options }: SelectProps<Value>) => (
  <label class="labelled">
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
