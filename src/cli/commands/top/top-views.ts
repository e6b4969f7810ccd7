// Tested by src/cli/commands/top/draw-screen.test.ts.
/** The views of `flotilla top` as lines: pure functions of the facts. */
import { findCondition } from '../../../core/conditions.ts'
import { groupDigits } from '../../../core/text/name-some.ts'
import { BUNDLE_STATES } from '../../../kinds/fields/states.ts'
import type { BundleStateName } from '../../../kinds/fields/states.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import type { AttentionItem } from '../../../plan/fleet/attention.ts'
import {
  apartBadge,
  apartMessage,
  badgesOfCluster,
  countFleet,
  stateOfCluster,
} from '../../../plan/fleet/cluster-badges.ts'
import { conditionOf, needsApproval, statusText } from '../../print/print-rollout.ts'
import { colorOf, STATE_GLYPHS } from '../../print/print-state.ts'
import { relativeTime, withLocalTimes } from '../../print/print-time.ts'
import { columnsOf, wrapText } from './screen-text.ts'
import type { Span, Spans } from './screen-text.ts'
import type { ClusterDetail, TopAct, TopFacts } from './top-facts.ts'

/** A place in the program; places are opened from one another, and left by Esc. */
export type TopView =
  | { readonly kind: 'overview' }
  | { readonly kind: 'group'; readonly group: string }
  | { readonly kind: 'cluster'; readonly name: string }
  | { readonly kind: 'rollout'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'item'; readonly key: string }
  | { readonly kind: 'text'; readonly title: string; readonly text: string }

/** A line; with a key it can be chosen. */
export interface TopLine {
  readonly spans: Spans
  readonly key?: string
  readonly opens?: TopView
  readonly acts?: readonly TopAct[]
}

export interface TopLook {
  readonly columns: number
  readonly isUtf8: boolean
  readonly filter: string
}

/** The label by which the overview groups clusters, as in the console. */
const GROUP_LABEL = 'ring'
const NO_GROUP = 'all clusters'
const MOVING: readonly string[] = ['Pending', 'Progressing', 'Paused', 'Failed']
/** The worst first, as people look for it. */
const WORST: readonly string[] = ['Failed', 'Drifted', 'Offline', 'Progressing', 'Pending', 'Ready']
const MARGIN = 4

/** The lines of a view. */
export function linesOf(
  view: TopView,
  facts: TopFacts,
  detail: ClusterDetail | undefined,
  look: TopLook,
): readonly TopLine[] {
  switch (view.kind) {
    case 'overview':
      return overview(facts, look)
    case 'group':
      return groupLines(view.group, facts, look)
    case 'cluster':
      return clusterLines(view.name, facts, detail?.cluster === view.name ? detail : undefined, look)
    case 'rollout':
      return rolloutLines(view, facts, look)
    case 'item':
      return itemLines(view.key, facts, look)
    case 'text':
      return textLines(view.text, look)
  }
}

/** The counts of the fleet, for the second line of the screen. */
export function countsSpans({ clusters, refused }: TopFacts, { isUtf8 }: Pick<TopLook, 'isUtf8'>): Spans {
  if (refused.includes('clusters')) return ['You may not list clusters.']
  const { total, states, apart } = countFleet(clusters)
  const beside = Object.entries(apart).map(([badge, count]) => `${groupDigits(count)} ${badge}`)
  return [
    `${groupDigits(total)} ${total === 1 ? 'cluster' : 'clusters'}`,
    ...BUNDLE_STATES.flatMap((state): Spans => {
      const count = states[state]
      return count
        ? ['  ', { text: `${glyph(state, isUtf8)} ${groupDigits(count)} ${state}`, color: colorIn(state) }]
        : []
    }),
    ...(beside.length > 0 ? [{ text: `  (not in the fleet: ${beside.join(', ')})`, color: 'dim' as const }] : []),
  ]
}

