/**
 * The result of an effect. `Duplicate`: this event had its effect before, because its notification was sent or its
 * version is stored. `Stale`: a newer version is stored. This event may have been processed before that one. The words
 * are the names of log messages and metrics.
 */
export type EffectOutcome = 'Processed' | 'Stale' | 'Duplicate';
