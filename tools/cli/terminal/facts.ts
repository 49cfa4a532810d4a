import stringWidth from 'string-width';

/** Spaces before a name and between it and its value. */
const GAP = 2;

/** Characters below which a value is not narrowed. */
const NARROWEST = 20;

/** Facts without those that have no value. */
export function knownFacts(
  all: readonly (readonly [name: string, value: string | false | undefined])[],
): (readonly [name: string, value: string])[] {
  return all.flatMap(([name, value]) => (value === undefined || value === false ? [] : [[name, value]]));
}

/**
 * Facts under each other, their names in one column, without those that have no value. A value that does not fit the
 * line goes on below itself.
 * @param width characters of a line; Infinity if the output is not a terminal
 */
export function facts(all: Parameters<typeof knownFacts>[0], width: number): string[] {
  const known = knownFacts(all);
  const nameWidth = Math.max(0, ...known.map(([name]) => stringWidth(name)));
  const indent = GAP + nameWidth + GAP;
  return known.flatMap(([name, value]) =>
    lines(value, Math.max(NARROWEST, width - indent)).map(
      (line, index) => `${' '.repeat(GAP)}${(index === 0 ? name : '').padEnd(nameWidth + GAP)}${line}`,
    ),
  );
}

/** A text in lines of that width, as far as its words allow. Its indentation is that of each line. */
export function lines(text: string, width: number): string[] {
  if (!Number.isFinite(width)) return [text];
  const words = text.trimStart().split(' ');
  const indent = ' '.repeat(text.length - text.trimStart().length);
  const all: string[] = [];
  let line: string | undefined;
  for (const word of words) {
    const longer: string = line === undefined ? `${indent}${word}` : `${line} ${word}`;
    if (line !== undefined && stringWidth(longer) > width) {
      all.push(line);
      line = `${indent}${word}`;
    } else {
      line = longer;
    }
  }
  return [...all, line ?? ''];
}
