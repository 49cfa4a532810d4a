import fc from 'fast-check';

/**
 * Any Unicode character except half surrogate pairs. fast-check's unit `binary` has the same characters, but takes a
 * second to list them.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10_ffff - 0x800 })
  .map((index) => String.fromCodePoint(index < 0xd800 ? index : index + 0x800));
