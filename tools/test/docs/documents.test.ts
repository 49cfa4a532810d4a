import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { catalogue, eventNames } from '../../../lambda/events/catalogue.ts';
import {
  CLOCK_TOLERANCE,
  DEAD_LETTER_RETENTION_DAYS,
  ENCODED_BODY_MEGABYTES,
  EVENT_MEGABYTES,
  EVENT_RETENTION_DAYS,
  FIRST_RETRY_SECONDS,
  GATEWAY_BODY_MEGABYTES,
  GATEWAY_TIMEOUT_SECONDS,
  MAX_RECEIVES,
  REPLAYABLE_DAYS,
  SECRET_MAX_AGE,
  SECRET_REFRESH_INTERVAL,
  TOMBSTONE_DAYS,
} from '../../../lambda/limits.ts';
import { stageTemplate } from '../../../test/lib/stage-assembly.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { Partner, TEST_SECRET } from '../../../test/support/partner.ts';
import { type SharedStack, sharedStack } from '../../../test/support/shared-stack.ts';
import { bodyOf, signingVectors } from '../../../test/support/signing-vectors.ts';
import { Tables } from '../../../test/support/tables.ts';
import { ANSWER_WAIT_SECONDS } from '../../check-sender/deliveries.ts';

const run = promisify(execFile);
const partnerDocument = readFileSync('docs/partner.md', 'utf8');

function section(title: string): string {
  const [, text] = partnerDocument.split(`\n## ${title}\n`);
  if (text === undefined) throw new Error(`docs/partner.md has no section ${title}`);
  return text.split('\n## ')[0] ?? '';
}

