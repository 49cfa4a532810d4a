import { Duration, Stack } from 'aws-cdk-lib';
import { Alarm, AlarmStatusWidget, Dashboard, PeriodOverride } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { accepting, type DashboardSources, keepingUp, stuck, textRow } from './graphs.ts';

/** Time range when the dashboard is opened. */
const RANGE = Duration.hours(3);

/** Grid rows of the alarms. A widget of eight rows scrolls. */
const ALARMS_HEIGHT = 8;

/**
 * One CloudWatch dashboard, named after the stack. It answers from top to bottom: are we accepting, are we keeping up,
 * what is stuck. The first row shows the state of every alarm that exists when this function is called.
 */
export function addDashboard(scope: Construct, sources: DashboardSources): void {
  const { stackName } = Stack.of(scope);
  const alarms = scope.node.findAll().filter((construct) => construct instanceof Alarm);
  const rows = [
    textRow(
      `The stack ${stackName} makes this dashboard. The next deployment overwrites changes made by hand.`,
    ),
    [new AlarmStatusWidget({ title: 'Alarms', alarms, width: 24, height: ALARMS_HEIGHT })],
    textRow(
      '# Are we accepting?',
      'The partner repeats deliveries that got 401 or 500. Those that got 400 are in quarantine. Those that API Gateway itself rejected are not stored.',
    ),
    ...accepting(sources),
    textRow('# Are we keeping up?', 'One row for each event: its queue, its consumer and its outcomes.'),
    ...keepingUp(sources),
    textRow(
      '# What is stuck?',
      'Messages on a dead-letter, quarantine or unrouted queue stay there until somebody acts: see docs/redrive-and-replay.md.',
    ),
    ...stuck(sources),
  ];
  // The construct path must not change. With another path, CloudFormation would create a second dashboard of the same
  // name, and then delete it when it deletes the old one.
  const parent = new Construct(new Construct(scope, 'Dashboard'), 'Dashboards');
  new Dashboard(parent, 'Dashboard', {
    dashboardName: stackName,
    defaultInterval: RANGE,
    // Keeps the graphs' own periods: their units are right only for these.
    periodOverride: PeriodOverride.INHERIT,
    widgets: rows,
  });
}
