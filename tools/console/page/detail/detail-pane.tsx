import { useMemo, useState } from 'preact/hooks';
import type { Delivery } from '../../../stage/history/history.ts';
import type { DeliveryDetail } from '../../api.ts';
import { curlCommand } from '../acting/curl.ts';
import { EditDialog, LONGEST_EDITED } from '../acting/edit-dialog.tsx';
import { useSend } from '../acting/use-send.ts';
import { copyText } from '../shared/copy.tsx';
import { Empty } from '../shared/empty.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { errorText } from '../shared/error-text.ts';
import { Loading } from '../shared/loading.tsx';
import { Tabs } from '../shared/tabs.tsx';
import { bytesText } from '../shared/time-text.ts';
import { useConsole } from '../shell/context.ts';
import type { Route } from '../shell/route.ts';
import { showToast } from '../shell/toasts.tsx';
import { useKeys } from '../shell/use-keys.ts';
import { currentRoute, navigate } from '../shell/use-route.ts';
import { useLive } from '../stream/use-live.ts';
import { Answer } from './answer.tsx';
import { DetailHead } from './detail-head.tsx';
import { DETAIL_TABS, type DetailTab, tabBeside, tabOf } from './detail-tab.ts';
import { LogLines } from './log-lines.tsx';
import { Overview } from './overview.tsx';
import { Request } from './request.tsx';
import { loadBody } from './use-body.ts';
import { useDetail } from './use-detail.ts';

interface DetailPaneProps {
  id: string;
  /** As the stream tells of it; undefined where the filter does not admit it. */
  row: Delivery | undefined;
  /** As a list that holds still has it, which no longer changes once the filter does not admit it. */
  held: Delivery | undefined;
  route: Route;
  onClose: () => void;
  /** Something was sent from here. */
  onSent: (delivery: string) => void;
}

interface TabPanelProps {
  tab: DetailTab;
  delivery: Delivery;
  detail: DeliveryDetail | undefined;
}

function TabPanel({ tab, delivery, detail }: TabPanelProps) {
  if (tab === 'overview') return <Overview delivery={delivery} detail={detail} />;
  if (detail === undefined) return <Loading />;
  switch (tab) {
    case 'request':
      return <Request detail={detail} />;
    case 'answer':
      return <Answer answer={detail.answer} />;
    case 'logs':
      return <LogLines lines={detail.logs} />;
  }
}

export function DetailPane({ id, row, held, route, onClose, onSent }: DetailPaneProps) {
  const { api, stack } = useConsole();
  const { detail, error, awaited, reload } = useDetail(id, row);
  const { tasks } = useLive();
  const { send, refusal } = useSend();
  const [edited, setEdited] = useState<{ readonly title: string; readonly text: string }>();
  const delivery = row ?? detail ?? held;
  const tab = tabOf(route.query.tab);
  // Each frame of the stream draws the pane: what is long in it only where there is more to show.
  const panel = useMemo(() => {
    const shown = detail ?? delivery;
    const isShown = shown !== undefined && (detail !== undefined || error === undefined);
    return isShown && <TabPanel key={shown.id} tab={tab} delivery={shown} detail={detail} />;
  }, [detail ?? delivery, error, tab]);
  const show = (name: DetailTab) => {
    const current = currentRoute();
    const query = { ...current.query, tab: name === 'overview' ? '' : name };
    navigate({ ...current, query }, { replace: true });
  };

  const body = async () => {
    try {
      return await loadBody(api, id);
    } catch (failure) {
      showToast({ level: 'error', text: errorText(failure) });
      return undefined;
    }
  };
  const editRefusal = !stack.local
    ? 'Only the local stack’s secret is known here, to sign what was edited'
    : refusal;
  const actions = {
    refusal,
    editRefusal,
    resend: async () => {
      // It is the same event: its trace tells of both.
      if (await send({ kind: 'resend', id })) reload();
    },
    edit: async () => {
      if (editRefusal !== undefined) {
        showToast({ level: 'error', text: `${editRefusal}.` });
        return;
      }
      const loaded = await body();
      if (loaded === undefined) return;
      if (!loaded.isUtf8 || loaded.text.length > LONGEST_EDITED) {
        const why = loaded.isUtf8 ? `above ${LONGEST_EDITED.toLocaleString('en')} characters` : 'not UTF-8';
        const text = `The body is ${why}: save it, edit the file, and send it with npm run send -- --file`;
        showToast({ level: 'error', text });
        return;
      }
      setEdited({ title: `Edit and send ${delivery?.event ?? ''}`, text: loaded.text });
    },
    copyCurl: async () => {
      const type = detail?.request.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
      const command = body().then((loaded) =>
        curlCommand({
          url: stack.webhookUrl,
          secret: stack.secret,
          body: loaded?.text,
          isUtf8: loaded?.isUtf8 ?? false,
          contentType: type ?? 'application/json',
        }),
      );
      if (await copyText(command))
        showToast({ level: 'info', text: 'Copied as curl, with openssl to sign it.' });
    },
    reload,
    copyLink: async () => {
      if (await copyText(location.href)) showToast({ level: 'info', text: 'Copied a link to this view.' });
    },
  };
  useKeys({
    r: () => {
      actions.resend();
    },
    e: () => {
      actions.edit();
    },
    c: () => {
      actions.copyCurl();
    },
    l: () => {
      actions.copyLink();
    },
    '[': () => show(tabBeside(tab, -1)),
    ']': () => show(tabBeside(tab, 1)),
  });

  if (delivery === undefined) {
    if (error !== undefined) {
      return (
        <Empty title="This delivery is not there">
          <p>{error}</p>
          <a href="#/deliveries">All deliveries</a>
        </Empty>
      );
    }
    if (!awaited) return <Loading />;
    const isSent = tasks.some((task) => task.delivery === id);
    return (
      <Empty title={isSent ? 'Sent' : 'Not known yet'}>
        <p role="status">The logs do not have it yet: they come some seconds late.</p>
      </Empty>
    );
  }
  const labels: Record<DetailTab, string> = {
    overview: 'Overview',
    request: `Request${delivery.bytes === undefined ? '' : ` ${bytesText(delivery.bytes)}`}`,
    answer: `Answer${delivery.status === undefined ? '' : ` ${delivery.status}`}`,
    logs: `Log lines${detail === undefined ? '' : ` ${detail.logs.length}`}`,
  };
  return (
    <article class="detail">
      <DetailHead delivery={delivery} actions={actions} onClose={onClose} />
      {error !== undefined && <ErrorNote>{error}</ErrorNote>}
      <Tabs
        label="Parts of the delivery"
        tabs={DETAIL_TABS.map((name) => ({ name, label: labels[name] }))}
        active={tab}
        onChange={show}
      >
        {panel}
      </Tabs>
      {edited !== undefined && (
        <EditDialog {...edited} onClose={() => setEdited(undefined)} onSent={onSent} />
      )}
    </article>
  );
}
