import { DiagnosticSeverity, Parser } from '@asyncapi/parser';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

/** Something that a judge has against a description. */
export interface Finding {
  readonly rule: string;
  readonly text: string;
}

export type Judge = (document: string) => Promise<Finding[]>;

/** Rules that are switched off, each for its reason. */
const OFF: Readonly<Record<string, string>> = {
  'asyncapi-latest-version':
    'It is 3.0, which the tools of partners and subscribers read; 3.1 brings nothing that we use.',
};

const wanted = (findings: readonly Finding[]): Finding[] =>
  findings.filter(({ rule }) => !Object.hasOwn(OFF, rule));

/** Redocly's own rules, of which every warning is an error: `recommended-strict`. */
const redocly: Judge = async (document) => {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({ source: document, absoluteRef: 'openapi.json', config });
  return wanted(
    problems.map(({ ruleId, message, location: [place] }) => ({
      rule: ruleId,
      text: `${message} (${place?.pointer})`,
    })),
  );
};

/** Spectral's own rules, its warnings and hints as well. */
const spectral =
  (ruleset: 'oas' | 'asyncapi'): Judge =>
  async (document) => {
    const judge = new spectralCore.Spectral();
    // Its type asks for what only some rulesets have.
    const rules = spectralRulesets[ruleset] as RulesetDefinition;
    judge.setRuleset({ extends: [[rules, 'recommended']] });
    const problems = await judge.run(document);
    return wanted(
      problems.map(({ code, message, path }) => ({
        rule: String(code),
        text: `${message} (${path.join('/')})`,
      })),
    );
  };

/** The parser of AsyncAPI, its warnings and hints as well. */
const asyncApiParser: Judge = async (document) => {
  const { document: parsed, diagnostics } = await new Parser().parse(document);
  const findings = wanted(
    diagnostics.map(({ code, message, path, severity }) => ({
      rule: String(code),
      text: `${DiagnosticSeverity[severity]}: ${message} (${path.join('/')})`,
    })),
  );
  if (parsed !== undefined || findings.length > 0) return findings;
  return [{ rule: 'parser', text: 'gives no document, and does not say why' }];
};

export const judgesOfOpenApi: Readonly<Record<string, Judge>> = {
  Redocly: redocly,
  Spectral: spectral('oas'),
};

export const judgesOfAsyncApi: Readonly<Record<string, Judge>> = {
  Spectral: spectral('asyncapi'),
  'AsyncAPI parser': asyncApiParser,
};
