/** `flotilla handover <system>`: moves clusters over from another system, step by step. */
import { clientOver } from '../../../client/create-client.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { nameSome, plural } from '../../../core/text/name-some.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { CLUSTERS } from '../../api/flotilla-resources.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { readDuration } from '../../input/duration-flag.ts'
import { requireConfirmation } from '../../input/require-confirmation.ts'
import { writeClusterSpec } from '../cluster/resolve-clusters.ts'
import { chooseClusters } from './choose-clusters.ts'
import type { ChooseInput } from './choose-clusters.ts'
import { handoverState } from './handover-state.ts'
import type { HandoverState } from './handover-state.ts'

/** What a handover needs besides the clusters. */
export interface HandoverInput extends ChooseInput {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly flags: ChooseInput['flags'] & {
    readonly compare?: boolean
    readonly undo?: boolean
    readonly finish?: boolean
    readonly acceptDifferences?: boolean
    readonly peerStopped?: boolean
    readonly timeout?: string
  }
}

type Step = NonNullable<Cluster['spec']['handover']>['step']

const POLL_MS = 1_000
const TIMEOUT = '10m'

/** Moves clusters over, as far as the flags say. Run again, it continues where each cluster is. */
export async function handover(from: string, names: readonly string[], input: HandoverInput): Promise<ExitCode> {
  const { flags } = input
  const modes = (['compare', 'undo', 'finish'] as const).filter((mode) => flags[mode])
  if (modes.length > 1) {
    throw new CliError(EXIT.usage, {
      what: `--${modes[0]} and --${modes[1]} cannot be combined`,
      todo: 'give one of --compare, --finish and --undo',
    })
  }
  const all = await chooseClusters(names, input)
  for (const cluster of all) refuseOther(cluster, from)
  const run = { ...input, from, until: input.clock.monotonicMs() + readDuration(flags.timeout ?? TIMEOUT, '--timeout') }
  if (flags.undo) return undo(all, run)
  if (flags.finish) return finish(all, run)
  return forward(all, run)
}

interface HandoverRun extends HandoverInput {
  readonly from: string
  /** Monotonic time after which the command stops waiting. */
  readonly until: number
}

/** Compares, and takes over the clusters without differences, or with accepted differences. */
async function forward(all: readonly Cluster[], run: HandoverRun): Promise<ExitCode> {
  const { flags, terminal } = run
  const isIn = (cluster: Cluster, ...steps: Step[]) => steps.some((step) => cluster.spec.handover?.step === step)
  const done = all.filter((cluster) => isIn(cluster, 'Finish', 'Done'))
  for (const { metadata } of done) terminal.step('ok', `cluster "${metadata.name}" has moved over`)
  const taken = all.filter((cluster) => isIn(cluster, 'Take'))
  if (flags.compare && taken.length > 0) {
    throw new CliError(EXIT.conflict, {
      what: `${named(taken)} already taken over; there is nothing to compare`,
      todo: `give the objects back first with "flotilla handover ${run.from} ${taken[0]!.metadata.name} --undo"`,
    })
  }
  const fresh = all.filter((cluster) => !isIn(cluster, 'Take', 'Finish', 'Done'))
  const compared = await compare(fresh, run)
  if (flags.compare) return compared.code
  const ready = fresh.filter(({ metadata }) => compared.ready.has(metadata.name))
  if (ready.length > 0) {
    const what = `stop the controllers of ${run.from} on ${plural(ready.length, 'cluster')} (${namesOf(ready)}) and take the objects over`
    await requireConfirmation(what, run)
  }
  // A cluster that failed to be taken over is tried again with the flags of this command.
  const failing = await onlyIncomplete(taken, run)
  await setStep([...ready, ...failing], 'Take', run)
  const states = await wait([...ready, ...taken], run)
  for (const state of states) sayTaken(state, run)
  const moved = states.filter(({ state }) => state === 'Complete')
  if (moved.length > 0) {
    terminal.step('next', `flotilla handover ${run.from} ${moved[0]!.cluster} --finish, or --undo to go back`)
  }
  return worst(compared.code, codeOf(states))
}

async function compare(
  clusters: readonly Cluster[],
  run: HandoverRun,
): Promise<{ readonly ready: ReadonlySet<string>; readonly code: ExitCode }> {
  const { terminal, flags, from } = run
  const begun = (cluster: Cluster) => cluster.spec.handover?.step === 'Compare'
  await setStep(
    clusters.filter((cluster) => !begun(cluster)),
    'Compare',
    run,
  )
  const pending = clusters.filter(({ spec }) => !spec.accepted)
  for (const { metadata } of pending) {
    terminal.step('wait', `cluster "${metadata.name}" is pending; its agent will compare and write nothing`)
    terminal.step('next', `flotilla cluster accept ${metadata.name}`)
  }
  const states = await wait(
    clusters.filter(({ spec }) => spec.accepted),
    run,
  )
  const ready = new Set<string>()
  for (const state of states) {
    const { cluster, objects = 0, differing = 0 } = state
    if (state.state !== 'Complete') sayOpen(state, run)
    else {
      sayCompared(state, run)
      if (objects === 0) {
        terminal.step(
          'warn',
          `cluster "${cluster}": no Bundle is placed on the cluster, so there is nothing to take over`,
        )
      } else if (differing === 0 || flags.acceptDifferences) ready.add(cluster)
      else if (!flags.compare) {
        terminal.step(
          'next',
          `change the content, or accept the differences with "flotilla handover ${from} ${cluster} --accept-differences"`,
        )
      }
    }
  }
  const isStuck = !flags.compare && states.some(({ cluster, state }) => state === 'Complete' && !ready.has(cluster))
  return {
    ready,
    code: worst(codeOf(states), pending.length > 0 ? EXIT.timeout : EXIT.ok, isStuck ? EXIT.conflict : EXIT.ok),
  }
}

