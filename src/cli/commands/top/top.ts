/** `flotilla top`: the fleet on a full screen that follows the hub, with the keys for what an operator does most. */
import { settleAll } from '../../../core/async/settle-all.ts'
import { toError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
import { CLUSTERS, flotillaResource, listAll, OBJECTS } from '../../api/flotilla-resources.ts'
import { DIALECT_LISTS, readAttention } from '../../api/read-attention.ts'
import { readIfAllowed } from '../../api/read-if-allowed.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT, formatErrorReport } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { explainError } from '../../errors/explain-error.ts'
import type { FullScreen } from '../../print/full-screen.ts'
import type { Terminal } from '../../print/terminal.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { drawScreen } from './draw-screen.ts'
import { readKeys } from './read-keys.ts'
import type { BundleRow, ClusterDetail, TopAct, TopFacts } from './top-facts.ts'
import { open, placeOf, pressKey, START } from './top-state.ts'
import type { TopState } from './top-state.ts'
import { linesOf } from './top-views.ts'
import type { TopLine } from './top-views.ts'

/** What `top` works with. */
export interface TopInput {
  readonly connection: Connection
  readonly terminal: Terminal
  /** Takes the terminal as a whole; resolves to undefined if there is none. */
  readonly openScreen?: (() => Promise<FullScreen | undefined>) | undefined
  /** Connects once more, for a change with its reason in the audit log. */
  readonly connectFor: (reason: string) => Promise<Connection>
  readonly signal: AbortSignal
  readonly flags: { readonly namespace?: string }
}

const BUNDLE_STATES_OF = {
  ...flotillaResource<KubeObject & BundleRow>('BundleState', 'Namespaced'),
  group: 'view.flotilla.dev',
}

/** The hub is read again after this time, or after ten times what the reading took. */
const READ_MS = 2_000
const PATIENCE = 10
/** Lists without which nothing can be shown. */
const LISTS = 5

/** Runs until the person quits. */
export async function top(input: TopInput): Promise<ExitCode> {
  const { connection, terminal, signal, flags } = input
  const client = clientOver(connection.rest)
  // The first reading fails as any command does: with its error in the terminal as it was.
  let facts = await readFacts(client, connection, flags.namespace)
  const screen = await input.openScreen?.()
  if (!screen) {
    throw new CliError(EXIT.usage, {
      what: '"flotilla top" needs a terminal on stdin and stdout',
      todo: 'for a script, use "flotilla status -o json"',
    })
  }
  const ended = new AbortController()
  const stop = AbortSignal.any([signal, ended.signal])
  let state: TopState = START
  let trouble: string | undefined
  let detail: ClusterDetail | undefined
  let wake = Promise.withResolvers<void>()

  const lines = (): readonly TopLine[] => {
    const place = placeOf(state)
    const look = { columns: screen.columns, isUtf8: terminal.isUtf8, filter: place.filter }
    return linesOf(place.view, facts, detail, look)
  }
  const draw = (): void => {
    const { columns, rows } = screen
    const options = { columns, rows, isUtf8: terminal.isUtf8, paint: terminal.paint, nowMs: systemClock.now(), trouble }
    screen.show(drawScreen(state, facts, lines(), options))
  }
  const refresh = async (): Promise<void> => {
    try {
      const { view } = placeOf(state)
      const [next, nextDetail] = await settleAll([
        readFacts(client, connection, flags.namespace),
        view.kind === 'cluster' ? readDetail(client, view.name, flags.namespace) : undefined,
      ])
      facts = next
      if (nextDetail) detail = nextDetail
      trouble = undefined
    } catch (caught) {
      trouble = explainError(caught).report.what
    }
  }
  const perform = async (act: TopAct, reason: string): Promise<void> => {
    const said = await sayOf(act, reason, input)
    if (act.verb === 'trace')
      state = said.isDone
        ? open(state, { kind: 'text', title: 'Trace', text: said.text })
        : { ...state, message: said.text }
    else state = { ...state, message: said.text }
    wake.resolve()
    draw()
  }
  const closeKeys = screen.onKeys((text) => {
    for (const key of readKeys(text)) {
      const before = placeOf(state).view
      const { state: next, effect } = pressKey(state, key, lines())
      state = next
      if (placeOf(state).view !== before) wake.resolve()
      if (effect?.kind === 'quit') ended.abort()
      if (effect?.kind === 'act') void perform(effect.act, effect.reason)
    }
    draw()
  })
  const closeResize = screen.onResize(draw)
  try {
    draw()
    while (!stop.aborted) {
      wake = Promise.withResolvers<void>()
      const begunMs = systemClock.monotonicMs()
      await refresh()
      if (stop.aborted) break
      draw()
      const restMs = Math.max(READ_MS, (systemClock.monotonicMs() - begunMs) * PATIENCE)
      const timer = new AbortController()
      const sleep = systemClock.sleep(restMs, AbortSignal.any([stop, timer.signal])).catch(() => {}) // ended: the loop says so
      await Promise.race([sleep, wake.promise])
      timer.abort()
    }
  } finally {
    closeKeys()
    closeResize()
    screen.close()
  }
  return signal.aborted ? EXIT.interrupted : EXIT.ok
}

async function readFacts(client: Client, { server }: Connection, namespace: string | undefined): Promise<TopFacts> {
  const clusters = await readIfAllowed('clusters', listAll(client, CLUSTERS))
  const { facts, items, refused } = await readAttention(client, { namespace, clusters: clusters.items })
  const hidden = [...(clusters.refused === undefined ? [] : [clusters.refused]), ...refused].filter(
    (what) => !DIALECT_LISTS.has(what),
  )
  if (hidden.length === LISTS) {
    throw new CliError(EXIT.forbidden, {
      where: server,
      what: `not allowed to list ${hidden.join(', ')}`,
      todo: 'show a namespace that you may read with "flotilla top -n NAMESPACE"',
    })
  }
  return {
    server,
    clusters: clusters.items,
    rollouts: facts.rollouts,
    attention: items,
    refused: hidden,
    atMs: systemClock.now(),
  }
}

async function readDetail(client: Client, cluster: string, namespace: string | undefined): Promise<ClusterDetail> {
  const scope = { ...(namespace !== undefined && { namespace }), fieldSelector: `cluster=${cluster}` }
  try {
    const [bundles, objects] = await settleAll([
      listAll(client, BUNDLE_STATES_OF, scope),
      listAll(client, OBJECTS, scope),
    ])
    return { cluster, bundles, objects }
  } catch (caught) {
    return { cluster, bundles: [], objects: [], problem: explainError(caught).report.what }
  }
}

/** Runs the command that the act stands for, and takes what it says. */
async function sayOf(
  act: TopAct,
  reason: string,
  { connection, connectFor, terminal }: TopInput,
): Promise<{ readonly isDone: boolean; readonly text: string }> {
  const said: string[] = []
  const data: string[] = []
  const quiet: Terminal = {
    ...terminal,
    data: (text) => void data.push(text),
    say: (text) => void said.push(text),
    step: (sign, text) => void (sign === 'next' || said.push(text)),
    paint: (_color, text) => text,
    isLive: false,
    isInteractive: false,
    columns: terminal.columns,
  }
  let ours: Connection | undefined
  try {
    ours = reason === '' ? undefined : await connectFor(reason)
    await runAct(act, reason, ours ?? connection, quiet)
    return { isDone: true, text: act.verb === 'trace' ? data.join('') : said.join('; ') }
  } catch (caught) {
    const { report } = explainError(toError(caught))
    return { isDone: false, text: formatErrorReport(report).trim().replaceAll('\n', '; ') }
  } finally {
    await ours?.close()
  }
}

async function runAct(act: TopAct, reason: string, connection: Connection, terminal: Terminal): Promise<void> {
  const why = reason === '' ? {} : { reason }
  switch (act.verb) {
    case 'pause':
    case 'resume': {
      const { rolloutPause, rolloutResume } = await import('../rollout/rollout.ts')
      const input = { connection, terminal, flags: { namespace: act.namespace, ...why } }
      return await (act.verb === 'pause' ? rolloutPause : rolloutResume)(act.name, input)
    }
    case 'approve':
    case 'reject': {
      const { rolloutApprove } = await import('../rollout/approve.ts')
      const flags = { namespace: act.namespace, ring: act.ring, reject: act.verb === 'reject', ...why }
      return await rolloutApprove(act.name, { connection, terminal, flags })
    }
    case 'accept': {
      const { clusterAccept } = await import('../cluster/acceptance.ts')
      return await clusterAccept(act.name, { connection, terminal, flags: why, confirm: async () => false })
    }
    case 'trace': {
      const { trace } = await import('../observe/trace.ts')
      const { cluster, object, namespace } = act
      return await trace([object], {
        connection,
        terminal,
        flags: { cluster, ...(namespace !== undefined && { namespace }) },
      })
    }
  }
}