function overview(facts: TopFacts, look: TopLook): readonly TopLine[] {
  const inbox = inboxLines(facts, look)
  const moving = facts.rollouts.filter(isMoving).toSorted(newestFirst)
  return [
    ...fleetLines(facts, look),
    title('Rollouts in progress', facts.refused.includes('rollouts') ? '' : String(moving.length)),
    ...(facts.refused.includes('rollouts') ? [note('You may not list rollouts.')] : []),
    ...moving.map((rollout) => rolloutLine(rollout, look)),
    title('Needs a person', String(inbox.length)),
    ...(inbox.length === 0 ? [note(nothingText(facts))] : inbox),
  ]
}

function nothingText({ refused }: TopFacts): string {
  return refused.length === 0
    ? 'Nothing waits for a person.'
    : `Nothing that you may see waits for a person; you may not list ${refused.join(', ')}.`
}

function title(text: string, count: string): TopLine {
  return { spans: [{ text, color: 'bold' }, count === '' ? '' : ` ${count}`] }
}

function note(text: string): TopLine {
  return { spans: [{ text: `  ${text}`, color: 'dim' }] }
}

function groupOf({ metadata }: Cluster): string {
  return metadata.labels?.[GROUP_LABEL] ?? NO_GROUP
}

/** Clusters of the fleet by group: in the order of the newest rollout with several rings, then by name. */
function groupsOf({ clusters, rollouts }: TopFacts): readonly (readonly [string, readonly Cluster[]])[] {
  const order = rollouts
    .toSorted(newestFirst)
    .find(({ spec }) => spec.rings.length > 1)
    ?.spec.rings.map(({ name }) => name)
  const place = (group: string): number => {
    const at = order?.indexOf(group) ?? -1
    return at === -1 ? Number.MAX_SAFE_INTEGER : at
  }
  const members = clusters.filter((cluster) => stateOfCluster(cluster) !== undefined)
  return [...Map.groupBy(members, groupOf)].toSorted(
    ([a], [b]) => Number(a === NO_GROUP) - Number(b === NO_GROUP) || place(a) - place(b) || (a < b ? -1 : 1),
  )
}

function fleetLines(facts: TopFacts, look: TopLook): readonly TopLine[] {
  const groups = groupsOf(facts)
  if (facts.refused.includes('clusters')) return []
  if (groups.length === 0) return [title('Fleet', ''), note('No cluster has joined yet: flotilla cluster add NAME')]
  const isGrouped = groups.some(([name]) => name !== NO_GROUP)
  const nameWidth = Math.min(16, Math.max(...groups.map(([name]) => columnsOf(name))))
  return [
    title(isGrouped ? `Fleet by ${GROUP_LABEL}` : 'Fleet', ''),
    ...groups.map(([name, members]): TopLine => {
      const count = groupDigits(members.length).padStart(6)
      const room = Math.max(4, look.columns - MARGIN - nameWidth - count.length - 2)
      return {
        key: `group ${name}`,
        opens: { kind: 'group', group: name },
        spans: [fit(name, nameWidth), count, '  ', ...tiles(members, room, look)],
      }
    }),
  ]
}

/** One sign for each cluster; where they do not fit, the counts of the states. */
function tiles(members: readonly Cluster[], room: number, { isUtf8 }: TopLook): Spans {
  const states = members.map((cluster) => stateOfCluster(cluster) ?? 'Pending')
  if (members.length <= room) {
    return members
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      .map((cluster) => sign(stateOfCluster(cluster) ?? 'Pending', isUtf8))
  }
  const counts = Map.groupBy(states, (state) => state)
  return WORST.flatMap((state): Spans => {
    const count = counts.get(state as BundleStateName)?.length ?? 0
    return count === 0 ? [] : [{ text: `${glyph(state, isUtf8)} ${groupDigits(count)}  `, color: colorIn(state) }]
  })
}

function sign(state: string, isUtf8: boolean): Span {
  return { text: glyph(state, isUtf8), color: colorIn(state) }
}

function glyph(state: string, isUtf8: boolean): string {
  const glyphs = Object.hasOwn(STATE_GLYPHS, state) ? STATE_GLYPHS[state as BundleStateName] : undefined
  return glyphs?.[isUtf8 ? 0 : 1] ?? '-'
}

function colorIn(state: string): NonNullable<Span['color']> {
  return colorOf(state) ?? 'dim'
}

