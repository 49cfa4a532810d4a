import { Duration, Stack } from 'aws-cdk-lib';
import { type IWidget, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import {
  AlarmMatrixWidget,
  DefaultDashboardFactory,
  HeaderLevel,
  HeaderWidget,
  MonitoringFacade,
} from 'cdk-monitoring-constructs';
import { Construct } from 'constructs';
import { ReportedMetrics } from '../alarms/reported-metrics.ts';
import { PRICES_DATE } from '../prices.ts';
import { accepting } from './accepting.ts';
import { AlarmLines } from './alarm-lines.ts';
import { cost } from './cost.ts';
import { Graphs } from './graphs.ts';
import { keepingUp } from './keeping-up.ts';
import type { Monitored } from './monitored.ts';
import { stuck } from './stuck.ts';

/** What the dashboard shows when it is opened. */
const RANGE = Duration.hours(3);

/** At most. Source: CloudWatch API reference, "Dashboard body structure and syntax", properties of an alarm widget. */
const ALARMS_OF_A_WIDGET = 100;

/**
 * One CloudWatch dashboard, named after the stack, that answers from top to bottom: are we accepting, are
 * we keeping up, what is stuck, what does it cost. It makes no alarms, and shows those it is given.
 */
export class WebhookDashboard extends Construct {
  constructor(scope: Construct, id: string, monitored: Monitored) {
    super(scope, id);
    const stack = Stack.of(this);
    const facade = new MonitoringFacade(this, 'Monitoring', {
      dashboardFactory: new DefaultDashboardFactory(this, 'Dashboards', {
        dashboardNamePrefix: stack.stackName,
        detailDashboardRange: RANGE,
      }),
    });
    const show = (...widgets: IWidget[]) => {
      for (const widget of widgets) facade.addWidget(widget);
    };
    const section = (question: string, hint: string, widgets: readonly IWidget[]) =>
      show(new HeaderWidget(question, HeaderLevel.LARGE, hint), ...widgets);
    const reported = ReportedMetrics.of(this);
    const graphs = new Graphs(new AlarmLines(stack, monitored.alarms));

    show(
      new TextWidget({
        markdown: `Made by the stack ${stack.stackName}: the next deployment undoes what is changed here by hand.`,
        width: 24,
        height: 1,
      }),
      ...inGroups(monitored.alarms, ALARMS_OF_A_WIDGET).map(
        (alarms) => new AlarmMatrixWidget({ title: 'Alarms', alarms }),
      ),
    );
    section(
      'Are we accepting?',
      'The partner repeats what gets 401 or 500. What gets 400 is in quarantine. What API Gateway itself refuses is kept nowhere.',
      accepting(monitored, reported, graphs),
    );
    section(
      'Are we keeping up?',
      'One row for each event, from its queue to its effect.',
      keepingUp(monitored, reported, graphs),
    );
    section(
      'What is stuck?',
      'Messages on a dead-letter, quarantine or unrouted queue wait for a person: see docs/operations.md.',
      stuck(monitored, reported, graphs),
    );
    section(
      'What does it cost?',
      `Estimated from usage at the list prices of ${PRICES_DATE}, without free tier, data transfer, S3, Secrets Manager, KMS, X-Ray and what is paid by the month.`,
      cost(monitored),
    );
  }
}

function inGroups<Item>(items: readonly Item[], size: number): Item[][] {
  return items.length === 0 ? [] : [items.slice(0, size), ...inGroups(items.slice(size), size)];
}
