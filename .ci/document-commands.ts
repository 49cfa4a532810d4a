/**
 * Runs the commands in README.md, CONTRIBUTING.md, docs/ and a few other README.md against a local stack, also those for
 * a stage:
 *   .ci/document-commands.ts [file…]
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { text as textOf } from 'node:stream/consumers';
import { hookctl } from '../tools/program.ts';

/** Blocks that contain one of these texts are not run. Their syntax and commands are still checked. */
const SKIPPED: readonly RegExp[] = [
  // Needs AWS: the local stack has no such service, operation, log or resource.
  /npx cdk|aws cloudformation|\bresource [A-Z]|AWS_PROFILE|aws s3\b|log_of (ArchiveLog|ApiFirewallLog)/,
  /aws (acm|apigateway(v2)?|athena|budgets|chatbot|cloudwatch|deploy|iam|route53|service-quotas|sts)\b/,
  /aws (lambda (get-account|get-alias|list-versions|update-alias)|s3api put-bucket-versioning|secretsmanager list-secrets|sns (add-permission|subscribe))/,
  /(?<!\.local\/)\boutputs\.json\b/,
  // Needs a tunnel, and an account there.
  /cloudflared|ngrok|tailscale/,
  // Changes what later commands need.
  /git rm|hookctl fault|sqs delete-queue|update-item/,
  // Runs long, changes files, waits for Ctrl-C or a confirmation, needs messages, or is a part of CI of its own.
  /npm (ci|test)\b|npm start|npm run (check|generate)/,
  /hookctl (acceptance|bench|console|new-event|partner-kit|start)\b|check-emulator/,
  /\bread -rs\b|hookctl (dlq (redrive|export|discard)|replay|pause|resume|archive (forget|export))\b/,
  // Has a placeholder, a resource of an example, or a variable that an earlier block sets.
  /check-sender|from us'|my-event\.json|YOUR_|…|^output WebhookUrl$|^ask\b/m,
  /EXAMPLE|\b(360996e9|006c1a56)\b|JKJa|ShopClosed|shop\.closed|\$TOPIC|\$CERTIFICATE|arn:aws/,
  // Is tested with the samples, or needs an earlier event.
  /examples\/|--search|--again/,
];

interface Block {
  readonly location: string;
  readonly text: string;
}

const others = [
  'docs/*.md',
  '{examples,tools}/{archive-queries,bench,console,review-subscriber,test/emulator}/README.md',
];
const named = process.argv.slice(2);
const documents = named.length > 0 ? named : ['README.md', 'CONTRIBUTING.md', ...globSync(others).sort()];
const blocks = documents.flatMap(blocksOf);
const isPrelude = ({ text }: Block) => text.includes('log_of()') && text.includes('.local/outputs.json');

function blocksOf(file: string): Block[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^( *)```bash\n([\s\S]*?)^ *```/gm)].map(
    ({ 1: indent = '', 2: code = '', index }) => ({
      location: `${file}:${text.slice(0, index).split('\n').length + 1}`,
      text: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

/** Faults of a block that can be found without running the block. */
async function faultsOf({ text }: Block): Promise<string[]> {
  const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
  const faults = status === 0 ? [] : [stderr.trim()];
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    const typed = line.replaceAll(/(^|\s)#.*$/g, '').replaceAll(/"[^"]*"|'[^']*'/g, 'quoted');
    for (const [, args = ''] of typed.matchAll(/\bnpx hookctl ([^|;&)]*)/g)) {
      faults.push(...(await unknownIn(args.trim().split(/\s+/))));
    }
  }
  return faults;
}

/** Unknown words of a `hookctl` command line. The options of every subcommand are accepted. */
async function unknownIn([name = '', ...words]: readonly string[]): Promise<string[]> {
  const { commands } = await hookctl([name]);
  const command = commands.find((one) => one.name() === name);
  if (command === undefined) return name.startsWith('-') ? [] : [`hookctl ${name}: no such command`];
  if (name === 'test') return [];
  const options = [command, ...command.commands].flatMap((one) => one.options);
  const known = ['--help', '-h', ...options.flatMap(({ long, short }) => [long, short])];
  const unknown = words.filter((word) => /^--?[a-z]/.test(word) && !known.includes(word.split('=')[0]));
  return unknown.map((word) => `hookctl ${name}: no option ${word}`);
}

let output = '';

/** Port of the stack, by the name of its line in the stack's output. */
const portOf = (name: string) => new RegExp(`^  ${name} +http://localhost:(\\d+)`, 'm').exec(output)?.[1];

const onStack = (text: string) =>
  text
    .replaceAll('localhost:3000', `localhost:${portOf('Webhook')}`)
    .replaceAll('localhost:3001', `localhost:${portOf('Console')}`)
    .replaceAll('console-3001', `console-${portOf('Console')}`)
    .replaceAll('localhost:4566', `localhost:${portOf('AWS')}`)
    .replaceAll(/ --stage [a-z]+/g, '');

/**
 * Shell function `aws` for old versions of the AWS CLI. Version 2 before 2.13 does not read AWS_ENDPOINT_URL. Version 1
 * has no `logs tail`.
 */
const AWS = `aws() {
  if [ "$1 $2" = 'logs tail' ] && command aws --version 2>&1 | grep -q '^aws-cli/1'; then return; fi
  AWS_PAGER= command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"
}`;

/** Shell function `npx` that runs a command without npm, which takes longer to start than most commands. */
const NPX = 'npx() { "$@"; }';

/** @returns the output of the commands if they failed; undefined if they succeeded */
async function run(commands: string, prelude: string): Promise<string | undefined> {
  const script = `exec 2>&1; set -eo pipefail\n${prelude}\n${commands}`;
  const child = spawn('bash', ['--norc', '-c', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 60_000,
  });
  const [written, [code]] = await Promise.all([textOf(child.stdout), once(child, 'close')]);
  return code === 0 ? undefined : `exit code ${code}: ${written.trim().split('\n').slice(-5).join('\n')}`;
}

const counts = { passed: 0, failed: 0, skipped: 0 };

function report(kind: keyof typeof counts, { location }: Block, text = ''): void {
  counts[kind]++;
  console.log(`${kind.padEnd(7)}  ${location}${text === '' ? '' : `  ${text}`}`);
}

const local = blocks.find(isPrelude);
const ports = ['--port', '--aws-port', '--console-port'].flatMap((option) => [option, '0']);
const stack = spawn(process.execPath, ['tools/hookctl.js', 'start', '--no-watch', ...ports], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  await new Promise<void>((resolve, reject) => {
    stack.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('npx hookctl send')) resolve();
    });
    stack.on('close', () => reject(new Error(`The local stack did not start:\n${output}`)));
  });
  const settings = `export AWS_ENDPOINT_URL=http://localhost:${portOf('AWS')} AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1`;
  const prelude = `${settings}\n${local === undefined ? '' : onStack(local.text)}${AWS}\n${NPX}`;
  for (const block of blocks) {
    const faults = await faultsOf(block);
    const isSkipped = !isPrelude(block) && SKIPPED.some((text) => text.test(block.text));
    if (faults.length === 0 && isSkipped) {
      report('skipped', block);
      continue;
    }
    const failure = faults.length > 0 ? faults.join('; ') : await run(onStack(block.text), prelude);
    report(failure === undefined ? 'passed' : 'failed', block, failure);
  }
} finally {
  stack.kill('SIGINT');
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed > 0 || blocks.length === 0 ? 1 : 0;
