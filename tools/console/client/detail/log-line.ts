/** A line of a function's log, as far as it can be taken apart. */
export interface ReadLogLine {
  readonly level?: string;
  readonly message: string;
  /** Absent of a line that is no JSON object. */
  readonly fields?: readonly (readonly [name: string, value: string])[];
}

export function readLogLine(text: string): ReadLogLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { message: text };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { message: text };
  const entries = Object.entries(value);
  const textField = (name: string) => {
    const found: unknown = entries.find(([key]) => key === name)?.[1];
    return typeof found === 'string' ? found : undefined;
  };
  const level = textField('level');
  return {
    ...(level !== undefined && { level }),
    message: textField('message') ?? text,
    fields: entries.map(([name, field]) => [name, typeof field === 'string' ? field : JSON.stringify(field)]),
  };
}