/** The fenced code blocks of a language in a section. */
const blocks = (title: string, language: string) =>
  [...section(title).matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(
    ([, text = '']) => text,
  );

let stack: SharedStack;
beforeAll(async () => {
  stack = await sharedStack();
});

test('each signature that it shows is accepted for a test vector', () => {
  const [, body = ''] = /^Signatures for the body `(.+)`, without/m.exec(section('Sign')) ?? [];
  const rows = [...section('Sign').matchAll(/^\| `([^`]+)` \| `([^`]+)` \|$/gm)];
  expect(rows).toHaveLength(3);
  for (const [, secret, signature] of rows) {
    const vector = signingVectors.vectors.find(
      (one) => one.secret === secret && bodyOf(one).toString() === body,
    );
    expect(Object.values(vector?.accepted ?? {})).toContain(signature);
  }
});

test('the answers that it shows are those of an unusable and of an accepted event', async () => {
  const [accepted = '', unusable = ''] = blocks('Answers', 'json').map((text) => JSON.parse(text));
  const post = (timestamp: string) =>
    new Partner(stack.outputs.WebhookUrl).post({
      event: 'shop.updated',
      data: { shop_id: 'shop-1' },
      timestamp,
    });
  const { body } = await post('2026-01-31T09:00:00');
  expect({ ...unusable, requestId: body.requestId }).toEqual(body);
  const answer = await post('2026-01-31T09:00:00Z');
  expect({ ...accepted, requestId: answer.body.requestId, eventId: answer.body.eventId }).toEqual(
    answer.body,
  );
});

describe('the fields that it describes', () => {
  const post = (event: string, data: object) =>
    new Partner(stack.outputs.WebhookUrl).post({ event, data, timestamp: new Date().toISOString() });

  test('"" empties a field; girl.created replaces the whole record, and user.updated merges field by field', async () => {
    /** Posts two events of an item. @returns the item after the second */
    const after = async (event: string, table: string, key: Record<string, string>, data: object[]) => {
      let item: Record<string, unknown> | undefined;
      for (const fields of data) {
        const { body } = await post(event, { ...key, ...fields });
        item = await eventually(async () => {
          const found = await new Tables(stack.operator).get(stack.outputs[table], key);
          return String(found?.version).endsWith(`#${body.eventId}`) ? found : undefined;
        });
      }
      return item;
    };
    const girl = [{ shop_id: 'shop-1', name: 'Yuki' }, { shop_id: '' }];
    const replaced = await after('girl.created', 'CastTable', { girl_id: 'girl-1' }, girl);
    expect([replaced?.name, replaced?.shop_id]).toEqual([undefined, undefined]);
    const fields = {
      shop_id: 'shop-1',
      display_name: 'Sora',
      profile_image_url: 'https://images.example.com/1',
    };
    const user = [fields, { display_name: '' }];
    expect(await after('user.updated', 'ContactPartnerTable', { user_id: 'user-1' }, user)).toMatchObject({
      ...fields,
      display_name: '',
    });
  });

  test('null counts as left out in fields of the type string or number, and gets 400 in others', async () => {
    const row = /^\| `([a-z._]+)` \|.*\| ([^|]+) \|$/gm;
    const types = [...partnerDocument.matchAll(row)].flatMap(([, event = '', cell = '']) =>
      cell.split('; ').flatMap((group) => {
        const [names = '', type] = group.split(': ');
        return [...names.matchAll(/`([a-z_]+)\??`/g)].map(([, field = '']) => ({ event, field, type }));
      }),
    );
    expect(types.filter(({ type }) => type === 'string or number').length).toBeGreaterThan(10);
    const ids = { shop_id: 's', user_id: 'u', girl_id: 'g' };
    for (const { event, field, type } of types.filter(({ type }) => type !== undefined)) {
      const { status } = await post(event, { ...ids, [field]: null });
      expect([event, field, status]).toEqual([event, field, type === 'string or number' ? 200 : 400]);
    }
  });
});

const texts = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/*.md')].map((file) => ({
  file,
  // A sentence may go on in the next line.
  text: readFileSync(file, 'utf8').replaceAll(/\s+/g, ' '),
}));
const minutes = (milliseconds: number) => milliseconds / 60_000;

test.each<[what: string, value: number, said: RegExp]>([
  [
    'minutes for which a secret is cached',
    minutes(SECRET_MAX_AGE),
    /(?:Cache it for|We wait|Wait|forget the leaked secret within) (\w+) minutes/g,
  ],
  [
    'seconds for which the new secret may get 401',
    SECRET_REFRESH_INTERVAL / 1000,
    /401 for up to (\d+) seconds|read again at most every (\d+) s/g,
  ],
  ['minutes that a timestamp may be ahead', minutes(CLOCK_TOLERANCE), /[Mm]ore than (\d+) minutes ahead/g],
  [
    'days for which an event is remembered',
    TOMBSTONE_DAYS,
    /(?:once in|tombstone for|expires after|After|\*\* for|Id>?` for) (\d\d) days/g,
  ],
  ['days on an event queue', EVENT_RETENTION_DAYS, /(?:deletes it after|lost for|wait for up to) (\d) days/g],
  [
    'days on other queues',
    DEAD_LETTER_RETENTION_DAYS,
    /(?:deletes them after|days on event queues,) (\d\d)/g,
  ],
  ['days that a replay reaches back', REPLAYABLE_DAYS, /(?:at most|[Rr]each back) (\d\d)(?: days|\.| \()/g],
  ['attempts', MAX_RECEIVES, /(Ten) receives/g],
  ['seconds until the first retry', FIRST_RETRY_SECONDS, /receives, (\d+) s,? doubling/g],
  ['MB of a body', GATEWAY_BODY_MEGABYTES, /413 above (\d+) MB/g],
  ['MB of an event', EVENT_MEGABYTES, /about (\d) MB/g],
  ['MB of a body in base64', ENCODED_BODY_MEGABYTES, /(\d\.\d) MB/g],
  ['seconds that a gateway waits', GATEWAY_TIMEOUT_SECONDS, /gives up after (\d+) s/g],
])('a number in a document is the one in the code: %s', (_, value, said) => {
  const words: Readonly<Record<string, number>> = { five: 5, Ten: 10 };
  const found = texts.flatMap(({ file, text }) =>
    [...text.matchAll(said)].map(([sentence, ...numbers]) => {
      const number = numbers.find((one) => one !== undefined) ?? '';
      return { file, sentence, number: words[number] ?? Number(number) };
    }),
  );
  expect(found.filter(({ number }) => number !== value)).toEqual([]);
  expect(found).not.toEqual([]);
});

test('the time to wait for an answer is the same in every text and sample', () => {
  for (const file of ['docs/partner.md', 'docs/api/openapi.json', 'examples/signing/README.md']) {
    // A sentence may go on in the next line.
    const text = readFileSync(file, 'utf8').replaceAll(/\s+/g, ' ');
    const times = text.matchAll(/[Ww]aits? (\d+) s(?:econds)? (?:for (?:an|the) answer|in all)/g);
    expect([file, [...new Set([...times].map(([, time]) => time))]]).toEqual([
      file,
      [`${ANSWER_WAIT_SECONDS}`],
    ]);
  }
  const samples = globSync('examples/signing/*/**/*sign*and*post*.{sh,mjs,py,php,rb}');
  expect(samples).toHaveLength(5);
  const timeout = new RegExp(`timeout\\b.*\\b${ANSWER_WAIT_SECONDS}(_?000)?\\b`, 'i');
  for (const file of samples) expect(readFileSync(file, 'utf8')).toMatch(timeout);
});

// Whether the tools of these tests are installed. CI has these tools. The product does not need them.
const hasTools = spawnSync('bash', ['-c', 'command -v openssl && command -v curl']).status === 0;

(hasTools ? describe : describe.skip)('the first event, pasted into bash', () => {
  const paste = async (secret: string) => {
    const [commands = ''] = blocks('Your first event', 'bash');
    const filled = commands
      .replace("'the secret from us'", `'${secret}'`)
      .replace("'the address from us'", `'${stack.outputs.WebhookUrl}'`);
    return (await run('bash', ['-c', filled])).stdout;
  };

  test('is queued, and refused with another secret', async () => {
    expect(await paste(TEST_SECRET)).toMatch(/200 OK.*"status":"queued"/s);
    expect(await paste('another')).toContain('401 Unauthorized');
  });
});

const runbook = readFileSync('docs/operations.md', 'utf8');
const [stagePrelude = '', localPrelude = ''] = [...runbook.matchAll(/```bash\n(.*?)```/gs)]
  .map(([, text = '']) => text)
  .filter((text) => text.includes('log_of()'));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'partner-webhooks-runbook-'));
  mkdirSync(join(folder, '.local'));
  writeFileSync(join(folder, '.local/outputs.json'), JSON.stringify({ [stack.name]: stack.outputs }));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

// CI runs all commands of the documents after the prelude for the local stack.
test.each([
  { where: 'the local stack', prelude: localPrelude, name: () => stack.name },
  // A fake AWS CLI: nothing answers as CloudFormation here. For an empty list, the real one prints an empty line.
  { where: 'a stage', prelude: `${stagePrelude}aws() { echo; }`, name: () => 'PartnerWebhooks-prod' },
])("the runbook's shell for $where names a missing output", async ({ prelude, name }) => {
  const script = `${prelude}\noutput ShopClosedQueueUrl || echo "exit code $?"`;
  const { stdout, stderr } = await run('bash', ['--norc', '-c', script], { cwd: folder });
  const expected = { stdout: 'exit code 1\n', stderr: `No output ShopClosedQueueUrl of ${name()}\n` };
  expect({ stdout, stderr }).toEqual(expected);
});

test.each(
  globSync('docs/*.md').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/"\$\(log_of ApiAccessLog\)".*--filter-pattern '(.+)'/g)].map(
      ([, pattern = '']) => pattern,
    ),
  ),
)('the local stack knows the pattern %s for its access log', async (filterPattern) => {
  await new Partner(stack.outputs.WebhookUrl).post({});
  const logs = new CloudWatchLogsClient(stack.operator);
  const search = logs.send(
    new FilterLogEventsCommand({ logGroupName: stack.outputs.ApiAccessLogGroup, filterPattern }),
  );
  await expect(search).resolves.toHaveProperty('events');
  logs.destroy();
});

const deploying = [...readFileSync('docs/deploying.md', 'utf8').matchAll(/```bash\n(.*?)```/gs)].map(
  ([, text = '']) => text,
);

/** The first block with a command. */
const blockWith = (command: string) => deploying.find((text) => text.includes(command)) ?? '';

/**
 * Pastes commands into a shell.
 * @returns the lines of its output. AWS and GitHub are faked: `aws` prints the JSON in its arguments, `gh`
 * prints the subject's repository, and `npx cdk` does nothing
 */
function pasted(commands: string, environment: Record<string, string> = {}): string[] {
  const standIns = `
    aws() { case "$*" in *get-caller-identity*) echo 111122223333;; *) for one in "$@"; do case "$one" in [[{]*) echo $one;; esac; done;; esac; }
    npx() { :; }
    gh() { echo example@123456/partner-webhooks@456789; }
  `;
  const env = { PATH: process.env.PATH, AWS_REGION: 'eu-central-1', ...environment };
  return execFileSync('bash', ['--norc', '-ec', standIns + commands], { env, encoding: 'utf8' })
    .trim()
    .split('\n');
}

test('the deploying shell unsets the settings for the local stack', () => {
  const local = {
    AWS_ENDPOINT_URL: 'http://localhost:4566',
    AWS_ACCESS_KEY_ID: 'any',
    AWS_SECRET_ACCESS_KEY: 'any',
  };
  expect(pasted(`${deploying[0]}\nenv | grep ^AWS_`, local).sort()).toEqual([
    '111122223333',
    'AWS_PROFILE=production',
    'AWS_REGION=eu-central-1',
  ]);
});

test('a missing output is reported', () => {
  const folder = mkdtempSync(join(tmpdir(), 'partner-webhooks-deploying-'));
  writeFileSync(
    join(folder, 'outputs.json'),
    JSON.stringify({ 'PartnerWebhooks-prod': { CastTable: 'cast' } }),
  );
  const commands = `cd ${folder}; ${blockWith('output()')} output CastTable; output ShopTable 2>&1 || echo "exit code $?"`;
  expect(pasted(commands)).toEqual(['cast', 'No output ShopTable', 'exit code 1']);
  rmSync(folder, { recursive: true });
});

describe('the role of the pipeline', () => {
  const script = readFileSync('examples/pipeline-role.sh', 'utf8');
  const [trust = '', policy = ''] = pasted(`set -- example/partner-webhooks production\n${script}`);

  test('is for jobs of one repository and one environment', () => {
    expect(JSON.parse(trust).Statement).toMatchObject([
      {
        Effect: 'Allow',
        Action: 'sts:AssumeRoleWithWebIdentity',
        Condition: {
          StringEquals: {
            'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
            'token.actions.githubusercontent.com:sub':
              'repo:example@123456/partner-webhooks@456789:environment:production',
          },
        },
      },
    ]);
  });

  test('can assume roles of the bootstrap, and nothing else', () => {
    const template = readFileSync('node_modules/aws-cdk/lib/api/bootstrap/bootstrap-template.yaml', 'utf8');
    const roles = [...template.matchAll(/cdk-\$\{Qualifier\}-(?:\w+-)+role/g)].map(
      ([name]) => `${name.replace(/\$\{Qualifier\}/, 'hnb659fds')}-111122223333-eu-central-1`,
    );
    const [statement, ...others] = JSON.parse(policy).Statement;
    expect(others).toEqual([]);
    expect(statement).toMatchObject({ Effect: 'Allow', Action: 'sts:AssumeRole' });
    const assumed = statement.Resource.map((arn: string) =>
      arn.replace('arn:aws:iam::111122223333:role/', ''),
    );
    expect(roles).toEqual(expect.arrayContaining(assumed));
    expect(assumed).toHaveLength(3);
  });
});

test('every file that a document names exists', () => {
  const named = globSync('docs/*.md').flatMap((document) =>
    [...readFileSync(document, 'utf8').matchAll(/`((?:test|lambda|lib|tools|docs)\/[\w./-]+)`/g)].map(
      ([, file = '']) => ({ document, file }),
    ),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ file }) => !existsSync(file))).toEqual([]);
});

test('the price of a month counts the alarms of prod', async () => {
  const alarms = (await stageTemplate('prod')).ofType('AWS::CloudWatch::Alarm').length;
  const [, counted, dollars] =
    /per alarm.*?\| (\d+), 1, 3 \| ([\d.]+) \|/.exec(readFileSync('docs/scale-and-cost.md', 'utf8')) ?? [];
  const total = 0.1 * alarms + 3 + 3 * 0.3;
  expect({ counted, dollars }).toEqual({ counted: String(alarms), dollars: total.toFixed(2) });
});

test('the contract lists the events of the catalogue in its own words', () => {
  const [, events = ''] = /^## Events$(.*?)^## /ms.exec(readFileSync('docs/contract.md', 'utf8')) ?? [];
  const rows = [...events.matchAll(/^\| `([\w.]+)` \| (.+?) \| (.+?) \|$/gm)].map(
    ([, event, meaning, processing]) => ({ event, meaning, processing }),
  );
  expect(rows).toEqual(
    eventNames.map((event) => {
      const { meaning, processing } = catalogue[event];
      return { event, meaning, processing };
    }),
  );
});
