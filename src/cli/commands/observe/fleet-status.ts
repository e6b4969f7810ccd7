/** The text of `flotilla status`: hub, clusters by state, rollouts in progress and next commands. */
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import { groupDigits, nameSome, plural } from '../../../core/text/name-some.ts'
import { parseTime } from '../../../core/time/time.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { ClusterWindow } from '../../../kinds/native/cluster-window.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { Placement } from '../../../kinds/native/placement.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import { BUNDLE_STATES } from '../../../kinds/fields/states.ts'
import type { BundleStateName } from '../../../kinds/fields/states.ts'
import type { Window } from '../../../kinds/native/window.ts'
import { CERTIFICATE_WARNING_DAYS, countFleet, stateOfCluster } from '../../../plan/fleet/cluster-badges.ts'
import type { FleetCounts } from '../../../plan/fleet/cluster-badges.ts'
import type { AttentionItem } from '../../../plan/fleet/attention.ts'
import { holdOfCluster } from '../../../plan/windows/cluster-hold.ts'
import { maintenanceAge } from '../../../plan/fleet/hub-maintenance.ts'
import type { Maintenance } from '../../../plan/fleet/hub-maintenance.ts'
import { compileWindow } from '../../../plan/windows/window-rules.ts'
import { exceptionsText, windowStateText } from '../../print/print-windows.ts'
import { needsApproval } from '../../print/print-rollout.ts'
import { STATE_GLYPHS } from '../../print/print-state.ts'
import type { Terminal } from '../../print/terminal.ts'

/** The objects that the status shows. */
export interface StatusFacts {
  readonly server: string
  readonly version: string
  readonly clusters: readonly Cluster[]
  readonly rollouts: readonly Rollout[]
  readonly windows?: readonly (Window | ClusterWindow)[]
  /** What needs a person. */
  readonly attention?: readonly AttentionItem[]
  /** Releases that the clusters of a Bundle (`namespace/name`) run: `18 on shop-g2, 23 on shop-g7`. */
  readonly versions?: ReadonlyMap<string, string>
  /** Kinds that the caller may not list, for example `clusters`. */
  readonly refused?: readonly string[]
  /** Undefined if there is none, or if the caller may not read it. */
  readonly maintenance?: Maintenance | undefined
  readonly placements?: readonly Placement[]
  readonly bundles?: readonly Bundle[]
}

const MOVING: readonly string[] = ['Pending', 'Progressing', 'Paused', 'Failed']
const MAX_ROLLOUTS = 5
const MAX_FREEZES = 3
const MAX_EMPTY = 5
const MAX_ATTENTION = 5
const MAX_MESSAGE = 300
const BAR = 15
const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS

export function statusText(
  facts: StatusFacts,
  nowMs: number,
  look: Pick<Terminal, 'command' | 'isUtf8' | 'paint'>,
): string {
  // A failed Rollout is in the list of what needs a person.
  const moving = facts.rollouts.filter((rollout) => isMoving(rollout) && rollout.status?.phase !== 'Failed')
  const lines = [
    line('Hub', `${facts.version}   ${facts.server}`),
    ...maintenanceLines(facts, nowMs, look),
    line('Fleet', hasClusters(facts) ? fleetText(facts.clusters, look) : 'not shown: you may not list clusters'),
    ...attentionLines(facts, look),
    ...moving.slice(0, MAX_ROLLOUTS).map((rollout) => line('Rollout', rolloutText(rollout, look.isUtf8))),
    ...(moving.length > MAX_ROLLOUTS ? [line('', `and ${moving.length - MAX_ROLLOUTS} more`)] : []),
    ...freezeLines(facts.windows ?? [], nowMs, look.isUtf8),
    ...heldLines(facts.clusters),
    ...emptyLines(facts),
    ...waitingLines(facts.clusters),
    ...certificateLines(facts.clusters, nowMs),
    ...refusedLines(facts),
    ...nextCommands(facts, moving).map((command, index) => line(index === 0 ? 'Next' : '', look.command(command))),
  ]
  return lines.join('')
}

function maintenanceLines({ maintenance }: StatusFacts, nowMs: number, look: Pick<Terminal, 'command'>): string[] {
  if (!maintenance) return []
  return [
    line('Maint.', `maintenance${maintenanceAge(maintenance, nowMs)}: ${maintenance.reason}; nothing is decided`),
    line('', look.command('flotilla hub maintenance off')),
  ]
}

/** The status as data. */
export function statusSummary(facts: StatusFacts, nowMs: number): object {
  const { server, version, clusters, rollouts, windows = [], refused = [] } = facts
  const moving = rollouts.filter(isMoving)
  const fleet = countFleet(clusters)
  return compact({
    server,
    version,
    maintenance: facts.maintenance,
    refused: refused.length > 0 ? refused : undefined,
    clusters: hasClusters(facts)
      ? { total: fleet.total, ...fleet.states, ...(isAnyApart(fleet) ? { apart: fleet.apart } : {}) }
      : undefined,
    empty: emptyObjects(facts),
    freezes: windows
      .filter(({ spec }) => spec.mode === 'Freeze')
      .map((object) => ({ name: compileWindow(object).name, state: windowStateText(object, nowMs).text })),
    rollouts: moving.map(({ metadata, status }) => ({
      namespace: metadata.namespace,
      name: metadata.name,
      phase: status?.phase ?? 'Pending',
      ring: status?.ring,
      counts: status?.counts,
    })),
    attention: facts.attention ?? [],
  })
}

