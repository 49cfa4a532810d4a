/** Limits of a document. */
export const limits = {
  wordsPerSentence: 40,
  averageWordsPerSentence: 25,
  lines: 300,
  /** Other limits than `lines`. */
  linesOf: { 'README.md': 110 } as Readonly<Record<string, number>>,
};

/** Phrases that make a text hard to read, and what to write instead. A space also matches a line break. */
export const advice: readonly (readonly [phrase: RegExp, advice: string])[] = [
  [/\bwhoever\b/gi, 'name the person or the role: "the person on call", "anyone who"'],
  [/\bof which\b/gi, 'split the sentence'],
  [/\bwhich of\b/gi, 'write "which", or name the choice'],
  [/\bof what\b/gi, 'use a noun'],
  [/\bbe it\b/gi, 'write "whether"'],
  [/\b(is|are) had\b/gi, 'use the active voice'],
  [/\bha(s|ve) had (its|their)\b/gi, 'write "processed"'],
  [/\banew\b/gi, 'write "again"'],
  [/\bmend(s|ed|ing)?\b/gi, 'write "fix"'],
  [/\bthere is none\b/gi, 'write "no …"'],
  [/\bnobody's\b/gi, 'say it directly'],
  [/\bcomes to (more|less|a)\b/gi, 'write "results in" or "is"'],
  [/\b(is|are) told\b/gi, 'write "is notified" or "gets"'],
  [/\bwhat is given\b/gi, 'write "the value", "the default" or another noun'],
  [/\bnothing comes of\b/gi, 'write "has no effect"'],
  [/\bslowest hundredth\b/gi, 'write "p99"'],
  [/\btaken back\b/gi, 'write "rolled back"'],
  [/\bturned away\b/gi, 'write "rejected"'],
  // In lower case: PutAside is the name of an alarm.
  [/\b(puts?|putting) aside\b/g, 'write "set aside"'],
  [
    /(?:^|[.:;] )(Of|Whose|Is it|Are they|Has it) (?![^.]*\?)/gm,
    'begin with the subject; conditions begin with "if"',
  ],
];