/** A text in exactly this many columns. */
function fit(text: string, columns: number): string {
  const cut = columnsOf(text) > columns ? `${[...text].slice(0, Math.max(0, columns - 1)).join('')}…` : text
  return cut + ' '.repeat(Math.max(0, columns - columnsOf(cut)))
}

function isMoving({ status }: Rollout): boolean {
  return MOVING.includes(status?.phase ?? 'Pending')
}

function newestFirst(a: Rollout, b: Rollout): number {
  const key = ({ metadata }: Rollout): string => metadata.creationTimestamp ?? ''
  return key(b).localeCompare(key(a)) || b.metadata.name.localeCompare(a.metadata.name, 'en', { numeric: true })
}

function actsOf(rollout: Rollout): readonly TopAct[] {
  const { name, namespace = '' } = rollout.metadata
  const { phase } = rollout.status ?? {}
  if (phase === 'Superseded' || phase === 'Aborted') return []
  const ring = needsApproval(rollout) ? ringThatWaits(rollout) : undefined
  return [
    ...(rollout.spec.paused
      ? [{ verb: 'resume' as const, namespace, name }]
      : phase === 'Completed'
        ? []
        : [{ verb: 'pause' as const, namespace, name }]),
    ...(ring === undefined
      ? []
      : [
          { verb: 'approve' as const, namespace, name, ring },
          { verb: 'reject' as const, namespace, name, ring },
        ]),
  ]
}

/** The ring that waits for an approval: the first with one that is not open. */
function ringThatWaits({ spec, status }: Rollout): string | undefined {
  return spec.rings.find(
    ({ name, approvals }) => approvals && !status?.rings?.find((ring) => ring.name === name)?.openedAt,
  )?.name
}

function rolloutLine(rollout: Rollout, { isUtf8 }: TopLook): TopLine {
  const { metadata, status } = rollout
  const phase = status?.phase ?? 'Pending'
  const { ready = 0, total = 0, failed = 0 } = status?.counts ?? {}
  const at = rollout.spec.rings.findIndex(({ name }) => name === status?.ring)
  return {
    key: `rollout ${keyOf(rollout)}`,
    opens: { kind: 'rollout', namespace: metadata.namespace ?? '', name: metadata.name },
    acts: actsOf(rollout),
    spans: [
      `${keyOf(rollout)}  `,
      { text: phase, color: colorIn(phase) },
      '  ',
      ...progress(ready, total, isUtf8),
      ` ${groupDigits(ready)}/${groupDigits(total)}`,
      ...(failed > 0 ? [{ text: `  ${groupDigits(failed)} failed`, color: 'red' as const }] : []),
      ...(needsApproval(rollout) ? [{ text: '  needs approval', color: 'yellow' as const }] : []),
      ...(at === -1 ? [] : [`  ring ${at + 1}/${rollout.spec.rings.length} ${status?.ring ?? ''}`]),
    ],
  }
}

const BAR = 12

function progress(ready: number, total: number, isUtf8: boolean): Spans {
  const done = total === 0 ? 0 : Math.floor((ready / total) * BAR)
  const [full, empty] = isUtf8 ? ['█', '░'] : ['#', '-']
  return [
    { text: full.repeat(done), color: 'green' },
    { text: empty.repeat(BAR - done), color: 'dim' },
  ]
}

/** Approvals, clusters to accept, and the items of `flotilla status`. */
function inboxLines(facts: TopFacts, look: TopLook): readonly TopLine[] {
  const approvals = facts.rollouts
    .filter((rollout) => isMoving(rollout) && needsApproval(rollout))
    .toSorted(newestFirst)
    .map((rollout): TopLine => {
      const { metadata } = rollout
      return {
        key: `approval ${keyOf(rollout)}`,
        opens: { kind: 'rollout', namespace: metadata.namespace ?? '', name: metadata.name },
        acts: actsOf(rollout),
        spans: [
          { text: 'approve  ', color: 'yellow' },
          `ring ${ringThatWaits(rollout) ?? ''} of ${keyOf(rollout)}  `,
          { text: withLocalTimes(conditionOf(rollout, 'Held')?.message ?? ''), color: 'dim' },
        ],
      }
    })
  const waiting = facts.clusters
    .filter(isWaiting)
    .map((cluster): TopLine => clusterEntry(cluster, look, [{ text: 'accept   ', color: 'yellow' }]))
  const items = facts.attention.map((item): TopLine => ({
    key: itemKey(item),
    opens: { kind: 'item', key: itemKey(item) },
    spans: [
      ITEM_WORDS[item.kind],
      `${item.namespace === undefined ? '' : `${item.namespace}/`}${item.name}  ${item.reason}  `,
      { text: withLocalTimes(item.message), color: 'dim' },
    ],
  }))
  return [...approvals, ...waiting, ...items]
}

