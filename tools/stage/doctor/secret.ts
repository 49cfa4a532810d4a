import { describeCurrent, describePrevious, secretVersions } from '../secret-versions.ts';
import type { StageCheck } from './inspection.ts';

const needs = ['secretsmanager:GetSecretValue'];

export const secretChecks: readonly StageCheck[] = [
  {
    name: 'current version',
    needs,
    run: async ({ stage }) => describeCurrent(stage, await secretVersions(stage)),
  },
  {
    name: 'previous version',
    needs,
    run: async ({ stage }) => describePrevious(await secretVersions(stage)),
  },
];
