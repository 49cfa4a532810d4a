/** What people are told of an event: a title, and labelled lines of which absent ones are left out. */
export interface Words {
  readonly title: string;
  readonly lines: readonly (readonly [label: string, value: string | undefined])[];
}