const BROKEN: Span = { text: 'failed   ', color: 'red' }
const HELD: Span = { text: 'held     ', color: 'yellow' }
const WARNING: Span = { text: 'warning  ', color: 'yellow' }

const ITEM_WORDS: Readonly<Record<AttentionItem['kind'], Span>> = {
  FailedRollout: BROKEN,
  FailingSource: BROKEN,
  UnbuiltBundle: BROKEN,
  HeldPlacement: HELD,
  HeldChange: HELD,
  HeldBack: HELD,
  PlaintextSecret: WARNING,
  OpenDefault: WARNING,
}

function itemKey({ kind, namespace, name, reason }: TopFacts['attention'][number]): string {
  return `item ${kind} ${namespace ?? ''}/${name} ${reason}`
}

function isWaiting({ spec }: Cluster): boolean {
  return !spec.accepted && !spec.refused
}

function clusterEntry(cluster: Cluster, { isUtf8 }: TopLook, before: Spans = []): TopLine {
  const { name } = cluster.metadata
  const state = stateOfCluster(cluster) ?? apartBadge(cluster) ?? 'Pending'
  const { ready, total } = cluster.status?.bundles ?? {}
  const badges = badgesOfCluster(cluster).filter((badge) => badge !== state)
  return {
    key: `cluster ${name}`,
    opens: { kind: 'cluster', name },
    acts: isWaiting(cluster) ? [{ verb: 'accept', name }] : [],
    spans: [
      ...before,
      `${fit(name, 24)} `,
      { text: fit(`${glyph(state, isUtf8)} ${state}`, 14), color: colorIn(state) },
      total === undefined ? ' '.repeat(8) : fit(`${ready}/${total}`, 8),
      ...badges.map((badge) => `[${badge}] `),
      { text: state === 'Ready' ? '' : messageOf(cluster), color: 'dim' },
    ],
  }
}

function messageOf(cluster: Cluster): string {
  const message =
    apartMessage(cluster) ?? cluster.status?.message ?? (isWaiting(cluster) ? 'The cluster waits to be accepted.' : '')
  return withLocalTimes(message)
}

/** The clusters of a group, the worst first. */
function groupLines(group: string, facts: TopFacts, look: TopLook): readonly TopLine[] {
  const members = groupsOf(facts).find(([name]) => name === group)?.[1] ?? []
  const wanted = look.filter.trim().toLowerCase()
  const found = members.filter((cluster) => searched(cluster).includes(wanted))
  const rank = (cluster: Cluster): number => WORST.indexOf(stateOfCluster(cluster) ?? 'Pending')
  return [
    title(
      group === NO_GROUP ? 'Clusters' : `Clusters of ${GROUP_LABEL} ${group}`,
      found.length === members.length ? String(members.length) : `${found.length} of ${members.length}`,
    ),
    ...(found.length === 0 ? [note('No cluster matches the filter.')] : []),
    ...found
      .toSorted((a, b) => rank(a) - rank(b) || (a.metadata.name < b.metadata.name ? -1 : 1))
      .map((cluster) => clusterEntry(cluster, look)),
  ]
}

function searched(cluster: Cluster): string {
  const { name, labels = {} } = cluster.metadata
  return [name, stateOfCluster(cluster), messageOf(cluster), ...Object.values(labels)].join(' ').toLowerCase()
}

