/**
 * What an effect came to: `Processed`; `Stale` where the state already stood at this version or a later
 * one and was left as it is; `Duplicate` where the notification had been sent before. The words are
 * the names of the metrics.
 */
export type EffectOutcome = 'Processed' | 'Stale' | 'Duplicate';
