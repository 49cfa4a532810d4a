import { DiagnosticSeverity, Parser } from '@asyncapi/parser';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

/** Says what is wrong with a description, a line for each finding. */
export type Judge = (document: string) => Promise<string[]>;

/**
 * Rules of Redocly that do not fit, each for its reason.
 * `recommended-strict` is `recommended` with every warning an error.
 */
const REDOCLY_OFF = {} as const;

/** Redocly's own rules for OpenAPI 3.1. */
export const redocly: Judge = async (document) => {
  const config = await createConfig({ extends: ['recommended-strict'], rules: REDOCLY_OFF });
  const problems = await lintFromString({ source: document, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
};

/** Spectral's own rules, its warnings and hints as well. @param ruleset every rule that it recommends */
const spectral =
  (ruleset: 'oas' | 'asyncapi'): Judge =>
  async (document) => {
    const judge = new spectralCore.Spectral();
    judge.setRuleset({ extends: [[spectralRulesets[ruleset], 'recommended']] });
    const problems = await judge.run(document);
    return problems.map(({ code, message, path }) => `${code}: ${message} (${path.join('/')})`);
  };

export const spectralOpenApi = spectral('oas');
export const spectralAsyncApi = spectral('asyncapi');

/** The parser of AsyncAPI, its warnings as well. */
export const asyncApiParser: Judge = async (document) => {
  const { document: parsed, diagnostics } = await new Parser().parse(document);
  const lines = diagnostics.map(
    ({ code, message, path, severity }) =>
      `${DiagnosticSeverity[severity]} ${code}: ${message} (${path.join('/')})`,
  );
  return parsed === undefined && lines.length === 0 ? ['It gives no document'] : lines;
};
