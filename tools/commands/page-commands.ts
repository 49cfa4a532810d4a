import type { PageCommands } from '../console/server/console-context.ts';
import { dlqCommand } from './dlq.ts';
import { faultCommand } from './fault.ts';
import { pauseCommand } from './pause.ts';
import { resumeCommand } from './resume.ts';
import { sendCommand } from './send.ts';

/** Commands that the console runs for its page. */
export const pageCommands: PageCommands = {
  send: sendCommand,
  dlq: dlqCommand,
  pause: pauseCommand,
  resume: resumeCommand,
  fault: faultCommand,
};
