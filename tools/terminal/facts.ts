import stringWidth from 'string-width';

/** Spaces before a name and between it and its value. */
const GAP = 2;

/** Characters below which a value is not narrowed. */
const NARROWEST = 20;

/**
 * Facts under each other, their names in one column, without those that have no value. A value that does not fit the
 * line goes on below itself.
 * @param width characters of a line; Infinity where it is no terminal that shows them
 */
export function facts(
  all: readonly (readonly [name: string, value: string | false | undefined])[],
  width: number,
): string[] {
  const known = all.flatMap(([name, value]) =>
    value === undefined || value === false ? [] : [{ name, value }],
  );
  const nameWidth = Math.max(0, ...known.map(({ name }) => stringWidth(name)));
  const indent = GAP + nameWidth + GAP;
  return known.flatMap(({ name, value }) =>
    lines(value, Math.max(NARROWEST, width - indent)).map(
      (line, index) => `${' '.repeat(GAP)}${(index === 0 ? name : '').padEnd(nameWidth + GAP)}${line}`,
    ),
  );
}

/** A text in lines of that width, as far as its words allow. */
export function lines(text: string, width: number): string[] {
  if (!Number.isFinite(width)) return [text];
  const all: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && stringWidth(line) + 1 + stringWidth(word) > width) {
      all.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...all, line];
}