function hasClusters({ refused = [] }: StatusFacts): boolean {
  return !refused.includes('clusters')
}

/** What the caller may not list is said: a missing line would read as "nothing to do". */
function refusedLines({ refused = [] }: StatusFacts): string[] {
  const others = refused.filter((what) => what !== 'clusters')
  return others.length === 0 ? [] : [line('Hidden', `${others.join(', ')}: you may not list them; see -n NAMESPACE`)]
}

const TITLES: Readonly<Record<AttentionItem['kind'], string>> = {
  FailedRollout: 'Rollout',
  FailingSource: 'Source',
  UnbuiltBundle: 'Bundle',
  HeldPlacement: 'Held',
  HeldChange: 'Held',
  HeldBack: 'Bundle',
  PlaintextSecret: 'Secret',
  OpenDefault: 'Default',
}

/** What needs a person, with the command for each object; failed Rollouts are first. */
function attentionLines(facts: StatusFacts, look: Pick<Terminal, 'command' | 'isUtf8'>): string[] {
  const byKind = Map.groupBy(facts.attention ?? [], ({ kind }) => kind)
  return [...byKind].flatMap(([kind, items]) => [
    ...(kind === 'OpenDefault' ? defaultLines(items) : []),
    ...(kind === 'OpenDefault' ? [] : items).slice(0, MAX_ATTENTION).flatMap((item) => itemLines(item, facts, look)),
    ...(items.length > MAX_ATTENTION && kind !== 'OpenDefault'
      ? [line('', `and ${items.length - MAX_ATTENTION} more`)]
      : []),
  ])
}

/** A line for each reason, because many objects can have the same setting, with the message of the first. */
function defaultLines(items: readonly AttentionItem[]): string[] {
  return [...Map.groupBy(items, ({ reason }) => reason)].map(([reason, found]) => {
    const names = nameSome(found.map(labelOf))
    return line(TITLES.OpenDefault, [reason, names, oneLine(found[0]?.message ?? '')].join('   '))
  })
}

function itemLines(item: AttentionItem, facts: StatusFacts, look: Pick<Terminal, 'command' | 'isUtf8'>): string[] {
  const { kind, namespace, name, reason, command } = item
  const message = oneLine(item.message)
  const versions = kind === 'HeldBack' ? facts.versions?.get(`${namespace}/${name}`) : undefined
  const rollout = facts.rollouts.find((one) => one.metadata.name === name && one.metadata.namespace === namespace)
  const text =
    kind === 'FailedRollout' && rollout
      ? [rolloutText(rollout, look.isUtf8), message]
      : [labelOf(item), ...(kind === 'HeldBack' ? [] : [reason]), message]
  return [
    line(TITLES[kind], text.join('   ')),
    ...(versions === undefined ? [] : [line('', `clusters run: ${versions}`)]),
    line('', look.command(command)),
  ]
}

function labelOf({ namespace, name }: AttentionItem): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

