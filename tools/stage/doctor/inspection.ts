import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CloudFormationClient,
  GetTemplateCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import { readCloudAssembly } from 'local-aws/cloud-assembly';
import { synthesise } from '../../../bin/synthesise.ts';
import type { Stage } from '../stage.ts';

export interface CheckResult {
  readonly state: 'ok' | 'warning' | 'failure' | 'skipped';
  readonly seen: string;
  /** Why the result matters. */
  readonly why?: string | undefined;
  /** How to fix the problem: a command line, or a page of the documents. */
  readonly fix?: string | undefined;
}

type Advice = Pick<CheckResult, 'why' | 'fix'>;

export const ok = (seen: string): CheckResult => ({ state: 'ok', seen });
export const skipped = (seen: string): CheckResult => ({ state: 'skipped', seen });
/** @param advice in place of the check's own */
export const warning = (seen: string, advice: Advice = {}): CheckResult => ({
  state: 'warning',
  seen,
  ...advice,
});
export const failure = (seen: string, advice: Advice = {}): CheckResult => ({
  ...warning(seen, advice),
  state: 'failure',
});

/** The results that name a problem, or one that says that all is well. */
export const problemsOr = (seen: string, problems: readonly (CheckResult | undefined)[]) => {
  const found = problems.filter((problem) => problem !== undefined);
  return found.length > 0 ? found : ok(seen);
};

/** One line of `npx hookctl doctor`, or several if the check finds several things. */
export interface StageCheck {
  readonly name: string;
  /** Permissions of its calls. `docs/permissions.md` lists those of all checks. */
  readonly needs: readonly string[];
  /** Advice for results that have none of their own. */
  readonly why?: string;
  readonly fix?: (inspection: Inspection) => string;
  readonly run: (inspection: Inspection) => Promise<CheckResult | CheckResult[]>;
}

interface StackResource {
  readonly logicalId: string;
  readonly physicalId: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a property has whatever shape CloudFormation gives it.
  readonly properties: any;
}

/** A stage that is being checked. Calls whose answer several checks need are made once. */
export class Inspection {
  readonly stage: Stage;
  readonly signal: AbortSignal;

  constructor(stage: Stage, signal: AbortSignal) {
    this.stage = stage;
    this.signal = signal;
  }

  /** Name of the stage in `cdk.json`. */
  get stageName(): string {
    return this.stage.stackName.replace('PartnerWebhooks-', '');
  }

  /**
   * Whether the stage is the stack that `npm start` runs. An emulator is not that stack: an emulator has
   * CloudFormation, versions and aliases.
   */
  get isLocalStack(): boolean {
    return this.stage.local && this.stage.commandSuffix === '';
  }

  /** The resources of a type, or of types with a common beginning, in the deployed template. */
  async resources(type: string): Promise<StackResource[]> {
    return (await this.#deployed()).filter((resource) => resource.type.startsWith(type));
  }

  readonly #deployed = once(async () => {
    const client = this.stage.client(CloudFormationClient);
    const query = { StackName: this.stage.stackName };
    const { TemplateBody = '{}' } = await client.send(new GetTemplateCommand(query));
    const inTemplate = JSON.parse(TemplateBody).Resources ?? {};
    const pages = paginateListStackResources({ client }, query);
    const summaries = (await Array.fromAsync(pages)).flatMap((page) => page.StackResourceSummaries ?? []);
    return summaries.map((summary): StackResource => {
      const { LogicalResourceId: logicalId = '', PhysicalResourceId: physicalId = '' } = summary;
      const properties = inTemplate[logicalId]?.Properties ?? {};
      return { logicalId, physicalId, type: summary.ResourceType ?? '', properties };
    });
  });

  /**
   * The template that is synthesised from the settings of the stage.
   * @throws SynthesisError
   */
  readonly code = once(async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'doctor-'));
    await synthesise(folder.path, { stage: this.stageName });
    return readCloudAssembly(folder.path).template;
  });
}

/** A call that is made once, when it is first needed. */
function once<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let answer: Promise<Value> | undefined;
  return () => {
    answer ??= ask();
    return answer;
  };
}