async function finish(all: readonly Cluster[], run: HandoverRun): Promise<ExitCode> {
  const { terminal } = run
  const steps = new Set<Step>(['Take', 'Finish', 'Done'])
  const early = all.filter(({ spec }) => !spec.handover || !steps.has(spec.handover.step))
  if (early.length > 0) throw notTaken(early, run)
  const open = all.filter(({ spec }) => spec.handover?.step === 'Take')
  const client = clientOver(run.connection.rest)
  for (const cluster of open) {
    const state = await handoverState(client, run.from, cluster)
    if (state?.state !== 'Complete') throw notTaken([cluster], run, state?.message)
  }
  if (open.length > 0) {
    const what = `remove the marks of ${run.from} on ${plural(open.length, 'cluster')} (${namesOf(open)}); this cannot be undone`
    await requireConfirmation(what, run)
    await setStep(open, 'Finish', run)
  }
  const states = await wait(
    all.filter(({ spec }) => spec.handover?.step !== 'Done'),
    run,
  )
  for (const state of states) {
    if (state.state !== 'Complete') {
      sayOpen(state, run)
      continue
    }
    sayLeft(state, run)
    await setStep([await client.get(CLUSTERS, { name: state.cluster })], 'Done', run)
    terminal.step('ok', `cluster "${state.cluster}" has moved over from ${run.from}`)
  }
  for (const { metadata, spec } of all)
    if (spec.handover?.step === 'Done')
      terminal.step('ok', `cluster "${metadata.name}" has moved over from ${run.from}`)
  return codeOf(states)
}

async function undo(all: readonly Cluster[], run: HandoverRun): Promise<ExitCode> {
  const { terminal } = run
  const late = all.filter(({ spec }) => spec.handover?.step === 'Finish' || spec.handover?.step === 'Done')
  if (late.length > 0) {
    throw new CliError(EXIT.conflict, {
      what: `${named(late)} past the last step; the handover cannot be undone`,
      todo: `leave ${late.length === 1 ? 'it' : 'them'} out; list the steps with "flotilla handover ${run.from} status"`,
    })
  }
  const without = all.filter(({ spec }) => !spec.handover)
  for (const { metadata } of without) terminal.step('ok', `cluster "${metadata.name}" has no handover`)
  const open = all.filter(({ spec }) => spec.handover)
  const begun = open.filter(({ spec }) => spec.handover?.step !== 'Undo')
  if (begun.length > 0) {
    await requireConfirmation(
      `give the objects of ${plural(begun.length, 'cluster')} (${namesOf(begun)}) back to ${run.from}`,
      run,
    )
    await setStep(begun, 'Undo', run)
  }
  const states = await wait(open, run)
  for (const state of states) {
    if (state.state === 'Complete') terminal.step('ok', `cluster "${state.cluster}": ${state.message ?? 'given back'}`)
    else sayOpen(state, run)
  }
  return codeOf(states)
}

/** Writes the step. The differences that a person accepted, and what a person stated, count for step Take alone. */
async function setStep(clusters: readonly Cluster[], step: Step, run: HandoverRun): Promise<void> {
  if (clusters.length === 0) return
  const { username: by } = await whoAmI(run.connection.rest)
  const { acceptDifferences, peerStopped } = run.flags
  const since = formatTime(run.clock.now())
  for (const cluster of clusters) {
    const former = cluster.spec.handover
    const isTake = step === 'Take'
    const next = {
      from: run.from,
      step,
      since,
      by,
      acceptDifferences: isTake && acceptDifferences ? true : null,
      peerStopped: (isTake && peerStopped) || (step === 'Finish' && former?.peerStopped) ? true : null,
    }
    await writeClusterSpec(cluster, { handover: next }, run)
  }
}