function oneLine(message: string): string {
  const text = message.replaceAll(/\s+/g, ' ')
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1)}…` : text
}

function isMoving({ status }: Rollout): boolean {
  return MOVING.includes(status?.phase ?? 'Pending')
}

function isAnyApart({ apart }: FleetCounts): boolean {
  return Object.keys(apart).length > 0
}

/** Placements that select no cluster, and Bundles that reach none: `{ kind, name, message }`. */
function emptyObjects({ placements = [], bundles = [] }: StatusFacts) {
  const of = (kind: string, type: string, objects: readonly (Placement | Bundle)[]) =>
    objects.flatMap((object) => {
      const condition = findCondition(object.status?.conditions, type)
      return condition?.status === 'True' ? [{ kind, name: keyOf(object), message: condition.message }] : []
    })
  return [...of('Placement', 'Empty', placements), ...of('Bundle', 'Unplaced', bundles)]
}

function emptyLines(facts: StatusFacts): string[] {
  const found = emptyObjects(facts)
  const lines = found
    .slice(0, MAX_EMPTY)
    .map(({ kind, name, message }) => line('Empty', `${kind} ${name}   ${message}`))
  return found.length > MAX_EMPTY ? [...lines, line('', `and ${found.length - MAX_EMPTY} more`)] : lines
}

function line(title: string, text: string): string {
  return `${title.padEnd(9)}${text}\n`
}

function fleetText(clusters: readonly Cluster[], look: Pick<Terminal, 'isUtf8' | 'paint'>): string {
  const { total, states, apart } = countFleet(clusters)
  const parts = BUNDLE_STATES.flatMap((state) => {
    const count = states[state]
    const [utf8, ascii, color] = STATE_GLYPHS[state]
    return count ? [look.paint(color, `${look.isUtf8 ? utf8 : ascii} ${groupDigits(count)} ${state}`)] : []
  })
  const others = Object.entries(apart).map(([badge, count]) => `${groupDigits(count)} ${badge}`)
  const beside = others.length === 0 ? [] : [look.paint('dim', `(not in the fleet: ${others.join(', ')})`)]
  return [`${groupDigits(total)} cluster${total === 1 ? '' : 's'}`, ...parts, ...beside].join('   ')
}

function rolloutText(rollout: Rollout, isUtf8: boolean): string {
  const { metadata, status } = rollout
  const counts = status?.counts
  const total = counts?.total ?? 0
  const ready = counts?.ready ?? 0
  const done = total === 0 ? 0 : Math.floor((ready / total) * BAR)
  const bar = isUtf8 ? '█'.repeat(done) + '░'.repeat(BAR - done) : '#'.repeat(done) + '-'.repeat(BAR - done)
  const others = [
    [counts?.failed, 'failed'],
    [counts?.offline, 'offline'],
  ] as const
  return [
    `${metadata.namespace}/${metadata.name}`,
    status?.phase ?? 'Pending',
    ...(status?.ring === undefined ? [] : [`ring ${status.ring}`]),
    `${bar} ${groupDigits(ready)}/${groupDigits(total)}`,
    ...others.flatMap(([count, word]) => (count ? [`${groupDigits(count)} ${word}`] : [])),
    ...(needsApproval(rollout) ? ['needs approval'] : []),
  ].join('   ')
}

/** Freezes that are active, or begin within a week. */
function freezeLines(windows: readonly (Window | ClusterWindow)[], nowMs: number, isUtf8: boolean): string[] {
  const shown = windows
    .filter(({ spec }) => spec.mode === 'Freeze')
    .map((object) => ({ object, state: windowStateText(object, nowMs) }))
    .filter(({ state }) => state.isIn || (state.nextMs !== undefined && state.nextMs - nowMs < WEEK_MS))
    .sort((a, b) => a.state.order - b.state.order)
  const lines = shown.slice(0, MAX_FREEZES).map(({ object, state }) => {
    const except = exceptionsText(object)
    const parts = [
      `${isUtf8 ? '❄' : '*'} ${compileWindow(object).name}`,
      state.text,
      object.spec.reason,
      ...(except === '' ? [] : [`except ${except}`]),
    ]
    return line('Freeze', parts.join('   '))
  })
  return shown.length > MAX_FREEZES ? [...lines, line('', `and ${shown.length - MAX_FREEZES} more`)] : lines
}

function heldLines(clusters: readonly Cluster[]): string[] {
  const held = clusters
    .filter((cluster) => stateOfCluster(cluster) !== undefined && holdOfCluster(cluster))
    .map(({ metadata }) => metadata.name)
  return held.length === 0 ? [] : [line('On hold', nameSome(held))]
}

function waitingLines(clusters: readonly Cluster[]): string[] {
  const waiting = clusters.filter(({ spec }) => !spec.accepted && !spec.refused).map(({ metadata }) => metadata.name)
  if (waiting.length === 0) return []
  return [line('Waiting', `${nameSome(waiting)} for acceptance`)]
}

function certificateLines(clusters: readonly Cluster[], nowMs: number): string[] {
  const ending = clusters.filter((cluster) => {
    const { status } = cluster
    if (stateOfCluster(cluster) === undefined) return false
    const end = status?.certificate === undefined ? undefined : parseTime(status.certificate.notAfter)
    return end !== undefined && end - nowMs < CERTIFICATE_WARNING_DAYS * DAY_MS
  })
  return ending.length === 0
    ? []
    : [
        line(
          'Certs',
          `${plural(ending.length, 'agent certificate ends', 'agent certificates end')} in less than ${CERTIFICATE_WARNING_DAYS} days`,
        ),
      ]
}

function nextCommands(facts: StatusFacts, moving: readonly Rollout[]): string[] {
  const { clusters } = facts
  const has = (state: BundleStateName): boolean => clusters.some((cluster) => stateOfCluster(cluster) === state)
  const waiting = clusters.find(({ spec }) => !spec.accepted && !spec.refused)
  const asking = moving.find(needsApproval)
  const first = asking ?? moving[0]
  return [
    ...(clusters.length === 0 && hasClusters(facts) ? [`flotilla cluster add NAME`] : []),
    ...(waiting ? [`flotilla cluster accept ${waiting.metadata.name}`] : []),
    ...(has('Failed') ? [`flotilla get clusters --state failed -o wide`] : []),
    ...(asking ? [`flotilla rollout approve ${asking.metadata.name} -n ${asking.metadata.namespace}`] : []),
    ...(first ? [`flotilla rollout watch ${first.metadata.name} -n ${first.metadata.namespace}`] : []),
    ...(clusters.length > 0 && !has('Failed') && !first ? [`flotilla get clusters`] : []),
  ]
}