function clusterLines(
  name: string,
  { clusters, atMs }: TopFacts,
  detail: ClusterDetail | undefined,
  look: TopLook,
): readonly TopLine[] {
  const cluster = clusters.find(({ metadata }) => metadata.name === name)
  if (!cluster) return [note(`Cluster ${name} does not exist any more.`)]
  const { status } = cluster
  const isHeard = findCondition(status?.conditions, 'Available')?.status === 'True'
  const seen = isHeard
    ? 'in contact'
    : status?.lastSeen
      ? `last contact ${relativeTime(status.lastSeen, atMs)}`
      : 'never in contact'
  const labels = Object.entries(cluster.metadata.labels ?? {}).map(([key, value]) => `${key}=${value}`)
  const message = messageOf(cluster)
  const { opens: _self, ...entry } = clusterEntry(cluster, look)
  return [
    entry,
    note(
      `Kubernetes ${status?.kubernetesVersion ?? 'not reported'}, agent ${status?.agentVersion ?? 'not reported'}, ${seen}`,
    ),
    ...(labels.length > 0 ? [note(labels.join(' '))] : []),
    ...(message === '' ? [] : wrapText(message, look.columns - MARGIN).map((line) => ({ spans: [`  ${line}`] }))),
    ...detailLines(name, detail, look),
  ]
}

function detailLines(
  cluster: string,
  detail: ClusterDetail | undefined,
  { isUtf8, filter }: TopLook,
): readonly TopLine[] {
  if (!detail) return [note('Reading the bundles…')]
  if (detail.problem !== undefined) return [note(detail.problem)]
  const wanted = filter.trim().toLowerCase()
  const bundles = detail.bundles.filter(({ state }) => state !== undefined && state !== 'NotSelected')
  const objects = detail.objects
    .filter(({ object, bundle, state }) =>
      `${object.kind}/${object.name} ${bundle} ${state}`.toLowerCase().includes(wanted),
    )
    .toSorted((a, b) => WORST.indexOf(a.state) - WORST.indexOf(b.state))
  return [
    title('Bundles', String(bundles.length)),
    ...bundles.map((row): TopLine => {
      const { state = 'Pending', generation, target, waitsFor, message = '' } = row
      const runs = generation === undefined ? '' : `g${generation}`
      const to = target === undefined || target === generation ? '' : ` -> g${target}`
      return {
        spans: [
          `  ${fit(`${row.metadata.namespace ?? ''}/${row.bundle}`, 24)} `,
          { text: fit(`${glyph(state, isUtf8)} ${state}`, 14), color: colorIn(state) },
          fit(`${runs}${to}`, 10),
          { text: waitsFor === undefined ? (state === 'Ready' ? '' : message) : `waits for ${waitsFor}`, color: 'dim' },
        ],
      }
    }),
    title('Objects', String(objects.length)),
    ...objects.map(({ metadata, object, state, message = '' }): TopLine => {
      const { kind, name, namespace } = object
      return {
        key: `object ${metadata.name}`,
        acts: [{ verb: 'trace', cluster, object: `${kind.toLowerCase()}/${name}`, ...(namespace && { namespace }) }],
        spans: [
          { text: `${glyph(state, isUtf8)} `, color: colorIn(state) },
          `${kind}/${namespace === undefined ? '' : `${namespace}/`}${name}  `,
          { text: state === 'Ready' ? '' : `${state} ${message}`, color: 'dim' },
        ],
      }
    }),
  ]
}

function rolloutLines(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { rollouts, atMs }: TopFacts,
  look: TopLook,
): readonly TopLine[] {
  const rollout = rollouts.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace)
  if (!rollout) return [note(`Rollout ${namespace}/${name} does not exist any more.`)]
  const { opens: _self, ...line } = rolloutLine(rollout, look)
  return [line, ...textLines(statusText(rollout, atMs), look)]
}

function itemLines(key: string, { attention }: TopFacts, look: TopLook): readonly TopLine[] {
  const item = attention.find((one) => itemKey(one) === key)
  if (!item) return [note('This no longer needs a person.')]
  return [
    title(`${item.namespace === undefined ? '' : `${item.namespace}/`}${item.name}`, item.reason),
    ...textLines(withLocalTimes(item.message), look),
    note('Run next:'),
    ...textLines(item.command, look),
  ]
}

function textLines(text: string, { columns }: TopLook): readonly TopLine[] {
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => wrapText(line, columns - MARGIN))
    .map((line) => ({ spans: [`  ${line}`] }))
}
