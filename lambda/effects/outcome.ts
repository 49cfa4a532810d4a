/**
 * What an effect came to: `Processed`, or `Stale` where the state already stood at this version or a
 * later one and was left as it is. The words are the names of the metrics.
 */
export type EffectOutcome = 'Processed' | 'Stale';
