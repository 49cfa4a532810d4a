/** What a colour says; words say it too. */
export type Tone = 'neutral' | 'info' | 'good' | 'warning' | 'bad';