/** Waits until each cluster completed its step, failed, or the time is over. */
async function wait(clusters: readonly Cluster[], run: HandoverRun): Promise<HandoverState[]> {
  if (clusters.length === 0) return []
  const client = clientOver(run.connection.rest)
  const states = new Map<string, HandoverState>()
  const failures = new Map<string, number>()
  for (;;) {
    for (const { metadata } of clusters) {
      const known = states.get(metadata.name)
      if (known && isSettled(known, failures)) continue
      const state = await handoverState(client, run.from, await client.get(CLUSTERS, { name: metadata.name }))
      if (!state) throw new CliError(EXIT.conflict, { what: `cluster "${metadata.name}": its handover was removed` })
      if (state.state === 'Failed') failures.set(metadata.name, (failures.get(metadata.name) ?? 0) + 1)
      states.set(metadata.name, state)
    }
    const all = clusters.map(({ metadata }) => states.get(metadata.name)!)
    if (all.every((state) => isSettled(state, failures)) || run.clock.monotonicMs() >= run.until) return all
    await run.clock.sleep(POLL_MS, run.signal)
  }
}

/** A failure counts when it stays: a Bundle may fail while its objects are read for the first time. */
const FAILED_LOOKS = 5
function isSettled({ cluster, state }: HandoverState, failures: ReadonlyMap<string, number>): boolean {
  return state === 'Complete' || (state === 'Failed' && (failures.get(cluster) ?? 0) >= FAILED_LOOKS)
}

async function onlyIncomplete(taken: readonly Cluster[], run: HandoverRun): Promise<Cluster[]> {
  const client = clientOver(run.connection.rest)
  const { acceptDifferences, peerStopped } = run.flags
  const open: Cluster[] = []
  for (const cluster of taken) {
    const state = await handoverState(client, run.from, cluster)
    if (state?.state === 'Failed' && (acceptDifferences || peerStopped)) open.push(cluster)
  }
  return open
}

function sayCompared(state: HandoverState, run: HandoverRun): void {
  const { cluster, differences = {}, differing = 0, message = 'compared' } = state
  run.terminal.step(differing === 0 ? 'ok' : 'warn', `cluster "${cluster}": ${message}`)
  for (const [bundle, text] of Object.entries(differences)) run.terminal.data(`${cluster}  ${bundle}  ${text}\n`)
  sayLeft(state, run)
}

function sayLeft({ cluster, left = 0, leftObjects = [] }: HandoverState, { terminal, from }: HandoverRun): void {
  if (left === 0) return
  const names = leftObjects.slice(0, 5).join(', ')
  const more = left > 5 ? ` and ${left - 5} more` : ''
  terminal.step(
    'warn',
    `cluster "${cluster}": ${plural(left, 'object')} of ${from} ${left === 1 ? 'is' : 'are'} in no Bundle and ${left === 1 ? 'stays as it is' : 'stay as they are'}: ${names}${more}`,
  )
}

function sayTaken(state: HandoverState, run: HandoverRun): void {
  if (state.state !== 'Complete') return sayOpen(state, run)
  run.terminal.step('ok', `cluster "${state.cluster}": ${state.message ?? 'taken over'}`)
}

function sayOpen({ cluster, state, step, message = '' }: HandoverState, { terminal, from }: HandoverRun): void {
  terminal.step(state === 'Failed' ? 'fail' : 'wait', `cluster "${cluster}": step ${step}: ${message}`)
  if (state !== 'Failed') terminal.step('next', `flotilla handover ${from} status`)
}

function codeOf(states: readonly HandoverState[]): ExitCode {
  if (states.some(({ state }) => state === 'Failed')) return EXIT.failed
  return states.every(({ state }) => state === 'Complete') ? EXIT.ok : EXIT.timeout
}

/** The first of the codes that is the most severe: a failure, then a conflict, then a timeout. */
function worst(...codes: readonly ExitCode[]): ExitCode {
  return [EXIT.failed, EXIT.conflict, EXIT.timeout].find((code) => codes.includes(code)) ?? EXIT.ok
}

function refuseOther({ metadata, spec }: Cluster, from: string): void {
  if (spec.handover === undefined || spec.handover.from === from) return
  if (spec.handover.step === 'Done') {
    throw new CliError(EXIT.conflict, {
      what: `cluster "${metadata.name}" has moved over from ${spec.handover.from}`,
      todo: `remove this handover before another one: kubectl patch clusters.flotilla.dev ${metadata.name} --type merge -p '{"spec":{"handover":null}}'`,
    })
  }
  throw new CliError(EXIT.conflict, {
    what: `cluster "${metadata.name}" is in a handover from ${spec.handover.from}`,
    todo: `finish or undo it with "flotilla handover ${spec.handover.from} ${metadata.name}"`,
  })
}

function notTaken(clusters: readonly Cluster[], { from }: HandoverRun, why?: string): CliError {
  return new CliError(EXIT.conflict, {
    what: `${named(clusters)} not taken over yet`,
    ...(why === undefined ? {} : { why }),
    todo: `run "flotilla handover ${from} ${clusters[0]!.metadata.name}" first`,
  })
}

function named(clusters: readonly Cluster[]): string {
  const names = clusters.map(({ metadata }) => metadata.name)
  return names.length === 1 ? `cluster "${names[0]}" is` : `clusters ${nameSome(names)} are`
}

function namesOf(clusters: readonly Cluster[]): string {
  return nameSome(clusters.map(({ metadata }) => metadata.name))
}
